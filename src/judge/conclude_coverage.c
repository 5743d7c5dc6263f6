/* Coverage: the basis of the verdict on a capture. */
#include <stdlib.h>

#include "base/number.h"
#include "judge/conclude.h"
#include "match/meetings.h"

static void count_file(struct fsl_coverage *coverage, const struct fsl_file *file)
{
	coverage->n_files++;
	coverage->n_files_unusable += file->state == FSL_FILE_UNUSABLE ||
				      file->state == FSL_FILE_EMPTY ||
				      file->state == FSL_FILE_DUPLICATE;
	coverage->n_files_partial += file->state == FSL_FILE_PARTIAL;
	coverage->n_bytes += file->n_bytes;
	coverage->n_records += file->n_records;
	for (size_t d = 0; d < FSL_DROPS_N; d++) {
		coverage->n_dropped[d] += file->n_dropped[d];
	}
}

static void widen(struct fsl_coverage *coverage, int64_t begin_ns, int64_t end_ns)
{
	if (begin_ns == FSL_NS_ABSENT || end_ns < begin_ns) {
		return;
	}
	if (coverage->begin_ns == FSL_NS_ABSENT || begin_ns < coverage->begin_ns) {
		coverage->begin_ns = begin_ns;
	}
	coverage->end_ns = end_ns > coverage->end_ns ? end_ns : coverage->end_ns;
}

static void count_rank(struct fsl_coverage *coverage, const struct fsl_profile_rank *rank)
{
	bool is_seen = rank->n_steps + rank->n_rebuilt + rank->n_comms + rank->n_kernels > 0;
	coverage->n_ranks_seen += is_seen ? 1 : 0;
	for (size_t f = 0; f < rank->n_files; f++) {
		count_file(coverage, &rank->files[f]);
	}
	for (size_t c = 0; c < rank->n_comms; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		if (fsl_profile_comm_is_timed(comm)) {
			widen(coverage, comm->begin_ns,
			      fsl_sum_i64(comm->begin_ns, comm->elapse_ns));
		}
	}
	if (rank->has_trace) {
		widen(coverage, rank->trace.begin_ns, rank->trace.end_ns);
	}
}

static void count_groups(struct fsl_coverage *coverage, const struct fsl_profile_cluster *cluster)
{
	for (size_t g = 0; g < cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &cluster->groups[g];
		coverage->n_groups += group->size >= 2 ? 1 : 0;
		coverage->n_groups_matched +=
			group->size >= 2 && group->is_size_known && group->n_seen >= group->size;
	}
}

static int32_t world_of(const struct fsl_profile_case *facts)
{
	int64_t world = 0;
	for (size_t r = 0; r < facts->profile->n_ranks; r++) {
		int64_t own = facts->profile->ranks[r].info.world_size;
		world = own > world ? own : world;
	}
	return world > 0 && world <= FSL_PROFILE_RANKS_MAX ? (int32_t)world : 0;
}

/* Ranks that should be there, ascending: the whole world where its size is told, else all members
 * of groups. @list: room for all of them. */
static size_t list_expected(int32_t *list, const struct fsl_profile_case *facts)
{
	size_t n = 0, n_unique = 0;
	int32_t world = world_of(facts);
	for (int32_t rank = 0; rank < world; rank++) {
		list[n++] = rank;
	}
	for (size_t g = 0; g < facts->cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &facts->cluster->groups[g];
		for (size_t i = 0; i < group->n_ranks; i++) {
			list[n++] = group->ranks[i];
		}
	}
	for (size_t r = 0; r < facts->profile->n_ranks; r++) {
		list[n++] = facts->profile->ranks[r].rank;
	}
	qsort(list, n, sizeof(*list), fsl_rank_compare);
	for (size_t i = 0; i < n; i++) {
		if (n_unique == 0 || list[i] != list[n_unique - 1]) {
			list[n_unique++] = list[i];
		}
	}
	return n_unique;
}

/* The largest group, whose members need not have numbers. */
static size_t largest_group(const struct fsl_profile_cluster *cluster)
{
	size_t size = 0;
	for (size_t g = 0; g < cluster->n_groups; g++) {
		size = cluster->groups[g].size > size ? cluster->groups[g].size : size;
	}
	return size;
}

static enum fsl_status count_missing(struct fsl_localisation *out,
				     const struct fsl_profile_case *facts, struct fsl_error *err)
{
	const struct fsl_profile *profile = facts->profile;
	struct fsl_coverage *coverage = &out->coverage;
	size_t n_max = profile->n_ranks + (size_t)world_of(facts);
	for (size_t g = 0; g < facts->cluster->n_groups; g++) {
		n_max += facts->cluster->groups[g].n_ranks;
	}
	int32_t *expected = fsl_arena_alloc(&out->arena, (n_max + 1) * sizeof(*expected));
	coverage->missing_ranks = fsl_arena_alloc(&out->arena, (n_max + 1) * sizeof(*expected));
	if (expected == NULL || coverage->missing_ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n_max);
	}
	size_t n = list_expected(expected, facts), r = 0;
	for (size_t i = 0; i < n; i++) {
		while (r < profile->n_ranks && profile->ranks[r].rank < expected[i]) {
			r++;
		}
		if (r == profile->n_ranks || profile->ranks[r].rank != expected[i]) {
			coverage->missing_ranks[coverage->n_missing_ranks++] = expected[i];
		}
	}
	size_t largest = largest_group(facts->cluster);
	coverage->n_ranks_expected = n > largest ? n : largest;
	return FSL_OK;
}

enum fsl_status fsl_profile_cover(struct fsl_localisation *out,
				  const struct fsl_profile_case *facts,
				  const struct fsl_profile_findings *findings,
				  struct fsl_error *err)
{
	struct fsl_coverage *coverage = &out->coverage;
	for (size_t r = 0; r < facts->profile->n_ranks; r++) {
		count_rank(coverage, &facts->profile->ranks[r]);
	}
	coverage->n_steps = facts->cluster->n_steps;
	coverage->steps_source = "profiler";
	count_groups(coverage, facts->cluster);
	enum fsl_status status = count_missing(out, facts, err);
	for (size_t i = 0; i < findings->n_missing && status == FSL_OK; i++) {
		status = fsl_coverage_add_skipped(coverage, &out->arena, err, "%s",
						  findings->missing[i]);
	}
	return status;
}
