/* Both verdicts into files, named as sysTrace names them, whole or not at all. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os_error.h"
#include "report/report.h"
#include "report/retention.h"

enum {
	/* A run a second for an hour; a folder with more of them in a row is a loop. */
	NAMES_TRIED_MAX = 3600,
	PERCEPTION_INDENT = 4, /* as the reference */
};

/* Target of one document. */
struct target {
	const char *directory;
	const char *set_by; /* key or option that names the directory, as messages show it */
	const char *stem;   /* file name up to the second */
	int indent;
};

/*
 * Writes under the first free name. *path: in @arena. Names that exist are passed by without a
 * write; a name taken in between is found by the exclusive write.
 */
static enum fsl_status write_under_free_name(const struct target *target, int64_t second,
					     const char *text, struct fsl_arena *arena,
					     const char **path, struct fsl_error *err)
{
	size_t length = strlen(target->directory);
	const char *slash = length > 0 && target->directory[length - 1] == '/' ? "" : "/";
	for (int64_t i = 0; i < NAMES_TRIED_MAX; i++) {
		char *tried = fsl_arena_printf(arena, "%s%s%s_%" PRId64 ".json", target->directory,
					       slash, target->stem, second + i);
		if (tried == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"",
					target->stem);
		}
		if (access(tried, F_OK) == 0) {
			continue;
		}
		bool existed = false;
		enum fsl_status status =
			fsl_file_write_new(tried, text, strlen(text), &existed, err);
		if (status != FSL_OK) {
			return FSL_CAUSE(err, status,
					 "cannot write the verdict, free space or set another "
					 "folder: file=\"%s\", %s",
					 tried, target->set_by);
		}
		if (!existed) {
			*path = tried;
			return FSL_OK;
		}
	}
	return FSL_FAIL(err, FSL_ERR_IO,
			"no free name for the verdict, remove old ones: folder=\"%s\", "
			"name=\"%s_%" PRId64 ".json\", tried=%d",
			target->directory, target->stem, second, NAMES_TRIED_MAX);
}

static enum fsl_status write_document(const cJSON *json, const struct target *target,
				      int64_t now_ns, struct fsl_arena *arena,
				      const char **path_out, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	char *text = json != NULL ? fsl_json_text(json, target->indent) : NULL;
	if (text == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: document=\"%s\"",
				  target->stem);
		goto out;
	}
	status = fsl_dir_create(target->directory, err);
	if (status != FSL_OK) {
		status = FSL_CAUSE(err, status,
				   "cannot make the folder for verdicts, set another one: "
				   "folder=\"%s\", %s",
				   target->directory, target->set_by);
		goto out;
	}
	status = write_under_free_name(target, now_ns / FSL_NS_PER_S, text, arena, path_out, err);
	(void)fsl_dir_sweep(target->directory);
out:
	fsl_free(text);
	return status;
}

/* @key, or the option in its place. */
static const char *set_by(const struct fsl_config *config, const char *key)
{
	return config->is_output_given ? "option=\"--output\"" : key;
}

enum fsl_status fsl_report_write_perception(struct fsl_report *report,
					    const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_perception *perception = report->perception;
	const char *stem = fsl_arena_printf(&perception->arena, "fail_slow_perception_result_%s",
					    perception->anomaly_type);
	if (stem == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: document=\"perception\"");
	}
	struct target target = {config->fail_slow_perception_path,
				set_by(config, "key=\"fail_slow_perception_path\""), stem,
				PERCEPTION_INDENT};
	report->perception_document = fsl_perception_json(perception, config);
	return write_document(report->perception_document, &target, config->now_ns,
			      &perception->arena, &report->perception_path, err);
}

enum fsl_status fsl_report_write_localisation(struct fsl_report *report,
					      const struct fsl_config *config,
					      struct fsl_error *err)
{
	struct fsl_localisation *localisation = report->localisation;
	struct target target = {config->slow_node_detection_path,
				set_by(config, "key=\"slow_node_detection_path\""),
				"slow_node_result", 0};
	cJSON *json = fsl_localisation_json(localisation, report->topology, report->run, config);
	enum fsl_status status = write_document(json, &target, config->now_ns, &localisation->arena,
						&report->localisation_path, err);
	cJSON_Delete(json);
	return status;
}

/* Makes the names of both files survive a power cut; one wait for the disk if they lie in one
 * folder. */
static enum fsl_status sync_folders(struct fsl_report *unused, const struct fsl_config *config,
				    struct fsl_error *err)
{
	const char *folder = config->fail_slow_perception_path;
	bool is_one = strcmp(folder, config->slow_node_detection_path) == 0;
	(void)unused;
	enum fsl_status status = fsl_dir_sync(config->slow_node_detection_path, err);
	enum fsl_status other = is_one ? FSL_OK : fsl_dir_sync(folder, err);
	return status != FSL_OK ? status : other;
}

/* Removes files of earlier runs that are too old or too many. */
static void remove_old(const struct fsl_config *config)
{
	const struct fsl_retention rule = {config->keep_days, config->keep_files};
	int64_t now_s = (int64_t)time(NULL);
	size_t n_removed = fsl_retention_sweep(config->fail_slow_perception_path,
					       FSL_RESULT_PERCEPTION, &rule, now_s);
	n_removed += fsl_retention_sweep(config->slow_node_detection_path, FSL_RESULT_LOCALISATION,
					 &rule, now_s);
	if (n_removed > 0) {
		fsl_log(FSL_LOG_INFO, "report",
			"old verdict files are removed: files=%zu, keep_days=%g, keep_files=%lld",
			n_removed, config->keep_days, (long long)config->keep_files);
	}
}

/* Its keys are those that sysTrace's configuration has. */
struct systrace {
	const struct fsl_config *config;
};

static bool begin(void *self, const struct fsl_config *config, const struct fsl_report *report)
{
	*(struct systrace *)self = (struct systrace){config};
	return config != NULL && !config->is_look && report->perception != NULL;
}

/* The files are written one after the other: file systems that gather the syncs of several threads
 * let each wait. The first failure stands and stops none. */
static enum fsl_status verdict(void *self, struct fsl_report *report, struct fsl_error *err)
{
	static enum fsl_status (*const calls[])(struct fsl_report *, const struct fsl_config *,
						struct fsl_error *) = {
		fsl_report_write_perception,
		fsl_report_write_localisation,
		sync_folders,
	};
	const struct fsl_config *config = ((const struct systrace *)self)->config;
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		enum fsl_status next = calls[i](report, config, status == FSL_OK ? err : NULL);
		status = status == FSL_OK ? next : status;
	}
	if (status == FSL_OK) {
		remove_old(config);
	}
	return status;
}

const struct fsl_reporter fsl_reporter_systrace = {
	.name = "systrace",
	.summary = "writes both verdicts into files with sysTrace's names and keys",
	.self_bytes = sizeof(struct systrace),
	.begin = begin,
	.verdict = verdict,
};
