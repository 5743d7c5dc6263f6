/* One HTML page of the case, with --report. */
#include <string.h>

#include "base/confine.h"
#include "report/case_json.h"
#include "report/page/page.h"
#include "report/report.h"

/* Its keys say what the page tells. */
struct page {
	const struct fsl_config *config;
};

static bool begin(void *self, const struct fsl_config *config, const struct fsl_report *report)
{
	*(struct page *)self = (struct page){config};
	return report->page_path != NULL && (report->profile != NULL || report->perception != NULL);
}

static enum fsl_status verdict(void *self, struct fsl_report *report, struct fsl_error *err)
{
	cJSON *root = fsl_case_json(report, ((const struct page *)self)->config);
	enum fsl_status status =
		root != NULL ? fsl_html_write(report->page_path, root, err)
			     : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: document=\"case\"");
	cJSON_Delete(root);
	return status != FSL_OK
		       ? FSL_CAUSE(err, status,
				   "cannot write the page, give another file: file=\"%s\", "
				   "option=\"--report\"",
				   report->page_path)
		       : FSL_OK;
}

const struct fsl_reporter fsl_reporter_page = {
	.name = "page",
	.summary = "writes one HTML page with charts, with --report",
	.self_bytes = sizeof(struct page),
	.begin = begin,
	.verdict = verdict,
};
