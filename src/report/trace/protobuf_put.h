/* Fields of protobuf messages. All functions write at @at, for which there is room, and return the
 * place behind: with a length in memory, each byte would wait for the store of the one before. */
#ifndef FSL_REPORT_TRACE_PROTOBUF_PUT_H
#define FSL_REPORT_TRACE_PROTOBUF_PUT_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	VARINT_MAX = 10, /* bytes of a number */
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

static inline size_t make_varint(char *out, uint64_t value)
{
	size_t n = 0;
	while (value >= 0x80) {
		out[n++] = (char)(value | 0x80);
		value >>= 7;
	}
	out[n++] = (char)value;
	return n;
}

static inline size_t varint_bytes(uint64_t value)
{
	return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

static inline char *write_tag(char *at, uint32_t field, uint32_t wire)
{
	uint32_t tag = field << 3 | wire;
	if (tag >= 0x80) {
		*at++ = (char)(tag | 0x80);
		tag >>= 7;
	}
	*at++ = (char)tag;
	return at;
}

static inline char *write_varint(char *at, uint32_t field, uint64_t value)
{
	at = write_tag(at, field, WIRE_VARINT);
	return at + make_varint(at, value);
}

static inline char *write_fixed64(char *at, uint32_t field, uint64_t value)
{
	at = write_tag(at, field, WIRE_FIXED64);
	uint64_t bytes = htole64(value);
	memcpy(at, &bytes, sizeof(bytes));
	return at + sizeof(bytes);
}

#endif
