/* What the parts of the verdict share; private to conclude*.c. */
#ifndef FSL_PROFILE_CONCLUDE_H
#define FSL_PROFILE_CONCLUDE_H

#include "profile/report.h"

/* Ranks seen and missing, files and what was dropped of them, steps, groups, what was not judged.
 */
enum fsl_status fsl_profile_cover(struct fsl_localisation *out,
				  const struct fsl_profile_case *facts,
				  const struct fsl_profile_findings *findings,
				  struct fsl_error *err);

#endif
