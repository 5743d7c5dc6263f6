/* Chance: what happens to a rank's peers without a fault, so that it is no charge against the rank.
 */
#include <math.h>

#include <gsl/gsl_cdf.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/shift.h"
#include "base/sort.h"
#include "blame/blame.h"

/* The high steps of one rank, over its peers' level times @ratio. @work: steps. */
static struct fsl_episode high_steps(const struct fsl_blame *blame, size_t r, double ratio,
				     size_t *n_seen, double *work)
{
	fsl_blame_set_excess(blame, r, ratio, work);
	return fsl_episode_all(work, blame->n_steps, blame->charges[r].threshold_ms, n_seen);
}

/* @work: steps + 3 * members. */
static void find_shares(struct fsl_blame *out, const uint32_t *members, size_t n, double *work)
{
	double *shares = work + out->n_steps, *levels = shares + n;
	for (size_t m = 0; m < n; m++) {
		size_t n_seen = 0;
		struct fsl_episode all = high_steps(out, members[m], 1.0, &n_seen, work);
		shares[m] = n_seen > 0 ? (double)all.n_high / (double)n_seen : NAN;
	}
	fsl_peer_levels(shares, n, levels, levels + n);
	for (size_t m = 0; m < n; m++) {
		struct fsl_chance *chance = &out->chances[members[m]];
		*chance = (struct fsl_chance){.share = isnan(levels[m]) ? 0.0 : levels[m]};
		FSL_ASSERT(chance->share >= 0.0 && chance->share <= 1.0);
	}
}

void fsl_chance_find(struct fsl_blame *out, const struct fsl_config *config, double *work)
{
	double least_ms = fsl_least_loss_ms(config, out->step_ms);
	for (size_t r = 0; r < out->n_ranks; r++) {
		out->charges[r] = (struct fsl_charge){
			.last_share = NAN,
			.own_ms = NAN,
			.peers_ms = NAN,
			.threshold_ms = fmax(FSL_NOTED_LOSS_SHARE * least_ms,
					     FSL_NOISE_SIGMAS * out->noise_ms[r])};
	}
	for (size_t k = 0; k < out->peers.n_classes; k++) {
		size_t begin = out->peers.begin[k];
		find_shares(out, out->peers.members + begin, out->peers.begin[k + 1] - begin, work);
	}
}

/* High excesses of one class, ascending. */
struct pool {
	double *excess_ms;
	size_t n_items, capacity;
};

static size_t count_above(const double *sorted, size_t n, double least)
{
	size_t first = 0;
	FSL_BISECT(first, n, i, !(sorted[i] > least));
	return n - first;
}

/* High steps of all members over their own healthy levels. @losses: per member. @work: steps. */
static enum fsl_status pool_high_steps(struct pool *pool, struct fsl_blame *out,
				       const uint32_t *members, size_t n, double *losses,
				       double *work, struct fsl_error *err)
{
	pool->n_items = 0;
	for (size_t m = 0; m < n; m++) {
		size_t r = members[m];
		struct fsl_chance *chance = &out->chances[r];
		struct fsl_episode all = high_steps(out, r, fsl_uneven_ratio(out->healthy_ratio[r]),
						    &chance->n_seen, work);
		losses[m] = chance->n_seen > 0
				    ? all.mean_ms * (double)all.n_high / (double)chance->n_seen
				    : NAN;
		/* As long as half of what is usual for the rank: peers may have many short ones. */
		chance->clear_ms =
			fmax(out->charges[r].threshold_ms, FSL_CLEAR_SHARE * all.mean_ms);
		FSL_TRY(FSL_GROW(pool->excess_ms, pool->capacity, pool->n_items + all.n_high + 1,
				 err));
		for (size_t s = 0; s < out->n_steps; s++) {
			if (work[s] > out->charges[r].threshold_ms) {
				pool->excess_ms[pool->n_items++] = work[s];
				chance->n_high += work[s] > chance->clear_ms;
			}
		}
	}
	return FSL_OK;
}

/* Single steps of one class. @work: steps + 3 * members. */
static enum fsl_status find_singles(struct fsl_blame *out, struct pool *pool,
				    const uint32_t *members, size_t n, double *work,
				    struct fsl_error *err)
{
	double *losses = work + out->n_steps, *levels = losses + n;
	size_t n_seen_all = 0;
	FSL_TRY(pool_high_steps(pool, out, members, n, losses, work, err));
	fsl_sort(pool->excess_ms, pool->n_items);
	fsl_peer_levels(losses, n, levels, levels + n);
	for (size_t m = 0; m < n; m++) {
		n_seen_all += out->chances[members[m]].n_seen;
	}
	for (size_t m = 0; m < n; m++) {
		struct fsl_chance *chance = &out->chances[members[m]];
		chance->lost_ms = isnan(levels[m]) ? 0.0 : levels[m];
		chance->n_high_peers =
			count_above(pool->excess_ms, pool->n_items, chance->clear_ms) -
			chance->n_high;
		chance->n_seen_peers = n_seen_all - chance->n_seen;
		FSL_ASSERT(chance->n_high <= chance->n_seen);
		FSL_ASSERT(chance->n_high_peers <= chance->n_seen_peers);
	}
	return FSL_OK;
}

enum fsl_status fsl_chance_find_singles(struct fsl_blame *out, double *work, struct fsl_error *err)
{
	struct pool pool = {.n_items = 0};
	enum fsl_status status = FSL_OK;
	for (size_t k = 0; k < out->peers.n_classes && status == FSL_OK; k++) {
		size_t begin = out->peers.begin[k];
		status = find_singles(out, &pool, out->peers.members + begin,
				      out->peers.begin[k + 1] - begin, work, err);
	}
	fsl_free(pool.excess_ms);
	/* A rank without peers is judged by its own past; no chance is known. */
	for (size_t r = 0; r < out->n_ranks; r++) {
		const struct fsl_chance *chance = &out->chances[r];
		work[r] = chance->n_seen_peers > 0 ? fsl_chance_p(chance) : 1.0;
	}
	out->single_p_max = fsl_p_limit(work, out->n_ranks, FSL_SINGLES_FALSE_SHARE_MAX);
	return status;
}

double fsl_chance_p(const struct fsl_chance *chance)
{
	if (chance->n_seen_peers == 0 || chance->n_high == 0) {
		return chance->n_high == 0 ? 1.0 : 0.0;
	}
	double rate =
		((double)chance->n_high_peers + FSL_UNSEEN_STEPS) / (double)chance->n_seen_peers;
	return gsl_cdf_poisson_Q((unsigned int)(chance->n_high - 1), rate * (double)chance->n_seen);
}
