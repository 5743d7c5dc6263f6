/* Bytes as text of 64 letters, and back. */
#include "text/base64.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *fsl_base64_encode(const void *bytes, size_t n_bytes)
{
	const unsigned char *from = bytes;
	char *text = fsl_calloc((n_bytes + 2) / 3 * 4 + 1, 1), *to = text;
	for (size_t i = 0; text != NULL && i < n_bytes; i += 3) {
		uint32_t group = (uint32_t)from[i] << 16;
		group |= i + 1 < n_bytes ? (uint32_t)from[i + 1] << 8 : 0;
		group |= i + 2 < n_bytes ? (uint32_t)from[i + 2] : 0;
		*to++ = letters[group >> 18];
		*to++ = letters[group >> 12 & 63];
		*to++ = '=';
		*to++ = '=';
		to[-2] = i + 1 < n_bytes ? letters[group >> 6 & 63] : '=';
		to[-1] = i + 2 < n_bytes ? letters[group & 63] : '=';
	}
	return text;
}

/* -1: not one of the letters. */
static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z') {
		return c - 'A';
	}
	if (c >= 'a' && c <= 'z') {
		return c - 'a' + 26;
	}
	if (c >= '0' && c <= '9') {
		return c - '0' + 52;
	}
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

unsigned char *fsl_base64_decode(const char *text, size_t *n_bytes)
{
	size_t length = strlen(text), n_pad = 0;
	while (n_pad < 2 && n_pad < length && text[length - 1 - n_pad] == '=') {
		n_pad++;
	}
	unsigned char *bytes = length % 4 == 0 ? fsl_calloc(length / 4 * 3 + 1, 1) : NULL;
	uint32_t group = 0;
	for (size_t i = 0; bytes != NULL && i < length; i++) {
		int value = i >= length - n_pad ? 0 : value_of(text[i]);
		if (value < 0) {
			fsl_free(bytes);
			return NULL;
		}
		group = group << 6 | (uint32_t)value;
		if (i % 4 == 3) {
			unsigned char *to = bytes + i / 4 * 3;
			to[0] = (unsigned char)(group >> 16);
			to[1] = (unsigned char)(group >> 8);
			to[2] = (unsigned char)group;
			group = 0;
		}
	}
	*n_bytes = length / 4 * 3 - n_pad;
	return bytes;
}
