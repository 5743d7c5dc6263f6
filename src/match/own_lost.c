/* Lost records: a wait that was not recorded looks like work, so the steps that hold one are not
 * seen whole. */
#include <math.h>

#include "match/own.h"

/* End of an instance on the reference clock: the latest of its members that were recorded. */
static int64_t end_of_instance(const struct fsl_match *match, const struct fsl_channel *channel,
			       const struct fsl_run *run, size_t instance)
{
	int64_t end_ns = INT64_MIN;
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m];
		if (op_idx != FSL_NO_OP) {
			uint32_t rank_idx = channel->members[m];
			int64_t ns = fsl_op_end_ns(&run->ranks[rank_idx].ops[op_idx]) -
				     match->clock_ns[rank_idx];
			end_ns = ns > end_ns ? ns : end_ns;
		}
	}
	return end_ns;
}

/* The gap that holds the lost operator ends at the next one; before the first and behind the last
 * there is none. */
static void hide_step(struct fsl_own *own, const struct fsl_run *run, const struct fsl_cuts *cuts,
		      size_t rank_idx, int64_t time_ns)
{
	size_t k = fsl_first_op_at(&run->ranks[rank_idx], time_ns);
	size_t step = fsl_cuts_step_of(cuts, rank_idx, k);
	if (k == 0 || k == run->ranks[rank_idx].n_ops || step >= own->n_steps) {
		return;
	}
	for (size_t p = 0; p < FSL_OWN_PARTS_N; p++) {
		own->part_ms[(rank_idx * own->n_steps + step) * FSL_OWN_PARTS_N + p] = NAN;
	}
	own->idle_ms[rank_idx * own->n_steps + step] = NAN;
}

/* Hides the steps of the members that lack an instance which others recorded. */
static void hide_instance(struct fsl_own *own, const struct fsl_run *run,
			  const struct fsl_match *match, const struct fsl_cuts *cuts,
			  const struct fsl_channel *channel, size_t instance)
{
	const uint32_t *row = channel->op_idx + instance * channel->n_members;
	int64_t end_ns = INT64_MIN;
	for (size_t m = 0; m < channel->n_members; m++) {
		if (row[m] != FSL_NO_OP) {
			continue;
		}
		if (end_ns == INT64_MIN) {
			end_ns = end_of_instance(match, channel, run, instance);
		}
		uint32_t rank_idx = channel->members[m];
		hide_step(own, run, cuts, rank_idx, end_ns + match->clock_ns[rank_idx]);
	}
}

void fsl_own_hide_lost(struct fsl_own *own, const struct fsl_run *run,
		       const struct fsl_match *match, const struct fsl_cuts *cuts)
{
	for (size_t c = 0; c < match->n_channels; c++) {
		for (size_t i = 0; i < match->channels[c].n_instances; i++) {
			hide_instance(own, run, match, cuts, &match->channels[c], i);
		}
	}
}
