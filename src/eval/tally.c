/* Sums marks and divides them. */
#include "eval/tally.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Lower limits of the classes of strength: slowdown and duration in steps. */
static const double strong_slowdown = 1.10;
static const double middle_slowdown = 1.05;
enum { LONG_STEPS = 50 };

const char *fsl_eval_strength_text(enum fsl_eval_strength strength)
{
	static const char *const texts[FSL_EVAL_STRENGTHS_N] = {
		[FSL_EVAL_CLEAN] = "clean",   [FSL_EVAL_STRONG] = "strong",
		[FSL_EVAL_MIDDLE] = "middle", [FSL_EVAL_WEAK] = "weak",
		[FSL_EVAL_SHORT] = "short",   [FSL_EVAL_STOP] = "stop",
	};
	return texts[strength];
}

enum fsl_eval_strength fsl_eval_strength_of(const struct fsl_eval_truth *truth, int64_t n_steps)
{
	bool is_stop = truth->kind == FSL_VERDICT_HANG || truth->kind == FSL_VERDICT_NORMAL;
	if (!truth->has_fault) {
		return FSL_EVAL_CLEAN;
	}
	if (is_stop || truth->slowdown != truth->slowdown) {
		return FSL_EVAL_STOP;
	}
	if (n_steps < LONG_STEPS) {
		return FSL_EVAL_SHORT;
	}
	if (truth->slowdown >= strong_slowdown) {
		return FSL_EVAL_STRONG;
	}
	return truth->slowdown >= middle_slowdown ? FSL_EVAL_MIDDLE : FSL_EVAL_WEAK;
}

static void add_ranks(struct fsl_eval_tally *tally, const struct fsl_eval_marks *marks)
{
	tally->n_hit += marks->n_hit;
	tally->n_missed += marks->n_missed;
	tally->n_wrong += marks->n_wrong;
	tally->n_exact += marks->is_exact;
	tally->n_top1_asked += marks->is_top1_asked;
	tally->n_top1 += marks->is_top1;
	tally->n_cause_asked += marks->is_cause_asked;
	tally->n_cause_right += marks->is_cause_right;
}

void fsl_eval_tally_add(struct fsl_eval_tally *tally, const struct fsl_eval_truth *truth,
			const struct fsl_eval_marks *marks, double days, int32_t n_ranks)
{
	tally->n_jobs++;
	tally->n_failed += marks->has_failed;
	tally->n_insufficient += marks->kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	tally->n_kind_right += marks->is_kind_right;
	tally->n_alarms_right += truth->has_fault && marks->is_alarm;
	tally->n_alarms_missed += truth->has_fault && !marks->is_alarm;
	tally->n_alarms_false += !truth->has_fault && marks->is_alarm;
	tally->n_quiet_right += !truth->has_fault && !marks->is_alarm;
	if (!truth->has_fault) {
		tally->n_clean++;
		tally->clean_days += days;
		tally->n_clean_ranks += (uint64_t)n_ranks;
	}
	add_ranks(tally, marks);
}

double fsl_eval_share(uint64_t n, uint64_t of)
{
	return of > 0 ? (double)n / (double)of : (double)NAN;
}

struct fsl_eval_prf fsl_eval_prf_of(uint64_t n_right, uint64_t n_false, uint64_t n_missed)
{
	return (struct fsl_eval_prf){
		.precision = fsl_eval_share(n_right, n_right + n_false),
		.recall = fsl_eval_share(n_right, n_right + n_missed),
		.f1 = fsl_eval_share(2 * n_right, 2 * n_right + n_false + n_missed),
	};
}

struct fsl_eval_prf fsl_eval_job_prf(const struct fsl_eval_tally *tally)
{
	return fsl_eval_prf_of(tally->n_alarms_right, tally->n_alarms_false,
			       tally->n_alarms_missed);
}

struct fsl_eval_prf fsl_eval_rank_prf(const struct fsl_eval_tally *tally)
{
	return fsl_eval_prf_of(tally->n_hit, tally->n_wrong, tally->n_missed);
}

double fsl_eval_poisson_upper(uint64_t n, double confidence)
{
	return gsl_cdf_chisq_Pinv(confidence, 2.0 * (double)(n + 1)) / 2.0;
}

const char *fsl_eval_cause_text(size_t cause)
{
	return cause < FSL_CAUSES_N ? fsl_cause_text((enum fsl_cause)cause) : "none";
}

void fsl_eval_causes_add(struct fsl_eval_causes *causes, const struct fsl_eval_truth *truth,
			 const struct fsl_eval_marks *marks)
{
	bool tells = truth->n_culprits > 0 ? marks->is_top1 : marks->cause >= 0;
	int truly = truth->cause >= 0 ? truth->cause : FSL_EVAL_CAUSE_NONE;
	int told = tells && marks->cause >= 0 ? marks->cause : FSL_EVAL_CAUSE_NONE;
	causes->n[truly][told]++;
}

double fsl_eval_causes_macro_f1(const struct fsl_eval_causes *causes)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t c = 0; c < FSL_CAUSES_N; c++) {
		uint64_t truly = 0, told = 0;
		for (size_t other = 0; other < FSL_EVAL_CAUSES_N; other++) {
			truly += causes->n[c][other];
			told += causes->n[other][c];
		}
		if (truly > 0) {
			uint64_t right = causes->n[c][c];
			sum += fsl_eval_prf_of(right, told - right, truly - right).f1;
			n++;
		}
	}
	return n > 0 ? sum / (double)n : (double)NAN;
}

void fsl_eval_kinds_add(struct fsl_eval_kinds *kinds, const struct fsl_eval_truth *truth,
			const struct fsl_eval_marks *marks)
{
	kinds->n[truth->kind][marks->is_kind_right ? truth->kind : marks->kind]++;
}
