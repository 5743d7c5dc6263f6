/* Number of steps over which amounts are spread, if files tell different numbers. */
#include "capture/step_rows.h"
#include "unit/ascend/small_capture.h"

static void operators_of_steps_that_no_row_tells_are_spread_over_these_too(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	for (int64_t step = 10; step < 13; step++) {
		(void)small_comm(&small, 0, step, "hcom_allReduce__483_0_1", "483", 0.0, 1.0);
		(void)small_comm(&small, 0, step, "hcom_allReduce__483_1_1", "483", 2.0, 1.0);
		(void)small_comm(&small, 1, step, "hcom_allReduce__483_0_1", "483", 0.0, 1.0);
	}
	assert_int_equal(fsl_profile_n_steps(&small.profile.ranks[0]), 3);
	small_step(&small, 1, 10, 6.0, 3.0, 1.0);
	small_step(&small, 1, 11, 6.0, 3.0, 1.0);
	assert_int_equal(fsl_profile_n_steps(&small.profile.ranks[1]), 3);
	small_end(&small);
}

static void a_rank_without_anything_has_one_step(void **state)
{
	(void)state;
	const struct fsl_profile_rank rank = {.info.n_active_steps = -1};
	assert_int_equal(fsl_profile_n_steps(&rank), 1);
	assert_int_equal(fsl_profile_steps_captured(&rank), 1);
}

static void rebuilt_steps_count_by_their_numbers(void **state)
{
	(void)state;
	struct fsl_profile_step rebuilt[] = {{.step = FSL_STEP_ABSENT}, {.step = 7}, {.step = 8}};
	const struct fsl_profile_rank rank = {
		.rebuilt = rebuilt, .n_rebuilt = 3, .info.n_active_steps = -1};
	assert_int_equal(fsl_profile_n_steps(&rank), 2);
}

static void parts_that_do_not_fit_together_are_the_longest_step(void **state)
{
	(void)state;
	const struct fsl_profile_step step = {
		.computing_ns = INT64_MAX - 1, .exposed_ns = INT64_MAX - 1, .free_ns = 1};
	assert_true(fsl_profile_step_ns(&step) == INT64_MAX);
}

static void rows_of_a_second_device_are_no_further_steps(void **state)
{
	(void)state;
	struct fsl_profile_step steps[] = {{.step = 7, .device_id = 0},
					   {.step = 8, .device_id = 0},
					   {.step = 7, .device_id = 1},
					   {.step = 8, .device_id = 1}};
	struct fsl_profile_rank rank = {.steps = steps, .n_steps = 4, .info.n_active_steps = -1};
	assert_int_equal(fsl_profile_n_steps(&rank), 2);
	for (size_t i = 0; i < 4; i++) {
		steps[i].device_id = -1;
	}
	assert_int_equal(fsl_profile_n_steps(&rank), 4);
}

/* The job ended early, or was captured for longer than wanted. */
static void what_was_captured_counts_rather_than_what_was_asked_for(void **state)
{
	(void)state;
	struct fsl_profile_step steps[] = {{.step = 7}};
	struct fsl_profile_rank rank = {
		.steps = steps, .n_steps = 1, .n_steps_captured = 3, .info.n_active_steps = 5};
	assert_int_equal(fsl_profile_steps_captured(&rank), 3);
	rank.n_steps_captured = 0;
	assert_int_equal(fsl_profile_steps_captured(&rank), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_of_steps_that_no_row_tells_are_spread_over_these_too),
		cmocka_unit_test(a_rank_without_anything_has_one_step),
		cmocka_unit_test(rebuilt_steps_count_by_their_numbers),
		cmocka_unit_test(parts_that_do_not_fit_together_are_the_longest_step),
		cmocka_unit_test(rows_of_a_second_device_are_no_further_steps),
		cmocka_unit_test(what_was_captured_counts_rather_than_what_was_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
