/* Claims about matching: instances, clocks, lateness, cuts, own time. */
#include <math.h>

#include "support/small_job.h"

#include <stdlib.h>

#include "match/match.h"
#include "match/own.h"

static void match_job(struct small_job *job, struct fsl_match *match, struct fsl_cuts *cuts)
{
	assert_int_equal(fsl_match_build(match, &job->run, &job->topology, NULL), FSL_OK);
	assert_int_equal(fsl_cuts_build(cuts, &job->run, &job->steps, match->clock_ns, NULL),
			 FSL_OK);
	fsl_match_assign_steps(match, cuts);
}

static void release(struct small_job *job, struct fsl_match *match, struct fsl_cuts *cuts)
{
	fsl_cuts_fini(cuts);
	fsl_match_fini(match);
	small_job_fini(job);
}

static void every_use_of_a_group_becomes_one_instance(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 4, 10);
	small_job_run(&job);
	match_job(&job, &match, &cuts);
	assert_int_equal(match.n_channels, 1);
	assert_int_equal(match.n_instances, 40);
	assert_int_equal(match.n_instances_matched, 40);
	assert_int_equal(match.n_groups_matched, 1);
	assert_int_equal(match.channels[0].step_idx[0], 0);
	assert_int_equal(match.channels[0].step_idx[39], 9);
	release(&job, &match, &cuts);
}

static void common_ends_give_the_clock_offsets(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 4, 10);
	job.clock_ns[1] = 30 * FSL_NS_PER_MS;
	job.clock_ns[3] = -40 * FSL_NS_PER_MS;
	small_job_run(&job);
	match_job(&job, &match, &cuts);
	assert_int_equal(match.clock_ns[0], 0);
	assert_int_equal(match.clock_ns[1], 30 * FSL_NS_PER_MS);
	assert_int_equal(match.clock_ns[3], -40 * FSL_NS_PER_MS);
	assert_true(match.offset_max_ms == 40.0);
	assert_true(match.residual_ms == 0.0);
	for (size_t r = 0; r < 4; r++) {
		assert_int_equal(fsl_cuts_first(&cuts, r, 5), 20);
	}
	release(&job, &match, &cuts);
}

/* Removes operator @k of rank @r. */
static void drop_op(struct small_job *job, size_t r, size_t k)
{
	struct fsl_rank *rank = &job->run.ranks[r];
	memmove(&rank->ops[k], &rank->ops[k + 1], (rank->n_ops - k - 1) * sizeof(*rank->ops));
	rank->n_ops--;
}

static void dropped_records_leave_holes_and_do_not_shift_the_rest(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 4, 10);
	small_job_run(&job);
	drop_op(&job, 2, 17);
	drop_op(&job, 1, 3);
	match_job(&job, &match, &cuts);
	const struct fsl_channel *channel = &match.channels[0];
	assert_int_equal(channel->n_instances, 40);
	assert_int_equal(match.n_instances_matched, 38);
	assert_int_equal(channel->op_idx[17 * 4 + 2], FSL_NO_OP);
	assert_int_equal(channel->op_idx[18 * 4 + 2], 17);
	assert_int_equal(channel->op_idx[3 * 4 + 1], FSL_NO_OP);
	assert_int_equal(channel->op_idx[39 * 4 + 3], 39);
	release(&job, &match, &cuts);
}

static void equally_many_lost_records_in_different_places_do_not_pair_strangers(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 2, 10);
	small_job_run(&job);
	drop_op(&job, 0, 5);
	drop_op(&job, 1, 30);
	match_job(&job, &match, &cuts);
	const struct fsl_channel *channel = &match.channels[0];
	assert_int_equal(channel->n_instances, 40);
	assert_int_equal(match.n_instances_matched, 38);
	for (size_t i = 0; i < channel->n_instances; i++) {
		uint32_t a = channel->op_idx[i * 2], b = channel->op_idx[i * 2 + 1];
		if (a != FSL_NO_OP && b != FSL_NO_OP) {
			assert_int_equal(job.run.ranks[0].ops[a].dev_end_ns,
					 job.run.ranks[1].ops[b].dev_end_ns);
		}
	}
	release(&job, &match, &cuts);
}

/* The host is 600 ms ahead: an operator whose device rows are lost seems to belong to another use.
 */
static void an_operator_without_its_device_times_is_lost(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 2, 10);
	small_job_run(&job);
	struct fsl_rank *rank = &job.run.ranks[1];
	rank->ops[17].dev_begin_ns = rank->ops[17].dev_end_ns = FSL_NS_ABSENT;
	match_job(&job, &match, &cuts);
	const struct fsl_channel *channel = &match.channels[0];
	assert_int_equal(channel->n_instances, 40);
	assert_int_equal(match.n_instances_matched, 39);
	assert_int_equal(channel->op_idx[17 * 2 + 1], FSL_NO_OP);
	release(&job, &match, &cuts);
}

/* Neighbouring uses of which each member lost another one are two instances, not one. */
static void uses_that_lack_each_others_record_stay_apart(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 2, 10);
	job.body_ms[0] = job.body_ms[1] = 200.0;
	job.head_ms[0] = job.head_ms[1] = -45.0;
	small_job_run(&job);
	drop_op(&job, 0, 19);
	drop_op(&job, 1, 20);
	drop_op(&job, 1, 30);
	match_job(&job, &match, &cuts);
	const struct fsl_channel *channel = &match.channels[0];
	assert_int_equal(channel->n_instances, 40);
	assert_int_equal(match.n_instances_matched, 37);
	for (size_t i = 0; i < channel->n_instances; i++) {
		uint32_t a = channel->op_idx[i * 2], b = channel->op_idx[i * 2 + 1];
		if (a != FSL_NO_OP && b != FSL_NO_OP) {
			assert_int_equal(job.run.ranks[0].ops[a].dev_end_ns,
					 job.run.ranks[1].ops[b].dev_end_ns);
		}
	}
	release(&job, &match, &cuts);
}

/* Uses follow each other faster than the clocks differ. */
static void lost_records_under_large_offsets_do_not_shift_the_clocks(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 4, 40);
	for (size_t r = 0; r < 4; r++) {
		job.body_ms[r] = -35.0;
	}
	job.noise_ms = 5.0;
	job.clock_ns[1] = 50 * FSL_NS_PER_MS;
	job.clock_ns[2] = -45 * FSL_NS_PER_MS;
	small_job_run(&job);
	drop_op(&job, 0, 3);
	drop_op(&job, 1, 60);
	drop_op(&job, 1, 61);
	drop_op(&job, 2, 90);
	match_job(&job, &match, &cuts);
	assert_int_equal(match.clock_ns[1], 50 * FSL_NS_PER_MS);
	assert_int_equal(match.clock_ns[2], -45 * FSL_NS_PER_MS);
	assert_int_equal(match.channels[0].n_instances, 160);
	assert_int_equal(match.n_instances_matched, 156);
	release(&job, &match, &cuts);
}

/* As where chapters begin: what one rank did just before the boundary, another did behind it. */
static void uses_that_a_member_lacks_at_its_begin_do_not_shift_the_rest(void **state)
{
	(void)state;
	for (size_t n_cut = 0; n_cut < 12; n_cut++) {
		struct small_job job;
		struct fsl_match match;
		struct fsl_cuts cuts;
		small_job_init(&job, 4, 30);
		job.noise_ms = 2.0;
		job.clock_ns[1] = 50 * FSL_NS_PER_MS;
		job.clock_ns[2] = -45 * FSL_NS_PER_MS;
		small_job_run(&job);
		for (size_t k = 0; k < n_cut; k++) {
			drop_op(&job, 1, 0);
			drop_op(&job, 3, job.run.ranks[3].n_ops - 1);
			if (k % 2 == 0) {
				drop_op(&job, 2, 0);
			}
		}
		match_job(&job, &match, &cuts);
		assert_int_equal(match.clock_ns[1], 50 * FSL_NS_PER_MS);
		assert_int_equal(match.clock_ns[2], -45 * FSL_NS_PER_MS);
		assert_int_equal(match.clock_ns[3], 0);
		const struct fsl_channel *channel = &match.channels[0];
		assert_int_equal(channel->n_instances, 120);
		assert_int_equal(match.n_instances_matched, 120 - 2 * n_cut);
		for (size_t k = n_cut; k < 120; k++) {
			assert_int_equal(channel->op_idx[k * 4 + 1], k - n_cut);
			assert_int_equal(channel->op_idx[k * 4 + 2], k - (n_cut + 1) / 2);
		}
		release(&job, &match, &cuts);
	}
}

/* Files that were cut at a time by clocks that nobody keeps: ends differ by chance, as recorded
 * ones do, and clocks by many steps. */
static void uses_cut_by_clocks_that_are_steps_apart_find_each_other(void **state)
{
	(void)state;
	static const struct {
		int64_t apart_ms, jitter_ns;
		size_t n_cut, n_end;
	} cases[] = {{-3500, 150000, 17, 0}, {12000, 150000, 0, 58}, {7000, 250000, 31, 3},
		     {900, 0, 5, 1},         {9000, 150000, 0, 112}, {-6000, 100000, 96, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_job job;
		struct fsl_match match;
		struct fsl_cuts cuts;
		small_job_init(&job, 2, 40);
		job.noise_ms = 12.0;
		job.clock_ns[1] = cases[i].apart_ms * FSL_NS_PER_MS;
		small_job_run(&job);
		for (size_t k = 0; k < job.run.ranks[1].n_ops; k++) {
			struct fsl_op *op = &job.run.ranks[1].ops[k];
			op->dev_end_ns += cases[i].jitter_ns * (int64_t)(k * k % 7) / 6;
		}
		for (size_t k = 0; k < cases[i].n_cut; k++) {
			drop_op(&job, 1, 0);
		}
		for (size_t k = 0; k < cases[i].n_end; k++) {
			drop_op(&job, 1, job.run.ranks[1].n_ops - 1);
		}
		match_job(&job, &match, &cuts);
		assert_true(llabs(match.clock_ns[1] - job.clock_ns[1]) <= cases[i].jitter_ns);
		assert_int_equal(match.n_instances_matched, 160 - cases[i].n_cut - cases[i].n_end);
		size_t k = cases[i].n_cut + 10;
		assert_int_equal(match.channels[0].op_idx[2 * k + 1], 10);
		release(&job, &match, &cuts);
	}
}

static void clock_offsets_survive_lost_records(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 4, 10);
	job.clock_ns[2] = 20 * FSL_NS_PER_MS;
	small_job_run(&job);
	drop_op(&job, 0, 3);
	drop_op(&job, 2, 7);
	drop_op(&job, 2, 22);
	match_job(&job, &match, &cuts);
	assert_int_equal(match.clock_ns[2], 20 * FSL_NS_PER_MS);
	assert_int_equal(match.channels[0].n_instances, 40);
	release(&job, &match, &cuts);
}

static void the_slow_rank_has_the_largest_lateness(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	struct fsl_windows late = {0};
	small_job_init(&job, 4, 10);
	job.body_ms[2] = 20.0;
	job.head_ms[2] = 20.0;
	small_job_run(&job);
	match_job(&job, &match, &cuts);
	assert_int_equal(fsl_channel_lateness(&late, &match.channels[0], &job.run, NULL), FSL_OK);
	for (size_t i = 0; i < late.n_windows; i++) {
		assert_true(late.values[2 * late.n_windows + i] > 19.0);
		assert_true(late.values[0 * late.n_windows + i] < 1.0);
	}
	const struct fsl_op *op = &job.run.ranks[2].ops[match.channels[0].op_idx[2]];
	struct fsl_view view = {.windows = &late};
	assert_int_equal(fsl_view_window_ns(&view, 2, 0), fsl_op_begin_ns(op));
	assert_null(fsl_view_column(&view, 2).n_samples);
	fsl_windows_fini(&late);
	release(&job, &match, &cuts);
}

static void sends_meet_receives_in_groups_of_two(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	small_job_init(&job, 2, 0);
	uint32_t send = small_job_name(&job, "HcclSend");
	uint32_t receive = small_job_name(&job, "HcclReceive");
	uint32_t group = small_job_name(&job, "g0");
	for (int64_t i = 0; i < 5; i++) {
		int64_t begin_ns = SMALL_JOB_ORIGIN_NS + i * FSL_NS_PER_S;
		int64_t end_ns = begin_ns + FSL_NS_PER_MS;
		small_job_add_op(&job, 0, send, group, begin_ns, end_ns);
		small_job_add_op(&job, 1, receive, group, begin_ns, end_ns);
		begin_ns += FSL_NS_PER_S / 2;
		end_ns += FSL_NS_PER_S / 2;
		small_job_add_op(&job, 0, receive, group, begin_ns, end_ns);
		small_job_add_op(&job, 1, send, group, begin_ns, end_ns);
	}
	assert_int_equal(fsl_match_build(&match, &job.run, &job.topology, NULL), FSL_OK);
	assert_int_equal(match.n_channels, 2);
	for (size_t c = 0; c < 2; c++) {
		const struct fsl_channel *channel = &match.channels[c];
		assert_true(channel->is_p2p);
		const struct fsl_op *near = &job.run.ranks[0].ops[channel->op_idx[0]];
		const struct fsl_op *far = &job.run.ranks[1].ops[channel->op_idx[1]];
		assert_int_not_equal(near->op_id, far->op_id);
		assert_int_equal(near->dev_end_ns, far->dev_end_ns);
	}
	fsl_match_fini(&match);
	small_job_fini(&job);
}

static void a_single_point_to_point_use_of_a_larger_group_is_left_unmatched(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	small_job_init(&job, 3, 0);
	uint32_t op = small_job_name(&job, "HcclBatchSendRecv");
	for (size_t r = 0; r < 3; r++) {
		small_job_add_op(&job, r, op, small_job_name(&job, "g0"), SMALL_JOB_ORIGIN_NS,
				 SMALL_JOB_ORIGIN_NS + 1);
	}
	assert_int_equal(fsl_match_build(&match, &job.run, &job.topology, NULL), FSL_OK);
	assert_int_equal(match.n_channels, 0);
	assert_int_equal(match.n_groups, 1);
	assert_int_equal(match.n_groups_matched, 0);
	fsl_match_fini(&match);
	small_job_fini(&job);
}

static void jitter_at_a_boundary_moves_no_operator_to_another_step(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 4, 10);
	small_job_run(&job);
	/* The boundary of step 5 comes late on the source rank: behind the first operator. */
	job.steps.items[5].begin_ns += 53 * FSL_NS_PER_MS;
	match_job(&job, &match, &cuts);
	for (size_t r = 0; r < 4; r++) {
		assert_true(cuts.is_regular[r]);
		assert_int_equal(fsl_cuts_first(&cuts, r, 5), 20);
		assert_int_equal(fsl_cuts_step_of(&cuts, r, 20), 5);
		assert_int_equal(fsl_cuts_step_of(&cuts, r, 19), 4);
	}
	release(&job, &match, &cuts);
}

/* All members lost the record, so nothing tells that it is missing. */
static void cuts_follow_operators_that_nobody_recorded(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	small_job_init(&job, 2, 40);
	small_job_run(&job);
	for (size_t i = 0; i < 3; i++) { /* of steps 10, 20, 30 */
		drop_op(&job, 0, 42 + 39 * i);
		drop_op(&job, 1, 42 + 39 * i);
	}
	/* The boundary of step 17 comes late on the source rank: behind the first operator. */
	job.steps.items[17].begin_ns += 53 * FSL_NS_PER_MS;
	match_job(&job, &match, &cuts);
	for (size_t s = 0; s < 40; s++) {
		size_t n_lost = s > 30 ? 3 : s > 20 ? 2 : s > 10 ? 1 : 0;
		assert_int_equal(fsl_cuts_first(&cuts, 0, s), 4 * s - n_lost);
		assert_int_equal(fsl_cuts_first(&cuts, 1, s), 4 * s - n_lost);
	}
	release(&job, &match, &cuts);
}

static void gaps_are_own_time_split_at_the_head_of_the_step(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	struct fsl_own own;
	small_job_init(&job, 4, 10);
	job.head_ms[1] = 30.0;
	job.body_ms[2] = 10.0;
	small_job_run(&job);
	match_job(&job, &match, &cuts);
	assert_int_equal(fsl_own_build(&own, &job.run, &job.steps, &cuts, NULL), FSL_OK);
	assert_false(own.has_stages);
	assert_true(isnan(fsl_own_total_ms(&own, 0, 0))); /* nothing is known before the capture */
	assert_true(fabs(fsl_own_part_ms(&own, 0, 4, FSL_OWN_HEAD) - 50.0) < 0.5);
	assert_true(fabs(fsl_own_part_ms(&own, 0, 4, FSL_OWN_BODY) - 150.0) < 1.0);
	assert_true(fabs(fsl_own_part_ms(&own, 1, 4, FSL_OWN_HEAD) - 80.0) < 0.5);
	assert_true(fabs(fsl_own_part_ms(&own, 2, 4, FSL_OWN_BODY) - 180.0) < 1.0);
	fsl_own_fini(&own);
	release(&job, &match, &cuts);
}

/*
 * One rank; each step of 100 ms holds a gather at 20-30, then a reduction from 30 to 90 under which
 * the rank works until a second gather at 60-70: own time is 20 + 30 + 10, not 20 + 10.
 */
static void work_under_an_asynchronous_operator_is_own_time(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_cuts cuts;
	struct fsl_own own;
	int64_t clock_ns[1] = {0};
	enum { STEPS = 10 };
	small_job_init(&job, 1, STEPS);
	uint32_t gather = small_job_name(&job, "HcclAllGather");
	uint32_t reduce = small_job_name(&job, "HcclReduceScatter");
	uint32_t tp = small_job_name(&job, "g0"), dp = small_job_name(&job, "dp");
	job.steps.items = fsl_calloc(STEPS, sizeof(*job.steps.items));
	job.steps.n_items = STEPS;
	for (size_t s = 0; s < STEPS; s++) {
		int64_t at_ns = SMALL_JOB_ORIGIN_NS + (int64_t)s * 100 * FSL_NS_PER_MS;
		job.steps.items[s] = (struct fsl_job_step){
			.step = (int64_t)s, .begin_ns = at_ns, .dur_ns = 100 * FSL_NS_PER_MS};
		small_job_add_op(&job, 0, gather, tp, at_ns + 20 * FSL_NS_PER_MS,
				 at_ns + 30 * FSL_NS_PER_MS);
		small_job_add_op(&job, 0, reduce, dp, at_ns + 30 * FSL_NS_PER_MS,
				 at_ns + 90 * FSL_NS_PER_MS);
		small_job_add_op(&job, 0, gather, tp, at_ns + 60 * FSL_NS_PER_MS,
				 at_ns + 70 * FSL_NS_PER_MS);
	}
	assert_int_equal(fsl_cuts_build(&cuts, &job.run, &job.steps, clock_ns, NULL), FSL_OK);
	assert_int_equal(fsl_own_build(&own, &job.run, &job.steps, &cuts, NULL), FSL_OK);
	/* 10 behind the last reduction and 20 before the gather; 30 between the gathers. */
	assert_true(fsl_own_part_ms(&own, 0, 5, FSL_OWN_HEAD) == 30.0);
	assert_true(fsl_own_part_ms(&own, 0, 5, FSL_OWN_BODY) == 30.0);
	fsl_own_fini(&own);
	fsl_cuts_fini(&cuts);
	small_job_fini(&job);
}

/*
 * One rank; each step of 100 ms holds gathers at 20-30 and 80-90, between which it works 50 ms, and
 * a reduction that begins at 30 and ends under that work, at 50 to 70 as the others please. Nobody
 * waits for it: own time is 10 + 20 + 50 in every step, not what is left behind its end.
 */
static void an_operator_that_ends_under_steady_work_held_nobody(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_cuts cuts;
	struct fsl_own own;
	int64_t clock_ns[1] = {0};
	enum { STEPS = 12 };
	small_job_init(&job, 1, STEPS);
	uint32_t gather = small_job_name(&job, "HcclAllGather");
	uint32_t reduce = small_job_name(&job, "HcclAllreduce");
	uint32_t tp = small_job_name(&job, "g0"), dp = small_job_name(&job, "dp");
	job.steps.items = fsl_calloc(STEPS, sizeof(*job.steps.items));
	job.steps.n_items = STEPS;
	for (size_t s = 0; s < STEPS; s++) {
		int64_t at_ns = SMALL_JOB_ORIGIN_NS + (int64_t)s * 100 * FSL_NS_PER_MS;
		int64_t end_ms = s % 3 == 2 ? 85 : 50 + 10 * (int64_t)(s % 3);
		job.steps.items[s] = (struct fsl_job_step){
			.step = (int64_t)s, .begin_ns = at_ns, .dur_ns = 100 * FSL_NS_PER_MS};
		small_job_add_op(&job, 0, gather, tp, at_ns + 20 * FSL_NS_PER_MS,
				 at_ns + 30 * FSL_NS_PER_MS);
		small_job_add_op(&job, 0, reduce, dp, at_ns + 30 * FSL_NS_PER_MS,
				 at_ns + end_ms * FSL_NS_PER_MS);
		small_job_add_op(&job, 0, gather, tp, at_ns + 80 * FSL_NS_PER_MS,
				 at_ns + 90 * FSL_NS_PER_MS);
	}
	assert_int_equal(fsl_cuts_build(&cuts, &job.run, &job.steps, clock_ns, NULL), FSL_OK);
	assert_int_equal(fsl_own_build(&own, &job.run, &job.steps, &cuts, NULL), FSL_OK);
	for (size_t s = 3; s + 1 < STEPS; s++) {
		assert_true(fsl_own_part_ms(&own, 0, s, FSL_OWN_HEAD) == 30.0);
		assert_true(fsl_own_part_ms(&own, 0, s, FSL_OWN_BODY) == 50.0);
	}
	fsl_own_fini(&own);
	fsl_cuts_fini(&cuts);
	small_job_fini(&job);
}

/* One step of 1000 ms with an operator of rank 0 at 350-500. */
static void start_step(struct small_job *job, size_t n_ranks)
{
	small_job_init(job, n_ranks, 1);
	small_job_add_op(job, 0, small_job_name(job, "HcclAllReduce"), small_job_name(job, "g0"),
			 SMALL_JOB_ORIGIN_NS + 350 * FSL_NS_PER_MS,
			 SMALL_JOB_ORIGIN_NS + 500 * FSL_NS_PER_MS);
	job->steps.items = fsl_calloc(1, sizeof(*job->steps.items));
	job->steps.n_items = 1;
	job->steps.items[0] =
		(struct fsl_job_step){.begin_ns = SMALL_JOB_ORIGIN_NS, .dur_ns = FSL_NS_PER_S};
}

static void add_stage(struct small_job *job, size_t r, enum fsl_stage_kind kind, double begin_ms,
		      double end_ms)
{
	struct fsl_rank *rank = &job->run.ranks[r];
	assert_int_equal(FSL_GROW(rank->stages, rank->stages_capacity, rank->n_stages + 1, NULL),
			 FSL_OK);
	rank->stages[rank->n_stages++] = (struct fsl_stage){
		.begin_ns = SMALL_JOB_ORIGIN_NS + (int64_t)(begin_ms * FSL_NS_PER_MS),
		.end_ns = SMALL_JOB_ORIGIN_NS + (int64_t)(end_ms * FSL_NS_PER_MS),
		.step = 0,
		.kind = kind};
}

/* One rank, one step of 1000 ms: forward 100-400 with a GC at 200-250 inside, an operator at
 * 350-500, idle behind. */
static void nested_stages_and_operators_count_each_moment_once(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_cuts cuts;
	struct fsl_own own;
	int64_t clock_ns[1] = {0};
	start_step(&job, 1);
	add_stage(&job, 0, FSL_STAGE_FORWARD, 100.0, 400.0);
	add_stage(&job, 0, FSL_STAGE_GC, 200.0, 250.0);
	add_stage(&job, 0, FSL_STAGE_DATALOADER, 390.0, 520.0);
	assert_int_equal(fsl_cuts_build(&cuts, &job.run, &job.steps, clock_ns, NULL), FSL_OK);
	assert_int_equal(fsl_own_build(&own, &job.run, &job.steps, &cuts, NULL), FSL_OK);
	assert_true(own.has_stages);
	assert_true(fsl_own_part_ms(&own, 0, 0, FSL_OWN_COMPUTE) == 200.0);
	assert_true(fsl_own_part_ms(&own, 0, 0, FSL_OWN_GC) == 50.0);
	assert_true(fsl_own_part_ms(&own, 0, 0, FSL_OWN_DATALOADER) == 20.0);
	assert_true(own.idle_ms[0] == 1000.0 - 150.0 - 270.0);
	fsl_own_fini(&own);
	fsl_cuts_fini(&cuts);
	small_job_fini(&job);
}

/* Its waits were not recorded and would pass for work. */
static void stages_of_a_rank_without_operators_are_no_own_time(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_cuts cuts;
	struct fsl_own own;
	int64_t clock_ns[2] = {0};
	start_step(&job, 2);
	add_stage(&job, 0, FSL_STAGE_FORWARD, 100.0, 400.0);
	add_stage(&job, 1, FSL_STAGE_FORWARD, 100.0, 500.0);
	assert_int_equal(fsl_cuts_build(&cuts, &job.run, &job.steps, clock_ns, NULL), FSL_OK);
	assert_int_equal(fsl_own_build(&own, &job.run, &job.steps, &cuts, NULL), FSL_OK);
	assert_true(own.has_stages);
	assert_true(fsl_own_total_ms(&own, 0, 0) == 250.0);
	assert_true(isnan(fsl_own_total_ms(&own, 1, 0)));
	fsl_own_fini(&own);
	fsl_cuts_fini(&cuts);
	small_job_fini(&job);
}

/* A rank that begins its step a moment before the source rank does: the number of its stage
 * decides, not the begin. */
static void stages_follow_the_numbers_of_the_steps(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_cuts cuts;
	struct fsl_own own;
	int64_t clock_ns[1] = {0};
	small_job_init(&job, 1, 2);
	add_stage(&job, 0, FSL_STAGE_FORWARD, 10.0, 110.0);
	add_stage(&job, 0, FSL_STAGE_FORWARD, 999.0, 1100.0);
	job.run.ranks[0].stages[1].step = 1;
	small_job_add_op(&job, 0, small_job_name(&job, "HcclAllReduce"), small_job_name(&job, "g0"),
			 SMALL_JOB_ORIGIN_NS + 500 * FSL_NS_PER_MS,
			 SMALL_JOB_ORIGIN_NS + 501 * FSL_NS_PER_MS);
	job.steps.items = fsl_calloc(2, sizeof(*job.steps.items));
	job.steps.n_items = 2;
	for (size_t s = 0; s < 2; s++) {
		job.steps.items[s] = (struct fsl_job_step){.step = (int64_t)s,
							   .begin_ns = SMALL_JOB_ORIGIN_NS +
								       (int64_t)s * FSL_NS_PER_S,
							   .dur_ns = FSL_NS_PER_S};
	}
	assert_int_equal(fsl_cuts_build(&cuts, &job.run, &job.steps, clock_ns, NULL), FSL_OK);
	assert_int_equal(fsl_own_build(&own, &job.run, &job.steps, &cuts, NULL), FSL_OK);
	assert_true(fsl_own_part_ms(&own, 0, 0, FSL_OWN_COMPUTE) == 100.0);
	assert_true(fsl_own_part_ms(&own, 0, 1, FSL_OWN_COMPUTE) == 101.0);
	fsl_own_fini(&own);
	/* Without numbers the middle decides; the begin would give the first step 201 ms. */
	job.steps.is_ordinal = true;
	assert_int_equal(fsl_own_build(&own, &job.run, &job.steps, &cuts, NULL), FSL_OK);
	assert_true(fsl_own_part_ms(&own, 0, 0, FSL_OWN_COMPUTE) == 100.0);
	assert_true(fsl_own_part_ms(&own, 0, 1, FSL_OWN_COMPUTE) == 101.0);
	fsl_own_fini(&own);
	fsl_cuts_fini(&cuts);
	small_job_fini(&job);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
	(void)state;
	struct small_job job;
	small_job_init(&job, 4, 10);
	small_job_run(&job);
	drop_op(&job, 2, 17);
	bool is_done = false;
	for (uint64_t nth = 1; !is_done && nth < 200; nth++) {
		struct fsl_match match;
		struct fsl_error err = {0};
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_match_build(&match, &job.run, &job.topology, &err);
		fsl_mem_fail_at(0);
		is_done = status == FSL_OK;
		if (!is_done) {
			assert_int_equal(status, FSL_ERR_MEMORY);
			assert_true(err.n_causes > 0);
		} else {
			fsl_match_fini(&match);
		}
	}
	assert_true(is_done);
	small_job_fini(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_use_of_a_group_becomes_one_instance),
		cmocka_unit_test(common_ends_give_the_clock_offsets),
		cmocka_unit_test(dropped_records_leave_holes_and_do_not_shift_the_rest),
		cmocka_unit_test(
			equally_many_lost_records_in_different_places_do_not_pair_strangers),
		cmocka_unit_test(an_operator_without_its_device_times_is_lost),
		cmocka_unit_test(uses_that_lack_each_others_record_stay_apart),
		cmocka_unit_test(lost_records_under_large_offsets_do_not_shift_the_clocks),
		cmocka_unit_test(uses_that_a_member_lacks_at_its_begin_do_not_shift_the_rest),
		cmocka_unit_test(uses_cut_by_clocks_that_are_steps_apart_find_each_other),
		cmocka_unit_test(clock_offsets_survive_lost_records),
		cmocka_unit_test(the_slow_rank_has_the_largest_lateness),
		cmocka_unit_test(sends_meet_receives_in_groups_of_two),
		cmocka_unit_test(a_single_point_to_point_use_of_a_larger_group_is_left_unmatched),
		cmocka_unit_test(jitter_at_a_boundary_moves_no_operator_to_another_step),
		cmocka_unit_test(cuts_follow_operators_that_nobody_recorded),
		cmocka_unit_test(gaps_are_own_time_split_at_the_head_of_the_step),
		cmocka_unit_test(work_under_an_asynchronous_operator_is_own_time),
		cmocka_unit_test(an_operator_that_ends_under_steady_work_held_nobody),
		cmocka_unit_test(nested_stages_and_operators_count_each_moment_once),
		cmocka_unit_test(stages_of_a_rank_without_operators_are_no_own_time),
		cmocka_unit_test(stages_follow_the_numbers_of_the_steps),
		cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
