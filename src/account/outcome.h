/* All that was told of a job: which verdict matters most, and whether somebody has to act. */
#ifndef FSL_ACCOUNT_OUTCOME_H
#define FSL_ACCOUNT_OUTCOME_H

#include "capture/capture.h"
#include "model/steps.h"
#include "model/verdict.h"

/* Borrowed; NULL: it was not told. */
struct fsl_outcome {
	const struct fsl_perception *perception;
	const struct fsl_localisation *localisation;
	const struct fsl_steps *steps; /* of a long capture: of its newest chapter */
	const struct fsl_profile *profile;
	int64_t now_ns; /* the present; FSL_NS_ABSENT: none is known */
};

/* The verdict that matters most: a hang, then a named culprit, then a slowdown of the whole job. */
enum fsl_verdict_kind fsl_outcome_kind(const struct fsl_outcome *job);
/* True if the run itself failed; NULL: it did not. */
bool fsl_localisation_has_failed(const struct fsl_localisation *localisation);
/* True if what the verdict tells is over: its episode ended, or each of its culprits is well again.
 */
bool fsl_outcome_has_healed(const struct fsl_outcome *job);
/* The job has ended, as far as a present is known. */
bool fsl_outcome_has_ended(const struct fsl_outcome *job);

/* Whether somebody has to act: at the present, or at the last event if no present is known. */
enum fsl_job_state {
	FSL_STATE_CLEAR,
	FSL_STATE_ACTIVE,
	FSL_STATE_OVER, /* it healed, or the job ended */
	FSL_STATE_UNKNOWN,
};
enum fsl_job_state fsl_outcome_state(const struct fsl_outcome *job);

/* Longest-lasting episode of perception (may be NULL); NULL: none. */
const struct fsl_step_episode *fsl_longest_episode(const struct fsl_perception *perception);

#endif
