/*
 * Turns the communication of a capture into the data of the engine: a run of operators, a topology
 * of groups, and the collectives that src/match makes of them.
 */
#ifndef FSL_MATCH_MEETINGS_H
#define FSL_MATCH_MEETINGS_H

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
	/* Operators that were left out, as their time or name is missing. */
	uint64_t n_unusable;
	/* Operators of collectives that were left out, as a member of their group lacks them. */
	uint64_t n_torn;
	size_t *n_torn_of; /* [n_ranks]: the same of each rank */
};

/*
 * Fills @out (overwritten). @cluster gives the kinds of groups; members are found without it. Fails
 * only when memory is short; @out is then empty.
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

/* True if all members of the channel end together, so that the rank with the shortest operator came
 * last. False for point-to-point operators and collectives with a root. */
bool fsl_meeting_tells_lateness(const struct fsl_profile_meetings *meetings,
				const struct fsl_channel *channel);

/* Kind of a group from the name that the framework gave it ("dp_cp", "exp", "default_group"). */
enum fsl_group_kind fsl_profile_group_kind(const char *name);

#endif
