/* Whether the host keeps the device busy: in time per step, of single ranks or of all together. */
#include "unit/ascend/small_capture.h"

static void small_api(struct small_capture *small, size_t r, const char *level, const char *name,
		      double total_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->api_statistics, rank->api_statistics_capacity,
				  rank->n_api_statistics + 1, NULL),
			 FSL_OK);
	rank->api_statistics[rank->n_api_statistics++] =
		(struct fsl_profile_statistic){.name_id = small_name(rank, name),
					       .kind_id = small_name(rank, level),
					       .count = 1,
					       .total_ns = small_ns(total_ms)};
}

static void small_gap(struct small_capture *small, size_t r, double ms, const char *after)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->gaps, rank->gaps_capacity, rank->n_gaps + 1, NULL), FSL_OK);
	rank->gaps[rank->n_gaps++] = (struct fsl_profile_gap){.step = 1,
							      .dur_ns = small_ns(ms),
							      .before_id = FSL_STR_NONE,
							      .after_id = small_name(rank, after)};
}

static bool has_missing(const struct small_capture *small, const char *words)
{
	for (size_t i = 0; i < small->findings.n_missing; i++) {
		if (strstr(small->findings.missing[i], words) != NULL) {
			return true;
		}
	}
	return false;
}

static void a_rank_that_stands_out_is_told_against_the_others(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	for (size_t r = 0; r < 4; r++) {
		small_step(&small, r, 1, 80.0, r == 2 ? 0.0 : 25.0, r == 2 ? 30.0 : 5.0);
	}
	small_judge(&small, fsl_profile_judge_dispatch);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "host_bound", -2);
	assert_non_null(finding);
	assert_int_equal(finding->rank, 2);
	assert_float_equal(finding->gain_ms, 25.0, 1e-9);
	assert_non_null(strstr(finding->what, "30.0 ms (27 %) of a step of 110 ms, 5.00 ms on the "
					      "others"));
	assert_int_equal(small.findings.n_items, 1);
	small_end(&small);
}

static void most_ranks_are_told_together(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	for (size_t r = 0; r < 4; r++) {
		small_step(&small, r, 1, 80.0, 0.0, r == 3 ? 1.0 : 20.0 + (double)r);
	}
	small_judge(&small, fsl_profile_judge_dispatch);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "host_bound", -1);
	assert_non_null(finding);
	assert_float_equal(finding->gain_ms, 21.0, 1e-9);
	assert_non_null(strstr(finding->what, "ranks 0-2: "));
	assert_non_null(strstr(finding->what, "(medians); rank 2, the longest: 22.0 ms"));
	small_end(&small);
}

/* 400 ms of work on each rank; @before_ms and @after_ms idle around it, 12 ms idle within. */
static void small_edges(struct small_capture *small, size_t r, double before_ms, double after_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	const double gaps[][2] = {{before_ms, 0.5}, {12.0, 200.0}, {after_ms, 399.5}};
	small_step(small, r, 1, 300.0, 100.0, before_ms + 12.0 + after_ms);
	assert_int_equal(FSL_GROW(rank->rebuilt, rank->rebuilt_capacity, 1, NULL), FSL_OK);
	rank->rebuilt[rank->n_rebuilt++] = rank->steps[0];
	for (size_t g = 0; g < 3; g++) {
		small_gap(small, r, gaps[g][0], "MatMul");
		rank->gaps[g].begin_ns = small_ns(1000.0 * (double)g);
		rank->gaps[g].busy_ns = small_ns(gaps[g][1]);
	}
}

static void idle_time_outside_of_the_work_is_no_gain(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	small_edges(&small, 0, 900.0, 333.0);
	small_edges(&small, 1, 500.0, 444.0);
	small_judge(&small, fsl_profile_judge_dispatch);
	assert_null(small_finding(&small.findings, "host_bound", -2));
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "capture_edges", -2);
	assert_non_null(finding);
	assert_true(finding->is_overview);
	assert_true(isnan(finding->gain_ms));
	assert_non_null(strstr(finding->what, "outside of the work: 900 ms before the first "
					      "kernels, 444 ms after the last ones"));
	small_end(&small);
}

static void idle_time_within_the_work_is_told_without_the_edges(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_edges(&small, 0, 250.0, 0.0);
	struct fsl_profile_rank *rank = &small.profile.ranks[0];
	rank->gaps[1].dur_ns = small_ns(100.0);
	rank->steps[0].free_ns = rank->rebuilt[0].free_ns = small_ns(350.0);
	small_judge(&small, fsl_profile_judge_dispatch);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "host_bound", -2);
	assert_non_null(finding);
	assert_float_equal(finding->gain_ms, 100.0, 1e-9);
	assert_non_null(strstr(finding->what, "100 ms (20 %) of a step of 500 ms"));
	assert_non_null(strstr(finding->what, "the longest gap 100 ms"));
	small_end(&small);
}

static void a_tenth_of_the_step_is_usual(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	for (size_t r = 0; r < 2; r++) {
		small_step(&small, r, 1, 90.0, 0.0, 10.0);
	}
	small_judge(&small, fsl_profile_judge_dispatch);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void few_long_gaps_and_many_short_ones_have_different_remedies(void **state)
{
	(void)state;
	const char *advice[2] = {NULL, NULL};
	struct small_capture small[2];
	for (size_t i = 0; i < 2; i++) {
		small_begin(&small[i], 1);
		small_step(&small[i], 0, 1, 70.0, 0.0, 30.0);
		small_gap(&small[i], 0, i == 0 ? 20.0 : 0.2, "MatMulV2");
		small_judge(&small[i], fsl_profile_judge_dispatch);
		assert_int_equal(small[i].findings.n_items, 1);
		assert_non_null(strstr(small[i].findings.items[0].what, "before MatMulV2"));
		advice[i] = small[i].findings.items[0].advice;
	}
	assert_non_null(strstr(advice[0], "few long gaps"));
	assert_non_null(strstr(advice[1], "many short gaps"));
	small_end(&small[0]);
	small_end(&small[1]);
}

static void gaps_of_an_excerpt_of_the_kernels_tell_nothing(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_step(&small, 0, 1, 70.0, 0.0, 30.0);
	small_gap(&small, 0, 195.0, "MatMulV2");
	small_judge(&small, fsl_profile_judge_dispatch);
	assert_int_equal(small.findings.n_items, 1);
	assert_null(strstr(small.findings.items[0].what, "gap"));
	small_end(&small);
}

static void host_work_wins_no_more_than_the_device_lacks(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_step(&small, 0, 1, 92.0, 0.0, 8.0);
	small_api(&small, 0, "acl", "aclopCompileAndExecute", 21.0);
	small_api(&small, 0, "acl", "opCompile", 14.0);
	small_judge(&small, fsl_profile_judge_dispatch);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "operator_compile", 0);
	assert_non_null(finding);
	assert_float_equal(finding->gain_ms, 8.0, 1e-9);
	assert_float_equal(small_fact(finding, "host_compile"), 14.0, 1e-9);
	small_end(&small);
}

static void executing_in_the_same_call_is_no_compiling(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	for (size_t r = 0; r < 2; r++) {
		small_step(&small, r, 1, 90.0, 0.0, 10.0);
		small_api(&small, r, "acl", "aclopCompileAndExecute", 14.0);
		small_api(&small, r, "acl", "opCompile", r == 0 ? 0.4 : 3.0);
	}
	small_judge(&small, fsl_profile_judge_dispatch);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "operator_compile", -2);
	assert_non_null(finding);
	assert_null(strstr(finding->what, "14"));
	assert_non_null(strstr(finding->what, "3.00 ms"));
	small_end(&small);
}

static void levels_that_contain_each_other_count_once(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_step(&small, 0, 1, 60.0, 0.0, 20.0);
	small_step(&small, 0, 2, 60.0, 0.0, 20.0);
	small_api(&small, 0, "acl", "aclrtSynchronizeStream", 40.0);
	small_api(&small, 0, "runtime", "StreamSynchronize", 39.0);
	small_judge(&small, fsl_profile_judge_dispatch);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "synchronisation", 0);
	assert_non_null(finding);
	assert_true(isnan(finding->gain_ms));
	assert_float_equal(small_fact(finding, "host_synchronise"), 20.0, 1e-9);
	small_end(&small);
}

static void a_host_that_waits_for_a_busy_device_is_no_finding(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_step(&small, 0, 1, 99.0, 0.0, 1.0);
	small_api(&small, 0, "acl", "aclrtSynchronizeStream", 90.0);
	small_judge(&small, fsl_profile_judge_dispatch);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void what_was_not_captured_is_missed_by_rank(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	small_step(&small, 0, 1, 70.0, 0.0, 30.0);
	small_step(&small, 1, 1, 70.0, 0.0, 30.0);
	small_api(&small, 1, "acl", "aclrtMemcpy", 1.0);
	small_judge(&small, fsl_profile_judge_dispatch);
	assert_true(has_missing(&small, "rank 2: where the time of a step goes"));
	assert_true(has_missing(&small, "ranks 0, 2: what the host does"));
	assert_true(has_missing(&small, "ranks 0, 1: when the device is free"));
	small_end(&small);
}

static void small_idle(struct small_capture *small, double ms, double launch_ms, double torch_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[0];
	rank->has_trace = true;
	rank->trace.idle[rank->trace.n_idle++] =
		(struct fsl_profile_idle){.begin_ns = SMALL_ORIGIN_NS,
					  .dur_ns = small_ns(ms),
					  .launch_lag_ns = small_ns(launch_ms),
					  .torch_lag_ns = small_ns(torch_ms)};
}

static void idle_time_is_laid_to_who_was_late(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_step(&small, 0, 1, 60.0, 0.0, 40.0);
	small_idle(&small, 10.0, 0.1, 0.2); /* called in the stretch */
	small_idle(&small, 6.0, 0.1, 8.0);  /* called before, launched late */
	small_idle(&small, 4.0, 5.0, 8.0);  /* launched before */
	small_judge(&small, fsl_profile_judge_dispatch);
	const struct fsl_profile_finding *finding = small_finding(&small.findings, "host_bound", 0);
	assert_non_null(finding);
	assert_float_equal(small_fact(finding, "waits_for_framework"), 9.8, 1e-6);
	assert_float_equal(small_fact(finding, "waits_for_cann"), 6.0, 1e-6);
	assert_float_equal(small_fact(finding, "waits_for_device"), 4.2, 1e-6);
	assert_non_null(strstr(finding->what, "framework (49 %), for launches by CANN (30 %)"));
	small_end(&small);
}

static void without_calls_of_the_framework_it_is_the_host_that_was_late(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_step(&small, 0, 1, 60.0, 0.0, 40.0);
	small_idle(&small, 8.0, 1.0, 0.0);
	small_idle(&small, 2.0, 1.0, 0.0);
	struct fsl_profile_trace *trace = &small.profile.ranks[0].trace;
	trace->idle[0].torch_lag_ns = trace->idle[1].torch_lag_ns = FSL_NS_ABSENT;
	small_judge(&small, fsl_profile_judge_dispatch);
	const struct fsl_profile_finding *finding = small_finding(&small.findings, "host_bound", 0);
	assert_non_null(finding);
	assert_float_equal(small_fact(finding, "waits_for_host"), 8.0, 1e-6);
	assert_float_equal(small_fact(finding, "waits_for_device"), 2.0, 1e-6);
	assert_non_null(
		strstr(finding->what, "wait for the host (80 %), for what was launched (20 %)"));
	assert_null(strstr(finding->what, "framework"));
	assert_non_null(strstr(finding->advice, "launched too late"));
	small_end(&small);
}

static void what_nothing_tells_of_idle_time_is_no_zero(void **state)
{
	(void)state;
	for (int has_trace = 0; has_trace < 2; has_trace++) {
		struct small_capture small;
		small_begin(&small, 1);
		small_step(&small, 0, 1, 60.0, 0.0, 40.0);
		small.profile.ranks[0].has_trace = has_trace;
		small_judge(&small, fsl_profile_judge_dispatch);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "host_bound", 0);
		assert_non_null(finding);
		assert_null(strstr(finding->what, "the longest stretches"));
		for (size_t i = 0; i < finding->n_facts; i++) {
			assert_null(strstr(finding->facts[i].name, "waits_for"));
		}
		small_end(&small);
	}
}

static void advice_goes_to_who_was_late(void **state)
{
	(void)state;
	static const struct {
		double launch_ms, torch_ms;
		const char *words;
	} cases[] = {
		{0.1, 0.2, "the framework calls operators too late"},
		{0.1, 8.0, "launched late"},
		{7.0, 8.0, "wait on the device"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		small_begin(&small, 1);
		small_step(&small, 0, 1, 60.0, 0.0, 40.0);
		small_gap(&small, 0, 6.0, "MatMulV2");
		small_idle(&small, 6.0, cases[i].launch_ms, cases[i].torch_ms);
		small_judge(&small, fsl_profile_judge_dispatch);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "host_bound", 0);
		assert_non_null(finding);
		assert_non_null(strstr(finding->advice, cases[i].words));
		small_end(&small);
	}
}

static void long_calls_of_collector_and_data_loader_are_told(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_step(&small, 0, 1, 80.0, 0.0, 5.0);
	small.profile.ranks[0].has_trace = true;
	struct fsl_profile_host_calls *calls = small.profile.ranks[0].trace.calls;
	calls[FSL_HOST_GC].long_ns = small_ns(3.0);
	calls[FSL_HOST_DATALOADER].long_ns = small_ns(40.0);
	small_judge(&small, fsl_profile_judge_dispatch);
	const struct fsl_profile_finding *collector =
		small_finding(&small.findings, "garbage_collection", 0);
	const struct fsl_profile_finding *loader =
		small_finding(&small.findings, "data_loading", 0);
	assert_non_null(collector);
	assert_float_equal(collector->gain_ms, 3.0, 1e-9);
	assert_non_null(loader);
	assert_float_equal(loader->gain_ms, 5.0, 1e-9);
	small_end(&small);
}

static void a_process_that_stands_still_is_told(void **state)
{
	(void)state;
	for (int64_t n_acl = 0; n_acl <= 300; n_acl += 300) {
		struct small_capture small;
		small_begin(&small, 1);
		small_step(&small, 0, 1, 2000.0, 0.0, 300.0);
		small_idle(&small, 250.0, 0.1, 0.2);
		small.profile.ranks[0].trace.idle[0].n_acl = n_acl;
		small_judge(&small, fsl_profile_judge_dispatch);
		assert_int_equal(small_finding(&small.findings, "host_pause", 0) != NULL,
				 n_acl == 0);
		small_end(&small);
	}
}

static void short_memory_is_an_error_and_nothing_is_lost(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	for (size_t r = 0; r < 2; r++) {
		small_step(&small, r, 1, 70.0, 0.0, 30.0);
	}
	small_gap(&small, 0, 5.0, "MatMulV2");
	small_judge_short_of_memory(&small, fsl_profile_judge_dispatch);
	small_end(&small);
}

static void small_setting(struct small_capture *small, const char *name, const char *value)
{
	struct fsl_profile_info *info = &small->profile.ranks[0].info;
	assert_int_equal(
		FSL_GROW(info->settings, info->settings_capacity, info->n_settings + 1, NULL),
		FSL_OK);
	info->settings[info->n_settings++] = (struct fsl_profile_setting){name, value};
}

/* One rank that is idle for many short gaps. */
static void what_is_set_already_is_not_advised(void **state)
{
	(void)state;
	static const struct {
		const char *queue, *affinity, *blocking; /* NULL: not recorded */
		const char *told[2], *silent;
	} cases[] = {
		{NULL, NULL, NULL, {"set TASK_QUEUE_ENABLE=2;", "CPU_AFFINITY_CONF=1,"}, "(is"},
		{"1",
		 "",
		 NULL,
		 {"TASK_QUEUE_ENABLE=2 (is 1)", "CPU_AFFINITY_CONF=1 (not set)"},
		 "?"},
		{"2", "1", NULL, {"CPU_AFFINITY_CONF=2 (is 1)", "performance mode"}, "TASK_QUEUE"},
		{"2", "2", NULL, {"performance mode", "LD_PRELOAD"}, "set "},
		{"1", "", "1", {"unset ASCEND_LAUNCH_BLOCKING (is 1)", "launch"}, "TASK_QUEUE"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		small_begin(&small, 1);
		small_step(&small, 0, 1, 70.0, 0.0, 30.0);
		struct fsl_profile_rank *rank = &small.profile.ranks[0];
		assert_int_equal(FSL_GROW(rank->gaps, rank->gaps_capacity, 1, NULL), FSL_OK);
		rank->gaps[rank->n_gaps++] = (struct fsl_profile_gap){.step = 1,
								      .begin_ns = SMALL_ORIGIN_NS,
								      .dur_ns = small_ns(1.0),
								      .before_id = FSL_STR_NONE,
								      .after_id = FSL_STR_NONE};
		const char *const names[] = {"TASK_QUEUE_ENABLE", "CPU_AFFINITY_CONF",
					     "ASCEND_LAUNCH_BLOCKING"};
		const char *const values[] = {cases[i].queue, cases[i].affinity, cases[i].blocking};
		for (size_t v = 0; v < 3; v++) {
			if (values[v] != NULL) {
				small_setting(&small, names[v], values[v]);
			}
		}
		small_judge(&small, fsl_profile_judge_dispatch);
		const char *advice = small_finding(&small.findings, "host_bound", 0)->advice;
		assert_non_null(strstr(advice, cases[i].told[0]));
		assert_non_null(strstr(advice, cases[i].told[1]));
		assert_null(strstr(advice, cases[i].silent));
		small_end(&small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_set_already_is_not_advised),
		cmocka_unit_test(a_rank_that_stands_out_is_told_against_the_others),
		cmocka_unit_test(most_ranks_are_told_together),
		cmocka_unit_test(idle_time_outside_of_the_work_is_no_gain),
		cmocka_unit_test(idle_time_within_the_work_is_told_without_the_edges),
		cmocka_unit_test(a_tenth_of_the_step_is_usual),
		cmocka_unit_test(few_long_gaps_and_many_short_ones_have_different_remedies),
		cmocka_unit_test(gaps_of_an_excerpt_of_the_kernels_tell_nothing),
		cmocka_unit_test(host_work_wins_no_more_than_the_device_lacks),
		cmocka_unit_test(executing_in_the_same_call_is_no_compiling),
		cmocka_unit_test(levels_that_contain_each_other_count_once),
		cmocka_unit_test(a_host_that_waits_for_a_busy_device_is_no_finding),
		cmocka_unit_test(what_was_not_captured_is_missed_by_rank),
		cmocka_unit_test(idle_time_is_laid_to_who_was_late),
		cmocka_unit_test(without_calls_of_the_framework_it_is_the_host_that_was_late),
		cmocka_unit_test(what_nothing_tells_of_idle_time_is_no_zero),
		cmocka_unit_test(advice_goes_to_who_was_late),
		cmocka_unit_test(long_calls_of_collector_and_data_loader_are_told),
		cmocka_unit_test(a_process_that_stands_still_is_told),
		cmocka_unit_test(short_memory_is_an_error_and_nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
