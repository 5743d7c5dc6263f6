/* From a task to a simulated run in memory, with the truth as the rules see it. */
#ifndef FSL_EVAL_SETUP_H
#define FSL_EVAL_SETUP_H

#include "eval/eval.h"

/*
 * Simulates result->task: fills @run and the result's truth, days, strength, parameters. The
 * strength of the fault is found by short trial simulations until the slowdown is the one aimed at;
 * the truth's slowdown is that of the job itself. The caller releases @run, also after a failure.
 */
enum fsl_status fsl_eval_stage(struct fsl_eval_result *result, struct fsl_run *run,
			       struct fsl_error *err);

#endif
