/*
 * A small causal job in memory for unit tests. Its ranks form one group. They work, then meet in a
 * collective, which ends for all ranks one transfer after the last arrives. Header only: the
 * functions need the libraries of the test that includes it.
 */
#ifndef TESTS_SUPPORT_SMALL_JOB_H
#define TESTS_SUPPORT_SMALL_JOB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "model/run.h"
#include "model/steps.h"
#include "model/topology.h"

#define SMALL_JOB_ORIGIN_NS INT64_C(1750000000000000000)

enum { SMALL_JOB_OPS_PER_STEP = 4, SMALL_JOB_RANKS_MAX = 16 };

struct small_job {
	struct fsl_run run;
	struct fsl_steps steps;
	struct fsl_topology topology;
	size_t n_ranks, n_steps;
	/* Extra own time, ms: before the first operator of the step, and before each later one. */
	double head_ms[SMALL_JOB_RANKS_MAX], body_ms[SMALL_JOB_RANKS_MAX];
	double noise_ms;     /* greatest variation of the work before each operator, ms, evenly
				distributed */
	size_t onset, until; /* steps [onset, until) carry the extra time */
	int64_t clock_ns[SMALL_JOB_RANKS_MAX]; /* error of each rank's clock */
	/* The last transfer of each such step takes longer; 0: of none. */
	size_t time_out_every;
	double time_out_ms;
};

static inline uint32_t small_job_name(struct small_job *job, const char *text)
{
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(job->run.names, text, strlen(text), &id, NULL), FSL_OK);
	return id;
}

static inline void small_job_add_op(struct small_job *job, size_t r, uint32_t op_id,
				    uint32_t group_id, int64_t begin_ns, int64_t end_ns)
{
	struct fsl_rank *rank = &job->run.ranks[r];
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, NULL), FSL_OK);
	rank->ops[rank->n_ops] = (struct fsl_op){.host_begin_ns = begin_ns - 600 * FSL_NS_PER_MS,
						 .host_end_ns = begin_ns - 599 * FSL_NS_PER_MS,
						 .dev_begin_ns = begin_ns,
						 .dev_end_ns = end_ns,
						 .id = rank->n_ops,
						 .op_id = op_id,
						 .group_id = group_id,
						 .dtype_id = FSL_STR_NONE,
						 .step = -1};
	rank->n_ops++;
	rank->last_event_ns = end_ns;
}

/* Makes ranks, names and one group "g0" of all ranks; no operators yet. */
static inline void small_job_init(struct small_job *job, size_t n_ranks, size_t n_steps)
{
	*job = (struct small_job){
		.n_ranks = n_ranks, .n_steps = n_steps, .until = n_steps, .noise_ms = 0.2};
	assert_int_equal(fsl_run_init(&job->run, NULL), FSL_OK);
	for (size_t r = 0; r < n_ranks; r++) {
		struct fsl_rank *rank = fsl_run_add_rank(&job->run, (int32_t)r, NULL);
		assert_non_null(rank);
		rank->has_markers_file = true;
		rank->server_ip = r < 4 ? "10.0.0.1" : "10.0.0.2";
	}
	struct fsl_group *group = fsl_arena_alloc(&job->topology.arena, sizeof(*group));
	int32_t *ranks = fsl_arena_alloc(&job->topology.arena, n_ranks * sizeof(*ranks));
	for (size_t r = 0; r < n_ranks; r++) {
		ranks[r] = (int32_t)r;
	}
	*group = (struct fsl_group){.name_id = small_job_name(job, "g0"),
				    .kind = FSL_GROUP_TP,
				    .why = "test",
				    .ranks = ranks,
				    .n_ranks = n_ranks};
	job->topology.groups = group;
	job->topology.n_groups = 1;
	job->topology.expected_ranks = ranks;
	job->topology.n_expected_ranks = n_ranks;
}

/* Runs the job: 50 ms of work before each of four collectives in a step, 1 ms of transfer, jitter
 * below 0.2 ms. */
static inline void small_job_run(struct small_job *job)
{
	uint32_t op_id = small_job_name(job, "HcclAllGather");
	uint32_t group_id = small_job_name(job, "g0");
	int64_t now_ns = SMALL_JOB_ORIGIN_NS;
	uint64_t noise = 12345;
	job->steps.items = fsl_calloc(job->n_steps, sizeof(*job->steps.items));
	job->steps.n_items = job->n_steps;
	job->steps.source = "timeline";
	for (size_t s = 0; s < job->n_steps; s++) {
		job->steps.items[s].step = (int64_t)s;
		job->steps.items[s].begin_ns = now_ns + job->clock_ns[0];
		for (size_t k = 0; k < SMALL_JOB_OPS_PER_STEP; k++) {
			int64_t begin_ns[SMALL_JOB_RANKS_MAX], last_ns = 0;
			for (size_t r = 0; r < job->n_ranks; r++) {
				bool is_slow = s >= job->onset && s < job->until;
				double extra_ms = k == 0 ? job->head_ms[r] : job->body_ms[r];
				noise = noise * UINT64_C(6364136223846793005) + 1442695040888963407;
				double work_ms =
					50.0 + (is_slow ? extra_ms : 0.0) +
					(double)(noise >> 44) / (double)(1 << 20) * job->noise_ms;
				begin_ns[r] = now_ns + (int64_t)(work_ms * FSL_NS_PER_MS);
				last_ns = begin_ns[r] > last_ns ? begin_ns[r] : last_ns;
			}
			bool is_lost = k + 1 == SMALL_JOB_OPS_PER_STEP && job->time_out_every > 0 &&
				       s % job->time_out_every == job->time_out_every - 1;
			now_ns = last_ns + FSL_NS_PER_MS;
			now_ns += is_lost ? (int64_t)(job->time_out_ms * FSL_NS_PER_MS) : 0;
			for (size_t r = 0; r < job->n_ranks; r++) {
				small_job_add_op(job, r, op_id, group_id,
						 begin_ns[r] + job->clock_ns[r],
						 now_ns + job->clock_ns[r]);
			}
		}
		job->steps.items[s].dur_ns =
			now_ns + job->clock_ns[0] - job->steps.items[s].begin_ns;
	}
}

static inline void small_job_fini(struct small_job *job)
{
	fsl_steps_fini(&job->steps);
	fsl_topology_fini(&job->topology);
	fsl_run_fini(&job->run);
}

#endif
