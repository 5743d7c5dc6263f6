/* The headline alone, for scripts and messages. */
#include <errno.h>

#include "base/os_error.h"
#include "report/reporter.h"
#include "report/words.h"

static bool begin(void *unused, const struct fsl_config *config, const struct fsl_report *report)
{
	(void)unused;
	(void)config;
	return report->print == FSL_PRINT_LINE;
}

static enum fsl_status verdict(void *unused, struct fsl_report *report, struct fsl_error *err)
{
	struct fsl_phrase line = {0};
	(void)unused;
	fsl_words_headline(&line, report);
	errno = 0;
	return fprintf(report->stream, "%s\n", line.text) > 0
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_IO, "cannot print the verdict: reason=\"%s\"",
				  fsl_os_error(errno).text);
}

const struct fsl_reporter fsl_reporter_line = {
	.name = "line",
	.summary = "prints the headline as one line, with --format line",
	.begin = begin,
	.verdict = verdict,
};
