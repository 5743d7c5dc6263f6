/* Counters of hardware in a trace: events with phase C. Their args hold values: by the name of the
 * counter, as "value", or under an empty key. */
#ifndef FSL_SOURCE_KINETO_COUNTERS_H
#define FSL_SOURCE_KINETO_COUNTERS_H

#include "source/kineto/events.h"

/* Keeps a sample, if functions are wanted and the counter is known. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_add_sample(struct fsl_kineto_events *events,
				      const struct fsl_trace_event *event, struct fsl_error *err);
/* Leaves the samples of the rank's own device. */
void fsl_kineto_settle_samples(struct fsl_kineto_events *events);

/* Levels of counters by function, while functions are collected. Start as {0}. */
struct fsl_kineto_levels {
	struct fsl_link_level (*items)[FSL_SAMPLED_N]; /* of each function */
	size_t n_items, items_capacity;
};
/* Takes a run of a function of the device. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_levels_add(struct fsl_kineto_levels *levels,
				      const struct fsl_kineto_events *events,
				      enum fsl_function_class class, uint32_t function,
				      int64_t begin_ns, int64_t end_ns, struct fsl_error *err);
/* Gives each function the counter that was highest while it ran, and its level. */
void fsl_kineto_levels_tell(const struct fsl_kineto_levels *levels,
			    const struct fsl_kineto_events *events,
			    struct fsl_function_times *times);
void fsl_kineto_levels_fini(struct fsl_kineto_levels *levels);

#endif
