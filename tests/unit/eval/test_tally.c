/* Tallies: hand-made marks give figures that can be worked out on paper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "eval/tally.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static struct fsl_eval_marks marks_of(uint32_t n_hit, uint32_t n_missed, uint32_t n_wrong)
{
	return (struct fsl_eval_marks){.is_alarm = n_hit + n_wrong > 0,
				       .n_hit = n_hit,
				       .n_missed = n_missed,
				       .n_wrong = n_wrong,
				       .is_exact = n_missed == 0 && n_wrong == 0,
				       .cause = -1};
}

static void counts_of_ranks_are_pooled(void **state)
{
	(void)state;
	struct fsl_eval_truth faulty = {.has_fault = true, .cause = -1};
	struct fsl_eval_tally tally = {0};
	struct fsl_eval_marks first = marks_of(7, 1, 0), second = marks_of(1, 0, 2);
	fsl_eval_tally_add(&tally, &faulty, &first, 0.5, 8);
	fsl_eval_tally_add(&tally, &faulty, &second, 0.5, 8);
	struct fsl_eval_prf ranks = fsl_eval_rank_prf(&tally);
	assert_true(near(ranks.precision, 0.8));
	assert_true(near(ranks.recall, 8.0 / 9.0));
	assert_true(near(ranks.f1, 16.0 / 19.0));
	assert_true(near(fsl_eval_job_prf(&tally).recall, 1.0));
	/* Days count for clean jobs only. */
	assert_true(tally.clean_days == 0.0);
}

static void alarms_are_held_against_faults(void **state)
{
	(void)state;
	struct fsl_eval_truth faulty = {.has_fault = true, .cause = -1};
	struct fsl_eval_truth clean = {.cause = -1};
	struct fsl_eval_marks loud = marks_of(0, 0, 1), quiet = marks_of(0, 0, 0);
	struct fsl_eval_tally tally = {0};
	fsl_eval_tally_add(&tally, &faulty, &loud, 1.0, 4);
	fsl_eval_tally_add(&tally, &faulty, &quiet, 1.0, 4);
	fsl_eval_tally_add(&tally, &faulty, &quiet, 1.0, 4);
	fsl_eval_tally_add(&tally, &clean, &loud, 0.25, 4);
	fsl_eval_tally_add(&tally, &clean, &quiet, 0.25, 4);
	struct fsl_eval_prf jobs = fsl_eval_job_prf(&tally);
	assert_true(near(jobs.precision, 0.5));
	assert_true(near(jobs.recall, 1.0 / 3.0));
	assert_int_equal(tally.n_quiet_right, 1);
	assert_int_equal(tally.n_clean_ranks, 8);
	assert_true(near(tally.clean_days, 0.5));
}

static void nothing_to_divide_by_is_unknown(void **state)
{
	(void)state;
	struct fsl_eval_tally empty = {0};
	struct fsl_eval_causes causes = {0};
	assert_true(isnan(fsl_eval_rank_prf(&empty).precision));
	assert_true(isnan(fsl_eval_rank_prf(&empty).f1));
	assert_true(isnan(fsl_eval_causes_macro_f1(&causes)));
}

/* Tables of exact Poisson limits (Garwood): -ln(0.05) for no event. */
static void poisson_bound_agrees_with_tables(void **state)
{
	(void)state;
	assert_true(fabs(fsl_eval_poisson_upper(0, 0.95) - 2.995732) < 1e-6);
	assert_true(fabs(fsl_eval_poisson_upper(1, 0.95) - 4.743865) < 1e-6);
	assert_true(fabs(fsl_eval_poisson_upper(10, 0.95) - 16.962219) < 1e-6);
	assert_true(fabs(fsl_eval_poisson_upper(3, 0.975) - 8.767273) < 1e-6);
}

static void macro_f1_is_the_mean_over_true_causes(void **state)
{
	(void)state;
	struct fsl_eval_causes causes = {0};
	/* compute: 3 right, 1 told as host; host: 2 right. */
	causes.n[FSL_CAUSE_COMPUTE][FSL_CAUSE_COMPUTE] = 3;
	causes.n[FSL_CAUSE_COMPUTE][FSL_CAUSE_HOST] = 1;
	causes.n[FSL_CAUSE_HOST][FSL_CAUSE_HOST] = 2;
	double compute = 6.0 / 7.0, host = 4.0 / 5.0;
	assert_true(near(fsl_eval_causes_macro_f1(&causes), (compute + host) / 2.0));
}

static void cause_of_a_wrong_rank_counts_as_none(void **state)
{
	(void)state;
	struct fsl_eval_truth truth = {.has_fault = true, .cause = FSL_CAUSE_HOST, .n_culprits = 1};
	struct fsl_eval_marks marks = marks_of(0, 1, 1);
	struct fsl_eval_causes causes = {0};
	marks.cause = FSL_CAUSE_HOST;
	fsl_eval_causes_add(&causes, &truth, &marks);
	assert_int_equal(causes.n[FSL_CAUSE_HOST][FSL_EVAL_CAUSE_NONE], 1);
	marks.is_top1 = true;
	fsl_eval_causes_add(&causes, &truth, &marks);
	assert_int_equal(causes.n[FSL_CAUSE_HOST][FSL_CAUSE_HOST], 1);
}

static void accepted_verdict_stands_on_the_diagonal(void **state)
{
	(void)state;
	struct fsl_eval_truth truth = {.has_fault = true, .kind = FSL_VERDICT_SLOW_HOST};
	struct fsl_eval_marks marks = {.kind = FSL_VERDICT_SLOW_RANK, .is_kind_right = true};
	struct fsl_eval_kinds kinds = {0};
	fsl_eval_kinds_add(&kinds, &truth, &marks);
	marks.is_kind_right = false;
	fsl_eval_kinds_add(&kinds, &truth, &marks);
	assert_int_equal(kinds.n[FSL_VERDICT_SLOW_HOST][FSL_VERDICT_SLOW_HOST], 1);
	assert_int_equal(kinds.n[FSL_VERDICT_SLOW_HOST][FSL_VERDICT_SLOW_RANK], 1);
}

static void strength_follows_slowdown_and_length(void **state)
{
	(void)state;
	struct fsl_eval_truth truth = {
		.has_fault = true, .kind = FSL_VERDICT_SLOW_RANK, .slowdown = 1.1};
	assert_int_equal(fsl_eval_strength_of(&truth, 50), FSL_EVAL_STRONG);
	assert_int_equal(fsl_eval_strength_of(&truth, 49), FSL_EVAL_SHORT);
	truth.slowdown = 1.0999;
	assert_int_equal(fsl_eval_strength_of(&truth, 50), FSL_EVAL_MIDDLE);
	truth.slowdown = 1.0499;
	assert_int_equal(fsl_eval_strength_of(&truth, 50), FSL_EVAL_WEAK);
	truth.kind = FSL_VERDICT_HANG;
	assert_int_equal(fsl_eval_strength_of(&truth, 50), FSL_EVAL_STOP);
	truth.has_fault = false;
	assert_int_equal(fsl_eval_strength_of(&truth, 50), FSL_EVAL_CLEAN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_of_ranks_are_pooled),
		cmocka_unit_test(alarms_are_held_against_faults),
		cmocka_unit_test(nothing_to_divide_by_is_unknown),
		cmocka_unit_test(poisson_bound_agrees_with_tables),
		cmocka_unit_test(macro_f1_is_the_mean_over_true_causes),
		cmocka_unit_test(cause_of_a_wrong_rank_counts_as_none),
		cmocka_unit_test(accepted_verdict_stands_on_the_diagonal),
		cmocka_unit_test(strength_follows_slowdown_and_length),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
