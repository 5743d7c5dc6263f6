/*
 * Finds the bytes that end a field or a string, a block at a time: SSE2 where the compiler has it
 * (every x86-64), else 64-bit words in portable C. Bit i of a result stands for byte i.
 */
#ifndef FSL_BASE_BLOCK_SCAN_H
#define FSL_BASE_BLOCK_SCAN_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
	FSL_SCAN_CSV_BYTES = 64,  /* block of fsl_scan_csv */
	FSL_SCAN_JSON_BYTES = 16, /* block of fsl_scan_json */
};

/* One bit per byte of @word that is 0x80 after @word was masked to the top bits. */
static inline uint64_t fsl_scan_gather(uint64_t top_bits)
{
	return ((top_bits >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

/* Top bit of every byte of @word that is zero; exact, no false hits from carries. */
static inline uint64_t fsl_scan_zero_bytes(uint64_t word)
{
	const uint64_t low_bits = UINT64_C(0x7f7f7f7f7f7f7f7f);
	return ~(((word & low_bits) + low_bits) | word | low_bits);
}

static inline uint64_t fsl_scan_load(const char *bytes)
{
	uint64_t word = 0;
	memcpy(&word, bytes, sizeof(word));
	return le64toh(word);
}

/* Marks of a CSV block: what ends a field, and what ends a row or makes it an unusual one. */
struct fsl_scan_csv {
	uint64_t commas;
	uint64_t stops; /* newlines and quotes */
};

/* Portable forms; also the reference in the unit tests. */
static inline struct fsl_scan_csv fsl_scan_csv_portable(const char *bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	struct fsl_scan_csv marks = {0, 0};
	for (size_t i = 0; i < FSL_SCAN_CSV_BYTES / 8; i++) {
		uint64_t word = fsl_scan_load(bytes + i * 8);
		uint64_t commas = fsl_scan_zero_bytes(word ^ (ones * ','));
		uint64_t stops = fsl_scan_zero_bytes(word ^ (ones * '\n')) |
				 fsl_scan_zero_bytes(word ^ (ones * '"'));
		marks.commas |= fsl_scan_gather(commas) << (i * 8);
		marks.stops |= fsl_scan_gather(stops) << (i * 8);
	}
	return marks;
}

static inline uint32_t fsl_scan_json_portable(const char *bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t bits = 0;
	for (size_t i = 0; i < FSL_SCAN_JSON_BYTES / 8; i++) {
		uint64_t word = fsl_scan_load(bytes + i * 8);
		uint64_t hits = fsl_scan_zero_bytes(word ^ (ones * '"')) |
				fsl_scan_zero_bytes(word ^ (ones * '\\')) |
				fsl_scan_zero_bytes(word & (ones * 0xe0)) | /* below 0x20 */
				(word & (ones * 0x80));
		bits |= fsl_scan_gather(hits) << (i * 8);
	}
	return (uint32_t)bits;
}

/* Commas, and newlines with quotes, among the next 64 bytes. */
static inline struct fsl_scan_csv fsl_scan_csv(const char *bytes)
{
#if defined(__SSE2__)
	const __m128i comma = _mm_set1_epi8(',');
	const __m128i newline = _mm_set1_epi8('\n');
	const __m128i quote = _mm_set1_epi8('"');
	struct fsl_scan_csv marks = {0, 0};
	for (size_t i = 0; i < FSL_SCAN_CSV_BYTES / 16; i++) {
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i * 16));
		__m128i commas = _mm_cmpeq_epi8(block, comma);
		__m128i stops =
			_mm_or_si128(_mm_cmpeq_epi8(block, newline), _mm_cmpeq_epi8(block, quote));
		marks.commas |= (uint64_t)(uint32_t)_mm_movemask_epi8(commas) << (i * 16);
		marks.stops |= (uint64_t)(uint32_t)_mm_movemask_epi8(stops) << (i * 16);
	}
	return marks;
#else
	return fsl_scan_csv_portable(bytes);
#endif
}

/* Quotes, backslashes, control characters and non-ASCII bytes among the next 16 bytes. */
static inline uint32_t fsl_scan_json(const char *bytes)
{
#if defined(__SSE2__)
	__m128i block = _mm_loadu_si128((const __m128i *)(const void *)bytes);
	/* Signed: bytes from 0x80 on are negative and so below 0x20, too. */
	__m128i hits = _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
				    _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\')),
						 _mm_cmplt_epi8(block, _mm_set1_epi8(0x20))));
	return (uint32_t)_mm_movemask_epi8(hits);
#else
	return fsl_scan_json_portable(bytes);
#endif
}

/* How many of the next 8 bytes are decimal digits, up to the first that is none. */
static inline unsigned fsl_scan_digits(const char *bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word = fsl_scan_load(bytes) ^ (ones * '0'); /* digits become 0 to 9 */
	/* Adding 0x76 sets the top bit of 10 and above; bytes are masked, so nothing carries. */
	uint64_t others = (((word & (ones * 0x7f)) + (ones * 0x76)) | word) & (ones * 0x80);
	return others != 0 ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

#endif
