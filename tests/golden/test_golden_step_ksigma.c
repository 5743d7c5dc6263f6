/* Golden: alarmed steps, their degree and the mean before them, of the step k-sigma. */
#include "../../detectors/StepKSigma.c"
#include "golden/golden_view.h"

/* Degrees are rounded to 3 digits in the reference; "1579ms" is a whole number of ms. */
static bool check_step(const cJSON *info, const double *steps, size_t i, struct band band)
{
	double degree = (steps[i] - band.mean) / band.mean;
	double expected = golden_number(info, "anomaly_degree");
	const char *time = golden_item(info, "anomaly_training_time")->valuestring;
	const char *normal = golden_item(info, "normal_training_time")->valuestring;
	if (golden_integer(info, "training_step") != (int64_t)i ||
	    fabs(degree - expected) > 0.0005 + 1e-9) {
		printf("step %zu: degree %.17g, expected step %d degree %g\n", i, degree,
		       golden_item(info, "training_step")->valueint, expected);
		return false;
	}
	return golden_same_real("time", strtod(time, NULL), steps[i]) &&
	       golden_same_real("normal", strtod(normal, NULL), band.mean);
}

static bool check_series(const cJSON *golden, const double *steps, size_t n)
{
	const cJSON *json = golden_item(golden, "params");
	const cJSON *result = golden_item(golden, "result");
	const cJSON *info = golden_item(result, "anomaly_info")->child;
	struct params params = {golden_integer(json, "steps_window_size"),
				golden_number(json, "k_sigma"),
				golden_number(json, "anomaly_degree_thr")};
	int n_alarmed = 0;
	for (size_t i = (size_t)params.steps_window_size; i < n; i++) {
		struct band band;
		if (!judge_step(&params, steps, n, i, &band)) {
			continue;
		}
		n_alarmed++;
		if (info == NULL || !check_step(info, steps, i, band)) {
			return false;
		}
		info = info->next;
	}
	return golden_same_real("anomaly_count_times", golden_number(result, "anomaly_count_times"),
				n_alarmed);
}

static bool check_case(const cJSON *golden)
{
	size_t n = 0;
	double *steps = golden_reals(golden_item(golden, "step_time_ms"), &n);
	bool ok = check_series(golden, steps, n);
	free(steps);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("step_ksigma.json", check_case, argc, argv);
}
