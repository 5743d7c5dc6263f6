/* Classical localisation: cal and op_launch, fusion of detectors, ranks without data, details. */
#include <math.h>

#include "classical_bench.h"

/* A slow rank arrives late: its operators are short, those of its peers long. */
static double rank_3_arrives_late(int32_t rank, size_t i)
{
	(void)i;
	return (rank == 3 ? 40.0 : 100.0) + 0.01 * rank;
}

static double all_alike(int32_t rank, size_t i)
{
	return 100.0 + 0.01 * rank + 0.02 * (double)(i % 5);
}

/* From its 60th operator on, rank 2 has operators of three times the length. */
static double rank_2_rises(int32_t rank, size_t i)
{
	return all_alike(rank, i) * (rank == 2 && i >= 60 ? 3.0 : 1.0);
}

/* A job of @n ranks in one tp group. */
static void init_tp(struct bench *bench, int32_t n, size_t n_ops, bench_duration *duration)
{
	bench_init(bench);
	for (int32_t rank = 0; rank < n; rank++) {
		bench_ops(bench, rank, "t", "HcclAllGather", n_ops, duration);
	}
	bench_group(bench, "t", FSL_GROUP_TP, RANKS(0, n, 1));
	bench_expect_ranks(bench, n);
	bench->config.enable_cal = true;
}

static void the_odd_rank_of_eight_is_named_with_its_peers(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, rank_3_arrives_late);
	bench_run(&bench);
	assert_abnormal(&bench, "3 HcclAllGather SPACE;");
	assert_true(bench.verdict.compute);
	assert_false(bench.verdict.network || bench.verdict.storage);
	const struct fsl_detail *culprit = &bench.verdict.abnormal[0];
	assert_int_equal(culprit->n_rela_ranks, 7);
	assert_int_equal(culprit->rela_ranks[3], 4);
	assert_int_equal(culprit->n_omitted_ranks, 0);
	assert_int_equal(culprit->n_kpi, 0);
	assert_string_equal(culprit->server_ip, "localhost");
	assert_int_equal(bench.verdict.n_normal, 7);
	assert_int_equal(bench.verdict.normal[0].rank, 0);
	assert_false(bench.verdict.normal[0].is_abnormal);
	assert_int_equal(bench.verdict.normal[0].n_rela_ranks, 0);
	bench_fini(&bench);
}

static void ranks_alike_are_normal(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, all_alike);
	bench_run(&bench);
	assert_abnormal(&bench, "");
	assert_int_equal(bench.verdict.n_normal, 0);
	assert_int_equal(bench.verdict.coverage.n_skipped, 0);
	assert_false(bench.verdict.compute);
	bench_fini(&bench);
}

static void peers_beyond_the_limit_are_omitted(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, rank_3_arrives_late);
	bench.config.max_num_normal_results = 2;
	bench_run(&bench);
	assert_int_equal(bench.verdict.abnormal[0].n_rela_ranks, 2);
	assert_int_equal(bench.verdict.abnormal[0].n_omitted_ranks, 5);
	assert_int_equal(bench.verdict.abnormal[0].omitted_ranks[0], 2);
	assert_int_equal(bench.verdict.n_normal, 2);
	bench_fini(&bench);
}

static void record_kpi_lists_every_window_in_order(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, rank_3_arrives_late);
	bench.config.record_kpi = true;
	bench_run(&bench);
	const struct fsl_detail *culprit = &bench.verdict.abnormal[0];
	/* 80 operators stay, one a second, in windows of 3 s. */
	assert_int_equal(culprit->n_kpi, 27);
	assert_true(fabs(culprit->kpi[0].value - 40.03) < 1e-6);
	/* The 21st operator begins 40 ms before its end. */
	assert_true(fabs(culprit->kpi[0].timestamp_ms - (double)BENCH_START_NS / 1e6 - 20859.97) <
		    1e-3);
	size_t n_abnormal = 0;
	for (size_t i = 0; i < culprit->n_kpi; i++) {
		assert_true(i == 0 ||
			    culprit->kpi[i].timestamp_ms > culprit->kpi[i - 1].timestamp_ms);
		n_abnormal += culprit->kpi[i].abnormal;
	}
	assert_int_equal(n_abnormal, 27);
	assert_int_equal(bench.verdict.normal[0].n_kpi, 27);
	assert_int_equal(bench.verdict.normal[0].kpi[5].abnormal, 0);
	bench_fini(&bench);
}

static void the_time_detector_speaks_for_groups_of_two(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_ops(&bench, 2, "t", "HcclAllGather", 85, rank_2_rises);
	bench_ops(&bench, 3, "t", "HcclAllGather", 85, rank_2_rises);
	bench_group(&bench, "t", FSL_GROUP_TP, RANKS(2, 2, 1));
	bench.config.enable_cal = true;
	bench_run(&bench);
	assert_abnormal(&bench, "2 HcclAllGather TIME;");
	assert_int_equal(bench.verdict.abnormal[0].n_rela_ranks, 0);
	assert_int_equal(bench.verdict.n_normal, 0);
	assert_skipped(&bench, "SlidingWindowDBSCAN: HcclAllGather tp [2,3]: 2 ranks, needs 4");
	bench_fini(&bench);
}

static void a_group_too_large_for_the_space_detector_is_noted(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 85, rank_2_rises);
	cJSON *json = cJSON_Parse("{\"members_max\": 7}");
	for (size_t i = 0; i < bench.config.n_metrics; i++) {
		struct fsl_detector_config *space = &bench.config.metrics[i].space_detector;
		if (space->detector != NULL) {
			assert_int_equal(fsl_registry_params(space->detector, json, "test",
							     &bench.config.arena, &space->params,
							     NULL),
					 FSL_OK);
		}
	}
	cJSON_Delete(json);
	bench_run(&bench);
	assert_skipped(&bench, "SlidingWindowDBSCAN: HcclAllGather tp [0,1,2,3,4,5,6,7]: 8 ranks, "
			       "judges at most 7");
	bench_fini(&bench);
}

/* The reference lets a space detector with too few windows erase what the time detector found. */
static void too_few_windows_for_space_leave_time_results(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 75, rank_2_rises);
	bench_run(&bench);
	/* 60 operators in windows of 3 s. */
	assert_skipped(&bench, "SlidingWindowDBSCAN: HcclAllGather tp [0,1,2,3,4,5,6,7]: "
			       "20 windows, needs 22");
	assert_abnormal(&bench, "2 HcclAllGather TIME;");
	bench_fini(&bench);
}

static double only_rank_5_is_odd_and_rank_2_rises(int32_t rank, size_t i)
{
	return rank == 5 ? 30.0 : rank_2_rises(rank, i);
}

static void space_labels_replace_time_labels_where_space_ran(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, rank_3_arrives_late);
	/* Everybody rises at once: time alarms on all, the odd rank stays rank 3. */
	for (size_t r = 0; r < 8; r++) {
		struct fsl_rank *rank = &bench.run.ranks[r];
		for (size_t i = 70; i < rank->n_ops; i++) {
			rank->ops[i].dev_begin_ns -= 200 * FSL_NS_PER_MS;
		}
	}
	bench_run(&bench);
	assert_abnormal(&bench, "3 HcclAllGather SPACE;");
	bench_fini(&bench);
}

static struct fsl_metric_config *metric_of(struct bench *bench, const char *name)
{
	for (size_t i = 0; i < bench->config.n_metrics; i++) {
		if (strcmp(bench->config.metrics[i].name, name) == 0) {
			return &bench->config.metrics[i];
		}
	}
	fail_msg("no such metric: %s", name);
	return NULL;
}

static void space_results_need_no_time_detector(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, rank_3_arrives_late);
	metric_of(&bench, "HcclAllGather")->time_detector.detector = NULL;
	bench_run(&bench);
	assert_abnormal(&bench, "3 HcclAllGather SPACE;");
	bench_fini(&bench);
}

static void without_detectors_nobody_is_named(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, rank_3_arrives_late);
	metric_of(&bench, "HcclAllGather")->time_detector.detector = NULL;
	metric_of(&bench, "HcclAllGather")->space_detector.detector = NULL;
	bench_run(&bench);
	assert_abnormal(&bench, "");
	bench_fini(&bench);
}

static void ranks_without_data_are_lack_once(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, all_alike);
	bench.config.enable_op_launch = true;
	bench_rank(&bench, 8); /* a file with a header only */
	bench_expect_ranks(&bench, 10);
	bench_run(&bench);
	assert_abnormal(&bench, "8 HcclAllGather LACK;9 HcclAllGather LACK;");
	assert_true(bench.verdict.compute);
	bench.config.enable_cal = false;
	bench_run(&bench);
	assert_abnormal(&bench, "8 HcclAllGather_launch LACK;9 HcclAllGather_launch LACK;");
	bench_fini(&bench);
}

static void a_rank_without_device_times_is_lack(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, all_alike);
	struct fsl_rank *rank = &bench.run.ranks[6];
	for (size_t i = 0; i < rank->n_ops; i++) {
		rank->ops[i].dev_begin_ns = FSL_NS_ABSENT;
		rank->ops[i].dev_end_ns = FSL_NS_ABSENT;
	}
	bench_run(&bench);
	assert_abnormal(&bench, "6 HcclAllGather LACK;");
	bench_fini(&bench);
}

static void a_run_without_markers_lacks_nobody(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_rank(&bench, 0)->has_markers_file = false;
	bench_expect_ranks(&bench, 4);
	bench.config.enable_cal = true;
	bench_run(&bench);
	assert_abnormal(&bench, "");
	assert_skipped(&bench, "HcclAllGather: no dp communicator of two or more ranks with data");
	bench_fini(&bench);
}

static void several_functions_are_judged_apart(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, rank_3_arrives_late);
	struct fsl_metric_config *metric = metric_of(&bench, "HcclAllGather");
	metric->n_funcs = 2;
	metric->funcs[1] = (struct fsl_agg_func){.agg = FSL_AGG_MAX, .suffix = "max"};
	bench_run(&bench);
	assert_abnormal(&bench, "3 HcclAllGather!percentile_q-90 SPACE;3 HcclAllGather!max SPACE;");
	bench_fini(&bench);
}

static void launch_needs_consecutive_ranks(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	for (int32_t rank = 0; rank < 8; rank++) {
		bench_ops(&bench, rank, rank % 2 == 0 ? "a" : "b", "HcclAllGather", 100, all_alike);
	}
	bench_group(&bench, "a", FSL_GROUP_TP, RANKS(0, 4, 2));
	bench_group(&bench, "b", FSL_GROUP_TP, RANKS(1, 4, 2));
	bench.config.enable_op_launch = true;
	bench_run(&bench);
	assert_skipped(&bench, "HcclAllGather_launch: tp [0,2,4,6] and 1 more: "
			       "ranks are not consecutive");
	bench_fini(&bench);
}

static void a_slow_launch_is_found(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, all_alike);
	struct fsl_rank *rank = &bench.run.ranks[4];
	for (size_t i = 0; i < rank->n_ops; i++) {
		rank->ops[i].host_end_ns -= 50 * FSL_NS_PER_MS;
	}
	bench.config.enable_cal = false;
	bench.config.enable_op_launch = true;
	bench_run(&bench);
	assert_abnormal(&bench, "4 HcclAllGather_launch SPACE;");
	bench_fini(&bench);
}

static void data_parallel_groups_are_judged_when_tp_is_one(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	for (int32_t rank = 0; rank < 8; rank++) {
		bench_ops(&bench, rank, "d", "HcclAllGather", 100, rank_3_arrives_late);
	}
	bench_group(&bench, "d", FSL_GROUP_DP, RANKS(0, 8, 1));
	bench.topology.domains[FSL_GROUP_TP] = (struct fsl_domain){
		.lists = &(struct fsl_rank_list){.ranks = (int32_t[]){0}, .n_ranks = 1},
		.n_lists = 1};
	bench.config.enable_cal = true;
	bench_run(&bench);
	assert_abnormal(&bench, "3 HcclAllGather SPACE;");
	bench_fini(&bench);
}

static void a_configured_list_matches_without_its_missing_ranks(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	for (int32_t rank = 0; rank < 8; rank++) {
		bench_ops(&bench, rank, "t", "HcclAllGather", 100, rank_3_arrives_late);
	}
	bench_group(&bench, "t", FSL_GROUP_TP, RANKS(0, 8, 1));
	int32_t listed[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	bench.topology.domains[FSL_GROUP_TP].lists[0] =
		(struct fsl_rank_list){.ranks = listed, .n_ranks = 9};
	bench_expect_ranks(&bench, 9);
	bench.config.enable_cal = true;
	bench_run(&bench);
	assert_abnormal(&bench, "3 HcclAllGather SPACE;8 HcclAllGather LACK;");
	bench_fini(&bench);
}

static void what_cannot_run_says_why(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 100, all_alike);
	bench.config.cal_slow = "NoSuchMetric";
	bench_run(&bench);
	assert_skipped(&bench, "NoSuchMetric: not in the metric configuration");
	bench.config.cal_slow = "HcclReduceScatter";
	bench_run(&bench);
	assert_skipped(&bench, "HcclReduceScatter: tp [0,1,2,3,4,5,6,7]: "
			       "no HcclReduceScatter with the times that it needs");
	metric_of(&bench, "HcclReduceScatter")->n_funcs = 0;
	bench_run(&bench);
	assert_skipped(&bench, "HcclReduceScatter: its configuration names no aggregation.funcs");
	bench_fini(&bench);
}

static void number_of_threads_changes_nothing(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	for (int32_t rank = 0; rank < 32; rank++) {
		char name[8];
		snprintf(name, sizeof(name), "t%d", rank / 4);
		bench_ops(&bench, rank, name, "HcclAllGather", 100,
			  rank / 4 % 2 == 0 ? rank_3_arrives_late
					    : only_rank_5_is_odd_and_rank_2_rises);
		if (rank % 4 == 0) {
			bench_group(&bench, name, FSL_GROUP_TP, RANKS(rank, 4, 1));
		}
	}
	bench.config.enable_cal = true;
	bench.config.enable_op_launch = true;
	for (int64_t jobs = 1; jobs <= 4; jobs++) {
		bench.config.jobs = jobs;
		bench_run(&bench);
		assert_abnormal(&bench, "3 HcclAllGather SPACE;5 HcclAllGather SPACE;");
	}
	bench_fini(&bench);
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct bench bench;
	init_tp(&bench, 8, 60, rank_3_arrives_late);
	bench_group(&bench, "p", FSL_GROUP_PP, RANKS(0, 2, 4));
	bench.config.jobs = 1;
	bench.config.record_kpi = true;
	bench.config.enable_comm = true;
	bench.config.enable_dataloader = true;
	bench_expect_ranks(&bench, 9);
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		bench.err = (struct fsl_error){0};
		fsl_mem_fail_at(nth);
		status = bench_try(&bench);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_true(status == FSL_OK || bench.err.n_causes > 0);
	}
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_odd_rank_of_eight_is_named_with_its_peers),
		cmocka_unit_test(ranks_alike_are_normal),
		cmocka_unit_test(peers_beyond_the_limit_are_omitted),
		cmocka_unit_test(record_kpi_lists_every_window_in_order),
		cmocka_unit_test(the_time_detector_speaks_for_groups_of_two),
		cmocka_unit_test(a_group_too_large_for_the_space_detector_is_noted),
		cmocka_unit_test(too_few_windows_for_space_leave_time_results),
		cmocka_unit_test(space_labels_replace_time_labels_where_space_ran),
		cmocka_unit_test(space_results_need_no_time_detector),
		cmocka_unit_test(without_detectors_nobody_is_named),
		cmocka_unit_test(ranks_without_data_are_lack_once),
		cmocka_unit_test(a_rank_without_device_times_is_lack),
		cmocka_unit_test(a_run_without_markers_lacks_nobody),
		cmocka_unit_test(several_functions_are_judged_apart),
		cmocka_unit_test(launch_needs_consecutive_ranks),
		cmocka_unit_test(a_slow_launch_is_found),
		cmocka_unit_test(data_parallel_groups_are_judged_when_tp_is_one),
		cmocka_unit_test(a_configured_list_matches_without_its_missing_ranks),
		cmocka_unit_test(what_cannot_run_says_why),
		cmocka_unit_test(number_of_threads_changes_nothing),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
