/*
 * Pairs: who talks to whom in a communicator of more than two ranks. Send and receive of one
 * message end together, so two ranks that exchange messages have a good part of their
 * point-to-point ends in common, under one offset of their clocks. Private to src/match.
 */
#ifndef FSL_MATCH_PAIR_H
#define FSL_MATCH_PAIR_H

#include "match/channel.h"
#include "match/offset.h"

/* Point-to-point operators of one rank in one group, by what they do. */
struct fsl_p2p_uses {
	int64_t *end_ns;  /* ascending, on the rank's clock */
	uint32_t *op_idx; /* into the rank's ops */
	size_t n;
	uint32_t op_id; /* run->names, of the first */
};

/* One rank of a group. */
struct fsl_p2p_side {
	uint32_t rank_idx;
	struct fsl_p2p_uses kinds[FSL_P2P_KINDS_N];
	size_t n_uses;
	int64_t interval_ns; /* usual time between two uses of one kind */
	int64_t first_ns, last_ns;
};

/* Two ranks that have ends in common. */
struct fsl_p2p_pair {
	uint32_t a, b;          /* sides, a < b */
	int64_t offset_ns;      /* clock of b minus clock of a, from their own ends */
	int64_t tolerance_ns;   /* ends farther apart are strangers */
	double relative_jitter; /* change from one common end to the next over the time between uses
				 */
};

/* One group while its operators are paired; arrays in the arena of whoever fills it. */
struct fsl_p2p_group {
	size_t group_idx;
	struct fsl_p2p_side *sides; /* ascending rank */
	size_t n_sides;
	struct fsl_p2p_pair *pairs;
	size_t n_pairs;
};

/* Channels with their instances; grows. */
struct fsl_channel_list {
	struct fsl_channel *items;
	size_t n, capacity;
};

/*
 * Pairs the point-to-point operators of all groups of more than two ranks and appends their
 * channels, with instances, to @out (freed by the caller; what they hold is in the match's arena).
 * Clocks that nothing has connected so far are connected by the pairs.
 */
enum fsl_status fsl_pairs_match(struct fsl_channel_list *out, struct fsl_match *match,
				struct fsl_clocks *clocks, const struct fsl_listing *listing,
				const struct fsl_run *run, struct fsl_error *err);

/* Gives every operator of the group to the pair whose other operator ends with it. */
enum fsl_status fsl_pairs_assign(struct fsl_channel_list *out, struct fsl_match *match,
				 const struct fsl_p2p_group *group, struct fsl_error *err);

#endif
