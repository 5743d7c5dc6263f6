/* Filters select jobs of the matrix. */
#ifndef FSL_EVAL_FILTER_H
#define FSL_EVAL_FILTER_H

#include "eval/matrix.h"

enum { FSL_EVAL_FILTER_VALUES_MAX = 64 }; /* values of one key in a preset */

/* One filter: "fault=compute-one|host". */
struct fsl_eval_filter {
	const char *wanted; /* text behind the "="; borrowed from the selection */
	size_t key_idx;
	/* Values of the key among the jobs of the matrix, each once. */
	char values[FSL_EVAL_FILTER_VALUES_MAX][FSL_EVAL_TEXT_MAX];
	size_t n_values;
};

/* Parses the filters of @selection, in @arena. FSL_ERR_USAGE: unknown key. */
enum fsl_status fsl_eval_filters_read(struct fsl_eval_filter **out,
				      const struct fsl_eval_selection *selection,
				      struct fsl_arena *arena, struct fsl_error *err);
/* True if all filters accept the job; notes the job's values. */
bool fsl_eval_filters_pass(struct fsl_eval_filter *filters, size_t n_filters,
			   const struct fsl_eval_task *task);
/* Call after all jobs: FSL_ERR_USAGE for a value that no job has. */
enum fsl_status fsl_eval_filters_check(const struct fsl_eval_filter *filters, size_t n_filters,
				       struct fsl_error *err);

#endif
