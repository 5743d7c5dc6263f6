/*
 * What a thread freed and will soon want again. The heap is one for all threads: what one frees is
 * what another gets next, and line by line it must travel from the one core to the other first.
 * While its pocket is open a thread keeps what it frees, and takes from there: for work that wants
 * the same sizes again and again, as judging chapter after chapter does.
 *
 * Blocks are blocks of the heap all the time: what was taken while a pocket was open may be freed
 * after it was closed, or by another thread, and the other way round. What is freed into a pocket
 * and used nevertheless is seen by no tool; under sanitizers pockets stay shut.
 */
#ifndef FSL_BASE_POCKET_H
#define FSL_BASE_POCKET_H

#include <stdbool.h>
#include <stddef.h>

/* Opens the pocket of the calling thread; one open pocket a thread, pairs are not nested. False
 * where it stays shut: the C library does not tell how large a block is, or a sanitizer watches. */
bool fsl_pocket_open(void);

/* Gives what is in the pocket of the calling thread to the heap, and shuts it. */
void fsl_pocket_close(void);

/* The rest is for mem.c, which asks the heap where the pocket has nothing. */

/* True where the pocket of the calling thread is open and has blocks of @n_bytes. */
bool fsl_pocket_is_for(size_t n_bytes);

/* A block of at least @n_bytes with anything in it; NULL where the pocket has none. */
void *fsl_pocket_find(size_t n_bytes);

/* What to ask the heap for, so that the pocket will have the block for the next one who wants about
 * @n_bytes: up to a quarter more. @n_bytes where it is shut or has no such blocks. */
size_t fsl_pocket_ask_bytes(size_t n_bytes);

/* Puts a block of the heap (may be NULL) into the pocket. False where it must be freed: the pocket
 * is shut, or the block too small or too large for it. */
bool fsl_pocket_keep(void *memory);

#endif
