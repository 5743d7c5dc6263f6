/* Long captures: one verdict of many chapters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "engine/chapters.h"
#include "engine/feed.h"
#include "plugin/registry.h"
#include "sim/sim.h"

/* Steps of the job take about a second; a chapter is about 100 of them. */
enum { STEPS = 500, CHAPTER_S = 100 };

static struct fsl_registry *registry;
static struct fsl_config config;

static int set_up(void **state)
{
	(void)state;
	registry = fsl_registry_create();
	return registry == NULL || fsl_config_load(&config, NULL, registry, NULL) != FSL_OK;
}

static int tear_down(void **state)
{
	(void)state;
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return 0;
}

/* The job of @settings. Free with release(). */
static struct fsl_job *simulate(const char *const *settings, const char *fault,
				const char *other_fault)
{
	struct fsl_sim_params params;
	struct fsl_job *job = calloc(1, sizeof(*job));
	static const char *const usual[] = {"tp=4",        "dp=2",        "pairs=2",
					    "steps=500",   "step_ms=900", "spikes=0",
					    "hetero=0.01", "ckpt=0",      "gc=0"};
	assert_non_null(job);
	fsl_sim_params_init(&params);
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		assert_int_equal(fsl_sim_params_set(&params, usual[i], NULL), FSL_OK);
	}
	for (; settings != NULL && *settings != NULL; settings++) {
		assert_int_equal(fsl_sim_params_set(&params, *settings, NULL), FSL_OK);
	}
	if (fault != NULL) {
		assert_int_equal(fsl_sim_params_add_fault(&params, fault, NULL), FSL_OK);
	}
	if (other_fault != NULL) {
		assert_int_equal(fsl_sim_params_add_fault(&params, other_fault, NULL), FSL_OK);
	}
	assert_int_equal(fsl_job_init(job, NULL), FSL_OK);
	assert_int_equal(fsl_sim_run_in_memory(&params, &job->run, NULL, NULL), FSL_OK);
	fsl_sim_params_fini(&params);
	return job;
}

/* Judges it in chapters of @chapter_s seconds, or shorter ones so that there are @parts. */
static void judge_job(struct fsl_job *job, double chapter_s, int64_t parts)
{
	struct fsl_config present = config;
	present.chapter_hours = chapter_s / 3600.0;
	present.chapter_parts = parts;
	present.chapter_operators_min = 0;
	present.now_ns = job->run.ranks[0].last_event_ns;
	assert_int_equal(fsl_job_judge(job, &present, NULL), FSL_OK);
}

static struct fsl_job *judge_parts(const char *const *settings, const char *fault,
				   const char *other_fault, double chapter_s, int64_t parts)
{
	struct fsl_job *job = simulate(settings, fault, other_fault);
	judge_job(job, chapter_s, parts);
	return job;
}

static struct fsl_job *judge(const char *const *settings, const char *fault,
			     const char *other_fault, double chapter_s)
{
	return judge_parts(settings, fault, other_fault, chapter_s, 1);
}

static void release(struct fsl_job *job)
{
	fsl_job_fini(job);
	free(job);
}

/* An hour later the job stands still for that long. */
static void a_hang_in_the_newest_chapter_has_the_reason_that_perception_gives(void **state)
{
	(void)state;
	struct fsl_job *job = simulate(NULL, "hang ranks=3 onset=450", NULL);
	struct fsl_config later = config;
	later.chapter_hours = CHAPTER_S / 3600.0;
	later.chapter_parts = 1;
	later.now_ns = job->run.ranks[0].last_event_ns + INT64_C(3600) * FSL_NS_PER_S;
	assert_int_equal(fsl_job_judge(job, &later, NULL), FSL_OK);
	assert_true(job->localisation.n_chapters >= 4);
	assert_int_equal(job->localisation.kind, FSL_VERDICT_HANG);
	assert_string_equal(job->localisation.reason, job->perception.reason);
	assert_non_null(strstr(job->localisation.reason, "no event for 60.0 min"));
	release(job);
}

static size_t told_of(const struct fsl_localisation *verdict)
{
	size_t n_told = 0, told = 0;
	for (size_t k = 0; k < verdict->n_chapters; k++) {
		n_told += verdict->chapters[k].is_told;
		told = verdict->chapters[k].is_told ? k : told;
	}
	assert_int_equal(n_told, 1);
	return told;
}

static void a_short_capture_is_judged_as_a_whole(void **state)
{
	(void)state;
	struct fsl_job *job = judge(NULL, "compute ranks=3 factor=1.3 onset=250", NULL, 10000.0);
	assert_int_equal(job->localisation.kind, FSL_VERDICT_SLOW_RANK);
	assert_int_equal(job->localisation.n_chapters, 0);
	release(job);
}

/* As where a range ends in the middle of files: their last events are known all the same. */
static void behind_the_end_of_a_time_range_there_are_no_chapters(void **state)
{
	(void)state;
	struct fsl_job *job = simulate(NULL, "compute ranks=3 factor=1.4 onset=150", NULL);
	int64_t last_ns = job->run.ranks[0].last_event_ns;
	job->until_ns = last_ns;
	for (size_t r = 0; r < job->run.n_ranks; r++) {
		job->run.ranks[r].last_event_ns += INT64_C(3600) * FSL_NS_PER_S;
	}
	judge_job(job, CHAPTER_S, 1);
	const struct fsl_localisation *verdict = &job->localisation;
	assert_true(verdict->n_chapters >= 5 && verdict->n_chapters <= 7);
	assert_int_equal(told_of(verdict), verdict->n_chapters - 1);
	assert_true(verdict->chapters[verdict->n_chapters - 1].end_ns == last_ns);
	release(job);
}

static void a_fault_that_lasts_is_told_with_its_onset_chapters_ago(void **state)
{
	(void)state;
	struct fsl_job *job = judge(NULL, "compute ranks=3 factor=1.4 onset=150", NULL, CHAPTER_S);
	const struct fsl_localisation *verdict = &job->localisation;
	assert_int_equal(verdict->kind, FSL_VERDICT_SLOW_RANK);
	assert_true(verdict->n_chapters >= 5);
	assert_int_equal(told_of(verdict), verdict->n_chapters - 1);
	assert_int_equal(verdict->n_culprits, 1);
	assert_int_equal(verdict->culprits[0].rank, 3);
	assert_in_range(verdict->culprits[0].onset_step, 145, 155);
	assert_true(verdict->fault_ns == verdict->culprits[0].onset_ns);
	assert_true(verdict->fault_ns < verdict->chapters[2].begin_ns);
	release(job);
}

static void a_fault_that_is_over_is_still_told(void **state)
{
	(void)state;
	struct fsl_job *job =
		judge(NULL, "compute ranks=3 factor=1.4 onset=150 until=180", NULL, CHAPTER_S);
	const struct fsl_localisation *verdict = &job->localisation;
	size_t told = told_of(verdict), n_steps = 0;
	assert_int_equal(verdict->kind, FSL_VERDICT_SLOW_RANK);
	assert_true(told < verdict->n_chapters - 1);
	assert_int_equal(verdict->chapters[verdict->n_chapters - 1].kind, FSL_VERDICT_NORMAL);
	assert_in_range(verdict->culprits[0].until_step, 175, 185);
	for (size_t k = 0; k < verdict->n_chapters; k++) {
		const struct fsl_chapter_note *chapter = &verdict->chapters[k];
		assert_true(k == 0 || chapter->begin_ns == chapter[-1].end_ns);
		n_steps += chapter->n_steps;
	}
	assert_in_range(n_steps, STEPS - 10, STEPS + 1);
	release(job);
}

/* The newest of the first @n chapters in which something was wrong; @n: in none. */
static size_t newest_wrong(const struct fsl_localisation *told, size_t n)
{
	for (size_t k = n; k-- > 0;) {
		if (!fsl_verdict_is_quiet(told->chapters[k].kind)) {
			return k;
		}
	}
	return n;
}

static void only_chapters_that_may_be_told_are_judged_in_full(void **state)
{
	(void)state;
	static const struct {
		const char *fault;
		enum fsl_verdict_kind kind;
	} cases[] = {
		{"compute ranks=3 factor=1.4 onset=150 until=200", FSL_VERDICT_SLOW_RANK},
		{"compute ranks=3 factor=1.4 onset=150", FSL_VERDICT_SLOW_RANK},
		{"pauses factor=0.2 extra_ms=1000 onset=120 until=190", FSL_VERDICT_HOST_PAUSES},
		{"job_slow factor=1.3 onset=150 until=190", FSL_VERDICT_JOB_SLOWDOWN},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_job *job = judge(NULL, cases[i].fault, NULL, CHAPTER_S);
		const struct fsl_localisation *told = &job->localisation;
		size_t n_past = told->n_chapters - 1, told_idx = told_of(told), n_brief = 0;
		assert_int_equal(told->kind, cases[i].kind);
		assert_true(told->replay.n_whatifs > 3);
		assert_true(told->n_normal > 0 || told->kind != FSL_VERDICT_SLOW_RANK);
		for (size_t k = 0; k < n_past; k++) {
			const struct fsl_judged_chapter *chapter = &job->chapters.items[k];
			bool may_be_told = k == newest_wrong(told, n_past) ||
					   k == newest_wrong(told, n_past - 1);
			assert_int_equal(chapter->is_brief, !may_be_told);
			n_brief += chapter->is_brief;
			if (k != told_idx && chapter->is_brief) {
				assert_int_equal(chapter->verdict.replay.n_whatifs, 0);
				assert_string_equal(chapter->verdict.reason, "");
			}
		}
		assert_true(n_brief > 0);
		release(job);
	}
}

static void assert_same_culprits(const struct fsl_localisation *a, const struct fsl_localisation *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_memory_equal(&a->step_ms, &b->step_ms, sizeof(a->step_ms));
	assert_memory_equal(&a->slowdown, &b->slowdown, sizeof(a->slowdown));
	assert_memory_equal(&a->lost_ms_per_step, &b->lost_ms_per_step,
			    sizeof(a->lost_ms_per_step));
	assert_int_equal(a->n_culprits, b->n_culprits);
	for (size_t i = 0; i < a->n_culprits; i++) {
		const struct fsl_culprit *x = &a->culprits[i], *y = &b->culprits[i];
		assert_int_equal(x->rank, y->rank);
		assert_int_equal(x->cause, y->cause);
		assert_int_equal(x->onset_step, y->onset_step);
		assert_int_equal(x->until_step, y->until_step);
		assert_memory_equal(&x->lost_ms_per_step, &y->lost_ms_per_step,
				    sizeof(x->lost_ms_per_step));
	}
}

static void in_brief_a_job_has_the_same_culprits_at_the_same_cost(void **state)
{
	(void)state;
	static const char *const with_saves[] = {"ckpt=50", NULL};
	static const char *const faults[] = {
		NULL,
		"compute ranks=3 factor=1.4 onset=150",
		"compute ranks=2 factor=1.03 onset=100",
		"pauses factor=0.2 extra_ms=1000",
		"link ranks=0-3 factor=4 onset=100",
		"host ranks=5 factor=1.5 onset=200",
		"storage ranks=1 extra_ms=4000",
		"job_slow factor=1.3 onset=150",
		"hang ranks=3 onset=450",
		"gc ranks=6 extra_ms=600",
	};
	size_t n_quiet = 0, n_named = 0;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct fsl_job *full = simulate(with_saves, faults[i], NULL);
		struct fsl_job *brief = simulate(with_saves, faults[i], NULL);
		brief->is_brief = true;
		assert_int_equal(fsl_job_analyse(full, &config, NULL), FSL_OK);
		assert_int_equal(fsl_job_analyse(brief, &config, NULL), FSL_OK);
		assert_same_culprits(&full->localisation, &brief->localisation);
		assert_true(full->verification.summary.n_whatifs > 3);
		assert_int_equal(brief->verification.summary.n_whatifs, 0);
		n_quiet += fsl_verdict_is_quiet(full->localisation.kind);
		n_named += full->localisation.n_culprits > 0;
		release(full);
		release(brief);
	}
	assert_true(n_quiet > 0 && n_named > 2);
}

static void of_two_faults_the_newer_is_told_and_the_older_noted(void **state)
{
	(void)state;
	struct fsl_job *job = judge(NULL, "compute ranks=3 factor=1.6 onset=30 until=80",
				    "compute ranks=5 factor=1.3 onset=350 until=400", CHAPTER_S);
	const struct fsl_localisation *verdict = &job->localisation;
	assert_int_equal(verdict->n_culprits, 1);
	assert_int_equal(verdict->culprits[0].rank, 5);
	assert_true(told_of(verdict) > 1);
	assert_int_equal(verdict->chapters[0].kind, FSL_VERDICT_SLOW_RANK);
	assert_int_equal(verdict->chapters[0].culprits[0].rank, 3);
	release(job);
}

static void without_a_fault_the_newest_chapter_is_told(void **state)
{
	(void)state;
	struct fsl_job *job = judge(NULL, NULL, NULL, CHAPTER_S);
	assert_int_equal(job->localisation.kind, FSL_VERDICT_NORMAL);
	assert_int_equal(told_of(&job->localisation), job->localisation.n_chapters - 1);
	release(job);
}

static void steps_without_numbers_are_counted_over_all_chapters(void **state)
{
	(void)state;
	static const char *const bare[] = {"timelines=none", NULL};
	struct fsl_job *job = judge(bare, "compute ranks=3 factor=1.4 onset=350", NULL, CHAPTER_S);
	assert_true(job->steps.is_ordinal);
	assert_int_equal(job->localisation.n_culprits, 1);
	assert_in_range(job->localisation.culprits[0].onset_step, 343, 357);
	release(job);
}

static void steps_too_long_for_chapters_are_judged_as_a_whole(void **state)
{
	(void)state;
	struct fsl_job *job = judge(NULL, "compute ranks=3 factor=1.3 onset=250", NULL, 40.0);
	assert_int_equal(job->localisation.n_chapters, 0);
	assert_int_equal(job->localisation.kind, FSL_VERDICT_SLOW_RANK);
	assert_in_range(job->localisation.culprits[0].onset_step, 247, 253);
	release(job);
}

static void a_capture_of_many_steps_has_as_many_chapters_as_wanted(void **state)
{
	(void)state;
	static const struct {
		int64_t parts;
		size_t least, most;
		/* Of 60 steps each, then of 30, 15 and 8: a half or a quarter of that many. */
	} cases[] = {{1, 0, 0}, {2, 2, 4}, {8, 8, 10}, {16, 8, 10}, {32, 8, 10}, {64, 0, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_job *job = judge_parts(NULL, NULL, NULL, 14400.0, cases[i].parts);
		size_t n = job->localisation.n_chapters;
		assert_int_equal(job->localisation.kind, FSL_VERDICT_NORMAL);
		assert_in_range(n, cases[i].least, cases[i].most);
		release(job);
	}
}

/* A day of files of 2 and 8 GB, and of a few bytes more than 64 chapters may have. */
static void chapters_of_large_files_are_shorter(void **state)
{
	(void)state;
	static const struct {
		uint64_t n_bytes;
		int64_t parts;
	} cases[] = {{0, 64},
		     {UINT64_C(1) << 31, 64},
		     {UINT64_C(1) << 33, 256},
		     {UINT64_C(3) << 30, 128}};
	struct fsl_span span = {.begin_ns = 0, .end_ns = INT64_C(1) << 47};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_feed feed = {.n_bytes = cases[i].n_bytes};
		struct fsl_job job = {.feed = &feed};
		struct fsl_config present = config;
		int64_t wanted_ns[FSL_CHAPTER_LEVELS_N];
		present.chapter_hours = (double)(span.end_ns / FSL_NS_PER_S) / 3600.0;
		present.chapter_parts = 64;
		fsl_job_wanted_lengths(wanted_ns, &job, &present, &span);
		for (size_t level = 0; level < FSL_CHAPTER_LEVELS_N; level++) {
			int64_t n = span.end_ns / wanted_ns[level];
			assert_in_range(n, cases[i].parts >> level, (cases[i].parts >> level) + 1);
		}
	}
}

static void a_capture_of_few_operators_is_cut_by_hours_alone(void **state)
{
	(void)state;
	for (int64_t n_more = 0; n_more < 2; n_more++) {
		struct fsl_job *job = simulate(NULL, NULL, NULL);
		struct fsl_config present = config;
		present.chapter_operators_min = n_more;
		for (size_t r = 0; r < job->run.n_ranks; r++) {
			present.chapter_operators_min += (int64_t)job->run.ranks[r].n_ops;
		}
		present.chapter_parts = 2;
		present.now_ns = job->run.ranks[0].last_event_ns;
		assert_int_equal(fsl_job_judge(job, &present, NULL), FSL_OK);
		assert_true((job->localisation.n_chapters == 0) == (n_more == 1));
		release(job);
	}
}

static void a_fault_that_comes_and_goes_is_told_since_its_first_chapter(void **state)
{
	(void)state;
	struct fsl_job *job = judge(NULL, "compute ranks=3 factor=1.6 onset=110 period=40 on=10",
				    NULL, CHAPTER_S);
	const struct fsl_localisation *verdict = &job->localisation;
	assert_int_equal(verdict->kind, FSL_VERDICT_SLOW_RANK);
	assert_int_equal(told_of(verdict), verdict->n_chapters - 1);
	assert_int_equal(verdict->n_culprits, 1);
	assert_in_range(verdict->culprits[0].onset_step, 105, 115);
	release(job);
}

/* Pairs of operators and nothing else, with pauses between them: how many pairs make a step is seen
 * in many steps only. */
static void steps_are_as_long_in_all_chapters_as_at_the_begin(void **state)
{
	(void)state;
	static const char *const settings[] = {
		"tp=8",           "dp=1",        "steps=6144",     "step_ms=100", "transfer_ms=0.5",
		"optimizer_ms=4", "hetero=0.03", "timelines=none", "seed=1",      NULL};
	struct fsl_job *job =
		judge_parts(settings, "gc ranks=3 extra_ms=40 onset=2500", NULL, 18.0, 32);
	const struct fsl_localisation *verdict = &job->localisation;
	size_t n_steps = 0;
	assert_true(verdict->n_chapters > 32);
	for (size_t k = 0; k < verdict->n_chapters; k++) {
		assert_in_range(verdict->chapters[k].n_steps, 60, 200);
		n_steps += verdict->chapters[k].n_steps;
	}
	assert_in_range(n_steps, 6144 - 40, 6144 + 40);
	release(job);
}

/* A checkpoint every 100 steps, as in most chapters none or one: chance in each of them. */
static void slow_checkpoints_that_come_once_in_a_chapter_are_told_of_all(void **state)
{
	(void)state;
	static const char *const settings[] = {"steps=1500", "ckpt=100", "ckpt_ms=1000", NULL};
	static const char fault[] = "storage ranks=3 extra_ms=9000 onset=450";
	struct fsl_job *job = judge(settings, fault, NULL, CHAPTER_S);
	const struct fsl_localisation *verdict = &job->localisation;
	assert_true(verdict->n_chapters >= 12);
	assert_int_equal(verdict->kind, FSL_VERDICT_SLOW_RANK);
	assert_int_equal(verdict->n_culprits, 1);
	assert_int_equal(verdict->culprits[0].rank, 3);
	assert_int_equal(verdict->culprits[0].cause, FSL_CAUSE_STORAGE);
	assert_in_range(verdict->culprits[0].onset_step, 450, 650);
	assert_int_equal(told_of(verdict), verdict->n_chapters - 1);
	assert_int_equal(verdict->result_code, 201);
	release(job);
}

static void perception_looks_back_over_chapters(void **state)
{
	(void)state;
	struct fsl_job *whole = judge(NULL, "job_slow factor=1.3 onset=150", NULL, 0.0);
	struct fsl_job *job = judge(NULL, "job_slow factor=1.3 onset=150", NULL, CHAPTER_S);
	assert_true(job->localisation.n_chapters >= 5);
	assert_true(whole->perception.is_anomaly && job->perception.is_anomaly);
	assert_int_equal(job->perception.n_episodes, whole->perception.n_episodes);
	assert_int_equal(job->perception.episodes[0].onset_step,
			 whole->perception.episodes[0].onset_step);
	assert_int_equal(job->perception.coverage.n_steps, whole->perception.coverage.n_steps);
	assert_string_equal(job->perception.reason, whole->perception.reason);
	release(whole);
	release(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_capture_is_judged_as_a_whole),
		cmocka_unit_test(a_hang_in_the_newest_chapter_has_the_reason_that_perception_gives),
		cmocka_unit_test(behind_the_end_of_a_time_range_there_are_no_chapters),
		cmocka_unit_test(a_fault_that_lasts_is_told_with_its_onset_chapters_ago),
		cmocka_unit_test(a_fault_that_is_over_is_still_told),
		cmocka_unit_test(only_chapters_that_may_be_told_are_judged_in_full),
		cmocka_unit_test(in_brief_a_job_has_the_same_culprits_at_the_same_cost),
		cmocka_unit_test(of_two_faults_the_newer_is_told_and_the_older_noted),
		cmocka_unit_test(without_a_fault_the_newest_chapter_is_told),
		cmocka_unit_test(steps_without_numbers_are_counted_over_all_chapters),
		cmocka_unit_test(a_capture_of_many_steps_has_as_many_chapters_as_wanted),
		cmocka_unit_test(chapters_of_large_files_are_shorter),
		cmocka_unit_test(a_capture_of_few_operators_is_cut_by_hours_alone),
		cmocka_unit_test(a_fault_that_comes_and_goes_is_told_since_its_first_chapter),
		cmocka_unit_test(steps_are_as_long_in_all_chapters_as_at_the_begin),
		cmocka_unit_test(slow_checkpoints_that_come_once_in_a_chapter_are_told_of_all),
		cmocka_unit_test(perception_looks_back_over_chapters),
		cmocka_unit_test(steps_too_long_for_chapters_are_judged_as_a_whole),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
