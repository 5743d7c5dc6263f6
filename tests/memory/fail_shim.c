/*
 * Stands before the C library's heap (LD_PRELOAD) and refuses one request: that of number FAIL_AT,
 * counted from 1 over the whole program, its libraries included. With FAIL_AT=0 none is refused;
 * FAIL_COUNT names a file for how many there were.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t n_bytes);
void *__libc_calloc(size_t n, size_t n_bytes);
void *__libc_realloc(void *memory, size_t n_bytes);

static atomic_long n_asked;
static long refused; /* 0: none */
static int is_ready;

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAIL_AT");
	refused = number != NULL ? strtol(number, NULL, 10) : 0;
	is_ready = 1;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	long n = atomic_load(&n_asked);
	is_ready = 0;
	FILE *file = path != NULL ? fopen(path, "w") : NULL;
	if (file != NULL) {
		(void)fprintf(file, "%ld\n", n);
		(void)fclose(file);
	}
}

static int is_refused(void)
{
	if (!is_ready || atomic_fetch_add(&n_asked, 1) + 1 != refused) {
		return 0;
	}
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n_bytes)
{
	return is_refused() ? NULL : __libc_malloc(n_bytes);
}

void *calloc(size_t n, size_t n_bytes)
{
	return is_refused() ? NULL : __libc_calloc(n, n_bytes);
}

void *realloc(void *memory, size_t n_bytes)
{
	return is_refused() ? NULL : __libc_realloc(memory, n_bytes);
}
