/*
 * The communication of a capture as the engine has it: a run of operators, a topology of groups,
 * and the collectives that src/match makes of them.
 */
#ifndef FSL_JUDGE_TO_RUN_H
#define FSL_JUDGE_TO_RUN_H

#include "capture/cluster.h"
#include "match/match.h"

/*
 * Ranks of the run are numbered by their place in profile->ranks (numbers in folder names may be
 * anything), and so are the members of channels. The id of an operator is its place in the rank's
 * comms; its name is the type ("hcom_allReduce"), so that all operators of a type are one channel.
 * Groups are those whose operators were seen, with the members that are in the set; operators
 * without a group go by the digits in their names ("hcom_allReduce__586_0_1": "__586").
 */
struct fsl_profile_meetings {
	struct fsl_run run;
	struct fsl_topology topology;
	struct fsl_match match;
	/* Operators whose time or name is missing, left out. */
	uint64_t n_unusable;
	/* Collectives' operators that some member of their group lacks, left out. */
	uint64_t n_torn;
};

/*
 * Fills @out (overwritten). Needs no cluster to tell members; it tells the kinds of groups. Fails
 * only when memory is short; @out is empty then.
 */
enum fsl_status fsl_profile_meet(struct fsl_profile_meetings *out,
				 const struct fsl_profile *profile,
				 const struct fsl_profile_cluster *cluster, struct fsl_error *err);
void fsl_profile_meetings_fini(struct fsl_profile_meetings *meetings);

/* The operator of a member in an instance; NULL when it has none there. */
const struct fsl_profile_comm *fsl_meeting_comm(const struct fsl_profile_meetings *meetings,
						const struct fsl_profile *profile,
						const struct fsl_channel *channel, size_t instance,
						size_t member);

/* True when all members of the channel end together, so that the shortest operator came last: not
 * for point-to-point operators and those with a root. */
bool fsl_meeting_tells_lateness(const struct fsl_profile_meetings *meetings,
				const struct fsl_channel *channel);

/* True when the operator has a begin and a duration, and both can be true (two weeks at most). */
bool fsl_profile_comm_is_timed(const struct fsl_profile_comm *comm);

/* Kind of a group from the name that the framework gave it ("dp_cp", "exp", "default_group"). */
enum fsl_group_kind fsl_profile_group_kind(const char *name);

#endif
