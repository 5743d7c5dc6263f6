/* Works and calls, some bytes each: there are hundreds of thousands in a GB of JSON. */
#ifndef FSL_SOURCE_KINETO_ROWS_H
#define FSL_SOURCE_KINETO_ROWS_H

#include "capture/packed_rows.h"

struct fsl_kineto_events;
struct fsl_kineto_work;
struct fsl_kineto_call;

/* Adds a work without launch and step. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_keep_work(struct fsl_kineto_events *events,
				     const struct fsl_kineto_work *work, struct fsl_error *err);
/* Adds launch and step of the next work in their order. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_keep_launch(struct fsl_packed_rows *launches,
				       const struct fsl_kineto_work *work, struct fsl_error *err);
/* FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_keep_call(struct fsl_kineto_events *events,
				     const struct fsl_kineto_call *call, struct fsl_error *err);

/* Readers are large: some 12 kB. */
struct fsl_kineto_works {
	const struct fsl_kineto_events *events;
	struct fsl_packed_reader works, launches;
};
struct fsl_kineto_calls {
	const struct fsl_kineto_events *events;
	struct fsl_packed_reader calls;
};
void fsl_kineto_works_begin(struct fsl_kineto_works *works, const struct fsl_kineto_events *events);
/* Leaves out launches and steps, which takes less time. */
void fsl_kineto_bare_works_begin(struct fsl_kineto_works *works,
				 const struct fsl_kineto_events *events);
void fsl_kineto_calls_begin(struct fsl_kineto_calls *calls, const struct fsl_kineto_events *events);
/* @i is below n of events->works, of events->calls. Works are sorted by begin and duration, calls
 * by begin and correlation. */
struct fsl_kineto_work fsl_kineto_work_at(struct fsl_kineto_works *works, size_t i);
struct fsl_kineto_call fsl_kineto_call_at(struct fsl_kineto_calls *calls, size_t i);

#endif
