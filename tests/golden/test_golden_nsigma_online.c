/* Golden: bounds, labels, training window and its cursor, point by point. */
#include "../../detectors/SlidingWindowKSigmaDetector.c"
#include "golden/ksigma_params.h"

static bool check_steps(const cJSON *golden, struct training *training, const struct params *params)
{
	size_t n = 0;
	double *values = golden_reals(golden_item(golden, "values"), &n);
	double *noisy = golden_reals(golden_item(golden, "noisy"), &n);
	double *lower = calloc(n + 1, sizeof(*lower));
	double *upper = calloc(n + 1, sizeof(*upper));
	uint8_t *labels = calloc(n + 1, 1);
	for (size_t i = 0; i < n; i++) {
		struct bounds bounds;
		labels[i] = judge_online(training, params, values[i], noisy[i] > 0.0, &bounds);
		lower[i] = bounds.lower;
		upper[i] = bounds.upper;
	}
	bool ok = golden_same_labels("labels", golden_item(golden, "labels"), labels, n) &&
		  golden_same_reals("lower", golden_item(golden, "lower"), lower, n) &&
		  golden_same_reals("upper", golden_item(golden, "upper"), upper, n);
	free(labels);
	free(upper);
	free(lower);
	free(noisy);
	free(values);
	return ok;
}

static bool check_case(const cJSON *golden)
{
	struct params params = {0};
	read_method(golden_item(golden, "params"), &params);
	size_t capacity = (size_t)params.training_window_size;
	struct training training = {.values = calloc(capacity, sizeof(double)),
				    .sorted = calloc(capacity, sizeof(double)),
				    .capacity = capacity};
	bool ok = check_steps(golden, &training, &params) &&
		  golden_same_reals("final_buffer", golden_item(golden, "final_buffer"),
				    training.values, training.n) &&
		  golden_same_real("final_cursor", golden_number(golden, "final_cursor"),
				   (double)training.cursor);
	free(training.sorted);
	free(training.values);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("nsigma_online.json", check_case, argc, argv);
}
