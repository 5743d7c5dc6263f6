/* Claims about suspects: the detectors' proposals about ranks that are not named. */
#include "charged_job.h"

#include "blame/fuse_parts.h"
#include "plugin/registry.h"

/* Rank 5 is late in every operator; nobody is named, so that it stays a suspect. */
static void suspects_are_heard_whole_or_not_at_all(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_config config = {0};
	struct fsl_registry *registry = fsl_registry_create();
	assert_non_null(registry);
	assert_int_equal(fsl_config_load(&config, NULL, registry, NULL), FSL_OK);
	small_job_init(&c.job, 8, 40);
	c.job.body_ms[5] = 15.0;
	charge(&c);
	bool is_done = false;
	size_t n_failed = 0;
	for (uint64_t nth = 1; !is_done && nth < 400; nth++) {
		struct fsl_case facts = CASE_OF(&c);
		struct fsl_localisation out;
		facts.config = &config;
		fsl_localisation_init(&out);
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_fuse_suspects(&out, &facts, NULL);
		fsl_mem_fail_at(0);
		is_done = status == FSL_OK;
		n_failed += !is_done;
		assert_true(is_done || status == FSL_ERR_MEMORY);
		if (is_done) {
			assert_int_equal(out.n_unconfirmed, 1);
			assert_int_equal(out.unconfirmed[0].rank, 5);
		}
		fsl_localisation_fini(&out);
	}
	assert_true(is_done && n_failed > 5);
	release(&c);
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
}

static enum fsl_status break_down(const struct fsl_view *view, const void *params,
				  struct fsl_findings *out, struct fsl_error *err)
{
	(void)view;
	(void)params;
	(void)out;
	return FSL_FAIL(err, FSL_ERR_INTERNAL, "out of luck");
}

static void the_error_of_a_detector_is_that_of_the_verdict(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_error err = {0};
	struct fsl_detector broken = {.abi = FSL_DETECTOR_ABI,
				      .name = "ArrivalLateness",
				      .needs = FSL_NEED_ANY,
				      .scan = break_down};
	struct fsl_localisation out;
	small_job_init(&c.job, 8, 40);
	charge(&c);
	c.config.detectors[0] = (struct fsl_detector_config){
		.detector = &broken, .name = broken.name, .enabled = true};
	c.config.n_detectors_known = 1;
	struct fsl_case facts = CASE_OF(&c);
	fsl_localisation_init(&out);
	assert_int_equal(fsl_fuse_suspects(&out, &facts, &err), FSL_ERR_INTERNAL);
	assert_string_equal(fsl_error_root(&err), "out of luck");
	fsl_localisation_fini(&out);
	release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suspects_are_heard_whole_or_not_at_all),
		cmocka_unit_test(the_error_of_a_detector_is_that_of_the_verdict),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
