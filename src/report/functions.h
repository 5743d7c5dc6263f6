/* Functions across workers as a document and on the terminal: the five sections of PerfTracker. */
#ifndef FSL_REPORT_FUNCTIONS_H
#define FSL_REPORT_FUNCTIONS_H

#include <cjson/cJSON.h>

#include "judge/functions.h"
#include "judge/functions_baseline.h"
#include "report/document.h"
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
	const struct fsl_profile *profile;             /* its remarks are told; NULL: none */
	const struct fsl_functions_baseline *baseline; /* NULL: none */
	const char *baseline_path;
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
/* A kernel without its arguments and templates, or the last two frames of a call path. */
void fsl_functions_short_name(const struct fsl_function_row *row, char text[FSL_TABLE_CELL_MAX]);
/* The verdict in one sentence. */
void fsl_functions_headline(const struct fsl_functions_view *view, char *text, size_t size);
/* Tells what to look at next, by what the worst culprit takes longer for; NULL: nobody is slow. */
const char *fsl_functions_next(const struct fsl_functions_view *view);
extern const char *const fsl_functions_verdict_texts[];

/* Adds "flops" and "bytes" of one call of a kernel, mean of the workers; null if no trace tells
 * them. */
void fsl_functions_add_operations(struct fsl_document *document, cJSON *object,
				  const struct fsl_functions_view *view,
				  const struct fsl_function_row *row);

/* The culprit with the greatest excess; without culprits the worker that waits least for others.
 * NULL: there is no worker. */
const struct fsl_function_worker *fsl_functions_slowest(const struct fsl_functions_view *view);

/* Adds "callTree": the frames of call paths of the slowest worker, with callees; null if there are
 * none, or other functions were asked for. */
void fsl_functions_add_tree(struct fsl_document *document, cJSON *root,
			    const struct fsl_functions_view *view,
			    const struct fsl_functions_choice *choice);

/* Adds "slice": the step of the worst culprit that shows the verdict best, for a timeline; null if
 * nobody is named. */
void fsl_functions_add_slice(struct fsl_document *document, cJSON *root,
			     const struct fsl_functions_view *view);

/* The document failslow.functions/1, see docs/functions.schema.json. NULL if memory is short. */
cJSON *fsl_functions_json(const struct fsl_functions_view *view,
			  const struct fsl_functions_choice *choice);
/* Adds "remarks" of the set to the document. */
void fsl_functions_add_remarks(cJSON *document, const struct fsl_functions_choice *choice);
void fsl_functions_print_remarks(const struct fsl_functions_choice *choice,
				 const struct fsl_screen *screen);
/* Share of the own time of a function of Python that system calls take, over all workers; NaN: no
 * trace has system calls, or it is no function of Python. */
double fsl_functions_syscall_share(const struct fsl_functions_view *view,
				   const struct fsl_function_row *row);

/* Its member "baseline": null without a baseline. NULL if memory is short. */
cJSON *fsl_functions_baseline_json(const struct fsl_functions_choice *choice);
/* Functions that grew since the baseline; nothing without one. */
void fsl_functions_baseline_print(const struct fsl_functions_choice *choice,
				  const struct fsl_screen *screen);
void fsl_functions_print(const struct fsl_functions_view *view,
			 const struct fsl_functions_choice *choice,
			 const struct fsl_screen *screen);

#endif
