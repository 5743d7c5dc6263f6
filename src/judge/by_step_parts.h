/* Which findings of single steps and of all steps are about the same; private to by_step*.c. */
#ifndef FSL_JUDGE_BY_STEP_PARTS_H
#define FSL_JUDGE_BY_STEP_PARTS_H

#include "judge/by_step.h"

enum fsl_step_family fsl_by_step_family(const struct fsl_profile_finding *finding);
/* Whether single steps may tell it by themselves. */
bool fsl_by_step_is_news(const struct fsl_profile_finding *finding);
/* About the same? Rank -1 is about everybody, a rank is an end of its links. */
bool fsl_by_step_is_same(const struct fsl_profile_finding *a, const struct fsl_profile_finding *b);
/* By family, rank and far end; 0: about the same and nobody else. */
int fsl_by_step_compare_subjects(const struct fsl_profile_finding *a,
				 const struct fsl_profile_finding *b);

#endif
