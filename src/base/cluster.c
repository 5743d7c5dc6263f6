/*
 * DBSCAN of <failslow/stats.h> (Ester et al. 1996). The labels follow from the neighbour relation
 * alone: clusters are the connected core points, numbered by their first core point, and a border
 * point belongs to the lowest-numbered cluster that reaches it. So neighbours may be found in any
 * way: by sorting on a line, by a direct loop for few points, by blocks of dgemm for many.
 */
#include <failslow/stats.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/blas.h"
#include "base/mem.h"
#include "base/sort.h"

enum {
	BLAS_POINTS_MIN = 1024, /* below this the direct loop is as fast (measured) */
	BLOCK_ROWS = 256,       /* rows of the product at a time: 256 * n doubles of memory */
	WORD_BITS = 64,
	NOISE = -1,
};

struct points {
	const double *data;
	size_t n, dim;
	double eps_squared;
};

/* Who is within eps of whom: row i, bit j. Takes n * n / 8 bytes. */
struct relation {
	uint64_t *bits;
	size_t n, n_words;
};

static bool is_near(const struct points *points, size_t i, size_t j)
{
	const double *restrict a = points->data + i * points->dim;
	const double *restrict b = points->data + j * points->dim;
	double sum = 0.0;
	for (size_t k = 0; k < points->dim; k++) {
		sum += (a[k] - b[k]) * (a[k] - b[k]);
	}
	return sum <= points->eps_squared;
}

/* Fills the upper triangle: bits j >= i of row i. */
static void relate_directly(struct relation *relation, const struct points *points)
{
	for (size_t i = 0; i < points->n; i++) {
		uint64_t *row = relation->bits + i * relation->n_words;
		for (size_t j = i; j < points->n; j++) {
			uint64_t bit = is_near(points, i, j) ? 1 : 0;
			row[j / WORD_BITS] |= bit << (j % WORD_BITS);
		}
	}
}

/* Mirrors bits of word @w of rows [begin, begin + 64) into one word of each row they name. */
static void mirror_tile(struct relation *relation, size_t begin, size_t w)
{
	size_t n_words = relation->n_words;
	size_t end = begin + WORD_BITS < relation->n ? begin + WORD_BITS : relation->n;
	for (size_t i = begin; i < end; i++) {
		for (uint64_t word = relation->bits[i * n_words + w]; word != 0; word &= word - 1) {
			size_t j = w * WORD_BITS + (size_t)__builtin_ctzll(word);
			relation->bits[j * n_words + begin / WORD_BITS] |= UINT64_C(1)
									   << (i - begin);
		}
	}
}

/* Mirrors the upper triangle tile by tile, so that few rows are touched at a time. */
static void mirror(struct relation *relation)
{
	for (size_t begin = 0; begin < relation->n; begin += WORD_BITS) {
		for (size_t w = begin / WORD_BITS; w < relation->n_words; w++) {
			mirror_tile(relation, begin, w);
		}
	}
}

/* Copies the points with the mean of every column taken off, and computes their squared norms.
 * Without that x^2 + y^2 - 2xy loses digits if values are large against eps. */
static void centre_points(const struct points *points, double *centred, double *norms)
{
	size_t dim = points->dim;
	for (size_t k = 0; k < dim; k++) {
		double sum = 0.0;
		for (size_t i = 0; i < points->n; i++) {
			sum += points->data[i * dim + k];
		}
		double mean = sum / (double)points->n;
		for (size_t i = 0; i < points->n; i++) {
			double value = points->data[i * dim + k] - mean;
			centred[i * dim + k] = value;
			norms[i] += value * value;
		}
	}
}

/* Decides the pairs of rows [begin, end) with all later points; @product holds their dot products.
 */
static void relate_block(struct relation *relation, const struct points *points,
			 const double *norms, const double *product, size_t begin, size_t end)
{
	/* Bounds the rounding of a dot product of dim terms, the two norms and the centring. */
	double tolerance_factor = 8.0 * (double)(points->dim + 4) * DBL_EPSILON;
	size_t n_columns = points->n - begin;
	for (size_t i = begin; i < end; i++) {
		const double *products = product + (i - begin) * n_columns;
		uint64_t *row = relation->bits + i * relation->n_words;
		for (size_t j = i; j < points->n; j++) {
			double norm_sum = norms[i] + norms[j];
			double excess = norm_sum - 2.0 * products[j - begin] - points->eps_squared;
			double tolerance = tolerance_factor * (norm_sum + points->eps_squared);
			bool is_sure = fabs(excess) > tolerance;
			bool is_neighbour = is_sure ? excess < 0.0 : is_near(points, i, j);
			row[j / WORD_BITS] |= (uint64_t)is_neighbour << (j % WORD_BITS);
		}
	}
}

static bool relate_by_blocks(struct relation *relation, const struct points *points,
			     const struct fsl_blas *blas)
{
	size_t n = points->n;
	size_t dim = points->dim;
	double *centred = fsl_calloc(n, dim * sizeof(*centred));
	double *norms = fsl_calloc(n, sizeof(*norms));
	double *product = fsl_calloc(n, BLOCK_ROWS * sizeof(*product));
	bool ok = centred != NULL && norms != NULL && product != NULL;
	if (ok) {
		centre_points(points, centred, norms);
	}
	for (size_t begin = 0; ok && begin < n; begin += BLOCK_ROWS) {
		size_t end = begin + BLOCK_ROWS < n ? begin + BLOCK_ROWS : n;
		blas->dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)(end - begin),
			    (blasint)(n - begin), (blasint)dim, 1.0, centred + begin * dim,
			    (blasint)dim, centred + begin * dim, (blasint)dim, 0.0, product,
			    (blasint)(n - begin));
		relate_block(relation, points, norms, product, begin, end);
	}
	fsl_free(product);
	fsl_free(norms);
	fsl_free(centred);
	return ok;
}

static size_t count_bits(const uint64_t *row, size_t n_words)
{
	size_t count = 0;
	for (size_t w = 0; w < n_words; w++) {
		count += (size_t)__builtin_popcountll(row[w]);
	}
	return count;
}

/* Points that a flood still has to spread from; room for every point. */
struct frontier {
	size_t *points;
	size_t n;
};

/* Labels the unlabelled neighbours of @point; core points among them join the frontier. */
static void spread(const struct relation *relation, const uint8_t *is_core, size_t point,
		   int32_t *labels, struct frontier *frontier)
{
	const uint64_t *row = relation->bits + point * relation->n_words;
	for (size_t w = 0; w < relation->n_words; w++) {
		for (uint64_t word = row[w]; word != 0; word &= word - 1) {
			size_t j = w * WORD_BITS + (size_t)__builtin_ctzll(word);
			if (labels[j] != NOISE) {
				continue;
			}
			labels[j] = labels[point];
			if (is_core[j] != 0) {
				frontier->points[frontier->n++] = j;
			}
		}
	}
}

static bool label_by_relation(const struct relation *relation, size_t min_samples, int32_t *labels)
{
	size_t n = relation->n;
	uint8_t *is_core = fsl_calloc(n, sizeof(*is_core));
	struct frontier frontier = {fsl_calloc(n, sizeof(*frontier.points)), 0};
	bool ok = is_core != NULL && frontier.points != NULL;
	for (size_t i = 0; ok && i < n; i++) {
		const uint64_t *row = relation->bits + i * relation->n_words;
		is_core[i] = count_bits(row, relation->n_words) >= min_samples ? 1 : 0;
		labels[i] = NOISE;
	}
	int32_t n_clusters = 0;
	for (size_t i = 0; ok && i < n; i++) {
		if (is_core[i] == 0 || labels[i] != NOISE) {
			continue;
		}
		labels[i] = n_clusters++;
		frontier.points[frontier.n++] = i;
		while (frontier.n > 0) {
			size_t point = frontier.points[--frontier.n];
			spread(relation, is_core, point, labels, &frontier);
		}
	}
	fsl_free(frontier.points);
	fsl_free(is_core);
	return ok;
}

static bool dbscan_in_space(const struct points *points, size_t min_samples, int32_t *labels)
{
	size_t n_words = (points->n + WORD_BITS - 1) / WORD_BITS;
	struct relation relation = {NULL, points->n, n_words};
	size_t row_bytes = n_words * sizeof(*relation.bits);
	relation.bits = fsl_calloc(points->n, row_bytes);
	if (relation.bits == NULL) {
		return false;
	}
	bool ok = true;
	struct fsl_blas blas = {.handle = NULL};
	if (points->n > BLAS_POINTS_MIN && points->dim <= INT_MAX && fsl_blas_open(&blas)) {
		ok = relate_by_blocks(&relation, points, &blas);
	} else {
		relate_directly(&relation, points);
	}
	fsl_blas_close(&blas);
	mirror(&relation);
	ok = ok && label_by_relation(&relation, min_samples, labels);
	fsl_free(relation.bits);
	return ok;
}

/* A point on a line; its neighbours are [begin, end) in sorted order. */
struct line_point {
	double value;
	size_t idx; /* position in the input */
	size_t begin, end;
	int32_t label;
	bool is_core;
};

static int compare_line_points(const void *left, const void *right)
{
	const struct line_point *a = left, *b = right;
	int order = FSL_ORDER(a->value, b->value);
	return order != 0 ? order : FSL_ORDER(a->idx, b->idx);
}

static bool is_near_on_line(double a, double b, double eps_squared)
{
	return (a - b) * (a - b) <= eps_squared;
}

static void find_line_neighbours(struct line_point *line, size_t n, double eps_squared,
				 size_t min_samples)
{
	size_t begin = 0;
	size_t end = 0;
	for (size_t p = 0; p < n; p++) {
		while (!is_near_on_line(line[begin].value, line[p].value, eps_squared) &&
		       begin < p) {
			begin++;
		}
		end = end > p ? end : p;
		while (end < n && is_near_on_line(line[end].value, line[p].value, eps_squared)) {
			end++;
		}
		line[p].begin = begin;
		line[p].end = end;
		line[p].is_core = end - begin >= min_samples;
		line[p].label = NOISE;
	}
}

/*
 * A cluster is a chain of core points, each within eps of the next. Numbers clusters by position on
 * the line, then renames them by their first core point in input order. @rename holds n labels,
 * @by_idx n positions.
 */
static void number_line_clusters(struct line_point *line, size_t n, int32_t *rename, size_t *by_idx)
{
	int32_t chain = -1;
	size_t previous = 0;
	for (size_t p = 0; p < n; p++) {
		by_idx[line[p].idx] = p;
		rename[p] = NOISE;
		if (line[p].is_core) {
			bool is_linked = chain >= 0 && p < line[previous].end;
			chain += is_linked ? 0 : 1;
			line[p].label = chain;
			previous = p;
		}
	}
	int32_t n_clusters = 0;
	for (size_t i = 0; i < n; i++) {
		struct line_point *point = &line[by_idx[i]];
		if (!point->is_core) {
			continue;
		}
		if (rename[point->label] == NOISE) {
			rename[point->label] = n_clusters++;
		}
		point->label = rename[point->label];
	}
}

/* A border point is reached by the nearest core point on its left, on its right, or by both. */
static void label_line_borders(const struct line_point *line, size_t n, int32_t *labels)
{
	size_t core = n;
	for (size_t p = 0; p < n; p++) {
		core = line[p].is_core ? p : core;
		bool is_reached = core < n && core >= line[p].begin;
		labels[line[p].idx] = is_reached ? line[core].label : NOISE;
	}
	core = n;
	for (size_t p = n; p-- > 0;) {
		core = line[p].is_core ? p : core;
		int32_t *label = &labels[line[p].idx];
		bool is_reached = core < line[p].end;
		if (is_reached && (*label == NOISE || line[core].label < *label)) {
			*label = line[core].label;
		}
	}
}

static bool dbscan_on_line(const struct points *points, size_t min_samples, int32_t *labels)
{
	size_t n = points->n;
	struct line_point *line = fsl_calloc(n, sizeof(*line));
	int32_t *rename = fsl_calloc(n, sizeof(*rename));
	size_t *by_idx = fsl_calloc(n, sizeof(*by_idx));
	bool ok = line != NULL && rename != NULL && by_idx != NULL;
	for (size_t i = 0; ok && i < n; i++) {
		line[i].value = points->data[i];
		line[i].idx = i;
	}
	if (ok) {
		qsort(line, n, sizeof(*line), compare_line_points);
		find_line_neighbours(line, n, points->eps_squared, min_samples);
		number_line_clusters(line, n, rename, by_idx);
		label_line_borders(line, n, labels);
	}
	fsl_free(by_idx);
	fsl_free(rename);
	fsl_free(line);
	return ok;
}

bool fsl_dbscan(const double *points, size_t n, size_t dim, double eps, size_t min_samples,
		int32_t *labels)
{
	if (n == 0) {
		return true;
	}
	if (n > INT32_MAX) {
		return false;
	}
	struct points all = {points, n, dim, eps * eps};
	return dim == 1 ? dbscan_on_line(&all, min_samples, labels)
			: dbscan_in_space(&all, min_samples, labels);
}
