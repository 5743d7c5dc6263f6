/* Messages between the first process and the other processes, and parts that tests call. */
#ifndef FSL_SOURCE_SHARE_PARTS_H
#define FSL_SOURCE_SHARE_PARTS_H

#include "source/share.h"

/* The first byte of each question. */
enum fsl_share_ask {
	FSL_ASK_LOOK, /* can you see the run? the answer is 1, or 0 and a text */
	FSL_ASK_READ, /* read these files; not answered */
	FSL_ASK_NEXT, /* give the next file, in the order told; the answer is 1 and the load, or 0
			 and a text */
	FSL_ASK_END,  /* go; not answered */
};

enum {
	FSL_SHARE_TEXT_MAX = 1 << 16,
	/* Bytes. Files are unpacked together: one for each thread, and more while all of them are
	 * smaller than this in sum. Threads that wait for each other after each small file wait
	 * longer than they work. */
	FSL_SHARE_HAND_BYTES = 64 * 1024 * 1024,
};

/* Sets the place of each of @loads. Each file, the largest first, goes to the process that has the
 * fewest bytes so far. */
void fsl_share_place(struct fsl_share *share, struct fsl_load *loads, size_t n_loads);

/* State of a process that is not the first, between two questions. Start as {0}. */
struct fsl_server {
	int64_t from_ns, to_ns;
	bool is_range_for_stages, keeps_stacks;
	int n_threads;
	const char **log_patterns; /* [n_log_patterns] */
	size_t n_log_patterns;
	struct fsl_arena arena;   /* of log_patterns */
	struct fsl_inputs inputs; /* of the last batch */
	struct fsl_load *loads; /* one for each of inputs; packed once it is read, to save memory */
	struct fsl_pack *packs; /* answers, until they are sent */
	size_t n_loads, n_answered;
	const char *fault; /* why the files could not be read; NULL: they were read */
};

/*
 * Answers the question @bytes. *is_end: it was the last question. @answer stays empty if the
 * question has no answer. FSL_ERR_FORMAT if @bytes is no question.
 */
enum fsl_status fsl_server_do(struct fsl_server *server, const void *bytes, size_t n_bytes,
			      struct fsl_pack *answer, bool *is_end, struct fsl_error *err);
void fsl_server_fini(struct fsl_server *server);

#endif
