/* Channels: per communicator and operator, each member's uses in order; private to src/match. */
#ifndef FSL_MATCH_CHANNEL_H
#define FSL_MATCH_CHANNEL_H

#include "match/limits.h"
#include "match/match.h"

/* The uses of one operator of one communicator by one rank. */
struct fsl_slot {
	size_t group_idx;
	uint32_t rank_idx, op_id;
	size_t n;
	uint32_t *op_idx; /* [n] indices into the rank's ops, in order of begin */
	int64_t *end_ns;  /* [n] their ends, on the rank's clock */
	int64_t *dur_ns;  /* [n] their durations */
};

/* The uses of two members of a channel: its first one and another. */
struct fsl_couple {
	const struct fsl_slot *first, *other;
	/* Median of the ends of @other less those of @first, use by use, once the clocks are
	 * measured; FSL_NS_ABSENT: they have not equally many, or too few to measure. */
	int64_t apart_ns;
};

/* The uses of one channel before they are matched. Arrays in the listing's arena. */
struct fsl_uses {
	size_t n_members;
	const struct fsl_slot **of;       /* [member] */
	const struct fsl_couple *couples; /* [n_members - 1] the first member with each other one */
};

/* Uses and channels until everything is matched. Start with {0}; release the arena. */
struct fsl_listing {
	struct fsl_arena arena;
	struct fsl_slot *slots; /* in order of group, rank, first use */
	size_t *slot_begin;     /* [n_groups + 1]: the slots of each group */
	size_t n_groups;
	struct fsl_uses *uses; /* [channel] */
	/* The couples of all channels, one channel after the other. */
	struct fsl_couple *couples;
	size_t n_couples;
};

/* Reads ends and durations again, once the times of the run have changed. */
void fsl_slots_read_times(struct fsl_listing *listing, const struct fsl_run *run);

/* Direction of a point-to-point operator. */
enum fsl_p2p_kind {
	FSL_P2P_SEND,
	FSL_P2P_RECEIVE,
	FSL_P2P_BOTH, /* batched send and receive */
	FSL_P2P_KINDS_N
};
/* FSL_P2P_KINDS_N: no point-to-point operator. */
enum fsl_p2p_kind fsl_p2p_kind_from_name(const char *op_name);
/* Receive for Send and so on. */
enum fsl_p2p_kind fsl_p2p_kind_that_meets(enum fsl_p2p_kind kind);

/*
 * Lists every channel with at least two members but the point-to-point operators of groups of more
 * than two; listing->uses[i] belongs to out->channels[i]. Also sets n_groups and n_p2p of @out.
 * Release the listing's arena in any case.
 */
enum fsl_status fsl_channels_list(struct fsl_match *out, struct fsl_listing *listing,
				  const struct fsl_run *run, const struct fsl_topology *topology,
				  struct fsl_error *err);

/* Offsets between clocks: a union-find forest whose edges carry "my clock minus my parent's". */
struct fsl_clocks {
	uint32_t *parent, *size; /* per rank index */
	int64_t *to_parent_ns;
	size_t n_ranks;
	bool is_measured; /* some offset was measured */
};

/* No offset known; in @arena. */
enum fsl_status fsl_clocks_init(struct fsl_clocks *out, struct fsl_arena *arena, size_t n_ranks,
				struct fsl_error *err);
/* Clock of @to minus clock of @from; false when nothing connects them. */
bool fsl_clocks_offset(const struct fsl_clocks *clocks, uint32_t from, uint32_t to,
		       int64_t *offset_ns);
/* Adds a measurement; what was known before stays. */
void fsl_clocks_join(struct fsl_clocks *clocks, uint32_t from, uint32_t to, int64_t offset_ns);
/* Joins the clocks of all members of the channels, best measurements first; sets residual_ms of
 * @out. */
enum fsl_status fsl_clocks_measure(struct fsl_clocks *clocks, struct fsl_match *out,
				   const struct fsl_listing *listing, struct fsl_error *err);
/* Sets clock_ns and offset_max_ms of @out: offsets to the lowest rank of each component; 0 without
 * a common end. */
enum fsl_status fsl_clocks_publish(struct fsl_match *out, const struct fsl_clocks *clocks,
				   struct fsl_arena *scratch, struct fsl_error *err);

/* Instances of one channel: by order when all members have equally many uses, else by their ends.
 */
enum fsl_status fsl_channel_match(struct fsl_match *match, struct fsl_channel *channel,
				  const struct fsl_uses *uses, struct fsl_error *err);

/* Fills dur_ns anew, once the channel's operators have changed. */
enum fsl_status fsl_channel_measure_durations(struct fsl_channel *channel, struct fsl_match *match,
					      const struct fsl_run *run, struct fsl_error *err);

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
