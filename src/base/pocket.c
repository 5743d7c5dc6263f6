/* Lists of free blocks per thread, four for each doubling of their size. */
#include "base/pocket.h"

#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Of smaller blocks the C library keeps some for each thread itself; larger ones are few. */
enum { LEAST_LOG2 = 9, END_LOG2 = 23, FOURTHS = 4 };
enum { N_CLASSES = (END_LOG2 - LEAST_LOG2) * FOURTHS };
enum { LEAST_BYTES = 1 << LEAST_LOG2, END_BYTES = 1 << END_LOG2 };
/* Several times what judging a usual chapter takes (4 MB). */
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

/* Of the thread and no part of what is computed, as the heap is; so nobody has to hand it on. */
static _Thread_local struct pocket pocket;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
#define IS_WATCHED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(IS_WATCHED)
enum { CAN_TELL_SIZE = 1 };

/* What may be used of a block: in glibc all of it, whatever was asked for. */
static size_t size_of(void *memory)
{
	return malloc_usable_size(memory);
}
#else
enum { CAN_TELL_SIZE = 0 };

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
static size_t class_below(size_t n_bytes)
{
	size_t doublings = (size_t)(63 - __builtin_clzll(n_bytes));
	return (doublings - LEAST_LOG2) * FOURTHS + (n_bytes * FOURTHS >> doublings) % FOURTHS;
}

/* The first class whose blocks all have @n_bytes. */
static size_t class_above(size_t n_bytes)
{
	size_t class = class_below(n_bytes);
	return class + (bytes_of(class) < n_bytes);
}

static void empty(void)
{
	for (size_t c = 0; c < N_CLASSES; c++) {
		struct block *block = pocket.classes[c];
		while (block != NULL) {
			struct block *next = block->next;
			free(block);
			block = next;
		}
		pocket.classes[c] = NULL;
	}
	pocket.n_bytes = 0;
}

bool fsl_pocket_open(void)
{
	pocket.is_open = CAN_TELL_SIZE;
	return pocket.is_open;
}

void fsl_pocket_close(void)
{
	empty();
	pocket.is_open = false;
}

bool fsl_pocket_is_for(size_t n_bytes)
{
	return pocket.is_open && n_bytes >= LEAST_BYTES && n_bytes <= bytes_of(N_CLASSES - 1);
}

void *fsl_pocket_find(size_t n_bytes)
{
	if (!fsl_pocket_is_for(n_bytes)) {
		return NULL;
	}
	/* Up to a block of twice the size: better than lines of another core. */
	size_t first = class_above(n_bytes);
	for (size_t c = first; c < N_CLASSES && c < first + FOURTHS; c++) {
		struct block *block = pocket.classes[c];
		if (block != NULL) {
			pocket.classes[c] = block->next;
			pocket.n_bytes -= block->n_bytes;
			return block;
		}
	}
	return NULL;
}

size_t fsl_pocket_ask_bytes(size_t n_bytes)
{
	return fsl_pocket_is_for(n_bytes) ? bytes_of(class_above(n_bytes)) : n_bytes;
}

bool fsl_pocket_keep(void *memory)
{
	size_t n_bytes = pocket.is_open && memory != NULL ? size_of(memory) : 0;
	if (n_bytes < LEAST_BYTES || n_bytes >= END_BYTES) {
		return false;
	}
	if (n_bytes > ROOM_BYTES - pocket.n_bytes) {
		empty(); /* of what nobody wanted for long, too */
	}
	struct block *block = memory;
	size_t class = class_below(n_bytes);
	*block = (struct block){pocket.classes[class], n_bytes};
	pocket.classes[class] = block;
	pocket.n_bytes += n_bytes;
	return true;
}
