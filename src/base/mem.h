/* Checked heap growth and a bump arena. No other folder calls malloc. */
#ifndef FSL_BASE_MEM_H
#define FSL_BASE_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/try.h"

/* Zeroed array of @n elements of @size bytes; NULL if short or on overflow. Free with fsl_free. */
void *fsl_calloc(size_t n, size_t size);
/* True if @n_bytes cannot be had now. Libraries also say that memory is short if a damaged file
 * claims to hold something of 2^64 bytes; then there is memory for less. */
bool fsl_mem_is_short(size_t n_bytes);
void fsl_free(void *memory);
/*
 * FSL_NEW(ranks, n_ranks, "ranks", err): typed form for `T *array`, with a status. @what says in
 * the message what @n counts; @n is evaluated twice.
 */
#define FSL_NEW(array, n, what, err)                                                               \
	FSL_MADE((array) = fsl_calloc((n), sizeof(*(array))), n, what, err)
#define FSL_MADE(memory, n, what, err)                                                             \
	((memory) != NULL                                                                          \
		 ? FSL_OK                                                                          \
		 : FSL_FAIL((err), FSL_ERR_MEMORY, "out of memory: " what "=%zu", (size_t)(n)))

/*
 * Makes room for at least @n_wanted elements of @size bytes. An array without room gets exactly as
 * much; any other array doubles *capacity until it fits. The array may move. New memory is not
 * initialised. FSL_ERR_MEMORY leaves the array unchanged.
 */
enum fsl_status fsl_grow(void **array, size_t *capacity, size_t n_wanted, size_t size,
			 struct fsl_error *err);
/*
 * The same without a call if there is room, which is the usual case when one element is appended.
 */
static inline enum fsl_status fsl_reserve(void **array, size_t *capacity, size_t n_wanted,
					  size_t size, struct fsl_error *err)
{
	return n_wanted <= *capacity ? FSL_OK : fsl_grow(array, capacity, n_wanted, size, err);
}
/* FSL_GROW(vec, cap, n, err): typed form for `T *vec; size_t cap`. */
#define FSL_GROW(array, capacity, n_wanted, err)                                                   \
	fsl_reserve((void **)&(array), &(capacity), (n_wanted), sizeof(*(array)), (err))

/* FSL_APPEND(list, items, item, err): copies *item to the end of list->items, whose number is
 * list->n_items and whose room is list->items_capacity. FSL_ERR_MEMORY leaves the list unchanged.
 */
enum fsl_status fsl_append(void **array, size_t *n, size_t *capacity, const void *item, size_t size,
			   struct fsl_error *err);
#define FSL_APPEND(list, field, item, err)                                                         \
	fsl_append((void **)&(list)->field, &(list)->n_##field, &(list)->field##_capacity, (item), \
		   FSL_SIZE_OF_SAME((list)->field, item), (err))
/* Size of what both pointers point to; does not compile quietly if their types differ. */
#define FSL_SIZE_OF_SAME(a, b) (sizeof(*(a)) + 0 * sizeof((a) == (b)))

/* Gives back the memory behind the first @n elements of an array that is complete. */
void fsl_fit(void **array, size_t *capacity, size_t n, size_t size);
#define FSL_FIT(array, capacity, n) fsl_fit((void **)&(array), &(capacity), (n), sizeof(*(array)))

/*
 * Keeps freed memory in the process from now on. Arrays of some MB come and go all the time, and
 * every new page from the system costs as much as a hundred operators. Each thread has a heap of
 * its own: with a common heap the data of several threads shares large pages, and two threads took
 * a quarter longer to judge chapters (docs/developers/benchmarks.md). Call before threads start.
 */
void fsl_mem_keep_freed(void);

/* Does the same in a new thread: its heap begins with large pages. */
void fsl_mem_begin_thread(void);

/*
 * Which of @n neighbours is the @k-th (from 0) to be filled. Each comes once. Neighbours that
 * @n_threads threads fill at the same time lie far apart, because two threads that begin to fill
 * the same large page both wait for it.
 */
size_t fsl_mem_turn(size_t k, size_t n, size_t n_threads);

/* a * b and a + b into *out; false on overflow. For lengths that come from a file. */
bool fsl_mul_size(size_t a, size_t b, size_t *out);
bool fsl_add_size(size_t a, size_t b, size_t *out);

/* Test hook: the @nth allocation from now (1 = next) and all later ones fail; 0: off. */
void fsl_mem_fail_at(uint64_t nth);

/* Memory that is freed as a whole. Start as {0}. Not shared between threads. */
struct fsl_arena {
	struct fsl_arena_block *blocks; /* newest first */
};

/* @size bytes aligned for any type, zeroed, valid until fsl_arena_fini; NULL if memory is short. */
void *fsl_arena_alloc(struct fsl_arena *arena, size_t size);
/* The same for @n elements of @size bytes; NULL also on overflow. */
void *fsl_arena_calloc(struct fsl_arena *arena, size_t n, size_t size);
/* FSL_ARENA_NEW(ranks, arena, n_ranks, "ranks", err): typed form, as FSL_NEW. */
#define FSL_ARENA_NEW(array, arena, n, what, err)                                                  \
	FSL_MADE((array) = fsl_arena_calloc((arena), (n), sizeof(*(array))), n, what, err)
/* The same, but not zeroed: for arrays that are filled anyway. If threads fill a large array, they
 * and not the caller touch its pages first. */
void *fsl_arena_take(struct fsl_arena *arena, size_t size);
/* Copy of @length bytes of @text, NUL-terminated, owned by the arena; NULL if memory is short. */
char *fsl_arena_strndup(struct fsl_arena *arena, const char *text, size_t length);
char *fsl_arena_strdup(struct fsl_arena *arena, const char *text);
/* printf into the arena; NULL if memory is short. */
char *fsl_arena_printf(struct fsl_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
char *fsl_arena_vprintf(struct fsl_arena *arena, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void fsl_arena_fini(struct fsl_arena *arena);

#endif
