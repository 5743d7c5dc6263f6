/* Step series and runs made by hand, and the perception of them. */
#ifndef FSL_TESTS_UNIT_DETECT_PERCEIVE_FIXTURE_H
#define FSL_TESTS_UNIT_DETECT_PERCEIVE_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "detect/perceive.h"

#define MS     INT64_C(1000000)
#define MINUTE (INT64_C(60) * FSL_NS_PER_S)
#define T0     (INT64_C(1750000000) * FSL_NS_PER_S)

enum { STEPS_MAX = 2000 };

struct fixture {
	struct fsl_run run;
	struct fsl_steps steps;
	struct fsl_job_step items[STEPS_MAX];
	struct fsl_config config;
	struct fsl_perception out;
	struct fsl_error err;
	uint64_t random;
};

static struct fixture fixture;

#define assert_near(value, wanted, tolerance) assert_true(fabs((value) - (wanted)) <= (tolerance))

static inline int setup(void **state)
{
	(void)state;
	memset(&fixture, 0, sizeof(fixture));
	fixture.config = (struct fsl_config){
		.task_stable_step = 3,
		.max_data_queue_steps = 1000,
		.min_startup_detection_steps = 10,
		.hang_times_mins_thr = 30,
		.steps_window_size = 10,
		.k_sigma = 2,
		.anomaly_degree_thr = 0.2,
		.now_ns = T0,
	};
	fixture.steps.items = fixture.items;
	fixture.steps.source = "timeline";
	fixture.random = 1;
	return fsl_run_init(&fixture.run, &fixture.err) == FSL_OK ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	fsl_mem_fail_at(0);
	fsl_perception_fini(&fixture.out);
	fsl_run_fini(&fixture.run);
	return 0;
}

/* Uniform in [-1, 1]; the same numbers in every run. */
static inline double noise(void)
{
	fixture.random = fixture.random * 6364136223846793005U + 1442695040888963407U;
	return (double)(fixture.random >> 11) * 0x1p-52 - 1.0;
}

/* Appends steps of about @ms. */
static inline void add_steps(size_t n, double ms, double noise_share)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = fixture.steps.n_items++;
		assert_true(k < STEPS_MAX);
		int64_t begin_ns =
			k > 0 ? fixture.items[k - 1].begin_ns + fixture.items[k - 1].dur_ns : T0;
		double dur_ms = ms * (1.0 + noise_share * noise());
		fixture.items[k] = (struct fsl_job_step){
			.step = (int64_t)k + 100,
			.begin_ns = begin_ns,
			.dur_ns = (int64_t)(dur_ms * (double)MS),
		};
	}
}

static inline enum fsl_status perceive_steps(struct fsl_error *err)
{
	struct fsl_progress progress;
	enum fsl_status status = fsl_progress_build(&progress, &fixture.run, &fixture.steps, err);
	if (status == FSL_OK) {
		status = fsl_perceive(&fixture.out, &fixture.run, &progress, &fixture.config, err);
		fsl_progress_fini(&progress);
	}
	return status;
}

static inline void perceive(void)
{
	fsl_perception_fini(&fixture.out);
	assert_int_equal(perceive_steps(&fixture.err), FSL_OK);
}

static inline void check_kind(enum fsl_verdict_kind kind, const char *anomaly_type)
{
	if (fixture.out.kind != kind) {
		print_error("reason: %s\n", fixture.out.reason);
	}
	assert_int_equal(fixture.out.kind, kind);
	assert_string_equal(fixture.out.anomaly_type, anomaly_type);
	assert_int_equal(fixture.out.is_anomaly, strcmp(anomaly_type, "normal") != 0);
	assert_true(strlen(fixture.out.reason) > 0);
}

/* Ranks that were last seen at T0 + last_ms[i]. */
static inline void add_ranks(const int64_t *last_ms, int32_t n)
{
	for (int32_t r = 0; r < n; r++) {
		struct fsl_rank *rank = fsl_run_add_rank(&fixture.run, r, &fixture.err);
		assert_non_null(rank);
		rank->last_event_ns = T0 + last_ms[r] * MS;
	}
}

static inline uint32_t name(const char *text)
{
	uint32_t id = FSL_STR_NONE;
	assert_int_equal(
		fsl_strpool_intern(fixture.run.names, text, strlen(text), &id, &fixture.err),
		FSL_OK);
	return id;
}

/* Gives rank @r one ended operator in @group and, when @waits, an open one. */
static inline void add_use(int32_t r, const char *group, bool waits)
{
	struct fsl_rank *rank = fsl_run_add_rank(&fixture.run, r, &fixture.err);
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, &fixture.err),
			 FSL_OK);
	rank->ops[rank->n_ops++] = (struct fsl_op){.group_id = name(group)};
	if (waits) {
		rank->open_op_id = name("HcclAllGather");
		rank->open_group_id = name(group);
		rank->open_begin_ns = rank->last_event_ns;
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
