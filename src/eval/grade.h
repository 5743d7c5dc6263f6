/* Marks: compares one answer with the truth of one job. The same rules apply to every answerer (the
 * engine, a baseline). The table in rules.c has the right answers for each fault. */
#ifndef FSL_EVAL_GRADE_H
#define FSL_EVAL_GRADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/verdict.h"

/* The truth about a job; arrays are borrowed. */
struct fsl_eval_truth {
	bool has_fault;
	uint32_t kinds_ok;          /* one bit for each right enum fsl_verdict_kind */
	enum fsl_verdict_kind kind; /* expected verdict */
	int cause;                  /* enum fsl_cause; -1: no cause is expected */
	const int32_t *culprits;    /* must be named; ascending */
	size_t n_culprits;
	const int32_t *allowed; /* may be named as well (members of a slow link); ascending */
	size_t n_allowed;
	int64_t onset_ns; /* FSL_NS_ABSENT: none (no fault, or a fault from the first step on) */
	double step_ms;   /* without the fault */
	double slowdown;  /* step time / step time of the same job without the fault; 1: none */
};

/* An answer about a job; arrays are borrowed. */
struct fsl_eval_answer {
	enum fsl_verdict_kind kind;
	bool is_alarm;        /* the user is alarmed */
	bool has_failed;      /* no answer: the analysis failed */
	const int32_t *named; /* in order of the answer, each once */
	size_t n_named;
	int cause;        /* of the first rank; -1: none given */
	int64_t onset_ns; /* of the first rank; FSL_NS_ABSENT: unknown */
	double slowdown;  /* NaN: none given */
};

/* Marks of one answer. Counts are of ranks. A flag that does not apply is false. */
struct fsl_eval_marks {
	enum fsl_verdict_kind kind;
	bool is_alarm, has_failed;
	bool is_kind_right;
	bool is_false_alarm;
	uint32_t n_hit;              /* culprits that were named */
	uint32_t n_missed;           /* culprits that were not named */
	uint32_t n_wrong;            /* named, neither culprit nor allowed: victims, bystanders */
	bool is_exact;               /* none missed, none wrong */
	bool is_top1_asked, is_top1; /* asked: a rank was named and the job has culprits; right:
					the first is a culprit or allowed */
	int cause;                   /* as answered; -1: none */
	bool is_cause_asked, is_cause_right; /* asked: is_top1 and the truth has a cause */
	double onset_error_steps;            /* answer - truth; NaN: not asked or not answered */
	double slowdown_error;               /* answer - truth; NaN: not answered */
};

struct fsl_eval_marks fsl_eval_mark(const struct fsl_eval_truth *truth,
				    const struct fsl_eval_answer *answer);

/* True for a wrong job: another verdict, a missed or wrong rank, a false alarm. */
bool fsl_eval_is_wrong(const struct fsl_eval_marks *marks);

#endif
