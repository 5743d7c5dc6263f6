/* model_config.json: defaults, every kind of value, refused values and their messages. */
#include "config_fixture.h"

#include "base/number.h"
#include "model/verdict.h"

static void defaults_are_those_of_the_manual(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_path(fixture, NULL));
	const struct fsl_config *config = &fixture->config;
	assert_string_equal(config->path, "");
	assert_string_equal(config->root_path, "/home/sysTrace");
	assert_null(config->training_log);
	assert_string_equal(config->fail_slow_perception_path, FSL_RESULT_DIR "/fail_slow");
	assert_string_equal(config->slow_node_detection_path, FSL_RESULT_DIR "/slow_node");
	assert_string_equal(config->state_path, FSL_RESULT_DIR "/slow_node/failslow_state.db");
	assert_string_equal(config->rank_table_json, "rank_table.json");
	assert_int_equal(config->task_stable_step, 3);
	assert_int_equal(config->steps_window_size, 10);
	assert_true(config->k_sigma == 3.0);
	assert_true(config->hang_times_mins_thr == 30.0);
	assert_true(config->enable_cal);
	assert_false(config->enable_comm);
	assert_string_equal(config->comm_slow, "HcclBatchSendRecv");
	assert_int_equal(config->max_num_normal_results, 16);
	assert_int_equal(config->algorithm, FSL_ALGORITHM_FAILSLOW);
	assert_int_equal(config->verdict_schema, FSL_SCHEMA_FAILSLOW);
	assert_int_equal(config->causes, (1U << FSL_CAUSES_N) - 1);
	assert_true(config->trim_head_share == 0.2);
	assert_false(config->has_range);
	assert_int_equal(config->hccl_domain[FSL_GROUP_TP].n_lists, 0);
}

static void shipped_file_says_the_defaults(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_path(fixture, FSL_SOURCE_DIR "/config/model_config.json"));
	size_t n_keys = 0, n_compared = 0;
	const struct fsl_config_key *keys = fsl_config_keys(&n_keys);
	for (size_t i = 0; i < n_keys; i++) {
		if (keys[i].file != FSL_CONFIG_MODEL || strchr(keys[i].key, '<') != NULL ||
		    keys[i].kind == FSL_KIND_UNUSED || keys[i].kind == FSL_KIND_PATH ||
		    keys[i].kind == FSL_KIND_PATH_NULL || strcmp(keys[i].key, "detectors") == 0) {
			continue;
		}
		const struct fsl_config_value *value = explained(fixture, keys[i].key);
		assert_string_equal(value->value, keys[i].fallback);
		assert_string_equal(value->file, FSL_SOURCE_DIR "/config/model_config.json");
		n_compared++;
	}
	assert_true(n_compared > 30);
}

static void keys_of_systrace_without_effect_are_one_note(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(
		fixture,
		load_model(fixture,
			   "{\"data_type\":\"json\",\"save_image\":\"image\",\"use_plot\":false,"
			   "\"debug_data\":false,\"save_path\":\"x\",\"step_data_path\":\"y\","
			   "\"rank_table_json\":\"./rank_table.json\",\"look_back\":20,"
			   "\"hccl_domain\":{},\"slow_node_detection_range_times\":[],"
			   "\"fail_slow_span_mins\":0.1,\"with_fail_slow\":true,"
			   "\"fail_slow_ops\":{\"dataloader_slow\":\"Dataloader\"}}"));
	assert_true(fixture->config.with_fail_slow);
	assert_true(fixture->config.look_back_mins == 20.0);
	assert_int_equal(fixture->n_notes, 1);
	assert_non_null(strstr(fixture->note, "keys=\"data_type, debug_data, "
					      "save_path, step_data_path\""));
	assert_int_equal(fixture->config.n_known_keys, 9);
}

static void unused_keys_may_hold_anything(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_model(fixture, "{\"data_type\":3,\"debug_data\":\"maybe\"}"));
}

static void comments_and_schemas_are_no_note(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(
		fixture,
		load_model(fixture, "{\"_comment\":[\"a\"],\"$schema\":\"b\",\"gpu_or_npu\":1}"));
	assert_int_equal(fixture->n_notes, 1);
	assert_non_null(strstr(fixture->note, "keys=\"gpu_or_npu\""));
	assert_int_equal(fixture->config.n_known_keys, 0);
}

static void a_group_under_two_kinds_counts_once(void **state)
{
	static const struct {
		const char *domain;
		size_t n_tp, n_dp, n_pp, n_warnings;
	} cases[] = {
		{"\"tp\":[[0,1,2,3]],\"dp\":[[3,2,1,0]]", 1, 0, 0, 1},
		{"\"dp\":[[0,1],[2,3]],\"pp\":[[2,3],[0,4]]", 0, 2, 1, 1},
		{"\"tp\":[[0,1]],\"dp\":[[0,1]],\"pp\":[[0,1]]", 1, 0, 0, 2},
		{"\"tp\":[[0,1],[2,3]],\"dp\":[[0,2],[1,3]]", 2, 2, 0, 0},
		{"\"tp\":[[0],[1]],\"dp\":[[0],[1]]", 2, 2, 0, 0},
		{"\"tp\":[[0,1,2]],\"dp\":[[0,1,3]]", 1, 1, 0, 0},
	};
	struct fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		(void)snprintf(text, sizeof(text), "{\"hccl_domain\":{%s}}", cases[i].domain);
		assert_int_equal(load_model(fixture, text), FSL_OK);
		const struct fsl_domain *domains = fixture->config.hccl_domain;
		assert_int_equal(domains[FSL_GROUP_TP].n_lists, cases[i].n_tp);
		assert_int_equal(domains[FSL_GROUP_DP].n_lists, cases[i].n_dp);
		assert_int_equal(domains[FSL_GROUP_PP].n_lists, cases[i].n_pp);
		assert_int_equal(fixture->n_warnings, cases[i].n_warnings);
	}
}

static void every_kind_of_value_is_stored(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture,
		      load_model(fixture, "{\"algorithm\":\"systrace\",\"verdict_schema\":"
					  "\"systrace\",\"log_type\":\"log\",\"k_sigma\":2.5,"
					  "\"jobs\":4,\"record_kpi\":true,\"fail_slow_ops\":"
					  "{\"cal_slow\":\"HcclReduceScatter\"},"
					  "\"causes\":[\"host\",\"network\"]}"));
	assert_int_equal(fixture->config.algorithm, FSL_ALGORITHM_SYSTRACE);
	assert_int_equal(fixture->config.verdict_schema, FSL_SCHEMA_SYSTRACE);
	assert_true(fixture->config.log_type_is_log);
	assert_true(fixture->config.k_sigma == 2.5);
	assert_int_equal(fixture->config.jobs, 4);
	assert_true(fixture->config.record_kpi);
	assert_string_equal(fixture->config.cal_slow, "HcclReduceScatter");
	assert_int_equal(fixture->config.causes, 1U << FSL_CAUSE_HOST | 1U << FSL_CAUSE_NETWORK);
}

static void relative_paths_start_at_the_file(void **state)
{
	struct fixture *fixture = *state;
	char wanted[256];
	assert_silent(fixture, load_model(fixture, "{\"root_path\":\"mspti\",\"training_log\":\"\","
						   "\"slow_node_detection_path\":\"/abs\"}"));
	(void)snprintf(wanted, sizeof(wanted), "%s/mspti", fixture->directory);
	assert_string_equal(fixture->config.root_path, wanted);
	(void)snprintf(wanted, sizeof(wanted), "%s/rank_table.json", fixture->directory);
	assert_string_equal(fixture->config.rank_table_json, wanted);
	assert_string_equal(fixture->config.slow_node_detection_path, "/abs");
	assert_string_equal(fixture->config.state_path, "/abs/failslow_state.db");
	assert_null(fixture->config.training_log);
	assert_string_equal(fixture->config.directory, fixture->directory);
}

static void wrong_values_name_file_key_value_and_what_is_allowed(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"k_sigma\":\"two\"}",
		 "key=\"k_sigma\", value=\"two\", allowed=number from 0 to 1000"},
		{"{\"k_sigma\":-1}", "value=-1, allowed=number from 0 to 1000"},
		{"{\"jobs\":1.5}", "value=1.5, allowed=whole number from 0 to 4096"},
		{"{\"jobs\":1e30}", "allowed=whole number from 0 to 4096"},
		{"{\"with_fail_slow\":\"False\"}", "value=\"False\", allowed=true or false"},
		{"{\"algorithm\":\"fast\"}",
		 "value=\"fast\", allowed=\"failslow\" or \"systrace\""},
		{"{\"root_path\":\"\"}", "value=\"\", allowed=path"},
		{"{\"root_path\":null}", "value=null, allowed=path"},
		{"{\"training_log\":[1]}", "value=[1], allowed=path or null"},
		{"{\"fail_slow_ops\":{\"cal_slow\":7}}",
		 "key=\"fail_slow_ops.cal_slow\", value=7, allowed=text that is not empty"},
		{"{\"enable_detect_type\":true}",
		 "key=\"enable_detect_type\", value=true, allowed=object"},
		{"{\"causes\":[]}", "key=\"causes\", value=[]"},
		{"{\"causes\":[\"gpu\"]}", "key=\"causes\", value=[\"gpu\"]"},
		{"{\"causes\":\"host\"}", "key=\"causes\", value=\"host\""},
		{"{\"detectors\":[]}", "key=\"detectors\", value=[], allowed=object"},
		{"{\"hccl_domain\":[]}", "key=\"hccl_domain\", value=[]"},
		{"{\"hccl_domain\":{\"tp\":3}}", "key=\"hccl_domain.tp\", value=3"},
		{"{\"hccl_domain\":{\"tp\":[[]]}}", "key=\"hccl_domain.tp\", value=[]"},
		{"{\"hccl_domain\":{\"tp\":[[0,-1]]}}", "value=[0,-1], allowed=list of different"},
		{"{\"hccl_domain\":{\"tp\":[[0,0]]}}", "value=[0,0], allowed=list of different"},
		{"{\"hccl_domain\":{\"tp\":[[0,1.5]]}}", "value=[0,1.5]"},
		{"{\"hccl_domain\":{\"tp\":[[0,1048576]]}}", "value=[0,1048576]"},
		{"{\"slow_node_detection_range_times\":[1]}", "value=[1], allowed=[] or"},
		{"{\"slow_node_detection_range_times\":[2,1]}", "begin not after end"},
		{"{\"slow_node_detection_range_times\":[\"x\",\"y\"]}", "value=[\"x\",\"y\"]"},
		{"{\"slow_node_detection_range_times\":[0,1743675836000000000]}",
		 "each epoch in ms or ISO 8601 text"},
	};
	struct fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum fsl_status status = load_model(fixture, cases[i].text);
		assert_refused(fixture, status, cases[i].message);
		assert_non_null(strstr(fixture->problems, fixture->model));
	}
}

static void all_errors_are_reported_and_the_first_is_the_root(void **state)
{
	struct fixture *fixture = *state;
	enum fsl_status status =
		load_model(fixture, "{\"jobs\":-1,\"k_sigma\":\"x\",\"algorithm\":1}");
	assert_refused(fixture, status, "key=\"jobs\"");
	assert_int_equal(fixture->n_errors, 3);
	assert_non_null(strstr(fsl_error_root(&fixture->err), "key=\"k_sigma\""));
	assert_non_null(strstr(fixture->err.causes[1].message, "errors=3"));
}

static void unknown_keys_are_warnings_with_the_nearest_key(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"k_sigm\":1}", "key=\"k_sigm\", did_you_mean=\"k_sigma\""},
		{"{\"enable_detect_type\":{\"enable_call\":true}}",
		 "key=\"enable_detect_type.enable_call\", "
		 "did_you_mean=\"enable_detect_type.enable_cal\""},
		{"{\"enable_comm\":true}",
		 "key=\"enable_comm\", did_you_mean=\"enable_detect_type.enable_comm\""},
		{"{\"something_else\":1}", "key=\"something_else\"\n"},
		{"{\"hccl_domain\":{\"tpp\":[[0]]}}",
		 "key=\"hccl_domain.tpp\", did_you_mean=\"hccl_domain.tp\""},
		{"{\"<metric>.type\":1}", "key=\"<metric>.type\""},
	};
	struct fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_warned(fixture, load_model(fixture, cases[i].text), cases[i].message);
	}
}

static void keys_written_with_dots_are_warnings_with_their_nested_form(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"replay.steps_max\":3}", "key=\"replay.steps_max\", "
					     "did_you_mean={\"replay\": {\"steps_max\": ...}}\n"},
		{"{\"enable_detect_type.enable_cal\":false}",
		 "did_you_mean={\"enable_detect_type\": {\"enable_cal\": ...}}\n"},
		{"{\"replay.step_max\":3}", "did_you_mean={\"replay\": {\"step_max\": ...}}\n"},
		{"{\"reply.steps_max\":3}", "did_you_mean={\"replay\": {\"steps_max\": ...}}\n"},
		{"{\"detectors.TSDBSCANDetector.eps\":1}",
		 "did_you_mean={\"detectors\": {\"TSDBSCANDetector\": {\"eps\": ...}}}\n"},
		{"{\"hccl_domain.tp\":[[0]]}", "did_you_mean={\"hccl_domain\": {\"tp\": ...}}\n"},
		{"{\"a.b\":1}", "unknown key"},
		{"{\"replay.a.b.c.d.e.f.g.h\":1}", "unknown key"},
		{"{\"replay\":{\"replay.steps_max\":3}}", "unknown key"},
	};
	struct fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_warned(fixture, load_model(fixture, cases[i].text), cases[i].message);
	}
	assert_true(fixture->config.enable_cal);
}

static void of_duplicate_keys_the_last_counts(void **state)
{
	struct fixture *fixture = *state;
	enum fsl_status status = load_model(fixture, "{\"k_sigma\":\"bad\",\"jobs\":1,"
						     "\"k_sigma\":4}");
	assert_warned(fixture, status, "duplicate key, the last one counts");
	assert_true(fixture->config.k_sigma == 4.0);
	status = load_model(fixture, "{\"enable_detect_type\":{\"enable_cal\":true,"
				     "\"enable_cal\":false}}");
	assert_warned(fixture, status, "key=\"enable_detect_type.enable_cal\"");
	assert_false(fixture->config.enable_cal);
}

static void syntax_errors_name_line_and_column(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\n  \"jobs\": 1,\n  // two\n}", "line=3, column=4, near=\"  // two\""},
		{"", "line=1, column=1"},
		{"[1]", "must hold one JSON object"},
		{"{} {}", "line=1, column=4"},
		{"{\"jobs\": True}", "line=1, column=10"},
	};
	struct fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum fsl_status status = load_model(fixture, cases[i].text);
		assert_refused(fixture, status, cases[i].message);
	}
}

static void nul_byte_is_refused_at_its_place(void **state)
{
	static const char text[] = "{\"jobs\": 1}\n\0{";
	struct fixture *fixture = *state;
	write_bytes(fixture->model, text, sizeof(text) - 1);
	assert_refused(fixture, load_path(fixture, fixture->model), "line=2, column=1");
}

static void absent_file_is_a_configuration_error(void **state)
{
	struct fixture *fixture = *state;
	assert_refused(fixture, load_path(fixture, "/nowhere/model_config.json"),
		       "/nowhere/model_config.json");
}

static void deep_nesting_is_refused(void **state)
{
	struct fixture *fixture = *state;
	enum { DEPTH = 100000 };
	char *text = malloc(DEPTH);
	assert_non_null(text);
	memset(text, '[', DEPTH);
	write_bytes(fixture->model, text, DEPTH);
	free(text);
	assert_refused(fixture, load_path(fixture, fixture->model), "no valid JSON");
}

static void range_is_exact_from_ms_and_from_text(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_model(fixture, "{\"slow_node_detection_range_times\":"
						   "[1743675836123, 1743675900000.5]}"));
	assert_true(fixture->config.has_range);
	assert_true(fixture->config.range_begin_ns == INT64_C(1743675836123000000));
	assert_true(fixture->config.range_end_ns == INT64_C(1743675900000500000));
	assert_silent(fixture,
		      load_model(fixture, "{\"slow_node_detection_range_times\":"
					  "[\"1743675836123456789\",\"2025-04-04T00:00:00Z\"]}"));
	assert_true(fixture->config.range_begin_ns == INT64_C(1743675836123456789));
	assert_true(fixture->config.range_end_ns == INT64_C(1743724800000000000));
}

static void range_in_seconds_is_a_warning(void **state)
{
	struct fixture *fixture = *state;
	assert_warned(fixture,
		      load_model(fixture,
				 "{\"slow_node_detection_range_times\":[1743675836,1743675900]}"),
		      "seconds");
	assert_true(fixture->config.range_begin_ns == INT64_C(1743675836) * FSL_NS_PER_MS);
}

static void domains_keep_lists_and_order(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_model(fixture, "{\"hccl_domain\":{\"tp\":[[0,1],[2,3]],"
						   "\"pp\":[[2,0],[3,1]],\"dp\":[]}}"));
	const struct fsl_domain *domains = fixture->config.hccl_domain;
	assert_int_equal(domains[FSL_GROUP_TP].n_lists, 2);
	assert_int_equal(domains[FSL_GROUP_TP].lists[1].n_ranks, 2);
	assert_int_equal(domains[FSL_GROUP_TP].lists[1].ranks[0], 2);
	assert_int_equal(domains[FSL_GROUP_PP].lists[0].ranks[0], 2);
	assert_int_equal(domains[FSL_GROUP_PP].lists[0].ranks[1], 0);
	assert_int_equal(domains[FSL_GROUP_DP].n_lists, 0);
}

static void null_stands_for_an_absent_domain_or_range(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_model(fixture, "{\"hccl_domain\":null,"
						   "\"slow_node_detection_range_times\":null}"));
	assert_false(fixture->config.has_range);
}

static void explain_tells_where_a_value_comes_from(void **state)
{
	struct fixture *fixture = *state;
	assert_silent(fixture, load_model(fixture, "{\"k_sigma\":2.5}"));
	assert_string_equal(explained(fixture, "k_sigma")->value, "2.5");
	assert_string_equal(explained(fixture, "k_sigma")->file, fixture->model);
	assert_string_equal(explained(fixture, "jobs")->value, "0");
	assert_string_equal(explained(fixture, "jobs")->file, "");
	/* Derived values are shown as they are used. */
	assert_string_equal(explained(fixture, "state_path")->value,
			    "\"" FSL_RESULT_DIR "/slow_node/failslow_state.db\"");
	assert_string_equal(explained(fixture, "metric_config")->value, "null");
}

/* The text of the n-th failing allocation must not matter: no crash, no leak, FSL_ERR_MEMORY. */
static void out_of_memory_is_reported_at_every_allocation(void **state)
{
	struct fixture *fixture = *state;
	static const char text[] = "{\"k_sigm\":1,\"jobs\":2,\"jobs\":3,"
				   "\"hccl_domain\":{\"tp\":[[0,1]]},"
				   "\"detectors\":{\"TSDBSCANDetector\":{\"eps\":0.1,\"epz\":1}}}";
	write_bytes(fixture->model, text, sizeof(text) - 1);
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
	assert_true(nth > 5);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(defaults_are_those_of_the_manual),
		TEST(shipped_file_says_the_defaults),
		TEST(keys_of_systrace_without_effect_are_one_note),
		TEST(unused_keys_may_hold_anything),
		TEST(comments_and_schemas_are_no_note),
		TEST(a_group_under_two_kinds_counts_once),
		TEST(every_kind_of_value_is_stored),
		TEST(relative_paths_start_at_the_file),
		TEST(wrong_values_name_file_key_value_and_what_is_allowed),
		TEST(all_errors_are_reported_and_the_first_is_the_root),
		TEST(unknown_keys_are_warnings_with_the_nearest_key),
		TEST(keys_written_with_dots_are_warnings_with_their_nested_form),
		TEST(of_duplicate_keys_the_last_counts),
		TEST(syntax_errors_name_line_and_column),
		TEST(nul_byte_is_refused_at_its_place),
		TEST(absent_file_is_a_configuration_error),
		TEST(deep_nesting_is_refused),
		TEST(range_is_exact_from_ms_and_from_text),
		TEST(range_in_seconds_is_a_warning),
		TEST(domains_keep_lists_and_order),
		TEST(null_stands_for_an_absent_domain_or_range),
		TEST(explain_tells_where_a_value_comes_from),
		TEST(out_of_memory_is_reported_at_every_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
