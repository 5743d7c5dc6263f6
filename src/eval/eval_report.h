/* Figures of an evaluation, and its reports: text for people, JSON and CSV for programs. */
#ifndef FSL_EVAL_EVAL_REPORT_H
#define FSL_EVAL_EVAL_REPORT_H

#include <cjson/cJSON.h>

#include "eval/eval.h"
#include "eval/page.h"

/* Answerer of the marks: this, or the index of a baseline. */
enum { FSL_EVAL_ENGINE = -1 };

struct fsl_eval_figures {
	struct fsl_eval_tally tally;
	struct fsl_eval_causes causes;
	struct fsl_eval_kinds kinds;
	/* Statistics of |answer - truth|; NaN: none. */
	size_t n_onsets, n_slowdowns;
	double onset_median_steps, onset_p95_steps;
	double slowdown_median, slowdown_p95;
};

/* A property that divides results: "fault", "ranks", ... */
struct fsl_eval_axis {
	const char *name;
	enum fsl_eval_property property;
	/* Writes the label of a result to @out; NULL: the property of the job is the label. */
	void (*label)(char *out, size_t size, const struct fsl_eval_result *result);
};
/* All axes; the last has a NULL name. */
extern const struct fsl_eval_axis fsl_eval_axes[];

/* A subset of results: @label on @axis (NULL: all), a strength in @strengths (bits; 0: any). */
struct fsl_eval_subset {
	const struct fsl_eval_axis *axis;
	const char *label;
	uint32_t strengths;
};

enum fsl_status fsl_eval_figure(struct fsl_eval_figures *out, const struct fsl_eval *eval,
				int answerer, const struct fsl_eval_subset *subset,
				struct fsl_error *err);

/* Labels that occur on an axis: numbers ascending, others in order of the matrix; at most @max.
 * Returns their number. */
size_t fsl_eval_labels(char (*labels)[FSL_EVAL_TEXT_MAX], size_t max, const struct fsl_eval *eval,
		       const struct fsl_eval_axis *axis);

/* Least magnitude (share) from which on at least 95 % of the culprits are found, at it and at every
 * greater one, for faults of 50 steps or more; NaN: none. */
double fsl_eval_least_found(const struct fsl_eval *eval, int answerer);

const struct fsl_eval_marks *fsl_eval_marks_of(const struct fsl_eval_result *result, int answerer);

/* Writes figures, tables and confusion matrices; the same for terminal and Markdown. */
enum fsl_status fsl_eval_summary(struct fsl_page *page, const struct fsl_eval *eval,
				 struct fsl_error *err);
/* Lists every wrong job with its answer and the commands that reproduce it. */
void fsl_eval_list_wrong(struct fsl_page *page, const struct fsl_eval *eval);

/*
 * Writes the limits of a release, each with its measured value. *passed is false if one is missed
 * or none could be measured. A limit without any job to measure it on is reported and does not
 * count as missed.
 */
enum fsl_status fsl_eval_gates(struct fsl_page *page, const struct fsl_eval *eval, bool *passed,
			       struct fsl_error *err);

/* Writes a heading and one line per job. */
void fsl_eval_jobs_csv(struct fsl_page *page, const struct fsl_eval *eval);
/* All figures as JSON. Owned by the caller (cJSON_Delete); NULL if out of memory. */
cJSON *fsl_eval_results_json(const struct fsl_eval *eval);

#endif
