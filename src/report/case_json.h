/* The case: one document about a job for every source, docs/case.schema.json. */
#ifndef FSL_REPORT_CASE_JSON_H
#define FSL_REPORT_CASE_JSON_H

#include <cjson/cJSON.h>

#include "report/reporter.h"

enum { FSL_JOB_NAME_MAX = 64, FSL_JOB_ID_MAX = FSL_JOB_NAME_MAX + 24 };

/* Who the job is. */
struct fsl_job_identity {
	char name[FSL_JOB_NAME_MAX]; /* letters, digits, ".", "_" and "-" alone */
	char id[FSL_JOB_ID_MAX];     /* name and a hash of the real path of its root */
};
/* @name NULL: named by the nearest folder of @root that is not one of those that collectors and
 * profilers make. @root: path of a folder or file that need not exist; NULL: the job has no name.
 */
struct fsl_job_identity fsl_job_identity_of(const char *root, const char *name);
struct fsl_job_identity fsl_report_job(const struct fsl_report *report,
				       const struct fsl_config *config);
/* Path of the job's folder or file; NULL: none. */
const char *fsl_report_root(const struct fsl_report *report, const struct fsl_config *config);

/* Owned by the caller (cJSON_Delete); NULL if memory is short. @config NULL: of captures. */
cJSON *fsl_case_json(const struct fsl_report *report, const struct fsl_config *config);

#endif
