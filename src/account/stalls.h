/*
 * Stalls: steps that take far longer than the steps around them, once, again and again, or every so
 * many steps, gaps between two steps, and restarts. The usual step does not show them, and they may
 * cost most of a job's time.
 */
#ifndef FSL_ACCOUNT_STALLS_H
#define FSL_ACCOUNT_STALLS_H

#include "blame/case.h"
#include "model/progress.h"

/*
 * Finds the stalls of @progress and adds those that cost most to @out->stalls, costliest first. If
 * together they cost what counts and nothing else is told of the steps, @out becomes a verdict of
 * stalls with their steps as its anomalies. Phases and ranks come from the stages and own times of
 * @facts (run and steps always; own and cuts may be empty), which may hold the newest steps alone.
 * Evaluations and warm-ups are added whatever they cost. If the verdict @told of the ranks says who
 * is at fault, his long steps are no stalls: then gaps and restarts alone are added, and if ranks
 * pause in turn, those with a period. Beside work that moves, which of the two costs more is the
 * outcome's to say. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_stalls_find(struct fsl_perception *out, const struct fsl_progress *progress,
				const struct fsl_case *facts, enum fsl_verdict_kind told,
				struct fsl_error *err);

#endif
