/* Index of the operators and links of all ranks, in the order of the peer's files: by the set of
 * ranks that share them, then step, then operator. */
#ifndef FSL_REPORT_MSPROF_INDEX_H
#define FSL_REPORT_MSPROF_INDEX_H

#include "capture/cluster.h"

/* One operator of one rank, or one link that one rank used. */
struct fsl_peer_entry {
	int64_t step;
	uint32_t set;  /* index in index->sets */
	uint32_t hash; /* group, in cluster->hashes */
	uint32_t name; /* operator, or label of a link; in index->names */
	uint32_t rank; /* index in profile->ranks */
	uint32_t at;   /* index in the rank's comms, or links */
	int32_t src;   /* links: global ranks; both are -1 if one is unknown */
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
	struct fsl_strpool *sets; /* "(0, 2)": ranks that used a group */
	/* Sorted by set, step, operator, (src, dst,) rank. */
	struct fsl_peer_entries comms, links;
	/* Sorted by set, step, group, (src, dst,) rank, for sums. Links with unknown ends and links
	 * that are samples of others are left out. */
	struct fsl_peer_entries comm_sums, link_sums;
};

/* Fills @out (started as {0}). @profile and @cluster are borrowed and must outlive it.
 * FSL_ERR_MEMORY only. */
enum fsl_status fsl_peer_index_init(struct fsl_peer_index *out, const struct fsl_profile *profile,
				    const struct fsl_profile_cluster *cluster,
				    struct fsl_error *err);
void fsl_peer_index_fini(struct fsl_peer_index *index);

/* The key that neighbouring entries share, besides the keys of the surrounding runs. */
enum fsl_peer_run {
	FSL_PEER_RUN_SET,
	FSL_PEER_RUN_STEP,
	FSL_PEER_RUN_NAME,  /* operator with its group */
	FSL_PEER_RUN_GROUP, /* in the order of sums */
	FSL_PEER_RUN_LINK,  /* src and dst */
	FSL_PEER_RUN_RANK,
};
/* End of the run that begins at @begin; at most @end, the end of the surrounding run. */
size_t fsl_peer_run_end(const struct fsl_peer_entries *entries, size_t begin, size_t end,
			enum fsl_peer_run kind);

const struct fsl_profile_comm *fsl_peer_comm(const struct fsl_peer_index *index,
					     const struct fsl_peer_entry *entry);
const struct fsl_profile_link *fsl_peer_link(const struct fsl_peer_index *index,
					     const struct fsl_peer_entry *entry);
int32_t fsl_peer_rank(const struct fsl_peer_index *index, const struct fsl_peer_entry *entry);
/* "(0, 2)" and "(2,)", as Python writes a tuple, or "(0,2)" and "(2)", as the peer's tables have
 * it. Heap, free with fsl_free; NULL if out of memory. */
char *fsl_peer_ranks_text(const int32_t *ranks, size_t n_ranks, bool is_tuple);
/* "step13", or "step". @buffer: at least 32 bytes. Returns @buffer. */
const char *fsl_peer_step_text(int64_t step, char *buffer, size_t size);

#endif
