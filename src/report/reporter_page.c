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
	const struct page *own = self;
	return fsl_html_report(report->page_path, fsl_case_json(report, own->config), err);
}

const struct fsl_reporter fsl_reporter_page = {
	.name = "page",
	.summary = "writes one HTML page with charts, with --report",
	.self_bytes = sizeof(struct page),
	.begin = begin,
	.verdict = verdict,
};
