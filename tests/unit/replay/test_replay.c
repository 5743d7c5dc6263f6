/* Claims about the replay: the length of a job made by hand with one part repaired. */
#include <math.h>
#include <stdio.h>

#include "support/small_job.h"

#include "replay/replay.h"

enum { STEPS = 12, RANKS_MAX = 4 };

/* Everything that a replay needs. */
struct replayed {
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	struct fsl_own own;
	struct fsl_replay replay;
	uint32_t members[SMALL_JOB_RANKS_MAX];
	size_t class_begin[2];
	bool believes_matches;      /* also those whose ends disagree */
	const bool *misses_members; /* as fsl_replay_job */
};

static struct fsl_replay_job job_of(struct replayed *c)
{
	c->class_begin[1] = c->job.n_ranks;
	for (size_t r = 0; r < c->job.n_ranks; r++) {
		c->members[r] = (uint32_t)r;
	}
	return (struct fsl_replay_job){.run = &c->job.run,
				       .steps = &c->job.steps,
				       .match = &c->match,
				       .cuts = &c->cuts,
				       .own = &c->own,
				       .members = c->members,
				       .class_begin = c->class_begin,
				       .n_classes = 1,
				       .misses_members = c->misses_members,
				       .steps_max = 100,
				       .ops_max = 100000};
}

/* Matches, cuts and replays the operators that are there. */
static void replay_ops(struct replayed *c)
{
	assert_int_equal(fsl_match_build(&c->match, &c->job.run, &c->job.topology, NULL), FSL_OK);
	for (size_t k = 0; k < c->match.n_channels && c->believes_matches; k++) {
		c->match.channels[k].disagrees = false;
	}
	assert_int_equal(
		fsl_cuts_build(&c->cuts, &c->job.run, &c->job.steps, c->match.clock_ns, NULL),
		FSL_OK);
	fsl_match_assign_steps(&c->match, &c->cuts);
	assert_int_equal(fsl_own_build(&c->own, &c->job.run, &c->job.steps, &c->cuts, NULL),
			 FSL_OK);
	struct fsl_replay_job job = job_of(c);
	assert_int_equal(fsl_replay_build(&c->replay, &job, NULL), FSL_OK);
	assert_non_null(c->replay.graph);
}

static void release(struct replayed *c)
{
	fsl_replay_fini(&c->replay);
	fsl_own_fini(&c->own);
	fsl_cuts_fini(&c->cuts);
	fsl_match_fini(&c->match);
	small_job_fini(&c->job);
}

/* Mean step time under a repair; the first step is left out, it has no past. */
static double mean_under(const struct replayed *c, const struct fsl_repair *repair)
{
	double ms[64], sum = 0.0;
	assert_int_equal(fsl_replay_run(&c->replay, repair, 1, ms, NULL), FSL_OK);
	for (size_t i = 1; i < c->replay.n_steps; i++) {
		sum += ms[i];
	}
	return sum / (double)(c->replay.n_steps - 1);
}

/* The same with these ranks and channels at their level. */
static double step_ms(const struct replayed *c, const bool *ranks, const bool *channels)
{
	return mean_under(c, &(struct fsl_repair){ranks, channels, FSL_REPLAY_PARTS_ALL, false});
}

static void set_factor(struct replayed *c, size_t r, uint32_t part, double factor)
{
	for (size_t i = 0; i < c->replay.n_steps; i++) {
		c->replay.own_factor[(r * c->replay.n_steps + i) * FSL_REPLAY_PARTS_N + part] =
			factor;
	}
	assert_int_equal(fsl_replay_set_levels(&c->replay, NULL), FSL_OK);
}

static void assert_ms(double ms, double wanted_ms)
{
	if (fabs(ms - wanted_ms) > 0.01) {
		print_message("%.3f ms, wanted %.3f ms\n", ms, wanted_ms);
		fail();
	}
}

static void assert_baseline(const struct replayed *c)
{
	double replayed_ms[64];
	assert_int_equal(fsl_replay_run(&c->replay, &(struct fsl_repair){0}, 1, replayed_ms, NULL),
			 FSL_OK);
	for (size_t i = 0; i < c->replay.n_steps; i++) {
		assert_ms(replayed_ms[i], c->replay.measured_ms[i]);
	}
}

/* Work of 50 ms before each of four collectives of 1 ms; some ranks take longer. */
static void run_small(struct replayed *c, size_t n_ranks, const double *body_ms)
{
	small_job_init(&c->job, n_ranks, STEPS);
	c->job.noise_ms = 0.0;
	for (size_t r = 0; r < n_ranks; r++) {
		c->job.head_ms[r] = c->job.body_ms[r] = body_ms[r];
	}
	small_job_run(&c->job);
	replay_ops(c);
	for (size_t r = 0; r < n_ranks; r++) {
		set_factor(c, r, FSL_OWN_HEAD, 50.0 / (50.0 + body_ms[r]));
		set_factor(c, r, FSL_OWN_BODY, 50.0 / (50.0 + body_ms[r]));
	}
}

static void a_slow_rank_costs_its_excess(void **state)
{
	(void)state;
	struct replayed c = {0};
	run_small(&c, 4, (double[]){0, 10, 0, 0});
	assert_baseline(&c);
	assert_int_equal(c.replay.n_steps, STEPS);
	assert_int_equal(c.replay.n_meetings, STEPS * SMALL_JOB_OPS_PER_STEP);
	assert_true(c.replay.unmatched_share == 0.0);
	assert_ms(step_ms(&c, NULL, NULL), 4 * 61.0);
	assert_ms(step_ms(&c, (bool[]){false, true, false, false}, NULL), 4 * 51.0);
	assert_ms(step_ms(&c, (bool[]){true, false, true, true}, NULL), 4 * 61.0);
	release(&c);
}

static void two_slow_ranks_hide_each_other_until_both_are_repaired(void **state)
{
	(void)state;
	struct replayed c = {0};
	run_small(&c, 4, (double[]){0, 10, 10, 0});
	assert_ms(step_ms(&c, (bool[]){false, true, false, false}, NULL), 4 * 61.0);
	assert_ms(step_ms(&c, (bool[]){false, false, true, false}, NULL), 4 * 61.0);
	assert_ms(step_ms(&c, (bool[]){false, true, true, false}, NULL), 4 * 51.0);
	release(&c);
}

static void a_slower_rank_behind_a_slow_one_costs_nothing_until_that_is_repaired(void **state)
{
	(void)state;
	struct replayed c = {0};
	run_small(&c, 3, (double[]){0, 10, 4});
	assert_ms(step_ms(&c, (bool[]){false, false, true}, NULL), 4 * 61.0);
	assert_ms(step_ms(&c, (bool[]){false, true, false}, NULL), 4 * 55.0);
	release(&c);
}

/* The first operator of a capture has no past: a rank that works less before it begins earlier. */
static void a_rank_that_is_late_to_the_first_operator_costs_all_of_it(void **state)
{
	(void)state;
	static const double more_ms[] = {350.0, 20.0};
	for (size_t k = 0; k < sizeof(more_ms) / sizeof(more_ms[0]); k++) {
		struct replayed c = {0};
		double as_is_ms[STEPS], ms[STEPS];
		int64_t off_ns[STEPS * SMALL_JOB_OPS_PER_STEP] = {0};
		for (size_t i = 0; i < STEPS * SMALL_JOB_OPS_PER_STEP; i++) {
			off_ns[i] = (int64_t)(more_ms[k] * 1e6);
		}
		run_small(&c, 2, (double[]){0, more_ms[k]});
		fsl_replay_set_rank_level(&c.replay, 0, 1.0, NULL);
		fsl_replay_set_rank_level(&c.replay, 1, 1.0, off_ns);
		const struct fsl_repair repairs[] = {
			{.parts = FSL_REPLAY_PARTS_ALL},
			{.ranks = (bool[]){true, true}, .parts = FSL_REPLAY_PARTS_ALL}};
		assert_int_equal(fsl_replay_run(&c.replay, &repairs[0], 1, as_is_ms, NULL), FSL_OK);
		assert_int_equal(fsl_replay_run(&c.replay, &repairs[1], 1, ms, NULL), FSL_OK);
		assert_ms(as_is_ms[0] - ms[0], SMALL_JOB_OPS_PER_STEP * more_ms[k]);
		release(&c);
	}
}

static void only_the_parts_asked_for_are_repaired(void **state)
{
	(void)state;
	struct replayed c = {0};
	double ms[STEPS];
	run_small(&c, 2, (double[]){0, 10});
	struct fsl_repair head = {(bool[]){true, true}, NULL, UINT32_C(1) << FSL_OWN_HEAD, false};
	assert_int_equal(fsl_replay_run(&c.replay, &head, 1, ms, NULL), FSL_OK);
	assert_ms(ms[5], 3 * 61.0 + 51.0);
	release(&c);
}

static void clocks_of_other_hosts_do_not_matter(void **state)
{
	(void)state;
	struct replayed c = {0};
	small_job_init(&c.job, 2, STEPS);
	c.job.noise_ms = 0.0;
	c.job.body_ms[1] = 10.0;
	c.job.clock_ns[1] = 700 * (int64_t)FSL_NS_PER_MS;
	small_job_run(&c.job);
	replay_ops(&c);
	assert_baseline(&c);
	set_factor(&c, 1, FSL_OWN_BODY, 50.0 / 60.0);
	assert_ms(step_ms(&c, (bool[]){false, true}, NULL), 4 * 51.0);
	release(&c);
}

static void longer_times_are_replayed_in_proportion(void **state)
{
	(void)state;
	struct replayed c = {0};
	small_job_init(&c.job, 3, STEPS);
	c.job.noise_ms = 0.0;
	c.job.body_ms[2] = 20.0;
	small_job_run(&c.job);
	for (size_t r = 0; r < 3; r++) {
		for (size_t i = 0; i < c.job.run.ranks[r].n_ops; i++) {
			struct fsl_op *op = &c.job.run.ranks[r].ops[i];
			op->dev_begin_ns += 2 * (op->dev_begin_ns - SMALL_JOB_ORIGIN_NS);
			op->dev_end_ns += 2 * (op->dev_end_ns - SMALL_JOB_ORIGIN_NS);
		}
	}
	for (size_t s = 0; s < STEPS; s++) {
		struct fsl_job_step *step = &c.job.steps.items[s];
		step->begin_ns += 2 * (step->begin_ns - SMALL_JOB_ORIGIN_NS);
		step->dur_ns *= 3;
	}
	replay_ops(&c);
	set_factor(&c, 2, FSL_OWN_BODY, 50.0 / 70.0);
	assert_ms(step_ms(&c, NULL, NULL), 3 * (51.0 + 3 * 71.0));
	assert_ms(step_ms(&c, (bool[]){false, false, true}, NULL), 3 * 4 * 51.0);
	release(&c);
}

static void the_number_of_threads_changes_nothing(void **state)
{
	(void)state;
	struct replayed c = {0};
	run_small(&c, 4, (double[]){0, 10, 3, 7});
	bool ranks[16][RANKS_MAX] = {{false}};
	struct fsl_repair repairs[16];
	double many[16 * STEPS], one[STEPS];
	for (size_t i = 0; i < 16; i++) {
		for (size_t r = 0; r < RANKS_MAX; r++) {
			ranks[i][r] = (i >> r & 1) != 0;
		}
		repairs[i] = (struct fsl_repair){ranks[i], NULL, FSL_REPLAY_PARTS_ALL, false};
	}
	assert_int_equal(fsl_replay_run(&c.replay, repairs, 16, many, NULL), FSL_OK);
	for (size_t i = 0; i < 16; i++) {
		assert_int_equal(fsl_replay_run(&c.replay, &repairs[i], 1, one, NULL), FSL_OK);
		assert_memory_equal(one, many + i * STEPS, sizeof(one));
	}
	release(&c);
}

/* --- jobs whose operators are written one by one --- */

/* Ranks and steps of @step_ms, groups "g<k>" of the ranks in each mask; no operators yet. */
static void start_by_hand(struct replayed *c, size_t n_ranks, double step_dur_ms,
			  const unsigned *group_masks, size_t n_groups)
{
	small_job_init(&c->job, n_ranks, STEPS);
	struct fsl_group *groups =
		fsl_arena_alloc(&c->job.topology.arena, n_groups * sizeof(*groups));
	for (size_t g = 0; g < n_groups; g++) {
		char name[8];
		(void)snprintf(name, sizeof(name), "g%zu", g);
		int32_t *ranks = fsl_arena_alloc(&c->job.topology.arena, n_ranks * sizeof(*ranks));
		groups[g] = (struct fsl_group){.name_id = small_job_name(&c->job, name),
					       .kind = FSL_GROUP_UNKNOWN,
					       .why = "test",
					       .ranks = ranks};
		for (size_t r = 0; r < n_ranks; r++) {
			if ((group_masks[g] >> r & 1U) != 0) {
				ranks[groups[g].n_ranks++] = (int32_t)r;
			}
		}
	}
	c->job.topology.groups = groups;
	c->job.topology.n_groups = n_groups;
	c->job.steps.items = fsl_calloc(STEPS, sizeof(*c->job.steps.items));
	c->job.steps.n_items = STEPS;
	c->job.steps.source = "timeline";
	for (size_t s = 0; s < STEPS; s++) {
		int64_t dur_ns = (int64_t)(step_dur_ms * FSL_NS_PER_MS);
		c->job.steps.items[s] =
			(struct fsl_job_step){.step = (int64_t)s,
					      .begin_ns = SMALL_JOB_ORIGIN_NS + (int64_t)s * dur_ns,
					      .dur_ns = dur_ns};
	}
}

static void put(struct replayed *c, size_t s, size_t r, const char *op, const char *group,
		double begin_ms, double end_ms)
{
	int64_t step_ns = c->job.steps.items[s].begin_ns;
	small_job_add_op(&c->job, r, small_job_name(&c->job, op), small_job_name(&c->job, group),
			 step_ns + (int64_t)(begin_ms * FSL_NS_PER_MS),
			 step_ns + (int64_t)(end_ms * FSL_NS_PER_MS));
}

static void put_stage(struct replayed *c, size_t s, size_t r, double begin_ms, double end_ms)
{
	struct fsl_rank *rank = &c->job.run.ranks[r];
	int64_t step_ns = c->job.steps.items[s].begin_ns;
	assert_int_equal(FSL_GROW(rank->stages, rank->stages_capacity, rank->n_stages + 1, NULL),
			 FSL_OK);
	rank->stages[rank->n_stages++] =
		(struct fsl_stage){.begin_ns = step_ns + (int64_t)(begin_ms * FSL_NS_PER_MS),
				   .end_ns = step_ns + (int64_t)(end_ms * FSL_NS_PER_MS),
				   .step = (int64_t)s,
				   .kind = FSL_STAGE_FORWARD};
}

/* Channel of a group, by its place in the topology. */
static void channels_of_group(const struct replayed *c, size_t group_idx, bool *channels)
{
	for (size_t k = 0; k < c->match.n_channels; k++) {
		channels[k] = c->match.channels[k].group_idx == group_idx;
	}
}

static void set_transfer(struct replayed *c, const bool *channels, double factor)
{
	for (size_t k = 0; k < c->match.n_channels; k++) {
		for (size_t i = 0; i < c->replay.n_steps; i++) {
			c->replay.transfer_factor[k * c->replay.n_steps + i] =
				channels[k] ? factor : 1.0;
		}
	}
	assert_int_equal(fsl_replay_set_levels(&c->replay, NULL), FSL_OK);
}

/* Four collectives a step, 50 ms of work before each; rank 0 pauses for 100 ms before the third in
 * the steps of @paused. Its work there takes 100 of 250 ms too long. */
static void run_paused(struct replayed *c, unsigned paused, enum fsl_replay_kind kind)
{
	start_by_hand(c, 2, 304.0, (unsigned[]){0x3}, 1);
	for (size_t s = 0; s < STEPS; s++) {
		double pause_ms = (paused >> s & 1U) != 0 ? 100.0 : 0.0;
		for (size_t k = 0; k < 4; k++) {
			double at_ms = 50.0 + 51.0 * (double)k, late_ms = k < 2 ? 0.0 : pause_ms;
			double waited_ms = k < 3 ? 0.0 : pause_ms; /* rank 1 is there on time */
			put(c, s, 0, "HcclAllReduce", "g0", at_ms + late_ms, at_ms + late_ms + 1.0);
			put(c, s, 1, "HcclAllReduce", "g0", at_ms + waited_ms,
			    at_ms + late_ms + 1.0);
		}
	}
	replay_ops(c);
	for (size_t s = 0; s < STEPS; s++) {
		if ((paused >> s & 1U) != 0) {
			c->replay.kind[s] = (uint8_t)kind;
			c->replay.own_factor[s * FSL_REPLAY_PARTS_N + FSL_OWN_BODY] = 0.6;
		}
	}
	assert_int_equal(fsl_replay_set_levels(&c->replay, NULL), FSL_OK);
}

static void what_pauses_cost_comes_back_whole(void **state)
{
	(void)state;
	static const struct {
		unsigned paused;
		enum fsl_replay_kind kind;
		double gain_ms;
	} cases[] = {
		{1U << 5, FSL_REPLAY_SINGLE, 100.0},
		/* Each of three gaps made shorter by 0.4: only what is left of the longest. */
		{1U << 5, FSL_REPLAY_CALM, 60.0},
		{0x3U << 5 | 1U << 9, FSL_REPLAY_EPISODE, 300.0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct replayed c = {0};
		run_paused(&c, cases[i].paused, cases[i].kind);
		assert_baseline(&c);
		double was_ms = step_ms(&c, NULL, NULL);
		assert_ms((STEPS - 1) * (was_ms - step_ms(&c, (bool[]){true, false}, NULL)),
			  cases[i].gain_ms);
		release(&c);
	}
}

static void a_slow_link_costs_its_transfer(void **state)
{
	(void)state;
	struct replayed c = {0};
	start_by_hand(&c, 4, 130.0, (unsigned[]){0x3, 0xc, 0xf}, 3);
	for (size_t s = 0; s < STEPS; s++) {
		for (size_t r = 0; r < 4; r++) {
			put(&c, s, r, "HcclAllGather", r < 2 ? "g0" : "g1", 50.0,
			    r < 2 ? 70.0 : 52.0);
			put(&c, s, r, "HcclAllReduce", "g2", r < 2 ? 120.0 : 102.0, 130.0);
		}
	}
	replay_ops(&c);
	assert_baseline(&c);
	bool channels[8] = {false};
	channels_of_group(&c, 0, channels);
	set_transfer(&c, channels, 0.1);
	assert_ms(step_ms(&c, NULL, channels), 112.0);
	release(&c);
}

static void work_in_a_pipeline_bubble_costs_nothing(void **state)
{
	(void)state;
	struct replayed c = {0};
	/* Rank 0 hands over after 30 ms of work, while rank 1 works for 60: half of it is slack. */
	start_by_hand(&c, 2, 70.0, (unsigned[]){0x3}, 1);
	for (size_t s = 0; s < STEPS; s++) {
		put(&c, s, 0, "HcclBatchSendRecv", "g0", 40.0, 70.0);
		put(&c, s, 1, "HcclBatchSendRecv", "g0", 60.0, 70.0);
	}
	replay_ops(&c);
	set_factor(&c, 0, FSL_OWN_HEAD, 0.5);
	set_factor(&c, 1, FSL_OWN_HEAD, 0.5);
	assert_ms(step_ms(&c, (bool[]){true, false}, NULL), 70.0);
	assert_ms(step_ms(&c, (bool[]){false, true}, NULL), 50.0);
	release(&c);
}

static void a_sender_that_does_not_wait_is_not_held_up(void **state)
{
	(void)state;
	struct replayed c = {0};
	/* Rank 0 sends at 20 and goes on to a collective; rank 1 takes the data at 60 at once. The
	 * ends of the collective are closer to each other, so they give the clocks. */
	start_by_hand(&c, 2, 100.0, (unsigned[]){0x3, 0x3}, 2);
	for (size_t s = 0; s < STEPS; s++) {
		put(&c, s, 0, "HcclSend", "g0", 20.0, 22.0 + (double)(s % 3));
		put(&c, s, 1, "HcclReceive", "g0", 60.0, 61.0);
		put(&c, s, 0, "HcclAllReduce", "g1", 95.0, 100.0);
		put(&c, s, 1, "HcclAllReduce", "g1", 81.0, 100.0);
	}
	replay_ops(&c);
	assert_baseline(&c);
	set_factor(&c, 0, FSL_OWN_BODY, 0.9);
	assert_true(c.match.clock_ns[1] == 0);
	assert_ms(step_ms(&c, NULL, NULL), 100.0);
	assert_true(step_ms(&c, (bool[]){true, false}, NULL) < 93.0);
	release(&c);
}

/* Rank 1 exchanges with a rank that left no data: 42 ms in every other step, else 2. */
static void waits_for_a_rank_without_data_can_be_left_out(void **state)
{
	(void)state;
	bool misses_members[16] = {false};
	struct replayed c = {.misses_members = misses_members};
	start_by_hand(&c, 2, 130.0, (unsigned[]){0x3, 0x2}, 2);
	misses_members[small_job_name(&c.job, "g1")] = true;
	for (size_t s = 0; s < STEPS; s++) {
		put(&c, s, 1, "HcclBatchSendRecv", "g1", 50.0, s % 2 == 0 ? 52.0 : 92.0);
		put(&c, s, 0, "HcclAllReduce", "g0", 20.0, 130.0);
		put(&c, s, 1, "HcclAllReduce", "g0", 112.0, 130.0);
	}
	replay_ops(&c);
	assert_baseline(&c);
	assert_true(c.replay.unmatched_share == 0.0);
	struct fsl_repair repair = {NULL, NULL, 0, true};
	assert_ms(11.0 * mean_under(&c, &repair), 5 * 130.0 + 6 * 90.0);
	c.misses_members = NULL;
	struct fsl_replay_job job = job_of(&c);
	fsl_replay_fini(&c.replay);
	assert_int_equal(fsl_replay_build(&c.replay, &job, NULL), FSL_OK);
	assert_true(c.replay.unmatched_share > 0.1);
	assert_ms(mean_under(&c, &repair), 130.0);
	release(&c);
}

static void work_beside_a_collective_hides_it(void **state)
{
	(void)state;
	struct replayed c = {0};
	/* A gradient reduction runs from 20 to 60 beside work up to 90, where all meet. */
	start_by_hand(&c, 2, 100.0, (unsigned[]){0x3, 0x3}, 2);
	for (size_t s = 0; s < STEPS; s++) {
		for (size_t r = 0; r < 2; r++) {
			put(&c, s, r, "HcclAllGather", "g0", 10.0, 20.0);
			put(&c, s, r, "HcclReduceScatter", "g1", 20.0, 60.0);
			put(&c, s, r, "HcclAllGather", "g0", 40.0, 45.0);
			put(&c, s, r, "HcclAllGather", "g0", 90.0, 100.0);
		}
	}
	replay_ops(&c);
	assert_baseline(&c);
	bool channels[8] = {false};
	channels_of_group(&c, 1, channels);
	set_transfer(&c, channels, 0.5);
	assert_ms(step_ms(&c, NULL, channels), 100.0);
	release(&c);
}

/* Rank 1 is slow and @loser, if it is a rank, lost the record of an operator: step time with rank 1
 * repaired. */
static double repaired_ms(size_t loser)
{
	enum { LOST = 33 };
	struct replayed c = {0};
	small_job_init(&c.job, 3, STEPS);
	c.job.noise_ms = 2.0; /* uneven, so that ends can belong together in one way only */
	c.job.body_ms[1] = c.job.head_ms[1] = 20.0;
	small_job_run(&c.job);
	if (loser < c.job.n_ranks) {
		struct fsl_rank *rank = &c.job.run.ranks[loser];
		memmove(&rank->ops[LOST], &rank->ops[LOST + 1],
			(rank->n_ops - LOST - 1) * sizeof(*rank->ops));
		rank->n_ops--;
	}
	replay_ops(&c);
	assert_baseline(&c);
	assert_int_equal(c.replay.n_meetings, STEPS * SMALL_JOB_OPS_PER_STEP);
	assert_int_equal(c.replay.n_lost, loser < c.job.n_ranks);
	set_factor(&c, 1, FSL_OWN_HEAD, 50.0 / 70.0);
	set_factor(&c, 1, FSL_OWN_BODY, 50.0 / 70.0);
	double ms = step_ms(&c, (bool[]){false, true, false}, NULL);
	release(&c);
	return ms;
}

static void a_lost_record_is_put_back(void **state)
{
	(void)state;
	double ms = repaired_ms(SIZE_MAX);
	assert_true(ms < 4 * 53.0);
	assert_true(fabs(repaired_ms(2) - ms) < 0.5); /* waits for rank 1 */
	assert_true(fabs(repaired_ms(1) - ms) < 0.5);
}

static void instances_that_wait_for_each_other_are_cut(void **state)
{
	(void)state;
	struct replayed c = {0};
	start_by_hand(&c, 2, 100.0, (unsigned[]){0x3, 0x3}, 2);
	for (size_t s = 0; s < STEPS; s++) {
		put(&c, s, 0, "HcclAllGather", "g0", 10.0, 40.0);
		put(&c, s, 0, "HcclAllReduce", "g1", 41.0, 44.0);
		put(&c, s, 1, "HcclAllReduce", "g1", 10.0, 40.0);
		put(&c, s, 1, "HcclAllGather", "g0", 41.0, 44.0);
	}
	c.believes_matches = true;
	replay_ops(&c);
	assert_true(c.replay.n_cut > 0);
	assert_true(c.replay.unmatched_share > 0.0);
	double replayed_ms[64];
	assert_int_equal(fsl_replay_run(&c.replay, &(struct fsl_repair){0}, 1, replayed_ms, NULL),
			 FSL_OK);
	for (size_t i = 0; i < c.replay.n_steps; i++) {
		assert_true(replayed_ms[i] > 0.0 && replayed_ms[i] < 1000.0);
	}
	release(&c);
}

static void instances_whose_members_end_apart_are_left_out(void **state)
{
	(void)state;
	struct replayed c = {0};
	start_by_hand(&c, 2, 100.0, (unsigned[]){0x3, 0x3}, 2);
	for (size_t s = 0; s < STEPS; s++) {
		double off_ms = s == 5 ? 30.0 : 0.0;
		put(&c, s, 0, "HcclAllGather", "g0", 10.0, 40.0);
		put(&c, s, 1, "HcclAllGather", "g0", 20.0, 40.0 - off_ms / 2.0);
		put(&c, s, 0, "HcclAllReduce", "g1", 60.0, 100.0);
		put(&c, s, 1, "HcclAllReduce", "g1", 90.0, 100.0);
	}
	replay_ops(&c);
	assert_int_equal(c.replay.n_odd, 1);
	assert_int_equal(c.replay.n_meetings, 2 * STEPS - 1);
	assert_baseline(&c);
	release(&c);
}

static void idle_time_that_ends_when_the_last_peer_is_ready_is_a_wait(void **state)
{
	(void)state;
	struct replayed c = {0};
	/* A barrier without a marker at 80: rank 0 works up to there, the others up to 40. */
	start_by_hand(&c, 3, 100.0, (unsigned[]){0x7}, 1);
	for (size_t s = 0; s < STEPS; s++) {
		for (size_t r = 0; r < 3; r++) {
			put_stage(&c, s, r, 0.0, r == 0 ? 80.0 : 40.0);
			put(&c, s, r, "HcclAllReduce", "g0", 81.0, 100.0);
		}
	}
	replay_ops(&c);
	assert_true(c.own.has_stages);
	assert_int_equal(c.replay.n_hidden, 2 * (STEPS - 1)); /* the first has no past */
	assert_baseline(&c);
	set_factor(&c, 0, FSL_OWN_COMPUTE, 0.5);
	assert_ms(step_ms(&c, (bool[]){true, false, false}, NULL), 60.0);
	release(&c);
}

static void idle_time_that_nothing_explains_stays(void **state)
{
	(void)state;
	struct replayed c = {0};
	start_by_hand(&c, 3, 100.0, (unsigned[]){0x7}, 1);
	for (size_t s = 0; s < STEPS; s++) {
		for (size_t r = 0; r < 3; r++) {
			put_stage(&c, s, r, 0.0, 40.0);
			put(&c, s, r, "HcclAllReduce", "g0", r == 0 ? 90.0 : 41.0, 100.0);
		}
	}
	replay_ops(&c);
	assert_int_equal(c.replay.n_hidden, 0);
	set_factor(&c, 0, FSL_OWN_COMPUTE, 0.5);
	assert_ms(step_ms(&c, (bool[]){true, false, false}, NULL), 80.0);
	release(&c);
}

static void steps_beyond_the_budget_are_sampled_in_windows(void **state)
{
	(void)state;
	struct replayed c = {0};
	run_small(&c, 2, (double[]){0, 10});
	fsl_replay_fini(&c.replay);
	struct fsl_replay_job job = job_of(&c);
	job.ops_max = 2 * SMALL_JOB_OPS_PER_STEP * 9;
	job.focus_steps = (uint32_t[]){11};
	job.n_focus = 1;
	assert_int_equal(fsl_replay_build(&c.replay, &job, NULL), FSL_OK);
	assert_true(c.replay.n_steps >= 5 && c.replay.n_steps <= 9);
	assert_int_equal(c.replay.step_idx[c.replay.n_steps - 1], 11);
	assert_baseline(&c);
	fsl_replay_fini(&c.replay);
	job.ops_max = 3;
	assert_int_equal(fsl_replay_build(&c.replay, &job, NULL), FSL_OK);
	assert_null(c.replay.graph);
	release(&c);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct replayed c = {0};
	run_small(&c, 2, (double[]){0, 10});
	fsl_replay_fini(&c.replay);
	struct fsl_replay_job job = job_of(&c);
	enum fsl_status status = FSL_ERR_MEMORY;
	size_t n_failed = 0;
	for (uint64_t nth = 1; status != FSL_OK && nth < 200; nth++) {
		fsl_mem_fail_at(nth);
		status = fsl_replay_build(&c.replay, &job, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		n_failed += status != FSL_OK;
	}
	assert_int_equal(status, FSL_OK);
	assert_true(n_failed > 5);
	double ms[STEPS];
	fsl_mem_fail_at(1);
	assert_int_equal(fsl_replay_run(&c.replay, &(struct fsl_repair){0}, 1, ms, NULL),
			 FSL_ERR_MEMORY);
	fsl_mem_fail_at(0);
	release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_rank_costs_its_excess),
		cmocka_unit_test(what_pauses_cost_comes_back_whole),
		cmocka_unit_test(two_slow_ranks_hide_each_other_until_both_are_repaired),
		cmocka_unit_test(
			a_slower_rank_behind_a_slow_one_costs_nothing_until_that_is_repaired),
		cmocka_unit_test(a_rank_that_is_late_to_the_first_operator_costs_all_of_it),
		cmocka_unit_test(only_the_parts_asked_for_are_repaired),
		cmocka_unit_test(clocks_of_other_hosts_do_not_matter),
		cmocka_unit_test(longer_times_are_replayed_in_proportion),
		cmocka_unit_test(the_number_of_threads_changes_nothing),
		cmocka_unit_test(a_slow_link_costs_its_transfer),
		cmocka_unit_test(work_in_a_pipeline_bubble_costs_nothing),
		cmocka_unit_test(a_sender_that_does_not_wait_is_not_held_up),
		cmocka_unit_test(waits_for_a_rank_without_data_can_be_left_out),
		cmocka_unit_test(work_beside_a_collective_hides_it),
		cmocka_unit_test(a_lost_record_is_put_back),
		cmocka_unit_test(instances_that_wait_for_each_other_are_cut),
		cmocka_unit_test(instances_whose_members_end_apart_are_left_out),
		cmocka_unit_test(idle_time_that_ends_when_the_last_peer_is_ready_is_a_wait),
		cmocka_unit_test(idle_time_that_nothing_explains_stays),
		cmocka_unit_test(steps_beyond_the_budget_are_sampled_in_windows),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
