/*
 * Segmentation by PELT: the cuts that minimise squared error plus a penalty for each, found exactly
 * by dynamic programming; starts of a last segment that can never win again are pruned.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/shift_parts.h"

/* Pruning does not help where nothing changes, so long series are cut on a grid of this many. */
enum { GRID_MAX = 8192 };
/* Beyond this many sigmas all levels are alike: sums of squares keep their digits. */
static const double SIGMAS_MAX = 1e6;

/* A possible begin of the last segment. */
struct start {
	size_t node;
	size_t dead_from; /* node from which on it cannot win; SIZE_MAX: not known yet */
};

struct search {
	size_t stride,
		n_nodes;  /* node k is the cut in front of value k * stride; the last is the end */
	size_t nodes_min; /* of a segment */
	size_t n;
	double penalty;
	double *sums, *squares; /* prefix sums in sigmas, of n_nodes + 1 */
	double *best;           /* least cost of everything in front of a node */
	size_t *last;           /* node of the last cut of that */
	struct start *starts;
};

size_t fsl_shift_stride(const struct fsl_shift_work *work)
{
	return (work->n + GRID_MAX - 1) / GRID_MAX;
}

size_t fsl_shift_cuts_max(const struct fsl_shift_work *work)
{
	return work->n / work->segment_min + 1;
}

static size_t node_at(const struct search *search, size_t node)
{
	return node == search->n_nodes ? search->n : node * search->stride;
}

static double error_between(const struct search *search, size_t begin, size_t end)
{
	double sum = search->sums[end] - search->sums[begin];
	double n = (double)(node_at(search, end) - node_at(search, begin));
	return search->squares[end] - search->squares[begin] - sum * sum / n;
}

static void sum_up(struct search *search, const struct fsl_shift_work *work)
{
	double sum = 0.0;
	double square = 0.0;
	for (size_t node = 0; node < search->n_nodes; node++) {
		for (size_t i = node_at(search, node); i < node_at(search, node + 1); i++) {
			double value = work->capped[i] / work->sigma;
			value = fmax(-SIGMAS_MAX, fmin(SIGMAS_MAX, value));
			sum += value;
			square += value * value;
		}
		search->sums[node + 1] = sum;
		search->squares[node + 1] = square;
	}
}

/* Best last segment that ends at @end; marks starts that cannot win behind it. */
static void find_best(struct search *search, size_t end, size_t n_starts)
{
	search->best[end] = INFINITY;
	for (size_t i = 0; i < n_starts; i++) {
		size_t begin = search->starts[i].node;
		double cost =
			search->best[begin] + error_between(search, begin, end) + search->penalty;
		if (cost < search->best[end]) {
			search->best[end] = cost;
			search->last[end] = begin;
		}
	}
}

/* Drops the starts that are dead at @end, and finds out which will be: a cut at @end is better for
 * every later end that leaves room for a segment behind it. */
static size_t prune(struct search *search, size_t end, size_t n_starts)
{
	size_t n_left = 0;
	for (size_t i = 0; i < n_starts; i++) {
		struct start start = search->starts[i];
		if (start.dead_from == SIZE_MAX &&
		    search->best[start.node] + error_between(search, start.node, end) >
			    search->best[end]) {
			start.dead_from = end + search->nodes_min;
		}
		if (start.dead_from > end + 1) {
			search->starts[n_left++] = start;
		}
	}
	return n_left;
}

static void run(struct search *search)
{
	size_t n_starts = 0;
	search->best[0] = -search->penalty;
	for (size_t end = search->nodes_min; end <= search->n_nodes; end++) {
		size_t begin = end - search->nodes_min;
		if (begin == 0 || begin >= search->nodes_min) {
			search->starts[n_starts++] = (struct start){begin, SIZE_MAX};
		}
		find_best(search, end, n_starts);
		n_starts = prune(search, end, n_starts);
	}
}

static size_t collect(const struct search *search, struct fsl_shift_cut *cuts)
{
	size_t n_cuts = 0;
	for (size_t node = search->last[search->n_nodes]; node > 0; node = search->last[node]) {
		n_cuts++;
	}
	size_t idx = n_cuts;
	for (size_t node = search->last[search->n_nodes]; node > 0; node = search->last[node]) {
		cuts[--idx] = (struct fsl_shift_cut){.at = node_at(search, node)};
	}
	return n_cuts;
}

enum fsl_status fsl_shift_segment(const struct fsl_shift_work *work, struct fsl_shift_cut *cuts,
				  size_t *n_cuts, struct fsl_error *err)
{
	size_t stride = fsl_shift_stride(work);
	double scale = fmax(1.0, work->options->penalty_spread * work->spread / work->sigma);
	struct search search = {
		.stride = stride,
		.n_nodes = work->n / stride,
		.nodes_min = (work->segment_min + stride - 1) / stride,
		.n = work->n,
		.penalty = work->options->penalty * log((double)work->n) * scale * scale,
	};
	enum fsl_status status = FSL_OK;
	size_t n_entries = search.n_nodes + 1;
	search.sums = fsl_calloc(n_entries, sizeof(double));
	search.squares = fsl_calloc(n_entries, sizeof(double));
	search.best = fsl_calloc(n_entries, sizeof(double));
	search.last = fsl_calloc(n_entries, sizeof(size_t));
	search.starts = fsl_calloc(n_entries, sizeof(struct start));
	if (search.sums == NULL || search.squares == NULL || search.best == NULL ||
	    search.last == NULL || search.starts == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for a series: values=%zu",
				  work->n);
		goto out;
	}
	sum_up(&search, work);
	run(&search);
	*n_cuts = collect(&search, cuts);
out:
	fsl_free(search.starts);
	fsl_free(search.last);
	fsl_free(search.best);
	fsl_free(search.squares);
	fsl_free(search.sums);
	return status;
}
