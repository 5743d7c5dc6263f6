/* Windows of a capture: members of a class, parts of the mean step. */
#include "unit/ascend/small_capture.h"

#include "judge/to_windows.h"

enum { MEMBERS = 3, WINDOWS = 2 };

static const double values[MEMBERS * WINDOWS] = {0.0, 1.0, (double)NAN, 3.0, 4.0, 5.0};

static int64_t look_up_ns(const struct fsl_window_source *source, size_t member, size_t window)
{
	(void)source;
	return isnan(values[member * WINDOWS + window]) ? FSL_NS_ABSENT
							: (int64_t)(100 * member + window);
}

/* As a channel makes them: values alone, times are looked up. */
static void fill_all(struct fsl_windows *all)
{
	assert_int_equal(fsl_windows_init_values(all, FSL_METRIC_LATENESS, FSL_WINDOW_INSTANCE,
						 MEMBERS, WINDOWS, NULL),
			 FSL_OK);
	all->source.first_ns = look_up_ns;
	memcpy(all->values, values, sizeof(values));
	for (size_t m = 0; m < MEMBERS; m++) {
		all->ranks[m] = 10 * (int32_t)m;
	}
}

static void picked_members_keep_their_ranks_values_and_times(void **state)
{
	(void)state;
	struct fsl_windows all, some;
	fill_all(&all);
	const uint32_t members[] = {1, 2};
	assert_int_equal(fsl_profile_pick_windows(&some, &all, members, 2, NULL), FSL_OK);
	assert_int_equal(some.metric, FSL_METRIC_LATENESS);
	assert_int_equal(some.kind, FSL_WINDOW_INSTANCE);
	assert_int_equal(some.n_members, 2);
	assert_int_equal(some.n_windows, WINDOWS);
	assert_int_equal(some.ranks[0], 10);
	assert_int_equal(some.ranks[1], 20);
	assert_true(isnan(some.values[0]));
	assert_int_equal(some.n_samples[0], 0);
	assert_int_equal(some.first_ns[0], FSL_NS_ABSENT);
	for (size_t i = 1; i < 2 * WINDOWS; i++) {
		assert_near(some.values[i], values[WINDOWS + i], 0.0);
		assert_int_equal(some.n_samples[i], 1);
	}
	assert_int_equal(some.first_ns[3], 201);
	fsl_windows_fini(&some);
	fsl_windows_fini(&all);
}

static void members_are_counted_window_by_window(void **state)
{
	(void)state;
	struct fsl_windows all;
	uint32_t n[WINDOWS] = {7, 7};
	fill_all(&all);
	fsl_profile_count_members(&all, n);
	assert_int_equal(n[0], 2);
	assert_int_equal(n[1], 3);
	fsl_windows_fini(&all);
}

static void a_part_of_the_mean_step_is_one_window(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_windows own;
	small_begin(&small, 3);
	small_step(&small, 0, 1, 400.0, 10.0, 20.0);
	small_step(&small, 0, 2, 410.0, 10.0, 30.0);
	small_step(&small, 2, 1, 500.0, 10.0, 40.0);
	const uint32_t ranks[] = {0, 1, 2};
	assert_int_equal(
		fsl_profile_part_windows(&own, &small.profile, ranks, 3, FSL_PART_COMPUTING, NULL),
		FSL_OK);
	assert_int_equal(own.metric, FSL_METRIC_OWN);
	assert_int_equal(own.kind, FSL_WINDOW_STEP);
	assert_int_equal(own.n_windows, 1);
	assert_near(own.values[0], 405.0, 1e-9);
	assert_int_equal(own.n_samples[0], 2);
	assert_true(isnan(own.values[1])); /* without steps */
	assert_int_equal(own.n_samples[1], 0);
	assert_near(own.values[2], 500.0, 1e-9);
	assert_int_equal(own.ranks[2], 2);
	fsl_windows_fini(&own);
	assert_int_equal(
		fsl_profile_part_windows(&own, &small.profile, ranks + 2, 1, FSL_PART_FREE, NULL),
		FSL_OK);
	assert_near(own.values[0], 40.0, 1e-9);
	assert_int_equal(own.ranks[0], 2);
	fsl_windows_fini(&own);
	small_end(&small);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct small_capture small;
	const uint32_t members[] = {0, 1};
	small_begin(&small, 2);
	for (uint64_t nth = 1; nth <= 4; nth++) {
		struct fsl_windows all, out = {0};
		fill_all(&all);
		fsl_mem_fail_at(nth);
		assert_int_equal(fsl_profile_pick_windows(&out, &all, members, 2, NULL),
				 FSL_ERR_MEMORY);
		fsl_mem_fail_at(nth);
		assert_int_equal(fsl_profile_part_windows(&out, &small.profile, members, 2,
							  FSL_PART_COMPUTING, NULL),
				 FSL_ERR_MEMORY);
		fsl_mem_fail_at(0);
		assert_null(out.values);
		fsl_windows_fini(&all);
	}
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(picked_members_keep_their_ranks_values_and_times),
		cmocka_unit_test(members_are_counted_window_by_window),
		cmocka_unit_test(a_part_of_the_mean_step_is_one_window),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
