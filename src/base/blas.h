/* OpenBLAS, loaded on first use. Loading takes as long as reading 2 MB of markers, and few jobs
 * have groups that need a matrix product at all. */
#ifndef FSL_BASE_BLAS_H
#define FSL_BASE_BLAS_H

#include <stdbool.h>
#include <stddef.h>

#include <cblas.h>

/* The functions of the library that are used. */
struct fsl_blas {
	void *handle;
	__typeof__(cblas_dgemm) *dgemm;
	__typeof__(openblas_get_config) *config;
};

/* Returns false with an empty *out if the library is not installed. Close it in either case. */
bool fsl_blas_open(struct fsl_blas *out);
void fsl_blas_close(struct fsl_blas *blas);

#endif
