/*
 * Golden: windows of operator times. The reference rounds nanoseconds to double before it
 * subtracts, so that values and times agree to 1e-3 ms only.
 */
#include "detect/kpi_series.h"
#include "golden/golden.h"

#define TIME_TOLERANCE_MS 1e-3

/* "percentile_q-90", as the reference names the series. */
static void fill_func(struct fsl_agg_func *func, char *suffix, size_t size, const cJSON *json)
{
	const char *name = golden_item(json, "func")->valuestring;
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(json, "func_params");
	*func = (struct fsl_agg_func){.agg = (enum fsl_agg)fsl_agg_from_name(name)};
	snprintf(suffix, size, "%s", name);
	if (params != NULL) {
		func->q = golden_number(params, "q");
		snprintf(suffix, size, "%s_q-%g", name, func->q);
	}
}

static bool is_near(double expected, double actual)
{
	return fabs(expected - actual) <= TIME_TOLERANCE_MS;
}

/* The windows that have samples against the golden's packed series. */
static bool same_series(const cJSON *expected, const struct fsl_windows *windows)
{
	const cJSON *times = golden_item(expected, "timestamp_ms");
	const cJSON *values = golden_item(expected, "value");
	size_t n_points = 0;
	for (size_t w = 0; w < windows->n_windows; w++) {
		if (isnan(windows->values[w])) {
			continue;
		}
		int i = (int)n_points++;
		double time_ms = (double)windows->first_ns[w] / 1e6;
		if (i >= cJSON_GetArraySize(values) ||
		    !is_near(golden_real(cJSON_GetArrayItem(times, i)), time_ms) ||
		    !is_near(golden_real(cJSON_GetArrayItem(values, i)), windows->values[w])) {
			printf("point %d: got time_ms=%.4f, value=%.6f\n", i, time_ms,
			       windows->values[w]);
			return false;
		}
	}
	return (int)n_points == cJSON_GetArraySize(values);
}

/* One rank "0" whose operators are the golden's. */
static bool fill_run(struct fsl_run *run, const cJSON *golden)
{
	uint32_t op_id = 0, group_id = 0;
	size_t n = 0, n_ends = 0;
	double *begins = golden_reals(golden_item(golden, "start_ns"), &n);
	double *ends = golden_reals(golden_item(golden, "end_ns"), &n_ends);
	struct fsl_rank *rank = NULL;
	bool ok = n == n_ends && fsl_run_init(run, NULL) == FSL_OK &&
		  fsl_strpool_intern(run->names, "m", 1, &op_id, NULL) == FSL_OK &&
		  fsl_strpool_intern(run->names, "group", 5, &group_id, NULL) == FSL_OK &&
		  (rank = fsl_run_add_rank(run, 0, NULL)) != NULL &&
		  FSL_GROW(rank->ops, rank->ops_capacity, n, NULL) == FSL_OK;
	for (size_t i = 0; ok && i < n; i++) {
		rank->ops[rank->n_ops++] = (struct fsl_op){
			.host_begin_ns = FSL_NS_ABSENT,
			.host_end_ns = FSL_NS_ABSENT,
			.dev_begin_ns = (int64_t)begins[i],
			.dev_end_ns = (int64_t)ends[i],
			.id = i,
			.op_id = op_id,
			.group_id = group_id,
		};
	}
	free(begins);
	free(ends);
	return ok;
}

static bool check_case(const cJSON *golden)
{
	struct fsl_run run = {0};
	char suffixes[FSL_AGG_FUNCS_MAX][64];
	struct fsl_metric_config metric = {
		.name = "m",
		.op_name = "m",
		.during_s = golden_number(golden, "during_s"),
	};
	const cJSON *func = NULL;
	cJSON_ArrayForEach(func, golden_item(golden, "funcs"))
	{
		fill_func(&metric.funcs[metric.n_funcs], suffixes[metric.n_funcs],
			  sizeof(suffixes[0]), func);
		metric.n_funcs++;
	}
	struct fsl_windows windows[FSL_AGG_FUNCS_MAX] = {0};
	const int32_t ranks[] = {0};
	uint32_t op_ids[1];
	size_t n_outside = 0;
	bool ok = fill_run(&run, golden) && fsl_kpi_op_ids(&run, "m", op_ids, 1) == 1;
	struct fsl_kpi_request request = {.run = &run,
					  .metric = &metric,
					  .op_ids = op_ids,
					  .n_op_ids = 1,
					  .group_id = 1,
					  .ranks = ranks,
					  .n_ranks = 1};
	ok = ok && fsl_kpi_build(windows, &request, &n_outside, NULL) == FSL_OK && n_outside == 0;
	for (size_t f = 0; ok && f < metric.n_funcs; f++) {
		char name[80];
		snprintf(name, sizeof(name), "m!%s", suffixes[f]);
		const char *key = metric.n_funcs > 1 ? name : "m";
		ok = same_series(golden_item(golden_item(golden, "result"), key), &windows[f]);
		fsl_windows_fini(&windows[f]);
	}
	fsl_run_fini(&run);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("aggregation.json", check_case, argc, argv);
}
