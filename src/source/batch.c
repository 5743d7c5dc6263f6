/*
 * Reads a batch on threads, the largest file first, so that no thread begins a large file last. A
 * thread for which no file is left scans parts of files that other threads read, if their format
 * allows it.
 */
#include "source/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "source/ahead.h"
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

/* Rows of plain CSV are scanned ahead, nothing else (mspti_csv.c offers them). */
static bool can_be_helped(const struct fsl_input *input)
{
	const char *dot = strrchr(input->name, '.');
	return dot != NULL && strcmp(dot, ".csv") == 0;
}

void fsl_batch_order_to_read(const struct fsl_load *loads, size_t n_loads, size_t *order)
{
	size_t by_size[FSL_BATCH_FILES] = {0};
	size_t n = 0;
	fsl_batch_order(loads, n_loads, by_size);
	for (int is_helped = 0; is_helped <= 1; is_helped++) {
		for (size_t i = 0; i < n_loads; i++) {
			if (can_be_helped(loads[by_size[i]].input) == (is_helped != 0)) {
				order[n++] = by_size[i];
			}
		}
	}
}

/* Number of scanned parts that may be in memory: one for each thread, and some that wait for their
 * readers. The number is bounded per file, as readers could not follow: to scan a part takes twice
 * as long as its reader needs for it. */
static size_t parts_ahead(size_t n_loads, int n_threads)
{
	enum { WAITING = 2, PER_FILE = 6 };
	size_t n_wanted = n_threads > 1 ? (size_t)n_threads + WAITING : 0;
	return n_wanted < n_loads * PER_FILE ? n_wanted : n_loads * PER_FILE;
}

enum fsl_status fsl_batch_read(struct fsl_load *loads, size_t n_loads, int64_t from_ns,
			       int64_t to_ns, int n_threads, struct fsl_error *err)
{
	size_t order[FSL_BATCH_FILES] = {0};
	bool is_failed = false;
	fsl_batch_order_to_read(loads, n_loads, order);
	struct fsl_ahead *ahead =
		fsl_ahead_create(n_loads, parts_ahead(n_loads, n_threads), FSL_AHEAD_PART_BYTES);
#pragma omp parallel num_threads(n_threads) reduction(|| : is_failed)
	{
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t i = 0; i < n_loads; i++) {
			struct fsl_load *load = &loads[order[i]];
			load->ahead = ahead;
			bool is_read = load->place != 0 ||
				       fsl_load_read(load, from_ns, to_ns, NULL) == FSL_OK;
			is_failed = is_failed || !is_read;
			load->ahead = NULL;
			if (is_read && load->answer != NULL) {
				fsl_load_pack_answer(load);
			}
			fsl_ahead_note_done(ahead);
		}
		fsl_ahead_help(ahead);
	}
	fsl_ahead_destroy(ahead);
	if (is_failed) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory while reading: files=%zu",
				n_loads);
	}
	return FSL_OK;
}
