/* Claims about operators that are put back. */
#include <math.h>
#include <stdlib.h>

#include "support/small_job.h"

#include "match/match.h"
#include "match/own.h"
#include "match/restore.h"

enum { RANKS = 4, STEPS = 20, LOST = 42, LOSER = 2 }; /* operator LOST is in step 10 */

struct bench {
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	struct fsl_op lost; /* as it was recorded */
	size_t n_restored;
};

static void make_job(struct bench *b)
{
	*b = (struct bench){0};
	small_job_init(&b->job, RANKS, STEPS);
	b->job.clock_ns[LOSER] = 7 * FSL_NS_PER_MS;
}

/* Removes operator @k of rank @r; returns it. */
static struct fsl_op drop_op(struct small_job *job, size_t r, size_t k)
{
	struct fsl_rank *rank = &job->run.ranks[r];
	struct fsl_op op = rank->ops[k];
	memmove(&rank->ops[k], &rank->ops[k + 1], (rank->n_ops - k - 1) * sizeof(*rank->ops));
	rank->n_ops--;
	return op;
}

static void add_remnant(struct small_job *job, size_t r, struct fsl_op op)
{
	struct fsl_rank *rank = &job->run.ranks[r];
	assert_int_equal(
		FSL_GROW(rank->remnants, rank->remnants_capacity, rank->n_remnants + 1, NULL),
		FSL_OK);
	rank->remnants[rank->n_remnants++] = op;
}

static void match_job(struct bench *b)
{
	assert_int_equal(fsl_match_build(&b->match, &b->job.run, &b->job.topology, NULL), FSL_OK);
}

static void restore(struct bench *b)
{
	match_job(b);
	assert_int_equal(
		fsl_restore_lost(&b->job.run, &b->match, &b->job.steps, &b->n_restored, NULL),
		FSL_OK);
}

static void release(struct bench *b)
{
	fsl_cuts_fini(&b->cuts);
	fsl_match_fini(&b->match);
	small_job_fini(&b->job);
}

/* The operator put back in place of the lost one, known to its channel. */
static const struct fsl_op *restored(const struct bench *b)
{
	const struct fsl_op *op = &b->job.run.ranks[LOSER].ops[LOST];
	assert_int_equal(op->id, FSL_OP_ID_RESTORED);
	assert_int_equal(b->match.channels[0].op_idx[LOST * RANKS + LOSER], LOST);
	return op;
}

static void assert_near_ms(int64_t ns, int64_t expected_ns, double tolerance_ms)
{
	assert_true(fabs((double)(ns - expected_ns) / FSL_NS_PER_MS) <= tolerance_ms);
}

static void a_lost_operator_ends_with_the_others_behind_the_usual_work(void **state)
{
	(void)state;
	struct bench b;
	make_job(&b);
	b.job.body_ms[1] = 100.0; /* rank 1 comes last, the loser waits */
	small_job_run(&b.job);
	b.lost = drop_op(&b.job, LOSER, LOST);
	restore(&b);
	assert_int_equal(b.n_restored, 1);
	const struct fsl_op *op = restored(&b);
	assert_int_equal(op->op_id, b.lost.op_id);
	assert_int_equal(op->group_id, b.lost.group_id);
	assert_int_equal(op->host_begin_ns, FSL_NS_ABSENT);
	assert_int_equal(op->dev_end_ns, b.lost.dev_end_ns);
	assert_near_ms(op->dev_begin_ns, b.lost.dev_begin_ns, 0.3);
	for (size_t i = 0; i < b.match.channels[0].n_instances; i++) {
		assert_int_equal(b.match.channels[0].op_idx[i * RANKS + LOSER], i);
	}
	release(&b);
}

static void a_rank_that_all_others_waited_for_began_when_their_wait_ended(void **state)
{
	(void)state;
	struct bench b;
	make_job(&b);
	b.job.body_ms[LOSER] = 80.0;
	b.job.onset = LOST / SMALL_JOB_OPS_PER_STEP;
	b.job.until = b.job.onset + 1;
	small_job_run(&b.job);
	b.lost = drop_op(&b.job, LOSER, LOST);
	restore(&b);
	assert_near_ms(restored(&b)->dev_begin_ns, b.lost.dev_begin_ns, 0.3);
	release(&b);
}

/* The rank is slow in every step; of no step beside the record of the same place is whole. */
static void a_slow_rank_stays_slow_where_every_instance_lost_a_record(void **state)
{
	(void)state;
	enum { AWAY_STEPS = 4 };
	struct bench b;
	make_job(&b);
	b.job.body_ms[LOSER] = 80.0;
	small_job_run(&b.job);
	b.lost = drop_op(&b.job, LOSER, LOST);
	for (int away = AWAY_STEPS; away >= -AWAY_STEPS; away--) {
		if (away != 0) {
			drop_op(&b.job, 0, (size_t)(LOST + away * SMALL_JOB_OPS_PER_STEP));
		}
	}
	restore(&b);
	assert_int_equal(b.n_restored, 1 + 2 * AWAY_STEPS);
	assert_near_ms(restored(&b)->dev_begin_ns, b.lost.dev_begin_ns, 0.3);
	release(&b);
}

static void what_is_left_of_a_record_tells_its_begin(void **state)
{
	(void)state;
	for (int form = 0; form < 2; form++) { /* end lost; name lost */
		struct bench b;
		make_job(&b);
		b.job.body_ms[1] = 100.0;
		small_job_run(&b.job);
		struct fsl_op *op = &b.job.run.ranks[LOSER].ops[LOST];
		op->dev_begin_ns += 30 * FSL_NS_PER_MS; /* a long piece of work, unlike others */
		b.lost = drop_op(&b.job, LOSER, LOST);
		struct fsl_op left = b.lost;
		if (form == 0) {
			left.dev_end_ns = FSL_NS_ABSENT;
		} else {
			left.op_id = left.group_id = FSL_STR_NONE;
		}
		add_remnant(&b.job, LOSER, left);
		restore(&b);
		assert_int_equal(restored(&b)->dev_begin_ns, b.lost.dev_begin_ns);
		assert_int_equal(restored(&b)->dev_end_ns, b.lost.dev_end_ns);
		assert_int_equal(restored(&b)->op_id, b.lost.op_id);
		release(&b);
	}
}

static void neighbouring_lost_operators_are_put_back_in_order(void **state)
{
	(void)state;
	struct bench b;
	make_job(&b);
	b.job.body_ms[1] = 100.0;
	small_job_run(&b.job);
	b.lost = drop_op(&b.job, LOSER, LOST);
	struct fsl_op next = drop_op(&b.job, LOSER, LOST);
	restore(&b);
	assert_int_equal(b.n_restored, 2);
	assert_near_ms(restored(&b)->dev_begin_ns, b.lost.dev_begin_ns, 0.3);
	const struct fsl_op *behind = &b.job.run.ranks[LOSER].ops[LOST + 1];
	assert_near_ms(behind->dev_begin_ns, next.dev_begin_ns, 0.3);
	assert_int_equal(behind->dev_end_ns, next.dev_end_ns);
	release(&b);
}

/* The rank was in another operator when the instance ended: it is not its own. */
static void an_operator_that_does_not_fit_stays_lost(void **state)
{
	(void)state;
	struct bench b;
	make_job(&b);
	small_job_run(&b.job);
	b.lost = drop_op(&b.job, LOSER, LOST);
	struct fsl_rank *rank = &b.job.run.ranks[LOSER];
	uint32_t alone = small_job_name(&b.job, "HcclBroadcast");
	rank->ops[LOST - 1].op_id = rank->ops[LOST].op_id = alone;
	rank->ops[LOST].dev_begin_ns = b.lost.dev_begin_ns;
	match_job(&b);
	struct fsl_channel *channel = &b.match.channels[0];
	size_t n_lost = 0;
	assert_int_equal(fsl_restore_lost(&b.job.run, &b.match, &b.job.steps, &b.n_restored, NULL),
			 FSL_OK);
	for (size_t i = LOST - 1; i <= LOST + 1; i++) {
		n_lost += channel->op_idx[i * RANKS + LOSER] == FSL_NO_OP;
	}
	assert_true(n_lost >= 1);
	assert_int_equal(channel->op_idx[LOST * RANKS + LOSER], FSL_NO_OP);
	release(&b);
}

/* A capture that begins later lost nothing before it began. */
static void nothing_is_put_back_before_the_capture_of_a_rank(void **state)
{
	(void)state;
	struct bench b;
	make_job(&b);
	small_job_run(&b.job);
	for (int i = 0; i < LOST; i++) {
		(void)drop_op(&b.job, LOSER, 0);
	}
	restore(&b);
	assert_int_equal(b.n_restored, 0);
	assert_int_equal(b.job.run.ranks[LOSER].n_ops, STEPS * SMALL_JOB_OPS_PER_STEP - LOST);
	release(&b);
}

/* Host times of an operator that lost its device times would stand 600 ms before it ran. */
static void an_operator_that_lost_its_device_times_is_replaced(void **state)
{
	(void)state;
	struct bench b;
	make_job(&b);
	small_job_run(&b.job);
	struct fsl_rank *rank = &b.job.run.ranks[LOSER];
	struct fsl_op left = drop_op(&b.job, LOSER, LOST);
	b.lost = left;
	left.dev_begin_ns = left.dev_end_ns = FSL_NS_ABSENT;
	size_t to = rank->n_ops;
	rank->ops[rank->n_ops++] = left;
	while (to > 0 && fsl_op_begin_ns(&rank->ops[to - 1]) > fsl_op_begin_ns(&left)) {
		rank->ops[to] = rank->ops[to - 1];
		to--;
	}
	rank->ops[to] = left;
	restore(&b);
	assert_int_equal(rank->n_ops, STEPS * SMALL_JOB_OPS_PER_STEP);
	assert_int_equal(restored(&b)->dev_end_ns, b.lost.dev_end_ns);
	release(&b);
}

/* Puts @op among the operators of the loser. */
static void add_op(struct bench *b, struct fsl_op op)
{
	struct fsl_rank *rank = &b->job.run.ranks[LOSER];
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, NULL), FSL_OK);
	size_t to = rank->n_ops++;
	while (to > 0 && fsl_op_begin_ns(&rank->ops[to - 1]) > fsl_op_begin_ns(&op)) {
		rank->ops[to] = rank->ops[to - 1];
		to--;
	}
	rank->ops[to] = op;
}

/* An operator launched a while before the lost operator ended was not over by then. */
static void launches_without_device_times_end_no_work(void **state)
{
	(void)state;
	struct bench b;
	make_job(&b);
	b.job.body_ms[1] = 100.0; /* rank 1 comes last, the loser waits */
	small_job_run(&b.job);
	b.lost = drop_op(&b.job, LOSER, LOST);
	struct fsl_op later = drop_op(&b.job, LOSER, LOST + SMALL_JOB_OPS_PER_STEP);
	later.dev_begin_ns = later.dev_end_ns = FSL_NS_ABSENT;
	later.host_begin_ns = later.host_end_ns = b.lost.dev_end_ns - 5 * FSL_NS_PER_MS;
	add_op(&b, later);
	restore(&b);
	assert_near_ms(restored(&b)->dev_begin_ns, b.lost.dev_begin_ns, 0.3);
	release(&b);
}

/* Own times once what was lost is hidden. */
static void build_own(struct bench *b, struct fsl_own *own)
{
	assert_int_equal(
		fsl_cuts_build(&b->cuts, &b->job.run, &b->job.steps, b->match.clock_ns, NULL),
		FSL_OK);
	fsl_match_assign_steps(&b->match, &b->cuts);
	assert_int_equal(fsl_own_build(own, &b->job.run, &b->job.steps, &b->cuts, NULL), FSL_OK);
	assert_int_equal(fsl_own_hide_lost(own, &b->job.run, &b->match, &b->cuts, NULL), FSL_OK);
}

/* @n times what is left of an operator of before all steps. */
static void add_early_remnants(struct bench *b, size_t n)
{
	struct fsl_op left = b->job.run.ranks[LOSER].ops[0];
	left.dev_end_ns = left.dev_begin_ns - FSL_NS_PER_S;
	left.dev_begin_ns = FSL_NS_ABSENT;
	for (size_t i = 0; i < n; i++) {
		add_remnant(&b->job, LOSER, left);
	}
}

/* Nobody else recorded it, so it belongs to no instance: its wait would pass for work. */
static void a_remnant_that_was_not_put_back_hides_its_step_where_many_are_lost(void **state)
{
	(void)state;
	const size_t step = LOST / SMALL_JOB_OPS_PER_STEP;
	for (int is_lossy = 0; is_lossy < 2; is_lossy++) {
		struct bench b;
		struct fsl_own own;
		make_job(&b);
		small_job_run(&b.job);
		struct fsl_op left = b.job.run.ranks[LOSER].ops[LOST];
		left.dev_begin_ns = left.dev_end_ns + FSL_NS_PER_MS;
		left.dev_end_ns = FSL_NS_ABSENT;
		left.op_id = left.group_id = FSL_STR_NONE;
		add_early_remnants(&b, is_lossy ? STEPS : 0);
		add_remnant(&b.job, LOSER, left);
		restore(&b);
		build_own(&b, &own);
		assert_int_equal(isnan(fsl_own_total_ms(&own, LOSER, step)) != 0, is_lossy);
		assert_true(!isnan(fsl_own_total_ms(&own, LOSER, step + 1)));
		assert_true(!isnan(fsl_own_total_ms(&own, 0, step)));
		fsl_own_fini(&own);
		release(&b);
	}
}

/* Operators that left nothing show only by their number. */
static void a_step_with_an_odd_number_of_operators_was_not_seen_where_many_are_lost(void **state)
{
	(void)state;
	const size_t odd = LOST / SMALL_JOB_OPS_PER_STEP;
	for (int is_lossy = 0; is_lossy < 2; is_lossy++) {
		struct bench b;
		struct fsl_own own;
		make_job(&b);
		small_job_run(&b.job);
		struct fsl_rank *rank = &b.job.run.ranks[LOSER];
		struct fsl_op op = rank->ops[LOST];
		op.op_id = small_job_name(&b.job, "HcclBroadcast"); /* of this rank alone */
		op.dev_begin_ns = op.dev_end_ns + FSL_NS_PER_MS;
		op.dev_end_ns = op.dev_begin_ns + FSL_NS_PER_MS;
		add_op(&b, op);
		add_early_remnants(&b, is_lossy ? STEPS : 0);
		match_job(&b);
		build_own(&b, &own);
		assert_int_equal(isnan(fsl_own_total_ms(&own, LOSER, odd)) != 0, is_lossy);
		assert_true(!isnan(fsl_own_total_ms(&own, LOSER, odd + 2)));
		fsl_own_fini(&own);
		release(&b);
	}
}

static void a_step_of_which_most_was_put_back_was_not_seen(void **state)
{
	(void)state;
	struct bench b;
	struct fsl_own own;
	make_job(&b);
	small_job_run(&b.job);
	for (int i = 0; i < 4; i++) { /* three of step 11, one of step 12 */
		(void)drop_op(&b.job, LOSER, LOST + 3);
	}
	restore(&b);
	assert_int_equal(b.n_restored, 4);
	assert_int_equal(fsl_cuts_build(&b.cuts, &b.job.run, &b.job.steps, b.match.clock_ns, NULL),
			 FSL_OK);
	fsl_match_assign_steps(&b.match, &b.cuts);
	assert_int_equal(fsl_own_build(&own, &b.job.run, &b.job.steps, &b.cuts, NULL), FSL_OK);
	assert_int_equal(fsl_own_hide_lost(&own, &b.job.run, &b.match, &b.cuts, NULL), FSL_OK);
	assert_true(isnan(fsl_own_total_ms(&own, LOSER, 11)));
	assert_true(fabs(fsl_own_total_ms(&own, LOSER, 12) - 200.4) < 1.0);
	assert_true(fabs(fsl_own_total_ms(&own, LOSER, 10) - 200.4) < 1.0);
	fsl_own_fini(&own);
	release(&b);
}

static void failing_allocations_are_told(void **state)
{
	(void)state;
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 1;
	for (; status != FSL_OK && nth < 1000; nth++) {
		struct bench b;
		make_job(&b);
		small_job_run(&b.job);
		(void)drop_op(&b.job, LOSER, LOST);
		(void)drop_op(&b.job, 1, 10);
		match_job(&b);
		fsl_mem_fail_at(nth);
		status = fsl_restore_lost(&b.job.run, &b.match, &b.job.steps, &b.n_restored, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		release(&b);
	}
	assert_int_equal(status, FSL_OK);
	assert_true(nth > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_operator_ends_with_the_others_behind_the_usual_work),
		cmocka_unit_test(a_rank_that_all_others_waited_for_began_when_their_wait_ended),
		cmocka_unit_test(a_slow_rank_stays_slow_where_every_instance_lost_a_record),
		cmocka_unit_test(what_is_left_of_a_record_tells_its_begin),
		cmocka_unit_test(neighbouring_lost_operators_are_put_back_in_order),
		cmocka_unit_test(an_operator_that_does_not_fit_stays_lost),
		cmocka_unit_test(nothing_is_put_back_before_the_capture_of_a_rank),
		cmocka_unit_test(an_operator_that_lost_its_device_times_is_replaced),
		cmocka_unit_test(launches_without_device_times_end_no_work),
		cmocka_unit_test(
			a_remnant_that_was_not_put_back_hides_its_step_where_many_are_lost),
		cmocka_unit_test(
			a_step_with_an_odd_number_of_operators_was_not_seen_where_many_are_lost),
		cmocka_unit_test(a_step_of_which_most_was_put_back_was_not_seen),
		cmocka_unit_test(failing_allocations_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
