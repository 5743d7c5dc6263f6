/* The result as JSON. */
#include "profile/report.h"

enum fsl_status fsl_profile_report_json(FILE *stream, const struct fsl_profile_result *result,
					struct fsl_error *err)
{
	(void)stream;
	(void)result;
	(void)err;
	return FSL_OK;
}

enum fsl_status fsl_profile_write_json(const char *dir, const struct fsl_profile_result *result,
				       struct fsl_error *err)
{
	(void)dir;
	(void)result;
	(void)err;
	return FSL_OK;
}
