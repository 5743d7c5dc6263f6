/* A heap of numbers, by an order that the caller knows: the first number is before all others. */
#ifndef FSL_BASE_HEAP_H
#define FSL_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if number @a comes before number @b. */
typedef bool fsl_heap_order(const void *context, uint32_t a, uint32_t b);

static inline void fsl_heap_swap(uint32_t *a, uint32_t *b)
{
	uint32_t kept = *a;
	*a = *b;
	*b = kept;
}

/* Moves the number at @at down to its place: it may have become later than before. */
static inline void fsl_heap_sink(uint32_t *heap, size_t n, size_t at, fsl_heap_order *is_before,
				 const void *context)
{
	for (size_t next = 2 * at + 1; next < n; at = next, next = 2 * at + 1) {
		next += next + 1 < n && is_before(context, heap[next + 1], heap[next]) ? 1 : 0;
		if (!is_before(context, heap[next], heap[at])) {
			return;
		}
		fsl_heap_swap(&heap[next], &heap[at]);
	}
}

/* Adds a number to a heap of @n numbers that has room for one more. */
static inline void fsl_heap_push(uint32_t *heap, size_t n, uint32_t number,
				 fsl_heap_order *is_before, const void *context)
{
	heap[n] = number;
	for (size_t at = n; at > 0 && is_before(context, heap[at], heap[(at - 1) / 2]);
	     at = (at - 1) / 2) {
		fsl_heap_swap(&heap[at], &heap[(at - 1) / 2]);
	}
}

/* Takes the first of @n numbers, n > 0, away. */
static inline uint32_t fsl_heap_pop(uint32_t *heap, size_t n, fsl_heap_order *is_before,
				    const void *context)
{
	uint32_t first = heap[0];
	heap[0] = heap[n - 1];
	fsl_heap_sink(heap, n - 1, 0, is_before, context);
	return first;
}

#endif
