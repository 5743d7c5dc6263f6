/* Threads of hosts on the terminal and as a document: who took the CPU from whom. */
#ifndef FSL_REPORT_HOSTBOUND_H
#define FSL_REPORT_HOSTBOUND_H

#include <cjson/cJSON.h>

#include "engine/hostbound.h"
#include "report/screen.h"

/* The verdict on one trace in one sentence. */
void fsl_hostbound_headline(const struct fsl_host_trace *trace, char *text, size_t size);
/* "rank 2 (rk2 3809) waited 242 ms of each 267 ms step for CPU 1, held by hog (3828, 3830)"; of a
 * rank that is named. */
void fsl_hostbound_sentence(const struct fsl_hostbound_rank *rank, char *text, size_t size);
/* "hog (3828, 3830 and more)", "rank 1 (rk1 3808)", "its own threads", "nobody: the CPU was idle".
 */
void fsl_hostbound_holder_text(const struct fsl_hostbound_holder *holder, char *text, size_t size);
/* Advice, in one sentence. */
void fsl_hostbound_advice_text(const struct fsl_hostbound_advice *advice, char *text, size_t size);
/* Threads of ranks by their waits for a CPU, then other threads by CPU time: indexes into
 * sched->threads, fsl_free. FSL_ERR_MEMORY. */
enum fsl_status fsl_hostbound_order_threads(const struct fsl_sched *sched, size_t **order,
					    struct fsl_error *err);

/* One trace as in the document, without its threads, CPUs and interrupts, and with at most 64
 * ranks: what the page of a case draws. NULL if memory is short. */
cJSON *fsl_hostbound_trace_json(const struct fsl_host_trace *trace);
/* The document failslow.hostbound/1, see docs/hostbound.schema.json. NULL if memory is short. */
cJSON *fsl_hostbound_json(const struct fsl_host_traces *traces);
/* @is_long: all threads that waited or ran; else the first ones. FSL_ERR_MEMORY. */
enum fsl_status fsl_hostbound_print(const struct fsl_host_traces *traces,
				    const struct fsl_screen *screen, struct fsl_error *err);

#endif
