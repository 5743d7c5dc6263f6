/* Gradients reduced beneath the backward pass: devices that differ are no culprits, a slow one is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge.h"

/* Sixteen replicas whose ranks work on beneath the reduction of their gradients. */
static struct known_job overlapped(uint64_t seed, double hetero_share)
{
	struct known_job job;
	known_job_init(&job);
	job.params.tp = 1;
	job.params.dp = 16;
	job.params.steps = 80;
	job.params.overlap = true;
	job.params.buckets = 3;
	job.params.micro_batches = 4;
	job.params.hetero_share = hetero_share;
	job.params.timelines = FSL_SIM_TIMELINES_NONE;
	job.params.seed = seed;
	return job;
}

static void devices_that_differ_beneath_operators_name_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct known_job job = overlapped(seed, 0.03);
		struct judgement judgement;
		judge(&judgement, &job, 2);
		assert_int_equal(judgement.n_culprits, 0);
		assert_string_equal(judgement.kind, "normal");
	}
}

static void a_rank_that_slows_down_beneath_operators_is_named_alone(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct known_job job = overlapped(seed, 0.01);
		struct judgement judgement;
		job.fault = FSL_SIM_COMPUTE;
		job.factor = 1.2;
		job.onset_step = 30;
		job.culprits[job.n_culprits++] = (int32_t)(4 + 7 * seed) % 16;
		judge(&judgement, &job, 2);
		assert_int_equal(judgement.n_culprits, 1);
		assert_int_equal(judgement.culprits[0], job.culprits[0]);
	}
}

/* Arcs take the level of a class off, and here it slows down as a whole. */
static void a_slow_host_that_holds_a_whole_stage_is_named(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct known_job job;
		struct judgement judgement;
		known_job_init(&job);
		job.params.tp = 2;
		job.params.dp = 2;
		job.params.pp = 4;
		job.params.chunks = 2;
		job.params.schedule = FSL_SIM_INTERLEAVED;
		job.params.micro_batches = 8;
		job.params.ranks_per_host = 4;
		job.params.steps = 120;
		job.params.seed = seed;
		job.fault = FSL_SIM_COMPUTE;
		job.factor = 1.4;
		job.onset_step = 50;
		for (int32_t r = 0; r < 4; r++) {
			job.culprits[job.n_culprits++] = 4 * (int32_t)seed + r;
		}
		judge(&judgement, &job, 2);
		assert_string_equal(judgement.kind, "slow_host");
		assert_int_equal(judgement.n_culprits, 4);
		for (size_t i = 0; i < 4; i++) {
			assert_int_equal(judgement.culprits[i] / 4, (int)seed);
		}
	}
}

/* Eight ranks on two hosts that gather parameters ahead, as `family=fsdp` says. */
static struct known_job gathered(uint64_t seed, double factor)
{
	struct known_job job;
	known_job_init(&job);
	assert_int_equal(fsl_sim_params_set(&job.params, "family=fsdp", NULL), FSL_OK);
	assert_int_equal(fsl_sim_params_set(&job.params, "host_spread=0.01", NULL), FSL_OK);
	job.params.tp = 1;
	job.params.dp = 8;
	job.params.ranks_per_host = 4;
	job.params.steps = 80;
	job.params.noise_share = 0.008;
	job.params.seed = seed;
	job.fault = FSL_SIM_HOST;
	job.factor = factor;
	job.onset_step = 20;
	return job;
}

/* The slowest of them holds all up; the queues of the others tell that they want for time, too. */
static void a_host_without_time_for_any_of_its_ranks_is_named_as_a_whole(void **state)
{
	static const int32_t firsts[] = {0, 4};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct known_job job = gathered(3 + 2 * i, 4.0 + 0.1 * (double)i);
		struct judgement judgement;
		for (int32_t r = 0; r < 4; r++) {
			job.culprits[job.n_culprits++] = firsts[i] + r;
		}
		judge(&judgement, &job, 2);
		assert_string_equal(judgement.kind, "slow_host");
		assert_int_equal(judgement.n_culprits, 4);
		assert_int_equal(judgement.culprits[0], firsts[i]);
	}
}

static void a_rank_without_host_time_is_named_without_its_mates(void **state)
{
	(void)state;
	for (int32_t r = 1; r < 8; r += 5) {
		struct known_job job = gathered((uint64_t)r, 4.0);
		struct judgement judgement;
		job.culprits[job.n_culprits++] = r;
		judge(&judgement, &job, 2);
		assert_string_equal(judgement.kind, "slow_rank");
		assert_int_equal(judgement.n_culprits, 1);
		assert_int_equal(judgement.culprits[0], r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_that_differ_beneath_operators_name_nobody),
		cmocka_unit_test(a_rank_that_slows_down_beneath_operators_is_named_alone),
		cmocka_unit_test(a_slow_host_that_holds_a_whole_stage_is_named),
		cmocka_unit_test(a_host_without_time_for_any_of_its_ranks_is_named_as_a_whole),
		cmocka_unit_test(a_rank_without_host_time_is_named_without_its_mates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
