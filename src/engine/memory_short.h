/* Warns before a run takes more memory than there is. The system kills such a process, which then
 * cannot tell why. */
#ifndef FSL_ENGINE_MEMORY_SHORT_H
#define FSL_ENGINE_MEMORY_SHORT_H

#include <stdint.h>

/* Warns if reading @n_bytes of input (fsl_inputs_bytes()) as a whole takes more than the @n_left
 * bytes of memory that are left (fsl_memory_left()). The estimate uses the measured needs of the
 * formats. */
void fsl_memory_warn(uint64_t n_bytes, uint64_t n_left);

#endif
