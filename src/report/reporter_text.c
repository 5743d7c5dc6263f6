/* One screen of text on stdout, for people. */
#include "report/report.h"

static bool begin(void *self, const struct fsl_config *config, const struct fsl_report *report)
{
	(void)self;
	(void)config;
	return report->print == FSL_PRINT_TEXT;
}

/* A screen that cannot be written shows at the end, when everything has been written. */
static enum fsl_status verdict(void *self, struct fsl_report *report, struct fsl_error *err)
{
	(void)self;
	(void)err;
	fsl_report_text(report->stream, report);
	return FSL_OK;
}

const struct fsl_reporter fsl_reporter_text = {
	.name = "text",
	.summary = "prints a summary for people; default, none with --quiet",
	.begin = begin,
	.verdict = verdict,
};
