/* Lists of free blocks per thread, four for each doubling of their size. */
#include "base/pocket.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Smaller blocks stay with their thread in the C library, too; larger ones are few. */
enum { LEAST_LOG2 = 9, MOST_LOG2 = 22, FOURTHS = 4 };
enum { N_CLASSES = (MOST_LOG2 - LEAST_LOG2) * FOURTHS + FOURTHS };
enum { LEAST_BYTES = 1 << LEAST_LOG2, MOST_BYTES = 7 << (MOST_LOG2 - 2) };
/* Several times what judging a usual chapter takes (4 MB); beyond it memory serves all threads. */
enum { ROOM_BYTES = 1 << 24 };

struct block {
	struct block *next;
	size_t n_bytes;
};

struct pocket {
	bool is_open;
	size_t n_bytes; /* of all that is in it */
	struct block *classes[N_CLASSES];
};

static _Thread_local struct pocket pocket;

#if defined(__SANITIZE_ADDRESS__)
#define IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_WATCHED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(IS_WATCHED)
bool fsl_pocket_open(void)
{
	pocket.is_open = true;
	return true;
}

static size_t size_of(void *memory)
{
	return malloc_usable_size(memory);
}
#else
bool fsl_pocket_open(void)
{
	return false;
}

static size_t size_of(void *memory)
{
	(void)memory;
	return 0;
}
#endif

/* The size that every block of a class has at least. */
static size_t bytes_of(size_t class)
{
	size_t doubling = (size_t)LEAST_BYTES << class / FOURTHS;
	return doubling + class % FOURTHS * (doubling / FOURTHS);
}

/* The last class that a block of @n_bytes is large enough for. */
static size_t class_of(size_t n_bytes)
{
	size_t log2 = (size_t)(63 - __builtin_clzll(n_bytes));
	return (log2 - LEAST_LOG2) * FOURTHS + (n_bytes * FOURTHS >> log2) % FOURTHS;
}

void fsl_pocket_close(void)
{
	for (size_t c = 0; c < N_CLASSES; c++) {
		struct block *block = pocket.classes[c];
		while (block != NULL) {
			struct block *next = block->next;
			free(block);
			block = next;
		}
	}
	pocket = (struct pocket){.is_open = false};
}

bool fsl_pocket_is_for(size_t n_bytes)
{
	return pocket.is_open && n_bytes >= LEAST_BYTES && n_bytes <= MOST_BYTES;
}

/* The first class whose blocks all have @n_bytes. */
static size_t class_for(size_t n_bytes)
{
	size_t class = class_of(n_bytes);
	return class + (bytes_of(class) < n_bytes);
}

void *fsl_pocket_find(size_t n_bytes)
{
	if (!fsl_pocket_is_for(n_bytes)) {
		return NULL;
	}
	size_t first = class_for(n_bytes);
	for (size_t c = first; c < N_CLASSES && c <= first + FOURTHS;
	     c++) { /* twice as much at most */
		struct block *block = pocket.classes[c];
		if (block != NULL) {
			pocket.classes[c] = block->next;
			pocket.n_bytes -= block->n_bytes;
			return block;
		}
	}
	return NULL;
}

size_t fsl_pocket_round(size_t n_bytes)
{
	return fsl_pocket_is_for(n_bytes) ? bytes_of(class_for(n_bytes)) : n_bytes;
}

bool fsl_pocket_keep(void *memory)
{
	size_t n_bytes = pocket.is_open && memory != NULL ? size_of(memory) : 0;
	if (!fsl_pocket_is_for(n_bytes) || n_bytes > ROOM_BYTES - pocket.n_bytes) {
		return false;
	}
	struct block *block = memory;
	size_t class = class_of(n_bytes);
	*block = (struct block){pocket.classes[class], n_bytes};
	pocket.classes[class] = block;
	pocket.n_bytes += n_bytes;
	return true;
}
