/* Golden: TSDBSCAN on the raw series, the rolling mean, and labels of the smoothed series. */
#include "../../detectors/TSDBSCANDetector.c"
#include "golden/golden_view.h"

static void read_params(const cJSON *json, struct params *params)
{
	const char *type = golden_item(json, "detect_type")->valuestring;
	params->eps = golden_number(json, "eps");
	params->min_samples = golden_integer(json, "min_samples");
	params->smooth_win = golden_integer(json, "smooth_win");
	params->detect_type = BI_BOUND;
	for (int i = 0; detect_type_choices[i] != NULL; i++) {
		if (strcmp(detect_type_choices[i], type) == 0) {
			params->detect_type = i;
		}
	}
}

static bool check_series(const cJSON *golden, const struct fsl_view *view,
			 const struct params *params)
{
	struct work work = {0};
	struct fsl_column column = fsl_view_column(view, 0);
	size_t n = column.n_windows;
	if (!prepare(view, &work) || !label_series(params, column.values, n, &work) ||
	    !golden_same_labels("labels_no_smoothing", golden_item(golden, "labels_no_smoothing"),
				work.labels, n)) {
		return false;
	}
	smooth_series(column.values, n, params->smooth_win, work.smoothed);
	return golden_same_reals("smoothed", golden_item(golden, "smoothed"), work.smoothed, n) &&
	       label_series(params, work.smoothed, n, &work) &&
	       golden_same_labels("labels", golden_item(golden, "labels"), work.labels, n);
}

static bool check_case(const cJSON *golden)
{
	struct params params = {0};
	read_params(golden_item(golden, "params"), &params);
	struct golden_view made;
	golden_view_from_series(&made, golden_item(golden, "values"));
	bool ok = check_series(golden, &made.view, &params);
	golden_view_fini(&made);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("tsdbscan.json", check_case, argc, argv);
}
