/*
 * The dispatch and compute layers on whole sets: the bundled one, and real ones if they are there.
 */
#include "capture/step_rows.h"
#include "unit/ascend/whole_set.h"

static void analyse(struct whole_set *set)
{
	struct fsl_error err = {0};
	struct fsl_profile_case facts = whole_set_case(set);
	struct fsl_profile_meetings meetings;
	struct fsl_capture_places places;
	assert_int_equal(fsl_profile_meet(&meetings, &set->profile, &set->cluster, &err), FSL_OK);
	assert_int_equal(fsl_capture_places_find(&places, &set->profile, &set->cluster, &facts.look,
						 &meetings, &err),
			 FSL_OK);
	facts.places = &places;
	assert_int_equal(fsl_profile_judge_dispatch(&set->findings, &facts, &err), FSL_OK);
	assert_int_equal(fsl_profile_judge_compute(&set->findings, &facts, &err), FSL_OK);
	assert_int_equal(fsl_profile_judge_frequency(&set->findings, &facts, &err), FSL_OK);
	fsl_capture_places_fini(&places);
	fsl_profile_meetings_fini(&meetings);
	fsl_profile_findings_sort(&set->findings);
}

static void the_bundled_set_has_one_slow_device_and_busy_hosts(void **state)
{
	(void)state;
	struct whole_set set;
	whole_set_begin(&set, FSL_SOURCE_DIR "/datasets/profile/slow_rank");
	analyse(&set);
	const struct fsl_profile_finding *slow = small_finding(&set.findings, "slow_kernels", -2);
	const struct fsl_profile_finding *clock =
		small_finding(&set.findings, "core_frequency", -2);
	assert_non_null(slow);
	assert_int_equal(slow->rank, 5);
	/* 1800 MHz over 1550. */
	assert_float_equal(small_fact(slow, "slow_ratio"), 1.1613, 0.002);
	assert_non_null(clock);
	assert_int_equal(clock->rank, 5);
	assert_null(small_finding(&set.findings, "host_bound", -2));
	assert_int_equal(set.findings.n_missing, 0);
	assert_int_equal(set.findings.n_items, 4); /* with the top operators and the clocks */
	whole_set_end(&set);
}

static void four_ranks_of_two_stages_are_host_bound_and_no_kernel_is_slow(void **state)
{
	(void)state;
	struct whole_set set;
	whole_set_begin_shared(&set, "insight-4rank-level2");
	analyse(&set);
	const struct fsl_profile_finding *finding = small_finding(&set.findings, "host_bound", -2);
	assert_non_null(finding);
	assert_int_equal(finding->rank, -1);
	assert_float_equal(small_fact(finding, "ranks"), 4.0, 0.0);
	/* Medians of 158.558, 136.820, 131.705 and 147.520 ms. */
	assert_float_equal(finding->gain_ms, 142.16988, 1e-4);
	assert_null(small_finding(&set.findings, "slow_kernels", -2));
	assert_null(small_finding(&set.findings, "core_frequency", -2));
	whole_set_end(&set);
}

static void two_ranks_compile_next_to_nothing_and_clocks_are_normal(void **state)
{
	(void)state;
	struct whole_set set;
	whole_set_begin_shared(&set, "insight-2rank-text/level1");
	analyse(&set);
	/* aclopCompileAndExecute takes 14.05 and 14.64 ms, opCompile within it 0.37 and 0.47 ms. */
	assert_null(small_finding(&set.findings, "operator_compile", -2));
	assert_non_null(small_finding(&set.findings, "late_first_task", -2));
	assert_null(small_finding(&set.findings, "slow_kernels", -2));
	assert_null(small_finding(&set.findings, "core_frequency", -2));
	whole_set_end(&set);
}

/* Times in kernel_details.csv are rounded: alone they are 2.3e-6 off (test_read_kernel_details.c).
 */
static void steps_rebuilt_from_a_whole_trace_are_those_of_the_profiler(void **state)
{
	(void)state;
	struct whole_set set;
	whole_set_begin_shared(&set, "insight-2rank-text/level1");
	for (size_t r = 0; r < set.profile.n_ranks; r++) {
		const struct fsl_profile_rank *rank = &set.profile.ranks[r];
		size_t n = 0;
		const struct fsl_profile_step *row = fsl_profile_rebuilt_rows(rank, &n);
		assert_int_equal(n, 1);
		assert_true(rank->n_rebuilt == 1 && rank->rebuilt != row);
		for (enum fsl_profile_part part = 0; part < FSL_PART_PREPARING; part++) {
			assert_int_equal(fsl_profile_part_ns(row, part),
					 fsl_profile_part_ns(rank->steps, part));
		}
	}
	whole_set_end(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bundled_set_has_one_slow_device_and_busy_hosts),
		cmocka_unit_test(four_ranks_of_two_stages_are_host_bound_and_no_kernel_is_slow),
		cmocka_unit_test(two_ranks_compile_next_to_nothing_and_clocks_are_normal),
		cmocka_unit_test(steps_rebuilt_from_a_whole_trace_are_those_of_the_profiler),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
