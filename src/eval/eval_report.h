/* What an evaluation is told as: text for people, JSON and CSV for programs. */
#ifndef FSL_EVAL_EVAL_REPORT_H
#define FSL_EVAL_EVAL_REPORT_H

#include <cjson/cJSON.h>

#include "eval/figures.h"
#include "eval/page.h"

/* Figures, tables and confusion matrices; the same for terminal and Markdown. */
enum fsl_status fsl_eval_summary(struct fsl_page *page, const struct fsl_eval *eval,
				 struct fsl_error *err);
/* Every wrong job with what was said, and the commands that reproduce it. */
void fsl_eval_list_wrong(struct fsl_page *page, const struct fsl_eval *eval);

/* Limits that a release has to keep, each with what was measured; *passed false when one is
 * missed or none could be measured. A limit without any job to measure it on is told and not
 * missed. */
enum fsl_status fsl_eval_gates(struct fsl_page *page, const struct fsl_eval *eval, bool *passed,
			       struct fsl_error *err);

/* One line per job, with a heading. */
void fsl_eval_jobs_csv(struct fsl_page *page, const struct fsl_eval *eval);
/* Owned by the caller (cJSON_Delete); NULL when out of memory. */
cJSON *fsl_eval_results_json(const struct fsl_eval *eval);

#endif
