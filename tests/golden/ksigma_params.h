/* Reads "n_sigma_method" of a golden; included after SlidingWindowKSigmaDetector.c. */
#ifndef TESTS_GOLDEN_KSIGMA_PARAMS_H
#define TESTS_GOLDEN_KSIGMA_PARAMS_H

#include "golden/golden.h"

static inline void read_method(const cJSON *method, struct params *params)
{
	const char *type = golden_item(method, "detect_type")->valuestring;
	params->training_window_size = golden_integer(method, "training_window_size");
	params->min_update_window_size = golden_integer(method, "min_update_window_size");
	params->min_std_val = golden_number(method, "min_std_val");
	params->bias = golden_number(method, "bias");
	params->abs_bias = golden_number(method, "abs_bias");
	params->nsigma_coefficient = golden_number(method, "nsigma_coefficient");
	params->detect_type = BI_BOUND;
	for (int i = 0; detect_type_choices[i] != NULL; i++) {
		if (strcmp(detect_type_choices[i], type) == 0) {
			params->detect_type = i;
		}
	}
	params->min_expert_lower = golden_number(method, "min_expert_lower_bound");
	params->max_expert_lower = golden_number(method, "max_expert_lower_bound");
	params->min_expert_upper = golden_number(method, "min_expert_upper_bound");
	params->max_expert_upper = golden_number(method, "max_expert_upper_bound");
}

#endif
