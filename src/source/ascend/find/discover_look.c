/* Tells what one folder is, from its name and the names in it. */
#include <stdio.h>
#include <string.h>

#include "source/ascend/find/discover_parts.h"

/* Any of these files makes a folder one of the profiler's. */
static const char *const loose_files[] = {
	"step_trace_time.csv", "kernel_details.csv",        "communication.json",
	"trace_view.json",     "communication_matrix.json", "analysis.db",
	"op_statistic.csv",    "api_statistic.csv",         "operator_details.csv",
};
/* The same for names with numbers in them. */
static const char *const loose_kinds[][2] = {
	{"ascend_pytorch_profiler", ".db"},
	{"ascend_mindspore_profiler", ".db"},
	{"msprof_", ".db"},
	{"op_summary", ".csv"},
	{"op_statistic_", ".csv"},
	{"api_statistic_", ".csv"},
	{"msprof_", ".json"},
};

static bool has_loose_files(const struct fsl_listing *listing)
{
	static const char *const packings[] = {"", ".gz", ".zst"};
	char name[64];
	for (size_t f = 0; f < sizeof(loose_files) / sizeof(loose_files[0]); f++) {
		for (size_t p = 0; p < sizeof(packings) / sizeof(packings[0]); p++) {
			(void)snprintf(name, sizeof(name), "%s%s", loose_files[f], packings[p]);
			if (fsl_listing_has(listing, name)) {
				return true;
			}
		}
	}
	for (size_t k = 0; k < sizeof(loose_kinds) / sizeof(loose_kinds[0]); k++) {
		if (fsl_listing_has_any(listing, loose_kinds[k][0], loose_kinds[k][1])) {
			return true;
		}
	}
	return false;
}

static enum fsl_profile_writer writer_of(const char *name)
{
	if (fsl_text_ends(name, "_ascend_pt")) {
		return FSL_PROFILE_PYTORCH;
	}
	if (fsl_text_ends(name, "_ascend_ms")) {
		return FSL_PROFILE_MINDSPORE;
	}
	return fsl_text_begins(name, "PROF_") ? FSL_PROFILE_MSPROF : FSL_PROFILE_UNKNOWN;
}

struct fsl_look fsl_search_look(const char *name, const struct fsl_listing *listing)
{
	struct fsl_look look = {.writer = writer_of(name)};
	bool is_raw_prof = fsl_listing_has_any(listing, "device_", "") ||
			   fsl_listing_has_folder(listing, "host");
	if (fsl_listing_has_folder(listing, "ASCEND_PROFILER_OUTPUT")) {
		look.output = "ASCEND_PROFILER_OUTPUT";
	} else if (fsl_listing_has_folder(listing, "mindstudio_profiler_output")) {
		look.output = "mindstudio_profiler_output";
		look.writer = FSL_PROFILE_MSPROF;
	} else if (has_loose_files(listing)) {
		look.output = "";
	}
	bool has_info = fsl_listing_has_any(listing, "profiler_info", ".json");
	bool is_told = look.writer != FSL_PROFILE_UNKNOWN || has_info;
	look.is_rank = look.output != NULL && is_told;
	if (look.output == NULL && look.writer == FSL_PROFILE_MSPROF) {
		look.is_raw = is_raw_prof;
	} else if (look.output == NULL) {
		look.is_raw =
			is_told && (has_info || fsl_listing_has_any(listing, "PROF_", "") ||
				    fsl_listing_has(listing, "FRAMEWORK") ||
				    fsl_listing_has(listing, "logs") || listing->n_names == 0);
	}
	return look;
}
