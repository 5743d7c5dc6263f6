/* Computes means of steps in columns, and packs them. */
#include "model/matrices.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#include "model/run.h"

enum {
	MATRICES_MAGIC = 0x314d5346, /* "FSM1"; another number when the bytes change */
	LEVELS = 254,                /* codes 2 to 255; code 0: no value, 1: less than LEAST_MS */
};
static const double LEAST_MS = FSL_MATRIX_LEAST_MS, MOST_MS = FSL_MATRIX_MOST_MS;

static size_t n_cells(const struct fsl_matrices *matrices)
{
	return matrices->n_ranks * matrices->n_columns;
}

enum fsl_status fsl_matrices_init(struct fsl_matrices *out, size_t n_ranks, size_t n_columns,
				  int64_t begin_ns, int64_t end_ns, struct fsl_error *err)
{
	*out = (struct fsl_matrices){begin_ns, end_ns, n_ranks, n_columns, NULL, {NULL}};
	out->ranks = fsl_calloc(n_ranks, sizeof(*out->ranks));
	bool is_short = out->ranks == NULL;
	for (size_t m = 0; m < FSL_MATRICES_N; m++) {
		out->ms[m] = fsl_calloc(n_cells(out), sizeof(*out->ms[m]));
		is_short |= out->ms[m] == NULL;
		for (size_t i = 0; !is_short && i < n_cells(out); i++) {
			out->ms[m][i] = NAN;
		}
	}
	if (is_short) {
		fsl_matrices_fini(out);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu, columns=%zu",
				n_ranks, n_columns);
	}
	return FSL_OK;
}

void fsl_matrices_fini(struct fsl_matrices *matrices)
{
	fsl_free(matrices->ranks);
	for (size_t m = 0; m < FSL_MATRICES_N; m++) {
		fsl_free(matrices->ms[m]);
	}
	*matrices = (struct fsl_matrices){0};
}

/* The column of a time; n_columns: none. */
static size_t column_of(const struct fsl_matrices *matrices, int64_t time_ns)
{
	double length_ns = (double)(matrices->end_ns - matrices->begin_ns);
	double column =
		(double)(time_ns - matrices->begin_ns) / length_ns * (double)matrices->n_columns;
	bool is_inside = time_ns >= matrices->begin_ns && time_ns < matrices->end_ns;
	size_t last = matrices->n_columns - 1;
	if (!is_inside) {
		return matrices->n_columns;
	}
	return column < (double)last ? (size_t)column : last;
}

void fsl_matrices_fill(struct fsl_matrices *matrices, enum fsl_matrix which, const double *values,
		       const struct fsl_steps *steps)
{
	for (size_t r = 0; r < matrices->n_ranks; r++) {
		float *row = &matrices->ms[which][r * matrices->n_columns];
		double sum = 0.0;
		size_t n = 0, at = matrices->n_columns;
		for (size_t s = 0; s < steps->n_items; s++) {
			double value = values[r * steps->n_items + s];
			size_t column = column_of(matrices, steps->items[s].begin_ns);
			if (column != at) {
				sum = 0.0;
				n = 0;
				at = column;
			}
			if (!isnan(value) && column < matrices->n_columns) {
				sum += value;
				row[column] = (float)(sum / (double)++n);
			}
		}
	}
}

/* One step into the columns from @begin to @last. */
static void fill_step(struct fsl_matrices *matrices, float *ms, const double *values,
		      size_t n_steps, const size_t columns[2])
{
	for (size_t r = 0; r < matrices->n_ranks; r++) {
		double value = values[r * n_steps];
		for (size_t c = columns[0]; c <= columns[1] && !isnan(value); c++) {
			float *cell = &ms[r * matrices->n_columns + c];
			*cell = (double)*cell >= value ? *cell : (float)value;
		}
	}
}

void fsl_matrices_fill_most(struct fsl_matrices *matrices, enum fsl_matrix which,
			    const double *values, const struct fsl_steps *steps)
{
	for (size_t s = 0; s < steps->n_items; s++) {
		const struct fsl_job_step *step = &steps->items[s];
		int64_t last_ns = step->begin_ns + (step->dur_ns > 0 ? step->dur_ns - 1 : 0);
		size_t begin = column_of(matrices, step->begin_ns);
		size_t last = column_of(matrices, last_ns);
		if (begin < matrices->n_columns) {
			last = last < matrices->n_columns ? last : matrices->n_columns - 1;
			fill_step(matrices, matrices->ms[which], values + s, steps->n_items,
				  (const size_t[2]){begin, last > begin ? last : begin});
		}
	}
}

uint8_t fsl_matrix_code(float ms)
{
	if (isnan(ms)) {
		return 0;
	}
	if (!((double)ms >= LEAST_MS)) {
		return 1;
	}
	double level = round(log((double)ms / LEAST_MS) / log(MOST_MS / LEAST_MS) * (LEVELS - 1));
	return (uint8_t)(2.0 + fmin(level, LEVELS - 1));
}

float fsl_matrix_ms(uint8_t code)
{
	if (code < 2) {
		return code == 0 ? NAN : 0.0F;
	}
	double level = (double)(code - 2) / (LEVELS - 1);
	return (float)(LEAST_MS * pow(MOST_MS / LEAST_MS, level));
}

int fsl_cost_class(double share)
{
	static const double shares[FSL_COST_CLASSES_N] = {0.0, 0.03, 0.10, 0.20, 0.50};
	int class = 0;
	for (int i = 1; i < FSL_COST_CLASSES_N; i++) {
		class = share >= shares[i] ? i : class;
	}
	return class;
}

void fsl_matrices_pack(const struct fsl_matrices *matrices, struct fsl_pack *pack)
{
	size_t n = n_cells(matrices);
	uLongf n_packed = compressBound(n * FSL_MATRICES_N);
	uint8_t *codes = fsl_calloc(n * FSL_MATRICES_N, 1), *packed = fsl_calloc(n_packed, 1);
	fsl_pack_u32(pack, MATRICES_MAGIC);
	fsl_pack_u64(pack, (uint64_t)matrices->begin_ns);
	fsl_pack_u64(pack, (uint64_t)matrices->end_ns);
	fsl_pack_u32(pack, (uint32_t)matrices->n_ranks);
	fsl_pack_u32(pack, (uint32_t)matrices->n_columns);
	for (size_t r = 0; r < matrices->n_ranks; r++) {
		fsl_pack_u32(pack, (uint32_t)matrices->ranks[r]);
	}
	if (codes != NULL && packed != NULL) {
		for (size_t i = 0; i < n * FSL_MATRICES_N; i++) {
			codes[i] = fsl_matrix_code(
				matrices->ms[i / (n > 0 ? n : 1)][i % (n > 0 ? n : 1)]);
		}
		bool is_packed = compress2(packed, &n_packed, codes, n * FSL_MATRICES_N,
					   Z_BEST_SPEED) == Z_OK;
		fsl_pack_bytes(pack, packed, is_packed ? n_packed : 0);
	} else {
		pack->is_failed = true;
	}
	fsl_free(codes);
	fsl_free(packed);
}

static enum fsl_status fail_damaged(struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_FORMAT, "kept matrices are damaged");
}

static enum fsl_status unpack_cells(struct fsl_matrices *out, struct fsl_unpack *unpack,
				    struct fsl_error *err)
{
	size_t n = n_cells(out), n_packed = 0;
	uLongf n_codes = n * FSL_MATRICES_N;
	for (size_t r = 0; r < out->n_ranks; r++) {
		out->ranks[r] = (int32_t)fsl_unpack_u32(unpack);
	}
	const void *packed = fsl_unpack_bytes(unpack, &n_packed);
	if (!fsl_unpack_is_done(unpack)) {
		return fail_damaged(err);
	}
	uint8_t *codes = NULL;
	FSL_TRY(FSL_NEW(codes, n_codes, "cells", err));
	bool is_sound = uncompress(codes, &n_codes, packed, n_packed) == Z_OK &&
			n_codes == n * FSL_MATRICES_N;
	for (size_t i = 0; is_sound && i < n_codes; i++) {
		out->ms[i / n][i % n] = fsl_matrix_ms(codes[i]);
	}
	fsl_free(codes);
	return is_sound ? FSL_OK : fail_damaged(err);
}

enum fsl_status fsl_matrices_unpack(struct fsl_matrices *out, const void *bytes, size_t n_bytes,
				    struct fsl_error *err)
{
	struct fsl_unpack unpack = {.at = bytes, .n_left = n_bytes};
	bool is_ours = fsl_unpack_u32(&unpack) == MATRICES_MAGIC;
	int64_t begin_ns = (int64_t)fsl_unpack_u64(&unpack);
	int64_t end_ns = (int64_t)fsl_unpack_u64(&unpack);
	uint32_t n_ranks = fsl_unpack_u32(&unpack), n_columns = fsl_unpack_u32(&unpack);
	if (unpack.is_bad || !is_ours || begin_ns >= end_ns || n_ranks > FSL_RANKS_MAX ||
	    n_columns == 0 || n_columns > FSL_MATRIX_COLUMNS_MAX ||
	    (uint64_t)n_ranks * sizeof(uint32_t) > unpack.n_left) {
		return fail_damaged(err);
	}
	enum fsl_status status = fsl_matrices_init(out, n_ranks, n_columns, begin_ns, end_ns, err);
	FSL_THEN(status, unpack_cells(out, &unpack, err));
	if (status != FSL_OK) {
		fsl_matrices_fini(out);
	}
	return status;
}
