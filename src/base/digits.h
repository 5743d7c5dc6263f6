/* Decimal digits to a number, eight at a time. Inline: readers of trace files spend their time
 * here. */
#ifndef FSL_BASE_DIGITS_H
#define FSL_BASE_DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FSL_DIGITS_MAX = 19 }; /* so many always fit 64 bits */

/*
 * Eight digits at once, in one machine word: each step joins neighbours (2 x 8 bit, 2 x 16 bit,
 * 2 x 32 bit) with one multiplication. False when a byte is no digit.
 */
static inline bool fsl_digits_eight(const char *text, uint64_t *out)
{
	uint64_t word = 0;
	memcpy(&word, text, sizeof(word));
	word = le64toh(word);
	uint64_t low = word - UINT64_C(0x3030303030303030);
	uint64_t high = word + UINT64_C(0x4646464646464646);
	if (((low | high | word) & UINT64_C(0x8080808080808080)) != 0) {
		return false;
	}
	low = (low * 10) + (low >> 8);
	low = (((low & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
	       (((low >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
	      32;
	*out = low;
	return true;
}

/* 1 to FSL_DIGITS_MAX digits and nothing else; false, *out unchanged, for every other text. */
static inline bool fsl_digits_parse(const char *text, size_t length, uint64_t *out)
{
	const char *end = text + length;
	uint64_t value = 0;
	if (length - 1 >= FSL_DIGITS_MAX) {
		return false;
	}
	for (; end - text >= 8; text += 8) {
		uint64_t eight = 0;
		if (!fsl_digits_eight(text, &eight)) {
			return false;
		}
		value = value * UINT64_C(100000000) + eight;
	}
	for (; text < end; text++) {
		unsigned digit = (unsigned)(unsigned char)*text - '0';
		if (digit > 9) {
			return false;
		}
		value = value * 10 + digit;
	}
	*out = value;
	return true;
}

#endif
