/*
 * Collectives: the n-th use of a communicator, matched over its ranks, and what follows from it:
 * clock offsets between ranks (members end together), lateness and transfer time of every instance.
 */
#ifndef FSL_MATCH_MATCH_H
#define FSL_MATCH_MATCH_H

#include "match/cut.h"
#include "model/run.h"
#include "model/steps.h"
#include "model/topology.h"
#include "model/verdict.h"
#include "model/windows.h"

#define FSL_NO_OP UINT32_MAX

/* One operator of one communicator over all its ranks, or one direction between the two ranks of a
 * pair. */
struct fsl_channel {
	size_t group_idx; /* topology->groups */
	uint32_t op_id;   /* run->names; of member 0 */
	bool is_p2p;
	size_t n_members;
	uint32_t *members; /* indices into run->ranks, ascending */
	size_t n_instances;
	uint32_t
		*op_idx; /* [instance * n_members + member], index into the rank's ops; FSL_NO_OP */
	int64_t *dur_ns; /* same layout: duration of the operator; -1 without one */
	uint32_t *step_idx; /* [instance], index into fsl_steps; UINT32_MAX outside all steps */
	/* Latest minus earliest end of an instance on corrected clocks; NaN: no two members. */
	double gap_median_ms, gap_p95_ms;
	bool is_complete; /* no instance lacks a member; false: one may */
	bool disagrees; /* ends lie too far apart to belong together: tells nothing about anybody */
};

struct fsl_match {
	struct fsl_arena arena;
	struct fsl_channel *channels; /* sorted by group, then operator */
	size_t n_channels;
	int64_t *clock_ns;    /* per rank: its clock minus the clock of the reference rank of its
				 component */
	double offset_max_ms; /* largest offset; NaN: not measured */
	double residual_ms;   /* median disagreement of common ends after correction; NaN */
	size_t n_groups, n_groups_matched;
	size_t n_groups_disagreeing;   /* with a channel whose ends disagree */
	double disagree_max_ms;        /* largest gap_median_ms of these; NaN: none */
	uint64_t n_p2p, n_p2p_matched; /* point-to-point operators / those with their partner */
	uint64_t n_instances, n_instances_matched; /* with any member / with all members */
	size_t n_restored; /* operators that were put back, match/restore.h */
};

/* Most sends and receives have no partner, as in rings: how long they waited is not known. */
static inline bool fsl_match_lacks_partners(const struct fsl_match *match)
{
	return 2 * match->n_p2p_matched < match->n_p2p;
}

/*
 * Matches every communicator with at least two present ranks. Equal numbers of uses match by order;
 * unequal ones (dropped records, a capture that began later) by their ends on corrected clocks.
 * Point-to-point operators of larger groups go to the pairs of ranks whose ends they share; an
 * operator that ends with no other is left out.
 */
enum fsl_status fsl_match_build(struct fsl_match *out, const struct fsl_run *run,
				const struct fsl_topology *topology, struct fsl_error *err);
/*
 * Likewise, after clocks that run at different speeds were made to run alike: rewrites the times of
 * the run if that matters (match/drift.h). *drift_max_ppm: largest drift that was taken out; 0 if
 * none was and the run is as before.
 */
enum fsl_status fsl_match_straightened(struct fsl_match *out, struct fsl_run *run,
				       const struct fsl_topology *topology, double *drift_max_ppm,
				       struct fsl_error *err);
void fsl_match_fini(struct fsl_match *match);

/* True if each thread finds channels of its own to work on; else all threads work on one channel
 * after the other. */
bool fsl_match_has_many_channels(const struct fsl_match *match);

/* Fills step_idx of every channel. */
void fsl_match_assign_steps(struct fsl_match *match, const struct fsl_cuts *cuts);

/* Duration of a member's operator in an instance, ns; -1 when absent. */
static inline int64_t fsl_channel_duration_ns(const struct fsl_channel *channel, size_t instance,
					      size_t member)
{
	return channel->dur_ns[instance * channel->n_members + member];
}

/* Lateness in ms, instances x members (longest duration in the instance minus own). @out holds
 * values only and looks times up in @channel and @run, which have to outlive it. */
enum fsl_status fsl_channel_lateness(struct fsl_windows *out, const struct fsl_channel *channel,
				     const struct fsl_run *run, struct fsl_error *err);

#endif
