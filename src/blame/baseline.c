/* Steps of the same ranks in two captures. */
#include "blame/baseline.h"

#include <math.h>

#include <failslow/stats.h>

#include "base/try.h"
#include "blame/limits.h"
#include "capture/sums.h"

/* The ranks that are in both captures. */
struct pairs {
	struct fsl_baseline *out;
	struct fsl_profile_step_mean *now, *then;
	int32_t *ranks;
	double *scratch; /* 2 per rank */
};

static enum fsl_status find_pairs(struct pairs *pairs, const struct fsl_profile *now,
				  const struct fsl_profile *then, struct fsl_error *err)
{
	struct fsl_baseline *out = pairs->out;
	size_t n_max = now->n_ranks;
	FSL_TRY(FSL_ARENA_NEW(pairs->now, &out->arena, n_max, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(pairs->then, &out->arena, n_max, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(pairs->ranks, &out->arena, n_max, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(pairs->scratch, &out->arena, 2 * n_max, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(out->grown, &out->arena, 2 * n_max, "ranks", err));
	for (size_t r = 0; r < n_max; r++) {
		const struct fsl_profile_rank *other =
			fsl_profile_rank_of(then, now->ranks[r].rank);
		if (other != NULL) {
			size_t n = out->n_ranks;
			pairs->now[n] = fsl_profile_rank_mean(&now->ranks[r]);
			pairs->then[n] = fsl_profile_rank_mean(other);
			pairs->ranks[n] = now->ranks[r].rank;
			out->n_ranks += pairs->now[n].n_ranks > 0 && pairs->then[n].n_ranks > 0;
		}
	}
	return FSL_OK;
}

static double part_of(const struct fsl_profile_step_mean *mean, enum fsl_baseline_part part)
{
	const double parts[] = {mean->step_ms, mean->computing_ms, mean->exposed_ms, mean->free_ms};
	return parts[part];
}

static double median_of(const struct pairs *pairs, const struct fsl_profile_step_mean *means,
			enum fsl_baseline_part part)
{
	size_t n = pairs->out->n_ranks;
	for (size_t i = 0; i < n; i++) {
		pairs->scratch[i] = part_of(&means[i], part);
	}
	return fsl_median(pairs->scratch, n, pairs->scratch + n);
}

static void compare_ranks(const struct pairs *pairs, enum fsl_baseline_part part)
{
	struct fsl_baseline *out = pairs->out;
	size_t n = out->n_ranks;
	if (n < FSL_BASELINE_RANKS_MIN) {
		return;
	}
	for (size_t i = 0; i < n; i++) {
		pairs->scratch[i] = part_of(&pairs->now[i], part) - part_of(&pairs->then[i], part);
	}
	double usual_ms = fsl_median(pairs->scratch, n, pairs->scratch + n);
	for (size_t i = 0; i < n; i++) {
		struct fsl_grown_rank *grown = &out->grown[out->n_grown];
		*grown = (struct fsl_grown_rank){.rank = pairs->ranks[i],
						 .part = part,
						 .now_ms = part_of(&pairs->now[i], part),
						 .then_ms = part_of(&pairs->then[i], part),
						 .others_ms = usual_ms};
		grown->beyond_ms = grown->now_ms - grown->then_ms - fmax(usual_ms, 0.0);
		if (grown->beyond_ms >= FSL_BASELINE_CHANGE_SHARE_MIN * pairs->then[i].step_ms) {
			bool is_worst =
				out->worst == NULL || grown->beyond_ms > out->worst->beyond_ms;
			out->worst = is_worst ? grown : out->worst;
			out->n_grown++;
		}
	}
}

/* The job as a whole. */
static void compare_job(const struct pairs *pairs)
{
	struct fsl_baseline *out = pairs->out;
	double most_ms = -INFINITY;
	for (size_t p = 0; p < FSL_BASELINE_PARTS_N; p++) {
		enum fsl_baseline_part part = (enum fsl_baseline_part)p;
		out->now_ms[p] = median_of(pairs, pairs->now, part);
		out->then_ms[p] = median_of(pairs, pairs->then, part);
		double change_ms = fabs(out->now_ms[p] - out->then_ms[p]);
		if (part != FSL_BASELINE_STEP && change_ms > most_ms) {
			most_ms = change_ms;
			out->most = part;
		}
	}
	double then_ms = out->then_ms[FSL_BASELINE_STEP];
	out->change_ms = out->now_ms[FSL_BASELINE_STEP] - then_ms;
	out->is_waited_for = out->worst != NULL && out->most == FSL_BASELINE_EXPOSED &&
			     out->worst->beyond_ms >= FSL_EXPLAINED_SHARE_MIN * out->change_ms;
	if (!(fabs(out->change_ms) >= FSL_BASELINE_CHANGE_SHARE_MIN * then_ms)) {
		out->change_ms = NAN;
	}
}

enum fsl_status fsl_baseline_compare(struct fsl_baseline *out, const struct fsl_profile *now,
				     const struct fsl_profile *then, struct fsl_error *err)
{
	struct pairs pairs = {.out = out};
	*out = (struct fsl_baseline){.change_ms = NAN};
	enum fsl_status status = find_pairs(&pairs, now, then, err);
	if (status != FSL_OK) {
		fsl_baseline_fini(out);
	} else if (out->n_ranks > 0) {
		compare_ranks(&pairs, FSL_BASELINE_COMPUTING);
		compare_ranks(&pairs, FSL_BASELINE_FREE);
		compare_job(&pairs);
	}
	return status;
}

void fsl_baseline_fini(struct fsl_baseline *baseline)
{
	fsl_arena_fini(&baseline->arena);
	*baseline = (struct fsl_baseline){0};
}
