/* Rules: the faults of the evaluation, the ranks that each strikes, and the right answers. One
 * table, which docs/users/accuracy.md repeats. */
#ifndef FSL_EVAL_RULES_H
#define FSL_EVAL_RULES_H

#include "eval/grade.h"

/* Ranks that a fault strikes. */
enum fsl_eval_spread {
	FSL_EVAL_NOBODY, /* no rank: the whole job, or ranks that change from step to step */
	FSL_EVAL_ONE,    /* one rank */
	FSL_EVAL_TWO,    /* two ranks on different hosts */
	FSL_EVAL_HOST,   /* every rank of one host */
	FSL_EVAL_HALF,   /* every second rank of one data-parallel group */
	FSL_EVAL_PAIR,   /* the two ends of a link */
	FSL_EVAL_STAGE,  /* all ranks of one pipeline stage */
};

/* Ranks that an answer has to name. */
enum fsl_eval_naming {
	FSL_EVAL_NAME_NOBODY, /* any named rank is wrong */
	FSL_EVAL_NAME_STRUCK, /* the struck ranks and no others */
	FSL_EVAL_NAME_ENDS,   /* both ends; members of the groups whose traffic crosses the link
				 may be named */
	FSL_EVAL_MAY_STRUCK,  /* no rank has to be named; the struck ranks may be */
	FSL_EVAL_MAY_ANYBODY, /* only the verdict counts */
};

/* The parameter that sets the fault's size; the scenario's settings fix the other one. */
enum fsl_eval_knob {
	FSL_EVAL_KNOB_NONE,   /* no size: hang, missing */
	FSL_EVAL_KNOB_FACTOR, /* factor=1+x */
	FSL_EVAL_KNOB_SHARE,  /* factor=x */
	FSL_EVAL_KNOB_EXTRA,  /* extra_ms=x times the step */
};

struct fsl_eval_scenario {
	const char *name;  /* "compute-host" */
	const char *what;  /* one clause for people */
	const char *fault; /* name of the fault in `failslow simulate`, with fixed settings */
	const char *job;   /* settings of the job that the fault needs; "" */
	enum fsl_eval_spread spread;
	enum fsl_eval_naming naming;
	enum fsl_eval_knob knob;
	enum fsl_verdict_kind kind; /* expected verdict */
	uint32_t kinds_ok;          /* bits of all verdicts that are right */
	int cause;                  /* enum fsl_cause; -1: not asked */
	bool is_constant;           /* the fault is there from the first step on and has no onset */
	bool is_endless;            /* the fault lasts to the end of the job */
	/* Only the time before the fault shows it, so it is never there from the first step on. */
	bool is_relative;
	bool is_random;         /* its cost shows only over many steps */
	int32_t duration_steps; /* in jobs of families; 0: it lasts */
};

/* All scenarios; row 0 is the clean job. Returns their number. */
size_t fsl_eval_scenarios(const struct fsl_eval_scenario **out);
/* The scenario of this name; NULL: unknown. */
const struct fsl_eval_scenario *fsl_eval_scenario_find(const char *name);

#endif
