/* Filters: which jobs of the matrix are asked for. */
#ifndef FSL_EVAL_FILTER_H
#define FSL_EVAL_FILTER_H

#include "eval/matrix.h"

enum { FSL_EVAL_FILTER_VALUES_MAX = 64 }; /* that one key has in a preset */

/* "fault=compute-one|host" */
struct fsl_eval_filter {
	const char *wanted; /* behind the "="; borrowed from the selection */
	size_t key_idx;
	/* What the jobs of the matrix have there, each once. */
	char values[FSL_EVAL_FILTER_VALUES_MAX][FSL_EVAL_TEXT_MAX];
	size_t n_values;
};

/* The filters of @selection, in @arena. FSL_ERR_USAGE: a key that is none. */
enum fsl_status fsl_eval_filters_read(struct fsl_eval_filter **out,
				      const struct fsl_eval_selection *selection,
				      struct fsl_arena *arena, struct fsl_error *err);
/* Whether the job is wanted by all of them; notes what it has. */
bool fsl_eval_filters_pass(struct fsl_eval_filter *filters, size_t n_filters,
			   const struct fsl_eval_task *task);
/* When all jobs were seen: FSL_ERR_USAGE for a value that none of them has. */
enum fsl_status fsl_eval_filters_check(const struct fsl_eval_filter *filters, size_t n_filters,
				       struct fsl_error *err);

#endif
