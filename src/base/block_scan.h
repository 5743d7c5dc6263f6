/*
 * Finds the bytes that end a field or a string, a block at a time: SSE2 or NEON if the compiler has
 * it (every x86-64, every AArch64), else 64-bit words in portable C. FSL_SCAN_PORTABLE forces the
 * portable form. Bit i of a result stands for byte i.
 */
#ifndef FSL_BASE_BLOCK_SCAN_H
#define FSL_BASE_BLOCK_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(FSL_SCAN_PORTABLE)
#define FSL_SCAN_SSE2
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(FSL_SCAN_PORTABLE)
#define FSL_SCAN_NEON
#include <arm_neon.h>
#endif

enum {
	FSL_SCAN_CSV_BYTES = 64,    /* block of fsl_scan_csv */
	FSL_SCAN_JSON_BYTES = 16,   /* block of fsl_scan_json */
	FSL_SCAN_DIGITS_BYTES = 32, /* block of fsl_scan_digit_marks */
};

/* Gathers the top bit of each byte of @top_bits, whose other bits are 0, into 8 bits. */
static inline uint64_t fsl_scan_gather(uint64_t top_bits)
{
	return ((top_bits >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

/* Sets the top bit of every byte of @word that is zero. Exact: no false hits from carries. */
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

/* Marks of a CSV block: bytes that end a field, and bytes that end a row or make it unusual. */
struct fsl_scan_csv {
	uint64_t commas;
	uint64_t stops; /* newlines and quotes */
};

/* Portable forms. The unit tests take them as reference, too. */
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

/* The top bit of every byte of @word that is no decimal digit. */
static inline uint64_t fsl_scan_other_bytes(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	word ^= ones * '0'; /* digits become 0 to 9 */
	/* Adding 0x76 sets the top bit of 10 and above; bytes are masked, so nothing carries. */
	return (((word & (ones * 0x7f)) + (ones * 0x76)) | word) & (ones * 0x80);
}

static inline uint32_t fsl_scan_digit_marks_portable(const char *bytes)
{
	uint64_t others = 0;
	for (size_t i = 0; i < FSL_SCAN_DIGITS_BYTES / 8; i++) {
		uint64_t word = fsl_scan_other_bytes(fsl_scan_load(bytes + i * 8));
		others |= fsl_scan_gather(word) << (i * 8);
	}
	return ~(uint32_t)others;
}

/* fsl_scan_csv(): commas, and newlines and quotes, among the next 64 bytes. fsl_scan_json():
 * quotes, backslashes, control characters and non-ASCII among the next 16 bytes.
 * fsl_scan_digit_marks(): decimal digits among the next 32 bytes. fsl_scan_is_alike(): the next
 * @n_bytes, up to 16, are the same; 16 bytes can be read on both sides. */
#if defined(FSL_SCAN_SSE2)

static inline struct fsl_scan_csv fsl_scan_csv(const char *bytes)
{
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
}

static inline uint32_t fsl_scan_json(const char *bytes)
{
	__m128i block = _mm_loadu_si128((const __m128i *)(const void *)bytes);
	/* Signed comparison: bytes from 0x80 on are negative and so below 0x20, too. */
	__m128i hits = _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
				    _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\')),
						 _mm_cmplt_epi8(block, _mm_set1_epi8(0x20))));
	return (uint32_t)_mm_movemask_epi8(hits);
}

static inline uint32_t fsl_scan_digit_marks(const char *bytes)
{
	const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
	uint32_t marks = 0;
	for (size_t i = 0; i < FSL_SCAN_DIGITS_BYTES / 16; i++) {
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i * 16));
		block = _mm_sub_epi8(block, zero);
		block = _mm_cmpeq_epi8(_mm_min_epu8(block, nine), block);
		marks |= (uint32_t)_mm_movemask_epi8(block) << (i * 16);
	}
	return marks;
}

static inline bool fsl_scan_is_alike(const char *a, const char *b, size_t n_bytes)
{
	__m128i left = _mm_loadu_si128((const __m128i *)(const void *)a);
	__m128i right = _mm_loadu_si128((const __m128i *)(const void *)b);
	uint32_t equal = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(left, right));
	return (~equal & ((UINT32_C(1) << n_bytes) - 1)) == 0;
}

#elif defined(FSL_SCAN_NEON)

/* One bit of each of 64 bytes that are 0xff or 0. Neighbours are added up three times. */
static inline uint64_t fsl_scan_neon_bits(const uint8x16_t hits[4])
{
	const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t low = vpaddq_u8(vandq_u8(hits[0], bit), vandq_u8(hits[1], bit));
	uint8x16_t high = vpaddq_u8(vandq_u8(hits[2], bit), vandq_u8(hits[3], bit));
	low = vpaddq_u8(low, high);
	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

static inline struct fsl_scan_csv fsl_scan_csv(const char *bytes)
{
	uint8x16_t commas[4], stops[4];
	for (size_t i = 0; i < FSL_SCAN_CSV_BYTES / 16; i++) {
		uint8x16_t block = vld1q_u8((const uint8_t *)bytes + i * 16);
		commas[i] = vceqq_u8(block, vdupq_n_u8(','));
		stops[i] = vorrq_u8(vceqq_u8(block, vdupq_n_u8('\n')),
				    vceqq_u8(block, vdupq_n_u8('"')));
	}
	return (struct fsl_scan_csv){fsl_scan_neon_bits(commas), fsl_scan_neon_bits(stops)};
}

static inline uint32_t fsl_scan_json(const char *bytes)
{
	uint8x16_t block = vld1q_u8((const uint8_t *)bytes);
	/* Signed comparison, as above. */
	uint8x16_t below = vcltq_s8(vreinterpretq_s8_u8(block), vdupq_n_s8(0x20));
	uint8x16_t hit = vorrq_u8(below, vorrq_u8(vceqq_u8(block, vdupq_n_u8('"')),
						  vceqq_u8(block, vdupq_n_u8('\\'))));
	const uint8x16_t none = vdupq_n_u8(0);
	const uint8x16_t hits[4] = {hit, none, none, none};
	return (uint32_t)fsl_scan_neon_bits(hits);
}

static inline uint32_t fsl_scan_digit_marks(const char *bytes)
{
	const uint8x16_t zero = vdupq_n_u8('0'), nine = vdupq_n_u8(9), none = vdupq_n_u8(0);
	const uint8_t *from = (const uint8_t *)bytes;
	const uint8x16_t hits[4] = {vcleq_u8(vsubq_u8(vld1q_u8(from), zero), nine),
				    vcleq_u8(vsubq_u8(vld1q_u8(from + 16), zero), nine), none,
				    none};
	return (uint32_t)fsl_scan_neon_bits(hits);
}

static inline bool fsl_scan_is_alike(const char *a, const char *b, size_t n_bytes)
{
	return memcmp(a, b, n_bytes) == 0;
}

#else

static inline struct fsl_scan_csv fsl_scan_csv(const char *bytes)
{
	return fsl_scan_csv_portable(bytes);
}

static inline uint32_t fsl_scan_json(const char *bytes)
{
	return fsl_scan_json_portable(bytes);
}

static inline uint32_t fsl_scan_digit_marks(const char *bytes)
{
	return fsl_scan_digit_marks_portable(bytes);
}

static inline bool fsl_scan_is_alike(const char *a, const char *b, size_t n_bytes)
{
	return memcmp(a, b, n_bytes) == 0;
}

#endif

/* Number of decimal digits at the start of the next 8 bytes. */
static inline unsigned fsl_scan_digits(const char *bytes)
{
	uint64_t others = fsl_scan_other_bytes(fsl_scan_load(bytes));
	return others != 0 ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

#endif
