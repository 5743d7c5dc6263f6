/* Steps of jobs with nothing but operators: the number of operator periods in a step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "model/steps.h"

#define US INT64_C(1000)
#define T0 (INT64_C(1750000000) * FSL_NS_PER_S)

struct fixture {
	struct fsl_run run;
	struct fsl_steps steps;
	struct fsl_error err;
	int64_t now_us;
	uint32_t noise; /* state of the jitter */
};

static int setup(void **state)
{
	static struct fixture fixture;
	fixture = (struct fixture){.noise = 1};
	assert_int_equal(fsl_run_init(&fixture.run, &fixture.err), FSL_OK);
	assert_non_null(fsl_run_add_rank(&fixture.run, 0, &fixture.err));
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	fsl_steps_fini(&fixture->steps);
	fsl_run_fini(&fixture->run);
	return 0;
}

/* @work_us of work, give or take @jitter_us, then an operator. */
static void work(struct fixture *fixture, const char *name, int64_t work_us, int64_t jitter_us)
{
	struct fsl_rank *rank = &fixture->run.ranks[0];
	uint32_t op_id = 0;
	assert_int_equal(
		fsl_strpool_intern(fixture->run.names, name, strlen(name), &op_id, &fixture->err),
		FSL_OK);
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, &fixture->err),
			 FSL_OK);
	fixture->noise = fixture->noise * 1664525U + 1013904223U;
	fixture->now_us += work_us + (int64_t)(fixture->noise >> 16) % (2 * jitter_us + 1);
	fixture->now_us -= jitter_us;
	int64_t begin_ns = T0 + fixture->now_us * US;
	fixture->now_us += 20;
	rank->ops[rank->n_ops++] = (struct fsl_op){
		.host_begin_ns = FSL_NS_ABSENT,
		.host_end_ns = FSL_NS_ABSENT,
		.dev_begin_ns = begin_ns,
		.dev_end_ns = T0 + fixture->now_us * US,
		.id = rank->n_ops,
		.n_elements = 64,
		.op_id = op_id,
		.group_id = 7,
		.step = -1,
	};
}

/* Layers of one pass: each gathers and scatters. */
static void pass(struct fixture *fixture, int n_layers, int64_t work_us, int64_t jitter_us)
{
	for (int i = 0; i < n_layers; i++) {
		work(fixture, "AllGather", work_us, jitter_us);
		work(fixture, "ReduceScatter", work_us, jitter_us);
	}
}

static void build(struct fixture *fixture)
{
	fsl_rank_normalise(&fixture->run.ranks[0]);
	assert_int_equal(fsl_steps_build(&fixture->steps, &fixture->run, &fixture->err), FSL_OK);
	assert_string_equal(fixture->steps.source, "operator period");
}

static void long_forward_and_backward_parts_are_one_step_though_neighbours_are_alike(void **state)
{
	struct fixture *fixture = *state;
	enum { STEPS = 100, LAYERS = 32 };
	for (int i = 0; i < STEPS; i++) {
		pass(fixture, LAYERS, 7000, 120);
		pass(fixture, LAYERS, 11000, 120);
	}
	build(fixture);
	assert_in_range(fixture->steps.n_items, STEPS - 1, STEPS + 1);
}

static void equal_layers_are_steps_of_their_own_where_nothing_else_comes_again(void **state)
{
	struct fixture *fixture = *state;
	enum { LAYERS = 3000 };
	pass(fixture, LAYERS, 7000, 120);
	build(fixture);
	assert_in_range(fixture->steps.n_items, LAYERS - 1, LAYERS);
}

static void a_job_that_gets_slower_and_slower_has_no_longer_steps(void **state)
{
	struct fixture *fixture = *state;
	enum { LAYERS = 3000 };
	for (int i = 0; i < LAYERS; i++) {
		pass(fixture, 1, 7000 + 10 * i, 120);
	}
	build(fixture);
	assert_in_range(fixture->steps.n_items, LAYERS - 1, LAYERS);
}

static void a_checkpoint_every_twenty_steps_makes_no_step_of_twenty(void **state)
{
	struct fixture *fixture = *state;
	enum { STEPS = 400, EVERY = 20, LAYERS = 2 };
	for (int i = 0; i < STEPS; i++) {
		pass(fixture, LAYERS, 40000, 120);
		pass(fixture, LAYERS, 80000, 120);
		fixture->now_us += i % EVERY == EVERY - 1 ? 3000000 : 0;
	}
	build(fixture);
	assert_in_range(fixture->steps.n_items, STEPS - 1, STEPS + 1);
}

/* Steps of a stage of a pipeline, which sends behind each forward pass and receives in front of
 * each backward one. Returns how many. */
static size_t pipeline_steps(struct fixture *fixture, const char *send, const char *receive)
{
	enum { STEPS = 100, MICRO_BATCHES = 4, LAYERS = 8 };
	for (int i = 0; i < STEPS; i++) {
		for (int k = 0; k < MICRO_BATCHES; k++) {
			pass(fixture, LAYERS, 3000, 20);
			work(fixture, send, 100, 20);
		}
		for (int k = 0; k < MICRO_BATCHES; k++) {
			work(fixture, receive, 100, 20);
			pass(fixture, LAYERS, 6000, 20);
		}
	}
	build(fixture);
	return STEPS;
}

/* Two operators side by side in the middle of a step, and two far apart where it ends. */
static void a_mark_that_is_missing_in_every_step_was_not_lost(void **state)
{
	struct fixture *fixture = *state;
	size_t n_steps = pipeline_steps(fixture, "BatchSendRecv", "BatchSendRecv");
	assert_in_range(fixture->steps.n_items, n_steps - 1, n_steps + 1);
}

/* Each of the two has a long way behind its last use. */
static void four_uses_of_a_mark_in_a_step_are_one_period(void **state)
{
	struct fixture *fixture = *state;
	size_t n_steps = pipeline_steps(fixture, "Send", "Receive");
	assert_in_range(fixture->steps.n_items, n_steps - 1, n_steps + 1);
}

/* One forward, one backward: of five uses in a step three of five pairs look alike. */
static void five_uses_of_a_mark_in_a_step_are_one_period(void **state)
{
	struct fixture *fixture = *state;
	enum { STEPS = 100 };
	static const int layers[] = {1, 1, 2, 2, 1};
	for (int i = 0; i < STEPS; i++) {
		for (size_t k = 0; k < sizeof(layers) / sizeof(layers[0]); k++) {
			pass(fixture, layers[k], k == 0 ? 3000 : 5000, 20);
			work(fixture, "BatchSendRecv", 100, 20);
		}
		pass(fixture, 1, 6000, 20);
	}
	build(fixture);
	assert_in_range(fixture->steps.n_items, STEPS - 1, STEPS + 1);
}

/* Moves one operator in @one_in to the remnants, as if it had lost its name, begin or end. */
static void lose_records(struct fixture *fixture, uint32_t one_in)
{
	struct fsl_rank *rank = &fixture->run.ranks[0];
	size_t n_kept = 0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		struct fsl_op op = rank->ops[i];
		fixture->noise = fixture->noise * 1664525U + 1013904223U;
		uint32_t chance = fixture->noise >> 16;
		if (chance % one_in != 0) {
			rank->ops[n_kept++] = op;
			continue;
		}
		switch (chance / one_in % 3) {
		case 0:
			op.op_id = op.group_id = FSL_STR_NONE;
			break;
		case 1:
			op.dev_begin_ns = FSL_NS_ABSENT;
			break;
		default:
			op.dev_end_ns = FSL_NS_ABSENT;
			break;
		}
		assert_int_equal(FSL_GROW(rank->remnants, rank->remnants_capacity,
					  rank->n_remnants + 1, &fixture->err),
				 FSL_OK);
		rank->remnants[rank->n_remnants++] = op;
	}
	rank->n_ops = n_kept;
}

/* Steps of the first stage of a pipeline with one micro-batch. */
static void short_steps(struct fixture *fixture, int n_steps)
{
	for (int i = 0; i < n_steps; i++) {
		pass(fixture, 2, 80000, 500);
		work(fixture, "BatchSendRecv", 200, 50);
		work(fixture, "BatchSendRecv", 2000000, 5000);
		pass(fixture, 2, 160000, 500);
		work(fixture, "Allreduce", 5000, 500);
	}
}

static void lost_records_make_no_step_of_several(void **state)
{
	struct fixture *fixture = *state;
	enum { STEPS = 200, ONE_IN = 8, PERCENT = 100 };
	short_steps(fixture, STEPS);
	lose_records(fixture, ONE_IN);
	build(fixture);
	const struct fsl_steps *steps = &fixture->steps;
	assert_in_range(steps->n_items, STEPS - 4, STEPS);
	int64_t usual_ns = fixture->now_us * US / STEPS;
	size_t n_usual = 0;
	for (size_t i = 0; i < steps->n_items; i++) {
		int64_t percent = steps->items[i].dur_ns * PERCENT / usual_ns;
		assert_true(percent < 3 * PERCENT / 2);
		n_usual += percent >= 99 && percent <= 101;
	}
	assert_true(n_usual >= steps->n_items * 9 / 10);
}

/* Regular distances are no evidence where half of the records are gone. */
static void no_steps_are_told_where_too_many_records_were_lost(void **state)
{
	struct fixture *fixture = *state;
	enum { STEPS = 60, ONE_IN = 2 };
	short_steps(fixture, STEPS);
	lose_records(fixture, ONE_IN);
	fsl_rank_normalise(&fixture->run.ranks[0]);
	assert_int_equal(fsl_steps_build(&fixture->steps, &fixture->run, &fixture->err), FSL_OK);
	assert_int_equal(fixture->steps.n_items, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(long_forward_and_backward_parts_are_one_step_though_neighbours_are_alike),
		CASE(equal_layers_are_steps_of_their_own_where_nothing_else_comes_again),
		CASE(a_job_that_gets_slower_and_slower_has_no_longer_steps),
		CASE(a_checkpoint_every_twenty_steps_makes_no_step_of_twenty),
		CASE(a_mark_that_is_missing_in_every_step_was_not_lost),
		CASE(four_uses_of_a_mark_in_a_step_are_one_period),
		CASE(five_uses_of_a_mark_in_a_step_are_one_period),
		CASE(lost_records_make_no_step_of_several),
		CASE(no_steps_are_told_where_too_many_records_were_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
