/*
 * Baselines: simpler ways to name a slow rank. They judge the same jobs and are marked by the same
 * rules as the engine. They use intermediate results of the engine (matched collectives, own time),
 * which favours them.
 */
#ifndef FSL_EVAL_BASELINE_H
#define FSL_EVAL_BASELINE_H

#include "blame/blame.h"
#include "eval/grade.h"

enum {
	FSL_EVAL_BASELINES_MAX = 32,
	FSL_EVAL_BASELINE_NAME_MAX = 48,
};

struct fsl_eval_baseline {
	char name[FSL_EVAL_BASELINE_NAME_MAX]; /* "longest-collective", "BOCPD" */
	const char *summary;                   /* static, or borrowed from the detector */
	bool is_quick;                         /* part of a quick run unless baselines are chosen */
	/* NULL: runs @detector on own time or lateness */
	enum fsl_status (*ask)(struct fsl_eval_answer *out, const struct fsl_case *facts,
			       struct fsl_arena *arena, struct fsl_error *err);
	const struct fsl_detector_config *detector;
};

/* Lists all baselines: the rules, then every detector for one group; at most
 * FSL_EVAL_BASELINES_MAX. Borrows from @config. */
size_t fsl_eval_baselines(struct fsl_eval_baseline *out, const struct fsl_config *config);

/* The baseline's answer to a job; arrays in @arena. Ranks are named in order of the cost of their
 * deviation; the onset is that of the first. */
enum fsl_status fsl_eval_baseline_ask(struct fsl_eval_answer *out,
				      const struct fsl_eval_baseline *baseline,
				      const struct fsl_case *facts, struct fsl_arena *arena,
				      struct fsl_error *err);

#endif
