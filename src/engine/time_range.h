/* Time range: which part of the input a run looks at. */
#ifndef FSL_ENGINE_TIME_RANGE_H
#define FSL_ENGINE_TIME_RANGE_H

#include "config/config.h"

struct fsl_time_range {
	int64_t from_ns, to_ns; /* INT64_MIN / INT64_MAX: open */
	/* An explicit range holds for steps, too, and so for perception. Any other range only
	 * limits the search for slow ranks; perception then looks at all steps. */
	bool holds_for_steps;
	const char *source; /* which of the rules below gave it, for the log; static */
	/* with_fail_slow is set and no failSlow result exists: slow ranks are looked for only if
	 * perception finds a slowdown now. */
	bool is_waiting_for_fail_slow;
};

/*
 * Chooses the time range. The first rule that applies counts: an explicit range (--from/--to or
 * slow_node_detection_range_times); with_fail_slow: start_time and end_time of the newest failSlow
 * result in fail_slow_perception_path; filter_data_by_timestamp: the last
 * slow_node_detection_time_span_hours before now; else everything. A failSlow file that cannot be
 * read gives a warning.
 */
struct fsl_time_range fsl_time_range_of(const struct fsl_config *config);

#endif
