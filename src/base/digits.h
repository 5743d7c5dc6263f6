/* Digits to a number, up to eight at a time. Inline, because readers of traces spend most time
 * here. */
#ifndef FSL_BASE_DIGITS_H
#define FSL_BASE_DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FSL_DIGITS_MAX = 19 }; /* a number of so many digits always fits 64 bits */

/*
 * Converts @length of 1 to 8 digits at once, in one machine word: each step joins neighbours (2 x 8
 * bit, 2 x 16 bit, 2 x 32 bit) with one multiplication. All eight bytes at @text can be read. False
 * if a byte is no digit.
 */
static inline bool fsl_digits_word(const char *text, size_t length, uint64_t *out)
{
	uint64_t word = 0;
	unsigned n_unused = 64 - 8 * (unsigned)length;
	memcpy(&word, text, sizeof(word));
	word = le64toh(word) << n_unused; /* the digits are the upper bytes */
	uint64_t low = word - (UINT64_C(0x3030303030303030) << n_unused);
	uint64_t high = word + UINT64_C(0x4646464646464646);
	if (((low | high | word) & UINT64_C(0x8080808080808080)) != 0) {
		return false;
	}
	low = (low * 10) + (low >> 8);
	*out = (((low & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
		(((low >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
	       32;
	return true;
}

/* Converts 1 to FSL_DIGITS_MAX digits and nothing else; false with *out unchanged for every other
 * text. Eight bytes from @text on must be readable even if there are fewer digits. */
static inline bool fsl_digits_parse_spare(const char *text, size_t length, uint64_t *out)
{
	const char *end = text + length;
	uint64_t value = 0;
	if (length - 1 >= FSL_DIGITS_MAX) {
		return false;
	}
	size_t n_first = (length - 1) % 8 + 1; /* only whole words of eight digits follow */
	if (!fsl_digits_word(text, n_first, &value)) {
		return false;
	}
	for (text += n_first; text < end; text += 8) {
		uint64_t eight = 0;
		if (!fsl_digits_word(text, 8, &eight)) {
			return false;
		}
		value = value * UINT64_C(100000000) + eight;
	}
	*out = value;
	return true;
}

/* The leading digits of the time of the last record. Times of neighbouring records differ in the
 * last eight digits alone. Start as {0}. */
struct fsl_digits_clock {
	size_t length;    /* of the time in digits, 16 to FSL_DIGITS_MAX; 0: none yet */
	uint64_t head[2]; /* bytes [0, 8) and [length - 16, length - 8) of the time */
	uint64_t value;   /* all but the last eight digits, followed by eight zeros */
};

/* As fsl_digits_parse_spare, faster for the times of one file. */
static inline bool fsl_digits_parse_clock(struct fsl_digits_clock *clock, const char *text,
					  size_t length, uint64_t *out)
{
	uint64_t head[2], tail = 0;
	if (length - 16 > FSL_DIGITS_MAX - 16) {
		return fsl_digits_parse_spare(text, length, out);
	}
	const char *end = text + length - 8;
	memcpy(&head[0], text, 8);
	memcpy(&head[1], end - 8, 8);
	if (length != clock->length || head[0] != clock->head[0] || head[1] != clock->head[1]) {
		uint64_t value = 0;
		if (!fsl_digits_parse_spare(text, length - 8, &value)) {
			return false;
		}
		*clock = (struct fsl_digits_clock){
			length, {head[0], head[1]}, value * UINT64_C(100000000)};
	}
	if (!fsl_digits_word(end, 8, &tail)) {
		return false;
	}
	*out = clock->value + tail;
	return true;
}

/* 1 or 2 digits; false, *out unchanged, for every other text. */
static inline bool fsl_digits_parse_small(const char *text, size_t length, uint64_t *out)
{
	if (length - 1 > 1) {
		return false;
	}
	unsigned first = (unsigned)(unsigned char)text[0] - '0';
	unsigned last = (unsigned)(unsigned char)text[length - 1] - '0';
	if (first > 9 || last > 9) {
		return false;
	}
	*out = length == 2 ? first * 10 + last : last;
	return true;
}

#endif
