/* Greatest and least cost of a fault, and whether it has any: the rise of the steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blame/fuse_parts.h"
#include "charged_job.h"

enum { STEPS = 30, ONSET = 10 };

/* Steps of 100 ms, and of @slow_ms from ONSET on; @lost_ms is what the replay says. */
static double bound(double slow_ms, size_t begin, enum fsl_pattern pattern, double lost_ms)
{
	double times[STEPS];
	for (size_t s = 0; s < STEPS; s++) {
		times[s] = s < ONSET ? 100.0 : slow_ms;
	}
	times[3] = 500.0; /* something else */
	const struct fsl_blame blame = {.n_steps = STEPS, .step_dur_ms = times};
	const struct fsl_charge charge = {.pattern = pattern,
					  .episode = {.begin = begin, .end = STEPS}};
	return fsl_fuse_bound_loss(&blame, &charge, lost_ms);
}

static void assert_near(double is, double wanted)
{
	assert_true(is > wanted - 1e-9 && is < wanted + 1e-9);
}

static void a_fault_costs_no_more_than_the_steps_rose_by(void **state)
{
	(void)state;
	assert_near(bound(130.0, ONSET, FSL_PATTERN_LASTING, 60.0), 30.0);
	assert_near(bound(130.0, ONSET, FSL_PATTERN_LASTING, 20.0), 20.0);
}

static void steps_that_hardly_rose_tell_nothing(void **state)
{
	(void)state;
	assert_near(bound(105.0, ONSET, FSL_PATTERN_LASTING, 60.0), 60.0);
	assert_near(bound(90.0, ONSET, FSL_PATTERN_LASTING, 60.0), 60.0);
}

static void without_steps_outside_the_replay_stands(void **state)
{
	(void)state;
	assert_near(bound(130.0, 0, FSL_PATTERN_LASTING, 60.0), 60.0);
	assert_near(bound(130.0, 7, FSL_PATTERN_LASTING, 60.0), 60.0);
	assert_near(bound(130.0, ONSET, FSL_PATTERN_REPEATED, 60.0), 60.0);
}

/* Two ranks, of which the first works @excess_ms more from ONSET on; how the second is charged. */
struct changes {
	double slow_ms, excess_ms;
	bool has_async, is_change;
	size_t other_begin; /* of a change of the second; STEPS: none */
	size_t begin;
};

static double least(struct changes changes)
{
	double times[STEPS];
	for (size_t s = 0; s < STEPS; s++) {
		times[s] = s < ONSET ? 100.0 : changes.slow_ms;
	}
	struct fsl_charge charges[2] = {
		{.pattern = FSL_PATTERN_LASTING,
		 .is_change = changes.is_change,
		 .episode = {.begin = changes.begin, .end = STEPS, .mean_ms = changes.excess_ms}},
		{.pattern = FSL_PATTERN_LASTING,
		 .is_change = changes.other_begin < STEPS,
		 .episode = {.begin = changes.other_begin, .end = STEPS}}};
	const struct fsl_blame blame = {
		.n_ranks = 2, .n_steps = STEPS, .step_dur_ms = times, .charges = charges};
	const struct fsl_own own = {.has_async = changes.has_async};
	const struct fsl_case job = {.blame = &blame, .own = &own};
	return fsl_fuse_least_loss(&job, &charges[0]);
}

static const struct changes alone = {.slow_ms = 130.0,
				     .excess_ms = 40.0,
				     .has_async = true,
				     .is_change = true,
				     .other_begin = STEPS,
				     .begin = ONSET};

static void a_rank_that_alone_changed_costs_what_the_steps_rose_by(void **state)
{
	(void)state;
	struct changes changes = alone;
	assert_near(least(changes), 30.0);
	changes.excess_ms = 20.0; /* no more than it works longer */
	assert_near(least(changes), 20.0);
}

static void a_rise_that_the_change_does_not_explain_is_not_its_cost(void **state)
{
	(void)state;
	struct changes changes = alone;
	changes.excess_ms = 10.0; /* something else slowed the steps */
	assert_near(least(changes), 0.0);
	changes.excess_ms = 70.0; /* others wait for somebody else */
	assert_near(least(changes), 0.0);
	changes = alone;
	changes.slow_ms = 100.0;
	assert_near(least(changes), 0.0);
}

static void of_two_ranks_that_changed_neither_is_known_to_cost_it(void **state)
{
	(void)state;
	struct changes changes = alone;
	changes.other_begin = 12;
	assert_near(least(changes), 0.0);
	changes.other_begin = STEPS - 2; /* hardly beside it */
	assert_near(least(changes), 30.0);
}

static void without_work_beneath_operators_the_replay_tells_it(void **state)
{
	(void)state;
	struct changes changes = alone;
	changes.has_async = false;
	assert_near(least(changes), 0.0);
	changes = alone;
	changes.is_change = false;
	assert_near(least(changes), 0.0);
	changes = alone;
	changes.begin = 3; /* too few steps before */
	assert_near(least(changes), 0.0);
}

enum { BEGIN_NS = 1000 };

/* Loss told of a chapter with steps of 130 ms and a loss of 60, after steps of @before_ms. */
static double bound_by_past(double before_ms, enum fsl_verdict_kind kind, int64_t onset_ns,
			    int64_t until_step)
{
	struct fsl_culprit culprit = fsl_culprit_of(3);
	culprit.lost_ms_per_step = 60.0;
	culprit.onset_ns = onset_ns;
	culprit.until_step = until_step;
	struct fsl_localisation verdict = {.kind = kind,
					   .step_ms = 130.0,
					   .lost_ms_per_step = 60.0,
					   .culprits = &culprit,
					   .n_culprits = 1};
	fsl_fuse_bound_by_past(&verdict, before_ms, BEGIN_NS);
	assert_near(verdict.lost_ms_per_step, culprit.lost_ms_per_step);
	return verdict.lost_ms_per_step;
}

static void a_chapter_of_slow_steps_costs_what_they_rose_by(void **state)
{
	(void)state;
	assert_near(bound_by_past(100.0, FSL_VERDICT_SLOW_RANK, BEGIN_NS, -1), 30.0);
	assert_near(bound_by_past(100.0, FSL_VERDICT_SLOW_HOST, FSL_NS_ABSENT, -1), 30.0);
	assert_near(bound_by_past(60.0, FSL_VERDICT_SLOW_RANK, BEGIN_NS, -1), 60.0);
	assert_near(bound_by_past(NAN, FSL_VERDICT_SLOW_RANK, BEGIN_NS, -1), 60.0);
}

static void a_fault_of_a_part_of_the_chapter_costs_what_it_did(void **state)
{
	(void)state;
	assert_near(bound_by_past(100.0, FSL_VERDICT_SLOW_RANK, BEGIN_NS + 1, -1), 60.0);
	assert_near(bound_by_past(100.0, FSL_VERDICT_SLOW_RANK, BEGIN_NS, 7), 60.0);
	assert_near(bound_by_past(100.0, FSL_VERDICT_STAGE_IMBALANCE, BEGIN_NS, -1), 60.0);
}

/* Names culprits of a job whose ranks 5 and, beneath operators, 2 work longer in some of 40 steps,
 * 12 ms and 4 ms before each operator. @is_told: by arrivals and by a change of rank 2. Returns the
 * first two ranks: 10 * first + second, 9: none. */
static int32_t named_of(size_t begin, size_t end, bool has_steps_rise, bool is_work, bool is_told)
{
	enum { N_STEPS = 40 };
	struct charged_job c;
	struct fsl_localisation out;
	small_job_init(&c.job, 8, N_STEPS);
	c.job.body_ms[5] = 12.0;
	c.job.body_ms[2] = is_work ? 0.0 : 4.0;
	c.job.onset = begin;
	c.job.until = end;
	charge(&c);
	c.config.causes = UINT32_MAX;
	c.own.has_async = !is_work;
	c.blame.charges[5].is_certain = is_told;
	c.blame.charges[2].is_change |= is_told;
	for (size_t s = 0; s < N_STEPS && !has_steps_rise; s++) {
		c.blame.step_dur_ms[s] = c.blame.step_ms;
	}
	fsl_localisation_init(&out);
	assert_int_equal(fsl_fuse_culprits(&out, &(struct fsl_case)CASE_OF(&c), NULL), FSL_OK);
	int32_t first = out.n_culprits > 0 ? out.culprits[0].rank : 9;
	int32_t second = out.n_culprits > 1 ? out.culprits[1].rank : 9;
	fsl_localisation_fini(&out);
	release(&c);
	return 10 * first + second;
}

static void a_rank_is_not_named_for_a_while_in_which_steps_took_no_longer(void **state)
{
	(void)state;
	assert_int_equal(named_of(10, 25, true, true, false), 59);
	assert_int_equal(named_of(10, 25, false, true, false), 99);
	assert_int_equal(named_of(18, 40, true, true, false), 59);
	assert_int_equal(named_of(18, 40, false, true, false), 99);
	assert_int_equal(named_of(0, 40, false, true, false), 59); /* no other steps tell */
}

/* Named although all steps became longer by @all_ms at the same time. */
static bool is_named_beside_rise(double all_ms)
{
	enum { N_STEPS = 40 };
	struct charged_job c;
	struct fsl_localisation out;
	small_job_init(&c.job, 8, N_STEPS);
	c.job.body_ms[6] = 10.0; /* 40 ms in a step */
	c.job.onset = 15;
	charge(&c);
	c.config.causes = UINT32_MAX;
	for (size_t s = 15; s < N_STEPS; s++) {
		c.blame.step_dur_ms[s] += all_ms;
	}
	fsl_localisation_init(&out);
	assert_int_equal(fsl_fuse_culprits(&out, &(struct fsl_case)CASE_OF(&c), NULL), FSL_OK);
	bool is_named = out.n_culprits > 0;
	assert_true(!is_named || out.culprits[0].rank == 6);
	fsl_localisation_fini(&out);
	release(&c);
	return is_named;
}

static void a_rank_is_not_named_for_a_rise_of_which_it_explains_little(void **state)
{
	(void)state;
	assert_true(is_named_beside_rise(0.0));
	assert_true(is_named_beside_rise(40.0));
	assert_false(is_named_beside_rise(120.0));
	assert_false(is_named_beside_rise(500.0));
}

static void ranks_that_cost_far_less_are_not_named_if_gaps_are_no_work(void **state)
{
	(void)state;
	assert_int_equal(named_of(0, 40, true, false, true), 59);
}

static void a_level_of_gaps_names_nobody_without_a_replay_or_arrivals(void **state)
{
	(void)state;
	assert_int_equal(named_of(0, 40, true, false, false), 99);
	assert_int_equal(named_of(0, 40, true, true, false), 59);       /* gaps are work */
	assert_int_equal(named_of(12, 40, true, false, false) / 10, 5); /* a change */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_costs_no_more_than_the_steps_rose_by),
		cmocka_unit_test(steps_that_hardly_rose_tell_nothing),
		cmocka_unit_test(without_steps_outside_the_replay_stands),
		cmocka_unit_test(a_rank_that_alone_changed_costs_what_the_steps_rose_by),
		cmocka_unit_test(a_rise_that_the_change_does_not_explain_is_not_its_cost),
		cmocka_unit_test(of_two_ranks_that_changed_neither_is_known_to_cost_it),
		cmocka_unit_test(without_work_beneath_operators_the_replay_tells_it),
		cmocka_unit_test(a_chapter_of_slow_steps_costs_what_they_rose_by),
		cmocka_unit_test(a_fault_of_a_part_of_the_chapter_costs_what_it_did),
		cmocka_unit_test(a_rank_is_not_named_for_a_while_in_which_steps_took_no_longer),
		cmocka_unit_test(a_rank_is_not_named_for_a_rise_of_which_it_explains_little),
		cmocka_unit_test(ranks_that_cost_far_less_are_not_named_if_gaps_are_no_work),
		cmocka_unit_test(a_level_of_gaps_names_nobody_without_a_replay_or_arrivals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
