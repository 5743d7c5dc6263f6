/* Writes profile_result.json: the findings in a capture, for programs and for later comparison. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/try.h"
#include "report/capture_report.h"
#include "report/report.h"

enum { FILE_INDENT = 2 };

static bool begin(void *self, const struct fsl_config *config, const struct fsl_report *report)
{
	(void)self;
	(void)config;
	return report->profile != NULL && report->output != NULL;
}

/* Whole or not at all. */
static enum fsl_status write_json(const char *dir, const struct fsl_report *report,
				  struct fsl_error *err)
{
	cJSON *root = fsl_profile_json(report);
	char *text = root != NULL ? fsl_json_text(root, FILE_INDENT) : NULL;
	char *path = fsl_path_join(dir, "profile_result.json");
	cJSON_Delete(root);
	enum fsl_status status = FSL_OK;
	if (text != NULL && path != NULL) {
		size_t length = strlen(text);
		text[length] = '\n'; /* as on the terminal; the text's end is given by its length */
		status = fsl_file_write_atomic(path, text, length + 1, err);
	} else {
		status = FSL_FAIL(err, FSL_ERR_MEMORY,
				  "out of memory: document=\"profile_result.json\"");
	}
	if (status != FSL_OK && text != NULL && path != NULL) {
		status = FSL_CAUSE(err, status,
				   "cannot write the result, free space or set another folder: "
				   "file=\"%s\", option=\"--output\"",
				   path);
	}
	fsl_free(text);
	fsl_free(path);
	return status;
}

static enum fsl_status verdict(void *self, struct fsl_report *report, struct fsl_error *err)
{
	(void)self;
	FSL_TRY(fsl_dir_create(report->output, err));
	return write_json(report->output, report, err);
}

const struct fsl_reporter fsl_reporter_profile_result = {
	.name = "profile_result",
	.summary = "writes profile_result.json of a capture, with --output",
	.begin = begin,
	.verdict = verdict,
};
