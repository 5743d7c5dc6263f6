/* Random numbers of this process, against input that is made to meet in one slot of a table. They
 * change no result. */
#ifndef FSL_BASE_SECRET_H
#define FSL_BASE_SECRET_H

#include <stdint.h>

enum { FSL_SECRET_KEYS_N = 3 };

/* FSL_SECRET_KEYS_N odd numbers, the same in every call of one process; static. From any thread. */
const uint64_t *fsl_secret_keys(void);

#endif
