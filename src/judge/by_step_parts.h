/* Which findings of single steps and of all steps are about the same; private to by_step*.c. */
#ifndef FSL_JUDGE_BY_STEP_PARTS_H
#define FSL_JUDGE_BY_STEP_PARTS_H

#include "judge/by_step.h"

/* Findings of one family about the same rank, link or stage are one thing in different words. */
enum fsl_step_family {
	FSL_FAMILY_HOST,
	FSL_FAMILY_PREPARING,
	FSL_FAMILY_KERNELS,
	FSL_FAMILY_RANK,
	FSL_FAMILY_STAGE,
	FSL_FAMILY_BUBBLE,
	FSL_FAMILY_LINK,
	FSL_FAMILY_NONE, /* single steps have no say */
};

/* *is_news: whether single steps may tell it by themselves. */
enum fsl_step_family fsl_by_step_family(const struct fsl_profile_finding *finding, bool *is_news);
/* Who tells findings of a family; NULL for FSL_FAMILY_NONE. */
fsl_profile_judge fsl_by_step_judge_of(enum fsl_step_family family);
/* About the same? Rank -1 is about everybody, a rank is an end of its links. */
bool fsl_by_step_is_same(const struct fsl_profile_finding *a, const struct fsl_profile_finding *b);
/* By family, rank and far end; 0: about the same and nobody else. */
int fsl_by_step_compare_subjects(const struct fsl_profile_finding *a,
				 const struct fsl_profile_finding *b);

#endif
