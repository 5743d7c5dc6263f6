/* Golden: runs of ones shorter than the window are dropped. */
#include <failslow/stats.h>

#include "golden/golden.h"

static bool check_case(const cJSON *golden)
{
	size_t n = 0;
	double *values = golden_reals(golden_item(golden, "labels"), &n);
	uint8_t *labels = calloc(n + 1, 1);
	for (size_t i = 0; i < n; i++) {
		labels[i] = values[i] > 0.0 ? 1 : 0;
	}
	fsl_filter_runs(labels, n, (size_t)golden_integer(golden, "window"), labels);
	bool ok = golden_same_labels("filtered", golden_item(golden, "filtered"), labels, n);
	free(labels);
	free(values);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("alarm_filter.json", check_case, argc, argv);
}
