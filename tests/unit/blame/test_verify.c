/* Claims about verification: the loss of the job by each suspect, and when it is believed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/small_job.h"

#include "blame/verify.h"
#include "blame/whatif.h"

/* Everything up to the proofs. */
struct verified_job {
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	struct fsl_own own;
	struct fsl_blame blame;
	struct fsl_verification verification;
	struct fsl_config config;
	struct fsl_case facts;
};

/* Replays the charged job. */
static void verify(struct verified_job *c)
{
	small_job_run(&c->job);
	if (c->config.slow_ratio_min <= 0.0) {
		c->config = (struct fsl_config){.slow_ratio_min = 1.03,
						.persistence_min = 0.5,
						.replay_steps_max = 400,
						.replay_budget_ms = 400};
	}
	c->facts = (struct fsl_case){.config = &c->config,
				     .run = &c->job.run,
				     .topology = &c->job.topology,
				     .steps = &c->job.steps,
				     .match = &c->match,
				     .cuts = &c->cuts,
				     .own = &c->own,
				     .blame = &c->blame};
	assert_int_equal(fsl_match_build(&c->match, &c->job.run, &c->job.topology, NULL), FSL_OK);
	assert_int_equal(
		fsl_cuts_build(&c->cuts, &c->job.run, &c->job.steps, c->match.clock_ns, NULL),
		FSL_OK);
	fsl_match_assign_steps(&c->match, &c->cuts);
	assert_int_equal(fsl_own_build(&c->own, &c->job.run, &c->job.steps, &c->cuts, NULL),
			 FSL_OK);
	assert_int_equal(fsl_blame_build(&c->blame, &c->facts, NULL), FSL_OK);
	assert_int_equal(fsl_verify(&c->verification, &c->facts, NULL), FSL_OK);
}

static void release(struct verified_job *c)
{
	fsl_verification_fini(&c->verification);
	fsl_blame_fini(&c->blame);
	fsl_own_fini(&c->own);
	fsl_cuts_fini(&c->cuts);
	fsl_match_fini(&c->match);
	small_job_fini(&c->job);
}

static void start(struct verified_job *c, size_t n_ranks, size_t onset)
{
	small_job_init(&c->job, n_ranks, 40);
	c->job.onset = onset;
}

static void assert_near(double value, double wanted, double tolerance)
{
	if (!(fabs(value - wanted) <= tolerance)) {
		print_message("%g, wanted %g\n", value, wanted);
		fail();
	}
}

static bool is_replayed(const struct verified_job *c, uint32_t step)
{
	for (size_t i = 0; i < c->verification.replay.n_steps; i++) {
		if (c->verification.replay.step_idx[i] == step) {
			return true;
		}
	}
	return false;
}

static void of_a_long_charge_the_middle_is_replayed_first(void **state)
{
	(void)state;
	struct verified_job c = {.config = {.slow_ratio_min = 1.03,
					    .persistence_min = 0.5,
					    .replay_steps_max = 8,
					    .replay_budget_ms = 400}};
	start(&c, 4, 20);
	c.job.body_ms[1] = 20.0;
	verify(&c);
	assert_int_equal(c.blame.charges[1].episode.begin, 20);
	assert_true(is_replayed(&c, 30));
	release(&c);
}

static void the_replay_of_a_healthy_job_is_as_measured_and_loses_nothing(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	start(&c, 8, 0);
	verify(&c);
	const struct fsl_replay_summary *summary = &c.verification.summary;
	assert_true(summary->is_on && summary->is_trusted);
	assert_string_equal(summary->doubt, "");
	assert_int_equal(summary->n_steps, 40);
	assert_true(summary->error_p95 < 0.001);
	assert_near(summary->slowdown_all, 1.0, 0.01);
	assert_null(fsl_proof_of_rank(&c.verification, 5));
	release(&c);
}

static void a_slow_rank_costs_its_excess(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	start(&c, 8, 12);
	c.job.head_ms[5] = c.job.body_ms[5] = 15.0;
	verify(&c);
	const struct fsl_proof *proof = fsl_proof_of_rank(&c.verification, 5);
	assert_non_null(proof);
	assert_near(proof->cost_ms, 60.0, 1.0);
	assert_near(c.verification.summary.worst_ranks_share, 1.0, 0.05);
	release(&c);
}

static void two_slow_ranks_of_one_group_cost_their_excess_each(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	start(&c, 8, 12);
	c.job.head_ms[2] = c.job.body_ms[2] = 15.0;
	c.job.head_ms[5] = c.job.body_ms[5] = 15.0;
	verify(&c);
	for (size_t r = 2; r <= 5; r += 3) {
		const struct fsl_proof *proof = fsl_proof_of_rank(&c.verification, r);
		assert_non_null(proof);
		assert_near(proof->cost_ms, 60.0, 1.0);
	}
	release(&c);
}

static void excess_in_the_head_alone_comes_back_whole(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	start(&c, 4, 10);
	c.job.head_ms[1] = 80.0;
	verify(&c);
	assert_near(fsl_proof_of_rank(&c.verification, 1)->cost_ms, 80.0, 1.0);
	const struct fsl_replay_summary *summary = &c.verification.summary;
	for (size_t k = 0; k < summary->n_whatifs; k++) {
		const struct fsl_whatif *whatif = &summary->whatifs[k];
		bool is_head = strcmp(whatif->name, "step_head") == 0;
		if (whatif->kind == FSL_WHATIF_WORK) {
			assert_near(whatif->cost_ms, is_head ? 60.0 : 0.0,
				    1.0); /* 30 of 40 steps */
		}
	}
	release(&c);
}

static void a_larger_delay_costs_more(void **state)
{
	(void)state;
	double last_ms = 0.0;
	for (int k = 1; k <= 6; k++) {
		struct verified_job c = {.config.slow_ratio_min = 0.0};
		start(&c, 4, 10);
		c.job.head_ms[1] = c.job.body_ms[1] = 5.0 * k;
		verify(&c);
		const struct fsl_proof *proof = fsl_proof_of_rank(&c.verification, 1);
		assert_non_null(proof);
		assert_true(proof->cost_ms > last_ms);
		last_ms = proof->cost_ms;
		release(&c);
	}
}

static void other_names_of_ranks_give_the_same_proofs(void **state)
{
	(void)state;
	double cost_ms[4];
	for (size_t r = 0; r < 4; r++) {
		struct verified_job c = {.config.slow_ratio_min = 0.0};
		start(&c, 4, 10);
		c.job.noise_ms = 0.0;
		c.job.head_ms[r] = c.job.body_ms[r] = 20.0;
		verify(&c);
		cost_ms[r] = fsl_proof_of_rank(&c.verification, r)->cost_ms;
		assert_true(cost_ms[r] == cost_ms[0]);
		release(&c);
	}
}

static void hosts_are_put_at_their_level_together(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	start(&c, 8, 0);
	c.job.head_ms[6] = c.job.body_ms[6] = 15.0;
	verify(&c);
	const struct fsl_whatif *whatifs = c.verification.summary.whatifs;
	assert_int_equal(whatifs[0].kind, FSL_WHATIF_HOST);
	assert_string_equal(whatifs[0].name, "10.0.0.2");
	assert_near(whatifs[0].gain_ms, 60.0, 2.0);
	assert_near(whatifs[1].gain_ms, 0.0, 1.0);
	release(&c);
}

/* Sets the loss of the job with @ranks named; rank 2 takes 60 ms more per step and rank 5 40 ms. */
static void lose_by(struct fsl_localisation *out, struct verified_job *c, const int32_t *ranks,
		    size_t n_ranks)
{
	start(c, 8, 12);
	c->job.head_ms[2] = c->job.body_ms[2] = 15.0;
	c->job.head_ms[5] = c->job.body_ms[5] = 10.0;
	verify(c);
	fsl_localisation_init(out);
	c->facts.verification = &c->verification;
	out->replay = c->verification.summary;
	for (size_t i = 0; i < n_ranks; i++) {
		struct fsl_culprit culprit = fsl_culprit_of(ranks[i]);
		culprit.cause = FSL_CAUSE_COMPUTE;
		culprit.lost_ms_per_step =
			fsl_proof_of_rank(&c->verification, (size_t)ranks[i])->cost_ms;
		assert_int_equal(FSL_APPEND(out, culprits, &culprit, NULL), FSL_OK);
	}
	assert_int_equal(fsl_verify_loss(out, &c->facts, 12, 40, NULL), FSL_OK);
	assert_true(out->is_loss_replayed);
}

static void losses_are_replayed_with_all_culprits_together(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	struct fsl_localisation out;
	lose_by(&out, &c, (const int32_t[]){2, 5}, 2);
	assert_near(out.lost_ms_per_step, 60.0, 1.0);
	assert_near(out.slowdown, 264.0 / 204.0, 0.01);
	assert_near(out.culprits[1].share_of_loss, 2.0 / 3.0, 0.02);
	assert_near(out.replay.culprits_share, 1.0, 0.02);
	fsl_localisation_fini(&out);
	release(&c);
}

/* Over all 40 steps the gains were 0.7 times as much: the fault begins at step 12. */
static void gains_are_of_the_steps_that_the_culprits_slow(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	struct fsl_localisation out;
	size_t n_seen = 0;
	lose_by(&out, &c, (const int32_t[]){2, 5}, 2);
	for (size_t k = 0; k < out.replay.n_whatifs; k++) {
		const struct fsl_whatif *whatif = &out.replay.whatifs[k];
		bool is_first_host =
			whatif->kind == FSL_WHATIF_HOST && strcmp(whatif->name, "10.0.0.1") == 0;
		if (whatif->kind == FSL_WHATIF_ALL) {
			assert_string_equal(whatif->name, "all");
			assert_near(whatif->gain_ms, 60.0, 1.0);
			assert_near(whatif->cost_ms, whatif->gain_ms, 1e-9);
			n_seen++;
		} else if (is_first_host) {
			assert_near(whatif->gain_ms, 20.0, 1.0); /* rank 5 is on the other */
			assert_near(whatif->cost_ms, 60.0, 1.0);
			n_seen++;
		}
	}
	assert_int_equal(n_seen, 2);
	fsl_localisation_fini(&out);
	release(&c);
}

/* With rank 2 as fast as the others the job waits for rank 5. Nobody asked for this repair before.
 */
static void the_loss_of_one_culprit_of_two_is_what_comes_back_with_it(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	struct fsl_localisation out;
	lose_by(&out, &c, (const int32_t[]){2}, 1);
	assert_near(out.lost_ms_per_step, 20.0, 1.0);
	fsl_localisation_fini(&out);
	release(&c);
}

/* Turns over each flag and field of a repair in turn; none of these was run as this one. */
static void expect_others_elsewhere(const struct fsl_repairs *repairs,
				    const struct fsl_repair *repair)
{
	const double *own = fsl_repairs_find(repairs, repair);
	bool other_ranks[SMALL_JOB_RANKS_MAX], other_channels[64];
	size_t n_ranks = repairs->replay->n_ranks, n_channels = repairs->replay->n_channels;
	assert_non_null(own);
	assert_in_range(n_channels, 1, 64);
	for (size_t i = 0; i < n_ranks + n_channels + 2; i++) {
		struct fsl_repair other = {other_ranks, other_channels, repair->parts,
					   repair->skips_unseen};
		memcpy(other_ranks, repair->ranks, n_ranks * sizeof(*other_ranks));
		memcpy(other_channels, repair->channels, n_channels * sizeof(*other_channels));
		if (i < n_ranks) {
			other_ranks[i] = !other_ranks[i];
		} else if (i < n_ranks + n_channels) {
			other_channels[i - n_ranks] = !other_channels[i - n_ranks];
		} else if (i == n_ranks + n_channels) {
			other.parts ^= 1;
		} else {
			other.skips_unseen = !other.skips_unseen;
		}
		assert_ptr_not_equal(fsl_repairs_find(repairs, &other), own);
	}
}

static void a_repair_is_remembered_by_all_that_it_changes(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	start(&c, 8, 12);
	c.job.head_ms[5] = 15.0;
	verify(&c);
	const struct fsl_repairs *repairs = c.verification.repairs;
	assert_in_range(repairs->n_items, 6, 64);
	for (size_t k = 0; k < repairs->n_items; k++) {
		expect_others_elsewhere(repairs, &repairs->items[k]);
	}
	release(&c);
}

static void a_small_budget_replays_a_few_steps(void **state)
{
	(void)state;
	struct verified_job c = {.config = {.slow_ratio_min = 1.03,
					    .persistence_min = 0.5,
					    .replay_steps_max = 400,
					    .replay_budget_ms = 1}};
	start(&c, SMALL_JOB_RANKS_MAX, 40);
	c.job.head_ms[1] = 30.0;
	verify(&c);
	assert_true(c.verification.summary.is_on);
	assert_in_range(c.verification.summary.n_steps, 1,
			1000 / (SMALL_JOB_RANKS_MAX * SMALL_JOB_OPS_PER_STEP));
	release(&c);
}

static void verification_can_be_switched_off(void **state)
{
	(void)state;
	struct verified_job c = {.config = {.slow_ratio_min = 1.03,
					    .persistence_min = 0.5,
					    .verification = FSL_VERIFICATION_OFF}};
	start(&c, 4, 10);
	c.job.head_ms[1] = 30.0;
	verify(&c);
	assert_false(c.verification.summary.is_on);
	assert_null(fsl_proof_of_rank(&c.verification, 1));
	release(&c);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct verified_job c = {.config.slow_ratio_min = 0.0};
	start(&c, 4, 10);
	c.job.head_ms[1] = 30.0;
	verify(&c);
	fsl_verification_fini(&c.verification);
	enum fsl_status status = FSL_ERR_MEMORY;
	size_t n_failed = 0;
	for (uint64_t nth = 1; status != FSL_OK && nth < 1000; nth++) {
		fsl_mem_fail_at(nth);
		status = fsl_verify(&c.verification, &c.facts, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		n_failed += status != FSL_OK;
	}
	assert_int_equal(status, FSL_OK);
	assert_true(n_failed > 10);
	release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_long_charge_the_middle_is_replayed_first),
		cmocka_unit_test(the_replay_of_a_healthy_job_is_as_measured_and_loses_nothing),
		cmocka_unit_test(a_slow_rank_costs_its_excess),
		cmocka_unit_test(two_slow_ranks_of_one_group_cost_their_excess_each),
		cmocka_unit_test(excess_in_the_head_alone_comes_back_whole),
		cmocka_unit_test(a_larger_delay_costs_more),
		cmocka_unit_test(other_names_of_ranks_give_the_same_proofs),
		cmocka_unit_test(hosts_are_put_at_their_level_together),
		cmocka_unit_test(losses_are_replayed_with_all_culprits_together),
		cmocka_unit_test(gains_are_of_the_steps_that_the_culprits_slow),
		cmocka_unit_test(the_loss_of_one_culprit_of_two_is_what_comes_back_with_it),
		cmocka_unit_test(a_repair_is_remembered_by_all_that_it_changes),
		cmocka_unit_test(a_small_budget_replays_a_few_steps),
		cmocka_unit_test(verification_can_be_switched_off),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
