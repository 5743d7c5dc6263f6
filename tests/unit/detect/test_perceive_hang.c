/* Perception of silence: hangs, the ranks that stopped first, jobs that ended. */
#include "perceive_fixture.h"

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

/* The log of rank 0 tells the end; others leave events for @more_ms afterwards. */
static void finish(int64_t more_ms)
{
	const int64_t last_ms[] = {58000, 58000 + more_ms};
	add_steps(59, 977, 0.005);
	add_ranks(last_ms, 2);
	static struct fsl_step_time last = {.step = 59, .is_logged = 1, .dur_ns = 977 * MS};
	last.begin_ns = T0 + 57000 * MS;
	struct fsl_rank *rank = fsl_run_add_rank(&fixture.run, 0, &fixture.err);
	assert_int_equal(FSL_APPEND(rank, steps, &last, &fixture.err), FSL_OK);
	rank->finished_ns = last.begin_ns + last.dur_ns;
	fixture.config.now_ns = T0 + (58000 + more_ms) * MS + 60 * MINUTE;
	perceive();
}

static void a_job_that_finished_by_its_log_does_not_hang(void **state)
{
	(void)state;
	finish(10);
	check_kind(FSL_VERDICT_NORMAL, "normal");
	assert_true(fixture.out.is_over);
	assert_non_null(strstr(fixture.out.reason, "finished, by its log"));
}

static void what_goes_on_long_after_the_end_of_a_log_is_another_job(void **state)
{
	(void)state;
	finish(31 * 60 * 1000);
	check_kind(FSL_VERDICT_HANG, "hang");
	assert_false(fixture.out.is_over);
}

static void a_log_that_goes_on_behind_an_end_has_not_finished(void **state)
{
	(void)state;
	finish(10);
	fsl_run_add_rank(&fixture.run, 0, &fixture.err)->finished_ns -= MS;
	perceive();
	check_kind(FSL_VERDICT_HANG, "hang");
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

/* Uses of "world" that ended on each rank; all of them wait in a later one. */
static void a_rank_that_launched_ahead_and_ended_fewer_operators_stopped_first(void **state)
{
	(void)state;
	static const int n_ended[][4] = {{5, 3, 5, 5}, {7, 7, 7, 6}, {4, 4, 4, 4}};
	static const int32_t stopped[] = {1, 3, -1};
	static const int64_t last_ms[] = {9000, 9000, 9000, 9000};
	add_ranks(last_ms, 4);
	fixture.config.now_ns = T0 + 60 * MINUTE;
	for (size_t i = 0; i < 3; i++) {
		for (int32_t r = 0; r < 4; r++) {
			fixture.run.ranks[r].n_ops = 0;
			for (int k = 0; k < n_ended[i][r]; k++) {
				add_use(r, "world", true);
			}
			/* The next one was launched and has not ended. */
			add_use(r, "world", true);
			fixture.run.ranks[r].ops[n_ended[i][r]].dev_begin_ns = FSL_NS_ABSENT;
		}
		perceive();
		assert_int_equal(fixture.out.n_stopped_first, stopped[i] >= 0);
		assert_true(stopped[i] < 0 || fixture.out.stopped_first[0] == stopped[i]);
	}
}

/* Each rank waits in a communicator of its own pair; those of the last pair ended unlike numbers.
 */
static void pairs_are_compared_each_with_itself(void **state)
{
	(void)state;
	static const int n_ended[] = {9, 9, 4, 4, 7, 2};
	static const int64_t last_ms[] = {9000, 9000, 9000, 9000, 9000, 9000};
	static const char *const pairs[] = {"a", "b", "c"};
	add_ranks(last_ms, 6);
	fixture.config.now_ns = T0 + 60 * MINUTE;
	for (int32_t r = 0; r < 6; r++) {
		for (int k = 0; k <= n_ended[r]; k++) {
			add_use(r, pairs[r / 2], true);
		}
		fixture.run.ranks[r].ops[n_ended[r]].dev_begin_ns = FSL_NS_ABSENT;
	}
	perceive();
	assert_int_equal(fixture.out.n_stopped_first, 1);
	assert_int_equal(fixture.out.stopped_first[0], 5);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(silence_above_the_limit_is_a_hang),
		CASE(pairs_are_compared_each_with_itself),
		CASE(silence_below_the_limit_is_told_while_ranks_wait),
		CASE(silence_of_a_few_long_steps_is_not_told),
		CASE(ranks_whose_records_are_whole_did_not_stop_first),
		CASE(silence_since_yesterday_is_the_end_of_the_job),
		CASE(a_job_that_finished_by_its_log_does_not_hang),
		CASE(what_goes_on_long_after_the_end_of_a_log_is_another_job),
		CASE(a_log_that_goes_on_behind_an_end_has_not_finished),
		CASE(one_live_rank_means_no_hang),
		CASE(detector_that_is_switched_off_is_noted),
		CASE(clock_that_runs_ahead_is_no_hang),
		CASE(hang_is_seen_without_steps),
		CASE(hang_after_a_slowdown_says_both),
		CASE(rank_that_the_others_wait_for_stopped_first),
		CASE(ranks_that_wait_elsewhere_are_victims),
		CASE(open_operator_of_one_rank_does_not_accuse_all_others),
		CASE(a_rank_that_launched_ahead_and_ended_fewer_operators_stopped_first),
		CASE(rank_whose_events_end_earlier_stopped_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
