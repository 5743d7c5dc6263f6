/*
 * Steps one by one. What judges say of all captured steps together is said of means: who is slow in
 * one step of ten vanishes in them, and who is slow in the mean need not be slow in every step. So
 * those judges that codes.def marks are asked again for each step that has a number.
 *
 * Of a finding over all steps it is told which steps show it: those that give, judged alone, at
 * least half of what it costs in the mean. No proof is asked for anew, a step has few collectives.
 *
 * What only single steps tell is told once for each rank, link or stage, with the worst step and
 * the number of steps: it has to be proved within a step, at a level that is divided by the number
 * of steps, or to be twice as large as over all steps (fsl_profile_chance_max,
 * fsl_profile_effect_min). Its gain is what these steps cost together, divided by all steps in
 * which the rank was captured; less than 1 % of a step is not told.
 */
#ifndef FSL_JUDGE_BY_STEP_H
#define FSL_JUDGE_BY_STEP_H

#include "judge/finding.h"
#include "text/phrase.h"

/*
 * Adds to @findings what single steps say, and to those that are in it the steps that show them;
 * nothing where fewer than two steps have numbers. Of very many steps the first ones are judged,
 * and that is told. Fails only when memory is short.
 */
enum fsl_status fsl_profile_judge_by_step(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err);

/* "seen in 3 of 4 steps (5, 6, 8)", of a finding over all steps. */
void fsl_by_step_add_seen(struct fsl_phrase *phrase, const struct fsl_profile_finding *finding);
/* "in step 7, the worst of 2 in 10 steps (4, 7)", of one that single steps told. */
void fsl_by_step_add_when(struct fsl_phrase *phrase, const struct fsl_profile_finding *finding);
/* "rank 3 was slow in 1 of 10 steps (7)": the first of the sorted findings that only single steps
 * tell of a rank, a link or a stage; false without one. */
bool fsl_by_step_add_passing(struct fsl_phrase *phrase,
			     const struct fsl_profile_findings *findings);

#endif
