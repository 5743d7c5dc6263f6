/* Golden: percentiles, mean, median, standard deviation and sum, as in numpy. */
#include <failslow/stats.h>

#include "golden/golden.h"

static bool check_aggregates(const cJSON *golden, const double *values, size_t n, double *scratch)
{
	static const char *const names[] = {"min", "max", "mean", "median", "std", "sum"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int agg = fsl_agg_from_name(names[i]);
		double actual = fsl_agg_apply((enum fsl_agg)agg, 0.0, values, n, scratch);
		if (!golden_same_real(names[i], golden_number(golden, names[i]), actual)) {
			return false;
		}
	}
	return true;
}

static bool check_case(const cJSON *golden)
{
	size_t n = 0;
	double *values = golden_reals(golden_item(golden, "values"), &n);
	double *scratch = calloc(n + 1, sizeof(*scratch));
	bool ok = check_aggregates(golden, values, n, scratch);
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, golden_item(golden, "q"))
	{
		double q = strtod(item->string, NULL);
		ok = ok && golden_same_real(item->string, item->valuedouble,
					    fsl_percentile(values, n, q, scratch));
	}
	free(scratch);
	free(values);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("percentiles.json", check_case, argc, argv);
}
