/* Which findings of single steps and of all steps are about the same; private to by_step*.c. */
#ifndef FSL_JUDGE_BY_STEP_PARTS_H
#define FSL_JUDGE_BY_STEP_PARTS_H

#include "judge/by_step.h"

enum fsl_step_family fsl_by_step_family(const struct fsl_profile_finding *finding);
/* True if single steps may tell the finding by themselves. */
bool fsl_by_step_is_news(const struct fsl_profile_finding *finding);
/* True if both findings are about the same subject. Rank -1 is about everybody; a rank is an end of
 * its links. */
bool fsl_by_step_is_same(const struct fsl_profile_finding *a, const struct fsl_profile_finding *b);
/* Compares by family, rank and far end. 0: both are about exactly the same. */
int fsl_by_step_compare_subjects(const struct fsl_profile_finding *a,
				 const struct fsl_profile_finding *b);

#endif
