/* Data that ends while the others' goes on: of a rank, or of the steps. Nobody knows what happened
 * after that. */
#include <inttypes.h>

#include "base/number.h"
#include "blame/fuse_parts.h"

bool fsl_fuse_is_short(const struct fsl_case *facts, size_t r)
{
	const struct fsl_rank *rank = &facts->run->ranks[r];
	const struct fsl_steps *steps = facts->steps;
	if (rank->n_ops == 0 || steps->n_items <= FSL_SHORT_STEPS_MIN) {
		return false;
	}
	int64_t last_ns = fsl_op_end_ns(&rank->ops[rank->n_ops - 1]) - facts->match->clock_ns[r];
	return last_ns < steps->items[steps->n_items - FSL_SHORT_STEPS_MIN].begin_ns;
}

size_t fsl_fuse_count_short(const struct fsl_case *facts, size_t *first)
{
	size_t n = 0;
	for (size_t r = facts->run->n_ranks; r-- > 0;) {
		if (fsl_fuse_is_short(facts, r)) {
			*first = r;
			n++;
		}
	}
	return n;
}

enum fsl_status fsl_fuse_note_short(struct fsl_localisation *out, const struct fsl_case *facts,
				    struct fsl_error *err)
{
	size_t first = 0, n = fsl_fuse_count_short(facts, &first);
	if (n == 0) {
		return FSL_OK;
	}
	return fsl_coverage_add_skipped(
		&out->coverage, &out->arena, err,
		"own_time: data of %zu of %zu ranks ends %d steps or more before the others', what "
		"they did then is not known: the lowest is rank %" PRId32,
		n, out->coverage.n_ranks_seen, (int)FSL_SHORT_STEPS_MIN,
		facts->run->ranks[first].rank);
}

const char *fsl_fuse_unjudged(struct fsl_localisation *out, const struct fsl_case *facts)
{
	const struct fsl_coverage *coverage = &out->coverage;
	const struct fsl_steps *steps = facts->steps;
	if (steps->n_items == 0) {
		return NULL;
	}
	const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
	double left_ns = (double)(coverage->end_ns - last->begin_ns - last->dur_ns);
	double share = left_ns / (double)(coverage->end_ns - coverage->begin_ns);
	if (!(share > FSL_UNJUDGED_SHARE_MAX)) {
		return NULL;
	}
	return fsl_arena_printf(
		&out->arena,
		"nothing is wrong in %zu steps (%s), but operators go on behind the "
		"last of them for %.0f %% of the time, which was not judged",
		steps->n_items, coverage->steps_source, 100.0 * share);
}
