/* A view for golden tests that drive a detector's static functions or its scan(). */
#ifndef TESTS_GOLDEN_VIEW_H
#define TESTS_GOLDEN_VIEW_H

#include "golden/golden.h"
#include "model/windows.h"

/* Owns its windows and scratch memory; end with golden_view_fini. */
struct golden_view {
	struct fsl_windows windows;
	struct fsl_arena scratch;
	struct fsl_view view;
};

static inline void golden_view_init(struct golden_view *made, size_t n_members, size_t n_windows)
{
	*made = (struct golden_view){0};
	if (fsl_windows_init(&made->windows, FSL_METRIC_EXEC, FSL_WINDOW_TIME, n_members, n_windows,
			     NULL) != FSL_OK) {
		exit(1);
	}
	for (size_t m = 0; m < n_members; m++) {
		made->windows.ranks[m] = (int32_t)m;
	}
	made->view = (struct fsl_view){&made->windows, &made->scratch};
}

/* One member from an array of numbers. */
static inline void golden_view_from_series(struct golden_view *made, const cJSON *values)
{
	golden_view_init(made, 1, (size_t)cJSON_GetArraySize(values));
	size_t w = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, values)
	{
		made->windows.values[w++] = golden_real(item);
	}
}

/* Rows are windows, columns are members. */
static inline void golden_view_from_rows(struct golden_view *made, const cJSON *rows)
{
	size_t n_windows = (size_t)cJSON_GetArraySize(rows);
	golden_view_init(made, (size_t)cJSON_GetArraySize(rows->child), n_windows);
	size_t w = 0;
	const cJSON *row = NULL;
	cJSON_ArrayForEach(row, rows)
	{
		size_t m = 0;
		const cJSON *item = NULL;
		cJSON_ArrayForEach(item, row)
		{
			made->windows.values[m++ * n_windows + w] = golden_real(item);
		}
		w++;
	}
}

/* Labels that are member major against rows of numbers that are window major. */
static inline bool golden_same_rows(const cJSON *rows, const uint8_t *labels, size_t n_members,
				    size_t n_windows)
{
	size_t w = 0;
	const cJSON *row = NULL;
	cJSON_ArrayForEach(row, rows)
	{
		for (size_t m = 0; m < n_members; m++) {
			int expected = cJSON_GetArrayItem(row, (int)m)->valueint;
			if (expected != (int)labels[m * n_windows + w]) {
				printf("window %zu member %zu: expected %d\n", w, m, expected);
				return false;
			}
		}
		w++;
	}
	return w == n_windows;
}

static inline void golden_view_fini(struct golden_view *made)
{
	fsl_arena_fini(&made->scratch);
	fsl_windows_fini(&made->windows);
}

#endif
