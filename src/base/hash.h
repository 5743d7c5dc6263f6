/* FNV-1a over 64 bits (Fowler, Noll, Vo). Tells whether bytes have changed by accident; it is no
 * protection against forgery. */
#ifndef FSL_BASE_HASH_H
#define FSL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/*
 * FNV-1a over words of eight bytes, then over the bytes that remain; five times as fast on large
 * blocks. High bits are folded down: the multiplication alone never carries them to the low ones.
 */
static inline uint64_t fsl_hash_block(const void *bytes, size_t n_bytes)
{
	const unsigned char *at = bytes;
	uint64_t hash = FSL_HASH_START;
	for (; n_bytes >= sizeof(uint64_t); n_bytes -= sizeof(uint64_t), at += sizeof(uint64_t)) {
		uint64_t word = 0;
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x100000001b3);
		hash ^= hash >> 32;
	}
	return fsl_hash_bytes(hash, at, n_bytes);
}

/* The same over four lanes, for arrays of some MB: four words are hashed at a time without waiting
 * for each other. */
static inline uint64_t fsl_hash_large(const void *bytes, size_t n_bytes)
{
	const unsigned char *at = bytes;
	uint64_t lanes[] = {FSL_HASH_START, FSL_HASH_START + 1, FSL_HASH_START + 2,
			    FSL_HASH_START + 3};
	for (; n_bytes >= sizeof(lanes); n_bytes -= sizeof(lanes), at += sizeof(lanes)) {
		uint64_t words[4];
		memcpy(words, at, sizeof(words));
		for (size_t i = 0; i < 4; i++) {
			lanes[i] = (lanes[i] ^ words[i]) * UINT64_C(0x100000001b3);
			lanes[i] ^= lanes[i] >> 32;
		}
	}
	return fsl_hash_bytes(fsl_hash_block(lanes, sizeof(lanes)), at, n_bytes);
}

#endif
