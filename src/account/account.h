/* The wall time of a job by part, and the occasions on which it was lost: the sums of the case. */
#ifndef FSL_ACCOUNT_ACCOUNT_H
#define FSL_ACCOUNT_ACCOUNT_H

#include "account/outcome.h"

/* Parts of the account. Time belongs to the first part that claims it, in this order; what nothing
 * claims in the steps is productive, or of captures computing. */
enum fsl_spent {
	FSL_SPENT_HANG,
	FSL_SPENT_RESTART, /* from the last step of an attempt to the first of the next */
	FSL_SPENT_GAP,     /* between two steps that do not follow each other */
	FSL_SPENT_CHECKPOINT,
	FSL_SPENT_EVALUATION,
	FSL_SPENT_WARM_UP, /* what the first steps take longer than the others */
	FSL_SPENT_SLOW_RANK,
	FSL_SPENT_SLOW_HOST,
	FSL_SPENT_SLOW_LINK,
	FSL_SPENT_STALLS,
	FSL_SPENT_HOST_PAUSES,
	FSL_SPENT_STAGE_IMBALANCE,
	FSL_SPENT_WORK_IMBALANCE,
	FSL_SPENT_JOB_SLOWDOWN,
	FSL_SPENT_PRODUCTIVE,
	FSL_SPENT_COMPUTING, /* of captures: what a step is made of */
	FSL_SPENT_EXPOSED,
	FSL_SPENT_EXPOSED_MEMORY, /* copies that nothing overlaps */
	FSL_SPENT_FREE,
	FSL_SPENT_NOT_OBSERVED, /* outside of all steps */
	FSL_SPENTS_N
};
const char *fsl_spent_text(enum fsl_spent part); /* "slow_rank" */
/* True for parts that a job without faults does not have. */
bool fsl_spent_is_lost(enum fsl_spent part);

enum { FSL_LOSSES_MAX = 64 };

/* One occasion. Texts and culprits are borrowed from the verdict. */
struct fsl_loss {
	enum fsl_spent part;
	int64_t ns; /* lost altogether; at least 0 */
	int64_t since_step,
		until_step;         /* until: the first step after it; -1: unknown, or it lasts */
	int64_t since_ns, until_ns; /* FSL_NS_ABSENT: unknown, or it lasts */
	const struct fsl_culprit *culprits;
	size_t n_culprits;
	const struct fsl_stall *stall; /* NULL: it is none */
	bool is_over;
};

struct fsl_account {
	int64_t from_ns, to_ns; /* FSL_NS_ABSENT: the files tell no time */
	int64_t span_ns;        /* accounted: to - from, or of captures the length of their steps */
	int64_t ns[FSL_SPENTS_N];     /* sum to span_ns */
	size_t n_times[FSL_SPENTS_N]; /* occasions; 0: not counted */
	int64_t save_every_steps;     /* from one checkpoint to the next; -1: not regular */
	struct fsl_loss losses[FSL_LOSSES_MAX]; /* costliest first */
	size_t n_losses;
	double lost_share; /* of span_ns; NaN if that is 0 */
};

/* Fills @out (overwritten) from the verdicts of a job and its steps, or its capture. */
void fsl_account_make(struct fsl_account *out, const struct fsl_outcome *job);

/* Adds what the steps of a capture are made of, as a mean of the ranks, and their length to
 * out->span_ns. */
void fsl_account_sum_capture(struct fsl_account *out, const struct fsl_profile *profile);

/* Begin of the step of this number; FSL_NS_ABSENT: unknown. */
int64_t fsl_account_step_begin(const struct fsl_outcome *job, int64_t number);

#endif
