/* Claims about the order of the pipeline: one set of clocks, and each thing built from it once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/number.h"
#include "engine/job.h"
#include "plugin/registry.h"
#include "sim/sim.h"

/* The only rank with a timeline tells the steps; its clock is not the one the others are held to.
 */
enum { TELLER = 5, RANKS = 8, STEPS = 300 };

static struct fsl_registry *registry;
static struct fsl_config config;

static int set_up(void **state)
{
	(void)state;
	registry = fsl_registry_create();
	return registry == NULL || fsl_config_load(&config, NULL, registry, NULL) != FSL_OK;
}

static int tear_down(void **state)
{
	(void)state;
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return 0;
}

/* A job on two hosts whose clocks drift by @drift_ppm at most. Free with release(). */
static struct fsl_job *simulate(const char *drift_ppm, const char *clock_ms)
{
	struct fsl_sim_params params;
	struct fsl_job *job = calloc(1, sizeof(*job));
	const char *const settings[] = {
		"tp=4",          "dp=2",    "pairs=2", "steps=300", "step_ms=900",
		"spikes=0",      "ckpt=0",  "gc=0",    "seed=3",    "ranks_per_host=4",
		"timelines=all", drift_ppm, clock_ms};
	assert_non_null(job);
	fsl_sim_params_init(&params);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		assert_int_equal(fsl_sim_params_set(&params, settings[i], NULL), FSL_OK);
	}
	assert_int_equal(fsl_job_init(job, NULL), FSL_OK);
	assert_int_equal(fsl_sim_run_in_memory(&params, &job->run, NULL, NULL), FSL_OK);
	fsl_sim_params_fini(&params);
	assert_int_equal(job->run.n_ranks, RANKS);
	for (size_t r = 0; r < RANKS; r++) {
		struct fsl_rank *rank = &job->run.ranks[r];
		rank->n_stages = r == TELLER ? rank->n_stages : 0;
	}
	return job;
}

static void release(struct fsl_job *job)
{
	fsl_job_fini(job);
	free(job);
}

/* From the begin of the first step to that of the last. */
static int64_t length_ns(const struct fsl_steps *steps)
{
	return steps->items[steps->n_items - 1].begin_ns - steps->items[0].begin_ns;
}

static void assert_same_steps(const struct fsl_steps *a, const struct fsl_steps *b)
{
	assert_int_equal(a->n_items, b->n_items);
	for (size_t s = 0; s < a->n_items; s++) {
		assert_int_equal(a->items[s].begin_ns, b->items[s].begin_ns);
		assert_int_equal(a->items[s].dur_ns, b->items[s].dur_ns);
	}
}

static void assert_one_set_of_clocks(const char *drift_ppm, const char *clock_ms, double least_ppm)
{
	struct fsl_job *job = simulate(drift_ppm, clock_ms);
	struct fsl_job *raw = simulate(drift_ppm, clock_ms);
	assert_int_equal(fsl_job_analyse(job, &config, NULL), FSL_OK);
	assert_int_equal(fsl_job_find_steps(raw, NULL), FSL_OK);
	assert_int_equal(job->steps.source_rank, TELLER);
	assert_int_equal(job->steps.n_items, STEPS);
	assert_true(job->drift_max_ppm >= least_ppm);
	assert_true((length_ns(&job->steps) != length_ns(&raw->steps)) == (least_ppm > 0.0));
	assert_same_steps(&job->steps, &job->progress.steps);
	release(raw);
	release(job);
}

static void perception_and_localisation_stand_on_the_same_straight_steps(void **state)
{
	(void)state;
	assert_one_set_of_clocks("drift_ppm=60", "clock_ms=0", 5.0);
	assert_one_set_of_clocks("drift_ppm=25", "clock_ms=40", 2.0);
}

static void clocks_that_run_alike_are_the_raw_ones(void **state)
{
	(void)state;
	assert_one_set_of_clocks("drift_ppm=0", "clock_ms=0", 0.0);
	assert_one_set_of_clocks("drift_ppm=0", "clock_ms=40", 0.0);
}

static void raw_clocks_serve_where_nothing_can_be_matched(void **state)
{
	(void)state;
	struct fsl_job *job = simulate("drift_ppm=60", "clock_ms=0");
	struct fsl_job *raw = simulate("drift_ppm=60", "clock_ms=0");
	for (size_t r = 0; r < RANKS; r++) {
		job->run.ranks[r].n_ops = 0;
	}
	assert_int_equal(fsl_job_analyse(job, &config, NULL), FSL_OK);
	assert_int_equal(fsl_job_find_steps(raw, NULL), FSL_OK);
	assert_int_equal(job->steps.n_items, STEPS);
	assert_same_steps(&job->steps, &raw->steps);
	release(raw);
	release(job);
}

static void a_hang_is_told_though_the_groups_are_configured_wrongly(void **state)
{
	(void)state;
	int32_t ranks[] = {0, 1, 1};
	struct fsl_rank_list list = {.ranks = ranks, .n_ranks = 3};
	struct fsl_config wrong = config;
	struct fsl_job *job = simulate("drift_ppm=0", "clock_ms=0");
	wrong.hccl_domain[FSL_GROUP_TP] = (struct fsl_domain){.lists = &list, .n_lists = 1};
	wrong.now_ns = job->run.ranks[0].last_event_ns + INT64_C(3600) * FSL_NS_PER_S;
	assert_int_equal(fsl_job_analyse(job, &wrong, NULL), FSL_ERR_CONFIG);
	assert_int_equal(job->perception.kind, FSL_VERDICT_HANG);
	release(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perception_and_localisation_stand_on_the_same_straight_steps),
		cmocka_unit_test(clocks_that_run_alike_are_the_raw_ones),
		cmocka_unit_test(raw_clocks_serve_where_nothing_can_be_matched),
		cmocka_unit_test(a_hang_is_told_though_the_groups_are_configured_wrongly),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
