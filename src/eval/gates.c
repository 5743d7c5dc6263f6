/* The limits of a release. */
#include <math.h>

#include "eval/eval_report.h"

/* A limit on the figures of one class of strength. */
struct gate {
	const char *what;
	enum fsl_eval_strength strength;
	double (*measure)(const struct fsl_eval_figures *figures);
	bool is_ceiling; /* true: at most @limit; false: at least */
	double limit;
};

static double rank_precision(const struct fsl_eval_figures *figures)
{
	return fsl_eval_rank_prf(&figures->tally).precision;
}

static double rank_recall(const struct fsl_eval_figures *figures)
{
	return fsl_eval_rank_prf(&figures->tally).recall;
}

static double top1(const struct fsl_eval_figures *figures)
{
	return fsl_eval_share(figures->tally.n_top1, figures->tally.n_top1_asked);
}

static double cause(const struct fsl_eval_figures *figures)
{
	return fsl_eval_share(figures->tally.n_cause_right, figures->tally.n_cause_asked);
}

static double alarms_per_day(const struct fsl_eval_figures *figures)
{
	const struct fsl_eval_tally *tally = &figures->tally;
	return tally->clean_days > 0.0 ? (double)tally->n_alarms_false / tally->clean_days
				       : (double)NAN;
}

static const struct gate gates[] = {
	{"strong: rank precision", FSL_EVAL_STRONG, rank_precision, false, 0.98},
	{"strong: rank recall", FSL_EVAL_STRONG, rank_recall, false, 0.98},
	{"strong: first rank right", FSL_EVAL_STRONG, top1, false, 0.99},
	{"strong: cause right", FSL_EVAL_STRONG, cause, false, 0.95},
	{"middle: rank precision", FSL_EVAL_MIDDLE, rank_precision, false, 0.98},
	{"middle: rank recall", FSL_EVAL_MIDDLE, rank_recall, false, 0.80},
	{"clean: false alarms per job-day", FSL_EVAL_CLEAN, alarms_per_day, true, 0.05},
};

enum fsl_status fsl_eval_gates(struct fsl_page *page, const struct fsl_eval *eval, bool *passed,
			       struct fsl_error *err)
{
	static const char *const headings[] = {"gate", "limit", "measured", "result"};
	enum fsl_status status = FSL_OK;
	size_t n_measured = 0;
	bool are_kept = true;
	fsl_page_heading(page, "Gates");
	fsl_page_table(page, headings, 4);
	for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
		const struct gate *gate = &gates[i];
		struct fsl_eval_figures figures;
		struct fsl_eval_subset subset = {NULL, NULL, UINT32_C(1) << gate->strength};
		status = fsl_eval_figure(&figures, eval, FSL_EVAL_ENGINE, &subset, err);
		if (status != FSL_OK) {
			return status;
		}
		double value = gate->measure(&figures);
		bool is_missed = gate->is_ceiling ? value > gate->limit : value < gate->limit;
		fsl_page_cell(page, "%s", gate->what);
		fsl_page_cell(page, gate->is_ceiling ? "<= %.2f" : ">= %.2f", gate->limit);
		fsl_page_cell(page, value == value ? "%.3f" : "-", value);
		fsl_page_cell(page, "%s",
			      value != value ? "no such job" : (is_missed ? "MISSED" : "kept"));
		are_kept = are_kept && !is_missed;
		n_measured += value == value;
	}
	fsl_page_table_end(page);
	if (n_measured == 0) {
		fsl_page_printf(page, "\nNo gate was checked: none of the jobs is of a kind that a "
				      "gate looks at.\n");
	}
	*passed = are_kept && n_measured > 0;
	return FSL_OK;
}
