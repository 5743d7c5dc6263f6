/*
 * The plan of a timeline: its processes, its tracks, and streams of events, each sorted by begin.
 * Sources (run_tracks.h, verdict_tracks.h, ...) fill it, fsl_track_plan_write() merges the streams
 * into a file. No event stands in memory as text.
 */
#ifndef FSL_REPORT_TRACE_TRACK_PLAN_H
#define FSL_REPORT_TRACE_TRACK_PLAN_H

#include "base/mem.h"
#include "base/strpool.h"
#include "report/trace/track_writer.h"

enum {
	FSL_TRACK_PID_JOB = (1 << 20) + 2,  /* behind the pids of all ranks */
	FSL_TRACK_PID_NODE = (1 << 20) + 3, /* events of a whole host */
	FSL_TRACKS_OF_PROCESS_MAX = 1024,
};

/* Pid of a rank; viewers take 0 for the idle task. */
static inline uint32_t fsl_track_pid_of_rank(int32_t rank)
{
	return (uint32_t)rank + 1;
}

/* Events of one source, sorted by begin; of two with one begin, the longer one first. */
struct fsl_track_stream {
	/* Fills *event and returns true, or false if none is left. */
	bool (*next)(struct fsl_track_stream *self, struct fsl_track_event *event);
	/* Frees what the stream holds, and itself. */
	void (*destroy)(struct fsl_track_stream *self);
};

/* Counts of all that was written. */
struct fsl_track_counts {
	uint64_t n_slices, n_instants, n_values, n_launches, n_meetings;
	int64_t begin_ns, end_ns; /* first begin and last end; FSL_NS_ABSENT: there is no event */
};

struct fsl_track_plan; /* opaque */

/* NULL: out of memory. */
struct fsl_track_plan *fsl_track_plan_create(void);
void fsl_track_plan_destroy(struct fsl_track_plan *plan);

/* Memory that lives as long as the plan. */
struct fsl_arena *fsl_track_plan_arena(struct fsl_track_plan *plan);

/* Id of a text. */
enum fsl_status fsl_track_plan_text(struct fsl_track_plan *plan, const char *text, uint32_t *id,
				    struct fsl_error *err);

/* Adds a process unless there is one of this pid. @label: NULL for none. */
enum fsl_status fsl_track_plan_add_process(struct fsl_track_plan *plan, uint32_t pid,
					   const char *name, const char *label, int32_t place,
					   struct fsl_error *err);

/* A new lane of a process that is there, behind its other ones. *out lives as long as the plan.
 * FSL_ERR_LIMIT beyond FSL_TRACKS_OF_PROCESS_MAX. */
enum fsl_status fsl_track_plan_add_lane(struct fsl_track_plan *plan, uint32_t pid, const char *name,
					const struct fsl_track **out, struct fsl_error *err);
/* A new counter. @has_decimals: values are thousandths of @unit. */
enum fsl_status fsl_track_plan_add_counter(struct fsl_track_plan *plan, uint32_t pid,
					   const char *name, const char *unit, bool has_decimals,
					   const struct fsl_track **out, struct fsl_error *err);

/* Adds a stream, which the plan owns from now on, also if the call fails; takes its first event. */
enum fsl_status fsl_track_plan_add_stream(struct fsl_track_plan *plan,
					  struct fsl_track_stream *stream, struct fsl_error *err);

/* Makes the file begin no later than @time_ns: it will hold something beside the plan. */
void fsl_track_plan_reach(struct fsl_track_plan *plan, int64_t time_ns);
/* Begin of the first event that was added so far; FSL_NS_ABSENT: there is none. */
int64_t fsl_track_plan_begin_ns(const struct fsl_track_plan *plan);

/* A plan on its way to a file. The caller sets the first three, which are borrowed; the rest starts
 * as {0}. */
struct fsl_track_file {
	struct fsl_track_plan *plan;
	const struct fsl_track_writer *writer;
	struct fsl_track_output *output; /* write errors stay in it */
	struct fsl_track_writing *writing;
	int64_t base_ns; /* times in the file count from it, once something is written */
	struct fsl_track_counts counts;
};

/*
 * Writes the tracks that are new and the events that begin before @until_ns, and drops streams that
 * have no more. More may be added to the plan behind it: an event that begins before @until_ns then
 * stands in the file behind later ones.
 */
enum fsl_status fsl_track_file_write(struct fsl_track_file *file, int64_t until_ns,
				     struct fsl_error *err);
/* Writes all that is left, and the end of the file. */
enum fsl_status fsl_track_file_finish(struct fsl_track_file *file, struct fsl_error *err);
void fsl_track_file_fini(struct fsl_track_file *file);

/* Writes all events in one go; the plan has none then. */
enum fsl_status fsl_track_plan_write(struct fsl_track_plan *plan,
				     const struct fsl_track_writer *writer,
				     struct fsl_track_output *output,
				     struct fsl_track_counts *counts, struct fsl_error *err);

#endif
