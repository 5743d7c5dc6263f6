/* Reports a judged capture, on the terminal and as JSON. */
#ifndef FSL_REPORT_CAPTURE_REPORT_H
#define FSL_REPORT_CAPTURE_REPORT_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "judge/finding.h"
#include "report/reporter.h"

/* The summary that a person reads: verdict, coverage, step breakdown, findings with advice. */
void fsl_profile_report_text(FILE *stream, const struct fsl_report *report);
/* One JSON document, as docs/profile.schema.json says. Owned by the caller (cJSON_Delete); NULL
 * when out of memory. */
cJSON *fsl_profile_json(const struct fsl_report *report);
/* Prints the document of fsl_profile_json(). FSL_ERR_MEMORY or FSL_ERR_IO. */
enum fsl_status fsl_profile_report_json(FILE *stream, const struct fsl_report *report,
					struct fsl_error *err);

#endif
