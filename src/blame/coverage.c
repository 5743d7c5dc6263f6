/* Coverage: what the verdict is based on. */
#include <string.h>

#include "blame/fuse.h"
#include "blame/fuse_parts.h"

static enum fsl_status count_ranks(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err)
{
	struct fsl_coverage *coverage = &out->coverage;
	const struct fsl_topology *topology = facts->topology;
	coverage->n_ranks_expected = topology->n_expected_ranks;
	FSL_TRY(FSL_NEW(&out->arena, coverage->missing_ranks, topology->n_expected_ranks, err));
	for (size_t i = 0; i < topology->n_expected_ranks; i++) {
		const struct fsl_rank *rank = fsl_run_rank(facts->run, topology->expected_ranks[i]);
		if (rank == NULL || rank->n_ops == 0) {
			coverage->missing_ranks[coverage->n_missing_ranks++] =
				topology->expected_ranks[i];
		}
	}
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		coverage->n_ranks_seen += facts->run->ranks[r].n_ops > 0;
	}
	return FSL_OK;
}

void fsl_coverage_count_files(struct fsl_coverage *coverage, const struct fsl_run *run)
{
	coverage->n_files = run->n_files;
	coverage->n_files_unusable = coverage->n_files_partial = 0;
	coverage->n_bytes = coverage->n_bytes_before = coverage->n_bytes_behind = 0;
	coverage->n_records = 0;
	memset(coverage->n_dropped, 0, sizeof(coverage->n_dropped));
	for (size_t f = 0; f < run->n_files; f++) {
		const struct fsl_file *file = &run->files[f];
		coverage->n_files_unusable += file->state == FSL_FILE_UNUSABLE ||
					      file->state == FSL_FILE_EMPTY ||
					      file->state == FSL_FILE_DUPLICATE;
		coverage->n_files_partial += file->state == FSL_FILE_PARTIAL;
		coverage->n_bytes += file->n_bytes;
		coverage->n_bytes_before += file->n_bytes_before;
		coverage->n_bytes_behind += file->n_bytes_behind;
		coverage->n_records += file->n_records;
		for (size_t d = 0; d < FSL_DROPS_N; d++) {
			coverage->n_dropped[d] += file->n_dropped[d];
		}
	}
}

static void widen(struct fsl_coverage *coverage, int64_t begin_ns, int64_t end_ns)
{
	if (coverage->begin_ns == FSL_NS_ABSENT || begin_ns < coverage->begin_ns) {
		coverage->begin_ns = begin_ns;
	}
	coverage->end_ns = end_ns > coverage->end_ns ? end_ns : coverage->end_ns;
}

static void measure_time(struct fsl_coverage *coverage, const struct fsl_run *run)
{
	coverage->begin_ns = FSL_NS_ABSENT;
	coverage->end_ns = FSL_NS_ABSENT;
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (rank->n_ops > 0) {
			widen(coverage, fsl_op_begin_ns(&rank->ops[0]),
			      fsl_op_end_ns(&rank->ops[rank->n_ops - 1]));
		}
		if (rank->n_stages > 0) {
			widen(coverage, rank->stages[0].begin_ns,
			      rank->stages[rank->n_stages - 1].end_ns);
		}
	}
}

enum fsl_status fsl_fuse_coverage(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	struct fsl_coverage *coverage = &out->coverage;
	FSL_TRY(count_ranks(out, facts, err));
	fsl_coverage_count_files(coverage, facts->run);
	measure_time(coverage, facts->run);
	coverage->n_steps = facts->steps->n_items;
	coverage->steps_source = facts->steps->source != NULL ? facts->steps->source : "";
	coverage->n_groups = facts->match->n_groups;
	coverage->n_groups_matched = facts->match->n_groups_matched;
	coverage->n_groups_disagreeing = facts->match->n_groups_disagreeing;
	coverage->ends_disagree_ms = facts->match->disagree_max_ms;
	coverage->n_p2p = facts->match->n_p2p;
	coverage->n_p2p_matched = facts->match->n_p2p_matched;
	coverage->n_instances = facts->match->n_instances;
	coverage->n_instances_matched = facts->match->n_instances_matched;
	coverage->clock_offset_max_ms = facts->match->offset_max_ms;
	coverage->clock_residual_ms = facts->match->residual_ms;
	return FSL_OK;
}
