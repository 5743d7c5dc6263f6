/*
 * Single long steps of a long capture. A slow checkpoint once in two hundred steps is chance in
 * each chapter that holds one, and plain over many chapters. So a few numbers of each chapter are
 * kept, and told together if the verdict would name nobody.
 */
#ifndef FSL_BLAME_SINGLES_H
#define FSL_BLAME_SINGLES_H

#include "base/pack.h"
#include "blame/blame.h"

enum { FSL_SINGLE_SIZES_N = 24 };

/* The single steps of one rank in one chapter: above its healthy level by what its charge calls
 * high. */
struct fsl_rank_singles {
	int32_t rank;
	int32_t stage; /* pipeline stage: what is alike in all chapters, as classes need not be */
	uint32_t n_stage;  /* ranks of it that may have single steps */
	uint32_t n_waited; /* single steps in which others waited for the rank */
	/* Single steps by what the job lost: of 2^k to 2^(k + 1) ms, the first and the last of less
	 * and more, too. */
	uint32_t n_by_size[FSL_SINGLE_SIZES_N];
	enum fsl_cause cause;    /* FSL_CAUSES_N: they cost too little to ask */
	double lost_ms, most_ms; /* what the job lost in them, together and in one at most */
	double own_ms, peers_ms; /* own time and that of the peers over them */
	int64_t first_step, last_step, first_ns;
};

/* How many of them cost 2^@size ms and more. */
uint32_t fsl_singles_count(const struct fsl_rank_singles *singles, size_t size);
/* The size of a single step that costs @ms. */
size_t fsl_single_size(double ms);

struct fsl_singles {
	struct fsl_rank_singles *items; /* by rank */
	size_t n_items, capacity;
	size_t n_steps;   /* of the chapter */
	double steps_ms;  /* what they took together */
	size_t n_pauses;  /* of them, those with a single step of some rank */
	double pauses_ms; /* of each of these the longest */
};

/*
 * Looks at the steps [begin, end) of a judged chapter. A rank has no single steps if its work
 * differs in every step, or if it has no peers; five in a row are none. A chapter has no steps at
 * all if too few ranks left data. @out is overwritten; free with fsl_singles_fini(). FSL_ERR_MEMORY
 * only.
 */
enum fsl_status fsl_singles_find(struct fsl_singles *out, const struct fsl_case *facts,
				 size_t begin, size_t end, struct fsl_error *err);
void fsl_singles_fini(struct fsl_singles *singles);

/* Appends @singles to @pack; look at its is_failed. */
void fsl_singles_pack(const struct fsl_singles *singles, struct fsl_pack *pack);
/* Makes @out (overwritten) what was packed. Bytes that are not sound: FSL_ERR_FORMAT, and @out is
 * empty. */
enum fsl_status fsl_singles_unpack(struct fsl_singles *out, struct fsl_unpack *unpack,
				   struct fsl_error *err);

/*
 * Names the ranks whose single steps, over the chapters in which they come, cost the job what
 * counts and come more often than chance (Poisson, at the rate of the others of their stage). If
 * that is true of the steps of all ranks together instead, says that hosts pause. @out is the
 * verdict of the newest chapter and names nobody, @facts what it was made from; nothing changes if
 * *is_found is false. Oldest chapter first.
 */
enum fsl_status fsl_singles_tell(struct fsl_localisation *out, const struct fsl_case *facts,
				 const struct fsl_singles *const *chapters, size_t n_chapters,
				 bool *is_found, struct fsl_error *err);

#endif
