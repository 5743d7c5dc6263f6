/* Reads a batch on threads, the largest file first, so that no thread begins a large file last. */
#include "source/batch.h"

#include <stdlib.h>

#include "base/log.h"
#include "source/load_pack.h"

struct size_order {
	uint64_t n_bytes;
	size_t idx;
};

static int compare_sizes(const void *left, const void *right)
{
	const struct size_order *a = left, *b = right;
	int order = (a->n_bytes < b->n_bytes) - (a->n_bytes > b->n_bytes);
	return order != 0 ? order : (a->idx > b->idx) - (a->idx < b->idx);
}

void fsl_batch_order(const struct fsl_load *loads, size_t n_loads, size_t *order)
{
	struct size_order items[FSL_BATCH_FILES] = {{0, 0}};
	FSL_REQUIRE(n_loads <= FSL_BATCH_FILES);
	for (size_t i = 0; i < n_loads; i++) {
		items[i] = (struct size_order){loads[i].input->n_bytes, i};
	}
	qsort(items, n_loads, sizeof(items[0]), compare_sizes);
	for (size_t i = 0; i < n_loads; i++) {
		order[i] = items[i].idx;
	}
}

enum fsl_status fsl_batch_read(struct fsl_load *loads, size_t n_loads, int64_t from_ns,
			       int64_t to_ns, int n_threads, struct fsl_error *err)
{
	size_t order[FSL_BATCH_FILES] = {0};
	bool is_failed = false;
	fsl_batch_order(loads, n_loads, order);
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads) reduction(|| : is_failed)
	for (size_t i = 0; i < n_loads; i++) {
		struct fsl_load *load = &loads[order[i]];
		bool is_read =
			load->place != 0 || fsl_load_read(load, from_ns, to_ns, NULL) == FSL_OK;
		is_failed = is_failed || !is_read;
		if (is_read && load->answer != NULL) {
			fsl_load_pack_answer(load);
		}
	}
	if (is_failed) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory while reading: files=%zu",
				n_loads);
	}
	return FSL_OK;
}
