/*
 * A small job in memory whose own work is known to the nanosecond: ranks compute, launch operators
 * and wait for them, or compute on beneath them. Header only.
 */
#ifndef TESTS_UNIT_ARCS_JOB_H
#define TESTS_UNIT_ARCS_JOB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arcs/find.h"
#include "base/number.h"

enum { ARCS_RANKS_MAX = 16, ARCS_ROWS_MAX = 12, ARCS_GROUPS_MAX = 8 };

/* One operator of a step. */
struct arcs_row {
	const char *op;
	uint64_t n_elements;
	double work_ms, transfer_ms;
	int group_set;  /* which of the groups of a rank */
	bool is_beside; /* the rank computes on beneath it; the last operator of a step waits for
			   all */
};

struct arcs_job {
	size_t n_ranks, n_steps, n_rows;
	struct arcs_row rows[ARCS_ROWS_MAX];
	/* [group set][rank]: number of the group; ranks of one number meet. */
	int group_of[2][ARCS_RANKS_MAX];
	/* Work of a rank in a step against that of the others: ms more in each row. */
	double (*extra_ms)(size_t rank, size_t step, size_t row);
	bool (*has_row)(size_t rank, size_t step, size_t row); /* NULL: all */
	size_t ranks_per_host;
	int64_t clock_ns[ARCS_RANKS_MAX];
	struct fsl_run run;
	struct fsl_topology topology;
	struct fsl_group groups[ARCS_GROUPS_MAX];
	int32_t members[ARCS_GROUPS_MAX][ARCS_RANKS_MAX];
	uint64_t random;
};

/* A synchronous job: every rank waits in each operator, of all ranks. */
static inline void arcs_job_init(struct arcs_job *job, size_t n_ranks, size_t n_steps)
{
	*job = (struct arcs_job){.n_ranks = n_ranks,
				 .n_steps = n_steps,
				 .n_rows = 4,
				 .ranks_per_host = 4,
				 .random = 99};
	for (size_t k = 0; k < 4; k++) {
		job->rows[k] = (struct arcs_row){.op = k < 3 ? "HcclAllGather" : "HcclAllReduce",
						 .n_elements = 1000 + k,
						 .work_ms = k == 0 ? 40.0 : 20.0,
						 .transfer_ms = 2.0};
	}
}

static inline uint32_t arcs_name(struct arcs_job *job, const char *text)
{
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(job->run.names, text, strlen(text), &id, NULL), FSL_OK);
	return id;
}

static inline void arcs_add_groups(struct arcs_job *job, int set, enum fsl_group_kind kind)
{
	for (int number = 0; number < (int)job->n_ranks; number++) {
		size_t n = 0, g = job->topology.n_groups;
		char name[16];
		for (size_t r = 0; r < job->n_ranks && g < ARCS_GROUPS_MAX; r++) {
			if (job->group_of[set][r] == number) {
				job->members[g][n++] = (int32_t)r;
			}
		}
		if (n > 0) {
			(void)snprintf(name, sizeof(name), "g%d_%d", set, number);
			job->groups[g] = (struct fsl_group){.name_id = arcs_name(job, name),
							    .kind = kind,
							    .ranks = job->members[g],
							    .n_ranks = n,
							    .n_calls = 1};
			job->topology.n_groups++;
		}
	}
	job->topology.groups = job->groups;
}

/* Work differs by up to 0.1 ms. */
static inline int64_t arcs_work_ns(struct arcs_job *job, size_t r, size_t s, size_t k)
{
	job->random = job->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	double noise_ms = (double)(job->random >> 44) / (double)(1 << 20) * 0.1;
	double extra_ms = job->extra_ms != NULL ? job->extra_ms(r, s, k) : 0.0;
	return (int64_t)((job->rows[k].work_ms + noise_ms + extra_ms) * FSL_NS_PER_MS);
}

static inline void arcs_add_op(struct arcs_job *job, size_t r, size_t k, int64_t host_ns,
			       int64_t begin_ns, int64_t end_ns)
{
	struct fsl_rank *rank = &job->run.ranks[r];
	char name[16];
	(void)snprintf(name, sizeof(name), "g%d_%d", job->rows[k].group_set,
		       job->group_of[job->rows[k].group_set][r]);
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, NULL), FSL_OK);
	rank->ops[rank->n_ops] = (struct fsl_op){.host_begin_ns = host_ns + job->clock_ns[r],
						 .host_end_ns = host_ns + job->clock_ns[r] + 1,
						 .dev_begin_ns = begin_ns + job->clock_ns[r],
						 .dev_end_ns = end_ns + job->clock_ns[r],
						 .id = rank->n_ops,
						 .n_elements = job->rows[k].n_elements,
						 .op_id = arcs_name(job, job->rows[k].op),
						 .group_id = arcs_name(job, name),
						 .dtype_id = FSL_STR_NONE,
						 .step = -1};
	rank->n_ops++;
}

/* Runs the job and fills run and topology. */
static inline void arcs_job_run(struct arcs_job *job, enum fsl_group_kind kind)
{
	int64_t free_ns[ARCS_RANKS_MAX], last_end_ns[ARCS_RANKS_MAX] = {0};
	assert_int_equal(fsl_run_init(&job->run, NULL), FSL_OK);
	for (size_t r = 0; r < job->n_ranks; r++) {
		static const char *const hosts[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
		struct fsl_rank *rank = fsl_run_add_rank(&job->run, (int32_t)r, NULL);
		assert_non_null(rank);
		rank->server_ip = hosts[r / job->ranks_per_host];
		free_ns[r] = INT64_C(1750000000000000000);
	}
	arcs_add_groups(job, 0, FSL_GROUP_DP);
	arcs_add_groups(job, 1, kind);
	for (size_t s = 0; s < job->n_steps; s++) {
		for (size_t k = 0; k < job->n_rows; k++) {
			const struct arcs_row *row = &job->rows[k];
			int64_t begin_ns[ARCS_RANKS_MAX], end_ns[ARCS_RANKS_MAX] = {0};
			for (size_t r = 0; r < job->n_ranks; r++) {
				free_ns[r] += arcs_work_ns(job, r, s, k);
				/* A communicator runs one operator after the other. */
				begin_ns[r] =
					free_ns[r] > last_end_ns[r] ? free_ns[r] : last_end_ns[r];
				for (size_t q = 0; q < job->n_ranks; q++) {
					bool meets = job->group_of[row->group_set][q] ==
						     job->group_of[row->group_set][r];
					int64_t at_ns = begin_ns[r] +
							(int64_t)(row->transfer_ms * FSL_NS_PER_MS);
					end_ns[q] = meets && at_ns > end_ns[q] ? at_ns : end_ns[q];
				}
			}
			for (size_t r = 0; r < job->n_ranks; r++) {
				if (job->has_row == NULL || job->has_row(r, s, k)) {
					arcs_add_op(job, r, k, begin_ns[r] - 100, begin_ns[r],
						    end_ns[r]);
				}
				last_end_ns[r] = end_ns[r];
				free_ns[r] = row->is_beside ? free_ns[r] : end_ns[r];
			}
		}
	}
}

static inline void arcs_job_fini(struct arcs_job *job)
{
	fsl_run_fini(&job->run);
}

#endif
