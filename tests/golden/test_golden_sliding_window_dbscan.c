/* Golden: distances of the last block, and labels of all windows, of SlidingWindowDBSCAN. */
#include "../../detectors/SlidingWindowDBSCAN.c"
#include "golden/golden_view.h"

static void read_params(const cJSON *json, struct params *params)
{
	params->eps = golden_number(json, "eps");
	params->cv_threshold = golden_number(json, "cv_threshold");
	params->min_samples = golden_integer(json, "min_samples");
	params->window_size = golden_integer(json, "window_size");
	params->scaling = cJSON_IsTrue(golden_item(json, "scaling"));
	params->smooth = cJSON_IsTrue(golden_item(json, "smooth"));
}

/* label_matrix leaves the smoothed and scaled matrix behind, so the last block can be measured. */
static bool check_last_block(const cJSON *golden, const struct params *params, struct work *work)
{
	size_t n = work->n_members;
	size_t size = (size_t)params->window_size;
	const cJSON *rows = golden_item(golden, "last_window_similarity");
	if (!cJSON_IsArray(rows) || work->n_windows < size) {
		return true;
	}
	memset(work->rows, 0, n * n * sizeof(*work->rows));
	measure_rows(work, work->n_windows - size, size);
	size_t p = 0;
	const cJSON *row = NULL;
	cJSON_ArrayForEach(row, rows)
	{
		if (!golden_same_reals("similarity", row, work->rows + p++ * n, n)) {
			return false;
		}
	}
	return true;
}

static bool check_case(const cJSON *golden)
{
	struct params params = {0};
	read_params(golden_item(golden, "params"), &params);
	struct golden_view made;
	golden_view_from_rows(&made, golden_item(golden, "values_time_by_node"));
	struct work work = {0};
	bool ok = prepare(&made.view, &params, &work);
	if (ok) {
		fill_matrix(&made.view, &work);
		ok = label_matrix(&params, &work) && check_last_block(golden, &params, &work) &&
		     golden_same_rows(golden_item(golden, "labels_time_by_node"), work.labels,
				      work.n_members, work.n_windows);
	}
	golden_view_fini(&made);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("sliding_window_dbscan.json", check_case, argc, argv);
}
