/* Progress: the facts about a stretch of time without its events, and how stretches join. */
#include "model/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"

#define T0   INT64_C(1750000000000000000)
#define STEP INT64_C(100000000)

enum { STEPS = 20 };

/* Steps [begin, end) of 100 ms each, of rank 0; every 5th has a save. */
static void make(struct fsl_progress *out, int64_t begin, int64_t end)
{
	struct fsl_run run;
	struct fsl_job_step items[STEPS];
	struct fsl_steps steps = {.items = items, .source = "timeline"};
	assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
	struct fsl_rank *rank = fsl_run_add_rank(&run, 0, NULL);
	assert_non_null(rank);
	for (int64_t s = begin; s < end; s++) {
		items[steps.n_items++] = (struct fsl_job_step){
			.step = s, .begin_ns = T0 + s * STEP, .dur_ns = STEP, .gc_ns = s};
		assert_int_equal(
			FSL_GROW(rank->stages, rank->stages_capacity, rank->n_stages + 2, NULL),
			FSL_OK);
		rank->stages[rank->n_stages++] =
			(struct fsl_stage){.kind = FSL_STAGE_DATALOADER,
					   .begin_ns = T0 + s * STEP,
					   .end_ns = T0 + s * STEP + 1000 + s};
		if (s % 5 == 0) {
			rank->stages[rank->n_stages++] =
				(struct fsl_stage){.kind = FSL_STAGE_CKPT,
						   .begin_ns = T0 + s * STEP + 5000,
						   .end_ns = T0 + s * STEP + 9000};
		}
	}
	assert_int_equal(fsl_progress_build(out, &run, &steps, NULL), FSL_OK);
	fsl_run_fini(&run);
}

static void check_alike(const struct fsl_progress *a, const struct fsl_progress *b)
{
	assert_int_equal(a->steps.n_items, b->steps.n_items);
	assert_memory_equal(a->steps.items, b->steps.items,
			    a->steps.n_items * sizeof(*a->steps.items));
	assert_memory_equal(a->loading_ns, b->loading_ns,
			    a->steps.n_items * sizeof(*a->loading_ns));
	assert_int_equal(a->n_saves, b->n_saves);
	assert_memory_equal(a->saves, b->saves, a->n_saves * sizeof(*a->saves));
	assert_string_equal(a->steps.source, b->steps.source);
	assert_int_equal(a->steps.source_rank, b->steps.source_rank);
}

/* Its stages begin a little before or after those of the rank that tells when steps begin. */
static void a_stage_belongs_to_the_step_with_its_number(void **state)
{
	(void)state;
	static const int64_t ahead_ns[] = {-2000, 2000};
	for (size_t i = 0; i < 2; i++) {
		struct fsl_run run;
		struct fsl_progress progress;
		struct fsl_job_step items[STEPS];
		struct fsl_steps steps = {.items = items, .source = "timeline"};
		assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
		struct fsl_rank *rank = fsl_run_add_rank(&run, 0, NULL);
		for (int64_t s = 0; s < STEPS; s++) {
			items[steps.n_items++] = (struct fsl_job_step){
				.step = 50 + s, .begin_ns = T0 + s * STEP, .dur_ns = STEP};
			struct fsl_stage stage = {.kind = FSL_STAGE_DATALOADER,
						  .step = 50 + s,
						  .begin_ns = T0 + s * STEP + ahead_ns[i],
						  .end_ns = T0 + s * STEP + 9000 + s};
			assert_int_equal(FSL_APPEND(rank, stages, &stage, NULL), FSL_OK);
		}
		assert_int_equal(fsl_progress_build(&progress, &run, &steps, NULL), FSL_OK);
		for (int64_t s = 1; s < STEPS; s++) {
			assert_int_equal(progress.loading_ns[s], 9000 + s - ahead_ns[i]);
		}
		fsl_progress_fini(&progress);
		fsl_run_fini(&run);
	}
}

static void loading_and_saves_are_those_of_the_stages(void **state)
{
	(void)state;
	struct fsl_progress progress;
	make(&progress, 0, STEPS);
	assert_int_equal(progress.loading_ns[7], 1007);
	assert_int_equal(progress.n_saves, 4);
	assert_int_equal(progress.saves[1].step, 5);
	assert_int_equal(progress.saves[1].dur_ns, 4000);
	fsl_progress_fini(&progress);
}

static void stretches_join_to_what_the_whole_is(void **state)
{
	(void)state;
	struct fsl_progress whole, parts[3];
	make(&whole, 0, STEPS);
	make(&parts[0], 0, 7);
	make(&parts[1], 7, 12);
	make(&parts[2], 12, STEPS);
	parts[0].steps.items[6].dur_ns = STEP / 2; /* as far as its chapter goes */
	const struct fsl_progress *const earlier[] = {&parts[0], &parts[1]};
	assert_int_equal(fsl_progress_extend(&parts[2], earlier, 2, 100, NULL), FSL_OK);
	check_alike(&parts[2], &whole);
	for (size_t i = 0; i < 3; i++) {
		fsl_progress_fini(&parts[i]);
	}
	fsl_progress_fini(&whole);
}

static void stretches_without_steps_are_a_pause_and_no_end(void **state)
{
	(void)state;
	for (size_t n_empty = 1; n_empty <= 2; n_empty++) {
		struct fsl_progress parts[4];
		make(&parts[0], 0, 7);
		make(&parts[1], 7, 7);
		make(&parts[2], 7, 7);
		make(&parts[3], 7, STEPS);
		const struct fsl_progress *const earlier[] = {&parts[0], &parts[1], &parts[2]};
		parts[3].steps.items[0].begin_ns += STEP / 4;
		assert_int_equal(fsl_progress_extend(&parts[3], earlier, 1 + n_empty, 100, NULL),
				 FSL_OK);
		assert_int_equal(parts[3].steps.n_items, STEPS);
		assert_int_equal(parts[3].steps.items[6].dur_ns, STEP + STEP / 4);
		for (size_t i = 0; i < 4; i++) {
			fsl_progress_fini(&parts[i]);
		}
	}
}

static void no_more_steps_are_put_in_front_than_wanted(void **state)
{
	(void)state;
	for (size_t n = 0; n < STEPS; n++) {
		struct fsl_progress parts[3];
		make(&parts[0], 0, 7);
		make(&parts[1], 7, 12);
		make(&parts[2], 12, STEPS);
		const struct fsl_progress *const earlier[] = {&parts[0], &parts[1]};
		assert_int_equal(fsl_progress_extend(&parts[2], earlier, 2, n, NULL), FSL_OK);
		size_t n_all = n < 12 ? n : 12;
		assert_int_equal(parts[2].steps.n_items, STEPS - 12 + n_all);
		assert_int_equal(parts[2].steps.items[0].step, 12 - (int64_t)n_all);
		for (size_t i = 0; i < 3; i++) {
			fsl_progress_fini(&parts[i]);
		}
	}
}

static void steps_of_another_source_or_clock_do_not_join(void **state)
{
	(void)state;
	for (int what = 0; what < 4; what++) {
		struct fsl_progress before, after;
		make(&before, 0, 7);
		make(&after, 7, 12);
		switch (what) {
		case 0:
			before.steps.source = "training log";
			break;
		case 1:
			before.steps.source_rank = 3;
			break;
		case 2: /* the clock was set back */
			before.steps.items[6].begin_ns = T0 + 8 * STEP;
			break;
		default: /* numbers begin again */
			before.steps.items[6].step = 7;
		}
		const struct fsl_progress *const earlier[] = {&before};
		assert_int_equal(fsl_progress_extend(&after, earlier, 1, 100, NULL), FSL_OK);
		assert_int_equal(after.steps.n_items, 5);
		fsl_progress_fini(&before);
		fsl_progress_fini(&after);
	}
}

static void trimming_leaves_what_ends_later_and_the_newest(void **state)
{
	(void)state;
	struct fsl_progress progress;
	make(&progress, 0, STEPS);
	fsl_progress_trim(&progress, T0 + 3 * STEP + STEP / 2, 100);
	assert_int_equal(progress.steps.items[0].step, 3); /* it goes on behind that time */
	assert_int_equal(progress.loading_ns[0], 1003);
	assert_int_equal(progress.n_saves, 3);
	fsl_progress_trim(&progress, INT64_MIN, 1);
	assert_int_equal(progress.steps.n_items, 1);
	assert_int_equal(progress.steps.items[0].step, STEPS - 1);
	assert_int_equal(progress.n_saves, 3);
	fsl_progress_fini(&progress);
}

static void what_was_packed_comes_back_or_is_refused(void **state)
{
	(void)state;
	struct fsl_progress progress, found;
	struct fsl_pack pack = {0};
	struct fsl_arena arena = {0};
	make(&progress, 0, STEPS);
	fsl_progress_pack(&progress, &pack);
	assert_false(pack.is_failed);
	struct fsl_unpack unpack = {.at = pack.bytes, .n_left = pack.n_bytes};
	assert_int_equal(fsl_progress_unpack(&found, &unpack, &arena, NULL), FSL_OK);
	assert_true(fsl_unpack_is_done(&unpack));
	check_alike(&found, &progress);
	fsl_progress_fini(&found);
	for (size_t n = 0; n < pack.n_bytes; n++) {
		unpack = (struct fsl_unpack){.at = pack.bytes, .n_left = n};
		assert_int_equal(fsl_progress_unpack(&found, &unpack, &arena, NULL),
				 FSL_ERR_FORMAT);
		fsl_progress_fini(&found);
	}
	for (size_t i = 0; i < 8 * pack.n_bytes; i++) {
		pack.bytes[i / 8] ^= (unsigned char)(1U << i % 8);
		unpack = (struct fsl_unpack){.at = pack.bytes, .n_left = pack.n_bytes};
		enum fsl_status status = fsl_progress_unpack(&found, &unpack, &arena, NULL);
		assert_true(status == FSL_OK || status == FSL_ERR_FORMAT);
		pack.bytes[i / 8] ^= (unsigned char)(1U << i % 8);
		fsl_progress_fini(&found);
	}
	fsl_arena_fini(&arena);
	fsl_pack_fini(&pack);
	fsl_progress_fini(&progress);
}

static void progress_of_no_steps_is_trimmed_joined_and_kept(void **state)
{
	(void)state;
	struct fsl_run run;
	const struct fsl_steps none = {.source = "none"};
	struct fsl_progress empty, after, found;
	struct fsl_pack pack = {0};
	struct fsl_arena arena = {0};
	assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
	assert_int_equal(fsl_progress_build(&empty, &run, &none, NULL), FSL_OK);
	fsl_run_fini(&run);
	fsl_progress_trim(&empty, T0, 1);
	make(&after, 7, 12);
	const struct fsl_progress *const earlier[] = {&empty};
	assert_int_equal(fsl_progress_extend(&after, earlier, 1, 100, NULL), FSL_OK);
	assert_int_equal(after.steps.n_items, 5);
	const struct fsl_progress *const before[] = {&after};
	assert_int_equal(fsl_progress_extend(&empty, before, 1, 100, NULL), FSL_OK);
	fsl_progress_pack(&empty, &pack);
	assert_false(pack.is_failed);
	struct fsl_unpack unpack = {.at = pack.bytes, .n_left = pack.n_bytes};
	assert_int_equal(fsl_progress_unpack(&found, &unpack, &arena, NULL), FSL_OK);
	check_alike(&found, &empty);
	assert_int_equal(found.steps.n_items, 0);
	fsl_progress_fini(&found);
	fsl_progress_fini(&after);
	fsl_progress_fini(&empty);
	fsl_arena_fini(&arena);
	fsl_pack_fini(&pack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stage_belongs_to_the_step_with_its_number),
		cmocka_unit_test(loading_and_saves_are_those_of_the_stages),
		cmocka_unit_test(stretches_join_to_what_the_whole_is),
		cmocka_unit_test(stretches_without_steps_are_a_pause_and_no_end),
		cmocka_unit_test(no_more_steps_are_put_in_front_than_wanted),
		cmocka_unit_test(steps_of_another_source_or_clock_do_not_join),
		cmocka_unit_test(trimming_leaves_what_ends_later_and_the_newest),
		cmocka_unit_test(what_was_packed_comes_back_or_is_refused),
		cmocka_unit_test(progress_of_no_steps_is_trimmed_joined_and_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
