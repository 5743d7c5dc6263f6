/* Steps of the job from each source, on small runs made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "model/steps.h"

#define MS INT64_C(1000000)
#define T0 (INT64_C(1750000000) * FSL_NS_PER_S)

struct fixture {
	struct fsl_run run;
	struct fsl_steps steps;
	struct fsl_error err;
};

static int setup(void **state)
{
	static struct fixture fixture;
	fixture = (struct fixture){0};
	assert_int_equal(fsl_run_init(&fixture.run, &fixture.err), FSL_OK);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	fsl_mem_fail_at(0);
	fsl_steps_fini(&fixture->steps);
	fsl_run_fini(&fixture->run);
	return 0;
}

static struct fsl_rank *rank_of(struct fixture *fixture, int32_t number)
{
	struct fsl_rank *rank = fsl_run_add_rank(&fixture->run, number, &fixture->err);
	assert_non_null(rank);
	return rank;
}

static void add_stage(struct fixture *fixture, int32_t number, enum fsl_stage_kind kind,
		      int64_t step, int64_t begin_ms, int64_t dur_ms)
{
	struct fsl_rank *rank = rank_of(fixture, number);
	assert_int_equal(
		FSL_GROW(rank->stages, rank->stages_capacity, rank->n_stages + 1, &fixture->err),
		FSL_OK);
	rank->stages[rank->n_stages++] = (struct fsl_stage){
		.begin_ns = T0 + begin_ms * MS,
		.end_ns = T0 + (begin_ms + dur_ms) * MS,
		.step = step,
		.type_id = (uint32_t)kind,
		.kind = kind,
	};
}

static void add_step_time(struct fixture *fixture, int32_t number, int64_t step, int64_t begin_ms,
			  int64_t dur_ms)
{
	struct fsl_rank *rank = rank_of(fixture, number);
	assert_int_equal(
		FSL_GROW(rank->steps, rank->steps_capacity, rank->n_steps + 1, &fixture->err),
		FSL_OK);
	rank->steps[rank->n_steps++] = (struct fsl_step_time){.step = step,
							      .begin_ns = T0 + begin_ms * MS,
							      .dur_ns = dur_ms * MS,
							      .is_logged = step < 0};
}

static void add_op(struct fixture *fixture, int32_t number, const char *name, int64_t begin_ms,
		   uint64_t n_elements)
{
	struct fsl_rank *rank = rank_of(fixture, number);
	uint32_t op_id = 0;
	assert_int_equal(
		fsl_strpool_intern(fixture->run.names, name, strlen(name), &op_id, &fixture->err),
		FSL_OK);
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, &fixture->err),
			 FSL_OK);
	rank->ops[rank->n_ops++] = (struct fsl_op){
		.host_begin_ns = FSL_NS_ABSENT,
		.host_end_ns = FSL_NS_ABSENT,
		.dev_begin_ns = T0 + begin_ms * MS,
		.dev_end_ns = T0 + (begin_ms + 1) * MS,
		.id = rank->n_ops,
		.n_elements = n_elements,
		.op_id = op_id,
		.group_id = 7,
		.step = -1,
	};
}

static void build(struct fixture *fixture)
{
	for (size_t r = 0; r < fixture->run.n_ranks; r++) {
		fsl_rank_normalise(&fixture->run.ranks[r]);
	}
	fsl_steps_fini(&fixture->steps);
	assert_int_equal(fsl_steps_build(&fixture->steps, &fixture->run, &fixture->err), FSL_OK);
}

static void check_step(const struct fsl_steps *steps, size_t i, int64_t step, int64_t begin_ms,
		       int64_t dur_ms)
{
	assert_true(i < steps->n_items);
	assert_int_equal(steps->items[i].step, step);
	assert_int_equal(steps->items[i].begin_ns, T0 + begin_ms * MS);
	assert_int_equal(steps->items[i].dur_ns, dur_ms * MS);
}

/* Steps @first.. of 1000 ms on one rank: data loader at the start, backward up to 950 ms. */
static void add_timeline(struct fixture *fixture, int32_t number, int64_t first, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		add_stage(fixture, number, FSL_STAGE_DATALOADER, first + i, i * 1000, 2);
		add_stage(fixture, number, FSL_STAGE_BACKWARD, first + i, i * 1000 + 400, 550);
	}
}

static void timeline_step_lasts_until_the_next_begins(void **state)
{
	struct fixture *fixture = *state;
	add_timeline(fixture, 0, 100, 5);
	build(fixture);
	const struct fsl_steps *steps = &fixture->steps;
	assert_string_equal(steps->source, "timeline");
	assert_int_equal(steps->source_rank, 0);
	assert_int_equal(steps->n_items, 5);
	check_step(steps, 0, 100, 0, 1000);
	check_step(steps, 3, 103, 3000, 1000);
	assert_false(steps->is_ordinal);
}

static void last_step_ends_with_its_last_stage(void **state)
{
	struct fixture *fixture = *state;
	add_timeline(fixture, 0, 0, 4);
	build(fixture);
	check_step(&fixture->steps, 3, 3, 3000, 950);
	assert_true(fixture->steps.is_last_open);
}

static void last_step_that_had_not_come_half_way_is_left_out(void **state)
{
	struct fixture *fixture = *state;
	add_timeline(fixture, 0, 0, 4);
	add_stage(fixture, 0, FSL_STAGE_DATALOADER, 4, 4000, 2);
	add_stage(fixture, 0, FSL_STAGE_FORWARD, 4, 4002, 300);
	build(fixture);
	assert_int_equal(fixture->steps.n_items, 4);
	check_step(&fixture->steps, 3, 3, 3000, 1000);
	assert_false(fixture->steps.is_last_open);
}

static void order_of_the_input_does_not_matter(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 6; i-- > 0;) {
		add_stage(fixture, 0, FSL_STAGE_DATALOADER, i, i * 1000, 2);
		add_stage(fixture, 0, FSL_STAGE_DATALOADER, i, i * 1000, 2);
	}
	build(fixture);
	assert_int_equal(fixture->steps.n_items, 5); /* the last never got going */
	check_step(&fixture->steps, 4, 4, 4000, 1000);
}

static void data_loading_of_each_micro_batch_is_one_step(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 12; i++) {
		add_stage(fixture, 0, FSL_STAGE_DATALOADER, i / 3, i * 100, 2);
	}
	build(fixture);
	assert_int_equal(fixture->steps.n_items, 4);
	check_step(&fixture->steps, 1, 1, 300, 300);
	assert_int_equal(fixture->steps.n_duplicates, 0);
}

static void constant_stage_ids_are_replaced_by_the_position(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 4; i++) {
		add_stage(fixture, 0, FSL_STAGE_DATALOADER, 0, i * 1000, 600);
	}
	build(fixture);
	assert_true(fixture->steps.is_ordinal);
	assert_int_equal(fixture->steps.n_items, 4);
	check_step(&fixture->steps, 2, 2, 2000, 1000);
}

static void stage_ids_that_fall_are_replaced_by_the_position(void **state)
{
	struct fixture *fixture = *state;
	static const int64_t ids[] = {8, 9, 7, 8};
	for (int64_t i = 0; i < 4; i++) {
		add_stage(fixture, 0, FSL_STAGE_DATALOADER, ids[i], i * 1000, 600);
	}
	build(fixture);
	assert_true(fixture->steps.is_ordinal);
	check_step(&fixture->steps, 3, 3, 3000, 600);
}

/* 20 steps of 100 ms, then a second without work, then 10 more from number @resumed on. */
static void restart(struct fixture *fixture, int64_t first, int64_t resumed)
{
	for (int64_t i = 0; i < 30; i++) {
		int64_t step = i < 20 ? first + i : resumed + i - 20;
		int64_t begin_ms = 100 * i + (i < 20 ? 0 : 1000);
		add_stage(fixture, 0, FSL_STAGE_DATALOADER, step, begin_ms, 10);
		add_stage(fixture, 0, FSL_STAGE_FORWARD, step, begin_ms + 10, 80);
		add_stage(fixture, 0, FSL_STAGE_OPTIMIZER, step, begin_ms + 90, 5);
	}
	fsl_run_drop_reruns(&fixture->run);
	build(fixture);
}

static void of_steps_that_ran_again_the_later_run_counts(void **state)
{
	struct fixture *fixture = *state;
	restart(fixture, 4, 17);
	assert_int_equal(rank_of(fixture, 0)->n_restarts, 1);
	assert_false(fixture->steps.is_ordinal);
	assert_int_equal(fixture->steps.n_items, 23);
	check_step(&fixture->steps, 12, 16, 1200, 95); /* up to the end of its stages */
	check_step(&fixture->steps, 13, 17, 3000, 100);
}

static void a_step_may_run_again_alone(void **state)
{
	struct fixture *fixture = *state;
	restart(fixture, 4, 23);
	assert_int_equal(rank_of(fixture, 0)->n_restarts, 1);
	assert_int_equal(fixture->steps.n_items, 29);
	check_step(&fixture->steps, 18, 22, 1800, 95);
	check_step(&fixture->steps, 19, 23, 3000, 100);
}

/* Of workers that load ahead, one may be late; a step may load for each of its micro-batches. */
static void loading_out_of_order_is_no_restart(void **state)
{
	struct fixture *fixture = *state;
	static const int64_t ids[] = {5, 6, 8, 7, 9, 9, 10};
	for (int64_t i = 0; i < 7; i++) {
		add_stage(fixture, 0, FSL_STAGE_DATALOADER, ids[i], i * 1000, 10);
		add_stage(fixture, 0, FSL_STAGE_FORWARD, 4 + i, i * 1000 + 20, 900);
	}
	fsl_run_drop_reruns(&fixture->run);
	assert_int_equal(rank_of(fixture, 0)->n_restarts, 0);
	assert_int_equal(rank_of(fixture, 0)->n_stages, 14);
}

/* The collector counts anew in each process. */
static void stages_that_begin_again_at_the_first_number_all_stay(void **state)
{
	struct fixture *fixture = *state;
	restart(fixture, 4, 4);
	assert_int_equal(rank_of(fixture, 0)->n_restarts, 1);
	assert_true(fixture->steps.is_ordinal);
	assert_int_equal(fixture->steps.n_items, 30);
	check_step(&fixture->steps, 19, 19, 1900, 95);
	check_step(&fixture->steps, 20, 20, 3000, 100);
}

static void step_before_a_hole_is_not_as_long_as_the_hole(void **state)
{
	struct fixture *fixture = *state;
	static const int64_t ids[] = {0, 1, 2, 7, 8};
	for (size_t i = 0; i < 5; i++) {
		add_stage(fixture, 0, FSL_STAGE_DATALOADER, ids[i], ids[i] * 1000, 2);
		add_stage(fixture, 0, FSL_STAGE_BACKWARD, ids[i], ids[i] * 1000 + 400, 500);
	}
	build(fixture);
	check_step(&fixture->steps, 2, 2, 2000, 900);
	assert_int_equal(fsl_steps_find(&fixture->steps, T0 + 5000 * MS), SIZE_MAX);
	assert_int_equal(fsl_steps_find(&fixture->steps, T0 + 7500 * MS), 3);
}

static void a_step_is_found_by_its_number_also_behind_a_hole(void **state)
{
	struct fixture *fixture = *state;
	static const int64_t ids[] = {4, 5, 9};
	for (size_t i = 0; i < 3; i++) {
		add_stage(fixture, 0, FSL_STAGE_DATALOADER, ids[i], ids[i] * 1000, 2);
		add_stage(fixture, 0, FSL_STAGE_BACKWARD, ids[i], ids[i] * 1000 + 400, 500);
	}
	build(fixture);
	assert_int_equal(fixture->steps.n_items, 3);
	assert_int_equal(fsl_steps_numbered(&fixture->steps, 4), 0);
	assert_int_equal(fsl_steps_numbered(&fixture->steps, 9), 2);
	assert_int_equal(fsl_steps_numbered(&fixture->steps, 7), SIZE_MAX);
	assert_int_equal(fsl_steps_numbered(&fixture->steps, 3), SIZE_MAX);
	assert_int_equal(fsl_steps_numbered(&fixture->steps, 10), SIZE_MAX);
}

static void lowest_rank_with_data_loading_is_the_source(void **state)
{
	struct fixture *fixture = *state;
	add_stage(fixture, 0, FSL_STAGE_FORWARD, 0, 0, 10);
	add_timeline(fixture, 2, 0, 4);
	add_timeline(fixture, 5, 0, 9);
	build(fixture);
	assert_int_equal(fixture->steps.source_rank, 2);
	assert_int_equal(fixture->steps.n_items, 4);
}

static void forward_begins_a_step_where_nobody_loads_data(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 8; i++) {
		add_stage(fixture, 1, FSL_STAGE_FORWARD, i / 2, i * 500, 300);
	}
	build(fixture);
	assert_string_equal(fixture->steps.source, "timeline");
	assert_int_equal(fixture->steps.n_items, 4);
	check_step(&fixture->steps, 1, 1, 1000, 1000);
}

static void step_time_file_is_trusted_more_than_a_timeline(void **state)
{
	struct fixture *fixture = *state;
	add_timeline(fixture, 0, 0, 4);
	add_step_time(fixture, 0, 11, 1000, 900);
	add_step_time(fixture, 0, 10, 0, 990);
	add_step_time(fixture, 0, 12, 500, 990); /* its clock went back */
	build(fixture);
	assert_string_equal(fixture->steps.source, "step-time file");
	assert_int_equal(fixture->steps.n_items, 2);
	check_step(&fixture->steps, 1, 11, 1000, 900);
	assert_int_equal(fixture->steps.n_disordered, 1);
}

static void training_log_counts_its_steps_from_zero(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 3; i++) {
		add_step_time(fixture, 0, -1, i * 1000, 1000);
	}
	build(fixture);
	assert_string_equal(fixture->steps.source, "training log");
	check_step(&fixture->steps, 2, 2, 2000, 1000);
}

/* Steps that a log does not tell lie in front of those that it tells, as far as there is time. */
static void log_of_every_nth_step_stands_for_all(void **state)
{
	struct fixture *fixture = *state;
	static const struct {
		int64_t every, dur_ms, pause_ms;
	} cases[] = {{10, 300, 0}, {5, 1000, 7000}};
	for (size_t c = 0; c < 2; c++) {
		int32_t number = (int32_t)c;
		int64_t end_ms = 0;
		for (int64_t i = 1; i <= 4; i++) {
			end_ms +=
				cases[c].every * cases[c].dur_ms + (i == 4 ? cases[c].pause_ms : 0);
			add_step_time(fixture, number, i * cases[c].every, end_ms - cases[c].dur_ms,
				      cases[c].dur_ms);
			struct fsl_rank *rank = rank_of(fixture, number);
			rank->steps[rank->n_steps - 1].is_logged = 1;
		}
	}
	build(fixture);
	assert_int_equal(fixture->steps.stride, 10);
	assert_int_equal(fsl_steps_untold_ns(&fixture->steps, 0), 0);
	assert_int_equal(fsl_steps_untold_ns(&fixture->steps, 3), INT64_C(2700) * MS);
	rank_of(fixture, 0)->n_steps = 0;
	fsl_steps_fini(&fixture->steps);
	build(fixture);
	assert_int_equal(fixture->steps.stride, 5);
	assert_int_equal(fsl_steps_untold_ns(&fixture->steps, 2), INT64_C(4000) * MS);
	assert_int_equal(fsl_steps_untold_ns(&fixture->steps, 3), INT64_C(4080) * MS);
}

static void timeline_is_trusted_more_than_a_training_log(void **state)
{
	struct fixture *fixture = *state;
	add_step_time(fixture, 0, -1, 0, 1000);
	add_timeline(fixture, 1, 0, 4);
	build(fixture);
	assert_string_equal(fixture->steps.source, "timeline");
}

static void checkpoint_time_is_the_union_of_all_ranks(void **state)
{
	struct fixture *fixture = *state;
	add_timeline(fixture, 0, 0, 5);
	add_stage(fixture, 0, FSL_STAGE_CKPT, 1, 1800, 400); /* reaches into step 2 */
	add_stage(fixture, 3, FSL_STAGE_CKPT, 1, 1700, 200);
	build(fixture);
	assert_int_equal(fixture->steps.items[0].ckpt_ns, 0);
	assert_int_equal(fixture->steps.items[1].ckpt_ns, 300 * MS);
	assert_int_equal(fixture->steps.items[2].ckpt_ns, 200 * MS);
}

static void gc_time_is_that_of_the_rank_that_paused_longest(void **state)
{
	struct fixture *fixture = *state;
	add_timeline(fixture, 0, 0, 5);
	add_stage(fixture, 0, FSL_STAGE_GC, 1, 1100, 30);
	add_stage(fixture, 0, FSL_STAGE_GC, 1, 1200, 30);
	add_stage(fixture, 1, FSL_STAGE_GC, 1, 1300, 50);
	build(fixture);
	assert_int_equal(fixture->steps.items[1].gc_ns, 60 * MS);
}

static void operators_show_their_period_behind_an_odd_head(void **state)
{
	struct fixture *fixture = *state;
	static const char *const period[] = {"AllGather", "ReduceScatter", "AllGather",
					     "ReduceScatter", "Allreduce"};
	add_op(fixture, 0, "Broadcast", 0, 1);
	for (int64_t i = 0; i < 100; i++) {
		add_op(fixture, 0, period[i % 5], 100 + i * 10, 64);
	}
	build(fixture);
	assert_string_equal(fixture->steps.source, "operator period");
	assert_true(fixture->steps.is_ordinal);
	assert_true(fixture->steps.n_items >= 19);
	check_step(&fixture->steps, 7, 7, 100 + 40 + 7 * 50 + 1, 50);
}

static void operators_of_a_rare_checkpoint_do_not_hide_the_period(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 60; i++) {
		add_op(fixture, 0, "AllGather", i * 100, 64);
		add_op(fixture, 0, "AllGather", i * 100 + 20, 64);
		add_op(fixture, 0, "Allreduce", i * 100 + 40, 64);
		if (i % 15 == 14) {
			add_op(fixture, 0, "Broadcast", i * 100 + 60, 64);
		}
	}
	build(fixture);
	check_step(&fixture->steps, 30, 30, 30 * 100 + 40 + 1, 100);
}

static void message_size_tells_equal_operators_apart(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 80; i++) {
		add_op(fixture, 0, "Allreduce", i * 25, i % 4 == 0 ? 1000 : 5000);
	}
	build(fixture);
	check_step(&fixture->steps, 3, 3, 300 + 1, 100);
}

static void a_mark_used_twice_in_a_step_is_told_by_its_times(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 60; i++) {
		/* Forward and backward use the same two operators; backward takes twice as long. */
		add_op(fixture, 0, "AllGather", i * 300 + 20, 64);
		add_op(fixture, 0, "ReduceScatter", i * 300 + 90, 64);
		add_op(fixture, 0, "AllGather", i * 300 + 150 + i % 3, 64);
		add_op(fixture, 0, "ReduceScatter", i * 300 + 290, 64);
	}
	build(fixture);
	assert_true(fixture->steps.n_items >= 59 && fixture->steps.n_items <= 61);
	assert_in_range(fixture->steps.items[20].dur_ns, 297 * MS, 303 * MS);
}

static void lost_records_do_not_hide_the_period(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 400; i++) {
		if (i % 29 != 7) {
			add_op(fixture, 0, i % 5 == 4 ? "Allreduce" : "AllGather", i * 10, 64);
		}
	}
	build(fixture);
	assert_true(fixture->steps.n_items >= 70);
	assert_int_equal(fixture->steps.items[10].dur_ns, 50 * MS);
}

static void records_lost_in_most_steps_do_not_hide_the_period(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 2000; i++) {
		const char *inner = i % 5 == 4 ? "ReduceScatter" : "AllGather";
		if (((uint32_t)i * 2654435761U >> 16) % 33 != 7) {
			add_op(fixture, 0, i % 50 == 49 ? "Allreduce" : inner, i * 10, 64);
		}
	}
	build(fixture);
	assert_in_range(fixture->steps.n_items, 36, 40);
	assert_int_equal(fixture->steps.items[10].dur_ns, 500 * MS);
}

static void steps_whose_mark_was_lost_are_counted(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 2000; i++) {
		const char *inner = i % 50 == 48 ? "Broadcast" : "AllGather";
		bool is_mark = i % 50 == 49;
		bool is_lost = i == 499 || i == 999 || i == 1049 || i % 97 == 13;
		if (!is_lost) {
			add_op(fixture, 0, is_mark ? "Allreduce" : inner, i * 10, 64);
		}
	}
	build(fixture);
	assert_in_range(fixture->steps.n_items, 39, 40);
	for (size_t i = 0; i + 1 < fixture->steps.n_items; i++) {
		assert_in_range(fixture->steps.items[i].dur_ns, 490 * MS, 510 * MS);
	}
}

static void one_operator_repeated_is_one_step_each(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 80; i++) {
		add_op(fixture, 0, "Allreduce", i * 25, 5000);
	}
	build(fixture);
	assert_int_equal(fixture->steps.n_items, 79); /* the last has no end */
	check_step(&fixture->steps, 3, 3, 75 + 1, 25);
}

static void step_numbers_of_operators_are_used(void **state)
{
	struct fixture *fixture = *state;
	for (int64_t i = 0; i < 12; i++) {
		add_op(fixture, 0, "Allreduce", i * 25, 5000);
		fixture->run.ranks[0].ops[i].step = (int32_t)(40 + i / 4);
	}
	build(fixture);
	assert_string_equal(fixture->steps.source, "operator steps");
	check_step(&fixture->steps, 1, 41, 100, 100);
}

static void empty_run_has_no_steps(void **state)
{
	struct fixture *fixture = *state;
	build(fixture);
	assert_int_equal(fixture->steps.n_items, 0);
	assert_int_equal(fsl_steps_find(&fixture->steps, T0), SIZE_MAX);
}

static void find_returns_the_step_that_holds_the_time(void **state)
{
	struct fixture *fixture = *state;
	add_timeline(fixture, 0, 0, 4);
	build(fixture);
	assert_int_equal(fsl_steps_find(&fixture->steps, T0 - 1), SIZE_MAX);
	assert_int_equal(fsl_steps_find(&fixture->steps, T0), 0);
	assert_int_equal(fsl_steps_find(&fixture->steps, T0 + 1000 * MS - 1), 0);
	assert_int_equal(fsl_steps_find(&fixture->steps, T0 + 1000 * MS), 1);
	assert_int_equal(fsl_steps_find(&fixture->steps, T0 + 3949 * MS), 3);
	assert_int_equal(fsl_steps_find(&fixture->steps, T0 + 3950 * MS), SIZE_MAX);
}

static void every_failed_allocation_is_reported(void **state)
{
	struct fixture *fixture = *state;
	add_timeline(fixture, 0, 0, 4);
	add_stage(fixture, 0, FSL_STAGE_CKPT, 1, 1800, 400);
	for (int64_t i = 0; i < 60; i++) {
		add_op(fixture, 0, i % 3 == 0 ? "Allreduce" : "AllGather", i * 10, 64);
	}
	fsl_rank_normalise(&fixture->run.ranks[0]);
	for (size_t n_stages = fixture->run.ranks[0].n_stages;; n_stages = 0) {
		fixture->run.ranks[0].n_stages = n_stages;
		enum fsl_status status = FSL_ERR_MEMORY;
		uint64_t nth = 1;
		for (; status != FSL_OK; nth++) {
			assert_int_equal(status, FSL_ERR_MEMORY);
			fsl_steps_fini(&fixture->steps);
			fsl_mem_fail_at(nth);
			status = fsl_steps_build(&fixture->steps, &fixture->run, NULL);
			fsl_mem_fail_at(0);
		}
		assert_true(nth > 3);
		if (n_stages == 0) {
			break;
		}
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(timeline_step_lasts_until_the_next_begins),
		CASE(last_step_ends_with_its_last_stage),
		CASE(last_step_that_had_not_come_half_way_is_left_out),
		CASE(order_of_the_input_does_not_matter),
		CASE(data_loading_of_each_micro_batch_is_one_step),
		CASE(constant_stage_ids_are_replaced_by_the_position),
		CASE(stage_ids_that_fall_are_replaced_by_the_position),
		CASE(of_steps_that_ran_again_the_later_run_counts),
		CASE(a_step_may_run_again_alone),
		CASE(loading_out_of_order_is_no_restart),
		CASE(stages_that_begin_again_at_the_first_number_all_stay),
		CASE(step_before_a_hole_is_not_as_long_as_the_hole),
		CASE(a_step_is_found_by_its_number_also_behind_a_hole),
		CASE(lowest_rank_with_data_loading_is_the_source),
		CASE(forward_begins_a_step_where_nobody_loads_data),
		CASE(step_time_file_is_trusted_more_than_a_timeline),
		CASE(training_log_counts_its_steps_from_zero),
		CASE(log_of_every_nth_step_stands_for_all),
		CASE(timeline_is_trusted_more_than_a_training_log),
		CASE(checkpoint_time_is_the_union_of_all_ranks),
		CASE(gc_time_is_that_of_the_rank_that_paused_longest),
		CASE(operators_show_their_period_behind_an_odd_head),
		CASE(operators_of_a_rare_checkpoint_do_not_hide_the_period),
		CASE(message_size_tells_equal_operators_apart),
		CASE(a_mark_used_twice_in_a_step_is_told_by_its_times),
		CASE(lost_records_do_not_hide_the_period),
		CASE(records_lost_in_most_steps_do_not_hide_the_period),
		CASE(steps_whose_mark_was_lost_are_counted),
		CASE(one_operator_repeated_is_one_step_each),
		CASE(step_numbers_of_operators_are_used),
		CASE(empty_run_has_no_steps),
		CASE(find_returns_the_step_that_holds_the_time),
		CASE(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
