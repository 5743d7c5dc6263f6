/* Golden: labels of DBSCAN, exactly. */
#include <failslow/stats.h>

#include "golden/golden.h"

static bool check_case(const cJSON *golden)
{
	const cJSON *rows = golden_item(golden, "X");
	size_t n = (size_t)cJSON_GetArraySize(rows);
	size_t dim = (size_t)cJSON_GetArraySize(rows->child);
	double *points = calloc(n * dim, sizeof(*points));
	size_t i = 0;
	const cJSON *row = NULL;
	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *item = NULL;
		cJSON_ArrayForEach(item, row)
		{
			points[i++] = item->valuedouble;
		}
	}
	int32_t *labels = calloc(n, sizeof(*labels));
	bool ok = fsl_dbscan(points, n, dim, golden_number(golden, "eps"),
			     (size_t)golden_integer(golden, "min_samples"), labels);
	for (i = 0; ok && i < n; i++) {
		int expected = cJSON_GetArrayItem(golden_item(golden, "labels"), (int)i)->valueint;
		if (expected != labels[i]) {
			printf("labels[%zu]: expected %d, got %d\n", i, expected, (int)labels[i]);
			ok = false;
		}
	}
	free(labels);
	free(points);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("dbscan.json", check_case, argc, argv);
}
