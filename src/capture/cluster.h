/* How the ranks of a set relate: communication groups, pipeline stages, places in the layout. */
#ifndef FSL_CAPTURE_CLUSTER_H
#define FSL_CAPTURE_CLUSTER_H

#include "capture/capture.h"

/* Rank at a place inside a group: links name their ends by place. */
struct fsl_profile_member {
	int32_t place; /* from 0 */
	int32_t rank;
};

/* One communication group, joined from all ranks that used it; in the cluster's arena. */
struct fsl_profile_group {
	const char *hash; /* text behind "@" in the JSON files */
	const char *id;   /* "group_name_5"; "" if no metadata has it */
	const char *name; /* "dp_cp"; "" if no metadata has it */
	bool is_p2p;      /* point-to-point use: a group with both uses is listed twice */
	int32_t *ranks;   /* known members: from metadata, else those seen; ascending */
	size_t n_ranks;
	int32_t *seen; /* members that are in the set and used the group; ascending */
	size_t n_seen;
	/* Least number of members: from metadata, or proved by places of its links and of those
	 * whose signals were waited for. Not known if none of these told any, and it is not known
	 * either that all ranks of the job were captured: then it is what was seen. */
	size_t size;
	bool is_size_known;
	struct fsl_profile_member *members; /* known places; ascending by place */
	size_t n_members;
};

/* Ranks of one pipeline stage. */
struct fsl_profile_stage {
	int32_t *ranks; /* ascending */
	size_t n_ranks;
};

/* Place of a rank in the layout; -1 if unknown. */
struct fsl_profile_place {
	int32_t dp, pp, tp, cp;
};

struct fsl_profile_cluster {
	struct fsl_arena arena;
	struct fsl_profile_group *groups; /* collective groups first, in the order of first use */
	size_t n_groups;
	struct fsl_strpool *hashes;       /* hashes of the groups; see fsl_profile_group_find */
	size_t *by_hash;                  /* arena: group at hash id * 2 + is_p2p; SIZE_MAX none */
	struct fsl_profile_stage *stages; /* in order of the pipeline; none without a pipeline */
	size_t n_stages;
	struct fsl_profile_place *places; /* one per profile->ranks */
	bool has_places;
	int64_t *steps; /* all step numbers of the set, ascending; FSL_STEP_ABSENT if unnumbered */
	size_t n_steps;
};

/*
 * Fills @out (started as {0}). Unusual data is no failure: unknown parts stay empty.
 *
 * Stages: the p2p groups named "pp" are merged to pipelines. Collective groups in which no two
 * ranks are of one pipeline are merged to stages. If these stages do not hold every captured rank,
 * they come from the sizes that the framework told, as places do: tensor parallelism fastest, then
 * context, then data, pipeline slowest.
 *
 * On failure (FSL_ERR_MEMORY) @out is empty.
 */
enum fsl_status fsl_profile_cluster_build(struct fsl_profile_cluster *out,
					  const struct fsl_profile *profile, struct fsl_error *err);
void fsl_profile_cluster_fini(struct fsl_profile_cluster *cluster);

/* Index of the group with a hash, among collective or p2p groups; SIZE_MAX if there is none. */
size_t fsl_profile_group_find(const struct fsl_profile_cluster *cluster, const char *hash,
			      bool is_p2p);
/* Rank at @place of the group; -1 if unknown. */
int32_t fsl_profile_group_rank(const struct fsl_profile_group *group, int32_t place);

/* Index of the stage of @rank; SIZE_MAX if it has none. */
size_t fsl_profile_stage_of(const struct fsl_profile_cluster *cluster, int32_t rank);

/* Decimal text of the number that the profiler computes from a group's id: two 32-bit polynomials
 * over its bytes, with factors 29 (upper half) and 131 (lower half). @out: at least 24 bytes. */
void fsl_profile_group_hash(const char *id, char *out);

#endif
