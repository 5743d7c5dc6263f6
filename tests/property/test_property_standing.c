/* Own past besides peers: whole stages, halves and hosts that slow down; devices that differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge.h"

static struct known_job job_of(int32_t tp, int32_t dp, int32_t pp)
{
	struct known_job job;
	known_job_init(&job);
	job.params.tp = tp;
	job.params.dp = dp;
	job.params.pp = pp;
	job.params.steps = 80;
	return job;
}

/* Culprits @first to @last compute 1.3 times as long from @onset_step on. */
static void slow_down(struct known_job *job, int32_t first, int32_t last, int32_t onset_step)
{
	job->fault = FSL_SIM_COMPUTE;
	job->onset_step = onset_step;
	for (int32_t rank = first; rank <= last; rank++) {
		job->culprits[job->n_culprits++] = rank;
	}
}

/* The job, judged; fails unless the kind and the culprits are right. */
static void check(const struct known_job *job, const char *kind)
{
	struct judgement judgement;
	judge(&judgement, job, 2);
	assert_string_equal(judgement.kind, kind);
	assert_int_equal(judgement.n_culprits, job->n_culprits);
	for (int i = 0; i < judgement.n_culprits; i++) {
		assert_int_equal(judgement.culprits[i], job->culprits[i]);
		assert_string_equal(judgement.causes[i], "compute");
	}
}

static void a_stage_that_slows_down_as_a_whole_is_named(void **state)
{
	(void)state;
	struct known_job job = job_of(4, 1, 2);
	job.params.ranks_per_host = 4;
	slow_down(&job, 4, 7, 30);
	check(&job, "slow_host");
	job = job_of(1, 1, 4);
	slow_down(&job, 2, 2, 30);
	check(&job, "slow_rank");
}

static void a_group_that_slows_down_as_a_whole_is_named(void **state)
{
	(void)state;
	struct known_job job = job_of(4, 2, 1);
	job.params.ranks_per_host = 4;
	slow_down(&job, 4, 7, 0);
	check(&job, "slow_host");
	job.onset_step = 30;
	check(&job, "slow_host");
}

static void half_of_a_group_is_named_and_not_the_healthy_half(void **state)
{
	(void)state;
	struct known_job job = job_of(8, 1, 1);
	slow_down(&job, 0, 3, 0);
	check(&job, "slow_rank");
}

static void where_all_ranks_slow_down_nobody_is_named(void **state)
{
	(void)state;
	static const int32_t shapes[][3] = {{8, 1, 1}, {4, 1, 2}, {1, 1, 4}};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct known_job job = job_of(shapes[i][0], shapes[i][1], shapes[i][2]);
		job.fault = FSL_SIM_JOB_SLOW;
		job.onset_step = 30;
		check(&job, "job_slowdown");
	}
}

static void noisy_long_segments_hide_nobody(void **state)
{
	(void)state;
	struct known_job job = job_of(8, 1, 1);
	job.params.step_ms = 1920.0;
	job.params.noise_share = 0.02;
	job.factor = 1.2;
	slow_down(&job, 3, 3, 0);
	check(&job, "slow_rank");
}

static void groups_of_two_name_the_slow_one(void **state)
{
	(void)state;
	struct known_job job = job_of(2, 4, 1);
	check(&job, "normal");
	job.params.steps = 130;
	slow_down(&job, 2, 2, 100);
	check(&job, "slow_rank");
}

static void healthy_devices_that_differ_name_nobody(void **state)
{
	(void)state;
	static const int32_t shapes[][3] = {{8, 1, 1}, {4, 2, 1}, {2, 4, 1}, {2, 2, 2}, {2, 2, 4}};
	for (uint64_t seed = 0; seed < 30; seed++) {
		const int32_t *shape = shapes[seed % 5];
		struct known_job job = job_of(shape[0], shape[1], shape[2]);
		job.params.seed = seed;
		job.params.hetero_share = 0.02 + 0.01 * (double)(seed % 3);
		job.params.noise_share = seed % 2 == 0 ? 0.01 : 0.05;
		job.params.drop_share = seed % 4 == 0 ? 0.01 : 0.0;
		check(&job, "normal");
	}
}

static void a_change_is_found_among_devices_that_differ(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct known_job job = job_of(4, 2, 1);
		job.params.seed = seed;
		job.params.hetero_share = 0.02;
		job.params.noise_share = 0.02;
		job.factor = 1.15; /* costs the job 4 % at least */
		slow_down(&job, (int32_t)seed, (int32_t)seed, 30);
		check(&job, "slow_rank");
	}
}

/* A series of which half is slow: the middle of an even number lies between both levels. */
static void a_change_in_the_very_middle_is_named(void **state)
{
	(void)state;
	static const struct {
		int32_t tp, dp, pp, steps, slow_rank;
		double factor;
	} table[] = {{2, 1, 1, 16, 1, 2.0},
		     {1, 2, 3, 12, 4, 1.8},
		     {2, 1, 1, 40, 1, 1.3},
		     {1, 1, 3, 40, 1, 1.3},
		     {1, 2, 2, 50, 2, 1.3}};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct known_job job = job_of(table[i].tp, table[i].dp, table[i].pp);
		job.params.steps = table[i].steps;
		job.factor = table[i].factor;
		slow_down(&job, table[i].slow_rank, table[i].slow_rank, table[i].steps / 2);
		check(&job, "slow_rank");
	}
}

static void an_early_change_of_a_rank_without_peers_is_named(void **state)
{
	(void)state;
	static const struct {
		int32_t pp, onset_step;
	} table[] = {{2, 10}, {3, 20}, {4, 20}, {8, 20}};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct known_job job = job_of(1, 1, table[i].pp);
		job.params.steps = 100;
		job.factor = 1.5;
		slow_down(&job, 1, 1, table[i].onset_step);
		check(&job, "slow_rank");
	}
}

static void an_early_change_of_the_only_link_is_named(void **state)
{
	(void)state;
	struct known_job job = job_of(1, 1, 2);
	job.params.steps = 100;
	job.fault = FSL_SIM_LINK;
	job.onset_step = 20;
	job.extra_ms = 200.0;
	job.culprits[job.n_culprits++] = 0;
	job.culprits[job.n_culprits++] = 1;
	struct judgement judgement;
	judge(&judgement, &job, 2);
	assert_right_verdict(&judgement, &job);
}

/* So few steps before or behind it could be pauses in a row; check() looks at the cause. */
static void a_change_near_either_end_has_its_cause(void **state)
{
	(void)state;
	static const struct {
		int32_t tp, dp, steps, onset_step;
		double factor;
	} table[] = {{3, 1, 60, 3, 1.3}, {4, 2, 40, 36, 1.5}, {4, 2, 8, 4, 1.5}};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct known_job job = job_of(table[i].tp, table[i].dp, 1);
		job.params.steps = table[i].steps;
		job.factor = table[i].factor;
		slow_down(&job, 1, 1, table[i].onset_step);
		check(&job, "slow_rank");
	}
}

/* With two peers, the excess of one is the other's lead. */
static void frequent_pauses_of_one_of_two_peers_are_named(void **state)
{
	(void)state;
	static const int32_t shapes[][3] = {{1, 2, 1}, {2, 1, 1}, {1, 2, 2}};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct judgement judgement;
		struct known_job job = job_of(shapes[i][0], shapes[i][1], shapes[i][2]);
		job.fault = FSL_SIM_GC;
		job.factor = 0.2;
		job.extra_ms = 4000.0;
		job.culprits[job.n_culprits++] = 1;
		judge(&judgement, &job, 2);
		assert_string_equal(judgement.kind, "slow_rank");
		assert_int_equal(judgement.n_culprits, 1);
		assert_int_equal(judgement.culprits[0], 1);
		assert_string_equal(judgement.causes[0], "host");
	}
}

static void work_that_moves_between_two_peers_names_neither(void **state)
{
	(void)state;
	struct known_job job = job_of(1, 2, 1);
	job.params.sequence_share = 0.2;
	struct judgement judgement;
	judge(&judgement, &job, 2);
	assert_int_equal(judgement.n_culprits, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stage_that_slows_down_as_a_whole_is_named),
		cmocka_unit_test(a_group_that_slows_down_as_a_whole_is_named),
		cmocka_unit_test(half_of_a_group_is_named_and_not_the_healthy_half),
		cmocka_unit_test(where_all_ranks_slow_down_nobody_is_named),
		cmocka_unit_test(noisy_long_segments_hide_nobody),
		cmocka_unit_test(groups_of_two_name_the_slow_one),
		cmocka_unit_test(healthy_devices_that_differ_name_nobody),
		cmocka_unit_test(a_change_is_found_among_devices_that_differ),
		cmocka_unit_test(a_change_in_the_very_middle_is_named),
		cmocka_unit_test(an_early_change_of_a_rank_without_peers_is_named),
		cmocka_unit_test(an_early_change_of_the_only_link_is_named),
		cmocka_unit_test(a_change_near_either_end_has_its_cause),
		cmocka_unit_test(frequent_pauses_of_one_of_two_peers_are_named),
		cmocka_unit_test(work_that_moves_between_two_peers_names_neither),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
