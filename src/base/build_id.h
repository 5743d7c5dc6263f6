/* Which build of the program runs: two builds of one version may give different verdicts. */
#ifndef FSL_BASE_BUILD_ID_H
#define FSL_BASE_BUILD_ID_H

#include <stddef.h>

/* GNU build id of the running program, borrowed until it ends. NULL and 0 if the program has none.
 * The same sources, compiler and options give the same bytes. */
const void *fsl_build_id(size_t *n_bytes);

#endif
