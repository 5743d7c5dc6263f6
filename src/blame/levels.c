/* The effect of a repair: how much of each part of own time, and of each transfer, is excess. */
#include <math.h>

#include "base/log.h"
#include "blame/link.h"
#include "blame/verify.h"

/* Own time by part in one replayed step; idle time is a part if it counts as work. */
static double part_ms(const struct fsl_case *facts, size_t r, size_t step, size_t part)
{
	if (part < FSL_OWN_PARTS_N) {
		return fsl_own_part_ms(facts->own, r, step, (enum fsl_own_part)part);
	}
	return facts->blame->counts_idle ? facts->own->idle_ms[r * facts->own->n_steps + step]
					 : 0.0;
}

static double *level_at(struct fsl_replay *replay, size_t r, size_t i, size_t part)
{
	return &replay->own_factor[(r * replay->n_steps + i) * FSL_REPLAY_PARTS_N + part];
}

/* Writes the levels of a rank without peers, itself at its best, into own_factor. @work: 2 *
 * steps. */
static void set_alone_levels(struct fsl_replay *replay, const struct fsl_case *facts, size_t r,
			     double *work)
{
	const struct fsl_peers *peers = &facts->blame->peers;
	uint32_t class_idx = peers->class_of[r];
	if (peers->begin[class_idx + 1] - peers->begin[class_idx] > 1) {
		return;
	}
	for (size_t p = 0; p < FSL_REPLAY_PARTS_N; p++) {
		for (size_t i = 0; i < replay->n_steps; i++) {
			work[i] = part_ms(facts, r, replay->step_idx[i], p);
		}
		double level = fsl_best_level(work, replay->n_steps, work + replay->n_steps);
		for (size_t i = 0; i < replay->n_steps; i++) {
			*level_at(replay, r, i, p) = level;
		}
	}
}

/* Likewise of all classes of more than one rank in step @i, from each other. @work: 3 * members. */
static void set_class_levels(struct fsl_replay *replay, const struct fsl_case *facts, size_t i,
			     double *work)
{
	const struct fsl_peers *peers = &facts->blame->peers;
	for (size_t k = 0; k < peers->n_classes; k++) {
		const uint32_t *members = peers->members + peers->begin[k];
		size_t n = peers->begin[k + 1] - peers->begin[k];
		double *levels = work + n;
		for (size_t p = 0; p < FSL_REPLAY_PARTS_N && n > 1; p++) {
			for (size_t m = 0; m < n; m++) {
				work[m] = part_ms(facts, members[m], replay->step_idx[i], p);
			}
			fsl_peer_levels(work, n, levels, levels + n);
			for (size_t m = 0; m < n; m++) {
				*level_at(replay, members[m], i, p) = levels[m];
			}
		}
	}
}

/* Sums over some steps of one rank. */
struct excess {
	double own_ms[FSL_REPLAY_PARTS_N], level_ms[FSL_REPLAY_PARTS_N];
	double total_ms; /* against blame's reference */
	size_t n_steps;
};

static void add_step(struct excess *sum, const struct fsl_replay *replay,
		     const struct fsl_case *facts, size_t r, size_t i)
{
	size_t step = replay->step_idx[i];
	double total_ms = fsl_blame_excess_ms(facts->blame, r, step);
	const double *levels = replay->own_factor + (r * replay->n_steps + i) * FSL_REPLAY_PARTS_N;
	if (isnan(total_ms)) {
		return;
	}
	sum->total_ms += total_ms;
	sum->n_steps++;
	for (size_t p = 0; p < FSL_REPLAY_PARTS_N; p++) {
		double own_ms = part_ms(facts, r, step, p);
		if (!isnan(own_ms) && !isnan(levels[p])) {
			sum->own_ms[p] += own_ms;
			sum->level_ms[p] += levels[p];
		}
	}
}

/*
 * Factors that take the whole excess away, each part's first. Parts trade time with each other by
 * chance, so together they give no more than the excess. The rest of it is taken from all parts
 * alike: a class that slowed down as a whole differs from its own past, not from its peers.
 */
static void set_factors(const struct excess *sum, double factors[FSL_REPLAY_PARTS_N])
{
	double parts_ms = 0.0, own_ms = 0.0, total_ms = fmax(0.0, sum->total_ms);
	for (size_t p = 0; p < FSL_REPLAY_PARTS_N; p++) {
		parts_ms += fmax(0.0, sum->own_ms[p] - sum->level_ms[p]);
		own_ms += sum->own_ms[p];
	}
	double share = parts_ms > total_ms ? total_ms / parts_ms : 1.0;
	double rest_ms = total_ms - share * parts_ms;
	for (size_t p = 0; p < FSL_REPLAY_PARTS_N; p++) {
		double excess_ms = share * fmax(0.0, sum->own_ms[p] - sum->level_ms[p]);
		if (sum->own_ms[p] > 0.0) {
			excess_ms += rest_ms * sum->own_ms[p] / own_ms;
			factors[p] = fmax(0.0, 1.0 - excess_ms / sum->own_ms[p]);
		} else {
			factors[p] = 1.0;
		}
		FSL_ASSERT(factors[p] >= 0.0 && factors[p] <= 1.0);
	}
}

/* Steps of a kind are brought to their level together. */
enum { STEP_KINDS_N = FSL_REPLAY_SINGLE + 1 };

static enum fsl_replay_kind kind_of_step(const struct fsl_blame *blame, size_t r, size_t step)
{
	const struct fsl_charge *charge = &blame->charges[r];
	bool is_inside = step >= charge->episode.begin && step < charge->episode.end;
	switch (charge->pattern) {
	case FSL_PATTERN_NONE:
		break;
	case FSL_PATTERN_LASTING:
		return is_inside ? FSL_REPLAY_EPISODE : FSL_REPLAY_CALM;
	case FSL_PATTERN_REPEATED:
		return is_inside && fsl_blame_excess_ms(blame, r, step) > charge->threshold_ms
			       ? FSL_REPLAY_SINGLE
			       : FSL_REPLAY_CALM;
	}
	return FSL_REPLAY_CALM;
}

/*
 * The excess of a part outside of the charge is how this device is; the charge came on top, in the
 * parts that have it.
 */
static void raise_levels(struct excess *sum, const struct excess *calm)
{
	for (size_t p = 0; p < FSL_REPLAY_PARTS_N && calm->n_steps >= FSL_REPLAY_CALM_STEPS_MIN;
	     p++) {
		double usual_ms = (calm->own_ms[p] - calm->level_ms[p]) / (double)calm->n_steps;
		sum->level_ms[p] += fmax(0.0, usual_ms) * (double)sum->n_steps;
	}
}

/* Levels of one rank become factors. */
static void set_rank(struct fsl_replay *replay, const struct fsl_case *facts, size_t r)
{
	struct excess sums[STEP_KINDS_N] = {{.total_ms = 0.0}};
	double factors[STEP_KINDS_N][FSL_REPLAY_PARTS_N];
	for (size_t i = 0; i < replay->n_steps; i++) {
		add_step(&sums[kind_of_step(facts->blame, r, replay->step_idx[i])], replay, facts,
			 r, i);
	}
	raise_levels(&sums[FSL_REPLAY_EPISODE], &sums[FSL_REPLAY_CALM]);
	for (size_t k = 0; k < STEP_KINDS_N; k++) {
		set_factors(&sums[k], factors[k]);
	}
	for (size_t i = 0; i < replay->n_steps; i++) {
		enum fsl_replay_kind kind = kind_of_step(facts->blame, r, replay->step_idx[i]);
		replay->kind[r * replay->n_steps + i] = (uint8_t)kind;
		double *row = replay->own_factor + (r * replay->n_steps + i) * FSL_REPLAY_PARTS_N;
		if (kind == FSL_REPLAY_SINGLE) {
			struct excess single = {.total_ms = 0.0};
			add_step(&single, replay, facts, r, i);
			raise_levels(&single, &sums[FSL_REPLAY_CALM]);
			set_factors(&single, factors[FSL_REPLAY_SINGLE]);
		}
		for (size_t p = 0; p < FSL_REPLAY_PARTS_N; p++) {
			row[p] = factors[kind][p];
		}
	}
}

/* Factor that brings a channel's transfer over some steps to that of its like. */
static double transfer_factor(const struct fsl_transfers *transfers, size_t c,
			      const struct fsl_replay *replay, size_t begin, size_t end)
{
	double own_ms = 0.0, level_ms = 0.0;
	for (size_t i = 0; i < replay->n_steps; i++) {
		size_t step = replay->step_idx[i], at = c * transfers->n_steps + step;
		if (step >= begin && step < end && !isnan(transfers->transfer_ms[at]) &&
		    !isnan(transfers->reference_ms[at])) {
			own_ms += transfers->transfer_ms[at];
			level_ms += transfers->reference_ms[at];
		}
	}
	return own_ms > level_ms ? level_ms / own_ms : 1.0;
}

/* A wait for somebody unseen differs from step to step: each is put to the usual transfer. */
static void set_waits(struct fsl_replay *replay, const struct fsl_transfers *transfers, size_t c)
{
	for (size_t i = 0; i < replay->n_steps; i++) {
		size_t step = replay->step_idx[i];
		replay->transfer_factor[c * replay->n_steps + i] =
			transfer_factor(transfers, c, replay, step, step + 1);
	}
}

static void set_transfers(struct fsl_replay *replay, const struct fsl_case *facts,
			  const struct fsl_transfers *transfers, const struct fsl_link *links,
			  size_t n_links)
{
	for (size_t c = 0; c < transfers->n_channels; c++) {
		const struct fsl_episode *episode = NULL;
		if (transfers->is_wait[c]) {
			set_waits(replay, transfers, c);
			continue;
		}
		for (size_t k = 0; k < n_links && episode == NULL; k++) {
			episode = fsl_link_has_channel(&links[k], facts->match, c)
					  ? &links[k].episode
					  : NULL;
		}
		size_t begin = episode != NULL ? episode->begin : 0;
		size_t end = episode != NULL ? episode->end : transfers->n_steps;
		double factor = transfer_factor(transfers, c, replay, begin, end);
		for (size_t i = 0; i < replay->n_steps; i++) {
			bool is_inside = replay->step_idx[i] >= begin && replay->step_idx[i] < end;
			replay->transfer_factor[c * replay->n_steps + i] = is_inside ? factor : 1.0;
		}
	}
}

/* Levels of all ranks become factors: each thread steps, then ranks. */
static bool set_factors_of_ranks(struct fsl_replay *replay, const struct fsl_case *facts)
{
	const struct fsl_peers *peers = &facts->blame->peers;
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		double *work =
			fsl_calloc(3 * replay->n_ranks + 2 * replay->n_steps + 1, sizeof(*work));
		is_short = work == NULL;
#pragma omp for schedule(static)
		for (size_t i = 0; i < replay->n_steps; i++) {
			if (!is_short) {
				set_class_levels(replay, facts, i, work);
			}
		}
#pragma omp for schedule(static) nowait
		for (size_t r = 0; r < replay->n_ranks; r++) {
			if (!is_short && peers->class_of[r] != FSL_NO_CLASS) {
				set_alone_levels(replay, facts, r, work);
				set_rank(replay, facts, r);
			}
		}
		fsl_free(work);
	}
	return !is_short;
}

enum fsl_status fsl_repair_levels(struct fsl_replay *replay, const struct fsl_case *facts,
				  const struct fsl_transfers *transfers,
				  const struct fsl_link *links, size_t n_links,
				  struct fsl_error *err)
{
	if (!set_factors_of_ranks(replay, facts)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", replay->n_ranks);
	}
	set_transfers(replay, facts, transfers, links, n_links);
	return fsl_replay_set_levels(replay, err);
}
