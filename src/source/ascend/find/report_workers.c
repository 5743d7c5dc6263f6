/* Reports of Nsight Systems that hold several ranks of a host. */
#include <string.h>
#include <strings.h>

#include "base/try.h"
#include "source/ascend/find/discover_parts.h"
#include "source/kineto/find.h"
#include "source/kineto/nsys_workers.h"

static bool is_export(const char *name)
{
	static const char end[] = ".sqlite";
	size_t n = strlen(name), n_end = sizeof(end) - 1;
	return n >= n_end && strcasecmp(name + n - n_end, end) == 0;
}

static const struct fsl_nsys_worker *greatest(const struct fsl_nsys_workers *workers)
{
	const struct fsl_nsys_worker *most = &workers->items[0];
	for (size_t i = 1; i < workers->n; i++) {
		most = workers->items[i].n_kernels > most->n_kernels ? &workers->items[i] : most;
	}
	return most;
}

static enum fsl_status remark(struct fsl_search *search, const struct fsl_candidate *item,
			      const struct fsl_nsys_workers *workers, struct fsl_error *err)
{
	static const char *const orders[] = {
		[FSL_NSYS_BY_RANK] = "the ranks of MPI that it tells",
		[FSL_NSYS_BY_DEVICE] = "ranks in the order of their devices",
		[FSL_NSYS_BY_NUMBER] = "ranks in the order of their process numbers",
	};
	return fsl_search_remark(search, FSL_DISCOVER_WORKERS, err,
				 "\"%s\" holds %zu processes that ran kernels: they are %s",
				 item->folder.file, workers->n, orders[workers->order]);
}

static enum fsl_status split(struct fsl_search *search, const struct fsl_nsys_workers *workers,
			     struct fsl_error *err)
{
	struct fsl_candidate first = search->items[search->n_items - 1];
	if (workers->n == 0) {
		return FSL_OK;
	}
	/* The name tells one rank: the other processes are none. */
	bool is_one = workers->n == 1 || fsl_kineto_rank_by_word(first.folder.file) >= 0;
	if (is_one) {
		search->items[search->n_items - 1].folder.process = greatest(workers)->process;
		return FSL_OK;
	}
	search->n_items--;
	FSL_TRY(FSL_GROW(search->items, search->capacity, search->n_items + workers->n, err));
	for (size_t i = 0; i < workers->n; i++) {
		struct fsl_candidate *item = &search->items[search->n_items++];
		*item = first;
		item->folder.process = workers->items[i].process;
		item->folder.is_of_several = true;
		item->n_workers = workers->n;
		item->worker = i;
		item->mpi_rank = workers->order == FSL_NSYS_BY_RANK ? workers->items[i].rank : -1;
	}
	return remark(search, &first, workers, err);
}

enum fsl_status fsl_search_split_report(struct fsl_search *search, const char *path,
					struct fsl_error *err)
{
	struct fsl_nsys_workers *workers = NULL;
	if (!is_export(search->items[search->n_items - 1].folder.file)) {
		return FSL_OK;
	}
	FSL_TRY(FSL_NEW(workers, 1, "processes", err));
	enum fsl_status status = fsl_nsys_workers_list(workers, path, err);
	FSL_THEN(status, split(search, workers, err));
	fsl_free(workers);
	return status;
}

int64_t fsl_search_rank_in_report(const struct fsl_search *search, const struct fsl_candidate *item)
{
	enum { HOSTS_MAX = 1 << 16 };
	int64_t number = fsl_kineto_rank_of_name(item->folder.file);
	bool has_others = false, is_alike = number >= 0 && number < HOSTS_MAX;
	for (size_t i = 0; i < search->n_items && is_alike; i++) {
		const struct fsl_candidate *other = &search->items[i];
		if (other->folder.file == NULL || other->folder.writer != FSL_PROFILE_KINETO) {
			continue;
		}
		is_alike = other->n_workers == item->n_workers &&
			   fsl_kineto_rank_of_name(other->folder.file) >= 0;
		has_others |= strcmp(other->folder.file, item->folder.file) != 0;
	}
	return is_alike && has_others ? number * (int64_t)item->n_workers + (int64_t)item->worker
				      : -1;
}
