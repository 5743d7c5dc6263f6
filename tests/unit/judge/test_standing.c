/* Standing of ranks: findings of detectors in collectives, pooled per rank. */
#include "unit/ascend/small_capture.h"

#include <omp.h>

#include "judge/standing.h"

/* A collective of all ranks, number @i: each comes come_ms[r] after the first could. */
static void add_collective(struct small_capture *small, int i, const double *come_ms,
			   double transfer_ms)
{
	char name[64];
	double last_ms = 0.0;
	(void)snprintf(name, sizeof(name), "hcom_allReduce__586_%d_1", i);
	for (size_t r = 0; r < small->profile.n_ranks; r++) {
		last_ms = fmax(last_ms, come_ms[r]);
	}
	for (size_t r = 0; r < small->profile.n_ranks; r++) {
		small_comm(small, r, 0, name, "586", 100.0 * i + come_ms[r],
			   last_ms - come_ms[r] + transfer_ms);
	}
}

static void stand(struct fsl_profile_standings *standings, const struct small_capture *small)
{
	struct fsl_profile_meetings meetings;
	assert_int_equal(fsl_profile_meet(&meetings, &small->profile, &small->cluster, NULL),
			 FSL_OK);
	assert_int_equal(
		fsl_profile_stand(standings, &small->profile, &small->cluster, &meetings, NULL),
		FSL_OK);
	fsl_profile_meetings_fini(&meetings);
}

static void the_last_of_each_collective_is_counted_with_its_lateness(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_standings standings;
	small_begin(&small, 3);
	add_collective(&small, 0, (const double[]){0.0, 2.0, 7.0}, 0.5);
	add_collective(&small, 1, (const double[]){0.0, 3.0, 1.0}, 0.5);
	add_collective(&small, 2, (const double[]){1.0, 0.0, 6.0}, 4.0); /* moves data */
	stand(&standings, &small);
	const struct fsl_profile_standing *own = standings.items;
	assert_int_equal(own[0].n_met, 3);
	assert_int_equal(own[0].n_last, 0);
	assert_true(own[0].p_last >= 1.0);
	assert_int_equal(own[1].n_last, 1);
	assert_int_equal(own[1].n_last_signals, 1);
	assert_near(own[1].late_signal_ms, 3.0, 1e-9);
	assert_int_equal(own[2].n_last, 2);
	assert_int_equal(own[2].n_last_signals, 1);
	assert_near(own[2].late_signal_ms, 7.0, 1e-9);
	assert_near(own[2].late_transfer_ms, 6.0, 1e-9);
	/* Two or three of three, each with a chance of a third; three ranks are looked at. */
	assert_near(own[2].p_last, 3.0 * 7.0 / 27.0, 1e-12);
	assert_int_equal(own[2].n_votes, 0); /* three have no outliers */
	fsl_profile_standings_fini(&standings);
	small_end(&small);
}

static void two_that_come_together_count_for_nobody(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_standings standings;
	small_begin(&small, 3);
	add_collective(&small, 0, (const double[]){0.0, 5.0, 5.000999}, 0.5);
	add_collective(&small, 1, (const double[]){0.0, 5.0, 5.001}, 0.5);
	stand(&standings, &small);
	assert_int_equal(standings.items[2].n_met, 1);
	assert_int_equal(standings.items[2].n_last, 1);
	assert_near(standings.items[2].late_signal_ms, 5.001, 1e-9);
	fsl_profile_standings_fini(&standings);
	small_end(&small);
}

static void an_outlier_gets_a_vote_of_each_collective(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_standings standings;
	small_begin(&small, 6);
	for (int i = 0; i < 5; i++) {
		double come_ms[] = {0.1, 0.0, 0.05, 0.0, 0.02, 0.1};
		come_ms[4] += i < 3 ? 8.0 : 0.0;
		add_collective(&small, i, come_ms, 0.5);
	}
	stand(&standings, &small);
	assert_int_equal(standings.items[4].n_votes, 3);
	assert_true(standings.items[4].p_votes < 1e-4);
	assert_int_equal(standings.items[4].n_last, 3);
	for (size_t r = 0; r < 6; r++) {
		assert_int_equal(standings.items[r].n_votes, r == 4 ? 3 : 0);
		/* In two collectives the last two come together. */
		assert_int_equal(standings.items[r].n_met, 3);
	}
	fsl_profile_standings_fini(&standings);
	small_end(&small);
}

static void ranks_of_another_stage_are_no_peers(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_standings standings;
	small_begin(&small, 4);
	small_stages(&small, 2);
	add_collective(&small, 0, (const double[]){0.0, 1.0, 20.0, 22.0}, 0.5);
	add_collective(&small, 1, (const double[]){0.0, 1.0, 20.0, 20.0}, 0.5);
	stand(&standings, &small);
	const struct fsl_profile_standing *own = standings.items;
	assert_int_equal(own[0].n_peers, 2);
	assert_int_equal(own[0].n_met, 2);
	assert_int_equal(own[1].n_last, 2); /* of its stage */
	assert_int_equal(own[2].n_met, 1);
	assert_int_equal(own[3].n_last, 1);
	/* Whoever came first of all waits. */
	assert_near(own[3].late_signal_ms, 22.0, 1e-9);
	assert_near(own[1].late_transfer_ms, 2.0, 1e-9);
	/* The part of that time for which its own stage waits. */
	assert_near(own[3].late_to_peers_ms, 2.0, 1e-9);
	assert_near(own[1].late_to_peers_ms, 2.0, 1e-9);
	fsl_profile_standings_fini(&standings);
	small_end(&small);
}

/* Two steps of two collectives each; rank 1 captured the first alone. */
static void lateness_is_per_step_that_all_captured(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_standings standings;
	small_begin(&small, 3);
	for (size_t r = 0; r < 3; r++) {
		for (int i = 0; i < (r == 1 ? 2 : 4); i++) {
			char name[64];
			(void)snprintf(name, sizeof(name), "hcom_allReduce__586_%d_1", i);
			double come_ms = r == 2 ? 5.0 : 0.1 * (double)r;
			small_comm(&small, r, i / 2, name, "586", 100.0 * i + come_ms,
				   5.5 - come_ms);
		}
	}
	stand(&standings, &small);
	assert_int_equal(standings.items[2].n_last, 2);
	assert_near(standings.items[2].late_signal_ms, 10.0, 1e-9);
	assert_near(standings.items[2].late_to_peers_ms, 10.0, 1e-9);
	fsl_profile_standings_fini(&standings);
	small_end(&small);
}

static void a_member_that_is_missing_was_not_met(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_standings standings;
	small_begin(&small, 3);
	/* Ranks number their operators apart, so that one may lack some; they meet by time. */
	static const double begin_ms[] = {0.0, 13.0, 21.0, 40.0, 48.0, 70.0};
	for (int i = 0; i < 6; i++) {
		for (int r = i == 0 ? 1 : 0; r < 3; r++) {
			char name[64];
			(void)snprintf(name, sizeof(name), "hcom_allGather__100_%d_1", i + 10 * r);
			small_comm(&small, (size_t)r, 1, name, "100", begin_ms[i] + 0.1 * r,
				   1.0 - 0.1 * r);
		}
	}
	stand(&standings, &small);
	assert_int_equal(standings.items[0].n_met, 5);
	assert_int_equal(standings.items[2].n_met, 6);
	assert_int_equal(standings.items[2].n_last, 6);
	fsl_profile_standings_fini(&standings);
	small_end(&small);
}

static void long_computing_among_peers_stands_out(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_standings standings;
	small_begin(&small, 6);
	for (size_t r = 0; r < 6; r++) {
		small_step(&small, r, 0, 400.0 + (double)r + (r == 2 ? 40.0 : 0.0), 50.0, 50.0);
	}
	stand(&standings, &small);
	for (size_t r = 0; r < 6; r++) {
		assert_int_equal(standings.items[r].is_computing_outlier, r == 2);
		assert_int_equal(standings.items[r].n_met, 0);
	}
	assert_near(standings.items[2].computing_more_ms, 38.5, 1e-9);
	fsl_profile_standings_fini(&standings);
	small_end(&small);
}

static void much_free_time_among_peers_stands_out(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_standings standings;
	small_begin(&small, 6);
	for (size_t r = 0; r < 6; r++) {
		small_step(&small, r, 0, 400.0, 50.0, 50.0 + (double)r + (r == 2 ? 40.0 : 0.0));
	}
	stand(&standings, &small);
	for (size_t r = 0; r < 6; r++) {
		assert_int_equal(standings.items[r].is_free_outlier, r == 2);
		assert_false(standings.items[r].is_computing_outlier);
	}
	assert_near(standings.items[2].free_more_ms, 38.5, 1e-9);
	fsl_profile_standings_fini(&standings);
	small_end(&small);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_meetings meetings;
	enum fsl_status status = FSL_ERR_MEMORY;
	small_begin(&small, 8);
	small_stages(&small, 2);
	add_collective(&small, 0, (const double[]){0.0, 1.0, 0.1, 0.2, 20.0, 22.0, 20.1, 20.2},
		       0.5);
	assert_int_equal(fsl_profile_meet(&meetings, &small.profile, &small.cluster, NULL), FSL_OK);
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		struct fsl_profile_standings standings;
		struct fsl_error err = {0};
		fsl_mem_fail_at(nth);
		status = fsl_profile_stand(&standings, &small.profile, &small.cluster, &meetings,
					   &err);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_true(status == FSL_OK || standings.n == 0);
		assert_true(status != FSL_OK || standings.items[5].n_last == 1);
		assert_true(nth < 1000);
		fsl_profile_standings_fini(&standings);
	}
	fsl_profile_meetings_fini(&meetings);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_of_each_collective_is_counted_with_its_lateness),
		cmocka_unit_test(two_that_come_together_count_for_nobody),
		cmocka_unit_test(an_outlier_gets_a_vote_of_each_collective),
		cmocka_unit_test(ranks_of_another_stage_are_no_peers),
		cmocka_unit_test(lateness_is_per_step_that_all_captured),
		cmocka_unit_test(a_member_that_is_missing_was_not_met),
		cmocka_unit_test(long_computing_among_peers_stands_out),
		cmocka_unit_test(much_free_time_among_peers_stands_out),
		cmocka_unit_test(memory_errors_are_reported),
	};
	omp_set_num_threads(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
