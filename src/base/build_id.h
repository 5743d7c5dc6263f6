/* Which build of the program this is: two of one version may say different things. */
#ifndef FSL_BASE_BUILD_ID_H
#define FSL_BASE_BUILD_ID_H

#include <stddef.h>

/*
 * The identity that the linker gave the running program (its GNU build id): borrowed bytes for as
 * long as it runs. NULL and 0 where it has none. The same sources, compiler and options give the
 * same bytes.
 */
const void *fsl_build_id(size_t *n_bytes);

#endif
