/*
 * Functions beside those of an earlier capture of the same job: which take longer, or are called
 * more often. A function is matched by class, name and shape; ranks are compared with themselves.
 */
#ifndef FSL_JUDGE_FUNCTIONS_BASELINE_H
#define FSL_JUDGE_FUNCTIONS_BASELINE_H

#include "capture/functions.h"

/*
 * A function that grew. Times and calls are those of a step, mean of the ranks that are in both
 * captures; if a trace has no steps, those of a trace as long as the baseline's.
 */
struct fsl_grown_function {
	enum fsl_function_class class;
	const char *name, *shape; /* the set's */
	double now_ns, then_ns;   /* in which it runs and no function of a higher class does */
	double now_calls, then_calls;
	double now_call_ns, then_call_ns; /* mean of one call; NaN: it was not there */
	int32_t worst_rank;               /* on which it grew most */
	double worst_ns;                  /* by which it grew there */
	bool is_of_one; /* it grew by much there, and not on the mean of the ranks */
};

enum { FSL_GROWN_FUNCTIONS_MAX = 64 };
struct fsl_functions_baseline {
	size_t n_ranks;                       /* that have functions in both captures */
	size_t n_unpaired;                    /* in one of them alone */
	bool is_per_step;                     /* all of them have steps in both captures */
	double window_now_ns, window_then_ns; /* of a step, mean; of a trace without steps */
	double model_share;                   /* as fsl_baseline_liken; NaN: unknown */
	bool is_other_model;                  /* then no function is compared */
	struct fsl_grown_function items[FSL_GROWN_FUNCTIONS_MAX]; /* by growth, most first */
	size_t n_items, n_left_out;
};

/*
 * Compares two sets that were read with functions. A function grew if it takes @ratio_min of the
 * baseline's window more than there, and a tenth of its own time; or five times as much on one
 * rank. Collectives and calls that wait must grow by more than the own work of one rank beyond that
 * of the others, which makes the others wait. Both sets must outlive @out. FSL_ERR_MEMORY,
 * FSL_ERR_LIMIT.
 */
enum fsl_status fsl_functions_compare_baseline(struct fsl_functions_baseline *out,
					       const struct fsl_profile *now,
					       const struct fsl_profile *then, double ratio_min,
					       struct fsl_error *err);

/* Whether hosts are kept in it while the device works or others are late. */
bool fsl_function_waits(enum fsl_function_class class, const char *name);

#endif
