/* Evaluation: simulates every job of a matrix, lets the engine and the baselines judge it, and
 * compares their answers with the truth. */
#ifndef FSL_EVAL_EVAL_H
#define FSL_EVAL_EVAL_H

#include "eval/baseline.h"
#include "eval/grade.h"
#include "eval/matrix.h"
#include "eval/tally.h"
#include "model/run.h"

enum { FSL_EVAL_RANKS_TEXT_MAX = 96, FSL_EVAL_REPRODUCE_MAX = 1280 };

/* One job after simulation, judgement and marking. Its arena holds the truth's arrays. */
struct fsl_eval_result {
	struct fsl_arena arena;
	const struct fsl_eval_task *task;
	bool is_done;
	struct fsl_eval_truth truth;
	enum fsl_eval_strength strength;
	double days; /* time covered by the job, days */
	uint64_t n_ops;
	char culprits[FSL_EVAL_RANKS_TEXT_MAX]; /* "3 7", the first few */
	char named[FSL_EVAL_RANKS_TEXT_MAX];
	char parameters[FSL_EVAL_REPRODUCE_MAX]; /* parameters of `failslow simulate` */
	int64_t now_ns;
	double slowdown_told;
	double confidence;                /* of the verdict; NaN: no answer */
	char reason[192];                 /* reason of the engine's verdict, or why there is none */
	struct fsl_eval_marks marks;      /* marks of the engine */
	struct fsl_eval_marks *baselines; /* [eval->n_baselines] */
};

struct fsl_eval {
	struct fsl_arena arena;
	struct fsl_eval_selection selection;
	struct fsl_eval_task *tasks;
	size_t n_tasks;
	struct fsl_eval_result *results; /* one for each task; is_done false: interrupted */
	size_t n_done;
	struct fsl_eval_baseline baselines[FSL_EVAL_BASELINES_MAX];
	size_t n_baselines;
};

/* Progress of a run. If @goes_on returns false, the run ends after the jobs under way. */
struct fsl_eval_progress {
	void (*report)(void *context, size_t n_done, size_t n_tasks, double share_done);
	bool (*goes_on)(void *context);
	void *context;
};

/*
 * Prepares the tasks of @selection, which is copied, and the baselines that @names lists ("all",
 * "none", "quick" or names separated by commas). FSL_ERR_USAGE as fsl_eval_matrix and for an
 * unknown baseline.
 */
enum fsl_status fsl_eval_init(struct fsl_eval *eval, const struct fsl_eval_selection *selection,
			      const char *names, const struct fsl_config *config,
			      struct fsl_error *err);
void fsl_eval_fini(struct fsl_eval *eval);

/*
 * Simulates result->task: fills @run and the result's truth, days, strength and parameters. Short
 * trial simulations find the strength of the fault that gives the wanted slowdown; the truth has
 * the slowdown of the job itself. The caller releases @run, also after a failure.
 */
enum fsl_status fsl_eval_stage(struct fsl_eval_result *result, struct fsl_run *run,
			       struct fsl_error *err);

/*
 * Lets the engine judge all tasks with @config, on threads; results do not depend on their number.
 * A job that cannot be simulated ends the run with its error. A job that cannot be judged is a
 * result.
 */
enum fsl_status fsl_eval_run(struct fsl_eval *eval, const struct fsl_config *config,
			     const struct fsl_eval_progress *progress, struct fsl_error *err);

#endif
