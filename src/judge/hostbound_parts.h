/* Parts of the judgement of hosts that its files share. */
#ifndef FSL_JUDGE_HOSTBOUND_PARTS_H
#define FSL_JUDGE_HOSTBOUND_PARTS_H

#include "judge/hostbound.h"

/* Fills the holders of @rank from the waits of the threads that waited longest in the steps for
 * which @is_counted (by index) is set. FSL_ERR_MEMORY. */
enum fsl_status fsl_hostbound_find_holders(struct fsl_hostbound_rank *rank,
					   const struct fsl_sched *sched, const bool *is_counted,
					   struct fsl_error *err);

/* Fills the interrupts of all ranks. FSL_ERR_MEMORY. */
enum fsl_status fsl_hostbound_find_interrupts(struct fsl_hostbound *out,
					      const struct fsl_sched *sched, struct fsl_error *err);

/* Adds an advice, unless there are too many. */
void fsl_hostbound_add_advice(struct fsl_hostbound *out, struct fsl_hostbound_advice advice);
struct fsl_hostbound_advice fsl_hostbound_advice_of(enum fsl_advice_kind kind, int32_t rank,
						    int32_t cpu);
/* Adds advice on cores and NUMA nodes, if the model has a topology. */
void fsl_hostbound_advise_places(struct fsl_hostbound *out, const struct fsl_sched *sched);

/* Fills the advice of a judgement whose ranks are complete. FSL_ERR_MEMORY. */
enum fsl_status fsl_hostbound_advise(struct fsl_hostbound *out, const struct fsl_sched *sched,
				     struct fsl_error *err);

#endif
