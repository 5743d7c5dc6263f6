/* Reports of an evaluation: text for people, JSON and CSV for programs. */
#ifndef FSL_EVAL_EVAL_REPORT_H
#define FSL_EVAL_EVAL_REPORT_H

#include <cjson/cJSON.h>

#include "eval/figures.h"
#include "eval/page.h"

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
