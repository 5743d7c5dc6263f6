/* Rows of ranks from the shapes of their kernels. */
#include "blame/experts.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
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

struct fsl_experts fsl_experts_compare(const struct fsl_profile *profile,
				       const struct fsl_profile_group *group)
{
	struct fsl_experts out = {.busiest = -1, .least = INFINITY};
	struct load most = {0}, sum = {0};
	for (size_t i = 0; i < group->n_ranks; i++) {
		const struct fsl_profile_rank *rank = fsl_profile_rank_of(profile, group->ranks[i]);
		struct load load = rank != NULL ? load_of(rank) : (struct load){0};
		if (load.n_rows <= 0.0) {
			continue;
		}
		out.n_ranks++;
		sum.n_rows += load.n_rows;
		sum.ms += load.ms;
		out.least = fmin(out.least, load.n_rows);
		if (load.n_rows > most.n_rows) {
			most = load;
			out.busiest = group->ranks[i];
		}
	}
	out.most = most.n_rows;
	out.mean = sum.n_rows / (double)out.n_ranks;
	out.cost_ms = fmax(0.0, most.ms - sum.ms / (double)out.n_ranks);
	if (out.n_ranks < 2 || out.most < FSL_EXPERTS_PEAK_TO_MEAN_MIN * out.mean) {
		out.busiest = -1;
	}
	return out;
}
