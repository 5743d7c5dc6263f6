/* The dispatch and compute layers on whole sets: the bundled one, and real ones where they are. */
#include <stdlib.h>
#include <unistd.h>

#include "small_capture.h"

struct analysis {
	struct fsl_profile profile;
	struct fsl_profile_cluster cluster;
	struct fsl_profile_findings findings;
};

static void analyse(struct analysis *analysis, const char *path)
{
	struct fsl_error err = {0};
	if (access(path, F_OK) != 0) {
		skip();
	}
	*analysis = (struct analysis){0};
	const struct fsl_profile_options options = {.path = path, .n_threads = 1};
	assert_int_equal(fsl_profile_read(&analysis->profile, &options, &err), FSL_OK);
	assert_int_equal(fsl_profile_cluster_build(&analysis->cluster, &analysis->profile, &err),
			 FSL_OK);
	const struct fsl_profile_case facts = {
		.profile = &analysis->profile, .cluster = &analysis->cluster, .n_threads = 1};
	assert_int_equal(fsl_profile_judge_dispatch(&analysis->findings, &facts, &err), FSL_OK);
	assert_int_equal(fsl_profile_judge_compute(&analysis->findings, &facts, &err), FSL_OK);
	assert_int_equal(fsl_profile_judge_frequency(&analysis->findings, &facts, &err), FSL_OK);
	fsl_profile_findings_sort(&analysis->findings);
}

static void analyse_shared(struct analysis *analysis, const char *set)
{
	const char *folder = getenv("FSL_SHARED_DIR");
	char path[1024];
	(void)snprintf(path, sizeof(path), "%s/data/ascend/%s",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR, set);
	analyse(analysis, path);
}

static void analysis_fini(struct analysis *analysis)
{
	fsl_profile_findings_fini(&analysis->findings);
	fsl_profile_cluster_fini(&analysis->cluster);
	fsl_profile_fini(&analysis->profile);
}

static void the_bundled_set_has_one_slow_device_and_busy_hosts(void **state)
{
	(void)state;
	struct analysis analysis;
	analyse(&analysis, FSL_SOURCE_DIR "/datasets/profile/slow_rank");
	const struct fsl_profile_finding *slow =
		small_finding(&analysis.findings, "slow_kernels", -2);
	const struct fsl_profile_finding *clock =
		small_finding(&analysis.findings, "core_frequency", -2);
	assert_non_null(slow);
	assert_int_equal(slow->rank, 5);
	/* 1800 MHz over 1550. */
	assert_float_equal(small_fact(slow, "slow_ratio"), 1.1613, 0.002);
	assert_non_null(clock);
	assert_int_equal(clock->rank, 5);
	assert_null(small_finding(&analysis.findings, "host_bound", -2));
	assert_int_equal(analysis.findings.n_missing, 0);
	assert_int_equal(analysis.findings.n_items, 3); /* with the top operators */
	analysis_fini(&analysis);
}

static void four_ranks_of_two_stages_are_host_bound_and_no_kernel_is_slow(void **state)
{
	(void)state;
	struct analysis analysis;
	analyse_shared(&analysis, "insight-4rank-level2");
	const struct fsl_profile_finding *finding =
		small_finding(&analysis.findings, "host_bound", -2);
	assert_non_null(finding);
	assert_int_equal(finding->rank, -1);
	assert_float_equal(small_fact(finding, "ranks"), 4.0, 0.0);
	/* Medians of 158.558, 136.820, 131.705 and 147.520 ms. */
	assert_float_equal(finding->gain_ms, 142.16988, 1e-4);
	assert_null(small_finding(&analysis.findings, "slow_kernels", -2));
	assert_null(small_finding(&analysis.findings, "core_frequency", -2));
	analysis_fini(&analysis);
}

static void two_ranks_compile_operators_and_clocks_are_normal(void **state)
{
	(void)state;
	struct analysis analysis;
	analyse_shared(&analysis, "insight-2rank-text/level1");
	const struct fsl_profile_finding *compile =
		small_finding(&analysis.findings, "operator_compile", -2);
	assert_non_null(compile);
	/* aclopCompileAndExecute: 14.04923 and 14.64337 ms; opCompile is within them. */
	assert_float_equal(compile->gain_ms, 14.3463, 1e-4);
	assert_non_null(small_finding(&analysis.findings, "late_first_task", -2));
	assert_null(small_finding(&analysis.findings, "slow_kernels", -2));
	assert_null(small_finding(&analysis.findings, "core_frequency", -2));
	analysis_fini(&analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bundled_set_has_one_slow_device_and_busy_hosts),
		cmocka_unit_test(four_ranks_of_two_stages_are_host_bound_and_no_kernel_is_slow),
		cmocka_unit_test(two_ranks_compile_operators_and_clocks_are_normal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
