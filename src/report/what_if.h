/* Gain of a job without stragglers, as a document and on the terminal. */
#ifndef FSL_REPORT_WHAT_IF_H
#define FSL_REPORT_WHAT_IF_H

#include <cjson/cJSON.h>

#include "replay/what_if.h"
#include "report/screen.h"

/* The document failslow.what_if/1, see docs/what_if.schema.json. NULL if memory is short. */
cJSON *fsl_what_if_json(const struct fsl_what_if *what_if, const struct fsl_op_table *table,
			const char *path);
void fsl_what_if_print(const struct fsl_what_if *what_if, const struct fsl_op_table *table,
		       const struct fsl_screen *screen);
/* True if the slowest workers explain most of what is lost. */
bool fsl_what_if_names_worker(const struct fsl_what_if *what_if);

#endif
