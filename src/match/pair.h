/*
 * Pairs: who talks to whom in a communicator of more than two ranks. Send and receive of one
 * message end together, so two ranks that exchange messages have a good part of their
 * point-to-point ends in common, under one offset of their clocks. Private to src/match.
 */
#ifndef FSL_MATCH_PAIR_H
#define FSL_MATCH_PAIR_H

#include "match/channel.h"

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

#endif
