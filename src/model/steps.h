/* The steps of the job: begin and length of each, from the best source that the run has. */
#ifndef FSL_MODEL_STEPS_H
#define FSL_MODEL_STEPS_H

#include "model/run.h"

struct fsl_job_step {
	int64_t step;     /* number of the step in the job */
	int64_t begin_ns; /* clock of the source rank */
	int64_t dur_ns;   /* ns to the begin of the next step; see is_last_open */
	int64_t ckpt_ns;  /* part of dur_ns in checkpoint stages of any rank; 0: none */
	int64_t gc_ns;    /* part of dur_ns in GC, of the rank with the longest; 0: none */
};

/*
 * Sorted by step, unique, times rising. n_items == 0: the run has no step information.
 *
 * The reference numbers steps differently: it assigns the time between two dataloader calls to the
 * later call. Its point for our step i has the time begin_ns + dur_ns and the value dur_ns. It has
 * no point for the last step if that step is open.
 */
struct fsl_steps {
	struct fsl_job_step *items;
	size_t n_items;
	int32_t source_rank;
	const char *source; /* "timeline", "step-time file", "training log", "operator steps",
			       "operator period"; static, "" when n_items == 0 */
	uint64_t n_duplicates, n_disordered; /* faults in the source's order, mended */
	bool is_last_open; /* no later step began: the last step ends with its last record */
	bool is_ordinal;   /* the input has no step numbers: step is the position, from 0 */
	size_t n_ops;      /* if is_ordinal: operators of a step of the source rank */
	int64_t stride;    /* of a log: steps that each item stands for, with their mean; else 0, 1
			    */
};

/*
 * Fills @steps (overwritten; free with fsl_steps_fini). The sources in order of trust, each from
 * the lowest rank that has it:
 * - step-time files
 * - timelines (begin of the first dataloader stage of each step, else of the first forward stage)
 * - training logs
 * - step numbers of operators
 * - the period of the operator sequence, cut at each use of the rarest operator that comes at
 *   regular distances
 *
 * The last source needs 8 periods and counts steps from 0. It does not know at which place in a
 * step its mark lies. An operator that is used only every k-th step may be taken for the mark; a
 * step is then k steps long. The number of periods in a step comes from the times between
 * operators, or from run->step_hint. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_steps_build(struct fsl_steps *steps, const struct fsl_run *run,
				struct fsl_error *err);
void fsl_steps_fini(struct fsl_steps *steps);

/* Index of the step that holds @time_ns. SIZE_MAX before the first step, at or after the end of the
 * last, and in a gap between two steps that do not follow each other. */
size_t fsl_steps_find(const struct fsl_steps *steps, int64_t time_ns);

/* Time in front of an item that the steps took which a log did not tell: each as long as the item,
 * which is their mean; at most the time since the item before. */
int64_t fsl_steps_untold_ns(const struct fsl_steps *steps, size_t idx);

/* Usual time in a checkpoint, ns, and how many there are (@n_saves may be NULL); 0: none. A save
 * that ends on other ranks in the next step counts once. @scratch: 2 * n_items. */
double fsl_steps_usual_save_ns(const struct fsl_steps *steps, double *scratch, size_t *n_saves);

/* Number of steps that are over by @time_ns. */
size_t fsl_steps_over(const struct fsl_steps *steps, int64_t time_ns);

/* Index of the step with this number, SIZE_MAX if there is none. */
size_t fsl_steps_numbered(const struct fsl_steps *steps, int64_t number);

#endif
