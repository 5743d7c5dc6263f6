/* Claims about pairs: the partners of messages in one communicator over a whole pipeline. Every
 * operator carries the numbers of its messages, so a wrong partner shows. */
#include <math.h>
#include <stdlib.h>

#include "support/small_job.h"

#include "match/match.h"

enum { STAGES_MAX = 8, TRANSFER_US = 1000, JITTER_US = 20 };

/* How messages are recorded. */
enum style {
	STYLE_SINGLE,  /* Send on one rank, Receive on the other */
	STYLE_BATCHED, /* HcclBatchSendRecv on both */
};

struct pipeline {
	struct small_job job;
	enum style style;
	bool closes_ring; /* the last stage hands over to the first, as interleaved schedules do */
	int64_t now_ns[STAGES_MAX];
	uint64_t noise;
	uint64_t n_messages;
	double drift[STAGES_MAX]; /* of the stage's clock, ns per ns */
	bool is_lost[STAGES_MAX]; /* the stage's record of the next message is lost */
};

/* Evenly in [0, 1). */
static double draw(struct pipeline *line)
{
	line->noise = line->noise * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (double)(line->noise >> 40) / (double)(1 << 24);
}

static void work(struct pipeline *line, size_t stage, double ms)
{
	double ns = ms * (0.95 + 0.1 * draw(line)) * FSL_NS_PER_MS;
	line->now_ns[stage] += (int64_t)ns;
}

static void record(struct pipeline *line, size_t stage, const char *name, uint64_t messages,
		   int64_t end_ns)
{
	struct small_job *job = &line->job;
	int64_t age_ns = end_ns - SMALL_JOB_ORIGIN_NS;
	int64_t clock_ns = job->clock_ns[stage] + (int64_t)(line->drift[stage] * (double)age_ns);
	if (!line->is_lost[stage]) {
		small_job_add_op(job, stage, small_job_name(job, name), small_job_name(job, "g0"),
				 line->now_ns[stage] + clock_ns, end_ns + clock_ns);
		struct fsl_rank *rank = &job->run.ranks[stage];
		rank->ops[rank->n_ops - 1].n_elements = messages;
	}
	line->is_lost[stage] = false;
	line->now_ns[stage] = end_ns;
}

/* Rendezvous of two stages. */
static void hand_over(struct pipeline *line, size_t from, size_t to)
{
	int64_t last_ns =
		line->now_ns[from] > line->now_ns[to] ? line->now_ns[from] : line->now_ns[to];
	bool is_batched = line->style == STYLE_BATCHED;
	uint64_t message = ++line->n_messages;
	for (size_t i = 0; i < 2; i++) {
		int64_t jitter_ns = (int64_t)(draw(line) * JITTER_US * 1000.0);
		record(line, i == 0 ? from : to,
		       is_batched ? "HcclBatchSendRecv"
		       : i == 0   ? "HcclSend"
				  : "HcclReceive",
		       message, last_ns + INT64_C(1000) * TRANSFER_US + jitter_ns);
	}
}

static void init(struct pipeline *line, size_t n_stages, enum style style)
{
	*line = (struct pipeline){.style = style, .noise = 99};
	small_job_init(&line->job, n_stages, 0);
	for (size_t s = 0; s < n_stages; s++) {
		line->now_ns[s] = SMALL_JOB_ORIGIN_NS;
		line->job.clock_ns[s] = (int64_t)((draw(line) - 0.5) * 100.0 * FSL_NS_PER_MS);
	}
}

/* One micro-batch forward through all stages and back. */
static void run_step(struct pipeline *line)
{
	size_t n = line->job.n_ranks;
	for (size_t s = 0; s < n; s++) {
		work(line, s, 20.0);
		if (s + 1 < n || line->closes_ring) {
			hand_over(line, s, (s + 1) % n);
		}
	}
	for (size_t s = n; s-- > 0;) {
		work(line, s, 40.0);
		if (s > 0 || line->closes_ring) {
			hand_over(line, s, (s + n - 1) % n);
		}
	}
}

static void run(struct pipeline *line, size_t n_steps)
{
	for (size_t i = 0; i < n_steps; i++) {
		run_step(line);
	}
}

static void match_line(struct pipeline *line, struct fsl_match *match)
{
	assert_int_equal(fsl_match_build(match, &line->job.run, &line->job.topology, NULL), FSL_OK);
}

static void release(struct pipeline *line, struct fsl_match *match)
{
	fsl_match_fini(match);
	small_job_fini(&line->job);
}

static const struct fsl_op *op_at(const struct pipeline *line, const struct fsl_channel *channel,
				  size_t instance, size_t m)
{
	uint32_t op_idx = channel->op_idx[2 * instance + m];
	return op_idx == FSL_NO_OP ? NULL : &line->job.run.ranks[channel->members[m]].ops[op_idx];
}

/* No instance holds operators of different messages. */
static void assert_no_strangers(const struct pipeline *line, const struct fsl_match *match)
{
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		assert_true(channel->is_p2p);
		assert_int_equal(channel->n_members, 2);
		for (size_t i = 0; i < channel->n_instances; i++) {
			const struct fsl_op *a = op_at(line, channel, i, 0);
			const struct fsl_op *b = op_at(line, channel, i, 1);
			if (a != NULL && b != NULL) {
				assert_int_equal(a->n_elements, b->n_elements);
			}
		}
	}
}

static bool has_channel(const struct fsl_match *match, uint32_t a, uint32_t b)
{
	for (size_t c = 0; c < match->n_channels; c++) {
		const uint32_t *members = match->channels[c].members;
		if (members[0] == a && members[1] == b) {
			return true;
		}
	}
	return false;
}

static void sends_and_receives_give_a_channel_per_pair_and_direction(void **state)
{
	(void)state;
	struct pipeline line;
	struct fsl_match match;
	init(&line, 4, STYLE_SINGLE);
	run(&line, 20);
	match_line(&line, &match);
	assert_int_equal(match.n_channels, 6);
	assert_int_equal(match.n_instances_matched, 120);
	assert_int_equal(match.n_p2p, 240);
	assert_int_equal(match.n_p2p_matched, 240);
	assert_int_equal(match.n_groups_matched, 1);
	assert_int_equal(match.n_groups_disagreeing, 0);
	assert_no_strangers(&line, &match);
	release(&line, &match);
}

static void batched_operators_give_a_channel_per_pair(void **state)
{
	(void)state;
	for (size_t n_stages = 3; n_stages <= STAGES_MAX; n_stages++) {
		struct pipeline line;
		struct fsl_match match;
		init(&line, n_stages, STYLE_BATCHED);
		run(&line, 20);
		match_line(&line, &match);
		assert_int_equal(match.n_channels, n_stages - 1);
		assert_int_equal(match.n_p2p_matched, match.n_p2p);
		for (size_t s = 0; s + 1 < n_stages; s++) {
			assert_true(has_channel(&match, (uint32_t)s, (uint32_t)s + 1));
		}
		assert_no_strangers(&line, &match);
		release(&line, &match);
	}
}

static void pairs_connect_the_clocks(void **state)
{
	(void)state;
	struct pipeline line;
	struct fsl_match match;
	init(&line, 4, STYLE_SINGLE);
	run(&line, 20);
	match_line(&line, &match);
	for (size_t s = 0; s < 4; s++) {
		int64_t true_ns = line.job.clock_ns[s] - line.job.clock_ns[0];
		assert_true(llabs(match.clock_ns[s] - true_ns) < INT64_C(1000) * 4 * JITTER_US);
	}
	for (size_t c = 0; c < match.n_channels; c++) {
		assert_true(match.channels[c].gap_median_ms < 0.001 * 4 * JITTER_US);
		assert_true(match.channels[c].gap_p95_ms >= match.channels[c].gap_median_ms);
	}
	release(&line, &match);
}

/*
 * Drift spreads the differences of true partners wider than short work spreads those of ranks two
 * hops apart.
 */
static void drifting_clocks_do_not_make_strangers_neighbours(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct pipeline line;
		struct fsl_match match;
		init(&line, 6, STYLE_BATCHED);
		line.noise = seed;
		for (size_t s = 0; s < 6; s++) {
			line.drift[s] = s % 2 == 0 ? 0.0 : 50e-6;
		}
		run(&line, 100);
		match_line(&line, &match);
		assert_int_equal(match.n_channels, 5);
		assert_int_equal(match.n_p2p_matched, match.n_p2p);
		assert_no_strangers(&line, &match);
		release(&line, &match);
	}
}

static void a_ring_has_a_channel_from_the_last_to_the_first(void **state)
{
	(void)state;
	struct pipeline line;
	struct fsl_match match;
	init(&line, 4, STYLE_SINGLE);
	line.closes_ring = true;
	run(&line, 20);
	match_line(&line, &match);
	assert_true(has_channel(&match, 0, 3));
	assert_int_equal(match.n_channels, 8);
	assert_true(match.n_p2p_matched * 10 >= match.n_p2p * 9);
	assert_no_strangers(&line, &match);
	release(&line, &match);
}

static void lost_records_leave_holes_on_the_right_pair(void **state)
{
	(void)state;
	struct pipeline line;
	struct fsl_match match;
	init(&line, 4, STYLE_BATCHED);
	for (size_t i = 0; i < 60; i++) {
		line.is_lost[i % 4] = i % 5 == 2;
		run_step(&line);
	}
	match_line(&line, &match);
	assert_int_equal(match.n_channels, 3);
	assert_no_strangers(&line, &match);
	/* Each lost record leaves one operator alone; it stands in the channel that it belongs to.
	 */
	size_t n_holes = 0;
	for (size_t c = 0; c < 3; c++) {
		const struct fsl_channel *channel = &match.channels[c];
		assert_false(channel->disagrees);
		for (size_t i = 0; i < channel->n_instances; i++) {
			n_holes += op_at(&line, channel, i, 0) == NULL ||
				   op_at(&line, channel, i, 1) == NULL;
		}
		assert_int_equal(channel->n_instances, 120);
	}
	assert_int_equal(n_holes, 12);
	release(&line, &match);
}

/* Every other step, each stage loses its first record: nearly every operator that is left alone is
 * still given to its pair. */
static void many_lost_records_are_still_placed(void **state)
{
	(void)state;
	struct pipeline line;
	struct fsl_match match;
	size_t n_holes = 0;
	uint64_t losses = 5;
	init(&line, 4, STYLE_BATCHED);
	for (size_t i = 0; i < 100; i++) {
		for (size_t s = 0; s < 4; s++) {
			losses = losses * UINT64_C(6364136223846793005) + 1442695040888963407;
			line.is_lost[s] = (losses >> 33) % 2 == 0;
		}
		run_step(&line);
	}
	match_line(&line, &match);
	assert_no_strangers(&line, &match);
	for (size_t c = 0; c < match.n_channels; c++) {
		const struct fsl_channel *channel = &match.channels[c];
		assert_false(channel->disagrees);
		for (size_t i = 0; i < channel->n_instances; i++) {
			n_holes += op_at(&line, channel, i, 0) == NULL ||
				   op_at(&line, channel, i, 1) == NULL;
		}
	}
	uint64_t n_alone = match.n_p2p - match.n_p2p_matched;
	assert_true(n_alone > 100);
	assert_true(n_holes * 10 >= n_alone * 9);
	release(&line, &match);
}

static void a_capture_that_begins_and_ends_later_is_no_disagreement(void **state)
{
	(void)state;
	struct pipeline line;
	struct fsl_match match;
	init(&line, 4, STYLE_SINGLE);
	run(&line, 40);
	struct fsl_rank *late = &line.job.run.ranks[1];
	late->n_ops -= 41;
	memmove(late->ops, late->ops + 41, late->n_ops * sizeof(*late->ops));
	line.job.run.ranks[2].n_ops -= 50;
	match_line(&line, &match);
	assert_int_equal(match.n_channels, 6);
	assert_int_equal(match.n_groups_disagreeing, 0);
	assert_no_strangers(&line, &match);
	release(&line, &match);
}

/*
 * In lockstep every stage exchanges with both neighbours in one operator, which ends when both are
 * done: any two neighbours could be partners.
 */
static void a_batch_with_both_neighbours_is_never_given_to_a_stranger(void **state)
{
	(void)state;
	struct pipeline line;
	struct fsl_match match;
	init(&line, 4, STYLE_BATCHED);
	for (size_t i = 0; i < 40; i++) {
		int64_t last_ns = 0;
		for (size_t s = 0; s < 4; s++) {
			work(&line, s, 30.0);
			last_ns = line.now_ns[s] > last_ns ? line.now_ns[s] : last_ns;
		}
		for (size_t s = 0; s < 4; s++) {
			int64_t jitter_ns = (int64_t)(draw(&line) * JITTER_US * 1000.0);
			record(&line, s, "HcclBatchSendRecv", i, last_ns + jitter_ns);
		}
	}
	match_line(&line, &match);
	assert_no_strangers(&line, &match);
	assert_true(match.n_p2p_matched <= match.n_p2p);
	release(&line, &match);
}

/* A send that is buffered ends at once, long before a busy receiver takes it. */
static void buffered_sends_are_not_used(void **state)
{
	(void)state;
	struct pipeline line;
	struct fsl_match match;
	init(&line, 3, STYLE_SINGLE);
	for (size_t i = 0; i < 60; i++) {
		for (size_t s = 0; s < 3; s++) {
			work(&line, s, 10.0 + 80.0 * draw(&line));
			int64_t sent_ns = line.now_ns[s] + FSL_NS_PER_MS;
			size_t next = s + 1;
			if (next < 3) {
				work(&line, next, 100.0 * draw(&line));
				int64_t busy_ns = line.now_ns[next] + FSL_NS_PER_MS;
				record(&line, next, "HcclReceive", i,
				       sent_ns > busy_ns ? sent_ns : busy_ns);
				record(&line, s, "HcclSend", i, sent_ns);
			}
		}
	}
	match_line(&line, &match);
	for (size_t c = 0; c < match.n_channels; c++) {
		assert_true(match.channels[c].disagrees);
	}
	release(&line, &match);
}

static void ranks_that_never_talk_are_no_pair(void **state)
{
	(void)state;
	struct pipeline line;
	struct fsl_match match;
	init(&line, 5, STYLE_BATCHED);
	for (size_t i = 0; i < 300; i++) {
		for (size_t s = 0; s < 5; s++) {
			work(&line, s, 5.0 + 50.0 * draw(&line));
			record(&line, s, "HcclBatchSendRecv", i, line.now_ns[s] + FSL_NS_PER_MS);
		}
	}
	match_line(&line, &match);
	assert_int_equal(match.n_channels, 0);
	assert_int_equal(match.n_groups_matched, 0);
	assert_int_equal(match.n_p2p, 1500);
	assert_int_equal(match.n_p2p_matched, 0);
	release(&line, &match);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
	(void)state;
	struct pipeline line;
	init(&line, 4, STYLE_SINGLE);
	run(&line, 10);
	bool is_done = false;
	for (uint64_t nth = 1; !is_done && nth < 400; nth++) {
		struct fsl_match match;
		struct fsl_error err = {0};
		fsl_mem_fail_at(nth);
		enum fsl_status status =
			fsl_match_build(&match, &line.job.run, &line.job.topology, &err);
		fsl_mem_fail_at(0);
		is_done = status == FSL_OK;
		if (is_done) {
			fsl_match_fini(&match);
		} else {
			assert_int_equal(status, FSL_ERR_MEMORY);
			assert_true(err.n_causes > 0);
		}
	}
	assert_true(is_done);
	small_job_fini(&line.job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_and_receives_give_a_channel_per_pair_and_direction),
		cmocka_unit_test(batched_operators_give_a_channel_per_pair),
		cmocka_unit_test(pairs_connect_the_clocks),
		cmocka_unit_test(drifting_clocks_do_not_make_strangers_neighbours),
		cmocka_unit_test(a_ring_has_a_channel_from_the_last_to_the_first),
		cmocka_unit_test(lost_records_leave_holes_on_the_right_pair),
		cmocka_unit_test(many_lost_records_are_still_placed),
		cmocka_unit_test(a_capture_that_begins_and_ends_later_is_no_disagreement),
		cmocka_unit_test(a_batch_with_both_neighbours_is_never_given_to_a_stranger),
		cmocka_unit_test(buffered_sends_are_not_used),
		cmocka_unit_test(ranks_that_never_talk_are_no_pair),
		cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
