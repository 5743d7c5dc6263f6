/* From findings to a verdict; what follows fsl_profile_conclude is shared by conclude*.c alone. */
#ifndef FSL_JUDGE_CONCLUDE_H
#define FSL_JUDGE_CONCLUDE_H

#include "judge/finding.h"

/* Names ranks, stages and links from the findings; fills @out (initialised). */
enum fsl_status fsl_profile_conclude(struct fsl_localisation *out,
				     const struct fsl_profile_case *facts,
				     const struct fsl_profile_findings *findings,
				     struct fsl_error *err);

/*
 * How sure it is that a rank or link is slow for good, as far as that depends on steps: 0.8 when
 * one step was captured; 0.9 when it shows in all of several steps, 0.5 when none of them shows it
 * alone, and in between with their share.
 */
double fsl_conclude_confidence(const struct fsl_profile_case *facts,
			       const struct fsl_profile_finding *finding);
/* How many steps show it, and where these lie side by side but are not all, from which on and
 * until when. */
void fsl_conclude_add_steps(struct fsl_culprit *culprit, const struct fsl_profile_finding *finding,
			    const struct fsl_profile_cluster *cluster);

/* The first finding of this code about all steps: they are sorted by what they cost. NULL: none;
 * borrowed. */
const struct fsl_profile_finding *fsl_conclude_first(const struct fsl_profile_findings *findings,
						     enum fsl_code code);
/* Kind and reason of a verdict that names nobody, where no finding makes another one. Fails only
 * when memory is short. */
enum fsl_status fsl_conclude_nobody(struct fsl_localisation *out,
				    const struct fsl_profile_case *facts,
				    const struct fsl_profile_findings *findings,
				    struct fsl_error *err);

/* Ranks seen and missing, files and what was dropped of them, steps, groups, what was not judged.
 */
enum fsl_status fsl_profile_cover(struct fsl_localisation *out,
				  const struct fsl_profile_case *facts,
				  const struct fsl_profile_findings *findings,
				  struct fsl_error *err);

#endif
