/* The table of reporters, from reporters.def, and the one way through it. */
#include "report/reporter.h"

#include <cjson/cJSON.h>

#include "base/mem.h"

#define REPORTER(name) extern const struct fsl_reporter fsl_reporter_##name;
#include "report/reporters.def"
#undef REPORTER

static const struct fsl_reporter *const table[] = {
#define REPORTER(name) &fsl_reporter_##name,
#include "report/reporters.def"
#undef REPORTER
	NULL,
};

enum { REPORTERS_MAX = 64 }; /* so many that no run has to ask for memory to tell something */
_Static_assert(sizeof(table) / sizeof(table[0]) <= REPORTERS_MAX, "raise REPORTERS_MAX");

size_t fsl_reporters_size(void)
{
	return sizeof(table) / sizeof(table[0]) - 1;
}

const struct fsl_reporter *fsl_reporters_at(size_t idx)
{
	return idx < fsl_reporters_size() ? table[idx] : NULL;
}

void fsl_report_allow(struct fsl_confine *plan, const struct fsl_config *config)
{
	for (size_t i = 0; table[i] != NULL; i++) {
		if (table[i]->allow != NULL) {
			table[i]->allow(plan, config);
		}
	}
}

/* Makes *self, where one is needed, and asks whether this run is for it. */
static enum fsl_status begin(const struct fsl_reporter *reporter, void **self, bool *is_wanted,
			     const struct fsl_report *report, const struct fsl_config *config,
			     struct fsl_error *err)
{
	if (reporter->self_bytes > 0) {
		*self = fsl_calloc(1, reporter->self_bytes);
		if (*self == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: reporter=\"%s\"",
					reporter->name);
		}
	}
	*is_wanted = reporter->begin(*self, config, report);
	return FSL_OK;
}

/* @err is that of the first failure. */
enum fsl_status fsl_report_tell_through(const struct fsl_reporter *const *reporters,
					struct fsl_report *report, const struct fsl_config *config,
					struct fsl_error *err)
{
	void *selves[REPORTERS_MAX] = {NULL};
	bool is_wanted[REPORTERS_MAX] = {false};
	enum fsl_status status = FSL_OK;
	size_t n = 0;
	for (; n < REPORTERS_MAX && reporters[n] != NULL; n++) {
		enum fsl_status next = begin(reporters[n], &selves[n], &is_wanted[n], report,
					     config, status == FSL_OK ? err : NULL);
		status = status == FSL_OK ? next : status;
	}
	for (size_t i = 0; i < n; i++) {
		enum fsl_status next = FSL_OK;
		if (is_wanted[i]) {
			next = reporters[i]->verdict(selves[i], report,
						     status == FSL_OK ? err : NULL);
		}
		status = status == FSL_OK ? next : status;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_wanted[i] && reporters[i]->end != NULL) {
			reporters[i]->end(selves[i], status == FSL_OK);
		}
		fsl_free(selves[i]);
	}
	fsl_free(report->case_text);
	cJSON_Delete(report->perception_document);
	report->case_text = NULL;
	report->perception_document = NULL;
	return status;
}

enum fsl_status fsl_report_tell(struct fsl_report *report, const struct fsl_config *config,
				struct fsl_error *err)
{
	return fsl_report_tell_through(table, report, config, err);
}
