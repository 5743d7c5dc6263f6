/* The engine that `failslow eval` puts to the test: the pipeline of `failslow detect`, without
 * files. */
#ifndef FSL_CLI_EVAL_ENGINE_H
#define FSL_CLI_EVAL_ENGINE_H

#include "eval/eval.h"

/* Judges with @config, which is borrowed; every job has a present of its own. */
struct fsl_eval_engine fsl_eval_engine_of(const struct fsl_config *config);

#endif
