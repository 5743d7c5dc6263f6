/*
 * A simulated job with at most one known fault, and with ranks without data (src/sim). Its defaults
 * are quiet, for the checks of properties: little noise without memory, no spikes, clocks that
 * agree.
 */
#ifndef TESTS_SUPPORT_KNOWN_JOB_H
#define TESTS_SUPPORT_KNOWN_JOB_H

#include "sim/sim.h"

enum { KNOWN_JOB_CULPRITS_MAX = 16, KNOWN_JOB_HEALTHY = FSL_SIM_FAULT_KINDS_N };

struct known_job {
	struct fsl_sim_params params; /* without the fault; owns nothing, so that jobs are copied */
	int fault;                    /* enum fsl_sim_fault_kind or KNOWN_JOB_HEALTHY */
	int32_t culprits[KNOWN_JOB_CULPRITS_MAX];
	int32_t n_culprits;
	double factor, extra_ms; /* 1.3 and 300 */
	int32_t onset_step;
	int32_t until_step; /* first healthy step after the fault; -1: lasts */
	/* Ranks without data; culprits may be among them. */
	int32_t lost[KNOWN_JOB_CULPRITS_MAX];
	int32_t n_lost;
	int lost_as; /* FSL_SIM_MISSING or FSL_SIM_EMPTY */
};

/* A healthy job of 8 ranks: tp 4, dp 2, 60 steps of about a second. */
void known_job_init(struct known_job *job);
/* Writes its tree below @dir. @truth may be NULL; release it with fsl_sim_truth_fini. */
enum fsl_status known_job_write(const struct known_job *job, const char *dir,
				struct fsl_sim_truth *truth, struct fsl_error *err);
/* Parameters of `failslow simulate` that write this job, as one line without newline. */
void known_job_print(const struct known_job *job, char *text, size_t size);

#endif
