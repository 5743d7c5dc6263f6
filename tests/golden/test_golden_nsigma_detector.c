/* Golden: noise mask, labels, and labels after the alarm filter of the k-sigma detector. */
#include "../../detectors/SlidingWindowKSigmaDetector.c"
#include "golden/golden_view.h"
#include "golden/ksigma_params.h"

static bool check_series(const cJSON *golden, const struct fsl_view *view,
			 const struct params *params)
{
	struct work work = {0};
	size_t n = fsl_view_n_windows(view);
	if (!prepare(view, params, &work) ||
	    !mask_noise(params, fsl_view_column(view, 0).values, n, &work)) {
		return false;
	}
	if (!golden_same_labels("noise_mask", golden_item(golden, "noise_mask"), work.noise, n)) {
		return false;
	}
	memcpy(work.packed, fsl_view_column(view, 0).values, n * sizeof(double));
	label_series(params, n, &work);
	if (!golden_same_labels("labels", golden_item(golden, "labels"), work.labels, n)) {
		return false;
	}
	fsl_filter_runs(work.labels, n, (size_t)params->alarm_filter_window_size, work.labels);
	return golden_same_labels("filtered", golden_item(golden, "filtered"), work.labels, n);
}

static bool check_case(const cJSON *golden)
{
	const cJSON *json = golden_item(golden, "params");
	struct params params = {
		.preprocess_eps = golden_number(json, "preprocess_eps"),
		.preprocess_min_samples = golden_integer(json, "preprocess_min_samples"),
		.alarm_filter_window_size = golden_integer(json, "alarm_filter_window_size"),
	};
	read_method(golden_item(json, "n_sigma_method"), &params);
	struct golden_view made;
	golden_view_from_series(&made, golden_item(golden, "values"));
	bool ok = check_series(golden, &made.view, &params);
	golden_view_fini(&made);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("nsigma_detector.json", check_case, argc, argv);
}
