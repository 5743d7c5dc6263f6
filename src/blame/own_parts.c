/* Parts of own time beside those of the same class. */
#include "blame/own_parts.h"

#include <math.h>

#include <failslow/stats.h>

#include "base/try.h"
#include "blame/limits.h"
#include "blame/operator_types.h"

struct work {
	const struct fsl_own_parts_job *job;
	const struct fsl_places *places;
	struct fsl_kernel_peers *kernels; /* per rank */
	double *values;                   /* 2 per rank */
};

/* How much more of a part the rank has than the others of its class, median. */
static double more_of(const struct work *work, size_t r, const double *part_ms)
{
	const uint32_t *class_of = work->job->class_of;
	size_t n = 0;
	for (size_t i = 0; i < work->places->n_ranks; i++) {
		bool is_other =
			i != r && class_of[i] == class_of[r] && !work->places->ranks[i].is_suspect;
		if (is_other && !isnan(part_ms[i])) {
			work->values[n++] = part_ms[i];
		}
	}
	return part_ms[r] - (n > 0 ? fsl_median(work->values, n, work->values + n) : (double)NAN);
}

static struct fsl_own_part part_of(const struct work *work, size_t r)
{
	const struct fsl_place_rank *place = &work->places->ranks[r];
	const struct fsl_profile_rank *rank = &work->job->kernels->profile->ranks[r];
	struct fsl_own_part part = {.computing_more_ms = more_of(work, r, work->job->computing_ms),
				    .idle_more_ms = more_of(work, r, work->job->idle_ms)};
	part.is_compute = part.computing_more_ms >= FSL_EXPLAINED_SHARE_MIN * place->more_ms;
	/* An excerpt of its kernels tells nothing. */
	part.has_more_work =
		place->is_named && part.is_compute && rank->n_kernels > 0 &&
		!fsl_operator_types_are_cut(rank) &&
		work->kernels[r].excess_ms < FSL_EXPLAINED_SHARE_MIN * part.computing_more_ms;
	return part;
}

static enum fsl_status find(struct fsl_own_parts *out, struct work *work, struct fsl_error *err)
{
	const struct fsl_places *places = work->places;
	size_t n = places->n_ranks;
	FSL_TRY(FSL_ARENA_NEW(out->ranks, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(work->kernels, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(work->values, &out->arena, 2 * n, "ranks", err));
	if (places->n_named > 0) {
		FSL_TRY(fsl_kernel_peers_compare(work->kernels, work->job->kernels, err));
	}
	for (size_t r = 0; r < n; r++) {
		if (places->ranks[r].is_named || places->ranks[r].is_suspect) {
			out->ranks[r] = part_of(work, r);
		}
		if (out->ranks[r].has_more_work) {
			out->n_more_work++;
			out->more_work_ms = fmax(out->more_work_ms, places->ranks[r].cost_ms);
		}
	}
	if (out->n_more_work > 0 && out->n_more_work == places->n_named) {
		out->more_work_ms = places->cost_ms;
	}
	return FSL_OK;
}

enum fsl_status fsl_own_parts_find(struct fsl_own_parts *out, const struct fsl_own_parts_job *job,
				   struct fsl_error *err)
{
	struct work work = {.job = job, .places = job->kernels->places};
	*out = (struct fsl_own_parts){0};
	enum fsl_status status = find(out, &work, err);
	if (status != FSL_OK) {
		fsl_own_parts_fini(out);
	}
	return status;
}

void fsl_own_parts_fini(struct fsl_own_parts *parts)
{
	fsl_arena_fini(&parts->arena);
	*parts = (struct fsl_own_parts){0};
}
