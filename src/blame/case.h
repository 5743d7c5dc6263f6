/* A job, from its run to its verdict. */
#ifndef FSL_BLAME_CASE_H
#define FSL_BLAME_CASE_H

#include "config/config.h"
#include "match/match.h"
#include "match/own.h"
#include "model/steps.h"
#include "model/topology.h"
#include "model/verdict.h"

struct fsl_blame;
struct fsl_verification;

/*
 * Everything that is known about the job, filled from left to right as it becomes known; all
 * borrowed. Blame needs what stands before it.
 */
struct fsl_case {
	const struct fsl_config *config;
	const struct fsl_run *run;
	const struct fsl_topology *topology;
	const struct fsl_steps *steps;
	const struct fsl_match *match;
	const struct fsl_cuts *cuts;
	const struct fsl_own *own;
	const struct fsl_perception *perception;
	const struct fsl_blame *blame;
	struct fsl_verification *verification;    /* NULL: no replay, blame's word as it is */
	const struct fsl_localisation *classical; /* what the classical points propose */
	/* Who and how much is asked, and nothing that only a verdict tells: no suspects, what-ifs,
	 * details. */
	bool is_brief;
};

#endif
