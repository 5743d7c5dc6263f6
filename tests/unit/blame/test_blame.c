/* Claims about peers, excess, episodes and imbalance. */
#include <math.h>

#include "charged_job.h"

#include "blame/fuse_parts.h"

static void a_healthy_job_charges_nobody(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	charge(&c);
	assert_int_equal(n_charged(&c), 0);
	release(&c);
}

static void a_slow_rank_is_charged_from_its_onset_with_its_excess(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	c.job.head_ms[5] = c.job.body_ms[5] = 15.0;
	c.job.onset = 12;
	charge(&c);
	const struct fsl_charge *slow = &c.blame.charges[5];
	assert_int_equal(n_charged(&c), 1);
	assert_int_equal(slow->pattern, FSL_PATTERN_LASTING);
	assert_int_equal(slow->episode.begin, 12);
	assert_int_equal(slow->episode.end, 40);
	assert_true(fabs(slow->lost_ms_per_step - 60.0) < 1.0);
	assert_true(slow->last_share == 1.0);
	assert_int_equal(cause_of(&c, 5), FSL_CAUSE_COMPUTE);
	release(&c);
}

static void a_recovered_episode_ends_where_it_ended(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	c.job.head_ms[5] = c.job.body_ms[5] = 15.0;
	c.job.onset = 10;
	c.job.until = 25;
	charge(&c);
	assert_int_equal(c.blame.charges[5].episode.begin, 10);
	assert_int_equal(c.blame.charges[5].episode.end, 25);
	release(&c);
}

static void the_onset_of_a_change_has_both_levels_and_its_chance(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 60);
	c.job.head_ms[5] = c.job.body_ms[5] = 15.0;
	c.job.onset = 30;
	charge(&c);
	const struct fsl_onset *onset = &c.blame.charges[5].onset;
	assert_true(onset->is_known);
	assert_true(fabs(onset->healthy_ratio - 1.0) < 0.01);
	assert_true(onset->slow_ratio > 1.1);
	assert_true(onset->p_value < 1e-6);
	assert_false(c.blame.charges[4].onset.is_known);
	release(&c);
}

static void a_rank_that_recovered_has_an_onset_from_its_recovery(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 60);
	c.job.head_ms[5] = c.job.body_ms[5] = 15.0;
	c.job.until = 30;
	charge(&c);
	const struct fsl_charge *slow = &c.blame.charges[5];
	assert_true(slow->episode.begin <= 1); /* the first step is not seen whole */
	assert_int_equal(slow->episode.end, 30);
	assert_true(slow->onset.is_known);
	assert_true(slow->onset.slow_ratio > 1.1 * slow->onset.healthy_ratio);
	release(&c);
}

static void among_many_ranks_an_onset_must_be_clearer_to_be_told(void **state)
{
	(void)state;
	enum { FEW = 8, MANY = 4000 };
	static struct fsl_charge charges[MANY];
	static double work[MANY];
	charges[3].onset = (struct fsl_onset){.is_known = true, .p_value = 0.002};
	struct fsl_blame blame = {.n_ranks = FEW, .charges = charges};
	fsl_onsets_accept(&blame, work);
	assert_true(charges[3].onset.is_known);
	blame.n_ranks = MANY;
	fsl_onsets_accept(&blame, work);
	assert_false(charges[3].onset.is_known);
}

static void one_long_step_is_no_charge(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	c.job.head_ms[5] = 2000.0;
	c.job.onset = 20;
	c.job.until = 21;
	charge(&c);
	assert_int_equal(n_charged(&c), 0);
	release(&c);
}

static void of_two_ranks_the_slower_is_charged(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 2, 40);
	c.job.head_ms[1] = c.job.body_ms[1] = 10.0;
	charge(&c);
	assert_int_equal(n_charged(&c), 1);
	assert_int_equal(c.blame.charges[1].pattern, FSL_PATTERN_LASTING);
	release(&c);
}

static void noise_between_two_ranks_charges_neither(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 2, 60);
	c.job.noise_ms = 10.0;
	charge(&c);
	assert_int_equal(n_charged(&c), 0);
	release(&c);
}

static void a_rank_is_compared_with_the_others_alone(void **state)
{
	(void)state;
	double levels[5], scratch[5];
	const double two[] = {12, 10};
	const double five[] = {10, 30, NAN, 20, 40};
	const double one[] = {7};
	fsl_peer_levels(two, 2, levels, scratch);
	assert_true(levels[0] == 10.0 && levels[1] == 12.0);
	fsl_peer_levels(five, 5, levels, scratch);
	assert_true(levels[0] == 25.0); /* lower half of 20 30 40 */
	assert_true(levels[1] == 15.0 && levels[3] == 20.0 && levels[4] == 15.0);
	assert_true(isnan(levels[2]));
	fsl_peer_levels(one, 1, levels, scratch);
	assert_true(isnan(levels[0]));
}

static void pauses_that_hit_everybody_charge_nobody(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 80);
	charge(&c); /* healthy; then each rank pauses in five steps of its own */
	for (size_t r = 0; r < 8; r++) {
		for (size_t s = 1 + r; s < 80; s += 16) {
			c.own.part_ms[(r * c.own.n_steps + s) * FSL_OWN_PARTS_N + FSL_OWN_BODY] +=
				200.0;
		}
	}
	fsl_blame_fini(&c.blame);
	assert_int_equal(fsl_blame_build(&c.blame, &(struct fsl_case)CASE_OF(&c), NULL), FSL_OK);
	assert_int_equal(n_charged(&c), 0);
	release(&c);
}

static void uneven_devices_form_a_cloud_and_a_slow_one_stands_apart(void **state)
{
	(void)state;
	static const double uneven_ms[8] = {0.0, 0.5, 1.0, 1.4, 2.0, 2.3, 3.0, 4.0};
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	memcpy(c.job.body_ms, uneven_ms, sizeof(uneven_ms));
	charge(&c);
	for (size_t r = 0; r < 8; r++) {
		assert_false(c.blame.stands_out[r]);
		assert_false(c.blame.charges[r].is_change);
	}
	release(&c);
	small_job_init(&c.job, 8, 40);
	memcpy(c.job.body_ms, uneven_ms, sizeof(uneven_ms));
	c.job.body_ms[7] = 20.0;
	charge(&c);
	assert_true(c.blame.stands_out[7]);
	assert_false(c.blame.stands_out[6]);
	release(&c);
}

static void devices_slower_than_healthy_ones_ever_are_do_not_hide_each_other(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 16, 40);
	for (size_t r = 0; r < 16; r++) { /* up to 1 % apart, some 8 % */
		c.job.body_ms[r] = 0.05 * (double)(r * 5 % 16) + (r % 4 == 1 ? 5.3 : 0.0);
	}
	charge(&c);
	for (size_t r = 0; r < 16; r++) {
		assert_int_equal(c.blame.is_outlier[r], r % 4 == 1);
		assert_int_equal(fsl_blame_is_uneven(&c.blame, r), r % 4 != 1);
	}
	release(&c);
	small_job_init(&c.job, 4, 40); /* of three nobody knows how much they may differ */
	c.job.body_ms[0] = 5.3;
	charge(&c);
	assert_false(c.blame.is_outlier[0]);
	release(&c);
}

static void a_rank_that_became_slow_has_changed(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	c.job.body_ms[5] = 15.0;
	c.job.onset = 20;
	charge(&c);
	assert_true(c.blame.charges[5].is_change);
	release(&c);
}

static void a_change_of_an_uneven_device_is_measured_from_its_own_level(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 60);
	charge(&c);
	for (size_t s = 0; s < 60; s++) { /* 4 % slower all along, 10 % more from step 30 on */
		c.blame.own_ms[5 * 60 + s] *= s < 30 ? 1.04 : 1.04 * 1.1;
	}
	double before_ms = c.blame.own_ms[5 * 60 + 10];
	double *work = fsl_calloc(3 * 60 + 3 * 8 + 2, sizeof(*work));
	fsl_chance_find(&c.blame, &c.config, work);
	assert_int_equal(fsl_standing_find(&c.blame, &c.config, work, NULL), FSL_OK);
	assert_int_equal(fsl_charge_ranks(&c.blame, &c.config, work, NULL), FSL_OK);
	fsl_free(work);
	const struct fsl_charge *slow = &c.blame.charges[5];
	assert_int_equal(n_charged(&c), 1);
	assert_true(slow->is_change);
	assert_int_equal(slow->episode.begin, 30);
	assert_true(fabs(slow->own_ms - slow->peers_ms - 0.1 * before_ms) < 0.01 * before_ms);
	release(&c);
}

static void a_slow_device_that_always_was_is_uneven_until_a_fifth(void **state)
{
	(void)state;
	static const double ratios[] = {1.06, 1.19, 1.21};
	for (size_t i = 0; i < 3; i++) {
		struct charged_job c;
		small_job_init(&c.job, 2, 40);
		charge(&c);
		for (size_t s = 0; s < 40; s++) {
			c.blame.own_ms[40 + s] *= ratios[i];
		}
		double *work = fsl_calloc(3 * 40 + 3 * 2 + 2, sizeof(*work));
		assert_int_equal(fsl_standing_find(&c.blame, &c.config, work, NULL), FSL_OK);
		fsl_free(work);
		assert_int_equal(fsl_blame_is_uneven(&c.blame, 1), i < 2);
		release(&c);
	}
}

/* The finding if no rank is named; NORMAL: none. */
static enum fsl_verdict_kind imbalance_of(struct charged_job *c, struct fsl_localisation *out)
{
	fsl_localisation_init(out);
	out->kind = FSL_VERDICT_NORMAL;
	out->step_ms = c->blame.step_ms;
	assert_int_equal(fsl_fuse_imbalance(out, &(struct fsl_case)CASE_OF(c), NULL), FSL_OK);
	return out->kind;
}

static void a_stage_with_more_to_do_is_named_by_its_lowest_rank(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_localisation out;
	small_job_init(&c.job, 8, 40);
	charge(&c);
	assert_int_equal(imbalance_of(&c, &out), FSL_VERDICT_NORMAL);
	fsl_localisation_fini(&out);
	double work_ms = c.blame.own_ms[20];
	for (size_t r = 4; r < 8; r++) {
		c.blame.peers.stage_of[r] = 1;
		for (size_t s = 0; s < 40; s++) {
			c.blame.own_ms[r * 40 + s] *= 2.0;
		}
	}
	assert_int_equal(imbalance_of(&c, &out), FSL_VERDICT_STAGE_IMBALANCE);
	assert_int_equal(out.n_culprits, 1);
	assert_int_equal(out.culprits[0].rank, 4);
	assert_int_equal(out.culprits[0].stage, 1);
	assert_int_equal(out.culprits[0].onset_step, -1);
	assert_true(fabs(out.lost_ms_per_step - 0.5 * work_ms) < 0.1 * work_ms);
	fsl_localisation_fini(&out);
	for (size_t s = 0; s < 40; s++) {
		c.blame.own_ms[7 * 40 + s] = work_ms; /* not all replicas: no matter of the stage */
	}
	assert_int_equal(imbalance_of(&c, &out), FSL_VERDICT_NORMAL);
	fsl_localisation_fini(&out);
	release(&c);
}

static void a_stage_that_may_wait_is_not_overloaded_if_work_hides(void **state)
{
	(void)state;
	static const struct {
		double work; /* of the longer stage, of what the ranks of small_job work */
		bool has_async, is_told;
	} cases[] = {
		{0.65, false, true}, {0.65, true, false}, {0.7, true, false}, {0.9, true, true}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct charged_job c;
		struct fsl_localisation out;
		small_job_init(&c.job, 8, 40);
		charge(&c);
		c.own.has_async = cases[i].has_async;
		for (size_t r = 0; r < 8; r++) {
			c.blame.peers.stage_of[r] = r >= 4;
			for (size_t s = 0; s < 40; s++) {
				c.blame.own_ms[r * 40 + s] *= r >= 4 ? cases[i].work : 0.4;
			}
		}
		assert_int_equal(imbalance_of(&c, &out), cases[i].is_told
								 ? FSL_VERDICT_STAGE_IMBALANCE
								 : FSL_VERDICT_NORMAL);
		fsl_localisation_fini(&out);
		release(&c);
	}
}

/* In rings a third finds a partner by chance. */
static void a_ring_is_no_pipeline_though_a_rank_left_no_data(void **state)
{
	(void)state;
	static const struct {
		uint64_t n_matched;
		size_t n_missing;
		bool is_told;
	} cases[] = {{60, 0, true}, {30, 0, false}, {30, 1, false}, {45, 1, true}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct charged_job c;
		struct fsl_localisation out;
		small_job_init(&c.job, 8, 40);
		charge(&c);
		for (size_t r = 4; r < 8; r++) {
			c.blame.peers.stage_of[r] = 1;
			for (size_t s = 0; s < 40; s++) {
				c.blame.own_ms[r * 40 + s] *= 1.6;
			}
		}
		c.match.n_p2p = 100;
		c.match.n_p2p_matched = cases[i].n_matched;
		c.job.topology.n_expected_ranks += cases[i].n_missing;
		assert_int_equal(imbalance_of(&c, &out), cases[i].is_told
								 ? FSL_VERDICT_STAGE_IMBALANCE
								 : FSL_VERDICT_NORMAL);
		fsl_localisation_fini(&out);
		release(&c);
	}
}

static void a_stage_of_one_rank_is_told_as_one(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_localisation out;
	small_job_init(&c.job, 8, 40);
	charge(&c);
	c.blame.peers.stage_of[7] = 1;
	for (size_t s = 0; s < 40; s++) {
		c.blame.own_ms[7 * 40 + s] *= 2.0;
	}
	assert_int_equal(imbalance_of(&c, &out), FSL_VERDICT_STAGE_IMBALANCE);
	assert_non_null(
		strstr(out.culprits[0].reason, "the only rank seen of pipeline stage 1 works"));
	fsl_localisation_fini(&out);
	release(&c);
}

/* Work of 8 ranks that moves, more in every second step; steps take @share of it longer. One step
 * is @stall times as long on one rank. Returns the verdict; *told_share: of what the slowest rank
 * works above the median, on average without that step. */
static enum fsl_verdict_kind moving_work_of(double share, double stall, double *told_share)
{
	enum { N_RANKS = 8, N_STEPS = 40 };
	static const double above_median = 0.35; /* of 0, 0.1, ... 0.7 */
	struct charged_job c;
	struct fsl_localisation out;
	small_job_init(&c.job, N_RANKS, N_STEPS);
	charge(&c);
	double work_ms = c.blame.own_ms[20], sum_ms = 0.0;
	for (size_t s = 0; s < N_STEPS; s++) {
		double part = s % 2 == 0 ? 0.3 : 1.0, above_ms = part * above_median * work_ms;
		for (size_t r = 0; r < N_RANKS; r++) {
			c.blame.own_ms[r * N_STEPS + s] *=
				1.0 + 0.1 * part * (double)((r + 3 * (s / 2)) % N_RANKS);
		}
		c.blame.step_dur_ms[s] += share * above_ms;
		sum_ms += above_ms;
	}
	c.blame.own_ms[5 * N_STEPS + 20] *= stall;
	double *work = fsl_calloc(3 * N_STEPS + 3 * N_RANKS + 2, sizeof(*work));
	assert_int_equal(fsl_standing_find(&c.blame, &c.config, work, NULL), FSL_OK);
	fsl_free(work);
	enum fsl_verdict_kind kind = imbalance_of(&c, &out);
	assert_int_equal(out.n_culprits, 0);
	*told_share = out.lost_ms_per_step / (sum_ms / N_STEPS);
	fsl_localisation_fini(&out);
	release(&c);
	return kind;
}

static void work_that_moves_costs_what_steps_take_longer(void **state)
{
	(void)state;
	double told_share = 0.0;
	assert_int_equal(moving_work_of(1.0, 1.0, &told_share), FSL_VERDICT_WORK_IMBALANCE);
	assert_true(fabs(told_share - 1.0) < 0.15);
	assert_int_equal(moving_work_of(0.5, 1.0, &told_share), FSL_VERDICT_WORK_IMBALANCE);
	assert_true(fabs(told_share - 0.5) < 0.1);
	assert_int_equal(moving_work_of(0.0, 1.0, &told_share), FSL_VERDICT_NORMAL);
	assert_int_equal(moving_work_of(0.03, 1.0, &told_share), FSL_VERDICT_NORMAL);
}

static void a_stall_of_one_rank_is_no_work_that_moves(void **state)
{
	(void)state;
	double told_share = 0.0;
	assert_int_equal(moving_work_of(1.0, 50.0, &told_share), FSL_VERDICT_WORK_IMBALANCE);
	assert_true(told_share < 1.3);
	assert_int_equal(moving_work_of(0.0, 90.0, &told_share), FSL_VERDICT_NORMAL);
}

static void long_pauses_of_ranks_in_turn_are_pauses_of_hosts(void **state)
{
	(void)state;
	for (size_t n_ranks = 1; n_ranks <= 8; n_ranks += 7) { /* one rank is that rank's matter */
		struct charged_job c;
		struct fsl_localisation out;
		small_job_init(&c.job, 8, 40);
		charge(&c);
		for (size_t s = 5; s < 40; s += 5) {
			c.blame.own_ms[s % n_ranks * 40 + s] += c.blame.step_ms;
			c.blame.step_dur_ms[s] += c.blame.step_ms;
		}
		double paused_ms = fsl_fuse_pauses_ms(&(struct fsl_case)CASE_OF(&c));
		assert_true(fabs(paused_ms - 7.0 / 40.0 * c.blame.step_ms) < 1.0);
		assert_int_equal(imbalance_of(&c, &out),
				 n_ranks > 1 ? FSL_VERDICT_HOST_PAUSES : FSL_VERDICT_NORMAL);
		assert_int_equal(out.n_culprits, 0);
		fsl_localisation_fini(&out);
		release(&c);
	}
}

/* The largest of many gaps is long by chance; the step that holds it, or the next one, tells what
 * it cost. */
static void a_pause_costs_no_more_than_its_step_or_the_next_took_longer(void **state)
{
	(void)state;
	for (size_t later = 0; later < 2; later++) {
		for (int is_shown = 0; is_shown < 2; is_shown++) {
			struct charged_job c;
			struct fsl_localisation out;
			small_job_init(&c.job, 8, 40);
			charge(&c);
			for (size_t s = 5; s < 39; s += 5) {
				c.blame.own_ms[s % 8 * 40 + s] += c.blame.step_ms;
				c.blame.step_dur_ms[s + later] += is_shown * c.blame.step_ms;
			}
			double paused_ms = fsl_fuse_pauses_ms(&(struct fsl_case)CASE_OF(&c));
			assert_true(is_shown || paused_ms < 1.0);
			assert_int_equal(imbalance_of(&c, &out),
					 is_shown ? FSL_VERDICT_HOST_PAUSES : FSL_VERDICT_NORMAL);
			fsl_localisation_fini(&out);
			release(&c);
		}
	}
}

static void two_long_pauses_of_one_rank_among_short_ones_are_single_events(void **state)
{
	(void)state;
	for (int is_even = 0; is_even < 2; is_even++) {
		struct charged_job c;
		struct fsl_localisation out;
		small_job_init(&c.job, 8, 40);
		charge(&c);
		for (size_t r = 0; r < 4; r++) { /* rank 3 twice, the others once */
			double long_steps = r == 3 || is_even ? 2.0 : 0.2;
			c.blame.own_ms[r * 40 + 8 * r + 4] += long_steps * c.blame.step_ms;
			c.blame.step_dur_ms[8 * r + 4] += long_steps * c.blame.step_ms;
		}
		c.blame.own_ms[3 * 40 + 29] += 2.0 * c.blame.step_ms;
		c.blame.step_dur_ms[29] += 2.0 * c.blame.step_ms;
		assert_int_equal(imbalance_of(&c, &out),
				 is_even ? FSL_VERDICT_HOST_PAUSES : FSL_VERDICT_NORMAL);
		fsl_localisation_fini(&out);
		release(&c);
	}
}

static void two_long_pauses_of_two_ranks_among_short_ones_are_single_events(void **state)
{
	(void)state;
	for (int is_even = 0; is_even < 2; is_even++) {
		struct charged_job c;
		struct fsl_localisation out;
		small_job_init(&c.job, 8, 40);
		charge(&c);
		for (size_t r = 0; r < 5; r++) {
			double long_steps = r % 3 == 1 || is_even ? 3.0 : 0.5;
			c.blame.own_ms[r * 40 + 7 * r + 4] += long_steps * c.blame.step_ms;
			c.blame.step_dur_ms[7 * r + 4] += long_steps * c.blame.step_ms;
		}
		assert_int_equal(imbalance_of(&c, &out),
				 is_even ? FSL_VERDICT_HOST_PAUSES : FSL_VERDICT_NORMAL);
		fsl_localisation_fini(&out);
		release(&c);
	}
}

static void the_rank_after_the_culprit_is_told_with_why_it_is_not_named(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_localisation out;
	small_job_init(&c.job, 8, 40);
	c.job.body_ms[5] = 15.0;
	c.job.body_ms[2] = 0.5;
	c.job.onset = 12;
	charge(&c);
	fsl_localisation_init(&out);
	struct fsl_culprit culprit = fsl_culprit_of(5);
	culprit.reason = "slow";
	assert_int_equal(FSL_APPEND(&out, culprits, &culprit, NULL), FSL_OK);
	assert_int_equal(fsl_fuse_runner_up(&out, &(struct fsl_case)CASE_OF(&c), NULL), FSL_OK);
	const char *begin = "slow; next highest: rank 2 (+1.";
	assert_memory_equal(out.culprits[0].reason, begin, strlen(begin));
	assert_non_null(strstr(out.culprits[0].reason, "below the threshold of "));
	assert_int_equal(out.culprits[0].n_evidence, 1);
	fsl_localisation_fini(&out);
	release(&c);
}

static void a_lost_wait_is_no_work(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 4, 20);
	c.job.body_ms[1] = c.job.head_ms[1] = 300.0; /* the others wait 300 ms in each operator */
	charge(&c);
	struct fsl_rank *rank = &c.job.run.ranks[2];
	memmove(&rank->ops[41], &rank->ops[42], (rank->n_ops - 42) * sizeof(*rank->ops));
	rank->n_ops--;
	fsl_own_fini(&c.own);
	fsl_cuts_fini(&c.cuts);
	fsl_match_fini(&c.match);
	assert_int_equal(fsl_match_build(&c.match, &c.job.run, &c.job.topology, NULL), FSL_OK);
	assert_int_equal(fsl_cuts_build(&c.cuts, &c.job.run, &c.job.steps, c.match.clock_ns, NULL),
			 FSL_OK);
	assert_int_equal(fsl_own_build(&c.own, &c.job.run, &c.job.steps, &c.cuts, NULL), FSL_OK);
	assert_true(fsl_own_total_ms(&c.own, 2, 10) > 400.0);
	assert_int_equal(fsl_own_hide_lost(&c.own, &c.job.run, &c.match, &c.cuts, NULL), FSL_OK);
	assert_true(isnan(fsl_own_total_ms(&c.own, 2, 10)));
	assert_true(fsl_own_total_ms(&c.own, 2, 9) < 210.0);
	assert_true(fsl_own_total_ms(&c.own, 3, 10) > 0.0);
	release(&c);
}

static void idle_time_is_blamed_only_when_recorded_work_explains_nothing(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	charge(&c);
	for (size_t s = 0; s < 40; s++) {
		c.own.idle_ms[3 * c.own.n_steps + s] = 80.0;
	}
	for (int with_work = 0; with_work < 2; with_work++) {
		c.own.has_stages = true;
		for (size_t s = 0; s < 40 && with_work == 1; s++) {
			c.own.part_ms[(5 * c.own.n_steps + s) * FSL_OWN_PARTS_N + FSL_OWN_BODY] +=
				60.0;
		}
		fsl_blame_fini(&c.blame);
		assert_int_equal(fsl_blame_build(&c.blame, &(struct fsl_case)CASE_OF(&c), NULL),
				 FSL_OK);
		assert_int_equal(n_charged(&c), 1);
		assert_true(c.blame.counts_idle == (with_work == 0));
		assert_int_equal(c.blame.charges[with_work == 0 ? 3 : 5].pattern,
				 FSL_PATTERN_LASTING);
	}
	release(&c);
}

static void half_of_a_group_slow_together_is_charged_and_not_the_healthy_half(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 40);
	for (size_t r = 0; r < 4; r++) {
		c.job.head_ms[r] = c.job.body_ms[r] = 12.0;
	}
	charge(&c);
	for (size_t r = 0; r < 8; r++) {
		assert_int_equal(c.blame.charges[r].pattern,
				 r < 4 ? FSL_PATTERN_LASTING : FSL_PATTERN_NONE);
	}
	release(&c);
}

/* A job of 60 steps; the ranks of @paused have @pause_ms more in every @every-th step. */
static void charge_paused(struct charged_job *c, unsigned paused, size_t every, double pause_ms)
{
	charge(c);
	for (size_t r = 0; r < c->own.n_ranks; r++) {
		for (size_t s = 5 + r % every; s < 60 && (paused >> r & 1U) != 0; s += every) {
			size_t at = (r * c->own.n_steps + s) * FSL_OWN_PARTS_N + FSL_OWN_HEAD;
			c->own.part_ms[at] += pause_ms;
		}
	}
	fsl_blame_fini(&c->blame);
	assert_int_equal(fsl_blame_build(&c->blame, &(struct fsl_case)CASE_OF(c), NULL), FSL_OK);
}

static void single_long_steps_again_and_again_are_a_repeated_charge(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 60);
	charge_paused(&c, 1U << 2, 10, 500.0);
	const struct fsl_charge *slow = &c.blame.charges[2];
	assert_int_equal(slow->pattern, FSL_PATTERN_REPEATED);
	assert_int_equal(slow->episode.n_high, 6);
	/* Over the steps from the first long one on. */
	assert_true(fabs(slow->lost_ms_per_step - 6.0 * 500.0 / 53.0) < 2.0);
	release(&c);
}

static void single_long_steps_that_all_ranks_have_are_no_charge(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 60);
	charge_paused(&c, 0xff, 10, 500.0);
	assert_int_equal(n_charged(&c), 0);
	release(&c);
}

static void short_long_steps_of_peers_do_not_excuse_pauses(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 60);
	charge_paused(&c, 0xff, 10, 40.0);
	for (size_t s = 5 + 2; s < 60; s += 10) {
		size_t at = (2 * c.own.n_steps + s) * FSL_OWN_PARTS_N + FSL_OWN_HEAD;
		c.own.part_ms[at] += 500.0;
	}
	fsl_blame_fini(&c.blame);
	assert_int_equal(fsl_blame_build(&c.blame, &(struct fsl_case)CASE_OF(&c), NULL), FSL_OK);
	assert_int_equal(n_charged(&c), 1);
	assert_int_equal(c.blame.charges[2].pattern, FSL_PATTERN_REPEATED);
	release(&c);
}

static void uneven_peers_do_not_excuse_pauses(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 4, 60);
	c.job.body_ms[0] = c.job.body_ms[1] = 3.0; /* 6 % slower all along */
	charge_paused(&c, 1U << 2, 10, 100.0);
	assert_int_equal(c.blame.charges[2].pattern, FSL_PATTERN_REPEATED);
	release(&c);
}

static void the_level_of_peers_survives_up_to_two_thirds_slow(void **state)
{
	(void)state;
	double scratch[8];
	const double five_of_eight[] = {10, 10, 10, 20, 20, 20, 20, 20};
	const double two[] = {12, 10};
	const double holes[] = {NAN, 10, NAN};
	const double none[] = {NAN};
	assert_true(fsl_peer_level(five_of_eight, 8, scratch) == 10.0);
	assert_true(fsl_peer_level(two, 2, scratch) == 10.0);
	assert_true(fsl_peer_level(holes, 3, scratch) == 10.0);
	assert_true(isnan(fsl_peer_level(none, 1, scratch)));
}

static void an_episode_is_where_the_series_is_high_most_of_the_time(void **state)
{
	(void)state;
	const double series[] = {0, 9, 0, 0, 9, 9, NAN, 0, 9, 9, 0, 0, 0};
	struct fsl_episode episode = fsl_episode_find(series, 13, 5.0);
	assert_int_equal(episode.begin, 4);
	assert_int_equal(episode.end, 10);
	assert_int_equal(episode.n_high, 4);
	assert_true(episode.persistence == 0.8);
	assert_int_equal(fsl_episode_find(series, 1, 5.0).end, 0);
}

static void a_stage_of_its_own_is_not_compared_with_others(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_peers peers;
	struct fsl_arena arena = {0};
	small_job_init(&job, 4, 3);
	small_job_run(&job);
	int32_t chains[2][2] = {{0, 2}, {1, 3}};
	struct fsl_group groups[] = {
		{.kind = FSL_GROUP_PP, .name_id = FSL_STR_NONE, .ranks = chains[0], .n_ranks = 2},
		{.kind = FSL_GROUP_PP, .name_id = FSL_STR_NONE, .ranks = chains[1], .n_ranks = 2}};
	struct fsl_topology topology = job.topology;
	topology.groups = groups;
	topology.n_groups = 2;
	assert_int_equal(fsl_peers_build(&peers, &arena, &job.run, &topology, NULL), FSL_OK);
	assert_int_equal(peers.n_classes, 2);
	assert_int_equal(peers.class_of[0], peers.class_of[1]);
	assert_int_equal(peers.class_of[2], peers.class_of[3]);
	assert_int_not_equal(peers.class_of[0], peers.class_of[2]);
	fsl_arena_fini(&arena);
	small_job_fini(&job);
}

static void neighbours_with_a_group_each_are_a_chain_of_stages(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_peers peers;
	struct fsl_arena arena = {0};
	small_job_init(&job, 4, 3);
	small_job_run(&job);
	/* In any order; the last stage hands back to the first where stages are interleaved. */
	int32_t pairs[4][2] = {{2, 3}, {0, 3}, {0, 1}, {1, 2}};
	struct fsl_group groups[4];
	for (size_t i = 0; i < 4; i++) {
		groups[i] = (struct fsl_group){.kind = FSL_GROUP_PP,
					       .name_id = FSL_STR_NONE,
					       .ranks = pairs[i],
					       .n_ranks = 2};
	}
	struct fsl_topology topology = job.topology;
	topology.groups = groups;
	topology.n_groups = 4;
	assert_int_equal(fsl_peers_build(&peers, &arena, &job.run, &topology, NULL), FSL_OK);
	for (int32_t r = 0; r < 4; r++) {
		assert_int_equal(peers.stage_of[r], r);
	}
	fsl_arena_fini(&arena);
	small_job_fini(&job);
}

/* Two pipelines of four stages whose last hands back to the first; rank 3 left no data, so the
 * places of 5 and 7 in their pipeline are not known, those of 4 and 6 beside them are. */
static void a_rank_that_left_no_operators_is_no_stage(void **state)
{
	(void)state;
	struct small_job job;
	struct fsl_peers peers;
	struct fsl_arena arena = {0};
	small_job_init(&job, 8, 3);
	small_job_run(&job);
	job.run.ranks[3].n_ops = 0;
	int32_t pipelines[8][2] = {{0, 2}, {2, 4}, {4, 6}, {0, 6}, {1}, {5}, {5, 7}, {1, 7}};
	int32_t tensors[4][2] = {{0, 1}, {2}, {4, 5}, {6, 7}};
	struct fsl_group groups[12];
	for (size_t i = 0; i < 12; i++) {
		int32_t *ranks = i < 8 ? pipelines[i] : tensors[i - 8];
		groups[i] = (struct fsl_group){.kind = i < 8 ? FSL_GROUP_PP : FSL_GROUP_TP,
					       .name_id = FSL_STR_NONE,
					       .ranks = ranks,
					       .n_ranks = ranks[1] > 0 ? 2 : 1};
	}
	struct fsl_topology topology = job.topology;
	topology.groups = groups;
	topology.n_groups = 12;
	assert_int_equal(fsl_peers_build(&peers, &arena, &job.run, &topology, NULL), FSL_OK);
	for (int32_t r = 0; r < 8; r++) {
		assert_int_equal(peers.stage_of[r], r == 3 ? 0 : r / 2);
	}
	fsl_arena_fini(&arena);
	small_job_fini(&job);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
	(void)state;
	struct charged_job c;
	small_job_init(&c.job, 8, 12);
	charge(&c);
	bool is_done = false;
	for (uint64_t nth = 1; !is_done && nth < 200; nth++) {
		struct fsl_blame blame;
		fsl_mem_fail_at(nth);
		enum fsl_status status =
			fsl_blame_build(&blame, &(struct fsl_case)CASE_OF(&c), NULL);
		fsl_mem_fail_at(0);
		is_done = status == FSL_OK;
		assert_true(is_done || status == FSL_ERR_MEMORY);
		if (is_done) {
			fsl_blame_fini(&blame);
		}
	}
	assert_true(is_done);
	release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_job_charges_nobody),
		cmocka_unit_test(a_slow_rank_is_charged_from_its_onset_with_its_excess),
		cmocka_unit_test(a_recovered_episode_ends_where_it_ended),
		cmocka_unit_test(the_onset_of_a_change_has_both_levels_and_its_chance),
		cmocka_unit_test(a_rank_that_recovered_has_an_onset_from_its_recovery),
		cmocka_unit_test(among_many_ranks_an_onset_must_be_clearer_to_be_told),
		cmocka_unit_test(one_long_step_is_no_charge),
		cmocka_unit_test(of_two_ranks_the_slower_is_charged),
		cmocka_unit_test(noise_between_two_ranks_charges_neither),
		cmocka_unit_test(a_rank_is_compared_with_the_others_alone),
		cmocka_unit_test(pauses_that_hit_everybody_charge_nobody),
		cmocka_unit_test(uneven_devices_form_a_cloud_and_a_slow_one_stands_apart),
		cmocka_unit_test(devices_slower_than_healthy_ones_ever_are_do_not_hide_each_other),
		cmocka_unit_test(a_rank_that_became_slow_has_changed),
		cmocka_unit_test(a_change_of_an_uneven_device_is_measured_from_its_own_level),
		cmocka_unit_test(a_slow_device_that_always_was_is_uneven_until_a_fifth),
		cmocka_unit_test(a_stage_with_more_to_do_is_named_by_its_lowest_rank),
		cmocka_unit_test(a_stage_that_may_wait_is_not_overloaded_if_work_hides),
		cmocka_unit_test(a_ring_is_no_pipeline_though_a_rank_left_no_data),
		cmocka_unit_test(a_stage_of_one_rank_is_told_as_one),
		cmocka_unit_test(work_that_moves_costs_what_steps_take_longer),
		cmocka_unit_test(a_stall_of_one_rank_is_no_work_that_moves),
		cmocka_unit_test(long_pauses_of_ranks_in_turn_are_pauses_of_hosts),
		cmocka_unit_test(a_pause_costs_no_more_than_its_step_or_the_next_took_longer),
		cmocka_unit_test(two_long_pauses_of_one_rank_among_short_ones_are_single_events),
		cmocka_unit_test(two_long_pauses_of_two_ranks_among_short_ones_are_single_events),
		cmocka_unit_test(the_rank_after_the_culprit_is_told_with_why_it_is_not_named),
		cmocka_unit_test(a_lost_wait_is_no_work),
		cmocka_unit_test(idle_time_is_blamed_only_when_recorded_work_explains_nothing),
		cmocka_unit_test(half_of_a_group_slow_together_is_charged_and_not_the_healthy_half),
		cmocka_unit_test(single_long_steps_again_and_again_are_a_repeated_charge),
		cmocka_unit_test(single_long_steps_that_all_ranks_have_are_no_charge),
		cmocka_unit_test(short_long_steps_of_peers_do_not_excuse_pauses),
		cmocka_unit_test(uneven_peers_do_not_excuse_pauses),
		cmocka_unit_test(the_level_of_peers_survives_up_to_two_thirds_slow),
		cmocka_unit_test(an_episode_is_where_the_series_is_high_most_of_the_time),
		cmocka_unit_test(a_stage_of_its_own_is_not_compared_with_others),
		cmocka_unit_test(neighbours_with_a_group_each_are_a_chain_of_stages),
		cmocka_unit_test(a_rank_that_left_no_operators_is_no_stage),
		cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
