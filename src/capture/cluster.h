/*
 * What the ranks of a set are to each other: communication groups, pipeline stages, places in the
 * parallel layout.
 */
#ifndef FSL_CAPTURE_CLUSTER_H
#define FSL_CAPTURE_CLUSTER_H

#include "capture/capture.h"

/* Which rank is at which place inside a group: links name their ends by place. */
struct fsl_profile_member {
	int32_t place; /* from 0 */
	int32_t rank;
};

/* One communication group, from all ranks that used it. All memory is the cluster's arena. */
struct fsl_profile_group {
	const char *hash; /* text behind "@" in the JSON files */
	const char *id;   /* "group_name_5"; "" when no metadata tells */
	const char *name; /* "dp_cp"; "" likewise */
	bool is_p2p;      /* used for point-to-point: a group used for both is listed twice */
	int32_t *ranks;   /* members as known: told by metadata, else those seen; ascending */
	size_t n_ranks;
	int32_t *seen; /* members that are in the set and used it; ascending */
	size_t n_seen;
	size_t size; /* members that it must have: told, or proved by numbers of its links */
	struct fsl_profile_member *members; /* places that are known; ascending by place */
	size_t n_members;
};

/* Ranks of one pipeline stage. */
struct fsl_profile_stage {
	int32_t *ranks; /* ascending */
	size_t n_ranks;
};

/* Place of a rank in the layout; -1 where that is not told. */
struct fsl_profile_place {
	int32_t dp, pp, tp, cp;
};

struct fsl_profile_cluster {
	struct fsl_arena arena;
	struct fsl_profile_group *groups; /* collective ones first, in the order of first use */
	size_t n_groups;
	struct fsl_strpool *hashes;       /* of the groups; fsl_profile_group_find */
	size_t *by_hash;                  /* arena: group of hash id * 2 + is_p2p; SIZE_MAX none */
	struct fsl_profile_stage *stages; /* in order of the pipeline; none without a pipeline */
	size_t n_stages;
	struct fsl_profile_place *places; /* one per profile->ranks */
	bool has_places;
	int64_t *
		steps; /* all step numbers of the set, ascending; FSL_STEP_ABSENT when unnumbered */
	size_t n_steps;
};

/*
 * Fills @out (started as {0}). Odd data is no failure: what cannot be told stays empty. Stages: the
 * groups of p2p named "pp" are merged to pipelines; collective groups within which no two ranks are
 * of one pipeline are merged to stages. Where these do not hold every rank that was captured, the
 * sizes that the framework told make the stages, as they make the places: tensor parallelism
 * fastest, then context, then data, pipeline slowest. On failure @out is empty.
 */
enum fsl_status fsl_profile_cluster_build(struct fsl_profile_cluster *out,
					  const struct fsl_profile *profile, struct fsl_error *err);
void fsl_profile_cluster_fini(struct fsl_profile_cluster *cluster);

/* Index of the group behind a hash, among collective or p2p ones; SIZE_MAX without one. */
size_t fsl_profile_group_find(const struct fsl_profile_cluster *cluster, const char *hash,
			      bool is_p2p);
/* Rank at @place of the group; -1 when it is not known. */
int32_t fsl_profile_group_rank(const struct fsl_profile_group *group, int32_t place);

/* Index of the stage of @rank, SIZE_MAX without one. */
size_t fsl_profile_stage_of(const struct fsl_profile_cluster *cluster, int32_t rank);

/*
 * Decimal text of the number that the profiler makes of a group's id: two 32-bit polynomials over
 * its bytes, factors 29 (upper half) and 131 (lower half). @out: at least 24 bytes.
 */
void fsl_profile_group_hash(const char *id, char *out);

#endif
