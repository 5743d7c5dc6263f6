/* One JSON document on stdout, for programs. */
#include "report/capture_report.h"
#include "report/report.h"

/* Its keys say what the documents hold. */
struct json {
	const struct fsl_config *config;
};

/* @part is taken over. NULL: that part did not run, or memory was short. */
static bool add_part(cJSON *root, const char *key, cJSON *part)
{
	cJSON *item = part != NULL ? part : cJSON_CreateNull();
	bool is_added = cJSON_AddItemToObject(root, key, item);
	if (!is_added) {
		cJSON_Delete(item);
	}
	return is_added;
}

enum fsl_status fsl_report_json(FILE *stream, const struct fsl_report *report,
				const struct fsl_config *config, struct fsl_error *err)
{
	cJSON *perception =
		report->perception != NULL ? fsl_perception_json(report->perception, config) : NULL;
	cJSON *localisation = report->localisation != NULL
				      ? fsl_localisation_json(report->localisation,
							      report->topology, report->run, config)
				      : NULL;
	cJSON *root = cJSON_CreateObject();
	bool is_whole = add_part(root, "perception", perception);
	is_whole = add_part(root, "localisation", localisation) && is_whole;
	enum fsl_status status = fsl_json_print(stream, is_whole ? root : NULL, err);
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
	const struct fsl_config *config = ((const struct json *)self)->config;
	return report->profile != NULL ? fsl_profile_report_json(report->stream, report, err)
				       : fsl_report_json(report->stream, report, config, err);
}

const struct fsl_reporter fsl_reporter_json = {
	.name = "json",
	.summary = "prints one JSON document, with --format json",
	.self_bytes = sizeof(struct json),
	.begin = begin,
	.verdict = verdict,
};
