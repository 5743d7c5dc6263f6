/* Contradictions inside a set are reported. */
#include "small_capture.h"
#include "source/ascend/cross_check.h"

/* Two ranks with steps 10 and 11 of 60 + 30 + 10 ms, told and rebuilt alike. */
static void begin(struct small_capture *small)
{
	small_begin(small, 2);
	for (size_t r = 0; r < 2; r++) {
		struct fsl_profile_rank *rank = &small->profile.ranks[r];
		for (int64_t step = 10; step < 12; step++) {
			small_step(small, r, step, 60.0, 30.0, 10.0);
			assert_int_equal(FSL_GROW(rank->rebuilt, rank->rebuilt_capacity,
						  rank->n_rebuilt + 1, NULL),
					 FSL_OK);
			rank->rebuilt[rank->n_rebuilt++] = rank->steps[rank->n_steps - 1];
		}
		rank->n_steps_captured = rank->n_steps;
	}
}

static void check(struct small_capture *small, bool has_choice)
{
	assert_int_equal(fsl_profile_cross_check(&small->profile, has_choice, NULL), FSL_OK);
}

static void a_set_that_agrees_has_no_remark(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small);
	small.profile.ranks[0].rebuilt[0].computing_ns += 900000; /* 0.9 % of the step */
	check(&small, false);
	assert_int_equal(small.profile.n_remarks, 0);
	small_end(&small);
}

static void kernels_that_tell_another_step_are_told_with_both_numbers(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small);
	small.profile.ranks[1].rebuilt[1].computing_ns = small_ns(40.0);
	small.profile.ranks[1].rebuilt[1].free_ns = small_ns(28.0);
	check(&small, false);
	assert_int_equal(small.profile.n_remarks, 1);
	assert_non_null(strstr(small.profile.remarks[0],
			       "1 of 2 ranks, least on rank 1: computing in step 11 is 60.0 ms, by "
			       "the kernels 40.0 ms"));
	small_end(&small);
}

static void a_part_that_one_side_does_not_tell_is_not_compared(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small);
	small.profile.ranks[1].rebuilt[1].exposed_ns = FSL_NS_ABSENT;
	check(&small, false);
	assert_int_equal(small.profile.n_remarks, 0);
	small_end(&small);
}

static void a_step_that_one_rank_lacks_is_told(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small);
	small.profile.ranks[1].n_steps = 1;
	check(&small, false);
	assert_int_equal(small.profile.n_remarks, 1);
	assert_non_null(strstr(small.profile.remarks[0],
			       "1 of 2 ranks lack steps that others have, rank 1 lacks step 11"));
	small_end(&small);
}

static void ranks_that_were_captured_minutes_apart_are_told(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct small_capture small;
		begin(&small);
		double apart_ms = i == 0 ? 30000.0 : 300000.0;
		(void)small_comm(&small, 0, 10, "hcom_allReduce__483_0_1", "483", 0.0, 5.0);
		(void)small_comm(&small, 1, 10, "hcom_allReduce__483_0_1", "483", apart_ms, 5.0);
		check(&small, false);
		assert_int_equal(small.profile.n_remarks, i);
		if (i == 1) {
			assert_non_null(strstr(small.profile.remarks[0],
					       "rank 1 was captured 300 s after rank 0"));
		}
		small_end(&small);
	}
}

static void a_schedule_that_was_not_finished_is_told_unless_steps_were_chosen(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small);
	small.profile.ranks[0].info.n_active_steps = 5;
	check(&small, true);
	assert_int_equal(small.profile.n_remarks, 0);
	check(&small, false);
	assert_int_equal(small.profile.n_remarks, 1);
	assert_non_null(strstr(small.profile.remarks[0], "2 of the 5 steps"));
	assert_non_null(strstr(small.profile.remarks[0], "on 1 of 2 ranks"));
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_that_agrees_has_no_remark),
		cmocka_unit_test(kernels_that_tell_another_step_are_told_with_both_numbers),
		cmocka_unit_test(a_part_that_one_side_does_not_tell_is_not_compared),
		cmocka_unit_test(a_step_that_one_rank_lacks_is_told),
		cmocka_unit_test(ranks_that_were_captured_minutes_apart_are_told),
		cmocka_unit_test(a_schedule_that_was_not_finished_is_told_unless_steps_were_chosen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
