/*
 * Jobs of families: how many healthy captures raise an alarm, how the faulty ones are answered, and
 * how often an answer is right by the confidence that it tells. The ranks of a stage with more work
 * are not said to be at fault.
 */
#ifndef FSL_EVAL_FAMILIES_H
#define FSL_EVAL_FAMILIES_H

#include "eval/eval.h"
#include "eval/page.h"

/* One answer about one capture. */
enum fsl_eval_outcome {
	FSL_EVAL_QUIET,     /* healthy: no alarm */
	FSL_EVAL_STAGED,    /* healthy: no alarm, but a stage is said to have more work */
	FSL_EVAL_ALARMED,   /* healthy: an alarm that names no rank */
	FSL_EVAL_NAMED,     /* healthy: a rank is said to be at fault */
	FSL_EVAL_RIGHT,     /* faulty: the verdict, and exactly the ranks */
	FSL_EVAL_PARTLY,    /* faulty: some of the ranks, or the ranks with another verdict */
	FSL_EVAL_ABSTAINED, /* faulty: insufficient evidence, or no answer */
	FSL_EVAL_UNSEEN,    /* faulty: nobody is named, and the verdict is wrong */
	FSL_EVAL_WRONG,     /* faulty: a rank that is not at fault is said to be */
	FSL_EVAL_UNCOUNTED, /* the fault costs too little or lasts too short */
	FSL_EVAL_OUTCOMES_N
};
enum fsl_eval_outcome fsl_eval_outcome_of(const struct fsl_eval_result *result);

/* Classes of told confidence: below 0.5, to 0.7, to 0.9, from 0.9 on. */
enum { FSL_EVAL_CONFIDENCES_N = 4 };

struct fsl_eval_family {
	uint64_t n[FSL_EVAL_OUTCOMES_N];
	/* Answers that do not abstain, and how many of them are right or rightly quiet. */
	uint64_t n_told[FSL_EVAL_CONFIDENCES_N], n_true[FSL_EVAL_CONFIDENCES_N];
};
uint64_t fsl_eval_family_healthy(const struct fsl_eval_family *family);
uint64_t fsl_eval_family_faulty(const struct fsl_eval_family *family);

/* Sums the jobs of family @name, or of the fault @name if @is_fault; NULL: of all. */
struct fsl_eval_family fsl_eval_family_sum(const struct fsl_eval *eval, const char *name,
					   bool is_fault);
/* True if the evaluation has jobs of families, or (@is_family false) other jobs. */
bool fsl_eval_has(const struct fsl_eval *eval, bool is_family);

/* Writes the tables. */
void fsl_eval_put_families(struct fsl_page *page, const struct fsl_eval *eval);

#endif
