/* A small job with its charges, for the tests of blame. */
#ifndef TESTS_CHARGED_JOB_H
#define TESTS_CHARGED_JOB_H

#include "support/small_job.h"

#include "blame/blame.h"
#include "blame/cause.h"

/* Everything up to the charges. */
struct charged_job {
	struct small_job job;
	struct fsl_match match;
	struct fsl_cuts cuts;
	struct fsl_own own;
	struct fsl_blame blame;
	struct fsl_config config;
};

/* The data that blame has about the job. */
#define CASE_OF(c)                                                                                 \
	{                                                                                          \
		.config = &(c)->config, .run = &(c)->job.run, .topology = &(c)->job.topology,      \
		.steps = &(c)->job.steps, .match = &(c)->match, .cuts = &(c)->cuts,                \
		.own = &(c)->own, .blame = &(c)->blame,                                            \
	}

static inline void charge(struct charged_job *c)
{
	small_job_run(&c->job);
	c->config = (struct fsl_config){.slow_ratio_min = 1.05, .persistence_min = 0.5};
	assert_int_equal(fsl_match_build(&c->match, &c->job.run, &c->job.topology, NULL), FSL_OK);
	assert_int_equal(
		fsl_cuts_build(&c->cuts, &c->job.run, &c->job.steps, c->match.clock_ns, NULL),
		FSL_OK);
	fsl_match_assign_steps(&c->match, &c->cuts);
	assert_int_equal(fsl_own_build(&c->own, &c->job.run, &c->job.steps, &c->cuts, NULL),
			 FSL_OK);
	assert_int_equal(fsl_blame_build(&c->blame, &(struct fsl_case)CASE_OF(c), NULL), FSL_OK);
}

static inline void release(struct charged_job *c)
{
	fsl_blame_fini(&c->blame);
	fsl_own_fini(&c->own);
	fsl_cuts_fini(&c->cuts);
	fsl_match_fini(&c->match);
	small_job_fini(&c->job);
}

static inline enum fsl_cause cause_of(struct charged_job *c, size_t r)
{
	return fsl_cause_find(&(struct fsl_case)CASE_OF(c), r, &c->blame.charges[r]).cause;
}

static inline size_t n_charged(const struct charged_job *c)
{
	size_t n = 0;
	for (size_t r = 0; r < c->blame.n_ranks; r++) {
		n += c->blame.charges[r].pattern != FSL_PATTERN_NONE;
	}
	return n;
}

#endif
