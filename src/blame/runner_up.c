/* The next-best suspect: the rank that comes after the culprits, and why it is none of them. */
#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "blame/fuse_parts.h"

/* Mean excess of a rank over the seen ones of steps [begin, end); NaN without any. */
static double mean_excess_ms(const struct fsl_blame *blame, size_t r, size_t begin, size_t end)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t s = begin; s < end; s++) {
		double excess_ms = fsl_blame_excess_ms(blame, r, s);
		if (!isnan(excess_ms)) {
			sum += excess_ms;
			n++;
		}
	}
	return n > 0 ? sum / (double)n : NAN;
}

/* Why a rank with this excess is not named: the first reason that holds. Text of @arena. */
static const char *why_not(struct fsl_arena *arena, const struct fsl_case *facts, size_t r,
			   double excess_ms)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	double least_ms = fsl_least_loss_ms(facts->config, facts->blame->step_ms);
	if (excess_ms < least_ms) {
		return fsl_arena_printf(arena, "below the threshold of %.1f ms", least_ms);
	}
	if (charge->pattern == FSL_PATTERN_NONE) {
		return "in a few of these steps only";
	}
	if (!charge->is_change && fsl_blame_is_uneven(facts->blame, r)) {
		return "within what healthy devices may differ by";
	}
	return "the others hardly waited for it";
}

enum fsl_status fsl_fuse_runner_up(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err)
{
	const struct fsl_blame *blame = facts->blame;
	struct fsl_culprit *worst = &out->culprits[0];
	size_t worst_idx = fsl_run_rank_idx(facts->run, worst->rank), next_idx = SIZE_MAX;
	if (worst->cause == FSL_CAUSE_NETWORK || worst_idx == SIZE_MAX) {
		return FSL_OK;
	}
	bool *is_named = fsl_fuse_named(out, facts->run);
	if (is_named == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", blame->n_ranks);
	}
	const struct fsl_episode *episode = &blame->charges[worst_idx].episode;
	double most_ms = 0.0;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		double ms = mean_excess_ms(blame, r, episode->begin, episode->end);
		if (!is_named[r] && ms > most_ms) {
			most_ms = ms;
			next_idx = r;
		}
	}
	fsl_free(is_named);
	if (next_idx != SIZE_MAX) {
		fsl_culprit_add_fact(worst, "next_excess", most_ms, "ms");
		worst->reason = fsl_arena_printf(
			&out->arena, "%s; next highest: rank %" PRId32 " (+%.1f ms), %s",
			worst->reason, facts->run->ranks[next_idx].rank, most_ms,
			why_not(&out->arena, facts, next_idx, most_ms));
	}
	return FSL_OK;
}
