/* Turns the lines of one log into steps: numbers, times and durations from what the lines tell. */
#ifndef FSL_SOURCE_LOG_LOG_STEPS_H
#define FSL_SOURCE_LOG_LOG_STEPS_H

#include "source/ingest.h"
#include "source/log/log_pattern.h"
#include "source/log/log_stamp.h"

enum {
	FSL_LOG_STEPS_MAX = 3 << 15
}; /* newest steps of a log that are kept; each takes half a KiB in the end */

/* Start it as {.sink, .flags, .clock, .stride = 1}. Times are ns. */
struct fsl_log_steps {
	struct fsl_sink *sink;
	struct fsl_log_clock *clock;
	unsigned flags;     /* of the pattern */
	bool is_cumulative; /* the time only grows: it is that since the begin */
	int64_t stride;     /* steps from one line to the next */

	/* The line before: */
	bool has_line, has_end;
	int64_t raw_step, epoch; /* as written */
	int64_t seen;            /* number of its step in the job */
	double time_s;
	int64_t stamp_ns;
	int64_t offset;     /* of numbers that begin again in each epoch */
	int64_t elapsed_ns; /* as written */
	/* The step that was added last: its number, and its end. */
	int64_t last, end_ns;
	int64_t elapsed_base_ns; /* time at which the elapsed time was 0 */
	double average_from;     /* step at which the mean began */
	bool is_relative;        /* no stamp tells the day: times are moved at the end */
	bool is_done;            /* the last line, or what follows it, tells that the job is done */
};

/* Adds the step that a line tells, or waits until more lines tell it well enough. */
enum fsl_status fsl_log_steps_add(struct fsl_log_steps *steps, const struct fsl_log_hit *hit,
				  struct fsl_error *err);
/* Call it at the end of the log: times without a stamp are counted back from the last write, and
 * the sink learns whether the job is done. */
void fsl_log_steps_finish(struct fsl_log_steps *steps);

#endif
