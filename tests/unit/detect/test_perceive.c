/* Perception of slow steps, data loading and checkpoints. */
#include "perceive_fixture.h"

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

static void rise_of_a_quarter_of_the_threshold_is_found_and_less_is_not(void **state)
{
	(void)state;
	add_steps(60, 1000, 0.005);
	add_steps(30, 1065, 0.005);
	perceive();
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.episodes[0].onset_step, 160);
	fixture.steps.n_items = 60;
	add_steps(30, 1040, 0.005);
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

/* Each in a step of its own, behind two others. */
static void add_saves(size_t n, int64_t save_ms)
{
	for (size_t i = 0; i < n; i++) {
		add_steps(2, 1000, 0.01);
		add_steps(1, 1000.0 + (double)save_ms, 0.01);
		fixture.items[fixture.steps.n_items - 1].ckpt_ns = save_ms * MS;
	}
}

static void check_saves_episode(int64_t onset_step, int64_t until_step)
{
	check_kind(FSL_VERDICT_JOB_SLOWDOWN, "failSlow");
	assert_int_equal(fixture.out.n_episodes, 1);
	assert_true(fixture.out.episodes[0].is_of_saves);
	assert_int_equal(fixture.out.episodes[0].onset_step, onset_step);
	assert_int_equal(fixture.out.episodes[0].until_step, until_step);
}

static void checkpoints_that_stay_long_slow_the_job(void **state)
{
	(void)state;
	add_saves(10, 1000);
	add_saves(10, 3000);
	perceive();
	check_saves_episode(132, -1);
	assert_near(fixture.out.episodes[0].before_ms, 1333.0, 40.0);
	assert_near(fixture.out.episodes[0].after_ms, 2000.0, 80.0);
}

static void checkpoints_that_were_long_for_a_while_slowed_the_job(void **state)
{
	(void)state;
	add_saves(10, 1000);
	add_saves(8, 3000);
	add_saves(10, 1000);
	perceive();
	check_saves_episode(132, 156);
	assert_near(fixture.out.episodes[0].before_ms, 1333.0, 40.0);
	assert_near(fixture.out.episodes[0].after_ms, 2000.0, 80.0);
	assert_non_null(strstr(fixture.out.reason, "took longer from step 132 to step 155: "));
}

static void few_long_checkpoints_between_others_are_no_slowdown(void **state)
{
	(void)state;
	add_saves(10, 1000);
	add_saves(2, 3000);
	add_saves(10, 1000);
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
}

static void the_latest_512_checkpoints_are_compared(void **state)
{
	(void)state;
	fixture.config.max_data_queue_steps = STEPS_MAX;
	add_saves(100, 1000);
	add_saves(500, 3000);
	perceive();
	check_saves_episode(402, -1);
	fixture.steps.n_items = 0;
	add_saves(50, 1000);
	add_saves(550, 3000); /* nothing else is in sight */
	perceive();
	check_kind(FSL_VERDICT_NORMAL, "normal");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(steady_steps_are_normal),
		CASE(heavy_noise_alone_is_normal),
		CASE(noise_that_comes_in_waves_is_normal),
		CASE(slow_drift_below_the_threshold_is_normal),
		CASE(lasting_rise_is_reported_for_its_whole_length),
		CASE(rise_of_a_quarter_of_the_threshold_is_found_and_less_is_not),
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
		CASE(checkpoints_that_stay_long_slow_the_job),
		CASE(checkpoints_that_were_long_for_a_while_slowed_the_job),
		CASE(few_long_checkpoints_between_others_are_no_slowdown),
		CASE(the_latest_512_checkpoints_are_compared),
		CASE(checkpoint_behind_other_work_explains_nothing),
		CASE(gc_explains_a_long_step),
		CASE(times_are_those_of_the_reference),
		CASE(systrace_mode_gives_the_alarms_of_the_reference),
		CASE(slow_data_loading_is_listed_when_enabled),
		CASE(data_loading_that_stays_slow_is_listed_throughout),
		CASE(slow_checkpoint_is_listed_when_enabled),
		CASE(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
