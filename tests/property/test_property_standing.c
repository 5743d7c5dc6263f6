/* Own past beside peers: whole stages, halves and hosts that slow down; devices that differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge.h"

static struct sim_params job_of(int32_t tp, int32_t dp, int32_t pp)
{
	struct sim_params params;
	sim_params_init(&params);
	params.tp = tp;
	params.dp = dp;
	params.pp = pp;
	params.steps = 80;
	return params;
}

/* Culprits @first to @last compute 1.3 times as long from @onset_step on. */
static void slow_down(struct sim_params *params, int32_t first, int32_t last, int32_t onset_step)
{
	params->fault = SIM_FAULT_COMPUTE;
	params->onset_step = onset_step;
	for (int32_t rank = first; rank <= last; rank++) {
		params->culprits[params->n_culprits++] = rank;
	}
}

/* The job, judged; fails unless the kind and the culprits are right. */
static void check(const struct sim_params *params, const char *kind)
{
	struct judgement judgement;
	judge(&judgement, params, 2);
	assert_string_equal(judgement.kind, kind);
	assert_int_equal(judgement.n_culprits, params->n_culprits);
	for (int i = 0; i < judgement.n_culprits; i++) {
		assert_int_equal(judgement.culprits[i], params->culprits[i]);
		assert_string_equal(judgement.causes[i], "compute");
	}
}

static void a_stage_that_slows_down_as_a_whole_is_named(void **state)
{
	(void)state;
	struct sim_params params = job_of(4, 1, 2);
	params.ranks_per_host = 4;
	slow_down(&params, 4, 7, 30);
	check(&params, "slow_host");
	params = job_of(1, 1, 4);
	slow_down(&params, 2, 2, 30);
	check(&params, "slow_rank");
}

static void a_group_that_slows_down_as_a_whole_is_named(void **state)
{
	(void)state;
	struct sim_params params = job_of(4, 2, 1);
	params.ranks_per_host = 4;
	slow_down(&params, 4, 7, 0);
	check(&params, "slow_host");
	params.onset_step = 30;
	check(&params, "slow_host");
}

static void half_of_a_group_is_named_and_not_the_healthy_half(void **state)
{
	(void)state;
	struct sim_params params = job_of(8, 1, 1);
	slow_down(&params, 0, 3, 0);
	check(&params, "slow_rank");
}

static void where_all_ranks_slow_down_nobody_is_named(void **state)
{
	(void)state;
	static const int32_t shapes[][3] = {{8, 1, 1}, {4, 1, 2}, {1, 1, 4}};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct sim_params params = job_of(shapes[i][0], shapes[i][1], shapes[i][2]);
		params.fault = SIM_FAULT_JOB_SLOW;
		params.onset_step = 30;
		check(&params, "job_slowdown");
	}
}

static void noisy_long_segments_hide_nobody(void **state)
{
	(void)state;
	struct sim_params params = job_of(8, 1, 1);
	params.segment_ms = 320.0;
	params.noise_share = 0.02;
	params.factor = 1.2;
	slow_down(&params, 3, 3, 0);
	check(&params, "slow_rank");
}

static void groups_of_two_name_the_slow_one(void **state)
{
	(void)state;
	struct sim_params params = job_of(2, 4, 1);
	check(&params, "normal");
	params.steps = 130;
	slow_down(&params, 2, 2, 100);
	check(&params, "slow_rank");
}

static void healthy_devices_that_differ_name_nobody(void **state)
{
	(void)state;
	static const int32_t shapes[][3] = {{8, 1, 1}, {4, 2, 1}, {2, 4, 1}, {2, 2, 2}, {2, 2, 4}};
	for (uint64_t seed = 0; seed < 30; seed++) {
		const int32_t *shape = shapes[seed % 5];
		struct sim_params params = job_of(shape[0], shape[1], shape[2]);
		params.seed = seed;
		params.hetero_share = 0.02 + 0.01 * (double)(seed % 3);
		params.noise_share = seed % 2 == 0 ? 0.01 : 0.05;
		params.drop_share = seed % 4 == 0 ? 0.01 : 0.0;
		check(&params, "normal");
	}
}

static void a_change_is_found_among_devices_that_differ(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct sim_params params = job_of(4, 2, 1);
		params.seed = seed;
		params.hetero_share = 0.02;
		params.noise_share = 0.02;
		params.factor = 1.15; /* costs the job 4 % at least */
		slow_down(&params, (int32_t)seed, (int32_t)seed, 30);
		check(&params, "slow_rank");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stage_that_slows_down_as_a_whole_is_named),
		cmocka_unit_test(a_group_that_slows_down_as_a_whole_is_named),
		cmocka_unit_test(half_of_a_group_is_named_and_not_the_healthy_half),
		cmocka_unit_test(where_all_ranks_slow_down_nobody_is_named),
		cmocka_unit_test(noisy_long_segments_hide_nobody),
		cmocka_unit_test(groups_of_two_name_the_slow_one),
		cmocka_unit_test(healthy_devices_that_differ_name_nobody),
		cmocka_unit_test(a_change_is_found_among_devices_that_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
