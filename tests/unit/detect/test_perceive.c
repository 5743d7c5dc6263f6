/* Perception on step series and runs made by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "detect/perceive.h"

#define MS     INT64_C(1000000)
#define MINUTE (INT64_C(60) * FSL_NS_PER_S)
#define T0     (INT64_C(1750000000) * FSL_NS_PER_S)

enum { STEPS_MAX = 2000 };

struct fixture {
	struct fsl_run run;
	struct fsl_steps steps;
	struct fsl_job_step items[STEPS_MAX];
	struct fsl_config config;
	struct fsl_perception out;
	struct fsl_error err;
	uint64_t random;
};

static struct fixture fixture;

#define assert_near(value, wanted, tolerance) assert_true(fabs((value) - (wanted)) <= (tolerance))

static int setup(void **state)
{
	(void)state;
	memset(&fixture, 0, sizeof(fixture));
	fixture.config = (struct fsl_config){
		.task_stable_step = 3,
		.max_data_queue_steps = 1000,
		.min_startup_detection_steps = 10,
		.hang_times_mins_thr = 30,
		.steps_window_size = 10,
		.k_sigma = 2,
		.anomaly_degree_thr = 0.2,
		.now_ns = T0,
	};
	fixture.steps.items = fixture.items;
	fixture.steps.source = "timeline";
	fixture.random = 1;
	return fsl_run_init(&fixture.run, &fixture.err) == FSL_OK ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	fsl_mem_fail_at(0);
	fsl_perception_fini(&fixture.out);
	fsl_run_fini(&fixture.run);
	return 0;
}

/* Uniform in [-1, 1]; the same numbers in every run. */
static double noise(void)
{
	fixture.random = fixture.random * 6364136223846793005U + 1442695040888963407U;
	return (double)(fixture.random >> 11) * 0x1p-52 - 1.0;
}

/* Appends steps of about @ms. */
static void add_steps(size_t n, double ms, double noise_share)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = fixture.steps.n_items++;
		assert_true(k < STEPS_MAX);
		int64_t begin_ns =
			k > 0 ? fixture.items[k - 1].begin_ns + fixture.items[k - 1].dur_ns : T0;
		double dur_ms = ms * (1.0 + noise_share * noise());
		fixture.items[k] = (struct fsl_job_step){
			.step = (int64_t)k + 100,
			.begin_ns = begin_ns,
			.dur_ns = (int64_t)(dur_ms * (double)MS),
		};
	}
}

static enum fsl_status perceive_steps(struct fsl_error *err)
{
	struct fsl_progress progress;
	enum fsl_status status = fsl_progress_build(&progress, &fixture.run, &fixture.steps, err);
	if (status == FSL_OK) {
		status = fsl_perceive(&fixture.out, &fixture.run, &progress, &fixture.config, err);
		fsl_progress_fini(&progress);
	}
	return status;
}

static void perceive(void)
{
	fsl_perception_fini(&fixture.out);
	assert_int_equal(perceive_steps(&fixture.err), FSL_OK);
}

static void check_kind(enum fsl_verdict_kind kind, const char *anomaly_type)
{
	if (fixture.out.kind != kind) {
		print_error("reason: %s\n", fixture.out.reason);
	}
	assert_int_equal(fixture.out.kind, kind);
	assert_string_equal(fixture.out.anomaly_type, anomaly_type);
	assert_int_equal(fixture.out.is_anomaly, strcmp(anomaly_type, "normal") != 0);
	assert_true(strlen(fixture.out.reason) > 0);
}

static void steady_steps_are_normal(void **state)
{
	(void)state;
	add_steps(80, 977, 0.01);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_int_equal(fixture.out.n_anomalies, 0);
	assert_int_equal(fixture.out.coverage.n_steps, 80);
	assert_string_equal(fixture.out.coverage.steps_source, "timeline");
	assert_null(strstr(fixture.out.reason, "left out"));
	fixture.steps.n_disordered = 2;
	perceive();
	assert_non_null(strstr(fixture.out.reason, "; 2 steps left out: number twice or clock"));
}

static void heavy_noise_alone_is_normal(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		fixture.random = seed;
		fixture.steps.n_items = 0;
		add_steps(500, 1000, 0.25);
		perceive();
		check_kind(FSL_VERDICT_NORMAL, "normal");
	}
}

static void noise_that_comes_in_waves_is_normal(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		double wave = 0.0;
		fixture.random = seed;
		fixture.steps.n_items = 0;
		for (int i = 0; i < 500; i++) {
			/* Neighbours correlate by 0.6; deviation 0.2. */
			wave = 0.6 * wave + 0.8 * (noise() + noise() + noise());
			add_steps(1, 1000 * exp(0.2 * wave), 0);
		}
		perceive();
		check_kind(FSL_VERDICT_NORMAL, "normal");
	}
}

static void slow_drift_below_the_threshold_is_normal(void **state)
{
	(void)state;
	for (size_t i = 0; i < 200; i++) {
		add_steps(1, 1000 + 0.4 * (double)i, 0.01);
	}
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
}

static void lasting_rise_is_reported_for_its_whole_length(void **state)
{
	(void)state;
	add_steps(40, 977, 0.005);
	add_steps(40, 1458, 0.005);
	perceive();
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.n_anomalies, 40);
	assert_int_equal(fixture.out.anomalies[0].step, 140);
	assert_int_equal(fixture.out.anomalies[39].step, 179);
	assert_near(fixture.out.anomalies[20].degree, 0.49, 0.02);
	assert_int_equal(fixture.out.n_episodes, 1);
	const struct fsl_step_episode *episode = &fixture.out.episodes[0];
	assert_int_equal(episode->onset_step, 140);
	assert_int_equal(episode->onset_ns, fixture.items[40].begin_ns);
	assert_int_equal(episode->until_step, -1);
	assert_int_equal(episode->n_steps, 40);
	assert_near(episode->before_ms, 977, 5);
	assert_near(episode->after_ms, 1458, 7);
	assert_true(episode->p_value < 1e-6);
}

static void rise_of_half_the_threshold_is_found_and_less_is_not(void **state)
{
	(void)state;
	add_steps(60, 1000, 0.005);
	add_steps(30, 1120, 0.005);
	perceive();
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.episodes[0].onset_step, 160);
	fixture.steps.n_items = 60;
	add_steps(30, 1080, 0.005);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
}

static void recovered_rise_says_until_when(void **state)
{
	(void)state;
	add_steps(40, 1000, 0.01);
	add_steps(15, 1400, 0.01);
	add_steps(40, 1000, 0.01);
	perceive();
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.n_episodes, 1);
	assert_int_equal(fixture.out.episodes[0].onset_step, 140);
	assert_int_equal(fixture.out.episodes[0].until_step, 155);
	assert_int_equal(fixture.out.n_anomalies, 15);
	assert_non_null(strstr(fixture.out.reason, "recovered at step 155"));
}

static void second_rise_on_top_of_the_first_is_told_apart(void **state)
{
	(void)state;
	add_steps(40, 1000, 0.01);
	add_steps(20, 1300, 0.01);
	add_steps(20, 2000, 0.01);
	add_steps(20, 1300, 0.01);
	add_steps(20, 1000, 0.01);
	perceive();
	assert_int_equal(fixture.out.n_episodes, 2);
	assert_int_equal(fixture.out.episodes[0].onset_step, 140);
	assert_int_equal(fixture.out.episodes[0].until_step, 200);
	assert_int_equal(fixture.out.episodes[1].onset_step, 160);
	assert_int_equal(fixture.out.episodes[1].until_step, 180);
	assert_near(fixture.out.episodes[1].before_ms, 1300, 10);
	assert_int_equal(fixture.out.n_anomalies, 60);
	assert_near(fixture.out.anomalies[59].normal_ms, 1000, 10);
}

static void spike_does_not_shift_the_onset(void **state)
{
	(void)state;
	add_steps(38, 1000, 0.01);
	add_steps(1, 5000, 0);
	add_steps(2, 1000, 0.01);
	add_steps(20, 1300, 0.01);
	perceive();
	assert_int_equal(fixture.out.n_episodes, 1);
	assert_int_equal(fixture.out.episodes[0].onset_step, 141);
}

static void single_long_step_is_no_fail_slow(void **state)
{
	(void)state;
	add_steps(40, 977, 0.005);
	add_steps(1, 2977, 0);
	add_steps(40, 977, 0.005);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_non_null(strstr(fixture.out.reason, "1 single long step"));
}

static void short_rise_of_four_steps_is_found_by_k_sigma(void **state)
{
	(void)state;
	add_steps(40, 1000, 0.01);
	add_steps(4, 1500, 0.01);
	add_steps(40, 1000, 0.01);
	perceive();
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.n_anomalies, 4);
	assert_int_equal(fixture.out.anomalies[0].step, 140);
	assert_int_equal(fixture.out.episodes[0].until_step, 144);
}

static void two_long_steps_in_a_row_are_no_fail_slow(void **state)
{
	(void)state;
	add_steps(40, 1000, 0.01);
	add_steps(2, 1500, 0.01);
	add_steps(40, 1000, 0.01);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_non_null(strstr(fixture.out.reason, "2 single long steps"));
}

static void repeated_short_rises_are_all_listed(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		add_steps(40, 1000, 0.01);
		add_steps(4 + (size_t)i * 4, 1500, 0.01);
	}
	add_steps(40, 1000, 0.01);
	perceive();
	assert_int_equal(fixture.out.n_episodes, 4);
	assert_int_equal(fixture.out.n_anomalies, 4 + 8 + 12 + 16);
}

static void rise_in_the_newest_three_steps_is_found(void **state)
{
	(void)state;
	add_steps(40, 1000, 0.01);
	add_steps(3, 1500, 0.01);
	perceive();
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.n_anomalies, 3);
	assert_int_equal(fixture.out.episodes[0].until_step, -1);
}

static void drop_is_no_alarm(void **state)
{
	(void)state;
	add_steps(40, 1400, 0.01);
	add_steps(40, 1000, 0.01);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
}

static void return_from_a_fast_phase_is_no_alarm(void **state)
{
	(void)state;
	add_steps(60, 1000, 0.01);
	add_steps(20, 700, 0.01);
	add_steps(40, 1000, 0.01);
	perceive();
	assert_int_equal(fixture.out.n_episodes, 0);
}

static void warm_up_steps_are_not_looked_at(void **state)
{
	(void)state;
	add_steps(3, 9000, 0.01);
	add_steps(30, 1000, 0.01);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_int_equal(fixture.out.start_ns, fixture.items[4].begin_ns);
}

static void only_the_latest_steps_are_looked_at(void **state)
{
	(void)state;
	fixture.config.max_data_queue_steps = 50;
	add_steps(40, 1000, 0.01);
	add_steps(60, 1500, 0.01);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_int_equal(fixture.out.start_ns, fixture.items[51].begin_ns);
}

static void too_few_steps_are_insufficient_evidence(void **state)
{
	(void)state;
	add_steps(12, 1000, 0.01);
	perceive();
	check_kind(FSL_VERDICT_INSUFFICIENT_EVIDENCE, "normal");
	assert_non_null(strstr(fixture.out.reason, "9 after the first 3"));
	add_steps(1, 1000, 0.01);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
}

static void no_steps_are_insufficient_evidence(void **state)
{
	(void)state;
	perceive();
	check_kind(FSL_VERDICT_INSUFFICIENT_EVIDENCE, "normal");
	assert_non_null(strstr(fixture.out.reason, "no timeline"));
	assert_true(isnan(fixture.out.hang_mins));
}

static void checkpoints_explain_long_steps(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		add_steps(15, 977, 0.005);
		add_steps(1, 4000, 0.01);
		fixture.items[fixture.steps.n_items - 1].ckpt_ns = 3020 * MS;
	}
	add_steps(3, 977, 0.005);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_int_equal(fixture.out.n_explained, 5);
	assert_string_equal(fixture.out.explained[0].why, "checkpoint");
	assert_int_equal(fixture.out.explained[0].step, 115);
	assert_near(fixture.out.explained[0].explained_ms, 3020, 1);
}

static void step_behind_a_checkpoint_waits_for_ranks_that_still_save(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		add_steps(15, 977, 0.005);
		add_steps(2, 4000, 0.01);
		fixture.items[fixture.steps.n_items - 2].ckpt_ns = 3020 * MS;
	}
	add_steps(3, 977, 0.005);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_int_equal(fixture.out.n_explained, 10);
	assert_string_equal(fixture.out.explained[1].why, "checkpoint");
}

static void rise_that_begins_with_a_checkpoint_is_not_explained(void **state)
{
	(void)state;
	add_steps(40, 1000, 0.01);
	add_steps(1, 4000, 0.01);
	fixture.items[40].ckpt_ns = 3000 * MS;
	add_steps(20, 1500, 0.01);
	perceive();
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.episodes[0].onset_step, 141);
}

static void checkpoint_behind_other_work_explains_nothing(void **state)
{
	(void)state;
	add_steps(40, 1000, 0.01);
	add_steps(20, 1500, 0.01);
	for (size_t i = 0; i < fixture.steps.n_items; i++) {
		fixture.items[i].ckpt_ns = fixture.items[i].dur_ns; /* saves all the time */
	}
	perceive();
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.n_anomalies, 20);
}

static void gc_explains_a_long_step(void **state)
{
	(void)state;
	add_steps(20, 1000, 0.01);
	add_steps(1, 1600, 0);
	fixture.items[20].gc_ns = 590 * MS;
	add_steps(20, 1000, 0.01);
	perceive();
	assert_int_equal(fixture.out.n_explained, 1);
	assert_string_equal(fixture.out.explained[0].why, "gc");
}

static void times_are_those_of_the_reference(void **state)
{
	(void)state;
	add_steps(30, 1000.7, 0);
	add_steps(30, 1500.9, 0);
	fixture.steps.is_last_open = true;
	perceive();
	/* Whole milliseconds between truncated times. */
	const struct fsl_step_anomaly *anomaly = &fixture.out.anomalies[0];
	int64_t end_ns = anomaly->begin_ns + fixture.items[30].dur_ns;
	assert_true(anomaly->step_ms == (double)(end_ns / MS - anomaly->begin_ns / MS));
	assert_int_equal(fixture.out.start_ns, fixture.items[4].begin_ns);
	assert_int_equal(fixture.out.end_ns, fixture.items[59].begin_ns);
}

static void systrace_mode_gives_the_alarms_of_the_reference(void **state)
{
	(void)state;
	fixture.config.algorithm = FSL_ALGORITHM_SYSTRACE;
	add_steps(40, 977, 0.002);
	add_steps(40, 1458, 0.002);
	perceive();
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.n_anomalies, 2); /* then the window has absorbed the rise */
	assert_int_equal(fixture.out.anomalies[0].step, 140);
	assert_int_equal(fixture.out.n_episodes, 0);
}

/* Ranks that were last seen at T0 + last_ms[i]. */
static void add_ranks(const int64_t *last_ms, int32_t n)
{
	for (int32_t r = 0; r < n; r++) {
		struct fsl_rank *rank = fsl_run_add_rank(&fixture.run, r, &fixture.err);
		assert_non_null(rank);
		rank->last_event_ns = T0 + last_ms[r] * MS;
	}
}

static uint32_t name(const char *text)
{
	uint32_t id = FSL_STR_NONE;
	assert_int_equal(
		fsl_strpool_intern(fixture.run.names, text, strlen(text), &id, &fixture.err),
		FSL_OK);
	return id;
}

/* Gives rank @r one ended operator in @group and, when @waits, an open one. */
static void add_use(int32_t r, const char *group, bool waits)
{
	struct fsl_rank *rank = fsl_run_add_rank(&fixture.run, r, &fixture.err);
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, &fixture.err),
			 FSL_OK);
	rank->ops[rank->n_ops++] = (struct fsl_op){.group_id = name(group)};
	if (waits) {
		rank->open_op_id = name("HcclAllGather");
		rank->open_group_id = name(group);
		rank->open_begin_ns = rank->last_event_ns;
	}
}

static void silence_above_the_limit_is_a_hang(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {58000, 58010, 57990, 58000};
	add_steps(59, 977, 0.005);
	add_ranks(last_ms, 4);
	fixture.config.now_ns = T0 + 58010 * MS + 30 * MINUTE;
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	fixture.config.now_ns += 1;
	perceive();
	check_kind(FSL_VERDICT_HANG, "hang");
	assert_near(fixture.out.hang_mins, 30.0, 1e-9);
	assert_int_equal(fixture.out.hang_since_ns, T0 + 58010 * MS);
	assert_int_equal(fixture.out.n_stopped_first, 0);
	assert_non_null(strstr(fixture.out.reason, "ended or hangs"));
}

static void silence_below_the_limit_is_told_while_ranks_wait(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {58000, 58010};
	add_steps(59, 977, 0.005);
	add_ranks(last_ms, 2);
	fixture.config.now_ns = T0 + 58010 * MS + 5 * MINUTE;
	perceive();
	assert_int_equal(fixture.out.n_stalled, 0); /* nobody waits: perhaps it ended */
	add_use(0, "world", true);
	fixture.config.now_ns = T0 + 58010 * MS + MINUTE - 1;
	perceive();
	assert_int_equal(fixture.out.n_stalled, 0); /* the next block of records is on its way */
	fixture.config.now_ns += 1;
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_int_equal(fixture.out.n_stalled, 1);
	assert_non_null(strstr(fixture.out.reason,
			       "; no event for 1.0 min while 1 rank waits in HcclAllGather, "
			       "no hang yet"));
	fixture.config.now_ns = T0 + 58010 * MS + 31 * MINUTE;
	perceive();
	check_kind(FSL_VERDICT_HANG, "hang");
	assert_int_equal(fixture.out.n_stalled, 0);
}

static void silence_of_a_few_long_steps_is_not_told(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {0};
	add_steps(40, 60000, 0.005);
	add_ranks(last_ms, 1);
	add_use(0, "world", true);
	fixture.config.now_ns = T0 + 9 * MINUTE;
	perceive();
	assert_int_equal(fixture.out.n_stalled, 0);
	fixture.config.now_ns = T0 + 11 * MINUTE;
	perceive();
	assert_int_equal(fixture.out.n_stalled, 1);
}

/* The record of an end was lost on most ranks, long before the job ended on all. */
static void ranks_whose_records_are_whole_did_not_stop_first(void **state)
{
	(void)state;
	enum { LATER = 100 };
	static const int64_t last_ms[] = {58000, 58010, 57990, 58000};
	add_ranks(last_ms, 4);
	fixture.config.now_ns = T0 + 58010 * MS + 40 * MINUTE;
	for (int32_t r = 0; r < 4; r++) {
		struct fsl_rank *rank = fsl_run_add_rank(&fixture.run, r, &fixture.err);
		add_use(r, "world", r < 3);
		rank->open_begin_ns = T0;
		for (int64_t i = 0; i < LATER; i++) {
			add_use(r, "world", false);
			struct fsl_op *op = &rank->ops[rank->n_ops - 1];
			op->op_id = name("HcclAllGather");
			op->host_begin_ns = op->dev_begin_ns = T0 + (i + 1) * MS;
		}
	}
	perceive();
	check_kind(FSL_VERDICT_HANG, "hang");
	assert_int_equal(fixture.out.n_stopped_first, 0);
	assert_non_null(strstr(fixture.out.reason, "ended or hangs"));
}

static void silence_since_yesterday_is_the_end_of_the_job(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {58000, 58010};
	add_steps(59, 977, 0.005);
	add_ranks(last_ms, 2);
	fixture.config.hang_forget_hours = 24;
	fixture.config.now_ns = T0 + 58010 * MS + 24 * 60 * MINUTE;
	perceive();
	check_kind(FSL_VERDICT_HANG, "hang");
	fixture.config.now_ns += 1;
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_non_null(strstr(fixture.out.reason, "taken as ended"));
}

static void one_live_rank_means_no_hang(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {0, 0, 40 * 60 * 1000};
	add_ranks(last_ms, 3);
	fixture.config.now_ns = T0 + 45 * MINUTE;
	perceive();
	assert_int_not_equal(fixture.out.kind, FSL_VERDICT_HANG);
	assert_int_equal(fixture.out.n_stopped_first, 0);
	assert_non_null(strstr(fixture.out.reason, "2 of 3 ranks"));
}

static void detector_that_is_switched_off_is_noted(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {0};
	add_ranks(last_ms, 1);
	fixture.config.now_ns = T0 + 60 * MINUTE;
	fixture.config.n_detectors = 1;
	fixture.config.detectors[0] = (struct fsl_detector_config){.name = "Hang"};
	perceive();
	assert_int_not_equal(fixture.out.kind, FSL_VERDICT_HANG);
	assert_int_equal(fixture.out.coverage.n_skipped, 1);
	assert_non_null(strstr(fixture.out.coverage.skipped[0], "Hang"));
}

static void clock_that_runs_ahead_is_no_hang(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {5000};
	add_ranks(last_ms, 1);
	fixture.config.now_ns = T0;
	perceive();
	assert_true(fixture.out.hang_mins == 0.0);
	assert_int_not_equal(fixture.out.kind, FSL_VERDICT_HANG);
}

static void hang_is_seen_without_steps(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {0, 0};
	add_ranks(last_ms, 2);
	fixture.config.now_ns = T0 + 31 * MINUTE;
	perceive();
	check_kind(FSL_VERDICT_HANG, "hang");
}

static void hang_after_a_slowdown_says_both(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {70000};
	add_steps(40, 1000, 0.01);
	add_steps(20, 1500, 0.01);
	add_ranks(last_ms, 1);
	fixture.config.now_ns = T0 + 60 * MINUTE;
	perceive();
	check_kind(FSL_VERDICT_HANG, "hang");
	assert_int_equal(fixture.out.n_episodes, 1);
	assert_non_null(strstr(fixture.out.reason, "; before that, step time rose"));
	fixture.config.algorithm = FSL_ALGORITHM_SYSTRACE;
	perceive();
	check_kind(FSL_VERDICT_HANG, "hang");
	assert_non_null(strstr(fixture.out.reason, "; before that, 2 steps above k-sigma"));
}

static void rank_that_the_others_wait_for_stopped_first(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {1000, 1010, 1020, 990, 1000};
	add_ranks(last_ms, 5);
	for (int32_t r = 0; r < 4; r++) {
		add_use(r, "tp", r != 2);
	}
	add_use(4, "elsewhere", false);
	fixture.config.now_ns = T0 + 60 * MINUTE;
	perceive();
	assert_int_equal(fixture.out.n_stopped_first, 1);
	assert_int_equal(fixture.out.stopped_first[0], 2);
	assert_non_null(strstr(fixture.out.reason, "3 ranks wait in HcclAllGather"));
	assert_non_null(strstr(fixture.out.reason, "rank 2"));
}

static void ranks_that_wait_elsewhere_are_victims(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {1000, 1000, 1000};
	add_ranks(last_ms, 3);
	add_use(0, "dp", true);  /* waits for 1 */
	add_use(1, "dp", false); /* member of dp, waits for 2 */
	add_use(1, "tp", true);
	add_use(2, "tp", false);
	fixture.config.now_ns = T0 + 60 * MINUTE;
	perceive();
	assert_int_equal(fixture.out.n_stopped_first, 1);
	assert_int_equal(fixture.out.stopped_first[0], 2);
}

static void open_operator_of_one_rank_does_not_accuse_all_others(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {1000, 1000, 1000, 1000};
	add_ranks(last_ms, 4);
	for (int32_t r = 0; r < 4; r++) {
		add_use(r, "tp", r == 0); /* the others never wrote their last rows */
	}
	fixture.config.now_ns = T0 + 60 * MINUTE;
	perceive();
	assert_int_equal(fixture.out.kind, FSL_VERDICT_HANG);
	assert_int_equal(fixture.out.n_stopped_first, 0);
}

static void rank_whose_events_end_earlier_stopped_first(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {9000, 9010, 7900, 9020};
	add_ranks(last_ms, 4);
	fixture.config.now_ns = T0 + 60 * MINUTE;
	perceive();
	assert_int_equal(fixture.out.n_stopped_first, 1);
	assert_int_equal(fixture.out.stopped_first[0], 2);
	add_steps(20, 3000, 0.01); /* less than a step earlier says nothing */
	perceive();
	assert_int_equal(fixture.out.n_stopped_first, 0);
}

static void add_stage(enum fsl_stage_kind kind, int64_t begin_ns, int64_t dur_ns)
{
	struct fsl_rank *rank = fsl_run_add_rank(&fixture.run, 0, &fixture.err);
	assert_int_equal(
		FSL_GROW(rank->stages, rank->stages_capacity, rank->n_stages + 1, &fixture.err),
		FSL_OK);
	rank->stages[rank->n_stages++] =
		(struct fsl_stage){.begin_ns = begin_ns, .end_ns = begin_ns + dur_ns, .kind = kind};
}

static void slow_data_loading_is_listed_when_enabled(void **state)
{
	(void)state;
	add_steps(40, 1000, 0);
	for (size_t i = 0; i < 40; i++) {
		int64_t dur_ms = i == 25 ? 300 : i == 30 ? 40 : 10 + (int64_t)(i % 3);
		add_stage(FSL_STAGE_DATALOADER, fixture.items[i].begin_ns, dur_ms * MS);
	}
	perceive();
	assert_int_equal(fixture.out.n_slow_dataloader, 0);
	fixture.config.enable_dataloader = true;
	perceive();
	/* 40 ms instead of 11 is long, but costs a step of a second nothing. */
	assert_int_equal(fixture.out.n_slow_dataloader, 1);
	assert_int_equal(fixture.out.slow_dataloader[0].step, 125);
	assert_near(fixture.out.slow_dataloader[0].step_ms, 300, 1e-9);
	assert_near(fixture.out.slow_dataloader[0].normal_ms, 11, 1e-9);
}

static void data_loading_that_stays_slow_is_listed_throughout(void **state)
{
	(void)state;
	add_steps(60, 1000, 0);
	for (size_t i = 0; i < 60; i++) {
		add_stage(FSL_STAGE_DATALOADER, fixture.items[i].begin_ns,
			  (i < 30 ? 10 : 200) * MS);
	}
	fixture.config.enable_dataloader = true;
	perceive();
	assert_int_equal(fixture.out.n_slow_dataloader, 30);
}

static void slow_checkpoint_is_listed_when_enabled(void **state)
{
	(void)state;
	add_steps(80, 1000, 0);
	for (size_t i = 5; i < 80; i += 10) {
		add_stage(FSL_STAGE_CKPT, fixture.items[i].begin_ns, (i == 65 ? 800 : 300) * MS);
	}
	perceive();
	assert_int_equal(fixture.out.n_slow_ckpt, 0);
	fixture.config.enable_ckpt = true;
	perceive();
	assert_int_equal(fixture.out.n_slow_ckpt, 1);
	assert_int_equal(fixture.out.slow_ckpt[0].step, 165);
	assert_near(fixture.out.slow_ckpt[0].degree, 800.0 / 300.0 - 1.0, 1e-9);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	static const int64_t last_ms[] = {9000, 9010, 7900, 9020};
	fixture.config.enable_dataloader = true;
	fixture.config.enable_ckpt = true;
	add_steps(30, 1000, 0.01);
	add_steps(12, 1500, 0.01);
	fixture.items[20].ckpt_ns = 500 * MS;
	fixture.items[20].dur_ns += 500 * MS;
	add_ranks(last_ms, 4);
	for (size_t i = 0; i < 40; i++) {
		add_stage(FSL_STAGE_DATALOADER, fixture.items[i].begin_ns,
			  (i == 39 ? 900 : 10) * MS);
		add_stage(FSL_STAGE_CKPT, fixture.items[i].begin_ns, (i == 39 ? 900 : 10) * MS);
	}
	fixture.config.now_ns = T0 + 60 * MINUTE;
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 1;
	for (; status != FSL_OK; nth++) {
		assert_int_equal(status, FSL_ERR_MEMORY);
		fsl_perception_fini(&fixture.out);
		fsl_mem_fail_at(nth);
		status = perceive_steps(NULL);
		fsl_mem_fail_at(0);
	}
	assert_true(nth > 15);
	check_kind(FSL_VERDICT_HANG, "hang");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(steady_steps_are_normal),
		CASE(heavy_noise_alone_is_normal),
		CASE(noise_that_comes_in_waves_is_normal),
		CASE(slow_drift_below_the_threshold_is_normal),
		CASE(lasting_rise_is_reported_for_its_whole_length),
		CASE(rise_of_half_the_threshold_is_found_and_less_is_not),
		CASE(recovered_rise_says_until_when),
		CASE(second_rise_on_top_of_the_first_is_told_apart),
		CASE(spike_does_not_shift_the_onset),
		CASE(single_long_step_is_no_fail_slow),
		CASE(short_rise_of_four_steps_is_found_by_k_sigma),
		CASE(two_long_steps_in_a_row_are_no_fail_slow),
		CASE(repeated_short_rises_are_all_listed),
		CASE(rise_in_the_newest_three_steps_is_found),
		CASE(drop_is_no_alarm),
		CASE(return_from_a_fast_phase_is_no_alarm),
		CASE(warm_up_steps_are_not_looked_at),
		CASE(only_the_latest_steps_are_looked_at),
		CASE(too_few_steps_are_insufficient_evidence),
		CASE(no_steps_are_insufficient_evidence),
		CASE(checkpoints_explain_long_steps),
		CASE(step_behind_a_checkpoint_waits_for_ranks_that_still_save),
		CASE(rise_that_begins_with_a_checkpoint_is_not_explained),
		CASE(checkpoint_behind_other_work_explains_nothing),
		CASE(gc_explains_a_long_step),
		CASE(times_are_those_of_the_reference),
		CASE(systrace_mode_gives_the_alarms_of_the_reference),
		CASE(silence_above_the_limit_is_a_hang),
		CASE(silence_below_the_limit_is_told_while_ranks_wait),
		CASE(silence_of_a_few_long_steps_is_not_told),
		CASE(ranks_whose_records_are_whole_did_not_stop_first),
		CASE(silence_since_yesterday_is_the_end_of_the_job),
		CASE(one_live_rank_means_no_hang),
		CASE(detector_that_is_switched_off_is_noted),
		CASE(clock_that_runs_ahead_is_no_hang),
		CASE(hang_is_seen_without_steps),
		CASE(hang_after_a_slowdown_says_both),
		CASE(rank_that_the_others_wait_for_stopped_first),
		CASE(ranks_that_wait_elsewhere_are_victims),
		CASE(open_operator_of_one_rank_does_not_accuse_all_others),
		CASE(rank_whose_events_end_earlier_stopped_first),
		CASE(slow_data_loading_is_listed_when_enabled),
		CASE(data_loading_that_stays_slow_is_listed_throughout),
		CASE(slow_checkpoint_is_listed_when_enabled),
		CASE(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
