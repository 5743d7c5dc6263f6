/* One JSON document on stdout, for programs. */
#include "report/case_json.h"
#include "report/report.h"

/* Its keys say what the documents hold. */
struct json {
	const struct fsl_config *config;
};

enum fsl_status fsl_report_json(FILE *stream, const struct fsl_report *report,
				const struct fsl_config *config, struct fsl_error *err)
{
	cJSON *root = fsl_case_json(report, config);
	enum fsl_status status = fsl_json_print(stream, root, err);
	cJSON_Delete(root);
	return status;
}

static bool begin(void *self, const struct fsl_config *config, const struct fsl_report *report)
{
	*(struct json *)self = (struct json){config};
	return report->print == FSL_PRINT_JSON && (config != NULL || report->profile != NULL);
}

static enum fsl_status verdict(void *self, struct fsl_report *report, struct fsl_error *err)
{
	return report->case_text != NULL
		       ? fsl_json_print_text(report->stream, report->case_text, err)
		       : fsl_report_json(report->stream, report,
					 ((const struct json *)self)->config, err);
}

const struct fsl_reporter fsl_reporter_json = {
	.name = "json",
	.summary = "prints one JSON document, with --format json",
	.self_bytes = sizeof(struct json),
	.begin = begin,
	.verdict = verdict,
};
