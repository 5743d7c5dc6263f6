/* Claims about operators that are launched ahead of the next work of their rank. */
#include <stdlib.h>

#include "support/small_job.h"

#include "match/launched.h"

enum { RANKS = 8, STEPS = 40 };

/* Each step of a rank has a collective of "tp", a bucket of "dp" right behind it, another
 * collective of "tp" beneath or behind the bucket, and a last bucket. */
struct bench {
	struct small_job job;
	struct fsl_cuts cuts;
	uint32_t gather_id, bucket_id, tp_id, dp_id;
	uint64_t seed;
	struct fsl_launched launched;
};

static void setup(struct bench *b)
{
	*b = (struct bench){.seed = 7};
	small_job_init(&b->job, RANKS, STEPS);
	b->gather_id = small_job_name(&b->job, "HcclAllGather");
	b->bucket_id = small_job_name(&b->job, "HcclAllReduce");
	b->tp_id = small_job_name(&b->job, "tp");
	b->dp_id = small_job_name(&b->job, "dp");
	b->cuts.n_steps = STEPS;
	b->cuts.n_ranks = RANKS;
	b->cuts.first_op = fsl_arena_alloc(&b->cuts.arena, sizeof(uint32_t) * RANKS * (STEPS + 1));
	assert_non_null(b->cuts.first_op);
}

static void teardown(struct bench *b)
{
	fsl_launched_fini(&b->launched);
	fsl_arena_fini(&b->cuts.arena);
	small_job_fini(&b->job);
}

/* Evenly below @most_ns. */
static int64_t vary(struct bench *b, int64_t most_ns)
{
	b->seed = b->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int64_t)(b->seed >> 33) % most_ns;
}

/* Behaviour of a rank. */
struct ways {
	bool works_beneath; /* it does not wait for the first bucket */
	int64_t wait_ns;    /* for the others, in a bucket: anything below */
	size_t n_lost;      /* first buckets of the newest steps that left no record */
	bool sends;         /* in the second half of the steps */
	bool outlasts;      /* the first bucket ends behind the collective beneath it */
	size_t n_queued;    /* more last buckets, in a row */
};

static void add_rank(struct bench *b, size_t r, const struct ways *ways)
{
	const int64_t work_ns = 50 * FSL_NS_PER_MS, short_ns = FSL_NS_PER_MS;
	uint32_t send_id = small_job_name(&b->job, "HcclSend");
	int64_t now_ns = SMALL_JOB_ORIGIN_NS;
	for (size_t s = 0; s <= STEPS; s++) {
		b->cuts.first_op[r * (STEPS + 1) + s] = (uint32_t)b->job.run.ranks[r].n_ops;
		if (s == STEPS) {
			break;
		}
		bool sends = ways->sends && s >= STEPS / 2;
		small_job_add_op(&b->job, r, sends ? send_id : b->gather_id, b->tp_id, now_ns,
				 now_ns + short_ns);
		now_ns += short_ns;
		int64_t end_ns = now_ns + short_ns + vary(b, ways->wait_ns) +
				 (ways->outlasts ? work_ns + 2 * short_ns : 0);
		if (s + ways->n_lost < STEPS) {
			small_job_add_op(&b->job, r, b->bucket_id, b->dp_id, now_ns, end_ns);
		}
		now_ns = (ways->works_beneath ? now_ns : end_ns) + work_ns + vary(b, short_ns);
		small_job_add_op(&b->job, r, b->gather_id, b->tp_id, now_ns, now_ns + short_ns);
		now_ns = ways->outlasts ? end_ns : now_ns + short_ns;
		for (size_t k = 0; k <= ways->n_queued; k++) {
			end_ns = now_ns + short_ns + vary(b, ways->wait_ns);
			small_job_add_op(&b->job, r, b->bucket_id, b->dp_id, now_ns, end_ns);
			now_ns = end_ns;
		}
		now_ns = end_ns + work_ns + vary(b, short_ns);
	}
}

static const struct fsl_launched_kind *found(struct bench *b)
{
	assert_int_equal(fsl_launched_find(&b->launched, &b->job.run, &b->cuts, NULL), FSL_OK);
	assert_null(fsl_launched_of(&b->launched, b->gather_id, b->tp_id));
	return fsl_launched_of(&b->launched, b->bucket_id, b->dp_id);
}

/* The first so many ranks in the one way, the others in the other. */
static void add_ranks(struct bench *b, size_t n_first, const struct ways *first,
		      const struct ways *other)
{
	setup(b);
	for (size_t r = 0; r < RANKS; r++) {
		add_rank(b, r, r < n_first ? first : other);
	}
}

static const struct ways beneath = {.works_beneath = true, .wait_ns = 20 * FSL_NS_PER_MS};
static const struct ways waiting = {.wait_ns = 20 * FSL_NS_PER_MS};
static const struct ways never_waiting = {.works_beneath = true, .wait_ns = 2};

static void buckets_beneath_which_ranks_work_are_launched_ahead(void **state)
{
	(void)state;
	struct bench b;
	add_ranks(&b, RANKS, &beneath, NULL);
	const struct fsl_launched_kind *kind = found(&b);
	assert_non_null(kind);
	assert_true(fsl_launched_is_free(kind, 0, 2));
	/* Nothing but what comes behind it follows the last one of a step. */
	assert_false(fsl_launched_is_free(kind, 1, 2));
	teardown(&b);
}

static void operators_that_ranks_wait_for_are_not_launched_ahead(void **state)
{
	(void)state;
	struct bench b;
	add_ranks(&b, RANKS, &waiting, NULL);
	assert_null(found(&b));
	assert_int_equal(b.launched.n_kinds, 0);
	teardown(&b);
}

static void ranks_that_nobody_lets_wait_leave_it_to_the_others(void **state)
{
	(void)state;
	struct bench b;
	add_ranks(&b, 5, &never_waiting, &beneath);
	assert_non_null(found(&b));
	teardown(&b);
}

static void one_rank_of_eight_is_no_quorum(void **state)
{
	(void)state;
	struct bench b;
	add_ranks(&b, 1, &beneath, &never_waiting);
	assert_null(found(&b));
	teardown(&b);
}

static void most_of_the_ranks_that_can_tell_decide(void **state)
{
	(void)state;
	struct bench b;
	add_ranks(&b, 3, &beneath, &waiting);
	assert_null(found(&b));
	teardown(&b);
}

static void jobs_that_send_are_left_out(void **state)
{
	(void)state;
	struct ways sending = beneath;
	struct bench b;
	sending.sends = true;
	add_ranks(&b, RANKS, &sending, NULL);
	assert_null(found(&b));
	teardown(&b);
}

static void a_collective_beneath_a_bucket_that_goes_on_is_not_launched_ahead(void **state)
{
	(void)state;
	struct ways outlasting = beneath;
	struct bench b;
	outlasting.outlasts = true;
	add_ranks(&b, RANKS, &outlasting, NULL);
	(void)found(&b); /* looks at the collective */
	teardown(&b);
}

static void three_uses_that_queue_up_may_come_with_one_that_nobody_waits_for(void **state)
{
	(void)state;
	struct ways queueing = beneath;
	for (size_t n_queued = 2; n_queued <= 3; n_queued++) {
		struct bench b;
		queueing.n_queued = n_queued;
		add_ranks(&b, RANKS, &queueing, NULL);
		assert_int_equal(found(&b) != NULL, n_queued == 2);
		teardown(&b);
	}
}

static void where_uses_were_lost_a_use_may_be_a_later_one(void **state)
{
	(void)state;
	struct ways losing = beneath;
	struct bench b;
	losing.n_lost = 4;
	add_ranks(&b, 2, &losing, &beneath);
	const struct fsl_launched_kind *kind = found(&b);
	assert_non_null(kind);
	assert_int_equal(kind->n_turns, 2);
	assert_true(fsl_launched_is_free(kind, 0, 2));
	assert_false(fsl_launched_is_free(kind, 0, 1)); /* it may be the last one */
	assert_false(fsl_launched_is_free(kind, 70, 71));
	teardown(&b);
}

static void too_few_steps_tell_nothing(void **state)
{
	(void)state;
	struct bench b;
	add_ranks(&b, RANKS, &beneath, NULL);
	for (size_t r = 0; r < RANKS; r++) {
		b.job.run.ranks[r].n_ops = 4 * 7; /* of a step */
	}
	assert_null(found(&b));
	teardown(&b);
}

static void every_failed_allocation_is_an_error(void **state)
{
	(void)state;
	struct bench b;
	add_ranks(&b, RANKS, &beneath, NULL);
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		assert_true(nth < 1000);
		fsl_launched_fini(&b.launched);
		fsl_mem_fail_at(nth);
		status = fsl_launched_find(&b.launched, &b.job.run, &b.cuts, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_non_null(fsl_launched_of(&b.launched, b.bucket_id, b.dp_id));
	teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_beneath_which_ranks_work_are_launched_ahead),
		cmocka_unit_test(operators_that_ranks_wait_for_are_not_launched_ahead),
		cmocka_unit_test(ranks_that_nobody_lets_wait_leave_it_to_the_others),
		cmocka_unit_test(one_rank_of_eight_is_no_quorum),
		cmocka_unit_test(most_of_the_ranks_that_can_tell_decide),
		cmocka_unit_test(jobs_that_send_are_left_out),
		cmocka_unit_test(a_collective_beneath_a_bucket_that_goes_on_is_not_launched_ahead),
		cmocka_unit_test(three_uses_that_queue_up_may_come_with_one_that_nobody_waits_for),
		cmocka_unit_test(where_uses_were_lost_a_use_may_be_a_later_one),
		cmocka_unit_test(too_few_steps_tell_nothing),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
