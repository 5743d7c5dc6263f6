/* The verdict on captures: on the reference sets, and on made-up findings. */
#include "unit/ascend/whole_set.h"

#include "judge/conclude.h"

/* A whole analysis of a folder. */
struct analysis {
	struct whole_set set;
	struct fsl_localisation verdict;
};

static void analyse(struct analysis *analysis, const char *name)
{
	struct fsl_error err = {0};
	whole_set_begin_shared(&analysis->set, name);
	const struct fsl_profile_case facts = whole_set_case(&analysis->set);
	assert_int_equal(judge_whole(&analysis->set.findings, &facts, &err), FSL_OK);
	fsl_localisation_init(&analysis->verdict);
	assert_int_equal(
		fsl_profile_conclude(&analysis->verdict, &facts, &analysis->set.findings, &err),
		FSL_OK);
}

static void analysis_fini(struct analysis *analysis)
{
	fsl_localisation_fini(&analysis->verdict);
	whole_set_end(&analysis->set);
}

static void the_4_rank_set_has_a_longer_stage_and_no_slow_rank(void **state)
{
	(void)state;
	struct analysis analysis;
	analyse(&analysis, "insight-4rank-level2");
	const struct fsl_localisation *verdict = &analysis.verdict;
	assert_int_equal(verdict->kind, FSL_VERDICT_STAGE_IMBALANCE);
	assert_int_equal(verdict->n_culprits, 0); /* how work is cut is no fault of a rank */
	assert_non_null(strstr(verdict->reason, "stage 1 (ranks 2, 3)"));
	assert_non_null(strstr(verdict->reason, "1.73 times"));
	/* The stage exceeds the mean by 85 ms; micro-batches overlap, and a replay by other means
	 * wins 33.9 ms. */
	assert_near(verdict->lost_ms_per_step, 33.9, 0.2 * 33.9);
	const struct fsl_profile_finding *stage =
		small_finding(&analysis.set.findings, "stage_imbalance", -1);
	assert_non_null(stage);
	assert_near(small_fact(stage, "times_the_others"), 1.73, 0.005);
	assert_near(small_fact(stage, "spread_in_stages"), 0.0017, 0.00005);
	assert_null(small_finding(&analysis.set.findings, "slow_rank_compute", -2));
	assert_null(small_finding(&analysis.set.findings, "slow_rank_host", -2));
	assert_int_equal(verdict->coverage.n_ranks_seen, 4);
	assert_int_equal(verdict->coverage.n_missing_ranks, 0);
	analysis_fini(&analysis);
}

static void in_the_4_rank_set_rank_3_is_slightly_but_always_late(void **state)
{
	(void)state;
	struct analysis analysis;
	analyse(&analysis, "insight-4rank-level2");
	const struct fsl_profile_finding *late =
		small_finding(&analysis.set.findings, "consistently_late", 3);
	assert_non_null(late);
	/* Others wait for it for 13.06 ms in collectives. */
	assert_near(late->gain_ms, 14.9, 0.1);
	assert_near(small_fact(late, "late"), 15.4, 0.2);
	assert_near(small_fact(late, "step"), 810.15, 0.01);
	/* Rank 0, whose host is slower, holds its stage up by as much. */
	assert_int_equal(analysis.verdict.n_unconfirmed, 2);
	analysis_fini(&analysis);
}

static void in_the_4_rank_set_rank_0_waits_314_ms_in_the_pipeline(void **state)
{
	(void)state;
	struct analysis analysis;
	analyse(&analysis, "insight-4rank-level2");
	const struct fsl_profile_finding *bubble =
		small_finding(&analysis.set.findings, "pipeline_bubble", -1);
	assert_non_null(bubble);
	assert_non_null(strstr(bubble->what, "rank 0 313.9 ms"));
	assert_non_null(strstr(bubble->what, "rank 2 72.7 ms"));
	assert_near(small_fact(bubble, "step"), 810.15, 0.01);
	analysis_fini(&analysis);
}

static void the_2_rank_set_is_incomplete_and_its_cause_lies_outside(void **state)
{
	(void)state;
	static const char *const sets[] = {"insight-2rank-text/level1", "insight-2rank-db/level1"};
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct analysis analysis;
		analyse(&analysis, sets[i]);
		const struct fsl_localisation *verdict = &analysis.verdict;
		assert_int_equal(verdict->kind, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
		assert_int_equal(verdict->n_culprits, 0);
		assert_non_null(strstr(verdict->reason, "2 of its 8 ranks"));
		assert_non_null(strstr(verdict->reason, "the cause lies outside"));
		assert_int_equal(verdict->n_victims, 2);
		assert_int_equal(verdict->coverage.n_ranks_expected, 8);
		assert_int_equal(verdict->coverage.n_groups_matched, 0);
		assert_null(small_finding(&analysis.set.findings, "consistently_late", -2));
		const struct fsl_profile_finding *outside =
			small_finding(&analysis.set.findings, "cause_outside", -1);
		assert_non_null(outside);
		assert_near(small_fact(outside, "last_rank"), 1.0, 0.0);
		/* For whose signals both ranks waited, by their tasks; of two runs. */
		assert_near(small_fact(outside, "waited_for_member"), i == 0 ? 5.0 : 6.0, 0.0);
		if (i == 0) { /* the other is another run */
			assert_near(small_fact(outside, "waiting"), 73.2, 0.05);
			assert_near(small_fact(outside, "starts_later"), 5.608, 0.0005);
		}
		analysis_fini(&analysis);
	}
}

/* Judges and verdict once more on what was read. */
static enum fsl_status judge_again(const struct analysis *analysis)
{
	struct fsl_error err = {0};
	struct fsl_profile_findings findings = {0};
	struct fsl_localisation verdict;
	const struct fsl_profile_case facts = {.profile = &analysis->set.profile,
					       .cluster = &analysis->set.cluster,
					       .n_threads = 1};
	fsl_localisation_init(&verdict);
	enum fsl_status status = judge_whole(&findings, &facts, &err);
	if (status == FSL_OK) {
		status = fsl_profile_conclude(&verdict, &facts, &findings, &err);
	}
	fsl_localisation_fini(&verdict);
	fsl_profile_findings_fini(&findings);
	return status;
}

static void memory_that_runs_out_at_any_point_is_a_failure_and_no_crash(void **state)
{
	(void)state;
	struct analysis analysis;
	analyse(&analysis, "insight-4rank-level2");
	enum { TRIALS_MAX = 100000 };
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t n = 0;
	while (status != FSL_OK && n < TRIALS_MAX) {
		fsl_mem_fail_at(++n);
		status = judge_again(&analysis);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_true(n > 50 && n < TRIALS_MAX);
	analysis_fini(&analysis);
}

/* Concludes from @findings about ranks with one step of 100 ms each. */
static void conclude_about(struct small_capture *small, double computing_ms, double exposed_ms,
			   struct fsl_localisation *verdict)
{
	struct fsl_error err = {0};
	static int64_t step = 7;
	for (size_t r = 0; r < small->profile.n_ranks; r++) {
		small_step(small, r, 7, computing_ms, exposed_ms,
			   100.0 - computing_ms - exposed_ms);
		small_comm(small, r, 7, "hcom_allReduce__586_0_1", "586", 0.0, 10.0);
	}
	if (small->profile.n_ranks > 1 && small->cluster.n_groups == 0) {
		(void)small_group(small, "586", "", false, 0, small->profile.n_ranks,
				  small->profile.n_ranks);
	}
	small->cluster.steps = &step;
	small->cluster.n_steps = 1;
	const struct fsl_profile_case facts = {
		.profile = &small->profile, .cluster = &small->cluster, .n_threads = 1};
	fsl_profile_findings_sort(&small->findings);
	fsl_localisation_init(verdict);
	assert_int_equal(fsl_profile_conclude(verdict, &facts, &small->findings, &err), FSL_OK);
}

static void conclude(struct small_capture *small, struct fsl_localisation *verdict)
{
	conclude_about(small, 60.0, 30.0, verdict);
}

static void find(struct small_capture *small, enum fsl_code code, int32_t rank, int32_t peer,
		 double gain_ms)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(code);
	finding.rank = rank;
	finding.peer = peer;
	finding.gain_ms = gain_ms;
	finding.what = fsl_code_text(code);
	finding.advice = "";
	assert_int_equal(fsl_profile_findings_add(&small->findings, &finding, NULL), FSL_OK);
}

static void slow_ranks_are_named_by_what_they_cost(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	small_begin(&small, 4);
	find(&small, FSL_CODE_SLOW_RANK_HOST, 1, -1, 10.0);
	find(&small, FSL_CODE_SLOW_RANK_COMPUTE, 3, -1, 30.0);
	find(&small, FSL_CODE_SLOW_LINK, 0, 1, 50.0);
	find(&small, FSL_CODE_HOST_BOUND, -1, -1, 60.0);
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_SLOW_RANK);
	assert_int_equal(verdict.n_culprits, 2);
	assert_int_equal(verdict.culprits[0].rank, 3);
	assert_int_equal(verdict.culprits[0].cause, FSL_CAUSE_COMPUTE);
	assert_near(verdict.culprits[0].share_of_loss, 0.75, 1e-9);
	assert_int_equal(verdict.culprits[1].cause, FSL_CAUSE_HOST);
	assert_near(verdict.lost_ms_per_step, 30.0, 1e-9);
	assert_near(verdict.slowdown, 100.0 / 70.0, 1e-9);
	assert_int_equal(verdict.result_code, 201);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void more_work_names_nobody_and_tells_of_its_experts(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	small_begin(&small, 4);
	find(&small, FSL_CODE_MORE_WORK, 3, -1, 30.0);
	find(&small, FSL_CODE_EXPERT_IMBALANCE, 3, -1, 20.0);
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_WORK_IMBALANCE);
	assert_int_equal(verdict.n_culprits, 0);
	assert_near(verdict.lost_ms_per_step, 30.0, 1e-9);
	assert_string_equal(verdict.reason, "more_work; expert_imbalance");
	assert_int_equal(verdict.result_code, 200);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void a_collective_that_cost_much_once_stands_beside_normal(void **state)
{
	(void)state;
	static const double gains_ms[] = {2.0, 40.0};
	for (size_t i = 0; i < 2; i++) {
		struct small_capture small;
		struct fsl_localisation verdict;
		small_begin(&small, 4);
		find(&small, FSL_CODE_SINGLE_LONG_COLLECTIVE, -1, -1, gains_ms[i]);
		conclude(&small, &verdict);
		assert_int_equal(verdict.kind, FSL_VERDICT_NORMAL);
		assert_int_equal(strstr(verdict.reason, "once, single_long_collective") != NULL,
				 i == 1);
		fsl_localisation_fini(&verdict);
		small_end(&small);
	}
}

static void a_slow_link_has_two_ends_and_must_cost_enough(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct small_capture small;
		struct fsl_localisation verdict;
		small_begin(&small, 4);
		find(&small, FSL_CODE_SLOW_LINK, 0, 2, i == 0 ? 20.0 : 1.0);
		conclude(&small, &verdict);
		assert_int_equal(verdict.kind, i == 0 ? FSL_VERDICT_SLOW_LINK : FSL_VERDICT_NORMAL);
		assert_int_equal(verdict.n_culprits, i == 0 ? 2 : 0);
		if (i == 0) {
			assert_int_equal(verdict.culprits[0].peer, 2);
			assert_int_equal(verdict.culprits[1].rank, 2);
			assert_int_equal(verdict.culprits[1].peer, 0);
		}
		fsl_localisation_fini(&verdict);
		small_end(&small);
	}
}

static void equal_ranks_are_normal_and_the_limits_of_one_step_are_told(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	small_begin(&small, 4);
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_NORMAL);
	assert_non_null(strstr(verdict.reason, "one step was captured"));
	assert_int_equal(verdict.result_code, 200);
	assert_near(verdict.step_ms, 100.0, 1e-9);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void without_collectives_nobody_can_be_seen_to_be_late(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	struct fsl_error err = {0};
	small_begin(&small, 4);
	for (size_t r = 0; r < 4; r++) {
		small_step(&small, r, 7, 60.0, 30.0, 10.0);
	}
	const struct fsl_profile_case facts = {
		.profile = &small.profile, .cluster = &small.cluster, .n_threads = 1};
	fsl_localisation_init(&verdict);
	assert_int_equal(fsl_profile_conclude(&verdict, &facts, &small.findings, &err), FSL_OK);
	assert_int_equal(verdict.kind, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
	assert_non_null(strstr(verdict.reason, "communication.json"));
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void without_times_of_steps_nobody_is_known_to_be_normal(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	struct fsl_error err = {0};
	small_begin(&small, 4);
	(void)small_group(&small, "586", "", false, 0, 4, 4);
	for (size_t r = 0; r < 4; r++) {
		(void)small_comm(&small, r, 7, "hcom_allReduce__586_0_1", "586", 0.0, 5.0);
	}
	const struct fsl_profile_case facts = {
		.profile = &small.profile, .cluster = &small.cluster, .n_threads = 1};
	fsl_localisation_init(&verdict);
	assert_int_equal(fsl_profile_conclude(&verdict, &facts, &small.findings, &err), FSL_OK);
	assert_int_equal(verdict.kind, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
	assert_non_null(strstr(verdict.reason, "step_trace_time.csv"));
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void ranks_that_are_not_known_to_meet_are_not_normal(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	small_begin(&small, 2);
	for (int32_t r = 0; r < 2; r++) {
		(void)small_group(&small, r == 0 ? "586" : "587", "", false, r, 1, 2);
	}
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
	assert_non_null(strstr(verdict.reason, "no two captured ranks"));
	fsl_localisation_fini(&verdict);
	small.profile.has_choice = true;
	conclude(&small, &verdict);
	assert_non_null(strstr(verdict.reason, "no two chosen ranks"));
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void only_members_of_a_torn_group_wait_for_somebody_outside(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	small_begin(&small, 4);
	(void)small_group(&small, "586", "", false, 0, 2, 8);
	(void)small_group(&small, "587", "", false, 2, 2, 2);
	find(&small, FSL_CODE_CAUSE_OUTSIDE, -1, -1, 30.0);
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
	assert_int_equal(verdict.n_victims, 2);
	assert_int_equal(verdict.victims[0].rank, 0);
	assert_int_equal(verdict.victims[1].rank, 1);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void one_rank_alone_cannot_be_compared(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	small_begin(&small, 1);
	conclude_about(&small, 40.0, 30.0, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
	assert_non_null(strstr(verdict.reason, "fewer than two ranks"));
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

/* Nobody is named for it, and nobody is woken. */
static void what_steps_are_made_of_is_the_verdict_if_nobody_is_at_fault(void **state)
{
	(void)state;
	static const struct {
		size_t n_ranks;
		double computing_ms, exposed_ms, host_ms;
		enum fsl_verdict_kind kind;
	} cases[] = {
		{4, 20.0, 10.0, 70.0, FSL_VERDICT_HOST_BOUND},
		{1, 20.0, 10.0, 65.0, FSL_VERDICT_HOST_BOUND},
		{4, 85.0, 5.0, 9.0, FSL_VERDICT_NORMAL}, /* an idle tenth is no bound yet */
		{4, 25.0, 60.0, 0.0, FSL_VERDICT_COMMUNICATION_BOUND},
		{4, 25.0, 60.0, 15.0, FSL_VERDICT_COMMUNICATION_BOUND},
		{4, 55.0, 45.0, 0.0, FSL_VERDICT_NORMAL},
		{1, 90.0, 0.0, 0.0, FSL_VERDICT_COMPUTE_BOUND},
		{4, 90.0, 0.0, 0.0, FSL_VERDICT_NORMAL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		struct fsl_localisation verdict;
		small_begin(&small, cases[i].n_ranks);
		if (cases[i].host_ms > 0.0) {
			find(&small, FSL_CODE_HOST_BOUND, -1, -1, cases[i].host_ms);
		}
		conclude_about(&small, cases[i].computing_ms, cases[i].exposed_ms, &verdict);
		assert_int_equal(verdict.kind, cases[i].kind);
		assert_int_equal(verdict.n_culprits, 0);
		assert_true(fsl_verdict_is_quiet(verdict.kind));
		assert_int_equal(verdict.result_code, 200);
		assert_int_equal(strstr(verdict.reason, "one rank was captured") != NULL,
				 cases[i].n_ranks == 1);
		fsl_localisation_fini(&verdict);
		small_end(&small);
	}
}

static void ranks_files_and_groups_that_are_missing_are_counted(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	small_begin(&small, 2);
	small.profile.ranks[0].info.world_size = 6;
	small_group(&small, "586", "dp", false, 0, 2, 2);
	struct fsl_profile_group *torn = small_group(&small, "587", "tp", false, 0, 2, 3);
	torn->ranks = small_ranks(&small, 0, 3, 4); /* 0, 4, 8 */
	torn->n_ranks = 3;
	torn->n_seen = 1;
	assert_int_equal(FSL_GROW(small.profile.ranks[1].files,
				  small.profile.ranks[1].files_capacity, 1, NULL),
			 FSL_OK);
	small.profile.ranks[1].files[small.profile.ranks[1].n_files++] = (struct fsl_file){
		.path = "x", .format = "x", .state = FSL_FILE_PARTIAL, .n_bytes = 9, .message = ""};
	assert_int_equal(fsl_profile_findings_miss(&small.findings, NULL, "the %s", "clock"),
			 FSL_OK);
	conclude(&small, &verdict);
	const struct fsl_coverage *coverage = &verdict.coverage;
	assert_int_equal(coverage->n_ranks_expected, 7);
	assert_int_equal(coverage->n_missing_ranks, 5);
	assert_int_equal(coverage->missing_ranks[0], 2);
	assert_int_equal(coverage->missing_ranks[4], 8);
	assert_int_equal(coverage->n_files_partial, 1);
	assert_int_equal(coverage->n_groups, 2);
	assert_int_equal(coverage->n_groups_matched, 1);
	assert_int_equal(coverage->n_skipped, 1);
	assert_string_equal(coverage->skipped[0], "the clock");
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static double together_of(const struct fsl_profile_finding *a, const struct fsl_profile_finding *b)
{
	const struct fsl_profile_finding *const named[] = {a, b};
	double ms = 0.0;
	assert_int_equal(fsl_conclude_together(&ms, named, 2, NULL), FSL_OK);
	return ms;
}

/* Each step costs what the rank costs that holds it up most. */
/* In a pipeline few steps may wait for a rank that works longer in all of them. */
static void a_rank_that_is_late_in_most_steps_needs_not_cost_more(void **state)
{
	(void)state;
	const int64_t second[] = {2};
	for (size_t n_late = 0; n_late <= 4; n_late++) {
		struct small_capture small;
		struct fsl_localisation verdict;
		small_begin(&small, 4);
		find(&small, FSL_CODE_SLOW_RANK_HOST, 2, -1, n_late == 4 ? 6.0 : 4.0);
		small.findings.items[0].n_steps = 4;
		small.findings.items[0].seen_steps = second;
		small.findings.items[0].n_seen_steps = 1;
		small.findings.items[0].n_late_steps = n_late;
		conclude(&small, &verdict);
		assert_int_equal(verdict.n_culprits, n_late >= 3 ? 1 : 0);
		assert_int_equal(verdict.n_unconfirmed, n_late >= 3 ? 0 : 1);
		fsl_localisation_fini(&verdict);
		small_end(&small);
	}
}

static void ranks_that_are_slow_in_turn_cost_one_after_the_other(void **state)
{
	(void)state;
	const int64_t even[] = {2, 4}, odd[] = {1, 3}, all[] = {1, 2, 3, 4};
	const double eight[] = {8.0, 6.0}, five[] = {5.0, 5.0}, six[] = {6.0, 6.0, 6.0, 6.0};
	struct fsl_profile_finding a = {.seen_steps = even, .seen_ms = eight, .n_seen_steps = 2},
				   b = {.seen_steps = odd, .seen_ms = five, .n_seen_steps = 2};
	a.n_steps = b.n_steps = 4;
	assert_float_equal(together_of(&a, &b), (8.0 + 6.0 + 5.0 + 5.0) / 4.0, 1e-9);
	b.seen_steps = even;
	assert_float_equal(together_of(&a, &b), (8.0 + 6.0) / 4.0, 1e-9);
	b.seen_steps = all;
	b.seen_ms = six;
	b.n_seen_steps = 4;
	assert_float_equal(together_of(&a, &b), (6.0 + 8.0 + 6.0 + 6.0) / 4.0, 1e-9);
	assert_true(isnan(together_of(&b, &b))); /* a replay of all steps tells */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_4_rank_set_has_a_longer_stage_and_no_slow_rank),
		cmocka_unit_test(in_the_4_rank_set_rank_3_is_slightly_but_always_late),
		cmocka_unit_test(in_the_4_rank_set_rank_0_waits_314_ms_in_the_pipeline),
		cmocka_unit_test(the_2_rank_set_is_incomplete_and_its_cause_lies_outside),
		cmocka_unit_test(without_collectives_nobody_can_be_seen_to_be_late),
		cmocka_unit_test(without_times_of_steps_nobody_is_known_to_be_normal),
		cmocka_unit_test(ranks_that_are_not_known_to_meet_are_not_normal),
		cmocka_unit_test(only_members_of_a_torn_group_wait_for_somebody_outside),
		cmocka_unit_test(memory_that_runs_out_at_any_point_is_a_failure_and_no_crash),
		cmocka_unit_test(slow_ranks_are_named_by_what_they_cost),
		cmocka_unit_test(more_work_names_nobody_and_tells_of_its_experts),
		cmocka_unit_test(a_collective_that_cost_much_once_stands_beside_normal),
		cmocka_unit_test(a_slow_link_has_two_ends_and_must_cost_enough),
		cmocka_unit_test(equal_ranks_are_normal_and_the_limits_of_one_step_are_told),
		cmocka_unit_test(one_rank_alone_cannot_be_compared),
		cmocka_unit_test(what_steps_are_made_of_is_the_verdict_if_nobody_is_at_fault),
		cmocka_unit_test(ranks_files_and_groups_that_are_missing_are_counted),
		cmocka_unit_test(a_rank_that_is_late_in_most_steps_needs_not_cost_more),
		cmocka_unit_test(ranks_that_are_slow_in_turn_cost_one_after_the_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
