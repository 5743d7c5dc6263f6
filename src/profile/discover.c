/* Rank folders of a tree. */
#include "profile/discover.h"

enum fsl_status fsl_profile_discover(struct fsl_profile *profile, const char *path,
				     struct fsl_error *err)
{
	(void)profile;
	return FSL_FAIL(err, FSL_ERR_INPUT, "no profiler folder was found: path=\"%s\"", path);
}
