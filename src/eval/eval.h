/*
 * Evaluation: simulates every job of a matrix, has the engine and the baselines judge it, and holds
 * their answers against the truth.
 */
#ifndef FSL_EVAL_EVAL_H
#define FSL_EVAL_EVAL_H

#include "eval/baseline.h"
#include "eval/grade.h"
#include "eval/matrix.h"
#include "eval/tally.h"
#include "model/run.h"

enum { FSL_EVAL_RANKS_TEXT_MAX = 96, FSL_EVAL_REPRODUCE_MAX = 1280 };

/* One job, simulated, judged and marked. Owns its arena, in which the truth's arrays live. */
struct fsl_eval_result {
	struct fsl_arena arena;
	const struct fsl_eval_task *task;
	bool is_done;
	struct fsl_eval_truth truth;
	enum fsl_eval_strength strength;
	double days; /* that the job covers */
	uint64_t n_ops;
	char culprits[FSL_EVAL_RANKS_TEXT_MAX]; /* "3 7", the first few */
	char named[FSL_EVAL_RANKS_TEXT_MAX];
	char parameters[FSL_EVAL_REPRODUCE_MAX]; /* of `failslow simulate` */
	int64_t now_ns;
	double slowdown_told;
	char reason[192];                 /* of the engine's verdict, or why there is none */
	struct fsl_eval_marks marks;      /* the engine's */
	struct fsl_eval_marks *baselines; /* [eval->n_baselines] */
};

struct fsl_eval {
	struct fsl_arena arena;
	struct fsl_eval_selection selection;
	struct fsl_eval_task *tasks;
	size_t n_tasks;
	struct fsl_eval_result *results; /* of each task; is_done false: not run (interrupted) */
	size_t n_done;
	struct fsl_eval_baseline baselines[FSL_EVAL_BASELINES_MAX];
	size_t n_baselines;
};

/* How a run goes on; @goes_on false ends it after the jobs that are under way. */
struct fsl_eval_progress {
	void (*report)(void *context, size_t n_done, size_t n_tasks, double share_done);
	bool (*goes_on)(void *context);
	void *context;
};

/* Tasks of @selection, which is copied; baselines that @names lists ("all", "none", "quick" or
 * names separated by commas). */
enum fsl_status fsl_eval_init(struct fsl_eval *eval, const struct fsl_eval_selection *selection,
			      const char *names, const struct fsl_config *config,
			      struct fsl_error *err);
void fsl_eval_fini(struct fsl_eval *eval);

/*
 * Has the engine judge all tasks with @config, on threads; results do not depend on how many. A job
 * that cannot be simulated ends the run with its error; one that cannot be judged is a result.
 */
enum fsl_status fsl_eval_run(struct fsl_eval *eval, const struct fsl_config *config,
			     const struct fsl_eval_progress *progress, struct fsl_error *err);

#endif
