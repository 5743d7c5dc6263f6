/*
 * Judges steps one by one. Findings over all captured steps are about means: a rank that is slow in
 * one step of ten vanishes in the mean, and a rank that is slow in the mean need not be slow in
 * every step. So the judges that codes.def marks are called again for each step that has a number.
 *
 * A finding over all steps lists the steps that show it: a step shows it if the step alone costs at
 * least half of the mean cost. The step need not prove the finding again, as it has few
 * collectives.
 *
 * A finding of single steps alone is told once for each rank, link or stage, with the worst step
 * and the number of steps. It has to be proved within a step, at a level that is divided by the
 * number of steps, or to be twice as large as over all steps (fsl_look_chance_max,
 * fsl_look_effect_min). Its gain is the cost of these steps together, divided by all steps in
 * which the rank was captured. A gain below 1 % of a step is not told.
 */
#ifndef FSL_JUDGE_BY_STEP_H
#define FSL_JUDGE_BY_STEP_H

#include "judge/finding.h"
#include "text/phrase.h"

/*
 * Adds the findings of single steps to @findings, and to each finding over all steps the steps that
 * show it. Does nothing if fewer than two steps have numbers. Only the first FSL_JUDGE_STEPS_MAX
 * steps are judged; if there are more, a sentence in findings->missing tells so. Fails only when
 * memory is short.
 */
enum fsl_status fsl_profile_judge_by_step(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err);

/* "seen in 3 of 4 steps (5, 6, 8)", of a finding over all steps. */
void fsl_by_step_add_seen(struct fsl_phrase *phrase, const struct fsl_profile_finding *finding);
/* "in step 7, the worst of 2 in 10 steps (4, 7)", of a finding of single steps. */
void fsl_by_step_add_when(struct fsl_phrase *phrase, const struct fsl_profile_finding *finding);
/* Single steps alone tell it, or half of the steps at most show it. */
bool fsl_by_step_is_passing(const struct fsl_profile_finding *finding);
/* "rank 3 was slow in 1 of 10 steps (7)": adds the first of the sorted findings about a rank, a
 * link or a stage that is passing. False if there is none. */
bool fsl_by_step_add_passing(struct fsl_phrase *phrase,
			     const struct fsl_profile_findings *findings);

#endif
