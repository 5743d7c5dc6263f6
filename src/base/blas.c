/* Loads OpenBLAS. It stays in memory until the process ends, so that it is loaded at most once. */
#include "base/blas.h"

#include <dlfcn.h>
#include <string.h>

/* Every distribution and every variant of the library uses this name. */
static const char LIBRARY[] = "libopenblas.so.0";

/*
 * OpenBLAS asks this function for its number of threads when it is loaded. A definition in the
 * program takes precedence over the library's. OpenBLAS's threads would spin for a tenth of a
 * second of CPU before they sleep, and the program is parallel over ranks and groups instead. A
 * build of OpenBLAS without threads never asks.
 */
int openblas_num_threads_env(void);
int openblas_num_threads_env(void)
{
	return 1;
}

/* ISO C has no cast from an object pointer to a function pointer. */
static bool find(void *handle, const char *name, void *function, size_t size)
{
	void *symbol = dlsym(handle, name);
	memcpy(function, &symbol, size);
	return symbol != NULL;
}

bool fsl_blas_open(struct fsl_blas *out)
{
	*out = (struct fsl_blas){.handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE)};
	bool is_found = out->handle != NULL &&
			find(out->handle, "cblas_dgemm", &out->dgemm, sizeof(out->dgemm)) &&
			find(out->handle, "openblas_get_config", &out->config, sizeof(out->config));
	if (!is_found) {
		fsl_blas_close(out);
	}
	return is_found;
}

void fsl_blas_close(struct fsl_blas *blas)
{
	if (blas->handle != NULL) {
		(void)dlclose(blas->handle);
	}
	*blas = (struct fsl_blas){0};
}
