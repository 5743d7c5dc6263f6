/*
 * Chunks of bytes of long traces. The first ones of a trace lie in memory, all others in a
 * temporary file without a name, whose pages leave the process between two readings: a trace of any
 * length takes the same memory.
 */
#ifndef FSL_CAPTURE_SPILL_H
#define FSL_CAPTURE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

enum {
	FSL_SPILL_CHUNK = 64 * 1024,            /* bytes, a multiple of all sizes of pages */
	FSL_SPILL_MEMORY_MAX = 8 * 1024 * 1024, /* bytes of a trace that stay in memory */
};

/* The file of one trace, for one thread. Start as {0}. */
struct fsl_spill {
	size_t memory_max;    /* 0: FSL_SPILL_MEMORY_MAX */
	size_t n_memory;      /* bytes that were given from memory */
	bool is_open, is_off; /* no folder can be written, or the disk is full: all is memory */
	int file;
	int64_t n_file; /* bytes of it */
};
/* All chunks are freed before. */
void fsl_spill_close(struct fsl_spill *spill);

struct fsl_spill_chunk {
	unsigned char *bytes;
	size_t n_bytes, capacity;
	bool is_in_file;
};
/* Start with the first member set. */
struct fsl_spill_list {
	struct fsl_spill *spill; /* NULL: all chunks lie in memory */
	struct fsl_spill_chunk *chunks;
	size_t n_chunks, chunks_capacity;
};
/* The last chunk if it has room for @n_wanted bytes, else a new one of @capacity bytes, zeroed:
 * only those of FSL_SPILL_CHUNK bytes go to the file. @n_wanted <= @capacity. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_spill_room(struct fsl_spill_list *list, size_t n_wanted, size_t capacity,
			       struct fsl_spill_chunk **out, struct fsl_error *err);
/* Lets the pages of chunk @i leave the process until somebody reads it again. */
void fsl_spill_rest(const struct fsl_spill_list *list, size_t i);
/* Frees the chunks. */
void fsl_spill_fini(struct fsl_spill_list *list);

#endif
