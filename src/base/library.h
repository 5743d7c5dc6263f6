/* Loads a library when it is first needed: few runs tell anybody anything, and libcurl alone brings
 * thirty libraries, whose start would take longer than most runs. */
#ifndef FSL_BASE_LIBRARY_H
#define FSL_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function of the library, and the pointer that takes it. */
struct fsl_symbol {
	const char *name;
	void *slot; /* of a pointer to a function */
};

/* Loads @soname and sets all slots; false: it is not there, or lacks a function. It stays loaded.
 */
bool fsl_library_load(const char *soname, const struct fsl_symbol *symbols, size_t n_symbols);

#endif
