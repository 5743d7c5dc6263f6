/* Claims about causes: the use of the excess of a charged rank. */
#include "charged_job.h"

static void extra_time_at_the_head_of_the_step_is_data_loading(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	c.job.head_ms[3] = 60.0;
	charge(&c);
	assert_int_equal(n_charged(&c), 1);
	assert_int_equal(cause_of(&c, 3), FSL_CAUSE_DATALOADER);
	release(&c);
}

/* Its operators end the step together: nothing but the head would show a slow device. */
static void loading_looks_like_compute_where_all_work_is_at_the_head(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_cause_clues clues;
	small_job_init(&c.job, 8, 40);
	c.job.head_ms[3] = 60.0;
	charge(&c);
	for (size_t r = 0; r < c.own.n_ranks; r++) {
		for (size_t s = 0; s < c.own.n_steps; s++) {
			size_t at = (r * c.own.n_steps + s) * FSL_OWN_PARTS_N;
			c.own.part_ms[at + FSL_OWN_BODY] = 1.0;
		}
	}
	clues = fsl_cause_find(&(struct fsl_case)CASE_OF(&c), 3, &c.blame.charges[3]);
	assert_int_equal(clues.cause, FSL_CAUSE_COMPUTE);
	assert_int_equal(clues.other_cause, FSL_CAUSE_DATALOADER);
	release(&c);
}

/* The same if its host launches the work late: nothing tells loading from any other work. */
static void a_late_host_is_no_loader_where_all_work_is_at_the_head(void **state)
{
	(void)state;
	for (int with_body = 0; with_body < 2; with_body++) {
		struct charged_job c;
		small_job_init(&c.job, 8, 40);
		c.job.head_ms[3] = 60.0;
		charge(&c);
		for (size_t i = 0; i < c.own.n_ranks * c.own.n_steps && with_body == 0; i++) {
			c.own.part_ms[i * FSL_OWN_PARTS_N + FSL_OWN_BODY] = 1.0;
		}
		c.blame.charges[3].is_certain = true;
		c.blame.charges[3].arrival_head = c.blame.charges[3].arrival_host = 0.95;
		for (size_t r = 0; r < 8; r++) {
			struct fsl_rank *rank = &c.job.run.ranks[r];
			for (size_t i = 0; i < rank->n_ops; i++) {
				rank->ops[i].host_end_ns =
					rank->ops[i].dev_begin_ns - 20 * FSL_NS_PER_MS;
			}
		}
		assert_int_equal(cause_of(&c, 3),
				 with_body == 0 ? FSL_CAUSE_HOST : FSL_CAUSE_DATALOADER);
		release(&c);
	}
}

static void a_queue_run_empty_is_the_host(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	c.job.head_ms[3] = c.job.body_ms[3] = 20.0;
	charge(&c);
	struct fsl_rank *rank = &c.job.run.ranks[3];
	for (size_t i = 0; i < rank->n_ops; i++) {
		rank->ops[i].host_end_ns = rank->ops[i].dev_begin_ns - 30 * FSL_NS_PER_US;
		rank->ops[i].host_begin_ns = rank->ops[i].host_end_ns - 20 * FSL_NS_PER_US;
	}
	assert_int_equal(cause_of(&c, 3), FSL_CAUSE_HOST);
	release(&c);
}

static void set_launch_ms(struct charged_job *c, size_t r, double launch_ms)
{
	struct fsl_rank *rank = &c->job.run.ranks[r];
	for (size_t i = 0; i < rank->n_ops; i++) {
		rank->ops[i].host_end_ns =
			rank->ops[i].dev_begin_ns - (int64_t)(launch_ms * FSL_NS_PER_MS);
	}
}

/* Bursts of a quota leave some of the queue. */
static void a_queue_that_shrank_is_the_host(void **state)
{
	(void)state;
	static const struct {
		double before_ms, now_ms;
		enum fsl_cause cause;
	} cases[] = {{100.0, 50.0, FSL_CAUSE_HOST},
		     {75.0, 40.0, FSL_CAUSE_HOST},
		     {75.0, 60.0, FSL_CAUSE_COMPUTE},
		     {75.0, 95.0, FSL_CAUSE_COMPUTE}};
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	c.job.head_ms[3] = c.job.body_ms[3] = 20.0;
	charge(&c);
	c.blame.charges[3].is_change = true;
	c.blame.charges[3].episode.begin = 20;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t r = 0; r < 8; r++) {
			struct fsl_rank *rank = &c.job.run.ranks[r];
			for (size_t k = 0; k < rank->n_ops; k++) {
				bool is_before = k < fsl_cuts_first(&c.cuts, r, 20);
				double ms = r != 3      ? 80.0
					    : is_before ? cases[i].before_ms
							: cases[i].now_ms;
				struct fsl_op *op = &rank->ops[k];
				op->host_end_ns = op->dev_begin_ns - (int64_t)(ms * FSL_NS_PER_MS);
				op->host_begin_ns = op->host_end_ns - 20 * FSL_NS_PER_US;
			}
		}
		assert_int_equal(cause_of(&c, 3), cases[i].cause);
	}
	release(&c);
}

static void peers_tell_their_level_without_the_rank_itself(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_cause_clues clues;
	small_job_init(&c.job, 2, 40);
	c.job.body_ms[1] = 30.0;
	charge(&c);
	set_launch_ms(&c, 0, 2.0);
	set_launch_ms(&c, 1, 10.0);
	clues = fsl_cause_find(&(struct fsl_case)CASE_OF(&c), 1, &c.blame.charges[1]);
	assert_true(clues.launch_ms == 10.0);
	assert_true(clues.launch_peers_ms == 2.0);
	release(&c);
}

/* Arrival arcs see when each operator was launched; the median of the queues does not. */
static void arrivals_tell_device_host_and_loading_apart(void **state)
{
	(void)state;
	static const struct {
		double launch_ms, peers_launch_ms, head, host;
		enum fsl_cause cause;
	} cases[] = {
		/* A device that falls behind a host of which the peers' devices run dry. */
		{400.0, 60.0, 0.6, 0.0, FSL_CAUSE_COMPUTE},
		{90.0, 10.0, 1.0, 0.1, FSL_CAUSE_COMPUTE},
		/* Bursts that the median of the queues hides. */
		{50.0, 60.0, 0.3, 0.45, FSL_CAUSE_HOST},
		{2000.0, 2000.0, 0.1, 0.9, FSL_CAUSE_HOST},
		{800.0, 2000.0, 0.97, 0.97, FSL_CAUSE_DATALOADER},
		{30.0, 40.0, 0.86, 0.5, FSL_CAUSE_DATALOADER},
		/* Nobody queues work: the device always begins as it is told. */
		{0.03, 0.03, 0.2, 1.0, FSL_CAUSE_COMPUTE},
	};
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	c.job.head_ms[3] = c.job.body_ms[3] = 20.0;
	charge(&c);
	c.blame.charges[3].is_certain = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t r = 0; r < 8; r++) {
			set_launch_ms(&c, r,
				      r == 3 ? cases[i].launch_ms : cases[i].peers_launch_ms);
		}
		c.blame.charges[3].arrival_head = cases[i].head;
		c.blame.charges[3].arrival_host = cases[i].host;
		assert_int_equal(cause_of(&c, 3), cases[i].cause);
	}
	release(&c);
}

/* Two saves, too few for a charge, and time outside of stages beside them. */
static void a_stage_that_explains_half_of_the_excess_is_the_cause(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	charge(&c);
	c.own.has_stages = c.blame.counts_idle = true;
	for (int with_save = 0; with_save < 2; with_save++) {
		struct fsl_cause_clues clues;
		struct fsl_charge two = {.pattern = FSL_PATTERN_REPEATED,
					 .episode = {.begin = 10, .end = 21, .n_high = 2},
					 .threshold_ms = 100.0,
					 .own_ms = 800.0,
					 .peers_ms = 200.0};
		for (size_t s = 10; s < 21; s += 10) {
			size_t at = 3 * c.own.n_steps + s;
			c.blame.own_ms[at] = c.blame.reference_ms[at] + 600.0;
			c.own.part_ms[at * FSL_OWN_PARTS_N + FSL_OWN_CKPT] = with_save * 400.0;
		}
		clues = fsl_cause_find(&(struct fsl_case)CASE_OF(&c), 3, &two);
		assert_true(clues.is_unrecorded == (with_save == 0));
		assert_int_equal(clues.cause, with_save == 1 ? FSL_CAUSE_STORAGE : FSL_CAUSE_HOST);
	}
	release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extra_time_at_the_head_of_the_step_is_data_loading),
		cmocka_unit_test(loading_looks_like_compute_where_all_work_is_at_the_head),
		cmocka_unit_test(a_late_host_is_no_loader_where_all_work_is_at_the_head),
		cmocka_unit_test(a_queue_run_empty_is_the_host),
		cmocka_unit_test(a_queue_that_shrank_is_the_host),
		cmocka_unit_test(peers_tell_their_level_without_the_rank_itself),
		cmocka_unit_test(arrivals_tell_device_host_and_loading_apart),
		cmocka_unit_test(a_stage_that_explains_half_of_the_excess_is_the_cause),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
