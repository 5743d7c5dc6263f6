/*
 * Operators and links of all ranks in the order in which the peer's files hold them: under the
 * ranks that share them, the step, the operator.
 */
#ifndef FSL_REPORT_MSPROF_INDEX_H
#define FSL_REPORT_MSPROF_INDEX_H

#include "capture/cluster.h"

/* One operator of one rank, or one link that one rank used. */
struct fsl_peer_entry {
	int64_t step;
	uint32_t set;  /* in index->sets */
	uint32_t hash; /* group, in cluster->hashes */
	uint32_t name; /* operator, or label of links; in index->names */
	uint32_t rank; /* position in profile->ranks */
	uint32_t at;   /* in its comms, or its links */
	int32_t src;   /* links: global ranks, both -1 when one of them is not known */
	int32_t dst;
};

struct fsl_peer_entries {
	struct fsl_peer_entry *items;
	size_t n, capacity;
};

struct fsl_peer_index {
	const struct fsl_profile *profile;
	const struct fsl_profile_cluster *cluster;
	struct fsl_strpool *names;
	struct fsl_strpool *sets; /* "(0, 2)": ranks that were seen to use a group */
	/* By set, step, operator, (src, dst,) rank. */
	struct fsl_peer_entries comms, links;
	/* By set, step, group, (src, dst,) rank: what is summed up. Without links whose ends are
	 * not known, and without those that are samples of others. */
	struct fsl_peer_entries comm_sums, link_sums;
};

/* Fills @out (started as {0}); needs @profile and @cluster as long as it lives. */
enum fsl_status fsl_peer_index_init(struct fsl_peer_index *out, const struct fsl_profile *profile,
				    const struct fsl_profile_cluster *cluster,
				    struct fsl_error *err);
void fsl_peer_index_fini(struct fsl_peer_index *index);

/* What entries in a row have in common, besides what those around them have. */
enum fsl_peer_run {
	FSL_PEER_RUN_SET,
	FSL_PEER_RUN_STEP,
	FSL_PEER_RUN_NAME,  /* operator with its group */
	FSL_PEER_RUN_GROUP, /* in the order for sums */
	FSL_PEER_RUN_LINK,  /* src and dst */
	FSL_PEER_RUN_RANK,
};
/* End of the run that begins at @begin; at most @end, that of the run around it. */
size_t fsl_peer_run_end(const struct fsl_peer_entries *entries, size_t begin, size_t end,
			enum fsl_peer_run kind);

const struct fsl_profile_comm *fsl_peer_comm(const struct fsl_peer_index *index,
					     const struct fsl_peer_entry *entry);
const struct fsl_profile_link *fsl_peer_link(const struct fsl_peer_index *index,
					     const struct fsl_peer_entry *entry);
int32_t fsl_peer_rank(const struct fsl_peer_index *index, const struct fsl_peer_entry *entry);
/* "(0, 2)" and "(2,)", as Python writes a tuple, or "(0,2)" and "(2)", as the peer's tables have
 * it. Heap, free with fsl_free; NULL when out of memory. */
char *fsl_peer_ranks_text(const int32_t *ranks, size_t n_ranks, bool is_tuple);
/* "step13", or "step". @buffer: at least 32 bytes. Returns @buffer. */
const char *fsl_peer_step_text(int64_t step, char *buffer, size_t size);

#endif
