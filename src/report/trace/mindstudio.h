/* Sums over a kernel trace, which the database of MindStudio Insight has beside a timeline. */
#ifndef FSL_REPORT_TRACE_MINDSTUDIO_H
#define FSL_REPORT_TRACE_MINDSTUDIO_H

#include <sqlite3.h>

#include "report/trace/kernel_tracks.h"

/* The database that mindstudio_writer.c fills, borrowed. */
sqlite3 *fsl_mindstudio_db(struct fsl_track_writing *writing);
/* Notes the failure of a call of SQLite as the error of the output, as all writers do: nothing is
 * written from then on. FSL_ERR_MEMORY if that is the reason. */
enum fsl_status fsl_mindstudio_check(struct fsl_track_writing *writing, int code,
				     struct fsl_error *err);

bool fsl_mindstudio_has_failed(const struct fsl_track_writing *writing);

/*
 * Adds the tables trace_task_summary (time of each task on each CPU in each state, switches,
 * interrupts) and trace_irq_detail (interrupts by task, CPU and name) to a file that
 * fsl_track_writer_mindstudio writes. Tasks of several hosts with one name, number and CPU are
 * summed. FSL_ERR_MEMORY; write errors stay in file->output.
 */
enum fsl_status fsl_mindstudio_add_kernel(struct fsl_track_file *file,
					  const struct fsl_kernel_tracks *source,
					  struct fsl_error *err);

#endif
