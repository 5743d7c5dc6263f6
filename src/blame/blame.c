/* Own time against the level of the peers, noise, spread and lateness. */
#include "blame/blame.h"

#include <math.h>
#include <omp.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"

static enum fsl_status alloc_blame(struct fsl_blame *out, struct fsl_error *err)
{
	struct fsl_arena *arena = &out->arena;
	size_t n_ranks = out->n_ranks, n_classes = out->peers.n_classes, n_cells = 0;
	n_cells = fsl_mul_size(n_ranks, out->n_steps, &n_cells) ? n_cells : SIZE_MAX;
	FSL_TRY(FSL_ARENA_NEW(out->own_ms, arena, n_cells, "own_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->reference_ms, arena, n_cells, "reference_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->late_ms, arena, n_cells, "late_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->wait_ms, arena, n_cells, "wait_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->step_dur_ms, arena, out->n_steps, "step_dur_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->noise_ms, arena, n_ranks, "noise_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->healthy_ratio, arena, n_ranks, "healthy_ratio", err));
	FSL_TRY(FSL_ARENA_NEW(out->stands_out, arena, n_ranks, "stands_out", err));
	FSL_TRY(FSL_ARENA_NEW(out->is_outlier, arena, n_ranks, "is_outlier", err));
	FSL_TRY(FSL_ARENA_NEW(out->is_far, arena, n_ranks, "is_far", err));
	FSL_TRY(FSL_ARENA_NEW(out->is_matched, arena, n_ranks, "is_matched", err));
	FSL_TRY(FSL_ARENA_NEW(out->chances, arena, n_ranks, "chances", err));
	FSL_TRY(FSL_ARENA_NEW(out->charges, arena, n_ranks, "charges", err));
	FSL_TRY(FSL_ARENA_NEW(out->spread, arena, n_classes, "spread", err));
	return FSL_ARENA_NEW(out->shifts, arena, n_classes, "shifts", err);
}

/* Peers' level in the steps of [begin, end), of every class of more than one rank. */
static void compare_peers(struct fsl_blame *out, size_t begin, size_t end, double *work)
{
	const struct fsl_peers *peers = &out->peers;
	for (size_t k = 0; k < peers->n_classes; k++) {
		const uint32_t *members = peers->members + peers->begin[k];
		size_t n = peers->begin[k + 1] - peers->begin[k];
		double *levels = work + n;
		for (size_t s = begin; s < end && n > 1; s++) {
			for (size_t m = 0; m < n; m++) {
				work[m] = out->own_ms[members[m] * out->n_steps + s];
			}
			fsl_peer_levels(work, n, levels, levels + n);
			for (size_t m = 0; m < n; m++) {
				out->reference_ms[members[m] * out->n_steps + s] = levels[m];
			}
		}
	}
}

/* A rank without peers is compared with itself at its best. */
static void compare_alone(struct fsl_blame *out, size_t class_idx, double *work)
{
	const struct fsl_peers *peers = &out->peers;
	size_t first = peers->members[peers->begin[class_idx]] * out->n_steps;
	if (peers->begin[class_idx + 1] - peers->begin[class_idx] == 1) {
		double level = fsl_best_level(out->own_ms + first, out->n_steps, work);
		for (size_t s = 0; s < out->n_steps; s++) {
			out->reference_ms[first + s] = level;
		}
	}
}

/*
 * Robust sigma of the change from one step to the next (von Neumann): it shows work that moves
 * between ranks from step to step. Such work leaves a rank at the level of its peers in half of its
 * steps, which hides it from the median; the upper quartile shows it, and pauses in one of ten
 * steps do not reach that. @work: 2 * n.
 */
static double sigma_of_steps(const double *values, size_t n, double *work)
{
	static const double QUARTILE_SIGMAS = 1.1503; /* of |x|, x normal */
	size_t n_changes = 0;
	for (size_t s = 0; s + 1 < n; s++) {
		double change = fabs(values[s + 1] - values[s]);
		if (!isnan(change)) {
			work[n_changes++] = change;
		}
	}
	if (n_changes == 0) {
		return NAN;
	}
	double quartile = fsl_percentile(work, n_changes, 75.0, work + n);
	return quartile / (QUARTILE_SIGMAS * sqrt(2.0));
}

/*
 * If a class has two members, one has below the other what the other has above it: pauses of one
 * look like noise of both. Their own times tell them apart, for work that moves from the one to the
 * other changes both, each by half of what lies between them. NaN if a class has more members.
 */
static double sigma_of_quieter(const struct fsl_blame *out, size_t rank_idx, double *work)
{
	const struct fsl_peers *peers = &out->peers;
	size_t c = peers->class_of[rank_idx], begin = peers->begin[c];
	if (peers->begin[c + 1] - begin != 2) {
		return NAN;
	}
	double sigmas[2];
	for (size_t k = 0; k < 2; k++) {
		const double *own_ms = out->own_ms + peers->members[begin + k] * out->n_steps;
		sigmas[k] = sigma_of_steps(own_ms, out->n_steps, work);
	}
	return 2.0 * fmin(sigmas[0], sigmas[1]);
}

/*
 * A member's spread around its own level, or from step to step if that is more. The lower of two
 * middle values is the level: if half of an even number of steps is slow, no step lies between
 * both, and the fault would pass for noise. @work: 3 * steps.
 */
static double spread_of(const struct fsl_blame *out, size_t rank_idx, double *work)
{
	double *scratch = work + out->n_steps;
	double quieter = sigma_of_quieter(out, rank_idx, scratch);
	for (size_t s = 0; s < out->n_steps; s++) {
		work[s] = fsl_blame_excess_ms(out, rank_idx, s);
	}
	double by_step = fmin(sigma_of_steps(work, out->n_steps, scratch), quieter);
	double centre = fsl_low_median(work, out->n_steps, scratch);
	for (size_t s = 0; s < out->n_steps; s++) {
		work[s] = fabs(work[s] - centre);
	}
	return fmax(FSL_MAD_TO_SIGMA * fsl_low_median(work, out->n_steps, scratch), by_step);
}

/* Robust sigma of a class: median over its members' spreads. @spreads: [peers->members], lost;
 * @work: members. */
static void set_noise(struct fsl_blame *out, double *spreads, double *work)
{
	const struct fsl_peers *peers = &out->peers;
	for (size_t c = 0; c < peers->n_classes; c++) {
		size_t begin = peers->begin[c], end = peers->begin[c + 1];
		double noise = fsl_median(spreads + begin, end - begin, work);
		for (size_t k = begin; k < end; k++) {
			out->noise_ms[peers->members[k]] = isnan(noise) ? 0.0 : noise;
		}
	}
}

/*
 * Lateness and wait per rank and step, summed over the operators of the step: the others waited as
 * long as the rank's duration is below the longest of the instance; the rank waited as long as it
 * is above the shortest. Waits in point-to-point operators are left out: a pipeline has its bubble
 * with nobody slow.
 */
static void add_instance(struct fsl_blame *out, const struct fsl_channel *channel, size_t instance,
			 size_t step)
{
	const int64_t *dur_ns = channel->dur_ns + instance * channel->n_members;
	int64_t longest_ns = -1, shortest_ns = INT64_MAX;
	for (size_t m = 0; m < channel->n_members; m++) {
		longest_ns = dur_ns[m] > longest_ns ? dur_ns[m] : longest_ns;
		bool is_shorter = dur_ns[m] >= 0 && dur_ns[m] < shortest_ns;
		shortest_ns = is_shorter ? dur_ns[m] : shortest_ns;
	}
	FSL_ASSERT(step < out->n_steps);
	double latest_ms = (double)(longest_ns - shortest_ns) / FSL_NS_PER_MS;
	for (size_t m = 0; m < channel->n_members; m++) {
		if (dur_ns[m] >= 0) {
			size_t at = channel->members[m] * out->n_steps + step;
			double ms = (double)(longest_ns - dur_ns[m]) / FSL_NS_PER_MS;
			FSL_ASSERT(ms >= 0.0 && ms <= latest_ms);
			out->late_ms[at] += ms;
			out->wait_ms[at] += channel->is_p2p ? 0.0 : latest_ms - ms;
		}
	}
}

/* Lateness of the steps of [begin, end). */
static void add_steps(struct fsl_blame *out, const struct fsl_match *match, size_t begin,
		      size_t end)
{
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		for (size_t i = 0; i < channel->n_instances && !channel->disagrees; i++) {
			if (channel->step_idx[i] >= begin && channel->step_idx[i] < end) {
				add_instance(out, channel, i, channel->step_idx[i]);
			}
		}
	}
}

/* True when a member has an operator in some step. */
static bool is_in_instance(const struct fsl_channel *channel, size_t member, size_t n_steps)
{
	for (size_t i = 0; i < channel->n_instances && !channel->disagrees; i++) {
		if (channel->step_idx[i] < n_steps &&
		    fsl_channel_duration_ns(channel, i, member) >= 0) {
			return true;
		}
	}
	return false;
}

/* Each thread takes some steps of all channels, so that every sum is made in one order. */
static void set_lateness(struct fsl_blame *out, const struct fsl_match *match)
{
#pragma omp parallel
	{
		size_t n_threads = (size_t)omp_get_num_threads();
		size_t thread = (size_t)omp_get_thread_num();
		add_steps(out, match, out->n_steps * thread / n_threads,
			  out->n_steps * (thread + 1) / n_threads);
	}
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		for (size_t m = 0; m < channel->n_members; m++) {
			bool *is_matched = &out->is_matched[channel->members[m]];
			*is_matched = *is_matched || is_in_instance(channel, m, out->n_steps);
		}
	}
}

static void set_steps(struct fsl_blame *out, const struct fsl_steps *steps, double *work)
{
	for (size_t s = 0; s < out->n_steps; s++) {
		out->step_dur_ms[s] = (double)steps->items[s].dur_ns / FSL_NS_PER_MS;
	}
	out->step_ms = fsl_median(out->step_dur_ms, out->n_steps, work);
}

static void set_own(struct fsl_blame *out, const struct fsl_own *own, size_t r)
{
	for (size_t s = 0; s < out->n_steps; s++) {
		size_t at = r * out->n_steps + s;
		out->own_ms[at] =
			fsl_own_total_ms(own, r, s) + (out->counts_idle ? own->idle_ms[at] : 0.0);
		out->reference_ms[at] = NAN;
	}
}

/* Scratch of one thread: three of the steps, three of the members of a class. */
static size_t work_size(const struct fsl_blame *out)
{
	return 3 * out->n_steps + 3 * out->n_ranks + 2;
}

/* Own time, its level and its noise on threads. @spreads: ranks. */
static enum fsl_status compare_all(struct fsl_blame *out, const struct fsl_own *own,
				   double *spreads, double *work, struct fsl_error *err)
{
	const struct fsl_peers *peers = &out->peers;
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		double *scratch = fsl_calloc(work_size(out), sizeof(*scratch));
		size_t thread = (size_t)omp_get_thread_num();
		size_t n_threads = (size_t)omp_get_num_threads();
		is_short = scratch == NULL;
#pragma omp for schedule(static)
		for (size_t r = 0; r < out->n_ranks; r++) {
			set_own(out, own, r);
		}
		if (!is_short) {
			compare_peers(out, out->n_steps * thread / n_threads,
				      out->n_steps * (thread + 1) / n_threads, scratch);
		}
#pragma omp for schedule(dynamic, 1)
		for (size_t c = 0; c < peers->n_classes; c++) {
			if (!is_short) {
				compare_alone(out, c, scratch);
			}
		}
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t k = 0; k < peers->begin[peers->n_classes]; k++) {
			spreads[k] = is_short ? 0.0 : spread_of(out, peers->members[k], scratch);
		}
		fsl_free(scratch);
	}
	if (is_short) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", out->n_steps);
	}
	set_noise(out, spreads, work);
	return FSL_OK;
}

/* Own time, levels and charges; idle time is work too when out->counts_idle says so. */
static enum fsl_status charge_all(struct fsl_blame *out, const struct fsl_case *facts, double *work,
				  struct fsl_error *err)
{
	FSL_TRY(compare_all(out, facts->own, work, work + out->n_ranks, err));
	fsl_chance_find(out, facts->config, work);
	FSL_TRY(fsl_standing_find(out, facts->config, work, err));
	return fsl_charge_ranks(out, facts->config, work, err);
}

/* True when some rank's charge costs what counts. */
static bool is_explained(const struct fsl_blame *blame, const struct fsl_config *config)
{
	double least_ms = fsl_least_loss_ms(config, blame->step_ms);
	for (size_t r = 0; r < blame->n_ranks; r++) {
		const struct fsl_charge *charge = &blame->charges[r];
		if (charge->pattern != FSL_PATTERN_NONE && charge->lost_ms_per_step >= least_ms) {
			return true;
		}
	}
	return false;
}

static enum fsl_status build(struct fsl_blame *out, const struct fsl_case *facts,
			     struct fsl_error *err)
{
	double *work = NULL;
	FSL_TRY(FSL_ARENA_NEW(work, &out->arena, work_size(out), "work", err));
	FSL_TRY(fsl_peers_build(&out->peers, &out->arena, facts->run, facts->topology, err));
	FSL_TRY(alloc_blame(out, err));
	set_lateness(out, facts->match);
	set_steps(out, facts->steps, work);
	FSL_TRY(charge_all(out, facts, work, err));
	if (facts->own->has_stages && !is_explained(out, facts->config)) {
		/* Work outside every stage is blamed only when recorded work explains nothing. */
		out->counts_idle = true;
		FSL_TRY(charge_all(out, facts, work, err));
	}
	return facts->config->algorithm != FSL_ALGORITHM_SYSTRACE
		       ? fsl_arrivals_judge(out, facts, err)
		       : FSL_OK;
}

enum fsl_status fsl_blame_build(struct fsl_blame *out, const struct fsl_case *facts,
				struct fsl_error *err)
{
	*out = (struct fsl_blame){.n_ranks = facts->run->n_ranks, .n_steps = facts->steps->n_items};
	enum fsl_status status = build(out, facts, err);
	if (status != FSL_OK) {
		fsl_blame_fini(out);
	}
	return status;
}

void fsl_blame_fini(struct fsl_blame *blame)
{
	fsl_arena_fini(&blame->arena);
	*blame = (struct fsl_blame){0};
}

bool fsl_blame_work_may_hide(const struct fsl_case *facts)
{
	return !fsl_own_is_work(facts->own) || fsl_match_lacks_partners(facts->match);
}
