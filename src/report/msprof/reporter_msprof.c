/* The files of msprof-analyze, for tools that read them. */
#include "report/msprof/files.h"
#include "report/reporter.h"

static bool begin(void *self, const struct fsl_config *config, const struct fsl_report *report)
{
	(void)self;
	(void)config;
	return report->profile != NULL && report->output != NULL && report->wants_msprof;
}

static enum fsl_status verdict(void *self, struct fsl_report *report, struct fsl_error *err)
{
	(void)self;
	return fsl_profile_write_peer_files(report->output, report->profile, report->cluster, err);
}

const struct fsl_reporter fsl_reporter_msprof = {
	.name = "msprof",
	.summary = "writes the files of msprof-analyze, with --export msprof-analyze",
	.begin = begin,
	.verdict = verdict,
};
