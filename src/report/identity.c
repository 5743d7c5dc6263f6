/* Name and identity of a job, from where its files lie. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "capture/capture.h"
#include "config/config.h"
#include "report/case_json.h"

/* Folders of the files of one kind, below the folder of the job. */
static const char *const kinds[] = {
	"mspti",   "timeline", "timelines", "steps",    "cann",
	"osprobe", "logs",     "captures",  "profiles", "ASCEND_PROFILER_OUTPUT",
};

static bool ends_with(const char *name, size_t length, const char *end)
{
	size_t n = strlen(end);
	return length >= n && strncmp(name + length - n, end, n) == 0;
}

/* True for a folder that a collector or a profiler made. */
static bool is_kind(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i]) == length && strncmp(name, kinds[i], length) == 0) {
			return true;
		}
	}
	return length == 0 || (length == 1 && *name == '.') || strncmp(name, "PROF_", 5) == 0 ||
	       ends_with(name, length, "_ascend_pt") || ends_with(name, length, "_ascend_ms");
}

/* Copies the name of a folder; what a file name should not hold becomes "_". */
static void set_name(char *to, const char *name, size_t length)
{
	length = length < FSL_JOB_NAME_MAX - 1 ? length : FSL_JOB_NAME_MAX - 1;
	for (size_t i = 0; i < length; i++) {
		bool is_plain = isalnum((unsigned char)name[i]) || strchr("._-", name[i]) != NULL;
		to[i] = is_plain ? name[i] : '_';
	}
	to[length] = '\0';
}

struct fsl_job_identity fsl_job_identity_of(const char *root, const char *name)
{
	struct fsl_job_identity identity = {.name = "job"};
	struct stat status;
	char *real = root != NULL ? realpath(root, NULL) : NULL;
	const char *path = real != NULL ? real : root != NULL ? root : "";
	size_t end = strlen(path);
	if (real != NULL && stat(real, &status) == 0 && S_ISREG(status.st_mode)) {
		end = (size_t)(strrchr(real, '/') - real);
	}
	if (name != NULL) {
		set_name(identity.name, name, strlen(name));
		end = 0;
	}
	while (end > 0) {
		size_t begin = end;
		while (begin > 0 && path[begin - 1] != '/') {
			begin--;
		}
		if (!is_kind(path + begin, end - begin)) {
			set_name(identity.name, path + begin, end - begin);
			break;
		}
		end = begin > 0 ? begin - 1 : 0;
	}
	uint64_t hash = fsl_hash_bytes(FSL_HASH_START, path, strlen(path));
	(void)snprintf(identity.id, sizeof(identity.id), "%s-%08" PRIx32, identity.name,
		       (uint32_t)(hash ^ (hash >> 32)));
	free(real);
	return identity;
}

struct fsl_job_identity fsl_report_job(const struct fsl_report *report,
				       const struct fsl_config *config)
{
	return fsl_job_identity_of(fsl_report_root(report, config),
				   config != NULL ? config->job_name : report->job_name);
}

const char *fsl_report_root(const struct fsl_report *report, const struct fsl_config *config)
{
	if (report->root != NULL) {
		return report->root;
	}
	if (report->profile != NULL) {
		return report->profile->root;
	}
	return config != NULL ? config->root_path : NULL;
}
