/* Keeps the case in failslow_<job>.json, which each run replaces: the latest has one name. */
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/try.h"
#include "config/config.h"
#include "report/case_json.h"
#include "report/report.h"

enum { FILE_INDENT = 2 }; /* as on the terminal */

/* Its keys say where the file lies. */
struct kept {
	const struct fsl_config *config;
	const char *folder;
};

static bool begin(void *self, const struct fsl_config *config, const struct fsl_report *report)
{
	bool is_kept = config != NULL && !config->is_look;
	const char *folder = is_kept ? config->slow_node_detection_path : report->output;
	*(struct kept *)self = (struct kept){config, folder};
	return folder != NULL && (report->profile != NULL || report->perception != NULL);
}

/* True if a job of the same name and another root left its case here. Its "id" is among the first
 * keys. */
static bool is_of_another_job(const char *path, const char *id)
{
	enum { HEAD_BYTES = 8192 };
	struct fsl_reader *reader = NULL;
	const char *bytes = NULL;
	size_t n_bytes = 0;
	char head[HEAD_BYTES + 1] = "", key[FSL_JOB_ID_MAX + 16];
	if (fsl_reader_open(&reader, path, NULL) != FSL_OK) {
		return false;
	}
	if (fsl_reader_peek(reader, HEAD_BYTES, &bytes, &n_bytes, NULL) == FSL_OK) {
		n_bytes = n_bytes < HEAD_BYTES ? n_bytes : HEAD_BYTES;
		memcpy(head, bytes, n_bytes);
	}
	fsl_reader_close(reader);
	(void)snprintf(key, sizeof(key), "\"id\": \"%s\"", id);
	return strstr(head, "\"failslow.case/2\"") != NULL && strstr(head, key) == NULL;
}

/* Path in the folder, to be freed with fsl_free; NULL if memory is short. */
static char *path_of(const struct kept *kept, const struct fsl_report *report)
{
	struct fsl_job_identity job = fsl_report_job(report, kept->config);
	const char *suffix = report->is_beside ? "-captures" : "";
	char name[FSL_JOB_ID_MAX + 32];
	(void)snprintf(name, sizeof(name), "failslow_%s%s.json", job.name, suffix);
	char *path = fsl_path_join(kept->folder, name);
	if (path == NULL || !is_of_another_job(path, job.id)) {
		return path;
	}
	(void)snprintf(name, sizeof(name), "failslow_%s%s.json", job.id, suffix);
	fsl_log(FSL_LOG_WARNING, "report",
		"another job of this name left its result here; this one is kept as \"%s\", set "
		"another folder for each job: folder=\"%s\"",
		name, kept->folder);
	fsl_free(path);
	return fsl_path_join(kept->folder, name);
}

static enum fsl_status write_case(const struct kept *kept, const char *path,
				  struct fsl_report *report, struct fsl_error *err)
{
	cJSON *root = fsl_case_json(report, kept->config);
	char *text = root != NULL ? fsl_json_text(root, FILE_INDENT) : NULL;
	cJSON_Delete(root);
	if (text == NULL || path == NULL) {
		fsl_free(text);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: document=\"case\"");
	}
	size_t length = strlen(text);
	text[length] = '\n'; /* the end is given by the length */
	enum fsl_status status = fsl_file_write_atomic(path, text, length + 1, err);
	if (status != FSL_OK) {
		bool is_option = kept->config == NULL || kept->config->is_output_given;
		status = FSL_CAUSE(err, status,
				   "cannot write the result, free space or set another folder: "
				   "file=\"%s\", %s",
				   path,
				   is_option ? "option=\"--output\""
					     : "key=\"slow_node_detection_path\"");
	}
	text[length] = '\0';
	report->case_text = text;
	return status;
}

static enum fsl_status verdict(void *self, struct fsl_report *report, struct fsl_error *err)
{
	const struct kept *kept = self;
	FSL_TRY(fsl_dir_create(kept->folder, err));
	(void)fsl_dir_sweep(kept->folder);
	char *path = path_of(kept, report);
	enum fsl_status status = write_case(kept, path, report, err);
	fsl_free(path);
	return status;
}

const struct fsl_reporter fsl_reporter_case = {
	.name = "case",
	.summary = "keeps the case in failslow_<job>.json, with --output or --config",
	.self_bytes = sizeof(struct kept),
	.begin = begin,
	.verdict = verdict,
};
