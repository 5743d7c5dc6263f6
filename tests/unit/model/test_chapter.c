/* Chapters: the boundaries of captures, and the content of a chapter. */
#include "model/chapter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"

#define HOUR  (INT64_C(3600) * FSL_NS_PER_S)
#define MID   (INT64_C(1750000000) * FSL_NS_PER_S / HOUR * HOUR) /* a full hour */
#define EVERY (INT64_C(60) * FSL_NS_PER_S)

static const double HOURS = 1.0;

/* Operators one a minute in [begin, end), of @name. */
static void add_ops(struct fsl_run *run, int32_t number, int64_t begin_ns, int64_t end_ns,
		    const char *name)
{
	uint32_t id = 0;
	struct fsl_rank *rank = fsl_run_add_rank(run, number, NULL);
	assert_non_null(rank);
	assert_int_equal(fsl_strpool_intern(run->names, name, strlen(name), &id, NULL), FSL_OK);
	for (int64_t t = begin_ns; t < end_ns; t += EVERY) {
		assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, NULL),
				 FSL_OK);
		rank->ops[rank->n_ops] = (struct fsl_op){.host_begin_ns = t,
							 .host_end_ns = t + 1,
							 .dev_begin_ns = t,
							 .dev_end_ns = t + EVERY / 2,
							 .id = rank->n_ops,
							 .op_id = id,
							 .group_id = FSL_STR_NONE,
							 .dtype_id = FSL_STR_NONE,
							 .step = -1};
		rank->n_ops++;
	}
	rank->last_event_ns = end_ns;
}

static size_t count_chapters(int64_t begin_ns, int64_t end_ns, double hours,
			     struct fsl_chapter *copy)
{
	struct fsl_arena arena = {0};
	struct fsl_chapter_rule rule = fsl_chapter_rule_of(hours);
	struct fsl_span span = {.begin_ns = begin_ns, .end_ns = end_ns};
	struct fsl_chapter *items = NULL;
	size_t n = 0;
	assert_int_equal(fsl_chapters_list(&items, &n, &arena, &span, &rule, NULL), FSL_OK);
	assert_true(items[0].begin_ns == INT64_MIN);
	assert_true(items[n - 1].end_ns == INT64_MAX);
	for (size_t k = 1; k < n; k++) {
		assert_true(items[k].begin_ns == items[k - 1].end_ns);
	}
	memcpy(copy, items, n * sizeof(*items));
	fsl_arena_fini(&arena);
	return n;
}

static void a_capture_shorter_than_a_chapter_is_never_cut(void **state)
{
	(void)state;
	struct fsl_chapter items[4];
	for (int64_t shift = 0; shift < HOUR; shift += HOUR / 60) {
		assert_int_equal(count_chapters(MID + shift, MID + shift + HOUR - 1, HOURS, items),
				 1);
	}
}

static void without_a_length_a_capture_stays_whole(void **state)
{
	(void)state;
	struct fsl_chapter items[1];
	assert_int_equal(count_chapters(MID, MID + 1000 * HOUR, 0.0, items), 1);
}

static void lengths_are_halved_until_there_are_chapters_enough(void **state)
{
	(void)state;
	const struct fsl_chapter_rule longest = fsl_chapter_rule_of(4.0);
	int64_t before_ns = 0;
	for (int64_t span_ns = FSL_NS_PER_S; span_ns < 1000 * HOUR; span_ns += span_ns / 7) {
		struct fsl_chapter_rule rule = fsl_chapter_rule_finer(&longest, span_ns, 32);
		assert_true(longest.length_ns % rule.length_ns == 0);
		assert_true(rule.length_ns >= before_ns && rule.length_ns >= FSL_NS_PER_S);
		assert_int_equal(rule.lead_ns, rule.length_ns / 4);
		if (rule.length_ns < longest.length_ns && rule.length_ns > 2 * FSL_NS_PER_S) {
			assert_in_range(span_ns / rule.length_ns, 32, 64);
		}
		before_ns = rule.length_ns;
	}
	assert_true(before_ns == longest.length_ns);
	struct fsl_chapter_rule same = fsl_chapter_rule_finer(&longest, FSL_NS_PER_S, 1);
	assert_true(same.length_ns == longest.length_ns);
	const struct fsl_chapter_rule none = {0};
	assert_int_equal(fsl_chapter_rule_finer(&none, HOUR, 32).length_ns, 0);
}

static void chapters_stay_as_they_are_while_the_capture_grows(void **state)
{
	(void)state;
	struct fsl_chapter before[64], after[64];
	int64_t begin_ns = MID + HOUR / 3;
	size_t n_before = count_chapters(begin_ns, begin_ns, HOURS, before);
	for (int64_t end_ns = begin_ns; end_ns < begin_ns + 40 * HOUR; end_ns += HOUR / 7) {
		size_t n = count_chapters(begin_ns, end_ns, HOURS, after);
		assert_true(n == n_before || n == n_before + 1);
		assert_memory_equal(before, after, (n_before - 1) * sizeof(*before));
		assert_true(before[n_before - 1].begin_ns == after[n_before - 1].begin_ns);
		int64_t last_ns = n > 1 ? after[n - 1].begin_ns : begin_ns;
		assert_true(end_ns - last_ns < HOUR * 3 / 2);
		assert_true(n == 1 || end_ns - last_ns >= HOUR / 2);
		memcpy(before, after, sizeof(before));
		n_before = n;
	}
	assert_true(n_before > 35);
}

static void chapters_hold_every_event_once_but_for_their_leads(void **state)
{
	(void)state;
	struct fsl_run run;
	struct fsl_arena arena = {0};
	struct fsl_span span;
	struct fsl_chapter *items = NULL;
	size_t n = 0, n_own = 0;
	struct fsl_chapter_rule rule = fsl_chapter_rule_of(HOURS);
	assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
	add_ops(&run, 0, MID, MID + 5 * HOUR, "b");
	assert_int_equal(fsl_run_span(&span, &run, &rule, NULL), FSL_OK);
	assert_false(span.is_torn);
	assert_int_equal(fsl_chapters_list(&items, &n, &arena, &span, &rule, NULL), FSL_OK);
	assert_int_equal(n, 5);
	for (size_t k = 0; k < n; k++) {
		struct fsl_run part;
		assert_int_equal(fsl_chapter_take(&part, &run, &items[k], &rule, NULL), FSL_OK);
		size_t n_lead = 0;
		for (size_t i = 0; i < part.ranks[0].n_ops; i++) {
			n_lead += part.ranks[0].ops[i].dev_end_ns < items[k].begin_ns;
		}
		assert_int_equal(n_lead, k == 0 ? 0 : 15); /* 15 minutes, one end */
		n_own += part.ranks[0].n_ops - n_lead;
		fsl_chapter_drop(&part);
	}
	assert_int_equal(n_own, run.ranks[0].n_ops);
	fsl_arena_fini(&arena);
	fsl_run_fini(&run);
}

/* Two ranks are in one collective that ends behind the boundary; one of them arrived before it. */
static void a_collective_is_in_the_same_chapter_on_all_ranks(void **state)
{
	(void)state;
	for (int is_measured = 0; is_measured < 2; is_measured++) {
		struct fsl_run run, part;
		struct fsl_chapter chapters[2] = {{MID, MID + HOUR}, {MID + HOUR, INT64_MAX}};
		struct fsl_chapter_rule rule = {.length_ns = HOUR};
		assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
		add_ops(&run, 0, MID + EVERY, MID + HOUR * 2, "x");
		add_ops(&run, 1, MID + EVERY, MID + HOUR * 2, "x");
		for (size_t i = 0; i < 30; i++) { /* also a long one, which others overtake */
			run.ranks[0].ops[59].dev_begin_ns = MID + HOUR - EVERY / (int64_t)(i + 1);
			run.ranks[0].ops[40].dev_end_ns = MID + HOUR + 3;
			run.ranks[1].ops[40].dev_end_ns = MID + HOUR + 3;
			if (is_measured) {
				fsl_run_measure_ops(&run);
			}
			for (size_t k = 0; k < 2; k++) {
				assert_int_equal(
					fsl_chapter_take(&part, &run, &chapters[k], &rule, NULL),
					FSL_OK);
				assert_int_equal(part.ranks[0].n_ops, part.ranks[1].n_ops);
				assert_int_equal(part.ranks[0].n_ops, k == 0 ? 58 : 61);
				fsl_chapter_drop(&part);
			}
		}
		fsl_run_fini(&run);
	}
}

static void a_chapter_does_not_know_what_comes_after_it(void **state)
{
	(void)state;
	struct fsl_run shorter, longer;
	struct fsl_run *const runs[] = {&shorter, &longer};
	struct fsl_run parts[2];
	struct fsl_chapter chapter = {INT64_MIN, MID + HOUR};
	struct fsl_chapter_rule rule = fsl_chapter_rule_of(HOURS);
	for (size_t k = 0; k < 2; k++) {
		assert_int_equal(fsl_run_init(runs[k], NULL), FSL_OK);
		if (k == 1) { /* another name comes first, and is used later only */
			add_ops(runs[k], 1, MID + 3 * HOUR, MID + 4 * HOUR, "a");
		}
		add_ops(runs[k], 1, MID, MID + HOUR + EVERY, "d");
		add_ops(runs[k], 2, MID, MID + HOUR * (int64_t)(k + 1), "c");
		fsl_rank_normalise(&runs[k]->ranks[0]);
		runs[k]->ranks[1].open_op_id = runs[k]->ranks[1].ops[0].op_id;
		runs[k]->ranks[1].open_begin_ns = MID + HOUR * (int64_t)(k + 1);
		assert_int_equal(fsl_chapter_take(&parts[k], runs[k], &chapter, &rule, NULL),
				 FSL_OK);
	}
	for (size_t r = 0; r < 2; r++) {
		const struct fsl_rank *a = &parts[0].ranks[r], *b = &parts[1].ranks[r];
		assert_int_equal(a->n_ops, 60);
		assert_int_equal(b->n_ops, 60);
		for (size_t i = 0; i < 60; i++) {
			assert_int_equal(a->ops[i].op_id, b->ops[i].op_id);
			assert_int_equal(a->ops[i].op_id, r == 0); /* "c" is 0, "d" is 1 */
			assert_true(a->ops[i].dev_begin_ns == b->ops[i].dev_begin_ns);
		}
		assert_true(a->last_event_ns == b->last_event_ns);
		assert_true(a->last_event_ns == MID + HOUR - EVERY / 2);
		assert_int_equal(a->open_op_id, FSL_STR_NONE);
		assert_int_equal(b->open_op_id, FSL_STR_NONE);
	}
	for (size_t k = 0; k < 2; k++) {
		fsl_chapter_drop(&parts[k]);
		fsl_run_fini(runs[k]);
	}
}

static void stages_of_a_chapter_keep_the_texts_of_their_frames(void **state)
{
	(void)state;
	static const char *const frames[] = {"z@z.py:1", "", "a@a.py:2"};
	struct fsl_run run, part;
	struct fsl_chapter chapters[2] = {{INT64_MIN, MID + HOUR}, {MID + HOUR, INT64_MAX}};
	struct fsl_chapter_rule rule = {.length_ns = HOUR};
	assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
	add_ops(&run, 0, MID, MID + 2 * HOUR, "m");
	for (int i = 0; i < 6; i++) {
		const char *frame = frames[i % 3];
		struct fsl_stage stage = {.begin_ns = MID + i * HOUR / 3, .end_ns = MID + 2 * HOUR};
		uint32_t id = 0;
		assert_int_equal(fsl_strpool_intern(run.names, frame, strlen(frame), &id, NULL),
				 FSL_OK);
		stage.frame = *frame != '\0' ? id + 1 : 0;
		stage.stack = i % 3 == 2 ? id + 1 : 0;
		assert_int_equal(FSL_APPEND(&run.ranks[0], stages, &stage, NULL), FSL_OK);
	}
	for (size_t k = 0; k < 2; k++) {
		assert_int_equal(fsl_chapter_take(&part, &run, &chapters[k], &rule, NULL), FSL_OK);
		assert_int_equal(part.ranks[0].n_stages, 3);
		for (size_t i = 0; i < 3; i++) {
			uint32_t frame = part.ranks[0].stages[i].frame;
			uint32_t stack = part.ranks[0].stages[i].stack;
			assert_int_equal(frame == 0, i == 1);
			assert_int_equal(stack, i == 2 ? frame : 0);
			assert_string_equal(fsl_strpool_text(part.names, frame - 1), frames[i]);
		}
		fsl_chapter_drop(&part);
	}
	fsl_run_fini(&run);
}

static void the_last_chapter_knows_who_waits(void **state)
{
	(void)state;
	struct fsl_run run;
	struct fsl_chapter chapter = {MID + HOUR, INT64_MAX};
	struct fsl_chapter_rule rule = fsl_chapter_rule_of(HOURS);
	assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
	add_ops(&run, 0, MID, MID + HOUR * 2, "x");
	run.ranks[0].open_op_id = run.ranks[0].ops[0].op_id;
	assert_int_equal(fsl_chapter_keep(&run, &chapter, &rule, NULL), FSL_OK);
	assert_string_equal(fsl_strpool_text(run.names, run.ranks[0].open_op_id), "x");
	assert_true(run.ranks[0].last_event_ns == MID + HOUR * 2);
	assert_int_equal(run.ranks[0].n_ops, 75);
	fsl_run_fini(&run);
}

static void a_rank_with_another_clock_leaves_the_capture_whole(void **state)
{
	(void)state;
	struct fsl_chapter_rule rule = fsl_chapter_rule_of(HOURS);
	static const struct {
		int64_t begin_ns, end_ns;
		bool is_torn;
	} cases[] = {
		{MID, MID + 9 * HOUR, false},
		{MID + HOUR / 60, MID + 9 * HOUR + HOUR / 60, false}, /* a minute apart */
		{MID + 3 * HOUR, MID + 9 * HOUR, false},              /* came later */
		{MID, MID + 3 * HOUR, false},                         /* died */
		{MID + HOUR, MID + 10 * HOUR, true},
		{MID - HOUR, MID + 8 * HOUR, true},
		{MID + 100 * HOUR, MID + 101 * HOUR, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_run run;
		struct fsl_span span;
		assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
		for (int32_t r = 0; r < 4; r++) {
			add_ops(&run, r, MID, MID + 9 * HOUR, "x");
		}
		add_ops(&run, 4, cases[i].begin_ns, cases[i].end_ns, "x");
		assert_int_equal(fsl_run_span(&span, &run, &rule, NULL), FSL_OK);
		assert_int_equal(span.is_torn, cases[i].is_torn);
		assert_true(span.begin_ns == MID);
		fsl_run_fini(&run);
	}
}

static void out_of_memory_leaves_nothing_behind(void **state)
{
	(void)state;
	struct fsl_run run;
	struct fsl_chapter chapter = {MID + HOUR, MID + 2 * HOUR};
	struct fsl_chapter_rule rule = fsl_chapter_rule_of(HOURS);
	enum fsl_status status = FSL_ERR_MEMORY;
	assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
	add_ops(&run, 0, MID, MID + HOUR * 3, "x");
	for (uint64_t nth = 1; status == FSL_ERR_MEMORY; nth++) {
		fsl_mem_fail_at(nth);
		status = fsl_chapter_keep(&run, &chapter, &rule, NULL);
		fsl_mem_fail_at(0);
		assert_int_equal(run.ranks[0].n_ops, status == FSL_OK ? 75 : 180);
	}
	assert_int_equal(status, FSL_OK);
	fsl_run_fini(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_capture_shorter_than_a_chapter_is_never_cut),
		cmocka_unit_test(without_a_length_a_capture_stays_whole),
		cmocka_unit_test(lengths_are_halved_until_there_are_chapters_enough),
		cmocka_unit_test(chapters_stay_as_they_are_while_the_capture_grows),
		cmocka_unit_test(chapters_hold_every_event_once_but_for_their_leads),
		cmocka_unit_test(a_collective_is_in_the_same_chapter_on_all_ranks),
		cmocka_unit_test(a_chapter_does_not_know_what_comes_after_it),
		cmocka_unit_test(stages_of_a_chapter_keep_the_texts_of_their_frames),
		cmocka_unit_test(the_last_chapter_knows_who_waits),
		cmocka_unit_test(a_rank_with_another_clock_leaves_the_capture_whole),
		cmocka_unit_test(out_of_memory_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
