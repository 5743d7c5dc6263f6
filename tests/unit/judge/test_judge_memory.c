/* Amounts of device memory. */
#include "unit/ascend/small_capture.h"

static const int64_t GIB = INT64_C(1) << 30;

static struct fsl_profile_memory *add(struct small_capture *small, size_t r, const char *component,
				      bool is_module, int64_t reserved_bytes)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->memory, rank->memory_capacity, rank->n_memory + 1, NULL),
			 FSL_OK);
	struct fsl_profile_memory *memory = &rank->memory[rank->n_memory++];
	*memory = (struct fsl_profile_memory){.component_id = small_name(rank, component),
					      .is_module = is_module,
					      .allocated_bytes = -1,
					      .reserved_bytes = reserved_bytes,
					      .active_bytes = -1,
					      .largest_bytes = -1,
					      .largest_name_id = FSL_STR_NONE};
	return memory;
}

static const struct fsl_profile_finding *judge(struct small_capture *small)
{
	small_judge(small, fsl_profile_judge_memory);
	return small_finding(&small->findings, "memory_peak", -1);
}

static void the_fullest_rank_is_told_with_its_allocator_and_largest_operator(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	(void)add(&small, 0, "APP", false, 10 * GIB);
	(void)add(&small, 1, "APP", false, 20 * GIB);
	(void)add(&small, 0, "APP", true, 40 * GIB); /* as the driver counts it */
	struct fsl_profile_memory *torch = add(&small, 1, "PTA", false, 16 * GIB);
	torch->allocated_bytes = 8 * GIB;
	torch->largest_bytes = GIB / 2;
	torch->largest_name_id = small_name(&small.profile.ranks[1], "aten::mm");
	const struct fsl_profile_finding *finding = judge(&small);
	assert_non_null(finding);
	assert_near(small_fact(finding, "process"), 20.0, 1e-9);
	assert_near(small_fact(finding, "reserved"), 16.0, 1e-9);
	assert_near(small_fact(finding, "allocated"), 8.0, 1e-9);
	assert_near(small_fact(finding, "largest"), 0.5, 1e-9);
	assert_string_equal(finding->what,
			    "the process of rank 1 holds most memory of its device, 20 GiB; the "
			    "framework's allocator holds at most 16 GiB and uses at most 8 GiB, on "
			    "rank 1; the largest allocation is 0.5 GiB by aten::mm");
	assert_non_null(strstr(finding->advice, "expandable_segments"));
	small_end(&small);
}

static void an_allocator_that_tells_no_use_is_not_said_to_waste(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	(void)add(&small, 0, "PTA", false, 16 * GIB);
	const struct fsl_profile_finding *finding = judge(&small);
	assert_non_null(finding);
	assert_int_equal(finding->n_facts, 1);
	assert_null(strstr(finding->advice, "expandable_segments"));
	small_end(&small);
}

static void without_memory_files_nothing_is_said(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	(void)add(&small, 0, "PTA", false, -1);
	assert_null(judge(&small));
	small_end(&small);
}

static const struct fsl_profile_finding *judge_full(struct small_capture *small, double device_gib)
{
	small->device_bytes = (int64_t)(device_gib * (double)GIB);
	small_judge(small, fsl_profile_judge_memory);
	return small_finding(&small->findings, "hbm_oom", -2);
}

static void a_peak_that_reaches_the_device_is_told_with_the_number_of_ranks(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	(void)add(&small, 0, "APP", false, 30 * GIB);
	(void)add(&small, 0, "PTA", false, 29 * GIB);
	(void)add(&small, 1, "PTA", false, 31 * GIB);
	(void)add(&small, 2, "APP", false, 20 * GIB);
	(void)add(&small, 2, "RUNTIME", true, 40 * GIB); /* of all processes of the device */
	const struct fsl_profile_finding *finding = judge_full(&small, 30.0);
	assert_non_null(finding);
	assert_int_equal(finding->rank, 1);
	assert_near(small_fact(finding, "ranks"), 2.0, 0.0);
	assert_string_equal(finding->what,
			    "rank 1 holds 31 GiB at its peak, its device has 30 GiB; "
			    "2 ranks reach this");
	assert_false(finding->is_overview);
	small_end(&small);
}

static void a_peak_below_the_device_or_a_device_of_unknown_memory_is_no_finding(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		static const double gib[] = {0.0, 24.0, 24.5};
		struct small_capture small;
		small_begin(&small, 1);
		(void)add(&small, 0, "APP", false, 24 * GIB);
		const struct fsl_profile_finding *finding = judge_full(&small, gib[i]);
		assert_true((finding != NULL) == (i == 1));
		if (finding != NULL) {
			assert_string_equal(finding->what, "rank 0 holds 24 GiB at its peak, its "
							   "device has 24 GiB");
		}
		small_end(&small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fullest_rank_is_told_with_its_allocator_and_largest_operator),
		cmocka_unit_test(an_allocator_that_tells_no_use_is_not_said_to_waste),
		cmocka_unit_test(without_memory_files_nothing_is_said),
		cmocka_unit_test(a_peak_that_reaches_the_device_is_told_with_the_number_of_ranks),
		cmocka_unit_test(
			a_peak_below_the_device_or_a_device_of_unknown_memory_is_no_finding),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
