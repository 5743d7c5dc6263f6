/* Included by every fuzz target. */
#ifndef FSL_TESTS_FUZZ_FUZZ_H
#define FSL_TESTS_FUZZ_FUZZ_H

#include <stdint.h>

#include "fuzz/memory_reader.h"

/* The target: called with one input after the other, by libFuzzer or by replay.c. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/*
 * For fuzz targets: the input's first byte chooses how the rest arrives, as a whole or through a
 * pipe in pieces of 1 to 15 bytes. NULL for an input that cannot be fed so.
 */
static inline struct fsl_reader *fuzz_reader(const uint8_t *data, size_t n_bytes)
{
	size_t n_chunk = n_bytes > 0 ? data[0] % 16 : 0;
	if (n_bytes == 0) {
		return NULL;
	}
	return n_chunk == 0 ? memory_reader(data + 1, n_bytes - 1)
			    : chunked_reader(data + 1, n_bytes - 1, n_chunk);
}

#endif
