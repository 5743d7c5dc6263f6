/* Sets of ranks made by hand, for tests of code behind the readers. */
#ifndef FSL_TESTS_PROFILE_MADE_SET_H
#define FSL_TESTS_PROFILE_MADE_SET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "capture/cluster.h"

/* Ranks 0 to @n_ranks - 1, of which nothing is known. Free with fsl_profile_fini. */
static inline void made_set_init(struct fsl_profile *set, size_t n_ranks)
{
	*set = (struct fsl_profile){.root = "made", .n_ranks = n_ranks};
	set->ranks = fsl_calloc(n_ranks, sizeof(*set->ranks));
	assert_non_null(set->ranks);
	for (size_t r = 0; r < n_ranks; r++) {
		struct fsl_profile_rank *rank = &set->ranks[r];
		rank->rank = rank->folder.rank = (int32_t)r;
		rank->folder.path = rank->folder.output_path = "made";
		rank->info = (struct fsl_profile_info){.level = "",
						       .torch_version = "",
						       .cann_version = "",
						       .host_uid = "",
						       .host_name = "",
						       .n_active_steps = -1};
		rank->names = fsl_strpool_create();
		assert_non_null(rank->names);
	}
}

static inline uint32_t made_name(struct fsl_profile_rank *rank, const char *text)
{
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(rank->names, text, strlen(text), &id, NULL), FSL_OK);
	return id;
}

static inline struct fsl_profile_comm *made_comm(struct fsl_profile *set, size_t r,
						 const char *name, const char *group, bool is_p2p)
{
	struct fsl_profile_rank *rank = &set->ranks[r];
	assert_int_equal(FSL_GROW(rank->comms, rank->comms_capacity, rank->n_comms + 1, NULL),
			 FSL_OK);
	struct fsl_profile_comm *comm = &rank->comms[rank->n_comms++];
	*comm = (struct fsl_profile_comm){.step = 1,
					  .name_id = made_name(rank, name),
					  .group_id = made_name(rank, group),
					  .is_p2p = is_p2p};
	return comm;
}

static inline struct fsl_profile_link *made_link(struct fsl_profile *set, size_t r,
						 const char *label, const char *group, int32_t src,
						 int32_t dst)
{
	struct fsl_profile_rank *rank = &set->ranks[r];
	assert_int_equal(FSL_GROW(rank->links, rank->links_capacity, rank->n_links + 1, NULL),
			 FSL_OK);
	struct fsl_profile_link *link = &rank->links[rank->n_links++];
	*link = (struct fsl_profile_link){.step = 1,
					  .label_id = made_name(rank, label),
					  .group_id = made_name(rank, group),
					  .name_id = FSL_STR_NONE,
					  .src = src,
					  .dst = dst,
					  .transport = src == dst ? FSL_TRANSPORT_LOCAL
								  : FSL_TRANSPORT_HCCS};
	return link;
}

/* Adds a group of @n ranks to rank @r's metadata. */
static inline void made_told(struct fsl_profile *set, size_t r, const char *id, const char *name,
			     const int32_t *ranks, size_t n)
{
	struct fsl_profile_info *info = &set->ranks[r].info;
	assert_int_equal(FSL_GROW(info->groups, info->groups_capacity, info->n_groups + 1, NULL),
			 FSL_OK);
	struct fsl_profile_parallel_group *group = &info->groups[info->n_groups++];
	*group = (struct fsl_profile_parallel_group){
		.id = id, .name = name, .ranks = fsl_calloc(n, sizeof(*ranks)), .n_ranks = n};
	assert_non_null(group->ranks);
	memcpy(group->ranks, ranks, n * sizeof(*ranks));
	fsl_profile_group_hash(id, group->hash);
}

#endif
