/* Golden: labels of OuterDataDetector. */
#include "../../detectors/OuterDataDetector.c"
#include "golden/golden_view.h"

static void read_params(const cJSON *json, struct params *params)
{
	params->first_gap_rate = golden_number(json, "first_gap_rate");
	params->second_gap_rate = golden_number(json, "second_gap_rate");
	params->base_threshold = golden_number(json, "base_threshold");
	params->discrete_rate = golden_number(json, "discrete_rate");
	params->nsigma_coefficient = golden_number(json, "nsigma_coefficient");
	params->discrete_point_suppression_ratio =
		golden_number(json, "discrete_point_suppression_ratio");
	params->non_major_anomaly_suppression =
		golden_number(json, "non_major_anomaly_suppression");
}

static bool check_case(const cJSON *golden)
{
	struct params params = {0};
	read_params(golden_item(golden, "params"), &params);
	struct golden_view made;
	golden_view_from_rows(&made, golden_item(golden, "values_time_by_node"));
	struct work work = {0};
	bool ok = prepare(&made.view, &work);
	if (ok) {
		label_matrix(&params, &made.view, &work);
		ok = golden_same_rows(golden_item(golden, "labels_time_by_node"), work.labels,
				      work.n_members, work.n_windows);
	}
	golden_view_fini(&made);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("outer_data_detector.json", check_case, argc, argv);
}
