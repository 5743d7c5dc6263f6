/* Says so before a run takes more memory than there is: whom the system ends for that cannot. */
#ifndef FSL_ENGINE_MEMORY_SHORT_H
#define FSL_ENGINE_MEMORY_SHORT_H

#include <stdint.h>

/* Warns when reading @n_bytes (of fsl_inputs_bytes()) as a whole takes more than the @n_left bytes
 * of memory that there are (fsl_memory_left()), by all that is known of formats. */
void fsl_memory_warn(uint64_t n_bytes, uint64_t n_left);

#endif
