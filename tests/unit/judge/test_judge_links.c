/* Single links are listed by their speed, from the slowest to the fastest. */
#include "unit/ascend/small_capture.h"

static void the_slowest_link_is_told_with_its_ends(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	static const double speeds[3][3] = {{300, 20, 18}, {19, 300, 12}, {16, 17, 300}};
	for (size_t r = 0; r < 3; r++) {
		small_step(&small, r, 1, 60.0, 30.0, 10.0);
		for (size_t d = 0; d < 3; d++) {
			small_link(&small, r, 1, "allreduce-total", "586", (int32_t)r, (int32_t)d,
				   100.0, speeds[r][d]);
			small_link(&small, r, 1, "allgather-total", "586", (int32_t)r, (int32_t)d,
				   0.1, 0.1); /* latency */
		}
	}
	small_judge(&small, fsl_profile_judge_links);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "link_range", -1);
	assert_non_null(finding);
	assert_near(small_fact(finding, "hccs_links"), 6.0, 0.0);
	assert_near(small_fact(finding, "hccs_slowest"), 12.0, 1e-6);
	assert_near(small_fact(finding, "hccs_median"), 17.5, 1e-6);
	assert_near(small_fact(finding, "hccs_fastest"), 20.0, 1e-6);
	assert_string_equal(finding->what, "HCCS: 6 links from 12 GB/s (rank 1 to rank 2, "
					   "allreduce) to 20 GB/s, median 17.5 GB/s");
	small_end(&small);
}

static void without_links_nothing_is_said(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	small_judge(&small, fsl_profile_judge_links);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slowest_link_is_told_with_its_ends),
		cmocka_unit_test(without_links_nothing_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
