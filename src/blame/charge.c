/* Charges: in which steps a rank is slower than its peers, for how long, and at what cost. */
#include <math.h>

#include <gsl/gsl_cdf.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/shift.h"
#include "base/sort.h"
#include "blame/blame.h"

/* Chance: what happens to a rank's peers without a fault, so that it is no charge against the rank.
 */

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

/* The rest of the chances and what they may be (false discovery rate over the ranks), once it is
 * known how ranks stand. @work as below. */
static enum fsl_status find_chances(struct fsl_blame *out, double *work, struct fsl_error *err)
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

/*
 * Changes: whether a rank became slower, or the ranks that it is compared with seem to be faster.
 */

double fsl_episode_rise(const struct fsl_episode *episode, const double *values, size_t n,
			size_t *n_least, double *work)
{
	size_t n_inside = 0, n_rest = 0;
	for (size_t s = episode->begin; s < episode->end; s++) {
		if (!isnan(values[s])) {
			work[n_inside++] = values[s];
		}
	}
	double inside = fsl_median(work, n_inside, work + n);
	for (size_t s = 0; s < n; s++) {
		if (!isnan(values[s]) && (s < episode->begin || s >= episode->end)) {
			work[n_rest++] = values[s];
		}
	}
	*n_least = n_inside < n_rest ? n_inside : n_rest;
	return n_rest < FSL_REST_STEPS_MIN ? NAN : inside - fsl_median(work, n_rest, work + n);
}

bool fsl_change_is_own(const struct fsl_blame *blame, size_t rank_idx,
		       const struct fsl_episode *episode, double rise_ms, double least_ms,
		       double *work)
{
	size_t n_least = 0, n = blame->n_steps;
	double own_ms = fsl_episode_rise(episode, blame->own_ms + rank_idx * n, n, &n_least, work);
	double step_ms = fsl_episode_rise(episode, blame->step_dur_ms, n, &n_least, work);
	if (own_ms > FSL_COMMON_MULTIPLE * rise_ms && step_ms < 0.0) {
		return false;
	}
	bool is_seen = own_ms >= least_ms && step_ms >= FSL_EXPLAINED_SHARE_MIN * own_ms &&
		       own_ms >= FSL_EXPLAINED_SHARE_MIN * step_ms;
	return is_seen || own_ms >= FSL_EXPLAINED_SHARE_MIN * rise_ms;
}

/*
 * When a rank became slower: the change-point search (base/shift.h) on its own time over its
 * peers'. An episode tells that a rank is slow and over which steps, whatever the shape. If its
 * edge is a step of the level, the search places it, tells both levels, and says how likely such a
 * step is by chance. A ramp has no such edge and keeps the episode's.
 */

static size_t distance(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* The change nearest to @edge and in the direction of it; NULL when none is near. */
static const struct fsl_shift *find_edge(const struct fsl_shifts *shifts, size_t edge, bool is_rise)
{
	const struct fsl_shift *nearest = NULL;
	for (size_t i = 0; i < shifts->n; i++) {
		const struct fsl_shift *shift = &shifts->items[i];
		bool fits = (shift->after > shift->before) == is_rise &&
			    distance(shift->at, edge) <= FSL_ONSET_EDGE_STEPS;
		if (fits &&
		    (nearest == NULL || distance(shift->at, edge) < distance(nearest->at, edge))) {
			nearest = shift;
		}
	}
	return nearest;
}

/* Changes of the level on either side of @edge, as far as the test looks. */
static enum fsl_status search(struct fsl_shifts *out, size_t *first, const struct fsl_blame *blame,
			      size_t r, size_t edge, struct fsl_error *err)
{
	const struct fsl_shift_options options = {
		.is_relative = true,
		.segment_min = FSL_ONSET_EDGE_STEPS,
		.penalty = FSL_ONSET_PENALTY,
		.sigma_min = FSL_ONSET_SIGMA_MIN,
		.change_min = FSL_ONSET_CHANGE_MIN,
		.sigmas_min = FSL_ONSET_SIGMAS_MIN,
		.sigmas_min_mean = FSL_CHANGE_SIGMAS,
		.p_max = FSL_ONSET_P_MAX,
		.side_max = FSL_ONSET_SIDE_STEPS,
		.changes_max = FSL_ONSET_CHANGES_MAX,
	};
	double ratios[2 * FSL_ONSET_SIDE_STEPS];
	size_t begin = edge > FSL_ONSET_SIDE_STEPS ? edge - FSL_ONSET_SIDE_STEPS : 0, n = 0;
	for (size_t s = begin; s < blame->n_steps && n < 2 * FSL_ONSET_SIDE_STEPS; s++) {
		size_t at = r * blame->n_steps + s;
		ratios[n++] = blame->own_ms[at] / blame->reference_ms[at];
	}
	*first = begin;
	return fsl_shifts_find(out, ratios, n, &options, err);
}

/* *@onset filled and *@step the first step behind the edge when there is a change of the level. */
static enum fsl_status find_at(struct fsl_onset *onset, size_t *step, const struct fsl_blame *blame,
			       size_t r, size_t edge, bool is_rise, struct fsl_error *err)
{
	struct fsl_shifts shifts = {0};
	size_t first = 0;
	FSL_TRY(search(&shifts, &first, blame, r, edge, err));
	const struct fsl_shift *found = find_edge(&shifts, edge - first, is_rise);
	if (found != NULL) {
		*step = first + found->at;
		FSL_ASSERT(*step < blame->n_steps && found->p_value <= 1.0);
		*onset = (struct fsl_onset){
			.is_known = true,
			.healthy_ratio = is_rise ? found->before : found->after,
			.slow_ratio = is_rise ? found->after : found->before,
			.p_value = found->p_value,
		};
	}
	fsl_shifts_fini(&shifts);
	return FSL_OK;
}

/*
 * Finds the step at which the level of a rank that became slower changes: near the begin of its
 * episode or, if it was slow from the first step on, near the end. Moves the begin there, five
 * steps at most; the rest of @episode is then out of date (fsl_episode_measure).
 */
static enum fsl_status find_onset(struct fsl_onset *onset, struct fsl_episode *episode,
				  const struct fsl_blame *blame, size_t rank_idx,
				  struct fsl_error *err)
{
	size_t begin = episode->begin, end = episode->end;
	*onset = (struct fsl_onset){.is_known = false};
	FSL_TRY(find_at(onset, &begin, blame, rank_idx, begin, true, err));
	if (onset->is_known) {
		episode->begin = begin < end ? begin : episode->begin;
		return FSL_OK;
	}
	/* Slow from the first step on: what tells is how it got well. */
	return end < blame->n_steps ? find_at(onset, &end, blame, rank_idx, end, false, err)
				    : FSL_OK;
}

void fsl_onsets_accept(struct fsl_blame *blame, double *work)
{
	for (size_t r = 0; r < blame->n_ranks; r++) {
		const struct fsl_onset *onset = &blame->charges[r].onset;
		work[r] = onset->is_known ? onset->p_value : 1.0;
	}
	double p_max = fsl_p_limit(work, blame->n_ranks, FSL_ONSET_FALSE_SHARE_MAX);
	for (size_t r = 0; r < blame->n_ranks; r++) {
		struct fsl_onset *onset = &blame->charges[r].onset;
		onset->is_known = onset->is_known && onset->p_value <= p_max;
	}
}

/* Mean of @row over the steps of @episode whose excess is above the threshold. */
static double mean_over_high(const struct fsl_blame *blame, size_t r, const double *row,
			     const struct fsl_charge *charge)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t s = charge->episode.begin; s < charge->episode.end; s++) {
		if (fsl_blame_excess_ms(blame, r, s) > charge->threshold_ms) {
			sum += row[s];
			n++;
		}
	}
	return n > 0 ? sum / (double)n : NAN;
}

/* Share of the high steps in which the others waited for a good part of the excess. */
static double share_last(const struct fsl_blame *blame, size_t r, const struct fsl_charge *charge)
{
	size_t n_high = 0, n_late = 0;
	if (!blame->is_matched[r]) {
		return NAN;
	}
	for (size_t s = charge->episode.begin; s < charge->episode.end; s++) {
		double excess_ms = fsl_blame_excess_ms(blame, r, s);
		if (excess_ms > charge->threshold_ms) {
			n_high++;
			/* A wait shows in this step or, for work at the very end of a step, in the
			 * next. */
			double late_ms = blame->late_ms[r * blame->n_steps + s];
			if (s + 1 < blame->n_steps) {
				late_ms = fmax(late_ms, blame->late_ms[r * blame->n_steps + s + 1]);
			}
			n_late += late_ms >= FSL_WAITED_PART_MIN * charge->threshold_ms;
		}
	}
	return n_high > 0 ? (double)n_late / (double)n_high : NAN;
}

/* Mean of a rank's row over [begin, end); @rows is late_ms or wait_ms. */
static double mean_of_steps(const struct fsl_blame *blame, const double *rows, size_t r,
			    size_t begin, size_t end)
{
	double sum = 0.0;
	for (size_t s = begin; s < end; s++) {
		sum += rows[r * blame->n_steps + s];
	}
	return end > begin ? sum / (double)(end - begin) : 0.0;
}

/*
 * A loss is no more than the peers waited: work that nobody waited for (a pipeline's bubble hides
 * some of it) was not lost. Waits in operators that could not be matched are not seen, so the bound
 * holds only if the matched ones explain most of the excess. @work: 2 * FSL_PEERS_SAMPLED_MAX.
 */
static void bound_loss(struct fsl_blame *out, size_t r, size_t begin, size_t end)
{
	double work[2 * FSL_PEERS_SAMPLED_MAX];
	const struct fsl_peers *peers = &out->peers;
	struct fsl_charge *charge = &out->charges[r];
	uint32_t class_idx = peers->class_of[r];
	size_t begin_idx = peers->begin[class_idx], end_idx = peers->begin[class_idx + 1], n = 0;
	size_t stride = (end_idx - begin_idx) / FSL_PEERS_SAMPLED_MAX + 1;
	for (size_t k = begin_idx; k < end_idx; k += stride) {
		if (peers->members[k] != r) {
			work[n++] = mean_of_steps(out, out->wait_ms, peers->members[k], begin, end);
		}
	}
	double waited_ms = fsl_median(work, n, work + n);
	if (waited_ms >= FSL_WAITS_SEEN_SHARE_MIN * charge->lost_ms_per_step) {
		charge->lost_ms_per_step = fmin(charge->lost_ms_per_step, waited_ms);
	}
}

/* Number of high steps that chance hardly exceeds among @n when the class has @share of them. */
static double chance_limit(double share, double n)
{
	return share * n + FSL_LEVEL_SIGMAS * sqrt(n * share * (1.0 - share)) +
	       FSL_LEVEL_SLACK_STEPS;
}

static void scale_reference(struct fsl_blame *out, size_t r, double ratio)
{
	for (size_t s = 0; s < out->n_steps; s++) {
		out->reference_ms[r * out->n_steps + s] *= ratio;
	}
}

/*
 * Ratio of own time to the peers' outside an episode, no less than theirs: what the rank was while
 * it was healthy. @work: 2 * steps.
 */
static double ratio_outside(const struct fsl_blame *blame, size_t r,
			    const struct fsl_episode *episode, double *work)
{
	size_t n = 0;
	for (size_t s = 0; s < blame->n_steps; s++) {
		size_t at = r * blame->n_steps + s;
		if (s < episode->begin || s >= episode->end) {
			work[n++] = blame->own_ms[at] / blame->reference_ms[at];
		}
	}
	return fsl_uneven_ratio(fsl_median(work, n, work + blame->n_steps));
}

/*
 * A rank that became slower: an episode above the rank's own healthy level by what counts, and by
 * far more than chance makes over as many steps. References become that level. @work: 3 * steps.
 */
static bool find_change(struct fsl_blame *out, size_t r, const struct fsl_config *config,
			double least_ms, double *work)
{
	struct fsl_charge *charge = &out->charges[r];
	double *excess = work + 2 * out->n_steps, ratio = fsl_uneven_ratio(out->healthy_ratio[r]);
	double threshold_ms = fmax(FSL_NOTED_LOSS_SHARE * least_ms, out->noise_ms[r]);
	fsl_blame_set_excess(out, r, ratio, excess);
	struct fsl_episode episode = fsl_episode_find(excess, out->n_steps, threshold_ms);
	if (episode.n_high < FSL_LASTING_STEPS_MIN ||
	    episode.persistence < config->persistence_min) {
		return false;
	}
	size_t n_least = 0;
	double rise_ms = fsl_episode_rise(&episode, excess, out->n_steps, &n_least, work);
	double chance_ms = FSL_CHANGE_SIGMAS * out->noise_ms[r] / sqrt((double)n_least);
	if (!(rise_ms >= fmax(least_ms, chance_ms)) ||
	    !fsl_change_is_own(out, r, &episode, rise_ms, fmax(least_ms, chance_ms), work) ||
	    fsl_episode_by_chance(&episode, excess, out->n_steps, threshold_ms) > FSL_CHANCE_MAX) {
		return false;
	}
	ratio = ratio_outside(out, r, &episode, work);
	fsl_blame_set_excess(out, r, ratio, excess);
	threshold_ms = fmin(charge->threshold_ms, fmax(threshold_ms, FSL_CLEAR_SHARE * rise_ms));
	episode = fsl_episode_find(excess, out->n_steps, threshold_ms);
	if (episode.n_high < FSL_LASTING_STEPS_MIN) {
		return false; /* a few far higher ones among what is hardly high */
	}
	scale_reference(out, r, ratio);
	charge->threshold_ms = threshold_ms;
	charge->episode = episode;
	charge->pattern = FSL_PATTERN_LASTING;
	charge->is_change = true;
	charge->lost_ms_per_step = episode.mean_ms;
	return true;
}

/* A rank that has been slower than its peers as long as it was seen. */
static bool find_level(struct fsl_blame *out, size_t r, const struct fsl_config *config,
		       const double *excess)
{
	struct fsl_charge *charge = &out->charges[r];
	struct fsl_episode episode = fsl_episode_find(excess, out->n_steps, charge->threshold_ms);
	double n_inside =
		episode.persistence > 0.0 ? (double)episode.n_high / episode.persistence : 0.0;
	if (episode.n_high < FSL_LASTING_STEPS_MIN ||
	    episode.persistence < config->persistence_min ||
	    (double)episode.n_high <= chance_limit(out->chances[r].share, n_inside)) {
		return false;
	}
	charge->pattern = FSL_PATTERN_LASTING;
	charge->episode = episode;
	charge->lost_ms_per_step = episode.mean_ms;
	return true;
}

void fsl_charge_range(const struct fsl_charge *charge, size_t n_steps, size_t *begin, size_t *end)
{
	const struct fsl_episode *episode = &charge->episode;
	*begin = episode->begin;
	*end = episode->end;
	if (charge->pattern != FSL_PATTERN_REPEATED) {
		return;
	}
	size_t n_repeats = episode->n_high > 1 ? episode->n_high - 1 : 1;
	size_t n_least = n_steps / 2;
	if (episode->end + FSL_REPEATS_MISSED * (episode->end - episode->begin) / n_repeats >=
	    n_steps) {
		*end = n_steps;
	}
	if (*end - *begin < n_least) {
		*begin = *end > n_least ? *end - n_least : 0;
		*end = *begin + n_least > *end ? *begin + n_least : *end;
	}
}

/* Single steps again and again above the rank's own healthy level. */
static bool find_repeated(struct fsl_blame *out, size_t r, double least_ms, double *excess)
{
	struct fsl_charge *charge = &out->charges[r];
	double ratio = fsl_uneven_ratio(out->healthy_ratio[r]);
	size_t n_seen = 0;
	fsl_blame_set_excess(out, r, ratio, excess);
	struct fsl_episode all =
		fsl_episode_all(excess, out->n_steps, charge->threshold_ms, &n_seen);
	double sum_ms = all.mean_ms * (double)all.n_high;
	struct fsl_charge found = {.pattern = FSL_PATTERN_REPEATED, .episode = all};
	size_t begin = 0, end = 0, n_range = 0;
	fsl_charge_range(&found, out->n_steps, &begin, &end);
	for (size_t s = begin; s < end; s++) {
		n_range += isnan(excess[s]) ? 0 : 1;
	}
	double lost_ms = n_range > 0 ? sum_ms / (double)n_range : 0.0;
	const struct fsl_chance *chance = &out->chances[r];
	bool is_new = charge->pattern == FSL_PATTERN_NONE || lost_ms >= least_ms;
	if (all.n_high < FSL_REPEATED_STEPS_MIN || !is_new ||
	    sum_ms <= FSL_REPEATED_MULTIPLE * chance->lost_ms * (double)n_seen ||
	    fsl_chance_p(chance) > out->single_p_max) {
		return false;
	}
	scale_reference(out, r, ratio);
	charge->pattern = FSL_PATTERN_REPEATED;
	charge->episode = all;
	charge->lost_ms_per_step = lost_ms;
	return true;
}

/*
 * A change comes before a level that always was; a lasting level that healthy devices may have
 * comes after single steps.
 */
static void find_pattern(struct fsl_blame *out, size_t r, const struct fsl_config *config,
			 double least_ms, double *work)
{
	if (find_change(out, r, config, least_ms, work)) {
		return;
	}
	fsl_blame_set_excess(out, r, 1.0, work);
	if (!find_level(out, r, config, work) || !fsl_blame_is_uneven(out, r)) {
		if (out->charges[r].pattern == FSL_PATTERN_NONE) {
			(void)find_repeated(out, r, least_ms, work);
		}
		return;
	}
	(void)find_repeated(out, r, least_ms, work);
}

bool fsl_blame_is_uneven(const struct fsl_blame *blame, size_t r)
{
	double ratio = blame->healthy_ratio[r];
	return ratio < FSL_SLOW_RATIO_MIN && !blame->is_outlier[r] &&
	       !(blame->stands_out[r] && ratio >= FSL_APART_RATIO_MIN);
}

/* Puts the begin of a change at the step of the rank's level. @excess: steps. */
static enum fsl_status place_change(struct fsl_blame *out, size_t r, double *excess,
				    struct fsl_error *err)
{
	struct fsl_charge *charge = &out->charges[r];
	FSL_TRY(find_onset(&charge->onset, &charge->episode, out, r, err));
	fsl_blame_set_excess(out, r, 1.0, excess);
	fsl_episode_measure(&charge->episode, excess, charge->threshold_ms);
	charge->lost_ms_per_step = charge->episode.mean_ms;
	return FSL_OK;
}

static enum fsl_status charge_rank(struct fsl_blame *out, size_t r, const struct fsl_config *config,
				   double *work, struct fsl_error *err)
{
	struct fsl_charge *charge = &out->charges[r];
	size_t begin = 0, end = out->n_steps;
	find_pattern(out, r, config, fsl_least_loss_ms(config, out->step_ms), work);
	if (charge->is_change) {
		FSL_TRY(place_change(out, r, work, err));
	}
	FSL_ASSERT(charge->episode.begin <= charge->episode.end);
	FSL_ASSERT(charge->episode.end <= out->n_steps);
	if (charge->pattern != FSL_PATTERN_NONE) {
		const double *own = out->own_ms + r * out->n_steps;
		const double *reference = out->reference_ms + r * out->n_steps;
		charge->own_ms = mean_over_high(out, r, own, charge);
		charge->peers_ms = mean_over_high(out, r, reference, charge);
		charge->last_share = share_last(out, r, charge);
		fsl_charge_range(charge, out->n_steps, &begin, &end);
		bound_loss(out, r, begin, end);
	}
	FSL_ASSERT(begin <= end && end <= out->n_steps);
	charge->late_ms_per_step = mean_of_steps(out, out->late_ms, r, begin, end);
	return FSL_OK;
}

/* Ranks on threads; each writes its own rows. */
static enum fsl_status charge_members(struct fsl_blame *out, const struct fsl_config *config,
				      struct fsl_error *err)
{
	size_t n_members = out->peers.begin[out->peers.n_classes];
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		double *work = fsl_calloc(3 * out->n_steps + 1, sizeof(*work));
		is_short = work == NULL;
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t k = 0; k < n_members; k++) {
			is_short = is_short || charge_rank(out, out->peers.members[k], config, work,
							   NULL) != FSL_OK;
		}
		fsl_free(work);
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu, steps=%zu",
				   out->n_ranks, out->n_steps)
			: FSL_OK;
}

enum fsl_status fsl_charge_ranks(struct fsl_blame *out, const struct fsl_config *config,
				 double *work, struct fsl_error *err)
{
	FSL_TRY(find_chances(out, work, err));
	FSL_TRY(charge_members(out, config, err));
	fsl_onsets_accept(out, work);
	return FSL_OK;
}
