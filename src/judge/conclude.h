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
 * Confidence that a rank or link is always slow, as far as it depends on steps: 0.8 if one step was
 * captured; 0.9 if each of several steps shows it, 0.5 if none of them shows it alone, and between
 * these by the share of steps that show it.
 */
double fsl_conclude_confidence(const struct fsl_profile_case *facts,
			       const struct fsl_profile_finding *finding);
/* Adds to @culprit the number of steps that show @finding. If these steps are consecutive and not
 * all steps, it also sets the onset to the first of them, and the end to the step after the last
 * (-1 if the capture ends there). */
void fsl_conclude_add_steps(struct fsl_culprit *culprit, const struct fsl_profile_finding *finding,
			    const struct fsl_profile_cluster *cluster);

/*
 * Per step, what the findings @named about ranks cost together by the steps that show them, ms:
 * each step is held up by the rank that costs most in it. NaN: fewer than two ranks, or each of the
 * steps shows them all. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_conclude_together(double *ms, const struct fsl_profile_finding *const *named,
				      size_t n_named, struct fsl_error *err);

/* The first finding of this code over all steps, which costs most as findings are sorted by cost.
 * NULL: none; borrowed. */
const struct fsl_profile_finding *fsl_conclude_first(const struct fsl_profile_findings *findings,
						     enum fsl_code code);
/* Sets kind and reason of a verdict that names nobody, if no finding makes another verdict. Fails
 * only when memory is short. */
enum fsl_status fsl_conclude_nobody(struct fsl_localisation *out,
				    const struct fsl_profile_case *facts,
				    const struct fsl_profile_findings *findings,
				    struct fsl_error *err);

/* Sets the coverage of @out: ranks seen and missing, files and rows dropped, steps, groups, missing
 * judgements. Fails only when memory is short. */
enum fsl_status fsl_profile_cover(struct fsl_localisation *out,
				  const struct fsl_profile_case *facts,
				  const struct fsl_profile_findings *findings,
				  struct fsl_error *err);

/* True if the number of members of a group in which captured ranks meet is not known. */
bool fsl_conclude_may_lack_members(const struct fsl_profile_case *facts);

#endif
