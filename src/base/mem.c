/* Checked heap growth and a bump arena; the test hook makes every failure path reachable. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer has a heap of its own, which these settings do not reach. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
#define IS_WATCHED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(IS_WATCHED)
#define HAS_GLIBC_HEAP 1
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

/*
 * Sizes of shared blocks double from the first size to the last, because many arenas hold little.
 */
enum { ARENA_FIRST_BYTES = 4 * 1024, ARENA_BLOCK_BYTES = 64 * 1024, ARENA_ALIGN = 16 };
enum { LEAST_ELEMENTS = 8 };

static _Atomic uint64_t fail_countdown; /* 0: off */

void fsl_mem_fail_at(uint64_t nth)
{
	atomic_store(&fail_countdown, nth);
}

/* True if the test hook wants this allocation to fail. Once it has fired, all later ones fail. */
static bool is_failing(void)
{
	uint64_t n = atomic_load(&fail_countdown);
	if (n == 0) {
		return false;
	}
	if (n > 1) {
		atomic_store(&fail_countdown, n - 1);
		return false;
	}
	return true;
}

bool fsl_mem_is_short(size_t n_bytes)
{
	void *probe = fsl_calloc(n_bytes, 1);
	fsl_free(probe);
	return probe == NULL;
}

bool fsl_mul_size(size_t a, size_t b, size_t *out)
{
	return !__builtin_mul_overflow(a, b, out);
}

bool fsl_add_size(size_t a, size_t b, size_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}

#ifdef MADV_HUGEPAGE
enum { HUGE_BYTES = 1 << 21 };

/* Memory that the thread asked for at its start. Asking again changes nothing, but waits until no
 * other thread is being given a page. */
static _Thread_local char *ahead_begin, *ahead_end;

static char *begin_of_page(char *memory)
{
	return memory - (uintptr_t)memory % HUGE_BYTES;
}
#endif

#ifdef HAS_GLIBC_HEAP
/*
 * Has the system hand out pages that are sure to be used at one go. One by one, each page
 * interrupts the program. Kernels before 5.14 do not know the request, and hand them out one by
 * one.
 */
static void fill_pages(char *begin, size_t n_bytes)
{
#ifdef MADV_POPULATE_WRITE
	(void)madvise(begin, n_bytes, MADV_POPULATE_WRITE);
#else
	(void)begin;
	(void)n_bytes;
#endif
}

/*
 * Has the heap of the thread begin with room for a usual run, @n_bytes, in pages of 2 MB. The first
 * @n_small bytes stay small pages: they suffice to print a version or a help text.
 *
 * It must happen now. Later malloc would write behind a block before the program can ask for large
 * pages there, and the pages around the end of each block would be small. The space between the
 * start and the first large page, up to 2 MB, is left out: its small pages cost more than the large
 * page.
 */
static void take_ahead(size_t n_bytes, size_t n_small)
{
#ifdef MADV_HUGEPAGE
	static _Thread_local void *volatile left_out; /* never freed; volatile, so that the
							 compiler keeps it */
	char *ahead = malloc(n_bytes);
	if (ahead != NULL) {
		char *begin = begin_of_page(ahead + n_small) + HUGE_BYTES;
		char *end = begin_of_page(ahead + n_bytes);
		if (madvise(begin, (size_t)(end - begin), MADV_HUGEPAGE) == 0) {
			ahead_begin = begin;
			ahead_end = end;
		}
		size_t n_left_out = (size_t)(begin - ahead) - n_small;
		free(ahead);
		left_out = malloc(n_left_out);
		(void)left_out;
		fill_pages(begin - n_small, n_small);
	}
#else
	(void)n_bytes;
	(void)n_small;
#endif
}
#endif

void fsl_mem_keep_freed(void)
{
#ifdef HAS_GLIBC_HEAP
	enum { NEVER_BYTES = 1 << 30, PAD_BYTES = 1 << 23, MORE_THAN_THREADS = 1 << 12 };
	enum { AHEAD_BYTES = 1 << 27, SMALL_BYTES = 1 << 15 };
	(void)mallopt(M_MMAP_THRESHOLD, NEVER_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, NEVER_BYTES);
	(void)mallopt(M_ARENA_MAX, MORE_THAN_THREADS);
	(void)mallopt(M_TOP_PAD, PAD_BYTES); /* so that a huge page does not end with the heap */
	take_ahead(AHEAD_BYTES, SMALL_BYTES);
#endif
}

void fsl_mem_begin_thread(void)
{
#ifdef HAS_GLIBC_HEAP
	/* The heap of a thread has 64 MB in one piece. AHEAD_BYTES is all of it but malloc's own
	 * description of the heap. */
	enum { AHEAD_BYTES = (1 << 26) - (1 << 16), SMALL_BYTES = 1 << 12 };
	take_ahead(AHEAD_BYTES, SMALL_BYTES);
#endif
}

/*
 * Asks for pages of 2 MB in a large block. The system hands them out in a third of the time that
 * small ones take, and a pass over them is faster. The pages at both ends are shared with
 * neighbouring blocks.
 */
static void use_huge_pages(void *memory, size_t n_bytes)
{
#ifdef MADV_HUGEPAGE
	enum { LARGE_BYTES = 1 << 20 };
	if (memory != NULL && n_bytes >= LARGE_BYTES) {
		char *begin = begin_of_page(memory);
		char *end = begin_of_page((char *)memory + n_bytes - 1) + HUGE_BYTES;
		if (begin < ahead_begin || end > ahead_end) {
			/* Fails at the end of the heap, after it has done all that is possible. */
			(void)madvise(begin, (size_t)(end - begin), MADV_HUGEPAGE);
		}
	}
#else
	(void)memory;
	(void)n_bytes;
#endif
}

/*
 * Each thread has a stretch of neighbours; the first stretches are longer by one. Then row by row.
 */
size_t fsl_mem_turn(size_t k, size_t n, size_t n_threads)
{
	size_t length = n / n_threads, n_longer = n % n_threads;
	bool is_last = k >= length * n_threads; /* an extra element of a longer stretch */
	size_t thread = is_last ? k - length * n_threads : k % n_threads;
	size_t begin = thread * length + (thread < n_longer ? thread : n_longer);
	return begin + (is_last ? length : k / n_threads);
}

/* As fsl_calloc; zeroes the memory if @is_zeroed. */
static void *take(size_t n, size_t size, bool is_zeroed)
{
	size_t n_bytes = 0;
	/* Checked here, because a sanitizer's calloc ends the program. */
	if (is_failing() || !fsl_mul_size(n, size, &n_bytes)) {
		return NULL;
	}
	n_bytes = n_bytes > 0 ? n_bytes : 1;
	void *memory = is_zeroed ? calloc(1, n_bytes) : malloc(n_bytes);
	use_huge_pages(memory, n_bytes);
	return memory;
}

void *fsl_calloc(size_t n, size_t size)
{
	return take(n, size, true);
}

void fsl_free(void *memory)
{
	free(memory);
}

enum fsl_status fsl_grow(void **array, size_t *capacity, size_t n_wanted, size_t size,
			 struct fsl_error *err)
{
	if (n_wanted <= *capacity) {
		return FSL_OK;
	}
	size_t n_first = n_wanted > LEAST_ELEMENTS ? n_wanted : LEAST_ELEMENTS;
	size_t n_new = *capacity > 0 ? *capacity : n_first;
	while (n_new < n_wanted) {
		if (!fsl_mul_size(n_new, 2, &n_new)) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "array too large: wanted=%zu",
					n_wanted);
		}
	}
	size_t n_bytes = 0;
	void *moved = NULL;
	if (fsl_mul_size(n_new, size, &n_bytes) && !is_failing()) {
		moved = realloc(*array, n_bytes);
		use_huge_pages(moved, n_bytes);
	}
	if (moved == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: elements=%zu, bytes_each=%zu",
				n_new, size);
	}
	*array = moved;
	*capacity = n_new;
	return FSL_OK;
}

enum fsl_status fsl_append(void **array, size_t *n, size_t *capacity, const void *item, size_t size,
			   struct fsl_error *err)
{
	FSL_TRY(fsl_grow(array, capacity, *n + 1, size, err));
	memcpy((char *)*array + *n * size, item, size);
	++*n;
	return FSL_OK;
}

void fsl_fit(void **array, size_t *capacity, size_t n, size_t size)
{
	if (n == 0) {
		fsl_free(*array);
		*array = NULL;
		*capacity = 0;
	} else if (n < *capacity) {
		void *moved = realloc(*array, n * size);
		if (moved != NULL) {
			*array = moved;
			*capacity = n;
		}
	}
}

struct fsl_arena_block {
	struct fsl_arena_block *next;
	size_t used, size;
	_Alignas(ARENA_ALIGN) unsigned char bytes[];
};

/* Size of the next block, header included, with room for @n_least bytes; 0 if that size overflows.
 * Sizes of shared blocks are powers of two. */
static size_t next_block_bytes(const struct fsl_arena *arena, size_t n_least)
{
	size_t n_wanted = 0, n_bytes = ARENA_FIRST_BYTES;
	if (!fsl_add_size(n_least, sizeof(struct fsl_arena_block), &n_wanted)) {
		return 0;
	}
	if (arena->blocks != NULL) {
		size_t n_last = arena->blocks->size + sizeof(struct fsl_arena_block);
		n_bytes = n_last < ARENA_BLOCK_BYTES / 2 ? 2 * n_last : ARENA_BLOCK_BYTES;
	}
	n_bytes = n_bytes < n_wanted ? ARENA_BLOCK_BYTES : n_bytes;
	return n_bytes < n_wanted ? n_wanted : n_bytes;
}

/* Puts a block with room for @n_least bytes at the head of the list; zeroed if @is_zeroed. */
static bool add_block(struct fsl_arena *arena, size_t n_least, bool is_zeroed)
{
	size_t n_bytes = next_block_bytes(arena, n_least);
	struct fsl_arena_block *block = n_bytes > 0 ? take(1, n_bytes, is_zeroed) : NULL;
	if (block == NULL) {
		return false;
	}
	block->used = 0;
	block->size = n_bytes - sizeof(struct fsl_arena_block);
	block->next = arena->blocks;
	arena->blocks = block;
	return true;
}

/* A large piece has a block of its own, which may come zeroed from the system. In a shared block
 * only the piece is zeroed, because many blocks are never used to their end. */
static void *arena_take(struct fsl_arena *arena, size_t size, bool is_zeroed)
{
	size_t rounded = 0;
	if (!fsl_add_size(size > 0 ? size : 1, ARENA_ALIGN - 1, &rounded)) {
		return NULL;
	}
	rounded -= rounded % ARENA_ALIGN;
	struct fsl_arena_block *block = arena->blocks;
	bool is_alone = rounded > ARENA_BLOCK_BYTES - sizeof(*block);
	if (block == NULL || block->size - block->used < rounded) {
		if (!add_block(arena, rounded, is_alone && is_zeroed)) {
			return NULL;
		}
		block = arena->blocks;
		is_zeroed = is_zeroed && !is_alone;
	}
	void *memory = block->bytes + block->used;
	block->used += rounded;
	return is_zeroed ? memset(memory, 0, rounded) : memory;
}

void *fsl_arena_alloc(struct fsl_arena *arena, size_t size)
{
	return arena_take(arena, size, true);
}

void *fsl_arena_calloc(struct fsl_arena *arena, size_t n, size_t size)
{
	size_t n_bytes = 0;
	return fsl_mul_size(n, size, &n_bytes) ? fsl_arena_alloc(arena, n_bytes) : NULL;
}

void *fsl_arena_take(struct fsl_arena *arena, size_t size)
{
	return arena_take(arena, size, false);
}

char *fsl_arena_strndup(struct fsl_arena *arena, const char *text, size_t length)
{
	size_t n_bytes = 0;
	char *copy = fsl_add_size(length, 1, &n_bytes) ? fsl_arena_take(arena, n_bytes) : NULL;
	if (copy == NULL) {
		return NULL;
	}
	if (length > 0) {
		memcpy(copy, text, length);
	}
	copy[length] = '\0';
	return copy;
}

char *fsl_arena_strdup(struct fsl_arena *arena, const char *text)
{
	return fsl_arena_strndup(arena, text, strlen(text));
}

char *fsl_arena_vprintf(struct fsl_arena *arena, const char *format, va_list args)
{
	char most[256]; /* nearly all texts are shorter */
	va_list again;
	va_copy(again, args);
	int length = vsnprintf(most, sizeof(most), format, args);
	char *text = NULL;
	if (length >= 0 && (size_t)length < sizeof(most)) {
		text = fsl_arena_strndup(arena, most, (size_t)length);
	} else if (length >= 0 && (text = fsl_arena_take(arena, (size_t)length + 1)) != NULL) {
		(void)vsnprintf(text, (size_t)length + 1, format, again);
	}
	va_end(again);
	return text;
}

char *fsl_arena_printf(struct fsl_arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = fsl_arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}

void fsl_arena_fini(struct fsl_arena *arena)
{
	struct fsl_arena_block *block = arena->blocks;
	while (block != NULL) {
		struct fsl_arena_block *next = block->next;
		fsl_free(block);
		block = next;
	}
	arena->blocks = NULL;
}
