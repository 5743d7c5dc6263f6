/* How a judged capture is told: on the terminal, as JSON, and in the files of the peer tool. */
#ifndef FSL_REPORT_CAPTURE_REPORT_H
#define FSL_REPORT_CAPTURE_REPORT_H

#include <stdio.h>

#include "judge/finding.h"

/* All that is told. */
struct fsl_profile_result {
	const struct fsl_profile *profile;
	const struct fsl_profile_cluster *cluster;
	const struct fsl_profile_findings *findings;
	const struct fsl_localisation *verdict;
	bool colours; /* of the terminal */
	int width;
};

/* The summary that a person reads: verdict, coverage, step breakdown, findings with advice. */
void fsl_profile_report_text(FILE *stream, const struct fsl_profile_result *result);
/* One JSON document, as docs/profile.schema.json says. */
enum fsl_status fsl_profile_report_json(FILE *stream, const struct fsl_profile_result *result,
					struct fsl_error *err);
/* profile_result.json in @dir, whole or not at all. */
enum fsl_status fsl_profile_write_json(const char *dir, const struct fsl_profile_result *result,
				       struct fsl_error *err);

#endif
