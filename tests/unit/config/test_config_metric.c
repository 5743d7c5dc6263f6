/* metric_config.json and the "detectors" section: series, detectors, parameters. */
#include "config_fixture.h"

static const char *const time_block =
	"\"time_detector\":{\"type\":\"TSDBSCANDetector\",\"eps\":0.1}";

static void builtin_metrics_equal_the_shipped_file(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_path(fixture, NULL));
	size_t n_values = fixture->config.n_values;
	char(*values)[2][256] = calloc(n_values, sizeof(*values));
	assert_non_null(values);
	for (size_t i = 0; i < n_values; i++) {
		(void)snprintf(values[i][0], 256, "%s", fixture->config.values[i].key);
		(void)snprintf(values[i][1], 256, "%s", fixture->config.values[i].value);
	}
	assert_silent(fixture, load_path(fixture, FSL_SOURCE_DIR "/config/model_config.json"));
	assert_int_equal(fixture->config.n_values, n_values);
	for (size_t i = 0; i < n_values; i++) {
		assert_string_equal(fixture->config.values[i].key, values[i][0]);
		/* These two are relative to the file. */
		if (strcmp(values[i][0], "rank_table_json") != 0 &&
		    strcmp(values[i][0], "metric_config") != 0) {
			assert_string_equal(fixture->config.values[i].value, values[i][1]);
		}
	}
	assert_string_equal(fixture->config.metric_config,
			    FSL_SOURCE_DIR "/config/metric_config.json");
	free(values);
}

static void metrics_have_names_operators_and_tables(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_path(fixture, NULL));
	assert_int_equal(fixture->config.n_metrics, 5);
	const struct fsl_metric_config *launch =
		fsl_config_metric(&fixture->config, "HcclAllGather_launch");
	assert_non_null(launch);
	assert_string_equal(launch->op_name, "HcclAllGather");
	assert_true(launch->is_launch);
	assert_int_equal(launch->time_detector.metric, FSL_METRIC_LAUNCH);
	assert_true(launch->during_s == 3.0);
	const struct fsl_metric_config *gather =
		fsl_config_metric(&fixture->config, "HcclAllGather");
	assert_false(gather->is_launch);
	assert_string_equal(gather->space_detector.name, "SlidingWindowDBSCAN");
	assert_non_null(gather->space_detector.params);
	assert_int_equal(gather->time_detector.alarm_filter_window_size, 5);
	assert_string_equal(gather->type, "compute");
}

static void detectors_that_only_systrace_has_are_one_warning(void **state)
{
	struct fixture *fixture = *state;
	assert_int_equal(
		load_metric(fixture,
			    "{\"ncclDevKernel_AllReduce_Sum_f32_RING_LL_launch\":{\"priority\":3,"
			    "\"space_detector\":{\"type\":\"SlidingWindowKSigma\","
			    "\"deviation_ratio_thresh\":1.1}},"
			    "\"A\":{\"priority\":2,\"time_detector\":{\"type\":"
			    "\"BOCPDStreamDetector\"}}}"),
		FSL_OK);
	assert_int_equal(fixture->n_warnings, 1);
	assert_non_null(strstr(fixture->problems, "LL_launch.space_detector, A.time_detector\""));
	assert_int_equal(fixture->n_notes, 1);
	assert_non_null(strstr(fixture->note, "keys=\"priority\""));
	assert_int_equal(fixture->config.n_metrics, 2);
	assert_string_equal(fixture->config.metrics[0].op_name,
			    "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	assert_false(fixture->config.metrics[0].space_detector.enabled);
}

static void allreduce_is_found_in_both_spellings(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_path(fixture, NULL));
	const struct fsl_metric_config *metric =
		fsl_config_metric(&fixture->config, "HcclAllReduce");
	assert_non_null(metric);
	assert_ptr_equal(fsl_config_metric(&fixture->config, "HcclAllreduce"), metric);
	assert_null(fsl_config_metric(&fixture->config, "hcclallgather"));
	assert_null(fsl_config_metric(&fixture->config, "HcclBroadcast"));
}

static void several_functions_get_suffixes_of_the_reference(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture,
		      load_metric(fixture, "{\"M\":{\"aggregation\":{\"during_s\":2.5,\"funcs\":["
					   "{\"func\":\"percentile\",\"func_params\":{\"q\":90}},"
					   "{\"func\":\"percentile\",\"func_params\":{\"q\":99.5}},"
					   "{\"func\":\"quantile\",\"func_params\":{\"q\":0.25}},"
					   "{\"func\":\"std\"},{}]}}}"));
	const struct fsl_metric_config *metric = fsl_config_metric(&fixture->config, "M");
	assert_true(metric->during_s == 2.5);
	assert_int_equal(metric->n_funcs, 5);
	assert_string_equal(metric->funcs[0].suffix, "percentile_q-90");
	assert_string_equal(metric->funcs[1].suffix, "percentile_q-99.5");
	assert_string_equal(metric->funcs[2].suffix, "quantile_q-0.25");
	assert_int_equal(metric->funcs[2].agg, FSL_AGG_PERCENTILE);
	assert_true(metric->funcs[2].q == 25.0);
	assert_int_equal(metric->funcs[3].agg, FSL_AGG_STD);
	assert_string_equal(metric->funcs[4].suffix, "mean");
}

static void absent_aggregation_is_mean_of_five_seconds(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture,
		      load_metric(fixture, "{\"HcclAllReduce\":{\"metric_type\":\"device\","
					   "\"method\":\"sum\",\"priority\":20,"
					   "\"space_detector\":null}}"));
	const struct fsl_metric_config *metric =
		fsl_config_metric(&fixture->config, "HcclAllreduce");
	assert_true(metric->during_s == 5.0);
	assert_int_equal(metric->n_funcs, 1);
	assert_int_equal(metric->funcs[0].agg, FSL_AGG_MEAN);
	assert_null(metric->space_detector.detector);
	assert_null(metric->time_detector.detector);
}

static void empty_list_of_functions_means_no_series(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_metric(fixture, "{\"M\":{\"aggregation\":{\"funcs\":[]}}}"));
	assert_int_equal(fsl_config_metric(&fixture->config, "M")->n_funcs, 0);
}

static int64_t filter_of(struct fixture *fixture, const char *outer, const char *inner)
{
	char text[512];
	(void)snprintf(text, sizeof(text),
		       "{\"M\":{%s\"time_detector\":{\"type\":\"TSDBSCANDetector\"%s}}}", outer,
		       inner);
	assert_silent(fixture, load_metric(fixture, text));
	const struct fsl_detector_config *detector =
		&fsl_config_metric(&fixture->config, "M")->time_detector;
	/* The detector itself must see the same number as the configuration. */
	char shown[32];
	(void)snprintf(shown, sizeof(shown), "%lld", (long long)detector->alarm_filter_window_size);
	assert_string_equal(explained(fixture, "M.time_detector.alarm_filter_window_size")->value,
			    shown);
	return detector->alarm_filter_window_size;
}

static void inner_alarm_filter_wins_over_the_outer(void **state)
{
	struct fixture *fixture = *state;
	assert_int_equal(filter_of(fixture, "\"alarm_filter_window_size\":7,",
				   ",\"alarm_filter_window_size\":3"),
			 3);
	assert_int_equal(filter_of(fixture, "\"alarm_filter_window_size\":7,", ""), 7);
	assert_int_equal(filter_of(fixture, "", ",\"alarm_filter_window_size\":4"), 4);
	assert_int_equal(filter_of(fixture, "", ""), 5);
}

static void wrong_metrics_are_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"M\":3}", "key=\"M\", value=3"},
		{"{\"M\":{\"type\":\"disk\"}}",
		 "key=\"M.type\", value=\"disk\", allowed=\"compute\" or \"network\""},
		{"{\"M\":{\"aggregation\":{\"during_s\":0}}}",
		 "key=\"M.aggregation.during_s\", value=0"},
		{"{\"M\":{\"aggregation\":4}}", "value=4, allowed=object"},
		{"{\"M\":{\"aggregation\":{\"funcs\":{}}}}", "allowed=list of at most 16"},
		{"{\"M\":{\"aggregation\":{\"funcs\":[3]}}}",
		 "key=\"M.aggregation.funcs[0]\", value=3"},
		{"{\"M\":{\"aggregation\":{\"funcs\":[{\"func\":\"mode\"}]}}}", "value=\"mode\""},
		{"{\"M\":{\"aggregation\":{\"funcs\":[{\"func\":3}]}}}", "value=3"},
		{"{\"M\":{\"aggregation\":{\"funcs\":[{\"func\":\"percentile\"}]}}}",
		 "percentile needs a number q from 0 to 100"},
		{"{\"M\":{\"aggregation\":{\"funcs\":[{\"func\":\"quantile\","
		 "\"func_params\":{\"q\":90}}]}}}",
		 "quantile needs a number q from 0 to 1"},
		{"{\"M\":{\"aggregation\":{\"funcs\":[{},{}]}}}", "allowed=each function once"},
		{"{\"M\":{\"time_detector\":[]}}",
		 "key=\"M.time_detector\", value=[], allowed=object or null"},
		{"{\"M\":{\"time_detector\":{}}}", "object with \"type\""},
		{"{\"M\":{\"time_detector\":{\"type\":5}}}",
		 "key=\"M.time_detector.type\", value=5, allowed=name of a detector"},
		{"{\"M\":{\"time_detector\":{\"type\":\"TSDBSCAN\"}}}", "unknown detector"},
		{"{\"M\":{\"time_detector\":{\"type\":\"TSDBSCANDetectr\"}}}",
		 "did_you_mean=\"TSDBSCANDetector\""},
		{"{\"M\":{\"time_detector\":{\"type\":\"TSDBSCANDetector\",\"eps\":\"x\"}}}",
		 "M.time_detector\", key=\"eps\", value=\"x\""},
		{"{\"M\":{\"time_detector\":{\"type\":\"TSDBSCANDetector\","
		 "\"alarm_filter_window_size\":0}}}",
		 "key=\"M.time_detector.alarm_filter_window_size\", value=0"},
		{"{\"M\":{\"space_detector\":{\"plugin\":\"none.so\"}}}",
		 "key=\"M.space_detector.plugin\""},
	};
	struct fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum fsl_status status = load_metric(fixture, cases[i].text);
		assert_refused(fixture, status, cases[i].message);
		assert_non_null(strstr(fixture->problems, fixture->metric));
	}
}

static void unknown_metric_keys_are_warnings(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"M\":{\"agregation\":{}}}",
		 "key=\"M.agregation\", did_you_mean=\"M.aggregation\""},
		{"{\"M\":{\"aggregation\":{\"during\":3}}}", "key=\"M.aggregation.during\""},
		{"{\"M\":{\"aggregation\":{\"funcs\":[{\"fun\":\"max\"}]}}}",
		 "key=\"M.aggregation.funcs[0].fun\""},
		{"{\"M\":{\"aggregation\":{\"funcs\":[{\"func_params\":{\"axis\":0}}]}}}",
		 "key=\"M.aggregation.funcs[0].func_params.axis\""},
		{"{\"M\":{\"time_detector\":{\"type\":\"TSDBSCANDetector\",\"epz\":1}}}",
		 "key=\"M.time_detector.epz\", did_you_mean=\"M.time_detector.eps\""},
		{"{\"M\":{\"time_detector\":{\"type\":\"SlidingWindowKSigmaDetector\","
		 "\"n_sigma_method\":{\"biass\":1}}}}",
		 "did_you_mean=\"M.time_detector.n_sigma_method.bias\""},
		{"{\"M\":{\"time_detector\":{\"type\":\"SlidingWindowKSigmaDetector\","
		 "\"n_sigma_method.bias\":3}}}",
		 "key=\"M.time_detector.n_sigma_method.bias\", "
		 "did_you_mean={\"n_sigma_method\": {\"bias\": ...}}"},
		{"{\"M\":{\"aggregation.during_s\":3}}",
		 "key=\"M.aggregation.during_s\", "
		 "did_you_mean={\"aggregation\": {\"during_s\": ...}}"},
	};
	struct fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_warned(fixture, load_metric(fixture, cases[i].text), cases[i].message);
	}
}

static void too_many_metrics_or_functions_are_refused(void **state)
{
	struct fixture *fixture = *state;
	char text[4096] = "{";
	for (int i = 0; i <= FSL_METRIC_CONFIGS_MAX; i++) {
		(void)snprintf(text + strlen(text), 32, "%s\"M%d\":{}", i > 0 ? "," : "", i);
	}
	strcat(text, "}");
	assert_refused(fixture, load_metric(fixture, text), "too many metrics");
}

static void named_metric_file_must_exist(void **state)
{
	struct fixture *fixture = *state;
	assert_refused(fixture, load_model(fixture, "{\"metric_config\":\"none.json\"}"),
		       "none.json");
}

static void metric_file_in_the_place_of_the_model_is_refused(void **state)
{
	struct fixture *fixture = *state;
	assert_refused(fixture, load_path(fixture, FSL_SOURCE_DIR "/config/metric_config.json"),
		       "this is a metric configuration");
}

static void metric_file_beside_the_model_is_found(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_metric(fixture, "{\"$schema\":\"x\",\"Only\":{}}"));
	assert_int_equal(fixture->config.n_metrics, 1);
	assert_string_equal(fixture->config.metric_config, fixture->metric);
	assert_string_equal(explained(fixture, "Only.type")->file, "");
}

static void every_builtin_detector_is_known_with_its_defaults(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_path(fixture, NULL));
	assert_int_equal(fixture->config.n_detectors, 0);
	for (size_t i = 0; i < fsl_registry_size(fixture->registry); i++) {
		const struct fsl_detector *detector = fsl_registry_at(fixture->registry, i);
		const struct fsl_detector_config *config =
			fsl_config_detector(&fixture->config, detector->name);
		assert_non_null(config);
		assert_ptr_equal(config->detector, detector);
		assert_non_null(config->params);
		assert_true(config->enabled);
	}
	assert_null(fsl_config_detector(&fixture->config, "NoSuchDetector"));
}

static void detectors_section_sets_parameters_and_metric(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture,
		      load_model(fixture, "{\"detectors\":{\"TSDBSCANDetector\":{\"eps\":0.25,"
					  "\"metric\":\"own\",\"enabled\":false},"
					  "\"second\":{\"type\":\"TSDBSCANDetector\"}}}"));
	assert_int_equal(fixture->config.n_detectors, 2);
	const struct fsl_detector_config *entry =
		fsl_config_detector(&fixture->config, "TSDBSCANDetector");
	assert_ptr_equal(entry, &fixture->config.detectors[0]);
	assert_int_equal(entry->metric, FSL_METRIC_OWN);
	assert_false(entry->enabled);
	assert_string_equal(explained(fixture, "detectors.TSDBSCANDetector.eps")->value, "0.25");
	assert_string_equal(explained(fixture, "detectors.TSDBSCANDetector.eps")->file,
			    fixture->model);
	assert_string_equal(explained(fixture, "detectors.TSDBSCANDetector.min_samples")->file, "");
	assert_true(fsl_config_detector(&fixture->config, "second")->enabled);
}

static void wrong_detector_entries_are_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"detectors\":{\"TSDBSCANDetector\":1}}",
		 "key=\"detectors.TSDBSCANDetector\", value=1"},
		{"{\"detectors\":{\"TSDBSCANDetektor\":{}}}", "did_you_mean=\"TSDBSCANDetector\""},
		{"{\"detectors\":{\"TSDBSCANDetector\":{\"metric\":\"speed\"}}}",
		 "key=\"detectors.TSDBSCANDetector.metric\", value=\"speed\""},
		{"{\"detectors\":{\"TSDBSCANDetector\":{\"enabled\":1}}}",
		 "key=\"detectors.TSDBSCANDetector.enabled\", value=1, allowed=true or false"},
		{"{\"detectors\":{\"mine\":{\"plugin\":\"missing.so\"}}}", "missing.so"},
		{"{\"detectors\":{\"mine\":{\"plugin\":7}}}", "allowed=path of a shared object"},
	};
	struct fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_refused(fixture, load_model(fixture, cases[i].text), cases[i].message);
	}
}

static void out_of_memory_is_reported_at_every_allocation(void **state)
{
	struct fixture *fixture = *state;
	char text[512];
	(void)snprintf(text, sizeof(text), "{\"M\":{%s,\"x\":1},\"N_launch\":{}}", time_block);
	write_bytes(fixture->metric, text, strlen(text));
	write_bytes(fixture->model, "{}", 2);
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 0;
	while (status != FSL_OK && nth < 100000) {
		nth++;
		fsl_mem_fail_at(nth);
		status = load_path(fixture, fixture->model);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_int_equal(status, FSL_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(detectors_that_only_systrace_has_are_one_warning),
		TEST(builtin_metrics_equal_the_shipped_file),
		TEST(metrics_have_names_operators_and_tables),
		TEST(allreduce_is_found_in_both_spellings),
		TEST(several_functions_get_suffixes_of_the_reference),
		TEST(absent_aggregation_is_mean_of_five_seconds),
		TEST(empty_list_of_functions_means_no_series),
		TEST(inner_alarm_filter_wins_over_the_outer),
		TEST(wrong_metrics_are_refused),
		TEST(unknown_metric_keys_are_warnings),
		TEST(too_many_metrics_or_functions_are_refused),
		TEST(named_metric_file_must_exist),
		TEST(metric_file_in_the_place_of_the_model_is_refused),
		TEST(metric_file_beside_the_model_is_found),
		TEST(every_builtin_detector_is_known_with_its_defaults),
		TEST(detectors_section_sets_parameters_and_metric),
		TEST(wrong_detector_entries_are_refused),
		TEST(out_of_memory_is_reported_at_every_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
