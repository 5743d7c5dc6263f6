/*
 * What each rank did over time, coarse enough to be kept and drawn: own time, lateness and loss of
 * every rank in columns of equal length. Packed, a value is 8 bits on a log scale (steps of 7.5 %).
 */
#ifndef FSL_MODEL_MATRICES_H
#define FSL_MODEL_MATRICES_H

#include "base/pack.h"
#include "model/steps.h"

enum fsl_matrix {
	FSL_MATRIX_OWN,  /* own time of a step */
	FSL_MATRIX_LATE, /* how long others waited for the rank in a step */
	FSL_MATRIX_LOSS, /* own time over that of the peers in a step */
	FSL_MATRICES_N
};
enum { FSL_MATRIX_COLUMNS_MAX = 256 }; /* of a whole capture */

/* Start as {0}. */
struct fsl_matrices {
	int64_t begin_ns, end_ns; /* of the columns together */
	size_t n_ranks, n_columns;
	int32_t *ranks; /* [n_ranks], rising */
	/* [rank_idx * n_columns + column], mean of the steps that begin in it, ms; NaN: none. */
	float *ms[FSL_MATRICES_N];
};

/* Room for @n_columns (up to FSL_MATRIX_COLUMNS_MAX) of each of @n_ranks, all NaN; the caller sets
 * ranks. FSL_ERR_MEMORY leaves @out empty. */
enum fsl_status fsl_matrices_init(struct fsl_matrices *out, size_t n_ranks, size_t n_columns,
				  int64_t begin_ns, int64_t end_ns, struct fsl_error *err);
void fsl_matrices_fini(struct fsl_matrices *matrices);

/* Fills one of them from @values, [rank_idx * steps->n_items + step], ms, NaN: not seen. */
void fsl_matrices_fill(struct fsl_matrices *matrices, enum fsl_matrix which, const double *values,
		       const struct fsl_steps *steps);

/* Appends them, compressed; look at its is_failed. */
void fsl_matrices_pack(const struct fsl_matrices *matrices, struct fsl_pack *pack);
/* Makes @out, started as {0}, what was packed. The bytes are not trusted: FSL_ERR_FORMAT, and @out
 * empty, when they are not sound. */
enum fsl_status fsl_matrices_unpack(struct fsl_matrices *out, const void *bytes, size_t n_bytes,
				    struct fsl_error *err);

#endif
