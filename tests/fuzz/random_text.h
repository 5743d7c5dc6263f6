/* Reproducible random documents and mutations for the oracle tests. */
#ifndef FSL_TESTS_FUZZ_RANDOM_TEXT_H
#define FSL_TESTS_FUZZ_RANDOM_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014): any seed will do. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline size_t random_below(uint64_t *state, size_t n)
{
	return (size_t)(random_next(state) % n);
}

enum { DOCUMENT_BYTES_MAX = 4096 };

struct document {
	char text[DOCUMENT_BYTES_MAX + 1]; /* terminated; holds no NUL */
	size_t length;
};

static inline void document_add(struct document *document, const char *text)
{
	size_t n = strlen(text);
	if (document->length + n <= DOCUMENT_BYTES_MAX) {
		memcpy(document->text + document->length, text, n + 1);
		document->length += n;
	}
}

/* Changes, drops or doubles a few bytes; new ones come from @alphabet. */
static inline void document_mutate(struct document *document, const char *alphabet,
				   uint64_t *random)
{
	for (size_t n = 1 + random_below(random, 3); n > 0 && document->length > 0; n--) {
		size_t at = random_below(random, document->length);
		char *byte = document->text + at;
		size_t n_behind = document->length - at; /* and the NUL */
		char fresh = alphabet[random_below(random, strlen(alphabet))];
		switch (random_below(random, 4)) {
		case 0:
			*byte = fresh;
			break;
		case 1:
			memmove(byte, byte + 1, n_behind);
			document->length--;
			break;
		case 2:
			if (document->length < DOCUMENT_BYTES_MAX) {
				memmove(byte + 1, byte, n_behind + 1);
				*byte = fresh;
				document->length++;
			}
			break;
		default:
			document->length = at; /* cut */
			*byte = '\0';
			break;
		}
	}
}

#endif
