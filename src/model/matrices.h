/*
 * Matrices of ranks over time, coarse enough to be kept and drawn: own time, lateness and loss of
 * every rank, in columns of equal length. A packed value has 8 bits on a log scale (steps of 7.5
 * %).
 */
#ifndef FSL_MODEL_MATRICES_H
#define FSL_MODEL_MATRICES_H

#include "base/pack.h"
#include "model/steps.h"

enum fsl_matrix {
	FSL_MATRIX_OWN,  /* own time of a step */
	FSL_MATRIX_LATE, /* time that other ranks waited for the rank in a step */
	FSL_MATRIX_LOSS, /* own time beyond that of the peers in a step */
	FSL_MATRICES_N
};
enum { FSL_MATRIX_COLUMNS_MAX = 256 }; /* most columns of a whole capture */

/* Start as {0}. */
struct fsl_matrices {
	int64_t begin_ns, end_ns; /* of all columns together */
	size_t n_ranks, n_columns;
	int32_t *ranks; /* [n_ranks], rising */
	/* [rank_idx * n_columns + column], mean of the steps that begin in it, ms; NaN: none. */
	float *ms[FSL_MATRICES_N];
};

/* Makes matrices of @n_ranks x @n_columns (at most FSL_MATRIX_COLUMNS_MAX), all values NaN; the
 * caller sets out->ranks. Free with fsl_matrices_fini(). FSL_ERR_MEMORY leaves @out empty. */
enum fsl_status fsl_matrices_init(struct fsl_matrices *out, size_t n_ranks, size_t n_columns,
				  int64_t begin_ns, int64_t end_ns, struct fsl_error *err);
void fsl_matrices_fini(struct fsl_matrices *matrices);

/* Fills the matrix @which from @values, [rank_idx * steps->n_items + step], in ms; NaN: not
 * seen. */
void fsl_matrices_fill(struct fsl_matrices *matrices, enum fsl_matrix which, const double *values,
		       const struct fsl_steps *steps);

/* A step counts in all columns that it touches, and a column holds its greatest step, so that no
 * long step drowns in a picture and no column between two steps is empty. */
void fsl_matrices_fill_most(struct fsl_matrices *matrices, enum fsl_matrix which,
			    const double *values, const struct fsl_steps *steps);

/*
 * One value on the log scale of a packed matrix and back: 0 is no value (NaN), 1 less than
 * FSL_MATRIX_LEAST_MS, 2 to 255 from there to FSL_MATRIX_MOST_MS.
 */
#define FSL_MATRIX_LEAST_MS 1e-2
#define FSL_MATRIX_MOST_MS  1e6
uint8_t fsl_matrix_code(float ms);
float fsl_matrix_ms(uint8_t code);

/* Class of a cost by its share of a step, for scales of pictures: nothing that counts, 3 %, 10, 20,
 * 50 % and more. 0 for NaN. */
enum { FSL_COST_CLASSES_N = 5 };
int fsl_cost_class(double share);

/* Appends the matrices to @pack, compressed; check pack->is_failed. */
void fsl_matrices_pack(const struct fsl_matrices *matrices, struct fsl_pack *pack);
/* Fills @out, started as {0}, with packed matrices. The bytes are not trusted: if they are not
 * sound, the result is FSL_ERR_FORMAT and @out is empty. */
enum fsl_status fsl_matrices_unpack(struct fsl_matrices *out, const void *bytes, size_t n_bytes,
				    struct fsl_error *err);

#endif
