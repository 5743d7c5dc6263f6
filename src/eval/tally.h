/* Tallies: sums of the marks of many jobs, and figures computed from them. Counts of ranks are
 * pooled over the jobs (micro average). A figure whose divisor is 0 is NaN. */
#ifndef FSL_EVAL_TALLY_H
#define FSL_EVAL_TALLY_H

#include "eval/grade.h"

/* How hard a job is, by the true cost and duration of its fault. */
enum fsl_eval_strength {
	FSL_EVAL_CLEAN,  /* no fault */
	FSL_EVAL_STRONG, /* at least 10 % slower, for at least 50 steps */
	FSL_EVAL_MIDDLE, /* 5 to 10 % slower, for at least 50 steps */
	FSL_EVAL_WEAK,   /* less than 5 % slower, for at least 50 steps */
	FSL_EVAL_SHORT,  /* fewer than 50 steps */
	FSL_EVAL_STOP,   /* hang, missing ranks: no slowdown to measure */
	FSL_EVAL_STRENGTHS_N
};
const char *fsl_eval_strength_text(enum fsl_eval_strength strength);
enum fsl_eval_strength fsl_eval_strength_of(const struct fsl_eval_truth *truth, int64_t n_steps);

struct fsl_eval_tally {
	uint64_t n_jobs, n_failed;
	uint64_t n_insufficient; /* verdict insufficient_evidence */
	/* Alarm or not, against fault or not. */
	uint64_t n_alarms_right, n_alarms_false, n_alarms_missed, n_quiet_right;
	uint64_t n_hit, n_missed, n_wrong; /* ranks */
	uint64_t n_exact;                  /* jobs */
	uint64_t n_top1_asked, n_top1;
	uint64_t n_cause_asked, n_cause_right;
	uint64_t n_kind_right;
	/* Clean jobs only. */
	double clean_days;
	uint64_t n_clean, n_clean_ranks;
};

/* @days: time that the job covers; @n_ranks: ranks of the job. */
void fsl_eval_tally_add(struct fsl_eval_tally *tally, const struct fsl_eval_truth *truth,
			const struct fsl_eval_marks *marks, double days, int32_t n_ranks);

/* Precision, recall and their harmonic mean. */
struct fsl_eval_prf {
	double precision, recall, f1;
};
struct fsl_eval_prf fsl_eval_prf_of(uint64_t n_right, uint64_t n_false, uint64_t n_missed);
struct fsl_eval_prf fsl_eval_job_prf(const struct fsl_eval_tally *tally);
struct fsl_eval_prf fsl_eval_rank_prf(const struct fsl_eval_tally *tally);
/* n / of; NaN when @of is 0. */
double fsl_eval_share(uint64_t n, uint64_t of);

/* Greatest mean of a Poisson variable for which @n or fewer events still have the probability 1 -
 * @confidence: the chi-square quantile with 2 (n + 1) degrees of freedom, halved (Garwood 1936). */
double fsl_eval_poisson_upper(uint64_t n, double confidence);

/* Confusion of causes: truth x answer; the last row and column are "none". */
enum { FSL_EVAL_CAUSE_NONE = FSL_CAUSES_N, FSL_EVAL_CAUSES_N = FSL_CAUSES_N + 1 };
struct fsl_eval_causes {
	uint64_t n[FSL_EVAL_CAUSES_N][FSL_EVAL_CAUSES_N];
};
/* "compute", ..., "none". */
const char *fsl_eval_cause_text(size_t cause);
/* Counts a job if its truth or its answer has a cause. An answer whose first rank is wrong counts
 * as cause "none". */
void fsl_eval_causes_add(struct fsl_eval_causes *causes, const struct fsl_eval_truth *truth,
			 const struct fsl_eval_marks *marks);
/* Mean F1 over the causes in the truth; NaN: there are none. */
double fsl_eval_causes_macro_f1(const struct fsl_eval_causes *causes);

/* Confusion of verdicts: expected x answer. */
struct fsl_eval_kinds {
	uint64_t n[FSL_VERDICTS_OF_JOBS_N][FSL_VERDICTS_OF_JOBS_N];
};
/* Counts a verdict that the rules accept besides the expected one as the expected one. */
void fsl_eval_kinds_add(struct fsl_eval_kinds *kinds, const struct fsl_eval_truth *truth,
			const struct fsl_eval_marks *marks);

#endif
