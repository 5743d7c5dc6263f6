/* Steps of the same ranks in two captures. */
#include "blame/baseline.h"

#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/try.h"
#include "blame/baseline_model.h"
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

/* Kernels, or collectives, of both captures; both lists are sorted by name. */
struct sums {
	struct fsl_profile_sums now, then;
};

/* The sum in the earlier capture with the name of @item, or NULL; *t, the place reached, only
 * grows. */
static const struct fsl_profile_sum *find_sum(const struct sums *sums, size_t *t,
					      const struct fsl_profile_sum *item)
{
	const struct fsl_profile_sums *then = &sums->then;
	while (*t < then->n_items && strcmp(then->items[*t].name, item->name) < 0) {
		++*t;
	}
	bool is_known = *t < then->n_items && strcmp(then->items[*t].name, item->name) == 0;
	return is_known ? &then->items[*t] : NULL;
}

/* Keeps those that grew most. */
static void keep_grown(struct fsl_grown_sums *list, const struct fsl_grown_sum *item)
{
	size_t at = list->n_items < FSL_GROWN_SUMS_MAX ? list->n_items++ : FSL_GROWN_SUMS_MAX;
	double change_ms = item->now_ms - item->then_ms;
	for (; at > 0 && list->items[at - 1].now_ms - list->items[at - 1].then_ms < change_ms;
	     at--) {
		if (at < FSL_GROWN_SUMS_MAX) {
			list->items[at] = list->items[at - 1];
		}
	}
	if (at < FSL_GROWN_SUMS_MAX) {
		list->items[at] = *item;
	}
}

static enum fsl_status list_grown(struct fsl_grown_sums *list, const struct sums *sums,
				  double least_ms, struct fsl_arena *arena, struct fsl_error *err)
{
	bool is_told = sums->then.n_items > 0;
	for (size_t i = 0, t = 0; i < sums->now.n_items && is_told; i++) {
		const struct fsl_profile_sum *now = &sums->now.items[i];
		const struct fsl_profile_sum *then = find_sum(sums, &t, now);
		const struct fsl_grown_sum grown = {now->name, now->ms, now->count,
						    then != NULL ? then->ms : 0.0,
						    then != NULL ? then->count : 0.0};
		if (grown.now_ms - grown.then_ms >= least_ms) {
			keep_grown(list, &grown);
		}
	}
	for (size_t i = 0; i < list->n_items; i++) {
		list->items[i].name = fsl_arena_strdup(arena, list->items[i].name);
		FSL_TRY(FSL_MADE(list->items[i].name, list->n_items, "names", err));
	}
	return FSL_OK;
}

/* How many times as long all kernels take together, and whether each grew so. */
static void grow_together(struct fsl_baseline *out, const struct sums *sums)
{
	double even_ms = 0.0;
	size_t n = 0;
	for (int pass = 0; pass < 2; pass++) {
		double ratio = out->kernels_now_ms / out->kernels_then_ms;
		for (size_t i = 0, t = 0; i < sums->now.n_items; i++) {
			const struct fsl_profile_sum *now = &sums->now.items[i];
			const struct fsl_profile_sum *then = find_sum(sums, &t, now);
			bool is_same = then != NULL &&
				       fabs(now->count - then->count) <=
					       FSL_BASELINE_SAME_CALLS_SHARE_MAX * now->count;
			if (is_same && pass == 0) {
				n++;
				out->kernels_now_ms += now->ms;
				out->kernels_then_ms += then->ms;
			} else if (is_same &&
				   fabs(now->ms / then->ms / ratio - 1.0) <= FSL_KERNELS_MORE_MIN) {
				even_ms += now->ms;
			}
		}
	}
	out->is_even = n >= 2 &&
		       out->kernels_now_ms >=
			       (1.0 + FSL_BASELINE_CHANGE_SHARE_MIN) * out->kernels_then_ms &&
		       even_ms / out->kernels_now_ms >= FSL_BASELINE_EVEN_SHARE_MIN;
}

typedef enum fsl_status (*summer)(struct fsl_profile_sums *sums, const struct fsl_profile *profile,
				  const struct fsl_profile *beside, struct fsl_error *err);

static enum fsl_status compare_sums(struct fsl_baseline *out, const struct fsl_profile *now,
				    const struct fsl_profile *then, bool is_kernels,
				    struct fsl_error *err)
{
	summer sum = is_kernels ? fsl_profile_sum_kernels : fsl_profile_sum_comms;
	double least_ms = FSL_CAPTURE_COST_SHARE_MIN * out->then_ms[FSL_BASELINE_STEP];
	struct sums sums = {0};
	enum fsl_status status = sum(&sums.now, now, then, err);
	FSL_THEN(status, sum(&sums.then, then, now, err));
	if (status == FSL_OK && is_kernels && out->worst == NULL) {
		grow_together(out, &sums);
	}
	/* Ranks wait for the one that grew: no collective is slower by that. */
	if (!is_kernels && out->worst != NULL) {
		least_ms = fmax(least_ms, out->worst->beyond_ms);
	}
	if (!is_kernels || !out->is_even) {
		FSL_THEN(status, list_grown(is_kernels ? &out->kernels : &out->comms, &sums,
					    least_ms, &out->arena, err));
	}
	fsl_profile_sums_fini(&sums.now);
	fsl_profile_sums_fini(&sums.then);
	return status;
}

enum fsl_status fsl_baseline_compare(struct fsl_baseline *out, const struct fsl_profile *now,
				     const struct fsl_profile *then, struct fsl_error *err)
{
	struct pairs pairs = {.out = out};
	*out = (struct fsl_baseline){.change_ms = NAN, .model_share = NAN};
	enum fsl_status status = find_pairs(&pairs, now, then, err);
	FSL_THEN(status, fsl_baseline_liken(&out->model_share, now, then, err));
	out->is_other_model = out->model_share < FSL_BASELINE_MODEL_SHARE_MIN;
	if (status == FSL_OK && out->n_ranks > 0 && !out->is_other_model) {
		compare_ranks(&pairs, FSL_BASELINE_COMPUTING);
		compare_ranks(&pairs, FSL_BASELINE_FREE);
		compare_job(&pairs);
		status = compare_sums(out, now, then, true, err);
		FSL_THEN(status, compare_sums(out, now, then, false, err));
	}
	if (status != FSL_OK) {
		fsl_baseline_fini(out);
	}
	return status;
}

void fsl_baseline_fini(struct fsl_baseline *baseline)
{
	fsl_arena_fini(&baseline->arena);
	*baseline = (struct fsl_baseline){0};
}
