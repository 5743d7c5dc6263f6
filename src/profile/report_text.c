/* The summary on the terminal. */
#include "profile/report.h"

void fsl_profile_report_text(FILE *stream, const struct fsl_profile_result *result)
{
	(void)fprintf(stream, "%zu ranks, %zu findings\n", result->profile->n_ranks,
		      result->findings->n_items);
}
