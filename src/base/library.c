/* Libraries that are loaded when they are needed. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

bool fsl_library_load(const char *soname, const struct fsl_symbol *symbols, size_t n_symbols)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	bool is_whole = library != NULL;
	for (size_t i = 0; i < n_symbols && is_whole; i++) {
		void *function = dlsym(library, symbols[i].name);
		is_whole = function != NULL;
		/* ISO C has no conversion between pointers to data and to functions. */
		memcpy(symbols[i].slot, &function, sizeof(function));
	}
	return is_whole;
}
