/* When a lost operator began and ended; private to src/match/restore*.c. */
#ifndef FSL_MATCH_RESTORE_PLACE_H
#define FSL_MATCH_RESTORE_PLACE_H

#include "match/match.h"

/* One operator to be put back; times on the clock of its rank. */
struct fsl_lost_op {
	uint32_t rank_idx, channel, member;
	size_t instance;
	int64_t end_ns;
	int64_t waited_ns;        /* shortest duration of the others */
	int64_t transfer_ns;      /* what is usual */
	int64_t transfer_high_ns; /* what chance makes of it */
	int64_t gap_ns;           /* usual work before it */
	int64_t dur_ns;           /* usual duration */
	/* Begins of the uses before and behind it. */
	int64_t after_ns, before_ns;
	uint32_t like; /* operator of the rank at the same place of another step */
	int64_t tolerance_ns;
	const struct fsl_op *remnant; /* what is left of its record; NULL: nothing */
	bool is_async;
	bool is_placed;
	uint32_t op_idx; /* its index in the rank's operators */
	struct fsl_op op;
};

/* True when an operator of a rank with device times lost its own: its host times say nothing about
 * when it ran. */
static inline bool fsl_lacks_device(const struct fsl_op *op, bool has_device)
{
	return has_device && op->dev_begin_ns == FSL_NS_ABSENT;
}

/* Latest end by @time_ns of the operators before @op_idx; @time_ns when none ended by then. */
int64_t fsl_ended_before(const struct fsl_rank *rank, size_t op_idx, int64_t time_ns);

/* Finds what is left of the records of one rank's lost operators, sorted by end. */
enum fsl_status fsl_find_remnants(const struct fsl_rank *rank, struct fsl_lost_op *items, size_t n,
				  struct fsl_error *err);

/*
 * Places a lost operator between those of its rank. @restored_ns: end of the one put back before.
 * One that would end inside a synchronous operator is not the rank's, or clocks are wrong: it stays
 * lost.
 */
void fsl_place_lost(struct fsl_lost_op *lost, const struct fsl_rank *rank, int64_t restored_ns);

#endif
