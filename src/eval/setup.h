/* Makes a simulated run in memory from a task, with the truth as the rules define it. */
#ifndef FSL_EVAL_SETUP_H
#define FSL_EVAL_SETUP_H

#include "eval/eval.h"

/*
 * Simulates result->task: fills @run and the result's truth, days, strength and parameters. Short
 * trial simulations find the strength of the fault that gives the wanted slowdown; the truth has
 * the slowdown of the job itself. The caller releases @run, also after a failure.
 */
enum fsl_status fsl_eval_stage(struct fsl_eval_result *result, struct fsl_run *run,
			       struct fsl_error *err);

#endif
