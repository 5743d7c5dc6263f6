/* Single events: single long collectives, long steps. */
#include "unit/ascend/small_capture.h"

/* @n collectives of 0.5 ms on all ranks, the one numbered @single takes @single_ms. */
static void begin(struct small_capture *small, size_t n_ranks, int n, int single, double single_ms)
{
	double at_ms = 0.0;
	small_begin(small, n_ranks);
	for (int i = 0; i < n; i++) {
		double ms = i == single ? single_ms : 0.5 + 0.01 * (i % 7);
		char name[64];
		(void)snprintf(name, sizeof(name), "hcom_allReduce__483_%d_1", i);
		for (size_t r = 0; r < n_ranks; r++) {
			small_comm(small, r, 4, name, "483", at_ms, ms);
		}
		at_ms += ms + 10.0;
	}
	for (size_t r = 0; r < n_ranks; r++) {
		small_step(small, r, 4, 1000.0, 900.0, 100.0);
	}
}

static void one_collective_of_a_second_among_dozens_is_told(void **state)
{
	(void)state;
	for (size_t n_ranks = 1; n_ranks <= 4; n_ranks += 3) {
		struct small_capture small;
		begin(&small, n_ranks, 48, 17, 1000.0);
		small_judge(&small, fsl_profile_judge_outliers);
		assert_int_equal(small.findings.n_items, 1);
		const struct fsl_profile_finding *finding = small_finding(
			&small.findings, "single_long_collective", n_ranks == 1 ? 0 : -1);
		assert_non_null(finding);
		assert_non_null(strstr(finding->what, "hcom_allReduce__483_17_1"));
		assert_near(finding->gain_ms, 999.5, 0.1);
		assert_int_equal(finding->step, 4);
		small_end(&small);
	}
}

static void a_long_wait_for_a_late_member_is_not_the_collective(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 4, 48, 17, 1000.0);
	for (size_t c = 0; c < small.profile.ranks[2].n_comms; c++) {
		struct fsl_profile_comm *comm = &small.profile.ranks[2].comms[c];
		if (comm->elapse_ns > small_ns(900.0)) {
			comm->begin_ns += small_ns(999.5);
			comm->elapse_ns = small_ns(0.5);
		}
	}
	small_judge(&small, fsl_profile_judge_outliers);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void a_large_one_is_not_like_small_ones(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 1, 48, 17, 1000.0);
	struct fsl_profile_rank *rank = &small.profile.ranks[0];
	assert_int_equal(FSL_GROW(rank->traffic, rank->traffic_capacity, 1, NULL), FSL_OK);
	rank->traffic[rank->n_traffic++] = (struct fsl_profile_traffic){
		.transport = FSL_TRANSPORT_HCCS, .n_bytes = INT64_C(1) << 33};
	rank->comms[17].n_traffic = 1;
	small_judge(&small, fsl_profile_judge_outliers);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void few_many_and_cheap_ones_are_not_told(void **state)
{
	(void)state;
	static const struct {
		int n;
		double ms;
	} cases[] = {{5, 1000.0}, {48, 20.0}, {48, 0.6}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		begin(&small, 2, cases[i].n, 3, cases[i].ms);
		small_judge(&small, fsl_profile_judge_outliers);
		assert_int_equal(small.findings.n_items, 0);
		small_end(&small);
	}
}

static void a_long_step_is_told_with_the_rank_whose_own_time_grew(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	for (int64_t step = 10; step < 15; step++) {
		for (size_t r = 0; r < 4; r++) {
			double more_ms = step == 12 ? 300.0 : 0.0;
			bool is_own = r == 2;
			small_step(&small, r, step, 400.0, 100.0 + (is_own ? 0.0 : more_ms),
				   50.0 + (is_own ? more_ms : 0.0));
		}
	}
	small_judge(&small, fsl_profile_judge_outliers);
	assert_int_equal(small.findings.n_items, 1);
	const struct fsl_profile_finding *finding = small_finding(&small.findings, "long_step", -1);
	assert_non_null(finding);
	assert_int_equal(finding->step, 12);
	assert_near(finding->gain_ms, 60.0, 1e-6);
	assert_near(small_fact(finding, "grew_on_rank"), 2.0, 0.0);
	small_end(&small);
}

static void a_long_step_of_communication_alone_names_no_rank(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	for (int64_t step = 10; step < 15; step++) {
		for (size_t r = 0; r < 4; r++) {
			small_step(&small, r, step, 400.0, step == 12 ? 400.0 : 100.0,
				   step == 12 && r == 2 ? 51.0 : 50.0);
		}
	}
	small_judge(&small, fsl_profile_judge_outliers);
	const struct fsl_profile_finding *finding = small_finding(&small.findings, "long_step", -1);
	assert_non_null(finding);
	assert_null(strstr(finding->what, "rank 2"));
	assert_non_null(strstr(finding->what, "communication took the rest"));
	small_end(&small);
}

static void two_steps_cannot_tell_which_is_long(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_step(&small, 0, 1, 400.0, 100.0, 50.0);
	small_step(&small, 0, 2, 900.0, 100.0, 50.0);
	small_judge(&small, fsl_profile_judge_outliers);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_collective_of_a_second_among_dozens_is_told),
		cmocka_unit_test(a_long_wait_for_a_late_member_is_not_the_collective),
		cmocka_unit_test(a_large_one_is_not_like_small_ones),
		cmocka_unit_test(few_many_and_cheap_ones_are_not_told),
		cmocka_unit_test(a_long_step_is_told_with_the_rank_whose_own_time_grew),
		cmocka_unit_test(a_long_step_of_communication_alone_names_no_rank),
		cmocka_unit_test(two_steps_cannot_tell_which_is_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
