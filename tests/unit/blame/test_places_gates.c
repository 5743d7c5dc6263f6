/* Replays of captures from gate to gate of kernels. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/number.h"
#include "blame/places_parts.h"

enum { RANKS = 3, OPS_MAX = 8 };

/* Ranks compute, meet in one collective, and go on. All of them belong to one class. */
struct capture {
	struct fsl_op ops[RANKS][OPS_MAX];
	int64_t bare_ns[RANKS][OPS_MAX];
	struct fsl_rank ranks[RANKS];
	struct fsl_run run;
	uint32_t members[RANKS], op_idx[OPS_MAX * RANKS], class_of[RANKS];
	int64_t dur_ns[OPS_MAX * RANKS], clock_ns[RANKS];
	uint32_t alone_idx[OPS_MAX * RANKS];
	int64_t alone_dur_ns[OPS_MAX * RANKS];
	union {
		struct fsl_channel channels[2];
		struct {
			struct fsl_channel channel, alone;
		};
	};
	struct fsl_match match;
	double n_steps[RANKS];
	const int64_t *bare_of[RANKS];
	struct fsl_places_job job;
};

/* Rank r computes @own_ms[r] before each of @n operators, which transfer for @transfer_ms behind
 * the last arrival. @is_beside: no kernel waits for any but the last. */
static void set_capture(struct capture *c, const int64_t *own_ms, int64_t transfer_ms, size_t n,
			bool is_beside)
{
	int64_t at_ns[RANKS] = {0};
	*c = (struct capture){.run = {.ranks = c->ranks, .n_ranks = RANKS}};
	for (size_t i = 0; i < n; i++) {
		bool is_gate = !is_beside || i + 1 == n;
		int64_t last_ns = 0;
		for (size_t r = 0; r < RANKS; r++) {
			at_ns[r] += own_ms[r] * FSL_NS_PER_MS;
			last_ns = at_ns[r] > last_ns ? at_ns[r] : last_ns;
		}
		int64_t end_ns = last_ns + transfer_ms * FSL_NS_PER_MS;
		for (size_t r = 0; r < RANKS; r++) {
			c->ops[r][i] = (struct fsl_op){.dev_begin_ns = at_ns[r],
						       .dev_end_ns = end_ns,
						       .host_begin_ns = FSL_NS_ABSENT,
						       .host_end_ns = FSL_NS_ABSENT};
			c->bare_ns[r][i] = is_gate ? end_ns - at_ns[r] : 0;
			c->op_idx[i * RANKS + r] = (uint32_t)i;
			c->dur_ns[i * RANKS + r] = end_ns - at_ns[r];
			at_ns[r] = is_gate ? end_ns : at_ns[r];
		}
	}
	for (size_t r = 0; r < RANKS; r++) {
		c->ranks[r] = (struct fsl_rank){.rank = (int32_t)r, .ops = c->ops[r], .n_ops = n};
		c->members[r] = (uint32_t)r;
		c->n_steps[r] = 1.0;
		c->bare_of[r] = c->bare_ns[r];
	}
	c->channel = (struct fsl_channel){.n_members = RANKS,
					  .members = c->members,
					  .n_instances = n,
					  .op_idx = c->op_idx,
					  .dur_ns = c->dur_ns};
	c->alone = (struct fsl_channel){
		.members = c->members, .op_idx = c->alone_idx, .dur_ns = c->alone_dur_ns};
	c->match = (struct fsl_match){
		.channels = c->channels, .n_channels = 1, .clock_ns = c->clock_ns};
	c->job = (struct fsl_places_job){.run = &c->run,
					 .match = &c->match,
					 .class_of = c->class_of,
					 .n_classes = 1,
					 .n_steps = c->n_steps,
					 .bare_ns = c->bare_of};
}

static void expect_saved(const struct capture *c, const struct fsl_gates_change *change, double ms)
{
	double saved_ms = NAN;
	assert_int_equal(fsl_places_pass_gates(&saved_ms, &c->job, change, 1, NULL), FSL_OK);
	assert_true(fabs(saved_ms - ms) < 1e-6);
}

static void excess_of_the_slowest_comes_back_up_to_the_next(void **state)
{
	(void)state;
	struct capture c;
	int64_t off_ns[OPS_MAX];
	const int64_t *off_of[RANKS] = {NULL, off_ns, NULL};
	const struct fsl_gates_change change = {.off_ns = off_of, .but_rank = SIZE_MAX};
	for (size_t i = 0; i < OPS_MAX; i++) {
		off_ns[i] = 5 * FSL_NS_PER_MS;
	}
	set_capture(&c, (const int64_t[]){10, 15, 10}, 2, 4, false);
	expect_saved(&c, &change, 4 * 5.0);
	set_capture(&c, (const int64_t[]){10, 15, 13}, 4, 6, false);
	expect_saved(&c, &change, 6 * 2.0);
	c.n_steps[0] = 3.0; /* what comes back is told per step */
	expect_saved(&c, &change, 6 * 2.0 / 3.0);
}

/* Each of both holds the job as long as the other one. */
static void who_is_left_out_keeps_its_excess(void **state)
{
	(void)state;
	struct capture c;
	int64_t off_ns[OPS_MAX];
	const int64_t *off_of[RANKS] = {off_ns, off_ns, NULL};
	struct fsl_gates_change change = {.off_ns = off_of, .but_rank = SIZE_MAX};
	for (size_t i = 0; i < OPS_MAX; i++) {
		off_ns[i] = 6 * FSL_NS_PER_MS;
	}
	set_capture(&c, (const int64_t[]){18, 16, 10}, 1, 5, false);
	expect_saved(&c, &change, 5 * 6.0);
	change.but_rank = 0;
	expect_saved(&c, &change, 0.0);
	change.but_rank = 1;
	expect_saved(&c, &change, 5 * 2.0);
}

/* Nothing is known of the last rank, so that others alone hold the job. */
static void a_rank_without_operators_stops_no_replay(void **state)
{
	(void)state;
	struct capture c;
	const double half[RANKS] = {1.0, 0.5, 1.0};
	const struct fsl_gates_change change = {.rank_factor = half};
	set_capture(&c, (const int64_t[]){10, 16, 8}, 2, 4, false);
	c.ranks[2].n_ops = 0;
	c.bare_of[2] = NULL;
	c.channel.n_members = RANKS; /* one member is missing in each instance */
	for (size_t i = 0; i < 4; i++) {
		c.op_idx[i * RANKS + 2] = FSL_NO_OP;
		c.dur_ns[i * RANKS + 2] = -1;
	}
	expect_saved(&c, &change, 3 * 6.0);
	c.bare_of[0] = NULL;
	double saved_ms = 0.0;
	assert_int_equal(fsl_places_pass_gates(&saved_ms, &c.job, &change, 1, NULL), FSL_OK);
	assert_true(isnan(saved_ms));
}

static void own_time_takes_its_factor_between_operators(void **state)
{
	(void)state;
	struct capture c;
	const double half[RANKS] = {1.0, 0.5, 1.0}, twice[RANKS] = {1.0, 2.0, 1.0};
	const struct fsl_gates_change less = {.rank_factor = half};
	const struct fsl_gates_change more = {.rank_factor = twice};
	set_capture(&c, (const int64_t[]){10, 16, 8}, 2, 4, false);
	expect_saved(&c, &less, 3 * 6.0); /* the capture begins with an operator */
	expect_saved(&c, &more, -3 * 16.0);
	set_capture(&c, (const int64_t[]){3, 7, 6}, 1, 6, false);
	expect_saved(&c, &less, 5 * 1.0);
	expect_saved(&c, &more, -5 * 7.0);
}

/* Transfers are shorter by half: those beside kernels hold nobody. */
static void only_transfers_that_kernels_wait_for_cost(void **state)
{
	(void)state;
	struct capture c;
	const double factor = 0.5;
	const struct fsl_gates_change change = {.transfer_factor = &factor};
	set_capture(&c, (const int64_t[]){10, 10, 10}, 4, 5, false);
	expect_saved(&c, &change, 5 * 2.0);
	set_capture(&c, (const int64_t[]){10, 10, 10}, 4, 5, true);
	expect_saved(&c, &change, 2.0);
	set_capture(&c, (const int64_t[]){10, 12, 11}, 6, 3, true);
	expect_saved(&c, &change, 3.0);
}

/* An operator of both ranks, us: begin of each, common end, and for how long kernels waited. */
struct meeting {
	int64_t begin_us[2], end_us, bare_us[2];
	uint32_t op[2]; /* place of it among the operators of each rank, by begin */
};

/* Two ranks; the meeting @alone has a channel of its own. */
static void set_meetings(struct capture *c, const struct meeting *meetings, size_t n, size_t alone)
{
	static const int64_t none_ms[RANKS] = {0};
	set_capture(c, none_ms, 0, n, false);
	c->run.n_ranks = c->channel.n_members = c->alone.n_members = 2;
	c->channel.n_instances = c->alone.n_instances = 0;
	for (size_t k = 0; k < n; k++) {
		struct fsl_channel *channel = k == alone ? &c->alone : &c->channel;
		size_t at = 2 * channel->n_instances++;
		for (size_t r = 0; r < 2; r++) {
			uint32_t i = meetings[k].op[r];
			int64_t begin_ns = 1000 * meetings[k].begin_us[r];
			int64_t end_ns = 1000 * meetings[k].end_us;
			c->ops[r][i].dev_begin_ns = begin_ns;
			c->ops[r][i].dev_end_ns = end_ns;
			c->ops[r][i].group_id = (uint32_t)k;
			c->bare_ns[r][i] = 1000 * meetings[k].bare_us[r];
			channel->op_idx[at + r] = i;
			channel->dur_ns[at + r] = end_ns - begin_ns;
		}
	}
	c->match.n_channels = alone < n ? 2 : 1;
}

/* Kernels of rank 0 wait for two operators, first for one of them alone. What begins in between
 * does not begin later if rank 1 comes earlier. */
static void waits_for_several_operators_follow_each_other(void **state)
{
	(void)state;
	struct capture c;
	int64_t off_ns[OPS_MAX] = {5 * FSL_NS_PER_MS};
	const int64_t *off_of[RANKS] = {NULL, off_ns, NULL};
	const struct fsl_gates_change change = {.off_ns = off_of, .but_rank = SIZE_MAX};
	const struct meeting meetings[] = {
		{{0, 9000}, 10000, {4000, 0}, {0, 0}},
		{{6000, 9000}, 10004, {4004, 1004}, {1, 1}},
		{{13000, 13000}, 14000, {1000, 1000}, {2, 2}},
	};
	set_meetings(&c, meetings, 3, SIZE_MAX);
	expect_saved(&c, &change, 5.0);
	off_ns[0] = 3 * FSL_NS_PER_MS;
	expect_saved(&c, &change, 3.0);
}

/* It was recorded as begun @early_us before the end of the wait that it follows. Its transfer takes
 * four times as long. */
static void expect_longer(int64_t early_us, double ms)
{
	struct capture c;
	const double factors[] = {1.0, 4.0};
	const struct fsl_gates_change change = {.transfer_factor = factors};
	const struct meeting meetings[] = {
		{{0, 9000}, 10000, {8000, 1000}, {0, 1}},
		{{10000 - early_us, 5000}, 11000, {1000, 1000}, {1, 0}},
		{{20000, 20000}, 21000, {1000, 1000}, {2, 2}},
	};
	set_meetings(&c, meetings, 3, 1);
	expect_saved(&c, &change, -ms);
}

static void ends_that_differ_by_microseconds_are_one(void **state)
{
	(void)state;
	expect_longer(-1, 2.997);
	expect_longer(2, 3.006);
	expect_longer(4, 3.012);
}

static void nothing_is_replayed_if_a_rank_does_not_tell_its_gates(void **state)
{
	(void)state;
	struct capture c;
	const struct fsl_gates_change none = {0};
	double saved_ms = 0.0;
	set_capture(&c, (const int64_t[]){10, 15, 10}, 2, 4, false);
	expect_saved(&c, &none, 0.0);
	c.bare_of[2] = NULL;
	assert_int_equal(fsl_places_pass_gates(&saved_ms, &c.job, &none, 1, NULL), FSL_OK);
	assert_true(isnan(saved_ms));
	c.job.bare_ns = NULL;
	saved_ms = 0.0;
	assert_int_equal(fsl_places_pass_gates(&saved_ms, &c.job, &none, 1, NULL), FSL_OK);
	assert_true(isnan(saved_ms));
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
	(void)state;
	struct capture c;
	const struct fsl_gates_change none = {0};
	enum fsl_status status = FSL_ERR_MEMORY;
	set_capture(&c, (const int64_t[]){10, 15, 10}, 2, 4, false);
	for (uint64_t nth = 1; status != FSL_OK && nth < 50; nth++) {
		double saved_ms = 0.0;
		fsl_mem_fail_at(nth);
		status = fsl_places_pass_gates(&saved_ms, &c.job, &none, 1, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_int_equal(status, FSL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(excess_of_the_slowest_comes_back_up_to_the_next),
		cmocka_unit_test(who_is_left_out_keeps_its_excess),
		cmocka_unit_test(a_rank_without_operators_stops_no_replay),
		cmocka_unit_test(own_time_takes_its_factor_between_operators),
		cmocka_unit_test(only_transfers_that_kernels_wait_for_cost),
		cmocka_unit_test(waits_for_several_operators_follow_each_other),
		cmocka_unit_test(ends_that_differ_by_microseconds_are_one),
		cmocka_unit_test(nothing_is_replayed_if_a_rank_does_not_tell_its_gates),
		cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
