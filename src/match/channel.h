/* Channels: per communicator and operator, each member's uses in order; private to src/match. */
#ifndef FSL_MATCH_CHANNEL_H
#define FSL_MATCH_CHANNEL_H

#include "match/match.h"

/* The uses of one channel before they are matched. Arrays in the match's arena. */
struct fsl_uses {
	size_t n_members;
	uint32_t **op_idx; /* [member]: indices into the rank's ops, in order of begin */
	size_t *n_uses;    /* [member] */
};

/* Lists every channel with at least two members; uses[i] belongs to out->channels[i]. Also sets
 * n_groups. */
enum fsl_status fsl_channels_list(struct fsl_match *out, struct fsl_uses **uses,
				  const struct fsl_run *run, const struct fsl_topology *topology,
				  struct fsl_error *err);

/* Clock offsets of all ranks from the ends of all channels; sets clock_ns,
 * offset_max_ms, residual_ms of @out. */
enum fsl_status fsl_clocks_estimate(struct fsl_match *out, const struct fsl_uses *uses,
				    const struct fsl_run *run, struct fsl_error *err);

/* Instances of one channel: by order when all members have equally many uses, else by their ends.
 */
enum fsl_status fsl_channel_match(struct fsl_match *match, struct fsl_channel *channel,
				  const struct fsl_uses *uses, const struct fsl_run *run,
				  struct fsl_error *err);

#endif
