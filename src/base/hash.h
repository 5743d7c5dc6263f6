/* FNV-1a over 64 bits (Fowler, Noll, Vo). Tells whether bytes have changed by accident; it is no
 * protection against forgery. */
#ifndef FSL_BASE_HASH_H
#define FSL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define FSL_HASH_START UINT64_C(0xcbf29ce484222325)

/* Hash of more bytes after @hash; FSL_HASH_START before the first bytes. */
static inline uint64_t fsl_hash_bytes(uint64_t hash, const void *bytes, size_t n_bytes)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < n_bytes; i++) {
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

#endif
