/* Excess of own time over the peers' level, lateness, and the charge against each rank. */
#include "blame/blame.h"

#include <math.h>

#include <failslow/stats.h>

#include "base/number.h"

enum {
	LASTING_STEPS_MIN = 5,  /* shorter episodes are spikes */
	REPEATED_STEPS_MIN = 3, /* fewer single steps are chance */
};

/* A step is high above this many robust sigmas of the peers' excess. */
static const double NOISE_SIGMAS = 4.0;
/* Others must have waited for a rank in this share of its high steps. */
static const double LATE_FLOOR_SHARE = 0.25;

static enum fsl_status alloc_blame(struct fsl_blame *out, struct fsl_error *err)
{
	size_t n_cells = 0, n_bytes = 0;
	if (fsl_mul_size(out->n_ranks, out->n_steps, &n_cells) &&
	    fsl_mul_size(n_cells, sizeof(double), &n_bytes)) {
		out->own_ms = fsl_arena_alloc(&out->arena, n_bytes);
		out->reference_ms = fsl_arena_alloc(&out->arena, n_bytes);
		out->late_ms = fsl_arena_alloc(&out->arena, n_bytes);
		out->wait_ms = fsl_arena_alloc(&out->arena, n_bytes);
	}
	out->step_dur_ms = fsl_arena_alloc(&out->arena, out->n_steps * sizeof(double));
	out->noise_ms = fsl_arena_alloc(&out->arena, out->n_ranks * sizeof(double));
	out->charges = fsl_arena_alloc(&out->arena, out->n_ranks * sizeof(*out->charges));
	if (out->own_ms == NULL || out->reference_ms == NULL || out->late_ms == NULL ||
	    out->wait_ms == NULL || out->step_dur_ms == NULL || out->noise_ms == NULL ||
	    out->charges == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu, steps=%zu",
				out->n_ranks, out->n_steps);
	}
	return FSL_OK;
}

/* Peers' level step by step; a rank without peers is compared with its own lower half. */
static void set_references(struct fsl_blame *out, size_t class_idx, double *work)
{
	const struct fsl_peers *peers = &out->peers;
	size_t begin = peers->begin[class_idx], n = peers->begin[class_idx + 1] - begin;
	const uint32_t *members = peers->members + begin;
	if (n == 1) {
		double *row = out->own_ms + members[0] * out->n_steps;
		double level = fsl_peer_level(row, out->n_steps, work);
		for (size_t s = 0; s < out->n_steps; s++) {
			out->reference_ms[members[0] * out->n_steps + s] = level;
		}
		return;
	}
	for (size_t s = 0; s < out->n_steps; s++) {
		for (size_t m = 0; m < n; m++) {
			work[m] = out->own_ms[members[m] * out->n_steps + s];
		}
		double *levels = work + n;
		fsl_peer_levels(work, n, levels, levels + n);
		for (size_t m = 0; m < n; m++) {
			out->reference_ms[members[m] * out->n_steps + s] = levels[m];
		}
	}
}

/* Robust sigma of a class: median over its members of each member's spread around its own median.
 */
static void set_noise(struct fsl_blame *out, size_t class_idx, double *work)
{
	const struct fsl_peers *peers = &out->peers;
	size_t begin = peers->begin[class_idx], end = peers->begin[class_idx + 1];
	double *spreads = work + 2 * out->n_steps;
	for (size_t k = begin; k < end; k++) {
		for (size_t s = 0; s < out->n_steps; s++) {
			work[s] = fsl_blame_excess_ms(out, peers->members[k], s);
		}
		double centre = fsl_median(work, out->n_steps, work + out->n_steps);
		spreads[k - begin] = fsl_mad_sigma(work, out->n_steps, centre, work + out->n_steps);
	}
	double noise = fsl_median(spreads, end - begin, spreads + (end - begin));
	for (size_t k = begin; k < end; k++) {
		out->noise_ms[peers->members[k]] = isnan(noise) ? 0.0 : noise;
	}
}

/*
 * Lateness and wait per rank and step, summed over the operators of the step: the others waited as
 * long as the rank's duration is below the longest of the instance; the rank waited as long as it
 * is above the shortest.
 */
static void add_instance(struct fsl_blame *out, const struct fsl_channel *channel,
			 const struct fsl_windows *late, size_t instance, size_t step)
{
	double latest_ms = 0.0;
	for (size_t m = 0; m < channel->n_members; m++) {
		double ms = late->values[m * late->n_windows + instance];
		latest_ms = !isnan(ms) && ms > latest_ms ? ms : latest_ms;
	}
	for (size_t m = 0; m < channel->n_members; m++) {
		double ms = late->values[m * late->n_windows + instance];
		if (!isnan(ms)) {
			size_t at = channel->members[m] * out->n_steps + step;
			out->late_ms[at] += ms;
			out->wait_ms[at] += latest_ms - ms;
		}
	}
}

static enum fsl_status set_lateness(struct fsl_blame *out, const struct fsl_run *run,
				    const struct fsl_match *match, struct fsl_error *err)
{
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		struct fsl_windows late = {0};
		enum fsl_status status = fsl_channel_lateness(&late, channel, run, err);
		if (status != FSL_OK) {
			return status;
		}
		for (size_t i = 0; i < channel->n_instances; i++) {
			if (channel->step_idx[i] < out->n_steps) {
				add_instance(out, channel, &late, i, channel->step_idx[i]);
			}
		}
		fsl_windows_fini(&late);
	}
	return FSL_OK;
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
			n_late += late_ms >= LATE_FLOOR_SHARE * charge->threshold_ms;
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
 * What comes back is no more than what the peers waited: work that nobody waited for (a pipeline's
 * bubble hides some of it) was not lost. Waits in operators that could not be matched are not seen,
 * so the bound holds only where the matched ones explain most of the excess. @work: 2 * members.
 */
static void bound_loss(struct fsl_blame *out, size_t r, size_t begin, size_t end, double *work)
{
	static const double WAITS_SEEN_SHARE_MIN = 0.5;
	const struct fsl_peers *peers = &out->peers;
	struct fsl_charge *charge = &out->charges[r];
	uint32_t class_idx = peers->class_of[r];
	size_t n = 0;
	for (size_t k = peers->begin[class_idx]; k < peers->begin[class_idx + 1]; k++) {
		if (peers->members[k] != r) {
			work[n++] = mean_of_steps(out, out->wait_ms, peers->members[k], begin, end);
		}
	}
	double waited_ms = fsl_median(work, n, work + n);
	if (waited_ms >= WAITS_SEEN_SHARE_MIN * charge->lost_ms_per_step) {
		charge->lost_ms_per_step = fmin(charge->lost_ms_per_step, waited_ms);
	}
}

/* First and last high step, and the loss spread over all steps. */
static void charge_repeated(struct fsl_charge *charge, const double *excess, size_t n_steps)
{
	struct fsl_episode episode = {.begin = n_steps};
	double lost_ms = 0.0;
	size_t n_seen = 0;
	for (size_t s = 0; s < n_steps; s++) {
		n_seen += isnan(excess[s]) ? 0 : 1;
		if (excess[s] > charge->threshold_ms) {
			episode.begin = episode.n_high == 0 ? s : episode.begin;
			episode.end = s + 1;
			episode.n_high++;
			lost_ms += excess[s];
		}
	}
	if (episode.n_high < REPEATED_STEPS_MIN) {
		return;
	}
	episode.persistence = (double)episode.n_high / (double)(episode.end - episode.begin);
	episode.mean_ms = lost_ms / (double)episode.n_high;
	charge->pattern = FSL_PATTERN_REPEATED;
	charge->episode = episode;
	charge->lost_ms_per_step = lost_ms / (double)n_seen;
}

static void charge_rank(struct fsl_blame *out, size_t r, const struct fsl_config *config,
			double *excess)
{
	struct fsl_charge *charge = &out->charges[r];
	for (size_t s = 0; s < out->n_steps; s++) {
		excess[s] = fsl_blame_excess_ms(out, r, s);
	}
	double least_ms = (1.0 - 1.0 / config->slow_ratio_min) * out->step_ms;
	*charge = (struct fsl_charge){.last_share = NAN, .own_ms = NAN, .peers_ms = NAN};
	charge->threshold_ms = fmax(0.5 * least_ms, NOISE_SIGMAS * out->noise_ms[r]);
	struct fsl_episode episode = fsl_episode_find(excess, out->n_steps, charge->threshold_ms);
	if (episode.n_high >= LASTING_STEPS_MIN && episode.persistence >= config->persistence_min) {
		charge->pattern = FSL_PATTERN_LASTING;
		charge->episode = episode;
		charge->lost_ms_per_step = episode.mean_ms;
	} else {
		charge_repeated(charge, excess, out->n_steps);
	}
	size_t begin = 0, end = out->n_steps;
	if (charge->pattern != FSL_PATTERN_NONE) {
		const double *own = out->own_ms + r * out->n_steps;
		const double *reference = out->reference_ms + r * out->n_steps;
		charge->own_ms = mean_over_high(out, r, own, charge);
		charge->peers_ms = mean_over_high(out, r, reference, charge);
		charge->last_share = share_last(out, r, charge);
		if (charge->pattern == FSL_PATTERN_LASTING) {
			begin = charge->episode.begin;
			end = charge->episode.end;
		}
		bound_loss(out, r, begin, end, excess);
	}
	charge->late_ms_per_step = mean_of_steps(out, out->late_ms, r, begin, end);
}

static void set_steps(struct fsl_blame *out, const struct fsl_steps *steps, double *work)
{
	for (size_t s = 0; s < out->n_steps; s++) {
		out->step_dur_ms[s] = (double)steps->items[s].dur_ns / FSL_NS_PER_MS;
	}
	out->step_ms = fsl_median(out->step_dur_ms, out->n_steps, work);
}

enum fsl_status fsl_blame_build(struct fsl_blame *out, const struct fsl_run *run,
				const struct fsl_topology *topology, const struct fsl_steps *steps,
				const struct fsl_match *match, const struct fsl_own *own,
				const struct fsl_config *config, struct fsl_error *err)
{
	*out = (struct fsl_blame){.n_ranks = run->n_ranks, .n_steps = steps->n_items};
	/* Serves every series of this file: two of the steps, three of the members of a class. */
	double *work = fsl_calloc(2 * out->n_steps + 3 * out->n_ranks + 2, sizeof(*work));
	enum fsl_status status = work != NULL ? FSL_OK : FSL_ERR_MEMORY;
	if (status != FSL_OK) {
		return FSL_FAIL(err, status, "out of memory: steps=%zu", out->n_steps);
	}
	status = fsl_peers_build(&out->peers, &out->arena, run, topology, err);
	if (status == FSL_OK) {
		status = alloc_blame(out, err);
	}
	if (status == FSL_OK) {
		status = set_lateness(out, run, match, err);
	}
	if (status != FSL_OK) {
		fsl_free(work);
		fsl_blame_fini(out);
		return status;
	}
	set_steps(out, steps, work);
	for (size_t r = 0; r < out->n_ranks; r++) {
		for (size_t s = 0; s < out->n_steps; s++) {
			size_t at = r * out->n_steps + s;
			out->own_ms[at] = fsl_own_total_ms(own, r, s);
			out->reference_ms[at] = NAN;
		}
	}
	for (size_t k = 0; k < out->peers.n_classes; k++) {
		set_references(out, k, work);
		set_noise(out, k, work);
	}
	for (size_t r = 0; r < out->n_ranks; r++) {
		charge_rank(out, r, config, work);
	}
	fsl_free(work);
	return FSL_OK;
}

void fsl_blame_fini(struct fsl_blame *blame)
{
	fsl_arena_fini(&blame->arena);
	*blame = (struct fsl_blame){0};
}
