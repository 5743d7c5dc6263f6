/* Slow links: what communicators take to transfer, beside like ones. */
#ifndef FSL_BLAME_LINK_H
#define FSL_BLAME_LINK_H

#include "blame/case.h"
#include "blame/episode.h"

/* Cost of a slow communicator: its shortest duration (nobody is late in that) against like
 * communicators. */
struct fsl_link {
	size_t channel_idx; /* the channel that loses most; match->channels */
	size_t group_idx;
	struct fsl_episode episode;
	double lost_ms_per_step;
	double transfer_ms, peers_ms; /* per step, mean over the episode */
	size_t n_peers;               /* like communicators compared with; 0: own past */
};

/* Transfer time of every channel against that of like channels (same operator, size and stages of
 * the members). */
struct fsl_transfers {
	struct fsl_arena arena;
	size_t n_channels, n_steps;
	/* [channel_idx * n_steps + step], ms per step; NaN if no instance is complete. */
	double *transfer_ms, *reference_ms;
	size_t *n_alike; /* per channel, itself included; 1: the reference is its own past */
	/*
	 * Per channel: a member left no data and perhaps came late, so that its transfer may be a
	 * wait for that member. Compared with like ones that were seen whole, else with its own
	 * past; a link only if the unseen came in time.
	 */
	bool *is_wait;
};
enum fsl_status fsl_transfers_build(struct fsl_transfers *out, const struct fsl_case *facts,
				    struct fsl_error *err);
void fsl_transfers_fini(struct fsl_transfers *transfers);

/* Slow links, most costly first; in @arena. */
enum fsl_status fsl_links_judge(struct fsl_link **links, size_t *n_links, struct fsl_arena *arena,
				const struct fsl_case *facts, const struct fsl_transfers *transfers,
				struct fsl_error *err);
/* True for the channels that a link stands for. */
bool fsl_link_has_channel(const struct fsl_link *link, const struct fsl_match *match,
			  size_t channel_idx);
/* Groups with a member that left no data, so that their transfer cannot be told from a wait. */
size_t fsl_links_count_unjudged(const struct fsl_case *facts);
/* Per text of run->names, in @arena: a member of the communicator of this name left no data. */
enum fsl_status fsl_links_unseen(bool **is_unseen, struct fsl_arena *arena,
				 const struct fsl_case *facts, struct fsl_error *err);
/* Both at once. */
enum fsl_status fsl_links_find(struct fsl_link **links, size_t *n_links, struct fsl_arena *arena,
			       const struct fsl_case *facts, struct fsl_error *err);

#endif
