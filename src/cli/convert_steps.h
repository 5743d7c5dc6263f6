/* The steps of a job of which a stretch of time is known at once: put together stretch by stretch.
 */
#ifndef FSL_CLI_CONVERT_STEPS_H
#define FSL_CLI_CONVERT_STEPS_H

#include "model/steps.h"

/* Start as {0}; end with fsl_step_chain_fini(). */
struct fsl_step_chain {
	struct fsl_steps steps; /* so far; the last one may still be open */
	size_t steps_capacity;
	struct fsl_rank rank; /* the rank that tells the steps, with events of the newest ones */
	int32_t source_rank;
	bool has_begun;
};

/* Goes on with the events that @run has now; events that were seen before may be among them.
 * @is_last: there are no more. */
enum fsl_status fsl_step_chain_add(struct fsl_step_chain *chain, const struct fsl_run *run,
				   bool is_last, struct fsl_error *err);
void fsl_step_chain_fini(struct fsl_step_chain *chain);

#endif
