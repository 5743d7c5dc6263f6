/* Stalls are found by what they cost, with their period, their phase and the ranks that were last.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "account/outcome.h"
#include "account/stalls.h"
#include "base/number.h"

enum { STEPS_MAX = 2000, RANKS = 4 };
#define ORIGIN_NS INT64_C(1750000000000000000)

/* Step times, and a run of ranks with stages. */
struct job {
	struct fsl_job_step items[STEPS_MAX];
	int64_t loading_ns[STEPS_MAX];
	struct fsl_progress progress;
	struct fsl_run run;
	struct fsl_perception perception;
	struct fsl_cuts cuts; /* of the first rank; without steps if it has no operators */
};

static struct fsl_config config;

/* A number from 0 to 1 that depends on @i alone. */
static double draw(size_t i)
{
	uint64_t x = ((uint64_t)i + 1) * UINT64_C(0x9E3779B97F4A7C15);
	x ^= x >> 31;
	x *= UINT64_C(0xBF58476D1CE4E5B9);
	return (double)(x >> 11) / 9007199254740992.0;
}

/* @n steps of a second, of which every one is up to @spread longer. */
static void begin(struct job *job, size_t n, double spread)
{
	memset(job, 0, sizeof(*job));
	assert_int_equal(fsl_run_init(&job->run, NULL), FSL_OK);
	for (int32_t r = 0; r < RANKS; r++) {
		assert_non_null(fsl_run_add_rank(&job->run, r, NULL));
	}
	fsl_perception_init(&job->perception);
	job->perception.kind = FSL_VERDICT_NORMAL;
	for (size_t i = 0; i < n; i++) {
		job->items[i].step = (int64_t)i + 100;
		job->items[i].dur_ns = (int64_t)((1.0 + spread * draw(i)) * FSL_NS_PER_S);
	}
	job->progress = (struct fsl_progress){
		.steps = {.items = job->items, .n_items = n, .source = "test"},
		.loading_ns = job->loading_ns};
}

static void end(struct job *job)
{
	fsl_perception_fini(&job->perception);
	fsl_run_fini(&job->run);
}

static void lengthen(struct job *job, size_t i, double s)
{
	job->items[i].dur_ns += (int64_t)(s * FSL_NS_PER_S);
}

static enum fsl_status find(struct job *job, enum fsl_verdict_kind told)
{
	int64_t at_ns = ORIGIN_NS;
	for (size_t i = 0; i < job->progress.steps.n_items; i++) {
		job->items[i].begin_ns += at_ns;
		at_ns = job->items[i].begin_ns + job->items[i].dur_ns;
	}
	const struct fsl_case facts = {.config = &config,
				       .run = &job->run,
				       .steps = &job->progress.steps,
				       .cuts = &job->cuts};
	return fsl_stalls_find(&job->perception, &job->progress, &facts, told, NULL);
}

static void a_job_whose_steps_scatter_has_no_stalls(void **state)
{
	(void)state;
	static struct job job;
	static const double spreads[] = {0.01, 0.1, 0.5, 2.0};
	for (size_t i = 0; i < 4; i++) {
		begin(&job, 500, spreads[i]);
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_NORMAL);
		assert_int_equal(job.perception.n_stalls, 0);
		end(&job);
	}
}

static void one_long_step_is_told_with_what_it_cost(void **state)
{
	(void)state;
	static struct job job;
	static const size_t at[] = {73, 410};
	static const double lost_s[] = {320.0, 61.0};
	for (size_t i = 0; i < 2; i++) {
		begin(&job, 500, 0.02);
		lengthen(&job, at[i], lost_s[i]);
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_STALLS);
		assert_int_equal(job.perception.n_stalls, 1);
		assert_int_equal(job.perception.stalls[0].step, 100 + (int64_t)at[i]);
		assert_int_equal(job.perception.stalls[0].every_steps, -1);
		double told_s = (double)job.perception.stalls[0].lost_ns / FSL_NS_PER_S;
		assert_true(fabs(told_s - lost_s[i]) < 0.1);
		assert_int_equal(job.perception.n_anomalies, 1);
		end(&job);
	}
}

static void a_few_steps_that_take_half_longer_are_no_verdict_in_a_short_capture(void **state)
{
	(void)state;
	static struct job job;
	static const struct {
		size_t n_stalls;
		double s;
		enum fsl_verdict_kind kind;
	} cases[] = {{1, 0.6, FSL_VERDICT_NORMAL},
		     {2, 0.7, FSL_VERDICT_NORMAL},
		     {1, 1.2, FSL_VERDICT_STALLS},
		     {3, 0.6, FSL_VERDICT_STALLS}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&job, 16, 0.02);
		for (size_t k = 0; k < cases[i].n_stalls; k++) {
			lengthen(&job, 6 + 3 * k + k / 2, cases[i].s);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, cases[i].kind);
		end(&job);
	}
}

static void a_period_is_told_exactly(void **state)
{
	(void)state;
	static struct job job;
	static const int64_t every[] = {2, 3, 4, 7, 25, 100, 500};
	for (size_t k = 0; k < 7; k++) {
		size_t n = (size_t)every[k] * 4 > 80 ? (size_t)every[k] * 4 : 80;
		begin(&job, n, 0.03);
		for (size_t i = (size_t)every[k] - 1; i < n; i += (size_t)every[k]) {
			lengthen(&job, i, 0.3 * (double)every[k]);
			job.loading_ns[i] = (int64_t)(0.3 * (double)every[k] * FSL_NS_PER_S);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_STALLS);
		assert_int_equal(job.perception.n_stalls, 1);
		assert_int_equal(job.perception.stalls[0].every_steps, every[k]);
		assert_int_equal(job.perception.stalls[0].n_times, n / (size_t)every[k]);
		assert_int_equal(job.perception.stalls[0].phase, FSL_STALL_LOADING);
		end(&job);
	}
}

/* @n steps from @first on that are longer, each half as much as the one before. */
static void warm_up(struct job *job, size_t first, size_t n, double s)
{
	for (size_t i = first; i < first + n; i++, s /= 2.0) {
		lengthen(job, i, s);
	}
}

static void assert_warm(const struct fsl_stall *stall, int64_t step, size_t n, double s)
{
	assert_int_equal(stall->phase, FSL_STALL_WARM_UP);
	assert_int_equal(stall->step, step);
	assert_int_equal(stall->n_times, n);
	assert_true(fabs((double)stall->lost_ns / FSL_NS_PER_S - s) < 0.03 * s);
}

static void first_steps_that_get_shorter_warm_up_and_are_no_stalls(void **state)
{
	(void)state;
	static struct job job;
	static const size_t n[] = {2, 4};
	static const double s[] = {600.0, 4.0};
	static const double sum_s[] = {900.0, 7.5};
	for (size_t i = 0; i < 2; i++) {
		begin(&job, 200, 0.02);
		warm_up(&job, 0, n[i], s[i]);
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_NORMAL);
		assert_int_equal(job.perception.n_stalls, 1);
		assert_warm(&job.perception.stalls[0], 100, n[i], sum_s[i]);
		end(&job);
	}
}

static void first_steps_after_a_restart_warm_up(void **state)
{
	(void)state;
	static struct job job;
	static const size_t at[] = {120, 41};
	for (size_t i = 0; i < 2; i++) {
		begin(&job, 200, 0.02);
		warm_up(&job, 0, 3, 20.0);
		job.items[at[i]].begin_ns = (int64_t)(3600.0 * FSL_NS_PER_S);
		warm_up(&job, at[i], 2, 30.0 + 10.0 * (double)i);
		job.run.ranks[0].n_restarts = 1;
		/* A culprit explains long steps, but no warm-up. */
		assert_int_equal(find(&job, i == 0 ? FSL_VERDICT_NORMAL : FSL_VERDICT_SLOW_RANK),
				 FSL_OK);
		assert_int_equal(job.perception.n_stalls, 3);
		assert_int_equal(job.perception.stalls[0].phase, FSL_STALL_RESTART);
		assert_warm(&job.perception.stalls[1], 100 + (int64_t)at[i], 2,
			    45.0 + 15.0 * (double)i);
		assert_warm(&job.perception.stalls[2], 100, 3, 35.0);
		assert_int_equal(job.perception.n_anomalies, i == 0 ? 1 : 0);
		end(&job);
	}
}

static void a_long_step_behind_shorter_ones_is_no_warm_up(void **state)
{
	(void)state;
	static struct job job;
	static const size_t at[] = {2, 5};
	for (size_t i = 0; i < 2; i++) {
		begin(&job, 200, 0.02);
		warm_up(&job, 0, at[i], 0.8);
		lengthen(&job, at[i], 100.0);
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_STALLS);
		assert_int_equal(job.perception.n_stalls, 2);
		assert_int_equal(job.perception.stalls[0].step, 100 + (int64_t)at[i]);
		assert_int_equal(job.perception.stalls[0].phase, FSL_STALL_UNKNOWN);
		assert_warm(&job.perception.stalls[1], 100, at[i], i == 0 ? 1.2 : 1.55);
		end(&job);
	}
}

static void a_level_that_changes_is_no_stall(void **state)
{
	(void)state;
	static struct job job;
	for (size_t i = 0; i < 2; i++) {
		begin(&job, 200, 0.02);
		for (size_t s = i == 0 ? 90 : 0; s < (i == 0 ? 200U : 90U); s++) {
			lengthen(&job, s, 1.0);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.n_stalls, 0);
		end(&job);
	}
}

static void a_gap_lies_between_two_steps_and_a_restart_is_the_longest(void **state)
{
	(void)state;
	static struct job job;
	for (uint32_t n_restarts = 0; n_restarts < 2; n_restarts++) {
		begin(&job, 200, 0.02);
		job.items[120].begin_ns = (int64_t)(3600.0 * FSL_NS_PER_S);
		job.run.ranks[0].n_restarts = n_restarts;
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_STALLS);
		assert_int_equal(job.perception.n_stalls, 1);
		assert_int_equal(job.perception.stalls[0].phase,
				 n_restarts > 0 ? FSL_STALL_RESTART : FSL_STALL_GAP);
		assert_int_equal(job.perception.stalls[0].before_step, 219);
		assert_int_equal(job.perception.stalls[0].step, 220);
		assert_int_equal(job.perception.stalls[0].lost_ns, 3600 * (int64_t)FSL_NS_PER_S);
		end(&job);
	}
}

static void gaps_that_recur_have_a_period(void **state)
{
	(void)state;
	static struct job job;
	static const size_t every[] = {3, 20, 45};
	for (size_t k = 0; k < 3; k++) {
		begin(&job, 200, 0.02);
		for (size_t i = every[k]; i < 200; i += every[k]) {
			job.items[i].begin_ns = 5 * (int64_t)FSL_NS_PER_S;
			lengthen(&job, i, 1e-7);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_STALLS);
		assert_int_equal(job.perception.n_stalls, 1);
		assert_int_equal(job.perception.stalls[0].phase, FSL_STALL_GAP);
		assert_int_equal(job.perception.stalls[0].every_steps, every[k]);
		assert_non_null(strstr(job.perception.reason, "before every"));
		end(&job);
	}
}

static void a_gap_within_the_ticks_of_the_clock_is_none(void **state)
{
	(void)state;
	static struct job job;
	for (int64_t whole = 0; whole < 2; whole++) {
		begin(&job, 100, 0.0);
		for (size_t i = 10; i < 100; i += 10) {
			job.items[i].begin_ns = FSL_NS_PER_S; /* 9 % of the time */
		}
		job.items[0].dur_ns += whole;
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind,
				 whole == 0 ? FSL_VERDICT_NORMAL : FSL_VERDICT_STALLS);
		end(&job);
	}
}

static void strays_do_not_hide_a_period(void **state)
{
	(void)state;
	static struct job job;
	static const size_t strays[] = {44, 151, 154};
	for (size_t n = 1; n <= 3; n++) {
		begin(&job, 200, 0.02);
		for (size_t i = 40; i < 200; i += 50) {
			lengthen(&job, i, 30.0);
		}
		for (size_t i = 0; i < n; i++) {
			lengthen(&job, strays[i], 1.0);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.stalls[0].every_steps, 50);
		assert_int_equal(job.perception.stalls[0].n_times, 4);
		assert_int_equal(job.perception.n_stalls, 1 + n);
		end(&job);
	}
}

static void a_long_stall_does_not_hide_a_period(void **state)
{
	(void)state;
	static struct job job;
	static const struct {
		size_t every, first, single; /* the last two on one place, or not */
		double each_s, single_s;
	} cases[] = {{20, 19, 130, 2.0, 30.0},  {20, 19, 130, 2.0, 900.0}, {45, 10, 77, 5.0, 300.0},
		     {7, 6, 90, 0.8, 4000.0},   {20, 19, 139, 2.0, 900.0}, {7, 6, 90, 0.8, 40.0},
		     {25, 10, 110, 3.0, 2000.0}};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		begin(&job, 200, 0.02);
		size_t n = 0;
		for (size_t i = cases[k].first; i < 200; i += cases[k].every) {
			lengthen(&job, i, cases[k].each_s);
			n++;
		}
		lengthen(&job, cases[k].single, cases[k].single_s);
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_STALLS);
		assert_int_equal(job.perception.n_stalls, 2);
		size_t single = job.perception.stalls[0].every_steps > 0 ? 1 : 0;
		const struct fsl_stall *stalls = job.perception.stalls;
		assert_int_equal(stalls[single].step, 100 + cases[k].single);
		assert_int_equal(stalls[single].n_times, 1);
		double single_s = (double)stalls[single].lost_ns / FSL_NS_PER_S;
		assert_true(fabs(single_s - cases[k].single_s) < 0.1 * cases[k].single_s);
		assert_int_equal(stalls[1 - single].every_steps, cases[k].every);
		assert_int_equal(stalls[1 - single].n_times, n);
		double lost_s = (double)stalls[1 - single].lost_ns / FSL_NS_PER_S;
		double each_s = cases[k].each_s;
		assert_true(fabs(lost_s - (double)n * each_s) < 0.1 * (double)n * each_s);
		end(&job);
	}
}

static void a_few_stalls_at_one_distance_among_others_have_no_period(void **state)
{
	(void)state;
	static struct job job;
	static const size_t at[][6] = {{20, 40, 60, 75, 103, 151}, {15, 45, 75, 88, 146, 187}};
	static const double others_s[] = {3.0, 500.0};
	for (size_t k = 0; k < 2; k++) {
		begin(&job, 200, 0.02);
		for (size_t i = 0; i < 6; i++) {
			lengthen(&job, at[k][i], i < 3 ? 3.0 : others_s[k]);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.n_stalls, 6);
		assert_int_equal(job.perception.stalls[0].every_steps, -1);
		end(&job);
	}
}

/* The verdict of the ranks stays. */
static void of_ranks_that_pause_in_turn_stalls_have_a_period(void **state)
{
	(void)state;
	static struct job job;
	static const size_t every[] = {10, 37};
	for (size_t k = 0; k < 2; k++) {
		begin(&job, 200, 0.02);
		for (size_t i = 5; i < 200; i += every[k]) {
			lengthen(&job, i, 2.0);
		}
		lengthen(&job, 7, 1.0);
		assert_int_equal(find(&job, FSL_VERDICT_HOST_PAUSES), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_NORMAL);
		assert_int_equal(job.perception.n_stalls, 1);
		assert_int_equal(job.perception.stalls[0].every_steps, every[k]);
		end(&job);
	}
}

static void the_rest_of_a_save_in_the_next_step_is_no_save(void **state)
{
	(void)state;
	static struct job job;
	static const int64_t rests_ms[] = {0, 1, 200};
	for (size_t k = 0; k < 3; k++) {
		begin(&job, 200, 0.02);
		for (size_t i = 10; i < 190; i += 20) {
			lengthen(&job, i, 3.0);
			job.items[i].ckpt_ns = 3 * (int64_t)FSL_NS_PER_S;
			job.items[i + 1].ckpt_ns = rests_ms[k] * FSL_NS_PER_MS;
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.kind, FSL_VERDICT_NORMAL);
		end(&job);
	}
}

static void the_ranks_that_loaded_are_last_unless_all_did(void **state)
{
	(void)state;
	static struct job job;
	for (size_t n_last = 1; n_last <= RANKS; n_last++) {
		struct fsl_stage stage = {.kind = FSL_STAGE_DATALOADER,
					  .begin_ns = ORIGIN_NS + 50 * (int64_t)FSL_NS_PER_S,
					  .end_ns = ORIGIN_NS + 150 * (int64_t)FSL_NS_PER_S};
		begin(&job, 100, 0.0);
		lengthen(&job, 50, 100.0);
		job.loading_ns[50] = 100 * (int64_t)FSL_NS_PER_S;
		for (size_t r = RANKS - n_last; r < RANKS; r++) {
			struct fsl_rank *rank = &job.run.ranks[r];
			assert_int_equal(FSL_APPEND(rank, stages, &stage, NULL), FSL_OK);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.stalls[0].phase, FSL_STALL_LOADING);
		assert_int_equal(job.perception.stalls[0].n_ranks, n_last <= 2 ? n_last : 0);
		if (n_last <= 2) {
			assert_int_equal(job.perception.stalls[0].ranks[0], RANKS - (int)n_last);
		}
		end(&job);
	}
}

/* A stage of rank 2 that fills step @i, at @frame. */
static void add_stage(struct job *job, size_t i, double s, enum fsl_stage_kind kind,
		      const char *frame, uint32_t n_collected)
{
	struct fsl_rank *rank = &job->run.ranks[2];
	int64_t begin_ns = ORIGIN_NS;
	uint32_t id = 0;
	for (size_t k = 0; k < i; k++) {
		begin_ns += job->items[k].dur_ns;
	}
	assert_int_equal(fsl_strpool_intern(job->run.names, frame, strlen(frame), &id, NULL),
			 FSL_OK);
	const struct fsl_stage stage = {.kind = kind,
					.begin_ns = begin_ns,
					.end_ns = begin_ns + (int64_t)(s * FSL_NS_PER_S),
					.frame = *frame != '\0' ? id + 1 : 0,
					.n_collected = n_collected};
	assert_int_equal(FSL_APPEND(rank, stages, &stage, NULL), FSL_OK);
}

static void a_stall_tells_the_frame_of_its_longest_stage(void **state)
{
	(void)state;
	static struct job job;
	static const char *const frames[] = {"next@/opt/py/loader.py:630", "get@queue.py:17", ""};
	static const char *const words[] = {" of the time, at frame next@loader.py:630",
					    " of the time, at frame get@queue.py:17",
					    " of the time"};
	for (size_t k = 0; k < 3; k++) {
		begin(&job, 100, 0.0);
		lengthen(&job, 50, 100.0);
		job.loading_ns[50] = 100 * (int64_t)FSL_NS_PER_S;
		add_stage(&job, 49, 0.9, FSL_STAGE_DATALOADER, "before@a.py:1", 0);
		add_stage(&job, 50, 1.0, FSL_STAGE_DATALOADER, "short@a.py:2", 0);
		add_stage(&job, 50, 99.0, FSL_STAGE_DATALOADER, frames[k], 0);
		add_stage(&job, 50, 101.0, FSL_STAGE_FORWARD, "other@a.py:3", 0);
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		const struct fsl_stall *stall = &job.perception.stalls[0];
		assert_int_equal(stall->phase, FSL_STALL_LOADING);
		assert_int_equal(stall->ranks[0], 2);
		assert_string_equal(stall->frame != NULL ? stall->frame : "", frames[k]);
		const char *told = strstr(job.perception.reason, " of the time");
		assert_string_equal(told != NULL ? told : "", words[k]);
		end(&job);
	}
}

static void a_stall_in_a_collection_tells_how_many_objects_it_freed(void **state)
{
	(void)state;
	static struct job job;
	static const uint32_t n[] = {120456, 1, 0};
	static const char *const words[] = {" in garbage collection of 120456 objects, ",
					    " in garbage collection of 1 object, ",
					    " in garbage collection, "};
	for (size_t k = 0; k < 3; k++) {
		begin(&job, 100, 0.0);
		lengthen(&job, 30, 40.0);
		job.items[30].gc_ns = 40 * (int64_t)FSL_NS_PER_S;
		add_stage(&job, 30, 40.0, FSL_STAGE_GC, "", n[k]);
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.stalls[0].phase, FSL_STALL_COLLECTION);
		assert_int_equal(job.perception.stalls[0].n_collected, n[k]);
		assert_non_null(strstr(job.perception.reason, words[k]));
		end(&job);
	}
}

static void collections_that_recur_tell_the_longest(void **state)
{
	(void)state;
	static struct job job;
	static const size_t every[] = {10, 23};
	for (size_t k = 0; k < 2; k++) {
		begin(&job, 100, 0.0);
		for (size_t i = 9; i < 100; i += every[k]) {
			lengthen(&job, i, 2.0 + (i == 9 + every[k]));
			job.items[i].gc_ns = 2 * (int64_t)FSL_NS_PER_S;
			add_stage(&job, i, 2.0 + (i == 9 + every[k]), FSL_STAGE_GC, "f@f.py:1",
				  (uint32_t)i);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.stalls[0].every_steps, every[k]);
		assert_int_equal(job.perception.stalls[0].n_collected, 9 + every[k]);
		assert_non_null(strstr(job.perception.reason, " in the longest, "));
		end(&job);
	}
}

static void a_long_stall_on_a_place_of_others_has_its_own_frame(void **state)
{
	(void)state;
	static struct job job;
	static const size_t singles[] = {49, 89};
	for (size_t k = 0; k < 2; k++) {
		begin(&job, 200, 0.0);
		for (size_t i = 9; i < 200; i += 20) {
			double s = i == singles[k] ? 200.0 : 3.0;
			lengthen(&job, i, s);
			job.loading_ns[i] = (int64_t)(s * FSL_NS_PER_S);
			add_stage(&job, i, s, FSL_STAGE_DATALOADER,
				  i == singles[k] ? "read@disk.py:1" : "next@loader.py:2", 0);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.n_stalls, 2);
		assert_string_equal(job.perception.stalls[0].frame, "read@disk.py:1");
		assert_string_equal(job.perception.stalls[1].frame, "next@loader.py:2");
		assert_int_equal(job.perception.stalls[1].every_steps, 20);
		assert_int_equal(job.perception.stalls[1].n_ranks, 1);
		end(&job);
	}
}

enum { OPS = 20 };

/* Operators of the first rank: OPS in the first second of each step, and in step @long_step @n_more
 * behind it, which divide the rest of the step or are all at its begin. */
static void add_ops(struct job *job, size_t long_step, size_t n_more, bool is_even)
{
	static uint32_t first_op[STEPS_MAX + 1];
	static int64_t begin_ns[STEPS_MAX + 1];
	struct fsl_rank *rank = &job->run.ranks[0];
	int64_t at_ns = ORIGIN_NS;
	size_t n = job->progress.steps.n_items;
	for (size_t s = 0; s < n; s++) {
		int64_t each_ns = FSL_NS_PER_S / OPS;
		int64_t more_ns = job->items[s].dur_ns - FSL_NS_PER_S;
		begin_ns[s] = at_ns;
		first_op[s] = (uint32_t)rank->n_ops;
		for (size_t i = 0; i < OPS + (s == long_step ? n_more : 0); i++) {
			int64_t op_ns = at_ns + (int64_t)i * each_ns;
			if (i >= OPS) {
				int64_t apart_ns = is_even ? more_ns / (int64_t)n_more : 1000;
				op_ns = at_ns + FSL_NS_PER_S + (int64_t)(i - OPS) * apart_ns;
			}
			const struct fsl_op op = {.host_begin_ns = op_ns,
						  .host_end_ns = op_ns + 500,
						  .dev_begin_ns = op_ns,
						  .dev_end_ns = op_ns + 500};
			assert_int_equal(FSL_APPEND(rank, ops, &op, NULL), FSL_OK);
		}
		at_ns += job->items[s].dur_ns;
	}
	begin_ns[n] = at_ns;
	first_op[n] = (uint32_t)rank->n_ops;
	job->cuts = (struct fsl_cuts){
		.n_steps = n, .n_ranks = 1, .first_op = first_op, .begin_ns = begin_ns};
}

static void a_step_is_an_evaluation_if_more_operators_divide_its_time(void **state)
{
	(void)state;
	static struct job job;
	static const struct {
		size_t n_more;
		bool is_even;
		enum fsl_stall_phase phase;
	} cases[] = {{0, true, FSL_STALL_UNKNOWN},    {1, true, FSL_STALL_UNKNOWN},
		     {3, true, FSL_STALL_EVALUATION}, {2, false, FSL_STALL_UNKNOWN},
		     {1, false, FSL_STALL_UNKNOWN},   {5, true, FSL_STALL_EVALUATION}};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		begin(&job, 100, 0.0);
		lengthen(&job, 40 + k, 6.0 + (double)k);
		add_ops(&job, 40 + k, cases[k].n_more, cases[k].is_even);
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.n_stalls, 1);
		assert_int_equal(job.perception.stalls[0].phase, cases[k].phase);
		end(&job);
	}
}

static void a_long_step_in_which_ids_begin_again_is_a_restart(void **state)
{
	(void)state;
	static struct job job;
	static const struct {
		size_t step;
		uint64_t fall; /* of ids behind that step; 0: to the first one */
		bool is_restart;
	} cases[] = {{60, 0, true},   {33, 0, true},    {60, 7, false},
		     {33, 19, false}, {60, 1220, true}, {60, 300, false}};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		begin(&job, 100, 0.0);
		lengthen(&job, cases[k].step, 50.0);
		add_ops(&job, 0, 0, true);
		struct fsl_rank *rank = &job.run.ranks[0];
		size_t first = job.cuts.first_op[cases[k].step + 1];
		uint64_t fall = cases[k].fall > 0 ? cases[k].fall : first;
		for (size_t i = 0; i < rank->n_ops; i++) {
			rank->ops[i].id = i + 1 - (i >= first ? fall : 0);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		const struct fsl_stall *stall = &job.perception.stalls[0];
		assert_int_equal(job.perception.n_stalls, 1);
		assert_int_equal(stall->phase,
				 cases[k].is_restart ? FSL_STALL_RESTART : FSL_STALL_UNKNOWN);
		assert_int_equal(stall->step, 100 + cases[k].step + cases[k].is_restart);
		assert_true(fabs((double)stall->lost_ns / FSL_NS_PER_S - 50.0) < 0.1);
		assert_int_equal(job.perception.n_anomalies, 1);
		end(&job);
	}
}

static void ids_that_begin_again_while_operators_go_on_are_no_restart(void **state)
{
	(void)state;
	static struct job job;
	static const size_t at[] = {50, 71};
	for (size_t k = 0; k < 2; k++) {
		begin(&job, 100, 0.0);
		lengthen(&job, at[k], 9.0);
		add_ops(&job, at[k], 5, true);
		struct fsl_rank *rank = &job.run.ranks[0];
		for (size_t i = 0; i < rank->n_ops; i++) {
			rank->ops[i].id = i % (job.cuts.first_op[at[k]] + 3);
		}
		assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
		assert_int_equal(job.perception.stalls[0].phase, FSL_STALL_EVALUATION);
		end(&job);
	}
}

static void long_steps_of_somebody_at_fault_are_no_stalls_but_gaps_are(void **state)
{
	(void)state;
	static struct job job;
	begin(&job, 200, 0.02);
	lengthen(&job, 40, 500.0);
	job.items[120].begin_ns = (int64_t)(3600.0 * FSL_NS_PER_S);
	assert_int_equal(find(&job, FSL_VERDICT_SLOW_RANK), FSL_OK);
	assert_int_equal(job.perception.kind, FSL_VERDICT_NORMAL);
	assert_int_equal(job.perception.n_stalls, 1);
	assert_int_equal(job.perception.stalls[0].phase, FSL_STALL_GAP);
	end(&job);
}

static void stalls_beside_work_that_moves_are_the_verdict_if_they_cost_more(void **state)
{
	(void)state;
	static struct job job;
	static const struct {
		double stall_s, moves_ms; /* of one step; of each of 500 steps of a second */
		enum fsl_verdict_kind kind;
	} cases[] = {{320.0, 100.0, FSL_VERDICT_STALLS},
		     {61.0, 100.0, FSL_VERDICT_STALLS},
		     {61.0, 150.0, FSL_VERDICT_WORK_IMBALANCE},
		     {0.0, 100.0, FSL_VERDICT_WORK_IMBALANCE}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&job, 500, 0.02);
		lengthen(&job, 211, cases[i].stall_s);
		assert_int_equal(find(&job, FSL_VERDICT_WORK_IMBALANCE), FSL_OK);
		const struct fsl_localisation told = {.kind = FSL_VERDICT_WORK_IMBALANCE,
						      .lost_ms_per_step = cases[i].moves_ms};
		const struct fsl_outcome outcome = {.perception = &job.perception,
						    .localisation = &told,
						    .steps = &job.progress.steps};
		assert_int_equal(fsl_outcome_kind(&outcome), cases[i].kind);
		end(&job);
	}
}

static void a_clock_that_is_set_is_no_stall(void **state)
{
	(void)state;
	static struct job job;
	begin(&job, 100, 0.02);
	lengthen(&job, 40, 1.7e9);
	assert_int_equal(find(&job, FSL_VERDICT_NORMAL), FSL_OK);
	assert_int_equal(job.perception.kind, FSL_VERDICT_NORMAL);
	end(&job);
}

static void memory_that_runs_out_is_a_failure_and_no_crash(void **state)
{
	(void)state;
	static struct job job;
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t n = 1; status != FSL_OK; n++) {
		begin(&job, 100, 0.02);
		lengthen(&job, 40, 100.0);
		job.loading_ns[40] = 100 * (int64_t)FSL_NS_PER_S;
		add_stage(&job, 40, 100.0, FSL_STAGE_DATALOADER, "next@loader.py:30", 0);
		fsl_mem_fail_at(n);
		status = find(&job, FSL_VERDICT_NORMAL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		end(&job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_whose_steps_scatter_has_no_stalls),
		cmocka_unit_test(one_long_step_is_told_with_what_it_cost),
		cmocka_unit_test(
			a_few_steps_that_take_half_longer_are_no_verdict_in_a_short_capture),
		cmocka_unit_test(a_period_is_told_exactly),
		cmocka_unit_test(first_steps_that_get_shorter_warm_up_and_are_no_stalls),
		cmocka_unit_test(first_steps_after_a_restart_warm_up),
		cmocka_unit_test(a_long_step_behind_shorter_ones_is_no_warm_up),
		cmocka_unit_test(a_level_that_changes_is_no_stall),
		cmocka_unit_test(a_gap_lies_between_two_steps_and_a_restart_is_the_longest),
		cmocka_unit_test(gaps_that_recur_have_a_period),
		cmocka_unit_test(a_gap_within_the_ticks_of_the_clock_is_none),
		cmocka_unit_test(strays_do_not_hide_a_period),
		cmocka_unit_test(a_long_stall_does_not_hide_a_period),
		cmocka_unit_test(a_few_stalls_at_one_distance_among_others_have_no_period),
		cmocka_unit_test(of_ranks_that_pause_in_turn_stalls_have_a_period),
		cmocka_unit_test(the_rest_of_a_save_in_the_next_step_is_no_save),
		cmocka_unit_test(the_ranks_that_loaded_are_last_unless_all_did),
		cmocka_unit_test(a_stall_tells_the_frame_of_its_longest_stage),
		cmocka_unit_test(a_stall_in_a_collection_tells_how_many_objects_it_freed),
		cmocka_unit_test(collections_that_recur_tell_the_longest),
		cmocka_unit_test(a_long_stall_on_a_place_of_others_has_its_own_frame),
		cmocka_unit_test(a_step_is_an_evaluation_if_more_operators_divide_its_time),
		cmocka_unit_test(a_long_step_in_which_ids_begin_again_is_a_restart),
		cmocka_unit_test(ids_that_begin_again_while_operators_go_on_are_no_restart),
		cmocka_unit_test(long_steps_of_somebody_at_fault_are_no_stalls_but_gaps_are),
		cmocka_unit_test(stalls_beside_work_that_moves_are_the_verdict_if_they_cost_more),
		cmocka_unit_test(a_clock_that_is_set_is_no_stall),
		cmocka_unit_test(memory_that_runs_out_is_a_failure_and_no_crash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
