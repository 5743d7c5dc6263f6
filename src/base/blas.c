/* Loads OpenBLAS. It stays in memory until the process ends, so that it is loaded once. */
#include "base/blas.h"

#include <dlfcn.h>
#include <string.h>

/* The same name for every distribution and every variant of the library. */
static const char LIBRARY[] = "libopenblas.so.0";

/*
 * OpenBLAS asks this function of its own how many threads to start when it is loaded; a program's
 * answer goes before the library's. Its threads spin for a tenth of a second of CPU before they
 * sleep; the program is parallel over ranks and groups instead. A build of OpenBLAS without threads
 * never asks.
 */
int openblas_num_threads_env(void);
int openblas_num_threads_env(void)
{
	return 1;
}

/* ISO C has no cast from an object's address to a function's. */
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
