/* From findings to a verdict. */
#include "profile/report.h"

enum fsl_status fsl_profile_conclude(struct fsl_localisation *out,
				     const struct fsl_profile_case *facts,
				     const struct fsl_profile_findings *findings,
				     struct fsl_error *err)
{
	(void)facts;
	(void)findings;
	(void)err;
	out->kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	out->reason = "nothing was judged";
	return FSL_OK;
}
