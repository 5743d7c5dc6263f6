/* results.json: all figures for programs; docs/eval.schema.json describes it. */
#include <math.h>

#include "base/try.h"
#include "eval/eval_report.h"
#include "eval/families.h"
#include "report/document.h"

enum {
	SCHEMA_VERSION = 1,
	LABELS_MAX = 64,
	DECIMALS = 6,
};
static const double alarm_confidence = 0.95;

static void put_share(struct fsl_document *document, cJSON *parent, const char *key, double value)
{
	fsl_document_number(document, parent, key, value, DECIMALS);
}

static void put_prf(struct fsl_document *document, cJSON *parent, const char *key,
		    struct fsl_eval_prf prf)
{
	cJSON *object = fsl_document_object(document, parent, key);
	put_share(document, object, "precision", prf.precision);
	put_share(document, object, "recall", prf.recall);
	put_share(document, object, "f1", prf.f1);
}

static void put_errors(struct fsl_document *document, cJSON *parent, const char *key, size_t n,
		       double median, double p95)
{
	cJSON *object = fsl_document_object(document, parent, key);
	fsl_document_count(document, object, "jobs", n);
	put_share(document, object, "median", median);
	put_share(document, object, "p95", p95);
}

static void put_figures(struct fsl_document *document, cJSON *parent, const char *key,
			const struct fsl_eval_figures *figures)
{
	const struct fsl_eval_tally *tally = &figures->tally;
	cJSON *object = fsl_document_object(document, parent, key);
	fsl_document_count(document, object, "jobs", tally->n_jobs);
	fsl_document_count(document, object, "failed", tally->n_failed);
	fsl_document_count(document, object, "insufficientEvidence", tally->n_insufficient);
	put_prf(document, object, "job", fsl_eval_job_prf(tally));
	put_prf(document, object, "rank", fsl_eval_rank_prf(tally));
	fsl_document_count(document, object, "ranksHit", tally->n_hit);
	fsl_document_count(document, object, "ranksMissed", tally->n_missed);
	fsl_document_count(document, object, "ranksWrong", tally->n_wrong);
	put_share(document, object, "exactSet", fsl_eval_share(tally->n_exact, tally->n_jobs));
	put_share(document, object, "top1", fsl_eval_share(tally->n_top1, tally->n_top1_asked));
	put_share(document, object, "cause",
		  fsl_eval_share(tally->n_cause_right, tally->n_cause_asked));
	put_share(document, object, "causeMacroF1", fsl_eval_causes_macro_f1(&figures->causes));
	put_share(document, object, "verdict", fsl_eval_share(tally->n_kind_right, tally->n_jobs));
	put_errors(document, object, "onsetErrorSteps", figures->n_onsets,
		   figures->onset_median_steps, figures->onset_p95_steps);
	put_errors(document, object, "slowdownError", figures->n_slowdowns,
		   figures->slowdown_median, figures->slowdown_p95);
}

static enum fsl_status put_subset(struct fsl_document *document, cJSON *parent, const char *key,
				  const struct fsl_eval *eval, int answerer,
				  const struct fsl_eval_subset *subset, struct fsl_error *err)
{
	struct fsl_eval_figures figures;
	enum fsl_status status = fsl_eval_figure(&figures, eval, answerer, subset, err);
	if (status == FSL_OK) {
		put_figures(document, parent, key, &figures);
	}
	return status;
}

static enum fsl_status put_axis(struct fsl_document *document, cJSON *parent,
				const struct fsl_eval *eval, const struct fsl_eval_axis *axis,
				struct fsl_error *err)
{
	char labels[LABELS_MAX][FSL_EVAL_TEXT_MAX];
	size_t n = fsl_eval_labels(labels, LABELS_MAX, eval, axis);
	cJSON *object = fsl_document_object(document, parent, axis->name);
	for (size_t i = 0; i < n; i++) {
		struct fsl_eval_subset subset = {axis, labels[i], 0};
		FSL_TRY(put_subset(document, object, labels[i], eval, FSL_EVAL_ENGINE, &subset,
				   err));
	}
	return FSL_OK;
}

static enum fsl_status put_baseline(struct fsl_document *document, cJSON *parent,
				    const struct fsl_eval *eval, size_t idx, struct fsl_error *err)
{
	struct fsl_eval_subset every = {NULL, NULL, 0};
	struct fsl_eval_subset strong = {NULL, NULL, UINT32_C(1) << FSL_EVAL_STRONG};
	cJSON *object = fsl_document_object(document, parent, eval->baselines[idx].name);
	fsl_document_text(document, object, "summary", eval->baselines[idx].summary);
	FSL_TRY(put_subset(document, object, "all", eval, (int)idx, &every, err));
	return put_subset(document, object, "strong", eval, (int)idx, &strong, err);
}

static void put_alarms(struct fsl_document *document, cJSON *root,
		       const struct fsl_eval_tally *tally)
{
	cJSON *object = fsl_document_object(document, root, "falseAlarms");
	bool has_days = tally->clean_days > 0.0;
	double n = (double)tally->n_alarms_false;
	double upper = fsl_eval_poisson_upper(tally->n_alarms_false, alarm_confidence);
	fsl_document_count(document, object, "count", tally->n_alarms_false);
	fsl_document_count(document, object, "cleanJobs", tally->n_clean);
	fsl_document_count(document, object, "cleanRanks", tally->n_clean_ranks);
	fsl_document_number(document, object, "jobDays", tally->clean_days, DECIMALS);
	put_share(document, object, "perJobDay", has_days ? n / tally->clean_days : (double)NAN);
	put_share(document, object, "perJobDayUpper95",
		  has_days ? upper / tally->clean_days : (double)NAN);
	put_share(document, object, "per1000Ranks",
		  tally->n_clean_ranks > 0 ? 1000.0 * n / (double)tally->n_clean_ranks
					   : (double)NAN);
}

static void put_confusions(struct fsl_document *document, cJSON *root,
			   const struct fsl_eval_figures *figures)
{
	cJSON *verdicts = fsl_document_object(document, root, "verdictsExpectedByTold");
	cJSON *causes = fsl_document_object(document, root, "causesTrueByTold");
	for (size_t truly = 0; truly < FSL_VERDICTS_OF_JOBS_N; truly++) {
		cJSON *row = fsl_document_object(document, verdicts,
						 fsl_verdict_text((enum fsl_verdict_kind)truly));
		for (size_t told = 0; told < FSL_VERDICTS_OF_JOBS_N; told++) {
			fsl_document_count(document, row,
					   fsl_verdict_text((enum fsl_verdict_kind)told),
					   figures->kinds.n[truly][told]);
		}
	}
	for (size_t truly = 0; truly < FSL_EVAL_CAUSES_N; truly++) {
		cJSON *row = fsl_document_object(document, causes, fsl_eval_cause_text(truly));
		for (size_t told = 0; told < FSL_EVAL_CAUSES_N; told++) {
			fsl_document_count(document, row, fsl_eval_cause_text(told),
					   figures->causes.n[truly][told]);
		}
	}
}

/* Families by name, with what is told of their captures. */
static void put_families(struct fsl_document *document, cJSON *root, const struct fsl_eval *eval)
{
	static const char *const outcomes[FSL_EVAL_OUTCOMES_N] = {
		"quiet",  "staged",    "alarmed", "named", "right",
		"partly", "abstained", "unseen",  "wrong", "uncounted"};
	static const char *const classes[FSL_EVAL_CONFIDENCES_N] = {"below0.5", "from0.5",
								    "from0.7", "from0.9"};
	cJSON *families = fsl_document_object(document, root, "families");
	for (size_t i = 0; i < eval->n_tasks; i++) {
		const struct fsl_eval_topology *topology = eval->tasks[i].topology;
		if (!fsl_eval_is_family(topology) ||
		    cJSON_HasObjectItem(families, topology->name)) {
			continue;
		}
		struct fsl_eval_family sum = fsl_eval_family_sum(eval, topology->name, false);
		cJSON *object = fsl_document_object(document, families, topology->name);
		for (int k = 0; k < FSL_EVAL_OUTCOMES_N; k++) {
			fsl_document_count(document, object, outcomes[k], sum.n[k]);
		}
		cJSON *calibration = fsl_document_object(document, object, "calibration");
		for (int k = 0; k < FSL_EVAL_CONFIDENCES_N; k++) {
			cJSON *class = fsl_document_object(document, calibration, classes[k]);
			fsl_document_count(document, class, "answers", sum.n_told[k]);
			fsl_document_count(document, class, "right", sum.n_true[k]);
		}
	}
}

static void put_opening(struct fsl_document *document, cJSON *root, const struct fsl_eval *eval)
{
	fsl_document_integer(document, root, "schemaVersion", SCHEMA_VERSION);
	fsl_document_engine(document, root, "failslow");
	fsl_document_text(document, root, "preset", eval->selection.preset);
	fsl_document_integer(document, root, "seedFrom", eval->selection.seed_from);
	fsl_document_index(document, root, "seedTo", eval->selection.seed_to);
	fsl_document_count(document, root, "jobs", eval->n_done);
	fsl_document_count(document, root, "jobsPlanned", eval->n_tasks);
	put_share(document, root, "leastSlowdownFound",
		  fsl_eval_least_found(eval, FSL_EVAL_ENGINE));
}

static enum fsl_status put_all(struct fsl_document *document, cJSON *root,
			       const struct fsl_eval *eval, struct fsl_error *err)
{
	struct fsl_eval_figures all;
	struct fsl_eval_subset every = {NULL, NULL, 0};
	FSL_TRY(fsl_eval_figure(&all, eval, FSL_EVAL_ENGINE, &every, err));
	put_alarms(document, root, &all.tally);
	put_figures(document, root, "all", &all);
	cJSON *by = fsl_document_object(document, root, "by");
	for (size_t i = 0; fsl_eval_axes[i].name != NULL; i++) {
		FSL_TRY(put_axis(document, by, eval, &fsl_eval_axes[i], err));
	}
	put_confusions(document, root, &all);
	put_families(document, root, eval);
	cJSON *baselines = fsl_document_object(document, root, "baselines");
	for (size_t i = 0; i < eval->n_baselines; i++) {
		FSL_TRY(put_baseline(document, baselines, eval, i, err));
	}
	return FSL_OK;
}

cJSON *fsl_eval_results_json(const struct fsl_eval *eval)
{
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	put_opening(&document, root, eval);
	if (put_all(&document, root, eval, NULL) != FSL_OK) {
		document.has_failed = true;
	}
	return fsl_document_finish(&document, root);
}
