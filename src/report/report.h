/* Verdicts to files and text. A file appears whole or not at all. */
#ifndef FSL_REPORT_REPORT_H
#define FSL_REPORT_REPORT_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "config/config.h"
#include "model/verdict.h"

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
/* Prints it with an indent of 2 and a newline; NULL reads as a document for which memory was short.
 */
enum fsl_status fsl_json_print(FILE *stream, const cJSON *json, struct fsl_error *err);

/*
 * Prints what `--format json` prints: {"perception": {...}, "localisation": {...}}, the contents of
 * the two files; null where a document is NULL.
 */
enum fsl_status fsl_report_json(FILE *stream, cJSON *perception, cJSON *localisation,
				struct fsl_error *err);

/*
 * Writes fail_slow_perception_result_<type>_<unix s>.json (indent 4) and slow_node_result_<unix
 * s>.json (one line) into the configured folders, made when missing. An existing file is never
 * replaced: the second of the name is raised until it is free. @json: the verdict's document; NULL
 * reads as one for which memory was short. *path_out: arena text of the verdict for the terminal.
 */
enum fsl_status fsl_report_write_perception(struct fsl_perception *perception, const cJSON *json,
					    const struct fsl_config *config, const char **path_out,
					    struct fsl_error *err);
enum fsl_status fsl_report_write_localisation(struct fsl_localisation *localisation,
					      const cJSON *json, const struct fsl_config *config,
					      const char **path_out, struct fsl_error *err);
/* Makes the names of both files survive a power cut; one wait for the disk where they lie in one
 * folder. */
enum fsl_status fsl_report_sync(const struct fsl_config *config, struct fsl_error *err);

/* What the terminal summary shows beside the verdicts. */
struct fsl_summary {
	const struct fsl_perception *perception;
	const struct fsl_localisation *localisation;
	const struct fsl_topology *topology;
	const struct fsl_run *run;
	const char *perception_path; /* written files; NULL: not written */
	const char *localisation_path;
	bool colours;
	int width; /* columns of the terminal, 80 when unknown */
};
/* One screen, aligned: verdict first, culprits with cause, cost, onset and evidence, coverage,
 * files. */
void fsl_report_text(FILE *stream, const struct fsl_summary *summary);

#endif
