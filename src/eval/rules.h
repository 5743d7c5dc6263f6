/*
 * Rules: the faults that are evaluated, whom each strikes, and what counts as the right answer to
 * it. One table, which docs/users/accuracy.md repeats.
 */
#ifndef FSL_EVAL_RULES_H
#define FSL_EVAL_RULES_H

#include "eval/grade.h"

/* Whom a fault strikes. */
enum fsl_eval_spread {
	FSL_EVAL_NOBODY, /* no rank: the job, or ranks that change from step to step */
	FSL_EVAL_ONE,    /* one rank */
	FSL_EVAL_TWO,    /* two ranks on different hosts */
	FSL_EVAL_HOST,   /* every rank of one host */
	FSL_EVAL_HALF,   /* every second rank of one data-parallel group */
	FSL_EVAL_PAIR,   /* the two ends of a link */
	FSL_EVAL_STAGE,  /* all ranks of one pipeline stage */
};

/* Who is to be named. */
enum fsl_eval_naming {
	FSL_EVAL_NAME_NOBODY, /* whoever is named is wrong */
	FSL_EVAL_NAME_STRUCK, /* those who were struck, and nobody else */
	FSL_EVAL_NAME_ENDS,   /* both ends; members of the groups whose traffic crosses the link
				 are no mistake */
	FSL_EVAL_MAY_STRUCK,  /* nobody need be; those who were struck are no mistake */
	FSL_EVAL_MAY_ANYBODY, /* the verdict alone is asked */
};

/* Which number of the simulated fault makes the job slower; the other one stays as it stands in
 * the scenario's settings. */
enum fsl_eval_knob {
	FSL_EVAL_KNOB_NONE,   /* it has no size: hang, missing */
	FSL_EVAL_KNOB_FACTOR, /* factor=1+x */
	FSL_EVAL_KNOB_SHARE,  /* factor=x */
	FSL_EVAL_KNOB_EXTRA,  /* extra_ms=x times the step */
};

struct fsl_eval_scenario {
	const char *name;  /* "compute-host" */
	const char *fault; /* what `failslow simulate` calls it, and fixed settings of it */
	const char *job;   /* settings of the job that the fault needs; "" */
	enum fsl_eval_spread spread;
	enum fsl_eval_naming naming;
	enum fsl_eval_knob knob;
	enum fsl_verdict_kind kind; /* expected verdict */
	uint32_t kinds_ok;          /* other verdicts that are right, bits */
	int cause;                  /* enum fsl_cause; -1: none is asked */
	bool is_constant;           /* it is there from the first step on and has no onset */
	bool is_endless;            /* it lasts to the end of the job */
	/* Nothing tells it but the time before it: it never is there from the first step on. */
	bool is_relative;
	bool is_random;   /* what it costs is only seen over many steps */
	const char *what; /* one clause for people */
};

/* Row 0 is the clean job. */
size_t fsl_eval_scenarios(const struct fsl_eval_scenario **out);
/* NULL: unknown. */
const struct fsl_eval_scenario *fsl_eval_scenario_find(const char *name);

#endif
