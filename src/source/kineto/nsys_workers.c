/* One pass over the kernels. */
#include "source/kineto/nsys_workers.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/strpool.h"
#include "base/try.h"
#include "source/database.h"

enum {
	HELPER_SHARE =
		10 /* of the kernels of the greatest process a helper runs less than a 10th */
};

enum { PROCESS, DEVICE, COLUMNS_N };
static const struct fsl_db_column columns[COLUMNS_N] = {
	[PROCESS] = {{"globalPid"}, true, 0},
	[DEVICE] = {{"deviceId"}, false, 0},
};
static const struct fsl_db_select kernels = {
	{"CUPTI_ACTIVITY_KIND_KERNEL"}, NULL, columns, COLUMNS_N, ""};
/* The process of a rank's thread. */
static const struct fsl_db_column rank_columns[] = {{{"globalTid", "globalPid"}, true, 0},
						    {{"rank"}, true, 0}};
static const struct fsl_db_select ranks = {{"MPI_RANKS"}, NULL, rank_columns, 2, ""};

static struct fsl_nsys_worker *find(struct fsl_nsys_workers *workers, int64_t process)
{
	for (size_t i = 0; i < workers->n; i++) {
		if (workers->items[i].process == process) {
			return &workers->items[i];
		}
	}
	return NULL;
}

static enum fsl_status add_kernel(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct fsl_nsys_workers *workers = context;
	int64_t process = -1, device = -1;
	(void)err;
	if (!fsl_db_i64(rows, PROCESS, &process)) {
		return FSL_OK;
	}
	process >>= FSL_NSYS_THREAD_BITS;
	struct fsl_nsys_worker *worker = find(workers, process);
	if (worker == NULL) {
		if (workers->n == FSL_NSYS_WORKERS_MAX) {
			return FSL_OK;
		}
		worker = &workers->items[workers->n++];
		*worker = (struct fsl_nsys_worker){.process = process, .device = -1, .rank = -1};
	}
	worker->n_kernels++;
	if (fsl_db_i64(rows, DEVICE, &device) && device >= 0) {
		worker->device =
			worker->device < 0 || device < worker->device ? device : worker->device;
	}
	return FSL_OK;
}

static enum fsl_status add_rank(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	int64_t thread = 0, rank = -1;
	(void)err;
	if (fsl_db_i64(rows, 0, &thread) && fsl_db_i64(rows, 1, &rank) && rank >= 0) {
		struct fsl_nsys_worker *worker = find(context, thread >> FSL_NSYS_THREAD_BITS);
		if (worker != NULL) {
			worker->rank = rank;
		}
	}
	return FSL_OK;
}

static void leave_out_helpers(struct fsl_nsys_workers *workers)
{
	int64_t most = 0;
	size_t n = 0;
	for (size_t i = 0; i < workers->n; i++) {
		int64_t n_kernels = workers->items[i].n_kernels;
		most = n_kernels > most ? n_kernels : most;
	}
	for (size_t i = 0; i < workers->n; i++) {
		if (workers->items[i].n_kernels >= most / HELPER_SHARE) {
			workers->items[n++] = workers->items[i];
		}
	}
	workers->n = n;
}

static int compare_ranks(const void *left, const void *right)
{
	const struct fsl_nsys_worker *a = left, *b = right;
	FSL_ORDER_BY(a->rank, b->rank);
	return FSL_ORDER(a->process, b->process);
}

static int compare_devices(const void *left, const void *right)
{
	const struct fsl_nsys_worker *a = left, *b = right;
	FSL_ORDER_BY(a->device, b->device);
	return FSL_ORDER(a->process, b->process);
}

static int compare_numbers(const void *left, const void *right)
{
	const struct fsl_nsys_worker *a = left, *b = right;
	return FSL_ORDER(a->process, b->process);
}

static void sort(struct fsl_nsys_workers *workers)
{
	bool has_ranks = true, has_devices = true;
	qsort(workers->items, workers->n, sizeof(workers->items[0]), compare_ranks);
	for (size_t i = 0; i < workers->n; i++) {
		has_ranks &= workers->items[i].rank > (i > 0 ? workers->items[i - 1].rank : -1);
	}
	if (has_ranks) {
		workers->order = FSL_NSYS_BY_RANK;
		return;
	}
	qsort(workers->items, workers->n, sizeof(workers->items[0]), compare_devices);
	for (size_t i = 0; i < workers->n; i++) {
		has_devices &=
			workers->items[i].device > (i > 0 ? workers->items[i - 1].device : -1);
	}
	workers->order = has_devices ? FSL_NSYS_BY_DEVICE : FSL_NSYS_BY_NUMBER;
	if (!has_devices) {
		qsort(workers->items, workers->n, sizeof(workers->items[0]), compare_numbers);
	}
}

enum fsl_status fsl_nsys_workers_list(struct fsl_nsys_workers *workers, const char *path,
				      struct fsl_error *err)
{
	struct fsl_profile_rank rank = {0};
	struct fsl_file file = {.path = path, .message = ""};
	struct fsl_db *db = NULL;
	workers->n = 0;
	rank.names = fsl_strpool_create();
	enum fsl_status status = FSL_MADE(rank.names, 1, "names", err);
	FSL_THEN(status, fsl_db_open(&db, &rank, &file, err));
	if (db != NULL) {
		FSL_THEN(status, fsl_db_read(db, &kernels, add_kernel, workers, err));
		if (workers->n > 1) {
			leave_out_helpers(workers);
			FSL_THEN(status, fsl_db_read(db, &ranks, add_rank, workers, err));
		}
		sort(workers);
	}
	fsl_db_close(db);
	fsl_strpool_destroy(rank.names);
	fsl_arena_fini(&rank.arena);
	return status;
}
