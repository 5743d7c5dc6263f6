/* Marks: one answer against the truth of one job, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "eval/grade.h"

#define MS INT64_C(1000000)

static const int32_t three_and_seven[] = {3, 7};
static const int32_t group_of_three[] = {1, 3, 5, 7};

/* Ranks 3 and 7 compute slowly from step 50 on and cost a quarter. */
static struct fsl_eval_truth two_slow_ranks(void)
{
	return (struct fsl_eval_truth){
		.has_fault = true,
		.kinds_ok = UINT32_C(1) << FSL_VERDICT_SLOW_RANK | UINT32_C(1)
									   << FSL_VERDICT_SLOW_HOST,
		.kind = FSL_VERDICT_SLOW_RANK,
		.cause = FSL_CAUSE_COMPUTE,
		.culprits = three_and_seven,
		.n_culprits = 2,
		.onset_ns = 50 * 2000 * MS,
		.step_ms = 2000.0,
		.slowdown = 1.25,
	};
}

static struct fsl_eval_answer naming(const int32_t *named, size_t n_named)
{
	return (struct fsl_eval_answer){
		.kind = n_named > 0 ? FSL_VERDICT_SLOW_RANK : FSL_VERDICT_NORMAL,
		.is_alarm = n_named > 0,
		.named = named,
		.n_named = n_named,
		.cause = n_named > 0 ? (int)FSL_CAUSE_COMPUTE : -1,
		.onset_ns = n_named > 0 ? 53 * 2000 * MS : FSL_NS_ABSENT,
		.slowdown = 1.2,
	};
}

static void full_answer_is_right_in_everything(void **state)
{
	(void)state;
	static const int32_t named[] = {7, 3};
	struct fsl_eval_truth truth = two_slow_ranks();
	struct fsl_eval_answer answer = naming(named, 2);
	struct fsl_eval_marks marks = fsl_eval_mark(&truth, &answer);
	assert_int_equal(marks.n_hit, 2);
	assert_int_equal(marks.n_missed, 0);
	assert_int_equal(marks.n_wrong, 0);
	assert_true(marks.is_exact && marks.is_top1 && marks.is_kind_right);
	assert_true(marks.is_cause_asked && marks.is_cause_right);
	assert_true(marks.onset_error_steps == 3.0);
	assert_true(fabs(marks.slowdown_error + 0.05) < 1e-12);
	assert_false(fsl_eval_is_wrong(&marks));
}

static void victim_is_a_wrong_rank(void **state)
{
	(void)state;
	static const int32_t named[] = {4, 3};
	struct fsl_eval_truth truth = two_slow_ranks();
	struct fsl_eval_answer answer = naming(named, 2);
	struct fsl_eval_marks marks = fsl_eval_mark(&truth, &answer);
	assert_int_equal(marks.n_hit, 1);
	assert_int_equal(marks.n_missed, 1);
	assert_int_equal(marks.n_wrong, 1);
	assert_true(marks.is_top1_asked);
	assert_false(marks.is_top1 || marks.is_exact);
	/* The cause of a victim is no cause of the fault, nor is its onset. */
	assert_false(marks.is_cause_asked);
	assert_true(isnan(marks.onset_error_steps));
	assert_true(fsl_eval_is_wrong(&marks));
}

static void silence_misses_all_and_names_nobody_first(void **state)
{
	(void)state;
	struct fsl_eval_truth truth = two_slow_ranks();
	struct fsl_eval_answer answer = naming(NULL, 0);
	struct fsl_eval_marks marks = fsl_eval_mark(&truth, &answer);
	assert_int_equal(marks.n_missed, 2);
	assert_false(marks.is_top1_asked || marks.is_kind_right || marks.is_exact);
	assert_true(fsl_eval_is_wrong(&marks));
}

static void members_of_a_slow_link_are_no_mistake(void **state)
{
	(void)state;
	static const int32_t named[] = {1, 3, 7, 2};
	struct fsl_eval_truth truth = two_slow_ranks();
	truth.allowed = group_of_three;
	truth.n_allowed = 4;
	struct fsl_eval_answer answer = naming(named, 4);
	struct fsl_eval_marks marks = fsl_eval_mark(&truth, &answer);
	assert_int_equal(marks.n_hit, 2);
	assert_int_equal(marks.n_wrong, 1);
	assert_true(marks.is_top1);
}

static void whoever_is_named_in_a_clean_job_is_wrong(void **state)
{
	(void)state;
	struct fsl_eval_truth clean = {.kinds_ok = UINT32_C(1) << FSL_VERDICT_NORMAL,
				       .kind = FSL_VERDICT_NORMAL,
				       .cause = -1,
				       .onset_ns = FSL_NS_ABSENT,
				       .slowdown = 1.0};
	struct fsl_eval_answer quiet = naming(NULL, 0);
	struct fsl_eval_answer loud = naming(three_and_seven, 2);
	struct fsl_eval_marks marks = fsl_eval_mark(&clean, &quiet);
	assert_true(marks.is_exact && marks.is_kind_right);
	assert_false(fsl_eval_is_wrong(&marks));
	marks = fsl_eval_mark(&clean, &loud);
	assert_int_equal(marks.n_wrong, 2);
	assert_true(marks.is_false_alarm);
	assert_false(marks.is_top1_asked);
	assert_true(fsl_eval_is_wrong(&marks));
}

static void accepted_verdict_is_right_and_another_is_not(void **state)
{
	(void)state;
	struct fsl_eval_truth truth = two_slow_ranks();
	struct fsl_eval_answer answer = naming(three_and_seven, 2);
	answer.kind = FSL_VERDICT_SLOW_HOST;
	assert_true(fsl_eval_mark(&truth, &answer).is_kind_right);
	answer.kind = FSL_VERDICT_SLOW_LINK;
	assert_false(fsl_eval_mark(&truth, &answer).is_kind_right);
}

static void failure_is_no_right_verdict(void **state)
{
	(void)state;
	struct fsl_eval_truth truth = two_slow_ranks();
	struct fsl_eval_answer answer = naming(NULL, 0);
	truth.kinds_ok = UINT32_MAX;
	answer.has_failed = true;
	struct fsl_eval_marks marks = fsl_eval_mark(&truth, &answer);
	assert_false(marks.is_kind_right);
	assert_true(fsl_eval_is_wrong(&marks));
}

static void onset_of_a_verdict_without_culprits_counts_when_the_verdict_is_right(void **state)
{
	(void)state;
	struct fsl_eval_truth truth = two_slow_ranks();
	truth.kind = FSL_VERDICT_JOB_SLOWDOWN;
	truth.kinds_ok = UINT32_C(1) << FSL_VERDICT_JOB_SLOWDOWN;
	truth.n_culprits = 0;
	struct fsl_eval_answer answer = naming(NULL, 0);
	answer.onset_ns = 48 * 2000 * MS;
	assert_true(isnan(fsl_eval_mark(&truth, &answer).onset_error_steps));
	answer.kind = FSL_VERDICT_JOB_SLOWDOWN;
	assert_true(fsl_eval_mark(&truth, &answer).onset_error_steps == -2.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_answer_is_right_in_everything),
		cmocka_unit_test(victim_is_a_wrong_rank),
		cmocka_unit_test(silence_misses_all_and_names_nobody_first),
		cmocka_unit_test(members_of_a_slow_link_are_no_mistake),
		cmocka_unit_test(whoever_is_named_in_a_clean_job_is_wrong),
		cmocka_unit_test(accepted_verdict_is_right_and_another_is_not),
		cmocka_unit_test(failure_is_no_right_verdict),
		cmocka_unit_test(
			onset_of_a_verdict_without_culprits_counts_when_the_verdict_is_right),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
