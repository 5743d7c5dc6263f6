/* The list of wrong jobs, and the table of all jobs. */
#include <math.h>

#include "eval/eval_report.h"

static void put_wrong(struct fsl_page *page, const struct fsl_eval_result *result)
{
	const struct fsl_eval_task *task = result->task;
	fsl_page_printf(page, "\njob %zu: %s, %s, %s, slowdown %.3f, %s%s\n", task->idx,
			task->scenario->name, task->topology->name,
			fsl_eval_strength_text(result->strength), result->truth.slowdown,
			fsl_eval_condition_text(task->condition),
			task->is_from_start ? ", from the first step" : "");
	fsl_page_printf(page, "  expected: %s, culprits [%s]\n",
			fsl_verdict_text(result->truth.kind), result->culprits);
	fsl_page_printf(
		page, "  told:     %s, named [%s], cause %s: %s\n",
		result->marks.has_failed ? "no answer" : fsl_verdict_text(result->marks.kind),
		result->named,
		result->marks.cause >= 0 ? fsl_cause_text((enum fsl_cause)result->marks.cause)
					 : "none",
		result->reason);
	fsl_page_printf(page, "  failslow simulate job-%zu %s\n", task->idx, result->parameters);
	fsl_page_printf(page, "  failslow detect --now %lld --output job-%zu-out job-%zu\n",
			(long long)result->now_ns, task->idx, task->idx);
}

void fsl_eval_list_wrong(struct fsl_page *page, const struct fsl_eval *eval)
{
	size_t n = 0;
	for (size_t i = 0; i < eval->n_tasks; i++) {
		n += eval->results[i].is_done && fsl_eval_is_wrong(&eval->results[i].marks);
	}
	fsl_page_heading(page, "Wrong jobs");
	fsl_page_printf(page, "%zu of %zu jobs\n", n, eval->n_done);
	for (size_t i = 0; i < eval->n_tasks; i++) {
		if (eval->results[i].is_done && fsl_eval_is_wrong(&eval->results[i].marks)) {
			put_wrong(page, &eval->results[i]);
		}
	}
}

/* Writes a number; empty if it is unknown. */
static void put_number(struct fsl_page *page, double value)
{
	if (value == value) {
		fsl_page_printf(page, "%.4f,", value);
	} else {
		fsl_page_printf(page, ",");
	}
}

static void put_job(struct fsl_page *page, const struct fsl_eval_result *result)
{
	const struct fsl_eval_task *task = result->task;
	const struct fsl_eval_marks *marks = &result->marks;
	fsl_page_printf(
		page, "%zu,%s,%s,%d,%d,%lld,%llu,%g,%d,%s,%s,%s,", task->idx, task->scenario->name,
		task->topology->name, (int)task->n_ranks, (int)task->n_steps, (long long)task->seed,
		(unsigned long long)task->random, 100.0 * task->magnitude,
		(int)task->duration_steps, task->is_from_start ? "true" : "false",
		fsl_eval_condition_text(task->condition), fsl_eval_strength_text(result->strength));
	put_number(page, result->truth.slowdown);
	put_number(page, result->slowdown_told);
	fsl_page_printf(page, "%s,%s,%s,%s,", fsl_verdict_text(result->truth.kind),
			fsl_verdict_text(marks->kind), result->culprits, result->named);
	fsl_page_printf(
		page, "%s,%s,",
		result->truth.cause >= 0 ? fsl_cause_text((enum fsl_cause)result->truth.cause) : "",
		marks->cause >= 0 ? fsl_cause_text((enum fsl_cause)marks->cause) : "");
	put_number(page, marks->onset_error_steps);
	fsl_page_printf(page, "%u,%u,%u,%d,%d,%d,%d,\"%s\"\n", marks->n_hit, marks->n_missed,
			marks->n_wrong, marks->is_alarm, marks->is_kind_right, marks->is_exact,
			marks->has_failed, result->parameters);
}

void fsl_eval_jobs_csv(struct fsl_page *page, const struct fsl_eval *eval)
{
	fsl_page_printf(
		page, "job,fault,topology,ranks,steps,seed,random,magnitude_percent,duration,"
		      "from_start,condition,strength,slowdown,slowdown_told,verdict_expected,"
		      "verdict,culprits,named,cause_true,cause,onset_error_steps,hit,missed,wrong,"
		      "alarm,verdict_right,exact,failed,simulate\n");
	for (size_t i = 0; i < eval->n_tasks; i++) {
		if (eval->results[i].is_done) {
			put_job(page, &eval->results[i]);
		}
	}
}
