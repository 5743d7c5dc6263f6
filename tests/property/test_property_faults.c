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
enum {
	SHAPES_N = sizeof(shapes) / sizeof(shapes[0]),
	SEEDS_N = FSL_TEST_COST > 1 ? 1 : 2,
	CLEAN_SEEDS_N = 2 + 18 / FSL_TEST_COST
};

static void set_job(struct known_job *job, const struct shape *shape, uint64_t seed)
{
	known_job_init(job);
	job->params.tp = shape->tp;
	job->params.dp = shape->dp;
	job->params.pp = shape->pp;
	job->params.seed = seed;
}

/* The job, judged; fails unless the verdict is right. */
static void check(const struct known_job *job)
{
	struct judgement judgement;
	judge(&judgement, job, 2);
	assert_right_verdict(&judgement, job);
}

/* One culprit, another one with each seed, in every topology; of the first pipeline stage only when
 * asked for. */
static void check_culprits(const struct known_job *fault, bool is_first_stage)
{
	for (size_t i = 0; i < SHAPES_N; i++) {
		for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
			struct known_job job = *fault;
			job.params.tp = shapes[i].tp;
			job.params.dp = shapes[i].dp;
			job.params.pp = shapes[i].pp;
			job.params.seed = seed;
			job.n_culprits = 1;
			job.culprits[0] = (int32_t)((seed * 3 + i) % 8);
			job.culprits[0] %= is_first_stage ? job.params.tp * job.params.dp : 8;
			check(&job);
		}
	}
}

static void check_everywhere(const struct known_job *fault)
{
	check_culprits(fault, false);
}

static struct known_job fault_of(int fault)
{
	struct known_job job;
	known_job_init(&job);
	job.fault = fault;
	job.onset_step = 25;
	return job;
}

static void healthy_job_names_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CLEAN_SEEDS_N; seed++) {
		struct known_job job;
		set_job(&job, &shapes[seed % SHAPES_N], seed);
		check(&job);
	}
}

static void noisy_healthy_job_names_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SHAPES_N; seed++) {
		struct known_job job;
		set_job(&job, &shapes[seed % SHAPES_N], seed);
		job.params.noise_share = 0.02;
		job.params.clock_offset_ms = 5.0;
		job.params.ranks_per_host = 2;
		job.params.ckpt_period = 20;
		job.params.timelines = FSL_SIM_TIMELINES_ALL;
		check(&job);
	}
}

/* Two members that lose different records of one communicator must not make it look slow. */
static void healthy_job_with_lost_rows_names_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct known_job job;
		set_job(&job, &shapes[3], seed);
		job.params.drop_share = 0.002;
		check(&job);
	}
}

static void slow_compute_is_found(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_COMPUTE);
	check_everywhere(&job);
}

static void slow_compute_is_found_with_all_timelines(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_COMPUTE);
	job.params.timelines = FSL_SIM_TIMELINES_ALL;
	check_everywhere(&job);
}

static void slow_compute_is_found_over_skewed_clocks(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_COMPUTE);
	job.params.ranks_per_host = 2;
	job.params.clock_offset_ms = 20.0;
	check_everywhere(&job);
}

static void slow_compute_is_found_with_lost_rows(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_COMPUTE);
	job.params.drop_share = 0.002;
	check_everywhere(&job);
}

static void small_slowdown_is_found(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct known_job job = fault_of(FSL_SIM_COMPUTE);
		job.params.seed = seed;
		job.factor = 1.06;
		job.n_culprits = 1;
		job.culprits[0] = (int32_t)seed * 2;
		check(&job);
	}
}

static void two_slow_ranks_are_both_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES_N; i++) {
		struct known_job job = fault_of(FSL_SIM_COMPUTE);
		job.params.tp = shapes[i].tp;
		job.params.dp = shapes[i].dp;
		job.params.pp = shapes[i].pp;
		job.params.seed = i + 1;
		job.n_culprits = 2;
		job.culprits[0] = 1;
		job.culprits[1] = 4;
		check(&job);
	}
}

static void slowdown_that_is_over_is_found(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_COMPUTE);
	job.onset_step = 15;
	job.until_step = 40;
	check_everywhere(&job);
}

static void one_slow_rank_of_64_is_found(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_COMPUTE);
	job.params.tp = 8;
	job.params.dp = 4;
	job.params.pp = 2;
	job.n_culprits = 1;
	job.culprits[0] = 41;
	check(&job);
}

static void host_bound_rank_is_found(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_HOST);
	check_everywhere(&job);
}

static void slow_dataloader_is_found(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_DATALOADER);
	job.params.timelines = FSL_SIM_TIMELINES_ALL;
	check_culprits(&job, true);
}

/* The second stage waits for the first one's forward pass anyway. */
static void slow_dataloader_in_the_bubble_of_a_pipeline_names_nobody(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_DATALOADER);
	struct judgement judgement;
	job.params.timelines = FSL_SIM_TIMELINES_ALL;
	job.params.tp = job.params.dp = job.params.pp = 2;
	job.n_culprits = 1;
	job.culprits[0] = 6;
	judge(&judgement, &job, 2);
	assert_string_equal(judgement.kind, "normal");
}

static void slow_checkpoints_are_found(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_STORAGE);
	job.onset_step = 0;
	job.params.ckpt_period = 10;
	job.extra_ms = 3000.0;
	job.params.timelines = FSL_SIM_TIMELINES_ALL;
	check_everywhere(&job);
}

static void slow_link_names_both_ends(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
		struct known_job job = fault_of(FSL_SIM_LINK);
		job.params.tp = job.params.dp = job.params.pp = 2;
		job.params.seed = seed;
		job.n_culprits = 2;
		job.culprits[0] = (int32_t)(seed % 4);
		job.culprits[1] = job.culprits[0] + 4;
		check(&job);
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
			struct known_job job = fault_of(FSL_SIM_LINK);
			job.params.tp = jobs[i].shape.tp;
			job.params.dp = jobs[i].shape.dp;
			job.params.pp = jobs[i].shape.pp;
			job.params.seed = seed;
			job.n_culprits = 2;
			job.culprits[0] = jobs[i].from;
			job.culprits[1] = jobs[i].to;
			job.params.clock_offset_ms = 50.0;
			job.params.ranks_per_host = 2;
			job.params.drop_share = seed == 1 ? 0.0 : 0.01;
			check(&job);
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
			struct known_job job;
			set_job(&job, &pipelines[i], seed);
			job.params.noise_share = 0.05;
			job.params.drop_share = 0.01;
			job.params.clock_offset_ms = 50.0;
			check(&job);
		}
	}
}

static void hang_names_the_rank_that_stopped_first(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_HANG);
	check_everywhere(&job);
}

static void slowdown_of_everybody_names_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SHAPES_N; seed++) {
		struct known_job job = fault_of(FSL_SIM_JOB_SLOW);
		job.params.tp = shapes[seed - 1].tp;
		job.params.dp = shapes[seed - 1].dp;
		job.params.pp = shapes[seed - 1].pp;
		job.params.seed = seed;
		check(&job);
	}
}

static void single_long_step_is_a_stall_if_it_counts_and_names_nobody(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_SPIKE);
	job.extra_ms = 6000.0;
	check_everywhere(&job);
	job.extra_ms = 500.0;
	check(&job);
}

static void missing_and_empty_ranks_are_reported(void **state)
{
	(void)state;
	struct known_job job = fault_of(FSL_SIM_MISSING);
	job.n_culprits = 1;
	job.culprits[0] = 5;
	check(&job);
	job.fault = FSL_SIM_EMPTY;
	check(&job);
}

/* One row in twenty is lost and no timeline tells the steps: they are not those of a pair of
 * operators inside of one. */
static void slow_compute_is_found_where_many_rows_and_the_timeline_are_lost(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 9; seed++) {
		struct known_job job = fault_of(FSL_SIM_COMPUTE);
		job.params.tp = job.params.dp = 2;
		job.params.pairs = 6;
		job.params.steps = 60;
		job.params.seed = seed;
		job.params.drop_share = 0.05;
		job.params.timelines = FSL_SIM_TIMELINES_NONE;
		job.n_culprits = 1;
		job.culprits[0] = 3;
		job.factor = 1.4;
		job.onset_step = 10;
		check(&job);
	}
}

/* No step shows it, and no rank is above its peers. */
static void storage_that_gets_slow_for_all_ranks_slows_the_job(void **state)
{
	(void)state;
	struct known_job job;
	known_job_init(&job);
	job.params.steps = 100;
	job.params.ckpt_period = 10;
	job.params.timelines = FSL_SIM_TIMELINES_ALL;
	struct judgement judgement;
	judge(&judgement, &job, 2);
	assert_string_equal(judgement.perception, "normal");
	job.fault = FSL_SIM_STORAGE;
	job.extra_ms = 6000.0;
	job.onset_step = 50;
	for (int32_t rank = 0; rank < 8; rank++) {
		job.culprits[job.n_culprits++] = rank;
	}
	judge(&judgement, &job, 2);
	assert_string_equal(judgement.perception, "job_slowdown");
	assert_string_equal(judgement.kind, "job_slowdown");
	assert_int_equal(judgement.n_culprits, 0);
}

/* Hardly an instance is left whole: what others waited for the slow rank is no transfer. */
static void slow_compute_alone_is_found_where_most_instances_lost_a_record(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct known_job job = fault_of(FSL_SIM_COMPUTE);
		job.params.tp = 8;
		job.params.dp = 1;
		job.params.steps = 100;
		job.params.seed = seed;
		job.params.drop_share = seed % 2 == 0 ? 0.15 : 0.2;
		job.n_culprits = 1;
		job.culprits[0] = 3;
		job.onset_step = 50;
		check(&job);
	}
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
		cmocka_unit_test(slow_compute_is_found_where_many_rows_and_the_timeline_are_lost),
		cmocka_unit_test(slow_compute_alone_is_found_where_most_instances_lost_a_record),
		cmocka_unit_test(host_bound_rank_is_found),
		cmocka_unit_test(slow_dataloader_is_found),
		cmocka_unit_test(slow_dataloader_in_the_bubble_of_a_pipeline_names_nobody),
		cmocka_unit_test(slow_checkpoints_are_found),
		cmocka_unit_test(storage_that_gets_slow_for_all_ranks_slows_the_job),
		cmocka_unit_test(slow_link_names_both_ends),
		cmocka_unit_test(slow_link_inside_a_pipeline_names_both_ends),
		cmocka_unit_test(healthy_pipeline_names_nobody),
		cmocka_unit_test(hang_names_the_rank_that_stopped_first),
		cmocka_unit_test(slowdown_of_everybody_names_nobody),
		cmocka_unit_test(single_long_step_is_a_stall_if_it_counts_and_names_nobody),
		cmocka_unit_test(missing_and_empty_ranks_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
