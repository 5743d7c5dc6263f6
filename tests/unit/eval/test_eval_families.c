/* Claims about the outcomes of captures of families, and their sums. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "eval/families.h"

static const struct fsl_eval_topology fsdp = {"fsdp", 1, 8, 1, 4, "family=fsdp"};
static const struct fsl_eval_topology other = {"dp8", 1, 8, 1, 2, "buckets=4"};
static const struct fsl_eval_task tasks[] = {
	{.topology = &fsdp, .scenario = &(struct fsl_eval_scenario){.name = "clean"}},
	{.topology = &other, .scenario = &(struct fsl_eval_scenario){.name = "clean"}}};

static struct fsl_eval_result result_of(bool has_fault, enum fsl_verdict_kind kind)
{
	return (struct fsl_eval_result){
		.task = &tasks[0],
		.is_done = true,
		.truth = {.has_fault = has_fault, .slowdown = has_fault ? 1.12 : 1.0},
		.strength = has_fault ? FSL_EVAL_STRONG : FSL_EVAL_CLEAN,
		.confidence = 0.95,
		.marks = {.kind = kind}};
}

static void healthy_captures_are_told_by_the_worst_that_is_said(void **state)
{
	struct fsl_eval_result quiet = result_of(false, FSL_VERDICT_NORMAL);
	struct fsl_eval_result staged = result_of(false, FSL_VERDICT_STAGE_IMBALANCE);
	struct fsl_eval_result alarmed = result_of(false, FSL_VERDICT_HOST_PAUSES);
	struct fsl_eval_result named = result_of(false, FSL_VERDICT_SLOW_RANK);
	(void)state;
	/* Ranks of a stage with more work are not at fault. */
	staged.marks.n_wrong = 1;
	alarmed.marks.is_alarm = named.marks.is_alarm = true;
	named.marks.n_wrong = 2;
	assert_int_equal(fsl_eval_outcome_of(&quiet), FSL_EVAL_QUIET);
	assert_int_equal(fsl_eval_outcome_of(&staged), FSL_EVAL_STAGED);
	assert_int_equal(fsl_eval_outcome_of(&alarmed), FSL_EVAL_ALARMED);
	assert_int_equal(fsl_eval_outcome_of(&named), FSL_EVAL_NAMED);
}

static void faulty_captures_are_right_only_with_verdict_and_ranks(void **state)
{
	struct fsl_eval_result result = result_of(true, FSL_VERDICT_SLOW_RANK);
	(void)state;
	result.marks.is_kind_right = result.marks.is_exact = true;
	result.marks.n_hit = 1;
	assert_int_equal(fsl_eval_outcome_of(&result), FSL_EVAL_RIGHT);
	result.marks.is_exact = false;
	assert_int_equal(fsl_eval_outcome_of(&result), FSL_EVAL_PARTLY);
	result.marks.n_wrong = 1;
	assert_int_equal(fsl_eval_outcome_of(&result), FSL_EVAL_WRONG);
	result = result_of(true, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
	assert_int_equal(fsl_eval_outcome_of(&result), FSL_EVAL_ABSTAINED);
	result = result_of(true, FSL_VERDICT_NORMAL);
	assert_int_equal(fsl_eval_outcome_of(&result), FSL_EVAL_UNSEEN);
}

static void cheap_and_short_faults_do_not_count(void **state)
{
	struct fsl_eval_result result = result_of(true, FSL_VERDICT_NORMAL);
	(void)state;
	result.truth.slowdown = 1.034;
	assert_int_equal(fsl_eval_outcome_of(&result), FSL_EVAL_UNCOUNTED);
	result.truth.slowdown = 1.036;
	assert_int_equal(fsl_eval_outcome_of(&result), FSL_EVAL_UNSEEN);
	result.strength = FSL_EVAL_SHORT;
	assert_int_equal(fsl_eval_outcome_of(&result), FSL_EVAL_UNCOUNTED);
}

static void sums_hold_families_alone_and_divide_answers_by_confidence(void **state)
{
	static const double told[] = {0.3, 0.5, 0.69, 0.7, 0.9, 1.0};
	enum { N = sizeof(told) / sizeof(told[0]) };
	struct fsl_eval_task list[N + 2];
	struct fsl_eval_result results[N + 2];
	struct fsl_eval eval = {.tasks = list, .n_tasks = N + 2, .results = results};
	(void)state;
	for (size_t i = 0; i < N + 2; i++) {
		list[i] = tasks[i == N];
		results[i] = result_of(false, FSL_VERDICT_NORMAL);
		results[i].task = &list[i];
		results[i].confidence = i < N ? told[i] : 0.95;
	}
	/* One answer that is told with confidence is an alarm; one abstains. */
	results[N - 1].marks.is_alarm = true;
	results[N + 1].marks.kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	struct fsl_eval_family sum = fsl_eval_family_sum(&eval, "fsdp", false);
	const uint64_t n_told[] = {1, 2, 1, 2}, n_true[] = {1, 2, 1, 1};
	assert_memory_equal(sum.n_told, n_told, sizeof(n_told));
	assert_memory_equal(sum.n_true, n_true, sizeof(n_true));
	assert_int_equal(fsl_eval_family_healthy(&sum), N + 1);
	assert_int_equal(fsl_eval_family_faulty(&sum), 0);
	assert_true(fsl_eval_has(&eval, true) && fsl_eval_has(&eval, false));
	sum = fsl_eval_family_sum(&eval, "dp8", false);
	assert_int_equal(fsl_eval_family_healthy(&sum), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(healthy_captures_are_told_by_the_worst_that_is_said),
		cmocka_unit_test(faulty_captures_are_right_only_with_verdict_and_ranks),
		cmocka_unit_test(cheap_and_short_faults_do_not_count),
		cmocka_unit_test(sums_hold_families_alone_and_divide_answers_by_confidence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
