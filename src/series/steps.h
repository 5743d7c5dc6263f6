/* The steps of the job: when each began and how long it took, from the best source that the run
 * has. */
#ifndef FSL_SERIES_STEPS_H
#define FSL_SERIES_STEPS_H

#include "series/run.h"

struct fsl_job_step {
	int64_t step;     /* number of the step in the job */
	int64_t begin_ns; /* clock of the source rank */
	int64_t dur_ns;
	int64_t ckpt_ns; /* of it, time inside checkpoint stages of any rank with a timeline; 0:
			    none */
	int64_t gc_ns;   /* likewise, longest GC time of a rank */
};

/* Sorted by step, unique, times rising. n_items == 0: the run has no step information. */
struct fsl_steps {
	struct fsl_job_step *items;
	size_t n_items;
	int32_t source_rank;
	const char *source; /* "timeline", "step-time file", "training log", "operator period";
			       static */
	uint64_t n_duplicates, n_disordered; /* what sorting had to mend */
};

/*
 * Sources in order of trust: step-time files; timelines (begin of the first dataloader stage of
 * each step, lowest rank that has them); training logs; else the period of the operator sequence of
 * the lowest rank.
 */
enum fsl_status fsl_steps_build(struct fsl_steps *steps, const struct fsl_run *run,
				struct fsl_error *err);
void fsl_steps_fini(struct fsl_steps *steps);

/* Index of the step that holds @time_ns, SIZE_MAX before the first or after the end of the last. */
size_t fsl_steps_find(const struct fsl_steps *steps, int64_t time_ns);

#endif
