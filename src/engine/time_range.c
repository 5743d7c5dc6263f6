/* Chooses the time range from options, keys or the last failSlow result. */
#include "engine/time_range.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"

static const char RESULT_PREFIX[] = "fail_slow_perception_result_failSlow_";

/* Unix seconds in the name of a result; -1: the name is no result's. */
static int64_t seconds_of(const char *name)
{
	size_t n_prefix = sizeof(RESULT_PREFIX) - 1;
	const char *end = strstr(name, ".json");
	int64_t seconds = -1;
	if (strncmp(name, RESULT_PREFIX, n_prefix) != 0 || end == NULL || end[5] != '\0' ||
	    !fsl_parse_i64(name + n_prefix, (size_t)(end - name) - n_prefix, &seconds)) {
		return -1;
	}
	return seconds;
}

static bool read_times(const char *path, struct fsl_time_range *range)
{
	char *text = NULL;
	size_t length = 0;
	struct fsl_error err = {0};
	if (fsl_file_read_text(path, &text, &length, &err) != FSL_OK) {
		fsl_log(FSL_LOG_WARNING, "time_range", "%s", fsl_error_root(&err));
		return false;
	}
	cJSON *json = cJSON_ParseWithLength(text, length);
	const cJSON *start = cJSON_GetObjectItemCaseSensitive(json, "start_time");
	const cJSON *end = cJSON_GetObjectItemCaseSensitive(json, "end_time");
	/* Milliseconds since 1970 fit a double exactly. */
	bool is_good = cJSON_IsNumber(start) && cJSON_IsNumber(end) && start->valuedouble >= 0.0 &&
		       end->valuedouble >= start->valuedouble && end->valuedouble < 9.0e12;
	if (is_good) {
		range->from_ns = (int64_t)start->valuedouble * FSL_NS_PER_MS;
		range->to_ns = ((int64_t)end->valuedouble + 1) * FSL_NS_PER_MS - 1;
	} else {
		fsl_log(FSL_LOG_WARNING, "time_range",
			"no usable start_time and end_time, remove the file or run again: path=\"%s\"",
			path);
	}
	cJSON_Delete(json);
	fsl_free(text);
	return is_good;
}

/* Newest failSlow result that can be read; results are tried from the newest back. */
static bool from_last_fail_slow(const char *folder, struct fsl_time_range *range)
{
	char **names = NULL;
	size_t n_names = 0;
	bool is_found = false;
	if (fsl_dir_list(folder, &names, &n_names, NULL) != FSL_OK) {
		return false;
	}
	for (int64_t below = INT64_MAX; !is_found;) {
		size_t newest = SIZE_MAX;
		int64_t newest_s = -1;
		for (size_t i = 0; i < n_names; i++) {
			int64_t seconds = seconds_of(names[i]);
			if (seconds > newest_s && seconds < below) {
				newest_s = seconds;
				newest = i;
			}
		}
		if (newest == SIZE_MAX) {
			break;
		}
		char *path = fsl_path_join(folder, names[newest]);
		is_found = path != NULL && read_times(path, range);
		fsl_free(path);
		below = newest_s;
	}
	fsl_free(names);
	return is_found;
}

struct fsl_time_range fsl_time_range_of(const struct fsl_config *config)
{
	struct fsl_time_range range = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .source = "all"};
	if (config->has_range) {
		range.from_ns = config->range_begin_ns;
		range.to_ns = config->range_end_ns;
		range.holds_for_steps = true;
		range.source = "options or slow_node_detection_range_times";
	} else if (config->with_fail_slow) {
		bool is_found = from_last_fail_slow(config->fail_slow_perception_path, &range);
		range.source = is_found ? "last failSlow result" : "all";
		range.is_waiting_for_fail_slow = !is_found;
	} else if (config->filter_data_by_timestamp) {
		double span_ns =
			config->slow_node_detection_time_span_hours * 3600.0 * (double)FSL_NS_PER_S;
		range.to_ns = config->now_ns;
		range.from_ns = config->now_ns - (int64_t)llround(span_ns);
		range.source = "slow_node_detection_time_span_hours";
	}
	return range;
}
