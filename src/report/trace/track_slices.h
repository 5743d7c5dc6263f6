/* A stream of the slices of one process: sorted, put on lanes, and made into events one by one. */
#ifndef FSL_REPORT_TRACE_TRACK_SLICES_H
#define FSL_REPORT_TRACE_TRACK_SLICES_H

#include "report/trace/track_plan.h"

enum { FSL_SLICE_FAMILIES_MAX = 8 };

/* Things with a begin and an end, numbered by their owner. */
struct fsl_slice_source {
	const void *context; /* borrowed as long as the plan lives */
	void (*times)(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns);
	/* Kind of lane, below FSL_SLICE_FAMILIES_MAX. NULL: all are of kind 0. */
	uint8_t (*family)(const void *context, uint32_t idx);
	/* Sets everything in @event, which is {0}, but track and times. */
	void (*fill)(const void *context, uint32_t idx, struct fsl_track_event *event);
	/* Asks the memory for a thing that comes soon. NULL: nothing is asked. */
	void (*fetch)(const void *context, uint32_t idx);
	const char *const *families; /* names of lanes; the second lane of one is "<name> 2" */
};

/* Lanes of one process that go on over several streams. Start as {0}; end with
 * fsl_slice_lanes_fini() when the streams are gone. */
struct fsl_slice_lanes {
	struct fsl_slice_family *families[FSL_SLICE_FAMILIES_MAX]; /* NULL: not used */
};
void fsl_slice_lanes_fini(struct fsl_slice_lanes *lanes);

/*
 * Adds @n things, those of numbers order[0 ..], to the process @pid of the plan. Takes over @order
 * (heap), also if the call fails. Adds the number of those that found no lane to *n_left_out.
 */
enum fsl_status fsl_slices_add(struct fsl_track_plan *plan, uint32_t pid,
			       const struct fsl_slice_source *source, uint32_t *order, size_t n,
			       uint64_t *n_left_out, struct fsl_error *err);

/* The same with lanes that the caller keeps, so that the next things stand on the lanes of earlier
 * ones. @lanes NULL: lanes of this stream alone. */
enum fsl_status fsl_slices_go_on(struct fsl_track_plan *plan, uint32_t pid,
				 const struct fsl_slice_source *source,
				 struct fsl_slice_lanes *lanes, uint32_t *order, size_t n,
				 uint64_t *n_left_out, struct fsl_error *err);

#endif
