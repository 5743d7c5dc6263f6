/*
 * What a thread freed and will soon want again. The heap is one for all threads: what one frees is
 * what another gets next, and line by line it must travel from the one core to the other first. Two
 * threads that judge chapters, each with the same arrays again and again, spent a third of their
 * time on that. While its pocket is open a thread keeps what it frees, and takes from there.
 *
 * Blocks are blocks of the heap all the time: what was taken while a pocket was open may be freed
 * after it was closed, or by another thread, and the other way round.
 */
#ifndef FSL_BASE_POCKET_H
#define FSL_BASE_POCKET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Opens the pocket of the calling thread. False where it stays shut: the C library does not tell
 * how large a block is, or a sanitizer wants to see what is used after it was freed.
 */
bool fsl_pocket_open(void);

/* Gives what is in the pocket of the calling thread to the heap, and shuts it. */
void fsl_pocket_close(void);

/* The rest is for mem.c, which asks the heap where the pocket has nothing. */

/* True where the pocket of the calling thread is open and takes blocks of @n_bytes. */
bool fsl_pocket_is_for(size_t n_bytes);

/* A block of at least @n_bytes with anything in it; NULL where none is in the pocket. */
void *fsl_pocket_find(size_t n_bytes);

/* What to ask the heap for instead of @n_bytes, so that the pocket will find the block for the next
 * that wants about as much. @n_bytes where it is shut. */
size_t fsl_pocket_round(size_t n_bytes);

/* Puts a block of the heap (may be NULL) into the pocket. False where it must be freed: the pocket
 * is shut or full, or the block too small or too large for it. */
bool fsl_pocket_keep(void *memory);

#endif
