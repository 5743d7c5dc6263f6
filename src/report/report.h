/* Writes verdicts as files and as text. A file appears whole or not at all. */
#ifndef FSL_REPORT_REPORT_H
#define FSL_REPORT_REPORT_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "config/config.h"
#include "model/verdict.h"
#include "report/reporter.h"

/*
 * JSON forms, keys in order: sysTrace's first, then ours (none with FSL_SCHEMA_SYSTRACE). Owned by
 * the caller (cJSON_Delete). NULL when out of memory. Integers of 19 digits are written exactly
 * (cJSON_CreateRaw).
 */
cJSON *fsl_perception_json(const struct fsl_perception *perception,
			   const struct fsl_config *config);
cJSON *fsl_localisation_json(const struct fsl_localisation *localisation,
			     const struct fsl_topology *topology, const struct fsl_run *run,
			     const struct fsl_config *config);

/*
 * Text of a document: @indent 0 is one line with ", " and ": " between, otherwise each element
 * stands on its own line, @indent blanks per level. Free with fsl_free; NULL when out of memory.
 */
char *fsl_json_text(const cJSON *json, int indent);
/* Prints @json with an indent of 2 and a newline. @json NULL: memory was short for the document,
 * FSL_ERR_MEMORY. */
enum fsl_status fsl_json_print(FILE *stream, const cJSON *json, struct fsl_error *err);

/* The same for a text that was made with an indent of 2. */
enum fsl_status fsl_json_print_text(FILE *stream, const char *text, struct fsl_error *err);

/* Prints the document of `--format json`: the case. @config NULL: of captures. */
enum fsl_status fsl_report_json(FILE *stream, const struct fsl_report *report,
				const struct fsl_config *config, struct fsl_error *err);

/*
 * Writes fail_slow_perception_result_<type>_<unix s>.json (indent 4) and slow_node_result_<unix
 * s>.json (one line) into the configured folders, made when missing. An existing file is never
 * replaced: the second of the name is raised until it is free. Both note the path in @report, as
 * text of the arena of the verdict; the first one also the document, which @report owns then.
 */
enum fsl_status fsl_report_write_perception(struct fsl_report *report,
					    const struct fsl_config *config, struct fsl_error *err);
enum fsl_status fsl_report_write_localisation(struct fsl_report *report,
					      const struct fsl_config *config,
					      struct fsl_error *err);

/* Aligned text: headline, where the time went, culprits, why, what to do next, coverage, files;
 * then details. At most FSL_SCREEN_LINES_MAX lines, if 80 columns and no long paths, unless
 * @report->is_long. */
void fsl_report_text(FILE *stream, const struct fsl_report *report);

#endif
