/*
 * Segmentation by PELT: finds exactly, by dynamic programming, the cuts that minimise the squared
 * error plus a penalty for each cut. Starts of a last segment that can never win again are pruned.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/shift_parts.h"

/* A long series is cut on a grid of this many nodes. If nothing changes, pruning does not help and
 * the time grows with the square of the nodes. */
enum { GRID_MAX = 8192 };
enum { REAL_COLUMNS = 8, INDEX_COLUMNS = 3 };
/* Starts that are examined together, and how many of them a vector may hold. */
enum { BLOCK = 32, LANES = 4, N_BLOCKS_MAX = (GRID_MAX + BLOCK) / BLOCK + 1 };
/* Values beyond this many sigmas count as alike: sums of squares keep their digits. */
static const double SIGMAS_MAX = 1e6;
/* Share of the sum of squares by which the difference of two costs of one start may be off: some
 * ten roundings in each. */
static const double ROUNDING_SHARE = 32 * DBL_EPSILON;

/* Possible starts of the last segment. Each property is a column, because every node asks for one
 * property of all starts. */
struct starts {
	size_t n;
	size_t *node;
	size_t *dead_from;    /* node from which on the start cannot win; SIZE_MAX: unknown */
	size_t next_dead;     /* least entry of dead_from */
	double *best;         /* least cost of all values before the start */
	double *sum, *square; /* prefix sums at the start */
	double *place;        /* index of the first value */
	/*
	 * Cost up to the node at which the block was examined last, without the penalty of the
	 * start's own cut. The error of a segment never shrinks as it grows, so the cost is a lower
	 * bound later.
	 */
	double *cost;
	double least[N_BLOCKS_MAX]; /* least cost in each block; -INFINITY: must be examined */
	double most;                /* greatest cost in the blocks examined for this node */
	size_t likely;              /* block of the last best start */
};

struct search {
	size_t stride,
		n_nodes;  /* node k is the cut in front of value k * stride; the last is the end */
	size_t nodes_min; /* least length of a segment */
	size_t n;
	double penalty;
	double *sums, *squares; /* prefix sums in sigmas, of n_nodes + 1 */
	double *best;           /* least cost of all values before a node */
	size_t *last;           /* node of the last cut of that solution */
	struct starts starts;
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

/* Sets the costs of up to BLOCK starts from @begin on, with the squared error of the segment from
 * each start to @end. */
static void set_costs(struct search *search, size_t begin, size_t n, size_t end)
{
	const struct starts *starts = &search->starts;
	double sum_end = search->sums[end];
	double square_end = search->squares[end];
	double place_end = (double)node_at(search, end);
	for (size_t i = begin; i < begin + n; i++) {
		double sum = sum_end - starts->sum[i];
		double n_values = place_end - starts->place[i];
		double error = square_end - starts->square[i] - sum * sum / n_values;
		starts->cost[i] = starts->best[i] + error;
	}
}

/* Least and greatest cost of a block, lane by lane: the compiler may not reorder them itself. */
static void set_range(struct starts *starts, size_t block, size_t n)
{
	const double *cost = starts->cost + block * BLOCK;
	double least[LANES];
	double most[LANES];
	for (size_t k = 0; k < LANES; k++) {
		least[k] = most[k] = cost[0];
	}
	size_t i = 0;
	for (; i + LANES <= n; i += LANES) {
		for (size_t k = 0; k < LANES; k++) {
			least[k] = cost[i + k] < least[k] ? cost[i + k] : least[k];
			most[k] = cost[i + k] > most[k] ? cost[i + k] : most[k];
		}
	}
	for (; i < n; i++) {
		least[0] = cost[i] < least[0] ? cost[i] : least[0];
		most[0] = cost[i] > most[0] ? cost[i] : most[0];
	}
	starts->least[block] = fmin(fmin(least[0], least[1]), fmin(least[2], least[3]));
	starts->most = fmax(starts->most, fmax(fmax(most[0], most[1]), fmax(most[2], most[3])));
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

/* Least cost of all values up to @end with a start of this block. */
static double look_at(struct search *search, size_t block, size_t end)
{
	struct starts *starts = &search->starts;
	size_t begin = block * BLOCK;
	size_t n = starts->n - begin < BLOCK ? starts->n - begin : BLOCK;
	set_costs(search, begin, n, end);
	set_range(starts, block, n);
	return starts->least[block] + search->penalty;
}

/* Examines the blocks that may hold the best start, the likely one first. Most other blocks were
 * too costly at an earlier node already. */
static double least_cost(struct search *search, size_t n_blocks, size_t end)
{
	struct starts *starts = &search->starts;
	double slack = ROUNDING_SHARE * search->squares[end];
	size_t likely = starts->likely < n_blocks ? starts->likely : 0;
	double best = look_at(search, likely, end);
	for (size_t block = 0; block < n_blocks; block++) {
		if (block != likely && starts->least[block] + search->penalty - slack <= best) {
			best = fmin(best, look_at(search, block, end));
		}
	}
	return best;
}

/* Best last segment that ends at @end; of equal ones the one that begins first. */
static void find_best(struct search *search, size_t end)
{
	struct starts *starts = &search->starts;
	size_t n_blocks = (starts->n + BLOCK - 1) / BLOCK;
	starts->most = -INFINITY;
	double best = n_blocks > 0 ? least_cost(search, n_blocks, end) : INFINITY;
	search->best[end] = best;
	size_t block = 0;
	while (block < n_blocks && starts->least[block] + search->penalty > best) {
		block++;
	}
	starts->likely = block;
	size_t i = block * BLOCK;
	while (i < starts->n && starts->cost[i] + search->penalty > best) {
		i++;
	}
	if (i < starts->n) {
		search->last[end] = starts->node[i];
	}
}

static void add_start(struct search *search, size_t node)
{
	struct starts *starts = &search->starts;
	size_t i = starts->n++;
	starts->least[i / BLOCK] = -INFINITY;
	starts->node[i] = node;
	starts->dead_from[i] = SIZE_MAX;
	starts->best[i] = search->best[node];
	starts->sum[i] = search->sums[node];
	starts->square[i] = search->squares[node];
	starts->place[i] = (double)node_at(search, node);
}

static void move_start(struct starts *starts, size_t to, size_t from)
{
	starts->node[to] = starts->node[from];
	starts->dead_from[to] = starts->dead_from[from];
	starts->best[to] = starts->best[from];
	starts->sum[to] = starts->sum[from];
	starts->square[to] = starts->square[from];
	starts->place[to] = starts->place[from];
	starts->cost[to] = starts->cost[from];
}

/* Drops the starts that are dead at @end, and finds the starts that will be. A cut at @end is
 * better for every later end that leaves room for a segment behind it. */
static void prune(struct search *search, size_t end)
{
	struct starts *starts = &search->starts;
	size_t n_left = 0;
	if (starts->most <= search->best[end] && starts->next_dead > end + 1) {
		return;
	}
	starts->next_dead = SIZE_MAX;
	for (size_t i = 0; i < starts->n; i++) {
		if (starts->dead_from[i] == SIZE_MAX && starts->cost[i] > search->best[end]) {
			starts->dead_from[i] = end + search->nodes_min;
		}
		if (starts->dead_from[i] > end + 1) {
			if (starts->dead_from[i] < starts->next_dead) {
				starts->next_dead = starts->dead_from[i];
			}
			if (n_left < i) {
				move_start(starts, n_left, i);
			}
			n_left++;
		}
	}
	for (size_t begin = 0; begin < n_left && n_left < starts->n; begin += BLOCK) {
		set_range(starts, begin / BLOCK, n_left - begin < BLOCK ? n_left - begin : BLOCK);
	}
	starts->n = n_left;
}

static void run(struct search *search)
{
	search->best[0] = -search->penalty;
	search->starts.next_dead = SIZE_MAX;
	for (size_t end = search->nodes_min; end <= search->n_nodes; end++) {
		size_t begin = end - search->nodes_min;
		if (begin == 0 || begin >= search->nodes_min) {
			add_start(search, begin);
		}
		find_best(search, end);
		prune(search, end);
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

/* Cuts two memory blocks into columns of @n entries each. */
static void set_columns(struct search *search, double *reals, size_t *indices, size_t n)
{
	struct starts *starts = &search->starts;
	search->sums = reals;
	search->squares = reals + n;
	search->best = reals + 2 * n;
	starts->best = reals + 3 * n;
	starts->sum = reals + 4 * n;
	starts->square = reals + 5 * n;
	starts->place = reals + 6 * n;
	starts->cost = reals + 7 * n;
	search->last = indices;
	starts->node = indices + n;
	starts->dead_from = indices + 2 * n;
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
	size_t n = search.n_nodes + 1;
	double *reals = fsl_calloc(n, REAL_COLUMNS * sizeof(*reals));
	size_t *indices = fsl_calloc(n, INDEX_COLUMNS * sizeof(*indices));
	enum fsl_status status = FSL_OK;
	if (reals != NULL && indices != NULL) {
		set_columns(&search, reals, indices, n);
		sum_up(&search, work);
		run(&search);
		*n_cuts = collect(&search, cuts);
	} else {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for a series: values=%zu",
				  work->n);
	}
	fsl_free(indices);
	fsl_free(reals);
	return status;
}
