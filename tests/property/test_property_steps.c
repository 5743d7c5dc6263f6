/* Jobs without a timeline: their steps, and so their verdict, come from operators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge.h"

struct shape {
	int32_t tp, dp, pp, micro_batches, pairs;
};

static const struct shape shapes[] = {
	{8, 1, 1, 1, 2}, {4, 1, 1, 8, 4}, {2, 1, 1, 8, 8}, {4, 2, 1, 2, 2}, {1, 8, 1, 4, 1},
	{8, 1, 2, 4, 2}, {2, 1, 2, 8, 8}, {4, 1, 4, 4, 2}, {2, 2, 2, 4, 1},
};
enum { SHAPES_N = sizeof(shapes) / sizeof(shapes[0]) };

/* One forward, one backward instead of all forward passes first. */
static const struct shape taking_turns[] = {
	{4, 1, 1, 8, 4}, {4, 1, 2, 4, 1}, {2, 1, 2, 8, 2}, {4, 1, 2, 2, 4}, {2, 1, 4, 8, 2},
};
enum { TAKING_TURNS_N = sizeof(taking_turns) / sizeof(taking_turns[0]) };

static struct known_job job_of(const struct shape *shape)
{
	struct known_job job;
	known_job_init(&job);
	job.params.tp = shape->tp;
	job.params.dp = shape->dp;
	job.params.pp = shape->pp;
	job.params.micro_batches = shape->micro_batches;
	job.params.pairs = shape->pairs;
	job.params.steps = 120;
	job.params.step_ms = 400.0;
	job.params.noise_share = 0.01;
	job.params.timelines = FSL_SIM_TIMELINES_NONE;
	return job;
}

/* All steps, but for the one that the first mark cuts off and the last, which has no end. */
static void check(const struct known_job *job)
{
	struct judgement judgement;
	judge(&judgement, job, 2);
	assert_string_equal(judgement.steps_source, "operator period");
	assert_in_range(judgement.n_steps, job->params.steps - 2, job->params.steps + 1);
	assert_string_equal(judgement.kind, "normal");
}

static void steps_of_every_shape_are_found_in_its_operators(void **state)
{
	(void)state;
	static const double noises[] = {0.003, 0.01, 0.03};
	for (size_t i = 0; i < SHAPES_N; i++) {
		struct known_job job = job_of(&shapes[i]);
		job.params.noise_share = noises[i % 3];
		check(&job);
		job.params.noise_share = noises[(i + 1) % 3];
		job.params.seed = 7;
		job.params.optimizer_ms = 120.0;
		check(&job);
	}
}

static void steps_of_forward_and_backward_passes_in_turn_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < TAKING_TURNS_N; i++) {
		struct known_job job = job_of(&taking_turns[i]);
		job.params.schedule = FSL_SIM_1F1B;
		job.params.optimizer_ms = 60.0;
		check(&job);
	}
}

/* If times vary less, or a step has few operators, twenty steps with a pause count as one step. */
static void checkpoints_at_regular_distances_make_no_longer_steps(void **state)
{
	(void)state;
	static const struct shape many_ops[] = {
		{8, 1, 1, 1, 8}, {4, 1, 1, 8, 4}, {4, 2, 1, 1, 4}, {8, 1, 2, 4, 2}, {2, 2, 2, 4, 2},
	};
	for (size_t i = 0; i < sizeof(many_ops) / sizeof(many_ops[0]); i++) {
		struct known_job job = job_of(&many_ops[i]);
		job.params.steps = 240;
		job.params.ckpt_period = 20;
		job.params.ckpt_ms = 300.0;
		check(&job);
	}
}

static void steps_that_vary_in_length_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES_N; i++) {
		struct known_job job = job_of(&shapes[i]);
		job.params.sequence_share = 0.03;
		check(&job);
	}
}

static void lost_records_change_no_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES_N; i++) {
		struct known_job job = job_of(&shapes[i]);
		job.params.drop_share = 0.002;
		check(&job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_of_every_shape_are_found_in_its_operators),
		cmocka_unit_test(steps_of_forward_and_backward_passes_in_turn_are_found),
		cmocka_unit_test(checkpoints_at_regular_distances_make_no_longer_steps),
		cmocka_unit_test(steps_that_vary_in_length_are_found),
		cmocka_unit_test(lost_records_change_no_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
