/* Where the time went: every nanosecond belongs to one part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "account/account.h"
#include "base/number.h"
#include "model/steps.h"
#include "samples.h"
#include "unit/ascend/small_capture.h"

enum { STEPS = 80 };

/* Steps of a second each, one after the other. */
static struct fsl_steps steps_of(struct fsl_job_step *items)
{
	for (int64_t s = 0; s < STEPS; s++) {
		items[s] = (struct fsl_job_step){s, sample_step_ns(s), FSL_NS_PER_S, 0, 0};
	}
	return (struct fsl_steps){.items = items, .n_items = STEPS, .source = "timeline"};
}

static struct fsl_account account_of(struct sample *sample, const struct fsl_steps *steps,
				     int64_t now_ns)
{
	struct fsl_account account;
	struct fsl_report report = sample_report(sample);
	report.steps = steps;
	report.now_ns = now_ns;
	const struct fsl_outcome job = fsl_report_outcome(&report);
	fsl_account_make(&account, &job);
	int64_t sum_ns = 0;
	for (int part = 0; part < FSL_SPENTS_N; part++) {
		assert_true(account.ns[part] >= 0);
		sum_ns += account.ns[part];
	}
	assert_int_equal(sum_ns, account.span_ns);
	return account;
}

static void a_rank_costs_its_steps_since_the_onset(void **state)
{
	(void)state;
	struct fsl_job_step items[STEPS];
	struct fsl_steps steps = steps_of(items);
	struct sample *sample = sample_slow_rank();
	struct fsl_account account = account_of(sample, &steps, FSL_NS_ABSENT);
	assert_int_equal(account.span_ns, SAMPLE_NOW_NS - SAMPLE_START_NS);
	assert_near((double)account.ns[FSL_SPENT_SLOW_RANK], 20 * 194.87654e6, 20.0);
	assert_int_equal(account.ns[FSL_SPENT_NOT_OBSERVED],
			 account.span_ns - STEPS * (int64_t)FSL_NS_PER_S);
	assert_near(account.lost_share, 20 * 0.19487654 / 93.426436326, 1e-6);
	assert_int_equal(account.n_losses, 1);
	assert_int_equal(account.losses[0].since_step, 60);
	assert_false(account.losses[0].is_over);
	sample_destroy(sample);
}

static void an_episode_that_is_over_costs_its_own_steps(void **state)
{
	(void)state;
	struct fsl_job_step items[STEPS];
	struct fsl_steps steps = steps_of(items);
	struct sample *sample = sample_slow_rank();
	sample->localisation.culprits[0].until_step = 65;
	struct fsl_account account = account_of(sample, &steps, FSL_NS_ABSENT);
	assert_near((double)account.ns[FSL_SPENT_SLOW_RANK], 5 * 194.87654e6, 5.0);
	assert_true(account.losses[0].is_over);
	assert_int_equal(account.losses[0].until_ns, sample_step_ns(65));
	sample_destroy(sample);
}

static void losses_never_exceed_the_steps(void **state)
{
	(void)state;
	struct fsl_job_step items[STEPS];
	struct fsl_steps steps = steps_of(items);
	struct sample *sample = sample_slow_rank();
	sample->localisation.lost_ms_per_step = 1e6;
	struct fsl_account account = account_of(sample, &steps, FSL_NS_ABSENT);
	assert_int_equal(account.ns[FSL_SPENT_SLOW_RANK], STEPS * (int64_t)FSL_NS_PER_S);
	assert_int_equal(account.ns[FSL_SPENT_PRODUCTIVE], 0);
	sample->localisation.lost_ms_per_step = NAN;
	account = account_of(sample, &steps, FSL_NS_ABSENT);
	assert_int_equal(account.ns[FSL_SPENT_SLOW_RANK], 0);
	sample_destroy(sample);
}

static void checkpoints_count_at_their_usual_length(void **state)
{
	(void)state;
	struct fsl_job_step items[STEPS];
	struct fsl_steps steps = steps_of(items);
	struct sample *sample = sample_create();
	items[9].ckpt_ns = items[19].ckpt_ns = 100 * (int64_t)FSL_NS_PER_MS;
	items[29].ckpt_ns = 700 * (int64_t)FSL_NS_PER_MS;
	struct fsl_account account = account_of(sample, &steps, FSL_NS_ABSENT);
	assert_int_equal(account.ns[FSL_SPENT_CHECKPOINT], 300 * (int64_t)FSL_NS_PER_MS);
	assert_int_equal(account.n_times[FSL_SPENT_CHECKPOINT], 3);
	assert_near(account.lost_share, 0.0, 0.0);
	sample_destroy(sample);
}

static void time_between_steps_that_do_not_follow_is_a_gap(void **state)
{
	(void)state;
	struct fsl_job_step items[STEPS];
	struct fsl_steps steps = steps_of(items);
	struct sample *sample = sample_create();
	items[40].dur_ns /= 4;
	struct fsl_account account = account_of(sample, &steps, FSL_NS_ABSENT);
	assert_int_equal(account.ns[FSL_SPENT_GAP], 3 * (int64_t)FSL_NS_PER_S / 4);
	assert_int_equal(account.n_times[FSL_SPENT_GAP], 1);
	sample_destroy(sample);
}

static void a_hang_costs_until_the_present_if_there_is_one(void **state)
{
	(void)state;
	struct fsl_job_step items[STEPS];
	struct fsl_steps steps = steps_of(items);
	struct sample *sample = sample_hang();
	sample->perception.hang_since_ns = sample_step_ns(70);
	sample->localisation.coverage.end_ns = sample_step_ns(70);
	struct fsl_account account = account_of(sample, &steps, sample_step_ns(1070));
	assert_int_equal(account.ns[FSL_SPENT_HANG], 1000 * (int64_t)FSL_NS_PER_S);
	assert_int_equal(account.ns[FSL_SPENT_PRODUCTIVE], 70 * (int64_t)FSL_NS_PER_S);
	account = account_of(sample, &steps, FSL_NS_ABSENT);
	assert_int_equal(account.span_ns, STEPS * (int64_t)FSL_NS_PER_S);
	sample_destroy(sample);
}

static void a_slowdown_costs_what_its_steps_rose_by(void **state)
{
	(void)state;
	struct fsl_job_step items[STEPS];
	struct fsl_steps steps = steps_of(items);
	struct sample *sample = sample_job_slowdown();
	struct fsl_account account = account_of(sample, &steps, FSL_NS_ABSENT);
	assert_near((double)account.ns[FSL_SPENT_JOB_SLOWDOWN], 40 * 485.5e6, 40.0);
	assert_int_equal(account.ns[FSL_SPENT_STALLS], 0);
	sample_destroy(sample);
}

static void stalls_cost_what_their_steps_took_longer(void **state)
{
	(void)state;
	struct fsl_job_step items[STEPS];
	struct fsl_steps steps = steps_of(items);
	struct sample *sample = sample_create();
	struct fsl_stall stall = {.phase = FSL_STALL_LOADING,
				  .step = 50,
				  .last_step = 60,
				  .n_times = 3,
				  .every_steps = 5,
				  .lost_ns = 8 * (int64_t)FSL_NS_PER_S};
	sample_check(FSL_APPEND(&sample->perception, stalls, &stall, NULL) == FSL_OK);
	stall.phase = FSL_STALL_EVALUATION;
	stall.lost_ns = 5 * (int64_t)FSL_NS_PER_S;
	sample_check(FSL_APPEND(&sample->perception, stalls, &stall, NULL) == FSL_OK);
	stall.phase = FSL_STALL_WARM_UP;
	stall.lost_ns = 3 * (int64_t)FSL_NS_PER_S;
	sample_check(FSL_APPEND(&sample->perception, stalls, &stall, NULL) == FSL_OK);
	struct fsl_account account = account_of(sample, &steps, FSL_NS_ABSENT);
	assert_int_equal(account.ns[FSL_SPENT_WARM_UP], 3 * (int64_t)FSL_NS_PER_S);
	assert_int_equal(account.n_times[FSL_SPENT_WARM_UP], 3);
	assert_int_equal(account.ns[FSL_SPENT_STALLS], 8 * (int64_t)FSL_NS_PER_S);
	assert_int_equal(account.n_times[FSL_SPENT_STALLS], 3);
	assert_int_equal(account.ns[FSL_SPENT_EVALUATION], 5 * (int64_t)FSL_NS_PER_S);
	assert_int_equal(account.losses[0].since_step, 50);
	assert_int_equal(account.losses[0].until_step, 61);
	assert_near(account.lost_share, 8.0e9 / (double)account.span_ns, 1e-9);
	sample_destroy(sample);
}

static void chapters_add_up(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	struct fsl_chapter_note notes[] = {
		{.begin_ns = SAMPLE_START_NS,
		 .end_ns = sample_step_ns(40),
		 .n_steps = 40,
		 .kind = FSL_VERDICT_SLOW_HOST,
		 .lost_ms_per_step = 100.0},
		{.begin_ns = sample_step_ns(40),
		 .end_ns = SAMPLE_NOW_NS,
		 .n_steps = 53,
		 .kind = FSL_VERDICT_SLOW_RANK,
		 .lost_ms_per_step = 10.0,
		 .is_told = true},
	};
	sample->localisation.chapters = notes;
	sample->localisation.n_chapters = 2;
	struct fsl_account account = account_of(sample, NULL, FSL_NS_ABSENT);
	assert_int_equal(account.ns[FSL_SPENT_SLOW_HOST], 4 * (int64_t)FSL_NS_PER_S);
	assert_int_equal(account.ns[FSL_SPENT_SLOW_RANK], 530 * (int64_t)FSL_NS_PER_MS);
	assert_int_equal(account.n_losses, 2);
	assert_true(account.losses[0].is_over);
	sample->localisation.n_chapters = 0;
	sample_destroy(sample);
}

enum { CHAPTERS = 3 * FSL_LOSSES_MAX };

/* Chapters of ten steps one behind the other; each costs 50 ms a step. */
static void set_chapters(struct sample *sample, struct fsl_chapter_note *notes)
{
	for (int64_t k = 0; k < CHAPTERS; k++) {
		notes[k] =
			(struct fsl_chapter_note){.begin_ns = sample_step_ns(10 * (k - CHAPTERS)),
						  .end_ns = sample_step_ns(10 * (k + 1 - CHAPTERS)),
						  .n_steps = 10,
						  .kind = FSL_VERDICT_SLOW_RANK,
						  .lost_ms_per_step = 50.0,
						  .is_told = k + 1 == CHAPTERS};
	}
	sample->localisation.chapters = notes;
	sample->localisation.n_chapters = CHAPTERS;
}

static void chapters_that_agree_are_one_occasion_over_the_whole_span(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	struct fsl_chapter_note notes[CHAPTERS];
	set_chapters(sample, notes);
	notes[100].kind = FSL_VERDICT_NORMAL;
	notes[100].lost_ms_per_step = 0.0;
	struct fsl_account account = account_of(sample, NULL, FSL_NS_ABSENT);
	assert_int_equal(account.from_ns, notes[0].begin_ns);
	assert_int_equal(account.ns[FSL_SPENT_SLOW_RANK],
			 (CHAPTERS - 1) * 500 * (int64_t)FSL_NS_PER_MS);
	assert_int_equal(account.n_losses, 2);
	assert_int_equal(account.losses[0].ns, 100 * 500 * (int64_t)FSL_NS_PER_MS);
	assert_int_equal(account.losses[0].since_ns, notes[0].begin_ns);
	assert_int_equal(account.losses[0].until_ns, notes[99].end_ns);
	assert_false(account.losses[1].is_over);
	sample->localisation.n_chapters = 0;
	sample_destroy(sample);
}

static void occasions_beyond_the_list_count(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	struct fsl_chapter_note notes[CHAPTERS];
	set_chapters(sample, notes);
	for (size_t k = 0; k < CHAPTERS; k += 2) {
		notes[k].kind = FSL_VERDICT_SLOW_LINK;
	}
	struct fsl_account account = account_of(sample, NULL, FSL_NS_ABSENT);
	assert_int_equal(account.n_losses, FSL_LOSSES_MAX);
	assert_int_equal(account.n_times[FSL_SPENT_SLOW_RANK], CHAPTERS / 2);
	assert_int_equal(account.ns[FSL_SPENT_SLOW_RANK],
			 CHAPTERS / 2 * 500 * (int64_t)FSL_NS_PER_MS);
	assert_int_equal(account.ns[FSL_SPENT_SLOW_LINK], account.ns[FSL_SPENT_SLOW_RANK]);
	sample->localisation.n_chapters = 0;
	sample_destroy(sample);
}

static void nothing_is_known_without_files(void **state)
{
	(void)state;
	struct fsl_account account;
	const struct fsl_outcome nothing = {.now_ns = FSL_NS_ABSENT};
	fsl_account_make(&account, &nothing);
	assert_int_equal(account.span_ns, 0);
	assert_true(isnan(account.lost_share));
}

static void a_capture_is_what_its_steps_are_made_of(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	struct fsl_account account;
	fsl_localisation_init(&verdict);
	small_begin(&small, 2);
	for (int64_t step = 1; step <= 3; step++) {
		small_step(&small, 0, step, 60.0, 30.0, 10.0);
		small_step(&small, 1, step, 80.0, 10.0, 10.0);
	}
	const struct fsl_outcome job = {
		.localisation = &verdict, .profile = &small.profile, .now_ns = FSL_NS_ABSENT};
	fsl_account_make(&account, &job);
	assert_int_equal(account.span_ns, 300 * (int64_t)FSL_NS_PER_MS);
	assert_int_equal(account.ns[FSL_SPENT_COMPUTING], 210 * (int64_t)FSL_NS_PER_MS);
	assert_int_equal(account.ns[FSL_SPENT_EXPOSED], 60 * (int64_t)FSL_NS_PER_MS);
	verdict.kind = FSL_VERDICT_SLOW_RANK;
	verdict.lost_ms_per_step = 25.0;
	verdict.coverage.n_steps = 3;
	fsl_account_make(&account, &job);
	assert_int_equal(account.ns[FSL_SPENT_SLOW_RANK], 75 * (int64_t)FSL_NS_PER_MS);
	assert_int_equal(account.ns[FSL_SPENT_EXPOSED], 0);
	assert_int_equal(account.ns[FSL_SPENT_FREE], 15 * (int64_t)FSL_NS_PER_MS);
	assert_near(account.lost_share, 0.25, 1e-9);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static struct fsl_account capture_account(struct small_capture *small)
{
	struct fsl_localisation verdict;
	struct fsl_account account;
	fsl_localisation_init(&verdict);
	const struct fsl_outcome job = {
		.localisation = &verdict, .profile = &small->profile, .now_ns = FSL_NS_ABSENT};
	fsl_account_make(&account, &job);
	fsl_localisation_fini(&verdict);
	int64_t sum_ns = 0;
	for (int part = 0; part < FSL_SPENTS_N; part++) {
		sum_ns += account.ns[part];
	}
	assert_int_equal(sum_ns, account.span_ns);
	return account;
}

static void first_steps_that_are_long_warm_up(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	for (size_t r = 0; r < 2; r++) {
		small_step(&small, r, 7, 65.0, 30.0, 45.0); /* compiles and loads */
		small_step(&small, r, 8, 60.0, 30.0, 35.0);
		small_step(&small, r, 9, 60.0, 30.0, 10.0);
		small_step(&small, r, 10, 60.0, 30.0, 10.0);
	}
	const struct fsl_account account = capture_account(&small);
	assert_int_equal(account.span_ns, 465 * (int64_t)FSL_NS_PER_MS);
	assert_in_range(account.ns[FSL_SPENT_WARM_UP], small_ns(65.0) - 4, small_ns(65.0));
	assert_in_range(account.ns[FSL_SPENT_FREE], small_ns(40.0), small_ns(40.0) + 2);
	assert_in_range(account.ns[FSL_SPENT_COMPUTING], small_ns(240.0), small_ns(240.0) + 2);
	assert_int_equal(account.n_times[FSL_SPENT_WARM_UP], 2);
	assert_true(account.lost_share == 0.0);
	small_end(&small);
}

static void a_step_that_is_hardly_longer_or_comes_later_is_no_warm_up(void **state)
{
	(void)state;
	static const double free_ms[][4] = {{25.0, 10.0, 10.0, 10.0}, /* 1.15 times */
					    {10.0, 50.0, 10.0, 10.0},
					    {10.0, 10.0, 10.0, 50.0},
					    {50.0, 50.0, 50.0, 50.0}};
	for (size_t i = 0; i < sizeof(free_ms) / sizeof(free_ms[0]); i++) {
		struct small_capture small;
		small_begin(&small, 1);
		for (int64_t step = 0; step < 4; step++) {
			small_step(&small, 0, step, 60.0, 30.0, free_ms[i][step]);
		}
		assert_int_equal(capture_account(&small).ns[FSL_SPENT_WARM_UP], 0);
		small_end(&small);
	}
	struct small_capture two;
	small_begin(&two, 1);
	small_step(&two, 0, 1, 60.0, 30.0, 90.0);
	small_step(&two, 0, 2, 60.0, 30.0, 10.0);
	assert_int_equal(capture_account(&two).ns[FSL_SPENT_WARM_UP],
			 0); /* nobody knows which is usual */
	small_end(&two);
}

static void copies_that_nothing_overlaps_are_told_apart_from_idle_time(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	for (size_t r = 0; r < 2; r++) {
		small_step(&small, r, 1, 60.0, 30.0, 10.0);
		small_step(&small, r, 2, 60.0, 30.0, 10.0);
	}
	struct fsl_profile_rank *rank = &small.profile.ranks[1];
	const struct fsl_profile_copies copies[] = {
		{1, small_ns(4.0)}, {2, small_ns(25.0)}, {3, small_ns(1.0)}};
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(FSL_APPEND(rank, copies, &copies[i], NULL), FSL_OK);
	}
	const struct fsl_account account = capture_account(&small);
	assert_int_equal(account.span_ns, small_ns(200.0));
	assert_int_equal(account.ns[FSL_SPENT_EXPOSED_MEMORY], small_ns(7.0)); /* (4 + 10) / 2 */
	assert_int_equal(account.ns[FSL_SPENT_FREE], small_ns(13.0));
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_costs_its_steps_since_the_onset),
		cmocka_unit_test(an_episode_that_is_over_costs_its_own_steps),
		cmocka_unit_test(losses_never_exceed_the_steps),
		cmocka_unit_test(checkpoints_count_at_their_usual_length),
		cmocka_unit_test(time_between_steps_that_do_not_follow_is_a_gap),
		cmocka_unit_test(a_hang_costs_until_the_present_if_there_is_one),
		cmocka_unit_test(a_slowdown_costs_what_its_steps_rose_by),
		cmocka_unit_test(stalls_cost_what_their_steps_took_longer),
		cmocka_unit_test(chapters_add_up),
		cmocka_unit_test(chapters_that_agree_are_one_occasion_over_the_whole_span),
		cmocka_unit_test(occasions_beyond_the_list_count),
		cmocka_unit_test(nothing_is_known_without_files),
		cmocka_unit_test(a_capture_is_what_its_steps_are_made_of),
		cmocka_unit_test(first_steps_that_are_long_warm_up),
		cmocka_unit_test(a_step_that_is_hardly_longer_or_comes_later_is_no_warm_up),
		cmocka_unit_test(copies_that_nothing_overlaps_are_told_apart_from_idle_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
