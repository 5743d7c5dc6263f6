/* What the first process and the others say to each other; and parts that tests look at. */
#ifndef FSL_SOURCE_SHARE_PARTS_H
#define FSL_SOURCE_SHARE_PARTS_H

#include "source/share.h"

/* The first byte of each question. */
enum fsl_share_ask {
	FSL_ASK_LOOK, /* can you see the run? answered by 1, or 0 and a text */
	FSL_ASK_READ, /* read these files; not answered */
	FSL_ASK_NEXT, /* the next of them, in the order told; answered by 1 and it, or 0 and a text
		       */
	FSL_ASK_END,  /* go; not answered */
};

enum {
	FSL_SHARE_TEXT_MAX = 1 << 16,
	/* Files that are unpacked together are one a thread, and more while all of them
	 * are small: threads that meet at each small file wait longer than they work. */
	FSL_SHARE_HAND_BYTES = 64 * 1024 * 1024,
};

/* The dealing itself: sets the place of each of @loads. Each file, the largest first, goes to the
 * process that has least so far. */
void fsl_share_place(struct fsl_share *share, struct fsl_load *loads, size_t n_loads);

/* What a process that is not the first knows between two questions. Start as {0}. */
struct fsl_server {
	int64_t from_ns, to_ns;
	bool is_range_for_stages;
	int n_threads;
	struct fsl_inputs inputs; /* of the last batch */
	struct fsl_load *loads;   /* what each of inputs gave, packed at once: it is smaller so */
	struct fsl_pack *packs;   /* answers, until they are sent */
	size_t n_loads, n_answered;
	const char *fault; /* why they could not be read; NULL: they were */
};

/*
 * Does what the question @bytes asks; *is_end when it was the last. @answer stays empty when none
 * is due. FSL_ERR_FORMAT when it is no question.
 */
enum fsl_status fsl_server_do(struct fsl_server *server, const void *bytes, size_t n_bytes,
			      struct fsl_pack *answer, bool *is_end, struct fsl_error *err);
void fsl_server_fini(struct fsl_server *server);

#endif
