/* Functions across workers as a document and on the terminal: the five sections of PerfTracker. */
#ifndef FSL_REPORT_FUNCTIONS_H
#define FSL_REPORT_FUNCTIONS_H

#include <cjson/cJSON.h>

#include "judge/functions.h"
#include "report/screen.h"

/* The sixth section: how hosts feed their devices. */
enum { FSL_FUNCTIONS_WORKERS = FSL_FUNCTION_CLASSES_N };
/* As fsl_function_class_texts, and "workers"; NULL-terminated. */
extern const char *const fsl_functions_section_texts[];

/* Parts of a comparison that are told. */
struct fsl_functions_choice {
	const char *path;     /* for the document */
	int section;          /* enum fsl_function_class, FSL_FUNCTIONS_WORKERS; -1: all */
	const char *function; /* only functions whose key holds this text; NULL: all that matter */
	const char *group;    /* only collectives whose class holds this text; NULL: all */
	const int32_t *ranks; /* only these workers; n_ranks 0: all */
	size_t n_ranks;
};

/* Helpers that the reporters share. */

/* "ring", "nvlink ring send": what the name of a collective's kernel tells, and counters of links
 * if there are some. */
void fsl_functions_group(const struct fsl_functions_view *view, const struct fsl_function_row *row,
			 char *text, size_t size);
/* The counter that is highest on the first worker that has one; FSL_SAMPLED_N: none has. */
enum fsl_sampled fsl_functions_link(const struct fsl_functions_view *view,
				    const struct fsl_function_row *row);
/* Whether the choice and the rule of 1 % let the row through. @n_before: rows of the section that
 * stand before it. */
bool fsl_functions_tells_row(const struct fsl_functions_view *view,
			     const struct fsl_functions_choice *choice,
			     const struct fsl_function_row *row, size_t n_before);
bool fsl_functions_tells_worker(const struct fsl_functions_choice *choice, int32_t rank);
/* Median of the ratios of the peers of worker @w; means over those that are no culprits, NaN if
 * there are none: of the duration of one call, and of the number of calls. */
double fsl_functions_peers_ratio(const struct fsl_function_row *row, size_t w);
double fsl_functions_peers_ns(const struct fsl_functions_view *view,
			      const struct fsl_function_row *row, size_t w);
double fsl_functions_peers_calls(const struct fsl_functions_view *view,
				 const struct fsl_function_row *row, size_t w);
/* The verdict in one sentence. */
void fsl_functions_headline(const struct fsl_functions_view *view, char *text, size_t size);
extern const char *const fsl_functions_verdict_texts[];

/* The document failslow.functions/1, see docs/functions.schema.json. NULL if memory is short. */
cJSON *fsl_functions_json(const struct fsl_functions_view *view,
			  const struct fsl_functions_choice *choice);
void fsl_functions_print(const struct fsl_functions_view *view,
			 const struct fsl_functions_choice *choice,
			 const struct fsl_screen *screen);

#endif
