/* Sizes of groups with members that left no data: the groups that were seen, and the number of
 * ranks that the job should have, tell them together. */
#include "match/group_sizes.h"

/* Groups of one kind; those of the same ranks are one. */
struct seen {
	size_t n_groups, n_ranks_max;
};

static struct seen see_kind(const struct fsl_topology *topology, enum fsl_group_kind kind)
{
	struct seen seen = {0};
	const struct fsl_group *before = NULL;
	for (size_t g = 0; g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		if (group->kind != kind) {
			continue;
		}
		seen.n_groups +=
			before == NULL || fsl_ranks_compare(before->ranks, before->n_ranks,
							    group->ranks, group->n_ranks) != 0;
		seen.n_ranks_max =
			group->n_ranks > seen.n_ranks_max ? group->n_ranks : seen.n_ranks_max;
		before = group;
	}
	return seen;
}

/*
 * Groups of one kind share out the ranks of the job, so their size divides these, into no fewer
 * groups than were seen: the least such size that holds the largest group. It must also divide them
 * into groups of @n_inner ranks that meet each of these in one rank. Groups that overlap, as those
 * of neighbouring stages do, are as large as the largest that was seen.
 */
static size_t size_of(const struct seen *seen, size_t n_seen, size_t n_expected, size_t n_inner)
{
	if (seen->n_ranks_max == n_seen) {
		return n_expected; /* all that are left */
	}
	for (size_t n = seen->n_ranks_max; n > 0 && n * seen->n_groups <= n_expected; n++) {
		if (n_expected % (n * n_inner) == 0) {
			return n;
		}
	}
	return seen->n_ranks_max;
}

void fsl_group_sizes_find(struct fsl_group_sizes *out, const struct fsl_run *run,
			  const struct fsl_topology *topology)
{
	size_t n_seen = fsl_ranks_seen(run), n_expected = topology->n_expected_ranks;
	*out = (struct fsl_group_sizes){{0}};
	if (n_seen >= n_expected) {
		return;
	}
	for (int kind = 0; kind < FSL_GROUP_UNKNOWN; kind++) {
		struct seen seen = see_kind(topology, (enum fsl_group_kind)kind);
		/* If a whole tensor-parallel group left no data, all data-parallel ones lack a
		 * member, and none of these shows how large they are. */
		size_t n_tp = out->n_ranks[FSL_GROUP_TP];
		size_t n_inner = kind == FSL_GROUP_DP && n_tp > 0 ? n_tp : 1;
		if (seen.n_groups > 0) {
			out->n_ranks[kind] = size_of(&seen, n_seen, n_expected, n_inner);
		}
	}
	/* Nobody knows how large a group of unknown kind should be. */
	out->n_ranks[FSL_GROUP_UNKNOWN] = SIZE_MAX;
}

bool fsl_group_misses_members(const struct fsl_group_sizes *sizes, const struct fsl_group *group)
{
	return group->n_ranks < sizes->n_ranks[group->kind];
}

size_t fsl_group_n_unseen(const struct fsl_group_sizes *sizes, const struct fsl_group *group)
{
	if (!fsl_group_misses_members(sizes, group)) {
		return 0;
	}
	return group->kind == FSL_GROUP_UNKNOWN ? group->n_ranks == 1
						: sizes->n_ranks[group->kind] - group->n_ranks;
}
