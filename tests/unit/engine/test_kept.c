/* What is kept of a long capture: found again as it was, or not used at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "engine/chapters.h"
#include "engine/kept_parts.h"
#include "model/verdict_pack.h"

#define HOUR (INT64_C(3600) * FSL_NS_PER_S)

enum { CHAPTERS = 3 };

/* Chapters of which the last is not over, two ranks, no marks. */
static void make(struct fsl_kept *kept, struct fsl_chapters *chapters)
{
	*kept = (struct fsl_kept){.resume_ns = FSL_NS_ABSENT,
				  .now = {.period_ns = HOUR, .lead_ns = HOUR / 10}};
	*chapters = (struct fsl_chapters){.rule = fsl_chapter_rule_for(HOUR),
					  .wanted_ns = {HOUR, 2 * HOUR, 0},
					  .has_ops_enough = true,
					  .step_hint = {7, 16},
					  .span = {.begin_ns = HOUR / 4}};
	chapters->items = fsl_calloc(CHAPTERS, sizeof(*chapters->items));
	kept->ranks = fsl_arena_alloc(&kept->arena, 2 * sizeof(*kept->ranks));
	assert_non_null(chapters->items);
	assert_non_null(kept->ranks);
	kept->n_ranks = 2;
	kept->ranks[0] = (struct fsl_kept_rank){0, 2 * HOUR + HOUR / 2, 2 * HOUR};
	kept->ranks[1] = (struct fsl_kept_rank){7, 2 * HOUR + HOUR / 3, FSL_NS_ABSENT};
	chapters->n_items = CHAPTERS;
	for (size_t k = 0; k < CHAPTERS; k++) {
		struct fsl_judged_chapter *chapter = &chapters->items[k];
		chapter->time.begin_ns = k == 0 ? INT64_MIN : (int64_t)k * HOUR;
		chapter->time.end_ns = k + 1 == CHAPTERS ? INT64_MAX : (int64_t)(k + 1) * HOUR;
		chapter->n_steps = 100 + k;
		chapter->n_ops = 1000 + k;
		chapter->progress.steps.source = "timeline";
		fsl_localisation_init(&chapter->verdict);
		chapter->verdict.kind = k == 1 ? FSL_VERDICT_SLOW_LINK : FSL_VERDICT_NORMAL;
		chapter->verdict.reason = k == 1 ? "a link" : "nothing";
		assert_int_equal(fsl_localisation_pack(&chapter->verdict, &chapter->packed, NULL),
				 FSL_OK);
	}
}

static void pack(struct fsl_pack *bytes)
{
	struct fsl_kept kept;
	struct fsl_chapters chapters;
	make(&kept, &chapters);
	assert_int_equal(fsl_kept_pack(&kept, &chapters, bytes, NULL), FSL_OK);
	fsl_chapters_fini(&chapters);
	fsl_kept_fini(&kept);
}

static void what_was_kept_is_found_but_for_the_newest_chapter(void **state)
{
	(void)state;
	struct fsl_pack bytes = {0}, again = {0};
	struct fsl_kept found = {0};
	pack(&bytes);
	assert_int_equal(fsl_kept_unpack(&found, bytes.bytes, bytes.n_bytes, NULL), FSL_OK);
	assert_int_equal(found.chapters.n_items, CHAPTERS - 1);
	assert_true(found.chapters.rule.length_ns == HOUR);
	assert_true(found.chapters.wanted_ns[0] == HOUR && found.chapters.wanted_ns[1] == 2 * HOUR);
	assert_int_equal(found.chapters.step_hint.rank, 7);
	assert_int_equal(found.chapters.step_hint.n_ops, 16);
	assert_true(found.chapters.span.begin_ns == HOUR / 4);
	assert_true(found.chapters.items[0].time.begin_ns == INT64_MIN);
	assert_true(found.chapters.items[1].time.end_ns == 2 * HOUR);
	assert_int_equal(found.chapters.items[1].n_steps, 101);
	assert_int_equal(found.chapters.items[1].n_ops, 1001);
	assert_true(found.chapters.has_ops_enough);
	assert_int_equal(found.chapters.items[1].verdict.kind, FSL_VERDICT_SLOW_LINK);
	assert_string_equal(found.chapters.items[1].verdict.reason, "a link");
	assert_int_equal(found.n_ranks, 2);
	assert_int_equal(found.ranks[1].rank, 7);
	assert_true(found.ranks[1].last_op_ns == 2 * HOUR + HOUR / 3);
	assert_true(found.ranks[0].last_stage_ns == 2 * HOUR);
	assert_true(found.ranks[1].last_stage_ns == FSL_NS_ABSENT);
	/* What a later run keeps of it is the same again. */
	struct fsl_judged_chapter *more = fsl_calloc(found.chapters.n_items + 1, sizeof(*more));
	assert_non_null(more);
	memcpy(more, found.chapters.items, found.chapters.n_items * sizeof(*more));
	fsl_localisation_init(&more[found.chapters.n_items++].verdict);
	fsl_free(found.chapters.items);
	found.chapters.items = more;
	found.now = (struct fsl_marks){.period_ns = HOUR, .lead_ns = HOUR / 10};
	assert_int_equal(fsl_kept_pack(&found, &found.chapters, &again, NULL), FSL_OK);
	assert_int_equal(again.n_bytes, bytes.n_bytes);
	assert_memory_equal(again.bytes, bytes.bytes, bytes.n_bytes);
	fsl_kept_fini(&found);
	fsl_pack_fini(&again);
	fsl_pack_fini(&bytes);
}

static void what_is_damaged_is_refused_or_sound(void **state)
{
	(void)state;
	struct fsl_pack bytes = {0};
	pack(&bytes);
	for (size_t n = 0; n < bytes.n_bytes; n++) {
		struct fsl_kept found = {0};
		unsigned char *cut = malloc(n + 1); /* so that reading behind it is seen */
		assert_non_null(cut);
		memcpy(cut, bytes.bytes, n);
		assert_int_equal(fsl_kept_unpack(&found, cut, n, NULL), FSL_ERR_FORMAT);
		fsl_kept_fini(&found);
		free(cut);
	}
	for (size_t i = 0; i < bytes.n_bytes; i++) {
		for (int bit = 0; bit < 8; bit++) {
			struct fsl_kept found = {0};
			bytes.bytes[i] ^= (unsigned char)(1 << bit);
			enum fsl_status status =
				fsl_kept_unpack(&found, bytes.bytes, bytes.n_bytes, NULL);
			assert_true(status == FSL_OK || status == FSL_ERR_FORMAT);
			bytes.bytes[i] ^= (unsigned char)(1 << bit);
			fsl_kept_fini(&found);
		}
	}
	fsl_pack_fini(&bytes);
}

static void out_of_memory_is_reported(void **state)
{
	(void)state;
	struct fsl_pack bytes = {0};
	enum fsl_status status = FSL_ERR_MEMORY;
	pack(&bytes);
	for (uint64_t nth = 1; status == FSL_ERR_MEMORY; nth++) {
		struct fsl_kept found = {0};
		fsl_mem_fail_at(nth);
		status = fsl_kept_unpack(&found, bytes.bytes, bytes.n_bytes, NULL);
		fsl_mem_fail_at(0);
		fsl_kept_fini(&found);
	}
	assert_int_equal(status, FSL_OK);
	fsl_pack_fini(&bytes);
}

/* Operators of one rank with these times. */
static void add_op(struct fsl_run *run, int64_t begin_ns, int64_t end_ns)
{
	struct fsl_rank *rank = fsl_run_add_rank(run, 7, NULL);
	assert_non_null(rank);
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, NULL), FSL_OK);
	rank->ops[rank->n_ops++] = (struct fsl_op){.host_begin_ns = begin_ns,
						   .host_end_ns = end_ns,
						   .dev_begin_ns = FSL_NS_ABSENT,
						   .dev_end_ns = FSL_NS_ABSENT};
}

static void an_operator_of_a_kept_chapter_that_ends_later_is_late(void **state)
{
	(void)state;
	static const struct {
		int64_t begin_ns, end_ns;
		bool is_late;
	} cases[] = {
		{2 * HOUR - 2, 2 * HOUR - 1, false},
		{2 * HOUR - 2, 2 * HOUR + HOUR / 4, false},
		{2 * HOUR - 2, 2 * HOUR + HOUR / 3 + 1, true}, /* behind the rank's last event */
		{2 * HOUR - 2, 2 * HOUR + HOUR / 3 - 1, true}, /* written behind later rows? */
		{2 * HOUR + 2, 9 * HOUR, false},
	};
	static const struct fsl_config config = {
		.algorithm = FSL_ALGORITHM_FAILSLOW, .chapter_hours = 1.0, .chapter_parts = 1};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_kept kept;
		struct fsl_chapters chapters;
		struct fsl_run run;
		make(&kept, &chapters);
		kept.longest = kept.chapters.rule = fsl_chapter_rule_of(1.0);
		assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
		add_op(&run, cases[i].begin_ns, cases[i].end_ns);
		assert_false(fsl_kept_is_outdated(&kept, &config, &run)); /* nothing is kept */
		kept.resume_ns = 2 * HOUR;
		assert_int_equal(fsl_kept_is_outdated(&kept, &config, &run), cases[i].is_late);
		kept.n_ranks = 1; /* a rank that nobody saw before */
		assert_true(fsl_kept_is_outdated(&kept, &config, &run));
		fsl_run_fini(&run);
		fsl_chapters_fini(&chapters);
		fsl_kept_fini(&kept);
	}
}

static void a_capture_that_wants_longer_chapters_has_outgrown_those_kept(void **state)
{
	(void)state;
	static const struct fsl_config config = {
		.algorithm = FSL_ALGORITHM_FAILSLOW, .chapter_hours = 1.0, .chapter_parts = 8};
	for (int hours = 1; hours < 16; hours++) {
		struct fsl_kept kept;
		struct fsl_chapters chapters;
		struct fsl_run run;
		make(&kept, &chapters);
		kept.longest = fsl_chapter_rule_of(1.0);
		kept.chapters.rule = fsl_chapter_rule_for(HOUR / 2);
		kept.chapters.wanted_ns[0] = HOUR / 2;
		kept.chapters.wanted_ns[1] = kept.chapters.wanted_ns[2] = HOUR;
		kept.chapters.span.begin_ns = 100 * HOUR;
		kept.ranks[1].last_op_ns = 200 * HOUR;
		assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
		add_op(&run, 100 * HOUR + hours * HOUR - 2, 100 * HOUR + hours * HOUR);
		run.ranks[0].last_event_ns = 100 * HOUR + hours * HOUR;
		kept.resume_ns = 100 * HOUR;
		bool is_other = hours < 4 || hours >= 8; /* those want quarters and whole hours */
		assert_int_equal(fsl_kept_is_outdated(&kept, &config, &run), is_other);
		kept.chapters.rule = fsl_chapter_rule_for(1); /* no run chose that */
		assert_true(fsl_kept_is_outdated(&kept, &config, &run));
		fsl_run_fini(&run);
		fsl_chapters_fini(&chapters);
		fsl_kept_fini(&kept);
	}
}

static void a_level_wants_no_length_where_it_would_have_too_few_chapters(void **state)
{
	(void)state;
	static const struct fsl_config config = {
		.algorithm = FSL_ALGORITHM_FAILSLOW, .chapter_hours = 0.01, .chapter_parts = 64};
	struct fsl_span span = {.begin_ns = HOUR};
	int64_t wanted_ns[FSL_CHAPTER_LEVELS_N];
	span.end_ns = HOUR + INT64_C(71) * FSL_NS_PER_S; /* chapters are not cut below a second */
	fsl_job_wanted_lengths(wanted_ns, &config, &span);
	assert_true(wanted_ns[0] == 0);
	assert_true(wanted_ns[1] == INT64_C(1125) * FSL_NS_PER_MS);
	assert_true(wanted_ns[2] == INT64_C(2250) * FSL_NS_PER_MS);
	span.end_ns = HOUR + INT64_C(72) * FSL_NS_PER_S;
	fsl_job_wanted_lengths(wanted_ns, &config, &span);
	assert_true(wanted_ns[0] == INT64_C(1125) * FSL_NS_PER_MS);
	assert_true(wanted_ns[1] == INT64_C(2250) * FSL_NS_PER_MS);
	assert_true(wanted_ns[2] == INT64_C(4500) * FSL_NS_PER_MS);
}

/* Of 30 operators 20 lie in the two chapters that are kept. */
static void shorter_chapters_are_wanted_once_there_are_operators_enough(void **state)
{
	(void)state;
	for (int n_more = 0; n_more < 2; n_more++) {
		struct fsl_kept kept;
		struct fsl_chapters chapters;
		struct fsl_run run;
		struct fsl_config config = {.algorithm = FSL_ALGORITHM_FAILSLOW,
					    .chapter_hours = 1.0,
					    .chapter_parts = 1,
					    .chapter_operators_min = 30 + n_more};
		make(&kept, &chapters);
		kept.longest = chapters.rule = fsl_chapter_rule_of(1.0);
		chapters.span.begin_ns = HOUR / 4;
		chapters.has_ops_enough = false;
		chapters.wanted_ns[1] = 0; /* there is no half of one chapter */
		chapters.items[0].n_ops = 15;
		chapters.items[1].n_ops = 5;
		fsl_chapter_fini(&chapters.items[--chapters.n_items]);
		kept.chapters = chapters;
		kept.ranks[1].last_op_ns = 200 * HOUR;
		kept.resume_ns = 2 * HOUR;
		assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
		for (int i = -5; i < 10; i++) {
			add_op(&run, 2 * HOUR + i * 100, 2 * HOUR + i * 100 + 50);
		}
		run.ranks[0].last_event_ns = 3 * HOUR;
		assert_int_equal(fsl_kept_is_outdated(&kept, &config, &run), n_more == 0);
		kept.chapters.has_ops_enough = true; /* and its steps were too few */
		assert_false(fsl_kept_is_outdated(&kept, &config, &run));
		fsl_run_fini(&run);
		fsl_kept_fini(&kept);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_kept_is_found_but_for_the_newest_chapter),
		cmocka_unit_test(what_is_damaged_is_refused_or_sound),
		cmocka_unit_test(out_of_memory_is_reported),
		cmocka_unit_test(an_operator_of_a_kept_chapter_that_ends_later_is_late),
		cmocka_unit_test(a_capture_that_wants_longer_chapters_has_outgrown_those_kept),
		cmocka_unit_test(a_level_wants_no_length_where_it_would_have_too_few_chapters),
		cmocka_unit_test(shorter_chapters_are_wanted_once_there_are_operators_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
