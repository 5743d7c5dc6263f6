/* The steps of the job: when each began and how long it took, from the best source that the run
 * has. */
#ifndef FSL_MODEL_STEPS_H
#define FSL_MODEL_STEPS_H

#include "model/run.h"

struct fsl_job_step {
	int64_t step;     /* number of the step in the job */
	int64_t begin_ns; /* clock of the source rank */
	int64_t dur_ns;   /* to the begin of the next step; see is_last_open */
	int64_t ckpt_ns;  /* of it, time inside checkpoint stages of any rank with a timeline; 0:
			     none */
	int64_t gc_ns;    /* likewise, longest GC time of a rank */
};

/*
 * Sorted by step, unique, times rising. n_items == 0: the run has no step information.
 *
 * Numbers of the reference: it attributes the time between two dataloader calls to the later call.
 * Its point for our step i has the time begin_ns + dur_ns and the value dur_ns; it has no point for
 * the last step when that is open.
 */
struct fsl_steps {
	struct fsl_job_step *items;
	size_t n_items;
	int32_t source_rank;
	const char *source; /* "timeline", "step-time file", "training log", "operator steps",
			       "operator period"; static, "" when n_items == 0 */
	uint64_t n_duplicates, n_disordered; /* what sorting had to mend */
	bool is_last_open; /* the last step ends with its last record because no later step began */
	bool is_ordinal;   /* the input numbers no steps: step is the position, from 0 */
	size_t n_ops;      /* where is_ordinal, operators of a step of the source rank */
};

/*
 * Fills @steps (overwritten). Sources in order of trust, each from the lowest rank that has it:
 * step-time files; timelines (begin of the first dataloader stage of each step, else of the first
 * forward stage); training logs; step numbers of operators; else the period of the operator
 * sequence, cut at each use of the rarest operator that comes at regular distances. That last one
 * needs 8 periods, counts steps from 0 and has no way to know where in a step its mark lies; an
 * operator used only every k-th step can be taken for the mark, a step is then k steps long. How
 * many periods a step has is told by the times between operators, or by run->step_hint.
 */
enum fsl_status fsl_steps_build(struct fsl_steps *steps, const struct fsl_run *run,
				struct fsl_error *err);
void fsl_steps_fini(struct fsl_steps *steps);

/*
 * Index of the step that holds @time_ns; SIZE_MAX before the first, at or after the end of the
 * last, and in a hole between two steps that do not follow each other.
 */
size_t fsl_steps_find(const struct fsl_steps *steps, int64_t time_ns);

/* How many steps are over by @time_ns. */
size_t fsl_steps_over(const struct fsl_steps *steps, int64_t time_ns);

/* Index of the step with this number, SIZE_MAX when there is none. */
size_t fsl_steps_numbered(const struct fsl_steps *steps, int64_t number);

#endif
