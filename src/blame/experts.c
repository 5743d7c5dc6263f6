/* Rows of ranks from the shapes of their kernels. */
#include "blame/experts.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/limits.h"
#include "capture/step_rows.h"

/* Load of the experts of one rank, per step; 0: it is not told. */
struct load {
	double n_rows, ms;
};

/* First number of a shape: "4096,1024" -> 4096; 0 without one. */
static double first_dim(const char *text, const char *end)
{
	double rows = 0.0;
	while (text < end && (*text == ' ' || *text == '"')) {
		text++;
	}
	for (; text < end && *text >= '0' && *text <= '9'; text++) {
		rows = 10.0 * rows + (*text - '0');
	}
	return rows;
}

/* Rows of all inputs but the last two (group list and weights' scale): the tokens. Shapes are
 * divided by ';' and end at '|', behind which the types stand. */
static double rows_of_shapes(const char *shapes)
{
	const char *end = shapes + strcspn(shapes, "|");
	double sum = 0.0, last = 0.0, before = 0.0;
	size_t n = 0;
	for (const char *at = shapes; at <= end; n++) {
		const char *stop = memchr(at, ';', (size_t)(end - at));
		stop = stop != NULL ? stop : end;
		sum += before;
		before = last;
		last = first_dim(at, stop);
		at = stop + 1;
	}
	return n > 2 ? sum : 0.0;
}

static bool is_grouped_product(const char *type)
{
	return strcasestr(type, "groupedmatmul") != NULL;
}

static struct load load_of(const struct fsl_profile_rank *rank)
{
	struct load load = {0};
	double n_steps = (double)fsl_profile_n_steps(rank);
	for (size_t k = 0; k < rank->n_kernels; k++) {
		const struct fsl_profile_kernels *kernels = &rank->kernels[k];
		if (is_grouped_product(fsl_strpool_text(rank->names, kernels->type_id))) {
			load.n_rows +=
				(double)kernels->count / n_steps *
				rows_of_shapes(fsl_strpool_text(rank->names, kernels->shape_id));
			load.ms += (double)kernels->total_ns / FSL_NS_PER_MS / n_steps;
		}
	}
	return load;
}

/* Group of experts while even rows are replayed. */
struct even {
	struct fsl_arena arena;
	const struct fsl_profile *profile;
	const struct fsl_profile_group *group;
	const struct fsl_places_job *job;
	const struct fsl_places *places;
	double mean_rows;
	size_t busiest;   /* place in profile->ranks */
	double excess_ns; /* of the busiest rank, over all of its operators */
};

/* Work of a rank that even rows take off, by operator: before each as large a share as that of the
 * excess of the busiest rank. */
static enum fsl_status spread(int64_t **off_ns, struct even *even, size_t r, struct fsl_error *err)
{
	const int64_t *excess_ns = even->places->ranks[even->busiest].excess_ns;
	size_t n_ops = even->job->run->ranks[r].n_ops;
	struct load load = load_of(&even->profile->ranks[r]);
	double more_ns = load.ms * (1.0 - even->mean_rows / load.n_rows) * FSL_NS_PER_MS *
			 even->job->n_steps[r];
	FSL_TRY(FSL_ARENA_NEW(*off_ns, &even->arena, n_ops, "operators", err));
	for (size_t i = 0; i < n_ops; i++) {
		(*off_ns)[i] =
			(int64_t)(more_ns * fmax(0.0, (double)excess_ns[i]) / even->excess_ns);
	}
	return FSL_OK;
}

/* *cost_ms stays if nothing can be replayed. */
static enum fsl_status replay_even(double *cost_ms, struct even *even, struct fsl_error *err)
{
	const struct fsl_run *run = even->job->run;
	size_t n_ops = even->places->is_replayed ? run->ranks[even->busiest].n_ops : 0;
	double together_ms = NAN;
	int64_t **off_ns = NULL;
	for (size_t i = 0; i < n_ops; i++) {
		even->excess_ns +=
			fmax(0.0, (double)even->places->ranks[even->busiest].excess_ns[i]);
	}
	if (!(even->excess_ns > 0.0)) {
		return FSL_OK;
	}
	FSL_TRY(FSL_ARENA_NEW(off_ns, &even->arena, run->n_ranks, "ranks", err));
	for (size_t i = 0; i < even->group->n_ranks; i++) {
		const struct fsl_profile_rank *rank =
			fsl_profile_rank_of(even->profile, even->group->ranks[i]);
		size_t r = rank != NULL ? (size_t)(rank - even->profile->ranks) : even->busiest;
		if (run->ranks[r].n_ops != n_ops) {
			return FSL_OK;
		}
		if (rank != NULL && load_of(rank).n_rows > 0.0) {
			FSL_TRY(spread(&off_ns[r], even, r, err));
		}
	}
	FSL_TRY(fsl_places_take_off(&together_ms, even->job, even->places, off_ns, err));
	*cost_ms = isnan(together_ms) ? *cost_ms : together_ms;
	return FSL_OK;
}

enum fsl_status fsl_experts_compare(struct fsl_experts *out, const struct fsl_profile *profile,
				    const struct fsl_profile_group *group,
				    const struct fsl_places_job *job,
				    const struct fsl_places *places, struct fsl_error *err)
{
	struct load most = {0}, sum = {0};
	size_t busiest = 0;
	*out = (struct fsl_experts){.busiest = -1, .least = INFINITY};
	for (size_t i = 0; i < group->n_ranks; i++) {
		const struct fsl_profile_rank *rank = fsl_profile_rank_of(profile, group->ranks[i]);
		struct load load = rank != NULL ? load_of(rank) : (struct load){0};
		if (load.n_rows <= 0.0) {
			continue;
		}
		out->n_ranks++;
		sum.n_rows += load.n_rows;
		sum.ms += load.ms;
		out->least = fmin(out->least, load.n_rows);
		if (load.n_rows > most.n_rows) {
			most = load;
			busiest = (size_t)(rank - profile->ranks);
		}
	}
	out->most = most.n_rows;
	out->mean = sum.n_rows / (double)out->n_ranks;
	if (out->n_ranks < 2 || out->most < FSL_EXPERTS_PEAK_TO_MEAN_MIN * out->mean) {
		return FSL_OK;
	}
	struct even even = {.profile = profile,
			    .group = group,
			    .job = job,
			    .places = places,
			    .mean_rows = out->mean,
			    .busiest = busiest};
	out->busiest = profile->ranks[busiest].rank;
	out->cost_ms = fmax(0.0, most.ms - sum.ms / (double)out->n_ranks);
	enum fsl_status status = replay_even(&out->cost_ms, &even, err);
	fsl_arena_fini(&even.arena);
	return status;
}
