/* Every fault gets its culprits and its cause, whatever the topology; a healthy job gets none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge.h"

struct shape {
	int32_t tp, dp, pp;
};
static const struct shape shapes[] = {{8, 1, 1}, {4, 2, 1}, {2, 4, 1}, {2, 2, 2}};
enum { SHAPES_N = sizeof(shapes) / sizeof(shapes[0]), SEEDS_N = 2, CLEAN_SEEDS_N = 20 };

static void set_job(struct sim_params *params, const struct shape *shape, uint64_t seed)
{
	sim_params_init(params);
	params->tp = shape->tp;
	params->dp = shape->dp;
	params->pp = shape->pp;
	params->seed = seed;
}

/* The job, judged; fails unless the verdict is right. */
static void check(const struct sim_params *params)
{
	struct judgement judgement;
	judge(&judgement, params, 2);
	assert_right_verdict(&judgement, params);
}

/* One culprit, another one with each seed, in every topology; of the first pipeline stage only when
 * asked for. */
static void check_culprits(const struct sim_params *fault, bool is_first_stage)
{
	for (size_t i = 0; i < SHAPES_N; i++) {
		for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
			struct sim_params params = *fault;
			params.tp = shapes[i].tp;
			params.dp = shapes[i].dp;
			params.pp = shapes[i].pp;
			params.seed = seed;
			params.n_culprits = 1;
			params.culprits[0] = (int32_t)((seed * 3 + i) % 8);
			params.culprits[0] %= is_first_stage ? params.tp * params.dp : 8;
			check(&params);
		}
	}
}

static void check_everywhere(const struct sim_params *fault)
{
	check_culprits(fault, false);
}

static struct sim_params fault_of(enum sim_fault fault)
{
	struct sim_params params;
	sim_params_init(&params);
	params.fault = fault;
	params.onset_step = 25;
	return params;
}

static void healthy_job_names_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CLEAN_SEEDS_N; seed++) {
		struct sim_params params;
		set_job(&params, &shapes[seed % SHAPES_N], seed);
		check(&params);
	}
}

static void noisy_healthy_job_names_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SHAPES_N; seed++) {
		struct sim_params params;
		set_job(&params, &shapes[seed % SHAPES_N], seed);
		params.noise_share = 0.02;
		params.clock_offset_ms = 5.0;
		params.ranks_per_host = 2;
		params.ckpt_period = 20;
		params.timelines = SIM_TIMELINES_ALL;
		check(&params);
	}
}

/* Two members that lose different records of one communicator must not make it look slow. */
static void healthy_job_with_lost_rows_names_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct sim_params params;
		set_job(&params, &shapes[3], seed);
		params.drop_share = 0.002;
		check(&params);
	}
}

static void slow_compute_is_found(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_COMPUTE);
	check_everywhere(&params);
}

static void slow_compute_is_found_with_all_timelines(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_COMPUTE);
	params.timelines = SIM_TIMELINES_ALL;
	check_everywhere(&params);
}

static void slow_compute_is_found_over_skewed_clocks(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_COMPUTE);
	params.ranks_per_host = 2;
	params.clock_offset_ms = 20.0;
	check_everywhere(&params);
}

static void slow_compute_is_found_with_lost_rows(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_COMPUTE);
	params.drop_share = 0.002;
	check_everywhere(&params);
}

static void small_slowdown_is_found(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct sim_params params = fault_of(SIM_FAULT_COMPUTE);
		params.seed = seed;
		params.factor = 1.06;
		params.n_culprits = 1;
		params.culprits[0] = (int32_t)seed * 2;
		check(&params);
	}
}

static void two_slow_ranks_are_both_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES_N; i++) {
		struct sim_params params = fault_of(SIM_FAULT_COMPUTE);
		params.tp = shapes[i].tp;
		params.dp = shapes[i].dp;
		params.pp = shapes[i].pp;
		params.seed = i + 1;
		params.n_culprits = 2;
		params.culprits[0] = 1;
		params.culprits[1] = 4;
		check(&params);
	}
}

static void slowdown_that_is_over_is_found(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_COMPUTE);
	params.onset_step = 15;
	params.until_step = 40;
	check_everywhere(&params);
}

static void one_slow_rank_of_64_is_found(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_COMPUTE);
	params.tp = 8;
	params.dp = 4;
	params.pp = 2;
	params.n_culprits = 1;
	params.culprits[0] = 41;
	check(&params);
}

static void host_bound_rank_is_found(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_HOST);
	check_everywhere(&params);
}

static void slow_dataloader_is_found(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_DATALOADER);
	params.timelines = SIM_TIMELINES_ALL;
	check_culprits(&params, true);
}

/* The second stage waits for the first one's forward pass anyway. */
static void slow_dataloader_in_the_bubble_of_a_pipeline_names_nobody(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_DATALOADER);
	struct judgement judgement;
	params.timelines = SIM_TIMELINES_ALL;
	params.tp = params.dp = params.pp = 2;
	params.n_culprits = 1;
	params.culprits[0] = 6;
	judge(&judgement, &params, 2);
	assert_string_equal(judgement.kind, "normal");
}

static void slow_checkpoints_are_found(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_STORAGE);
	params.onset_step = 0;
	params.ckpt_period = 10;
	params.extra_ms = 3000.0;
	params.timelines = SIM_TIMELINES_ALL;
	check_everywhere(&params);
}

static void slow_link_names_both_ends(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
		struct sim_params params = fault_of(SIM_FAULT_LINK);
		params.tp = params.dp = params.pp = 2;
		params.seed = seed;
		params.n_culprits = 2;
		params.culprits[0] = (int32_t)(seed % 4);
		params.culprits[1] = params.culprits[0] + 4;
		check(&params);
	}
}

/* One communicator over a pipeline of several stages, its tensor-parallel peers on other clocks. */
static void slow_link_inside_a_pipeline_names_both_ends(void **state)
{
	(void)state;
	static const struct {
		struct shape shape;
		int32_t from, to;
	} jobs[] = {{{2, 2, 4}, 5, 9}, {{2, 2, 8}, 13, 17}, {{1, 2, 4}, 0, 2}, {{4, 1, 3}, 6, 10}};
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
			struct sim_params params = fault_of(SIM_FAULT_LINK);
			params.tp = jobs[i].shape.tp;
			params.dp = jobs[i].shape.dp;
			params.pp = jobs[i].shape.pp;
			params.seed = seed;
			params.n_culprits = 2;
			params.culprits[0] = jobs[i].from;
			params.culprits[1] = jobs[i].to;
			params.clock_offset_ms = 50.0;
			params.ranks_per_host = 2;
			params.drop_share = seed == 1 ? 0.0 : 0.01;
			check(&params);
		}
	}
}

/* One operator in twenty-five of a pipeline loses a row, and nobody is blamed for the hole. */
static void healthy_pipeline_names_nobody(void **state)
{
	(void)state;
	static const struct shape pipelines[] = {{2, 2, 4}, {4, 2, 4}, {1, 2, 4},
						 {2, 1, 4}, {2, 2, 8}, {2, 4, 3}};
	for (size_t i = 0; i < sizeof(pipelines) / sizeof(pipelines[0]); i++) {
		for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
			struct sim_params params;
			set_job(&params, &pipelines[i], seed);
			params.noise_share = 0.05;
			params.drop_share = 0.01;
			params.clock_offset_ms = 50.0;
			check(&params);
		}
	}
}

static void hang_names_the_rank_that_stopped_first(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_HANG);
	check_everywhere(&params);
}

static void slowdown_of_everybody_names_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SHAPES_N; seed++) {
		struct sim_params params = fault_of(SIM_FAULT_JOB_SLOW);
		params.tp = shapes[seed - 1].tp;
		params.dp = shapes[seed - 1].dp;
		params.pp = shapes[seed - 1].pp;
		params.seed = seed;
		check(&params);
	}
}

static void single_long_step_names_nobody(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_SPIKE);
	params.extra_ms = 2000.0;
	check_everywhere(&params);
}

static void missing_and_empty_ranks_are_reported(void **state)
{
	(void)state;
	struct sim_params params = fault_of(SIM_FAULT_MISSING);
	params.n_culprits = 1;
	params.culprits[0] = 5;
	check(&params);
	params.fault = SIM_FAULT_EMPTY;
	check(&params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(healthy_job_names_nobody),
		cmocka_unit_test(noisy_healthy_job_names_nobody),
		cmocka_unit_test(healthy_job_with_lost_rows_names_nobody),
		cmocka_unit_test(slow_compute_is_found),
		cmocka_unit_test(small_slowdown_is_found),
		cmocka_unit_test(two_slow_ranks_are_both_found),
		cmocka_unit_test(slowdown_that_is_over_is_found),
		cmocka_unit_test(one_slow_rank_of_64_is_found),
		cmocka_unit_test(slow_compute_is_found_with_all_timelines),
		cmocka_unit_test(slow_compute_is_found_over_skewed_clocks),
		cmocka_unit_test(slow_compute_is_found_with_lost_rows),
		cmocka_unit_test(host_bound_rank_is_found),
		cmocka_unit_test(slow_dataloader_is_found),
		cmocka_unit_test(slow_dataloader_in_the_bubble_of_a_pipeline_names_nobody),
		cmocka_unit_test(slow_checkpoints_are_found),
		cmocka_unit_test(slow_link_names_both_ends),
		cmocka_unit_test(slow_link_inside_a_pipeline_names_both_ends),
		cmocka_unit_test(healthy_pipeline_names_nobody),
		cmocka_unit_test(hang_names_the_rank_that_stopped_first),
		cmocka_unit_test(slowdown_of_everybody_names_nobody),
		cmocka_unit_test(single_long_step_names_nobody),
		cmocka_unit_test(missing_and_empty_ranks_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
