/* Detectors are shown the windows of a capture; they propose, and the verdict has decided. */
#include "unit/ascend/small_capture.h"

#include "judge/observe.h"
#include "plugin/registry.h"

enum { RANKS = 4, USES = 40, STEPS = 2 };

static struct fsl_registry *registry;
static struct fsl_config config;

static int load_defaults(void **state)
{
	(void)state;
	registry = fsl_registry_create();
	return registry == NULL || fsl_config_load(&config, NULL, registry, NULL) != FSL_OK;
}

static int unload(void **state)
{
	(void)state;
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return 0;
}

/* All ranks meet every 10 ms; @late comes 3 ms after the others. Ranks are @first and up. */
static void begin(struct small_capture *small, int32_t first, size_t late)
{
	static int64_t steps[STEPS] = {7, 8};
	small_begin(small, RANKS);
	small->cluster.steps = steps;
	small->cluster.n_steps = STEPS;
	(void)small_group(small, "586", "tp", false, first, RANKS, RANKS);
	for (size_t r = 0; r < RANKS; r++) {
		double late_ms = r == late ? 3.0 : 0.0;
		small->profile.ranks[r].rank = first + (int32_t)r;
		for (size_t s = 0; s < STEPS; s++) {
			small_step(small, r, steps[s], 150.0, 40.0, 10.0);
		}
		for (size_t i = 0; i < USES; i++) {
			char name[64];
			(void)snprintf(name, sizeof(name), "hcom_allGather__586_%zu_1", i);
			small_comm(small, r, steps[i * STEPS / USES], name, "586",
				   10.0 * (double)i + late_ms, 5.0 - late_ms);
		}
	}
}

static void observe(struct small_capture *small, struct fsl_localisation *verdict)
{
	struct fsl_error err = {0};
	struct fsl_profile_meetings meetings;
	const struct fsl_profile_case facts = {
		.profile = &small->profile, .cluster = &small->cluster, .n_threads = 1};
	assert_int_equal(fsl_profile_meet(&meetings, facts.profile, facts.cluster, &err), FSL_OK);
	assert_int_equal(fsl_profile_observe(verdict, &facts, &meetings, &config, &err), FSL_OK);
	fsl_profile_meetings_fini(&meetings);
}

static bool is_told(const struct fsl_localisation *verdict, const char *words)
{
	for (size_t i = 0; i < verdict->coverage.n_skipped; i++) {
		if (strstr(verdict->coverage.skipped[i], words) != NULL) {
			return true;
		}
	}
	return false;
}

static void a_rank_that_a_detector_accuses_is_unconfirmed_by_its_number(void **state)
{
	(void)state;
	static const int32_t firsts[] = {0, 40};
	static const size_t late[] = {3, 1};
	for (size_t i = 0; i < 2; i++) {
		struct small_capture small;
		struct fsl_localisation verdict;
		fsl_localisation_init(&verdict);
		begin(&small, firsts[i], late[i]);
		observe(&small, &verdict);
		assert_int_equal(verdict.n_unconfirmed, 1);
		assert_int_equal(verdict.unconfirmed[0].rank, firsts[i] + (int32_t)late[i]);
		assert_string_equal(verdict.unconfirmed[0].detector, "ArrivalLateness");
		assert_int_equal(verdict.n_culprits, 0);
		fsl_localisation_fini(&verdict);
		small_end(&small);
	}
}

static void a_rank_that_the_verdict_names_is_not_unconfirmed(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	struct fsl_culprit culprit = fsl_culprit_of(2);
	fsl_localisation_init(&verdict);
	assert_int_equal(FSL_APPEND(&verdict, culprits, &culprit, NULL), FSL_OK);
	begin(&small, 0, 2);
	observe(&small, &verdict);
	assert_int_equal(verdict.n_unconfirmed, 0);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void a_detector_that_cannot_run_on_a_capture_says_why(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	begin(&small, 0, 3);
	observe(&small, &verdict);
	assert_true(
		is_told(&verdict, "SlidingWindowDBSCAN: HcclAllGather tp [0,1,2,3]: 1 windows"));
	assert_true(is_told(&verdict, "StepKSigma, BoxPlot, Hang: a capture is a few steps"));
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void memory_that_runs_out_is_a_failure_and_no_crash(void **state)
{
	(void)state;
	struct small_capture small;
	enum fsl_status status = FSL_ERR_MEMORY;
	struct fsl_profile_meetings meetings;
	begin(&small, 0, 3);
	const struct fsl_profile_case facts = {
		.profile = &small.profile, .cluster = &small.cluster, .n_threads = 1};
	assert_int_equal(fsl_profile_meet(&meetings, facts.profile, facts.cluster, NULL), FSL_OK);
	for (uint64_t n = 1; status != FSL_OK; n++) {
		struct fsl_error err = {0};
		struct fsl_localisation verdict;
		fsl_localisation_init(&verdict);
		fsl_mem_fail_at(n);
		status = fsl_profile_observe(&verdict, &facts, &meetings, &config, &err);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		fsl_localisation_fini(&verdict);
	}
	fsl_profile_meetings_fini(&meetings);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_a_detector_accuses_is_unconfirmed_by_its_number),
		cmocka_unit_test(a_rank_that_the_verdict_names_is_not_unconfirmed),
		cmocka_unit_test(a_detector_that_cannot_run_on_a_capture_says_why),
		cmocka_unit_test(memory_that_runs_out_is_a_failure_and_no_crash),
	};
	return cmocka_run_group_tests(tests, load_defaults, unload);
}
