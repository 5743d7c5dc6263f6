/* Compares one answer with the truth of one job. */
#include "eval/grade.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

static bool contains(const int32_t *ranks, size_t n, int32_t rank)
{
	return n > 0 && bsearch(&rank, ranks, n, sizeof(rank), fsl_compare_i32) != NULL;
}

static bool is_culprit(const struct fsl_eval_truth *truth, int32_t rank)
{
	return contains(truth->culprits, truth->n_culprits, rank);
}

static bool is_allowed(const struct fsl_eval_truth *truth, int32_t rank)
{
	return is_culprit(truth, rank) || contains(truth->allowed, truth->n_allowed, rank);
}

static void mark_ranks(struct fsl_eval_marks *marks, const struct fsl_eval_truth *truth,
		       const struct fsl_eval_answer *answer)
{
	for (size_t i = 0; i < answer->n_named; i++) {
		marks->n_hit += is_culprit(truth, answer->named[i]);
		marks->n_wrong += !is_allowed(truth, answer->named[i]);
	}
	marks->n_missed = (uint32_t)truth->n_culprits - marks->n_hit;
	marks->is_exact = marks->n_missed == 0 && marks->n_wrong == 0;
	marks->is_top1_asked = truth->n_culprits > 0 && answer->n_named > 0;
	marks->is_top1 = marks->is_top1_asked && is_allowed(truth, answer->named[0]);
}

struct fsl_eval_marks fsl_eval_mark(const struct fsl_eval_truth *truth,
				    const struct fsl_eval_answer *answer)
{
	struct fsl_eval_marks marks = {
		.kind = answer->kind,
		.is_alarm = answer->is_alarm,
		.has_failed = answer->has_failed,
		.is_kind_right = !answer->has_failed && (truth->kinds_ok >> answer->kind & 1U) != 0,
		.is_false_alarm = answer->is_alarm && !truth->has_fault,
		.cause = answer->cause,
		.onset_error_steps = NAN,
		.slowdown_error = answer->slowdown - truth->slowdown,
	};
	mark_ranks(&marks, truth, answer);
	bool is_found =
		truth->n_culprits > 0 ? marks.is_top1 : truth->has_fault && marks.is_kind_right;
	marks.is_cause_asked = marks.is_top1 && truth->cause >= 0;
	marks.is_cause_right = marks.is_cause_asked && answer->cause == truth->cause;
	if (is_found && truth->onset_ns != FSL_NS_ABSENT && answer->onset_ns != FSL_NS_ABSENT) {
		marks.onset_error_steps =
			(double)(answer->onset_ns - truth->onset_ns) * 1e-6 / truth->step_ms;
	}
	return marks;
}

bool fsl_eval_is_wrong(const struct fsl_eval_marks *marks)
{
	return marks->has_failed || marks->is_false_alarm || !marks->is_kind_right ||
	       !marks->is_exact;
}
