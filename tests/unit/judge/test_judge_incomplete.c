/* Groups with members that were not captured, and the waits of the captured ones. */
#include "unit/ascend/small_capture.h"

/* An allReduce of group 586 of which @waiting_ms is idle time, the rest transfer. */
static struct fsl_profile_comm *add_op(struct small_capture *small, size_t r, const char *name,
				       double begin_ms, double elapse_ms, double waiting_ms)
{
	struct fsl_profile_comm *comm = small_comm(small, r, 50, name, "586", begin_ms, elapse_ms);
	comm->idle_ns = small_ns(waiting_ms);
	comm->transit_ns = comm->elapse_ns - comm->idle_ns;
	return comm;
}

static void add_step(struct small_capture *small)
{
	for (size_t r = 0; r < small->profile.n_ranks; r++) {
		small_step(small, r, 50, 20.0, 80.0, 30.0);
	}
}

static void two_of_eight_that_both_idle_wait_for_somebody_outside(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	add_step(&small);
	small_group(&small, "586", "", false, 0, 2, 8);
	add_op(&small, 0, "hcom_allReduce__586_0_1", 0.0, 79.0, 78.8);
	add_op(&small, 1, "hcom_allReduce__586_0_1", 5.608, 73.4, 73.1);
	add_op(&small, 0, "hcom_allReduce__586_1_1", 79.1, 2.0, 1.1);
	add_op(&small, 1, "hcom_allReduce__586_1_1", 79.1, 2.0, 1.2);
	small_judge(&small, fsl_profile_judge_incomplete);
	assert_int_equal(small.findings.n_items, 2);
	const struct fsl_profile_finding *outside =
		small_finding(&small.findings, "cause_outside", -1);
	assert_non_null(outside);
	assert_near(small_fact(outside, "waiting"), 73.1, 1e-6);
	assert_near(small_fact(outside, "starts_later"), 5.608, 1e-6);
	assert_near(small_fact(outside, "last_rank"), 1.0, 1e-6);
	assert_near(outside->gain_ms, 74.2, 1e-6);
	assert_non_null(strstr(outside->what, "all 2 captured ranks wait for 73.1 ms"));
	const struct fsl_profile_finding *incomplete =
		small_finding(&small.findings, "group_incomplete", -1);
	assert_non_null(incomplete);
	assert_non_null(strstr(incomplete->what, "2 of 8 ranks"));
	small_end(&small);
}

static void when_one_of_them_does_not_idle_nothing_is_said_of_others(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	add_step(&small);
	small_group(&small, "586", "dp", false, 0, 2, 8);
	add_op(&small, 0, "hcom_allReduce__586_0_1", 0.0, 79.0, 70.0);
	add_op(&small, 1, "hcom_allReduce__586_0_1", 70.0, 9.0, 0.0);
	small_judge(&small, fsl_profile_judge_incomplete);
	assert_int_equal(small.findings.n_items, 1);
	assert_non_null(small_finding(&small.findings, "group_incomplete", -1));
	small_end(&small);
}

static void one_captured_rank_is_told_likewise(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	add_step(&small);
	small_group(&small, "586", "dp", false, 0, 1, 4);
	add_op(&small, 0, "hcom_allReduce__586_0_1", 0.0, 50.1, 50.0);
	small_judge(&small, fsl_profile_judge_incomplete);
	const struct fsl_profile_finding *outside =
		small_finding(&small.findings, "cause_outside", -1);
	assert_non_null(outside);
	assert_non_null(strstr(outside->what, "the captured rank waits for 50.0 ms"));
	small_end(&small);
}

/* Adds the waits of rank @r for signals of the members of group "586", from member 0 on. */
static void add_signals(struct small_capture *small, size_t r, const double *ms, size_t n)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->waits, rank->waits_capacity, n, NULL), FSL_OK);
	rank->n_waits = n;
	for (size_t i = 0; i < n; i++) {
		rank->waits[i] = (struct fsl_profile_signal_wait){small_name(rank, "586"),
								  (int32_t)i, small_ns(ms[i])};
	}
}

static void the_member_whose_signals_come_last_is_told(void **state)
{
	(void)state;
	static const double first[] = {0.0, 5.0, 3.0, 60.0, 2.0}, second[] = {1.0, 0.0, 2.0, 55.0};
	struct small_capture small;
	small_begin(&small, 2);
	add_step(&small);
	struct fsl_profile_group *group = small_group(&small, "586", "", false, 0, 2, 8);
	struct fsl_profile_member members[] = {{0, 0}, {1, 1}, {3, 13}};
	group->members = members;
	group->n_members = 3;
	add_op(&small, 0, "hcom_allReduce__586_0_1", 0.0, 79.0, 78.8);
	add_op(&small, 1, "hcom_allReduce__586_0_1", 5.608, 73.4, 73.1);
	add_signals(&small, 0, first, 5);
	add_signals(&small, 1, second, 4);
	small_judge(&small, fsl_profile_judge_incomplete);
	const struct fsl_profile_finding *outside =
		small_finding(&small.findings, "cause_outside", -1);
	assert_non_null(outside);
	assert_near(small_fact(outside, "waited_for_member"), 3.0, 0.0);
	assert_near(small_fact(outside, "waited_for"), 55.0, 1e-6);
	assert_non_null(strstr(outside->what, "; 90 % of the waits for signals, 55.0 ms a step, "
					      "are for member 3 of the group (rank 13)"));
	small_end(&small);
}

static void signals_alone_tell_whom_operators_without_waits_wait_for(void **state)
{
	(void)state;
	static const double first[] = {0.0, 5.0, 3.0, 60.0, 2.0}, second[] = {1.0, 0.0, 2.0, 55.0};
	struct small_capture small;
	small_begin(&small, 2);
	add_step(&small);
	(void)small_group(&small, "586", "", false, 0, 2, 8);
	add_op(&small, 0, "hcom_allReduce__586_0_1", 0.0, 79.0, 0.0);
	add_op(&small, 1, "hcom_allReduce__586_0_1", 5.608, 73.4, 0.0);
	add_signals(&small, 0, first, 5);
	add_signals(&small, 1, second, 4);
	small_judge(&small, fsl_profile_judge_incomplete);
	const struct fsl_profile_finding *outside =
		small_finding(&small.findings, "cause_outside", -1);
	assert_non_null(outside);
	assert_near(outside->gain_ms, 55.0, 1e-6);
	assert_non_null(strstr(outside->what, "are for member 3 of the group, which was not "
					      "captured (6 of 8 were not)"));
	small_end(&small);
}

static void signals_that_tell_nobody_are_not_told(void **state)
{
	(void)state;
	static const struct {
		double first[4], second[4];
		size_t n;
	} cases[] = {
		{{0.0, 5.0, 60.0, 9.0}, {5.0, 0.0, 9.0, 60.0}, 4}, /* they do not agree */
		{{0.0, 5.0, 6.0, 7.0}, {5.0, 0.0, 6.0, 7.0}, 4},   /* no half of the waits */
		{{60.0, 5.0, 6.0, 7.0}, {60.0, 0.0, 6.0, 7.0}, 4}, /* it was captured */
		{{0.0, 60.0, 0.0, 0.0}, {0.0, 60.0, 0.0, 0.0}, 2}, /* a neighbour in a ring */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		small_begin(&small, 2);
		add_step(&small);
		struct fsl_profile_group *group = small_group(&small, "586", "", false, 0, 2, 8);
		struct fsl_profile_member members[] = {{0, 0}};
		group->members = members;
		group->n_members = 1;
		add_op(&small, 0, "hcom_allReduce__586_0_1", 0.0, 79.0, 78.8);
		add_op(&small, 1, "hcom_allReduce__586_0_1", 5.608, 73.4, 73.1);
		add_signals(&small, 0, cases[i].first, cases[i].n);
		add_signals(&small, 1, cases[i].second, cases[i].n);
		small_judge(&small, fsl_profile_judge_incomplete);
		const struct fsl_profile_finding *outside =
			small_finding(&small.findings, "cause_outside", -1);
		assert_non_null(outside);
		assert_null(strstr(outside->what, "signals"));
		small_end(&small);
	}
}

static void a_captured_rank_without_operators_is_not_said_to_lack(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	add_step(&small);
	struct fsl_profile_group *group = small_group(&small, "586", "dp", false, 0, 2, 3);
	group->ranks = small_ranks(&small, 0, 3, 1);
	group->n_ranks = 3;
	add_op(&small, 0, "hcom_allReduce__586_0_1", 0.0, 50.1, 50.0);
	add_op(&small, 1, "hcom_allReduce__586_0_1", 0.0, 50.1, 50.0);
	small_judge(&small, fsl_profile_judge_incomplete);
	const struct fsl_profile_finding *incomplete =
		small_finding(&small.findings, "group_incomplete", -1);
	assert_non_null(
		strstr(incomplete->what, "2 of 3 ranks were captured with its operators; who"));
	assert_non_null(strstr(incomplete->advice, "level 1"));
	assert_non_null(strstr(small_finding(&small.findings, "cause_outside", -1)->what,
			       "that was not captured with its operators (1 of 3 were not)"));
	small_end(&small);
}

static void ranks_that_were_not_asked_for_are_not_said_to_lack(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	add_step(&small);
	small.profile.has_choice = true;
	small_group(&small, "586", "dp", false, 0, 1, 4);
	add_op(&small, 0, "hcom_allReduce__586_0_1", 0.0, 50.1, 50.0);
	small_judge(&small, fsl_profile_judge_incomplete);
	for (size_t i = 0; i < small.findings.n_items; i++) {
		assert_null(strstr(small.findings.items[i].what, "captured"));
		assert_non_null(strstr(small.findings.items[i].advice, "--ranks"));
	}
	assert_non_null(strstr(small_finding(&small.findings, "cause_outside", -1)->what,
			       "the chosen rank waits for 50.0 ms"));
	small_end(&small);
}

static void whole_groups_are_not_told_however_long_they_idle(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	add_step(&small);
	small_group(&small, "586", "dp", false, 0, 2, 2);
	small_group(&small, "128", "pp", true, 0, 1, 2); /* pairs are not all captured: usual */
	for (size_t r = 0; r < 2; r++) {
		add_op(&small, r, "hcom_allReduce__586_0_1", 0.0, 50.0, 49.9);
	}
	small_judge(&small, fsl_profile_judge_incomplete);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void transfers_that_are_called_idle_are_no_waits(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct small_capture small;
		small_begin(&small, 1);
		add_step(&small);
		small_group(&small, "586", "dp", false, 0, 1, 4);
		struct fsl_profile_comm *comm =
			add_op(&small, 0, "hcom_reduceScatter__586_0_1", 0.0, 50.0, 50.0);
		if (i == 1) { /* without it nothing tells of transfers */
			struct fsl_profile_rank *rank = &small.profile.ranks[0];
			assert_int_equal(FSL_GROW(rank->traffic, rank->traffic_capacity, 1, NULL),
					 FSL_OK);
			rank->traffic[rank->n_traffic++] = (struct fsl_profile_traffic){
				.transport = FSL_TRANSPORT_HCCS, .time_ns = small_ns(49.0)};
			comm->n_traffic = 1;
		}
		small_judge(&small, fsl_profile_judge_incomplete);
		assert_int_equal(small.findings.n_items, 1);
		assert_non_null(small_finding(&small.findings, "group_incomplete", -1));
		small_end(&small);
	}
}

static void many_incomplete_groups_are_counted(void **state)
{
	(void)state;
	static const char *const hashes[] = {"100", "101", "102", "103",
					     "104", "105", "106", "107"};
	struct small_capture small;
	small_begin(&small, 2);
	for (size_t g = 0; g < 8; g++) {
		small_group(&small, hashes[g], "dp", false, 0, 1, 2);
	}
	small_judge(&small, fsl_profile_judge_incomplete);
	assert_int_equal(small.findings.n_items, 8);
	assert_int_equal(small.findings.n_missing, 0);
	small_end(&small);
}

/* Two victims that wait 74 or 12 ms for somebody outside, and are free for 30 ms. */
static void nothing_is_won_at_those_who_wait_for_somebody_outside(void **state)
{
	(void)state;
	const double waiting_ms[] = {74.0, 12.0};
	for (size_t i = 0; i < 2; i++) {
		struct small_capture small;
		small_begin(&small, 2);
		add_step(&small);
		small_group(&small, "586", "", false, 0, 2, 8);
		for (size_t r = 0; r < 2; r++) {
			add_op(&small, r, "hcom_allReduce__586_0_1", 0.0, waiting_ms[i] + 1.0,
			       waiting_ms[i]);
		}
		struct fsl_profile_case facts = {
			.profile = &small.profile, .cluster = &small.cluster, .n_threads = 1};
		assert_int_equal(judge_whole(&small.findings, &facts, NULL), FSL_OK);
		const struct fsl_profile_finding *host =
			small_finding(&small.findings, "host_bound", -1);
		assert_non_null(host);
		assert_int_equal(isnan(host->gain_ms), i == 0);
		assert_true(i == 0 || fabs(host->gain_ms - 18.0) < 1e-6);
		small_end(&small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_won_at_those_who_wait_for_somebody_outside),
		cmocka_unit_test(two_of_eight_that_both_idle_wait_for_somebody_outside),
		cmocka_unit_test(when_one_of_them_does_not_idle_nothing_is_said_of_others),
		cmocka_unit_test(one_captured_rank_is_told_likewise),
		cmocka_unit_test(the_member_whose_signals_come_last_is_told),
		cmocka_unit_test(signals_alone_tell_whom_operators_without_waits_wait_for),
		cmocka_unit_test(signals_that_tell_nobody_are_not_told),
		cmocka_unit_test(a_captured_rank_without_operators_is_not_said_to_lack),
		cmocka_unit_test(ranks_that_were_not_asked_for_are_not_said_to_lack),
		cmocka_unit_test(whole_groups_are_not_told_however_long_they_idle),
		cmocka_unit_test(transfers_that_are_called_idle_are_no_waits),
		cmocka_unit_test(many_incomplete_groups_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
