/* The template that contributors start from is itself a working detector. */
#include "detectors/bench.h"

extern const struct fsl_detector fsl_detector_template;

static void template_is_complete_and_finds_the_slow_member(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	if (fsl_detector_check(&fsl_detector_template, &err) != FSL_OK) {
		fail_msg("%s", fsl_error_root(&err));
	}
	struct bench bench = {.registry = fsl_registry_create(), .seed = 1};
	bench.config.detector = &fsl_detector_template;
	assert_int_equal(fsl_registry_params(&fsl_detector_template, NULL, "test", &bench.arena,
					     &bench.config.params, NULL),
			 FSL_OK);
	bench_shape(&bench, FSL_METRIC_OWN, FSL_WINDOW_STEP, 4, 20);
	bench_fill(&bench, 10.0, 1.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 2, 5, 9, 10.0);
	bench_expect_one(&bench, 2, 5, 9);
	bench_expect_memory_errors(&bench);
	bench_shape(&bench, FSL_METRIC_OWN, FSL_WINDOW_STEP, 2, 20);
	bench_fill(&bench, 10.0, 9.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(template_is_complete_and_finds_the_slow_member),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
