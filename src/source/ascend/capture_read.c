/* Reads a set of profiler folders on threads, and frees it. */
#include "capture/capture.h"

#include <omp.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/try.h"
#include "capture/functions.h"
#include "capture/kept_rows.h"
#include "capture/worker_figures.h"
#include "source/ascend/cross_check.h"
#include "source/ascend/databases.h"
#include "source/ascend/files.h"
#include "source/ascend/find/discover.h"
#include "source/ascend/info.h"
#include "source/ascend/other_runs.h"
#include "source/ascend/settle_calls.h"
#include "source/ascend/trace_sums.h"
#include "source/ascend/unknown_comms.h"
#include "source/kineto/base.h"
#include "source/kineto/read.h"

static enum fsl_status read_rank(struct fsl_profile_rank *rank,
				 const struct fsl_profile_folder *folder,
				 const struct fsl_profile_found_comms *found,
				 const struct fsl_profile_options *options, struct fsl_error *err)
{
	rank->folder = *folder;
	rank->found = found;
	rank->rank = folder->rank;
	rank->info = (struct fsl_profile_info){.level = "",
					       .torch_version = "",
					       .cann_version = "",
					       .host_uid = "",
					       .host_name = "",
					       .n_active_steps = -1};
	rank->trace.begin_ns = rank->trace.end_ns = FSL_NS_ABSENT;
	rank->names = fsl_strpool_create();
	if (rank->names == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	}
	if (options->keeps_rows) {
		FSL_TRY(FSL_NEW(rank->kept, 1, "rows", err));
	}
	if (options->sums_functions && folder->writer == FSL_PROFILE_KINETO) {
		FSL_TRY(FSL_NEW(rank->functions, 1, "functions", err));
		FSL_TRY(FSL_NEW(rank->figures, 1, "figures", err));
	}
	if (folder->writer == FSL_PROFILE_KINETO) {
		FSL_TRY(fsl_kineto_read_rank(rank, options, err));
	} else {
		FSL_TRY(fsl_profile_read_info(rank, err));
		FSL_TRY(fsl_profile_read_files(rank, options, err));
		FSL_TRY(fsl_profile_read_databases(rank, options, err));
	}
	/* Of many ranks the room that these arrays do not use is a quarter of all memory. */
	FSL_FIT(rank->comms, rank->comms_capacity, rank->n_comms);
	FSL_FIT(rank->traffic, rank->traffic_capacity, rank->n_traffic);
	FSL_FIT(rank->packets, rank->packets_capacity, rank->n_packets);
	FSL_FIT(rank->links, rank->links_capacity, rank->n_links);
	FSL_FIT(rank->kernels, rank->kernels_capacity, rank->n_kernels);
	FSL_FIT(rank->samples, rank->samples_capacity, rank->n_samples);
	return FSL_OK;
}

static bool is_wanted(const struct fsl_profile_options *options, int32_t rank)
{
	for (size_t i = 0; i < options->n_ranks; i++) {
		if (options->ranks[i] == rank) {
			return true;
		}
	}
	return options->n_ranks == 0;
}

static int compare_folders(const void *left, const void *right)
{
	const struct fsl_profile_folder *a = left, *b = right;
	return FSL_ORDER(a->rank, b->rank);
}

/* Keeps the folders of the wanted ranks; remarks on wanted ranks that are missing. */
static enum fsl_status keep_wanted(struct fsl_profile *profile,
				   const struct fsl_profile_options *options, struct fsl_error *err)
{
	size_t n_missing = 0, n = 0;
	int32_t first_missing = 0;
	for (size_t i = 0; i < options->n_ranks; i++) {
		const struct fsl_profile_folder wanted = {.rank = options->ranks[i]};
		if (bsearch(&wanted, profile->folders, profile->n_folders, sizeof(wanted),
			    compare_folders) == NULL) {
			first_missing = n_missing == 0 ? wanted.rank : first_missing;
			n_missing++;
		}
	}
	for (size_t i = 0; i < profile->n_folders; i++) {
		if (is_wanted(options, profile->folders[i].rank)) {
			profile->folders[n++] = profile->folders[i];
		}
	}
	profile->has_choice = n < profile->n_folders;
	profile->n_folders = n;
	if (n == 0) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"none of the wanted ranks is there, leave the choice out to see "
				"which are: path=\"%s\"",
				options->path);
	}
	if (n_missing > 0) {
		return fsl_profile_remark(profile, err,
					  "%zu of the wanted ranks are not there, rank %d is the "
					  "first of them",
					  n_missing, (int)first_missing);
	}
	return FSL_OK;
}

static enum fsl_status read_ranks(struct fsl_profile *profile,
				  const struct fsl_profile_options *options, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	size_t n = profile->n_folders, first_failed = n;
	profile->ranks = fsl_calloc(n, sizeof(*profile->ranks));
	if (profile->ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	profile->n_ranks = n;
	int n_threads = options->n_threads > 0 ? options->n_threads : omp_get_max_threads();
	struct fsl_profile_options of_one = *options; /* threads that no other rank wants */
	of_one.n_threads = n > 0 && (size_t)n_threads > n ? (int)((size_t)n_threads / n) : 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
	for (size_t i = 0; i < n; i++) {
		struct fsl_error own_err = {0};
		enum fsl_status own = read_rank(&profile->ranks[i], &profile->folders[i],
						profile->found, &of_one, &own_err);
		if (own != FSL_OK) {
#pragma omp critical(profile)
			if (i < first_failed) {
				first_failed = i;
				status = own;
				*(err != NULL ? err : &own_err) = own_err;
			}
		}
	}
	return status;
}

static void free_ranks(struct fsl_profile *profile)
{
	for (size_t i = 0; i < profile->n_ranks; i++) {
		fsl_profile_rank_fini(&profile->ranks[i]);
	}
	fsl_free(profile->ranks);
	profile->ranks = NULL;
	profile->n_ranks = 0;
}

/* Fails for a set without any wanted step: its output would look like that of an empty set. */
static enum fsl_status check_steps(const struct fsl_profile *profile,
				   const struct fsl_profile_options *options, struct fsl_error *err)
{
	for (size_t i = 0; i < profile->n_ranks; i++) {
		const struct fsl_profile_rank *rank = &profile->ranks[i];
		if (rank->n_steps + rank->n_rebuilt + rank->n_comms + rank->n_kernels > 0) {
			return FSL_OK;
		}
	}
	return options->n_steps == 0
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_INPUT,
				  "none of the wanted steps was captured, leave the choice out to "
				  "see which were: path=\"%s\"",
				  options->path);
}

/* Remarks on folders that hold no usable file; fails if there are no others and one could not be
 * listed. */
static enum fsl_status remark_empty(struct fsl_profile *profile, struct fsl_error *err)
{
	size_t n_empty = 0;
	const struct fsl_profile_rank *first = NULL;
	for (size_t i = 0; i < profile->n_ranks; i++) {
		const struct fsl_profile_rank *rank = &profile->ranks[i];
		if (!rank->has_text && !rank->has_db) {
			first = n_empty == 0 ? rank : first;
			n_empty++;
		}
	}
	if (n_empty == 0) {
		return FSL_OK;
	}
	const char *unlisted = fsl_profile_first_unlisted(first);
	if (unlisted != NULL && n_empty == profile->n_ranks) {
		return FSL_FAIL(err, FSL_ERR_INPUT, "%s", unlisted);
	}
	if (unlisted != NULL) {
		return fsl_profile_remark(profile, err,
					  "%zu of %zu ranks have no file that could be read, rank "
					  "%d is the first of them: %s",
					  n_empty, profile->n_ranks, (int)first->rank, unlisted);
	}
	return fsl_profile_remark(
		profile, err,
		"%zu of %zu ranks have no file that could be read, rank %d is the "
		"first of them: parse \"%s\" again",
		n_empty, profile->n_ranks, (int)first->rank, first->folder.output_path);
}

/* No export of ACK AI Profiling could be had: what is known of its form comes from its manual. */
static enum fsl_status remark_unverified(struct fsl_profile *profile, struct fsl_error *err)
{
	size_t n = 0;
	for (size_t i = 0; i < profile->n_ranks; i++) {
		n += profile->ranks[i].trace.is_unverified;
	}
	return n == 0 ? FSL_OK
		      : fsl_profile_remark(
				profile, err,
				"lanes of %zu ranks were read as ACK AI Profiling writes "
				"them, or by --lane: not verified with real exports",
				n);
}

static enum fsl_status read_set(struct fsl_profile *profile,
				const struct fsl_profile_options *options, struct fsl_error *err)
{
	profile->root = fsl_arena_strdup(&profile->arena, options->path);
	if (profile->root == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", options->path);
	}
	profile->takes_any_trace = options->lanes != NULL;
	FSL_TRY(fsl_profile_discover_all(profile, options->path, options->more_paths,
					 options->n_more_paths, err));
	FSL_TRY(keep_wanted(profile, options, err));
	FSL_TRY(read_ranks(profile, options, err));
	fsl_kineto_share_base(profile);
	FSL_TRY(fsl_profile_find_comms(profile, err));
	if (profile->found != NULL) {
		free_ranks(profile); /* few captures have such kernels */
		FSL_TRY(read_ranks(profile, options, err));
		fsl_kineto_share_base(profile);
	}
	FSL_TRY(fsl_profile_leave_out_runs(profile, err));
	FSL_TRY(check_steps(profile, options, err));
	FSL_TRY(remark_empty(profile, err));
	FSL_TRY(remark_unverified(profile, err));
	FSL_TRY(fsl_profile_settle_calls(profile, err));
	return fsl_profile_cross_check(profile, options->n_steps > 0, err);
}

enum fsl_status fsl_profile_read(struct fsl_profile *out, const struct fsl_profile_options *options,
				 struct fsl_error *err)
{
	*out = (struct fsl_profile){0};
	enum fsl_status status = read_set(out, options, err);
	if (status != FSL_OK) {
		fsl_profile_fini(out);
	}
	return status;
}

void fsl_profile_rank_fini(struct fsl_profile_rank *rank)
{
	fsl_profile_info_fini(&rank->info);
	fsl_trace_sums_destroy(rank->trace.sums);
	fsl_kernel_sums_destroy(rank->kernel_sums);
	fsl_free(rank->trace.ranges);
	fsl_kept_rows_destroy(rank->kept);
	fsl_functions_destroy(rank->functions);
	fsl_worker_figures_destroy(rank->figures);
	fsl_free(rank->shares);
	fsl_free(rank->copies);
	fsl_free(rank->memory);
	fsl_free(rank->operators);
	fsl_free(rank->api_statistics);
	fsl_free(rank->op_statistics);
	fsl_free(rank->gaps);
	fsl_free(rank->kernels);
	fsl_free(rank->calls);
	fsl_free(rank->samples);
	fsl_free(rank->waits);
	fsl_free(rank->links);
	fsl_free(rank->packets);
	fsl_free(rank->traffic);
	fsl_free(rank->comms);
	fsl_free(rank->traced);
	fsl_free(rank->rebuilt);
	fsl_free(rank->steps);
	fsl_free(rank->files);
	fsl_strpool_destroy(rank->names);
	fsl_arena_fini(&rank->arena);
	*rank = (struct fsl_profile_rank){0};
}

void fsl_profile_fini(struct fsl_profile *profile)
{
	free_ranks(profile);
	fsl_free(profile->folders);
	fsl_free(profile->remarks);
	fsl_arena_fini(&profile->arena);
	*profile = (struct fsl_profile){0};
}
