/* The figures from which pictures of a job are drawn: in the case, on its page, on the terminal. */
#ifndef FSL_REPORT_PICTURES_H
#define FSL_REPORT_PICTURES_H

#include "model/matrices.h"
#include "report/reporter.h"

/* Steps over which ranks are compared: while the costliest culprit is slow, else all. */
struct fsl_stretch {
	int64_t since_step, until_step; /* -1: open */
	size_t begin, end;              /* indices of report->steps */
};

struct fsl_stretch fsl_pictures_stretch(const struct fsl_report *report);

/* The series of steps: of several chapters, if the job keeps them. NULL: no step is known. */
const struct fsl_steps *fsl_pictures_steps(const struct fsl_report *report);

/* True if own times and costs of all ranks are known: the two functions below may be called. */
bool fsl_pictures_have_blame(const struct fsl_report *report);

/* Sets the cost of each rank of report->run in a step, ms, at least 0; NaN: unknown. A culprit
 * costs what the verdict says. FSL_ERR_MEMORY. */
enum fsl_status fsl_pictures_costs(double *cost_ms, const struct fsl_report *report,
				   const struct fsl_stretch *stretch, struct fsl_error *err);

/* Makes all matrices of the ranks in at most @n_columns_max columns, or one for each step; free
 * with fsl_matrices_fini(). FSL_ERR_MEMORY. */
enum fsl_status fsl_pictures_matrices(struct fsl_matrices *out, const struct fsl_report *report,
				      size_t n_columns_max, struct fsl_error *err);

#endif
