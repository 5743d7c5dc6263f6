/* Numbers of 7 bits a byte, the lowest first. */
#ifndef FSL_CAPTURE_VARINT_H
#define FSL_CAPTURE_VARINT_H

#include <stdint.h>

enum { FSL_VARINT_MAX = 10 /* bytes of a number */ };

/* Both return the place behind the number. */
static inline unsigned char *fsl_varint_put(unsigned char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7) {
		*to++ = (unsigned char)(value | 0x80);
	}
	*to++ = (unsigned char)value;
	return to;
}

static inline const unsigned char *fsl_varint_take(const unsigned char *from, uint64_t *value)
{
	uint64_t byte = *from++;
	*value = byte & 0x7f;
	for (unsigned shift = 7; byte >= 0x80; shift += 7) {
		byte = *from++;
		*value |= (byte & 0x7f) << shift;
	}
	return from;
}

/* Small numbers for small differences of either sign, and back. */
static inline uint64_t fsl_varint_fold(int64_t value)
{
	uint64_t twice = (uint64_t)value << 1;
	return value < 0 ? ~twice : twice;
}

static inline int64_t fsl_varint_unfold(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
