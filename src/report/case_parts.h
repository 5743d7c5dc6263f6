/* Shared by the files that write the case. */
#ifndef FSL_REPORT_CASE_PARTS_H
#define FSL_REPORT_CASE_PARTS_H

#include "account/account.h"
#include "report/case_json.h"
#include "report/document.h"

/* All borrowed. */
struct fsl_case_parts {
	struct fsl_document *document;
	const struct fsl_report *report;
	const struct fsl_outcome *job;          /* the report's */
	const struct fsl_localisation *verdict; /* the report's, or an empty one */
	const struct fsl_account *account;
	const struct fsl_config *config; /* NULL: of captures */
	enum fsl_job_state state;
};

/* "ruledOut": ranks and causes above half of what counts that are not named, and why. */
void fsl_case_put_ruled_out(const struct fsl_case_parts *parts, cJSON *root);
/* "whatIf": time that comes back if something is at the level of its peers. */
void fsl_case_put_whatif(const struct fsl_case_parts *parts, cJSON *root);
/* "pictures": the series and matrices from which charts are drawn. */
void fsl_case_put_pictures(const struct fsl_case_parts *parts, cJSON *root);
/* "links" of these: transfer of the link to blame and of its like, mean of the steps [@begin,
 * @end); null if no link is to blame. */
void fsl_case_put_links(const struct fsl_case_parts *parts, cJSON *pictures, size_t begin,
			size_t end);

#endif
