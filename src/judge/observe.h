/* Detectors on captures: they see the same windows as of marker files. */
#ifndef FSL_JUDGE_OBSERVE_H
#define FSL_JUDGE_OBSERVE_H

#include "config/config.h"
#include "judge/finding.h"
#include "match/meetings.h"
#include "model/verdict.h"

/*
 * Runs the observation points and detectors that @config enables over the operators and steps of a
 * capture. They propose, as of marker files: a rank that they accuse and @verdict (concluded) does
 * not name is added to its unconfirmed ones. What cannot run, and why, goes to its coverage.
 *
 * @meetings: of facts->profile, judged; its ranks get their numbers. FSL_ERR_MEMORY, or
 * FSL_ERR_PLUGIN of a faulty detector.
 */
enum fsl_status fsl_profile_observe(struct fsl_localisation *verdict,
				    const struct fsl_profile_case *facts,
				    struct fsl_profile_meetings *meetings,
				    const struct fsl_config *config, struct fsl_error *err);

#endif
