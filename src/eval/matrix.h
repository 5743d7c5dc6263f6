/* The matrix of simulated jobs. A preset is a table of blocks. A block crosses faults, topologies,
 * magnitudes and seeds. Durations, conditions and surroundings are drawn for each job. */
#ifndef FSL_EVAL_MATRIX_H
#define FSL_EVAL_MATRIX_H

#include "base/mem.h"
#include "eval/rules.h"

/* A kind of job. */
struct fsl_eval_topology {
	const char *name;
	int32_t tp, dp, pp; /* rank = (stage * dp + replica) * tp + shard */
	int32_t ranks_per_host;
	const char *settings; /* further settings of the simulator */
};
/* True for a family of jobs (`failslow simulate family=`), which is reported by itself. */
bool fsl_eval_is_family(const struct fsl_eval_topology *topology);

/* How even the devices are, how quiet the job is, and which stages are recorded. */
struct fsl_eval_surroundings {
	const char *name;
	const char *settings;
};

/* Damage to the records on their way to disk. */
enum fsl_eval_condition {
	FSL_EVAL_PLAIN,
	FSL_EVAL_RELABELLED, /* rank numbers permuted */
	FSL_EVAL_CLOCKS,     /* clocks of hosts up to 50 ms apart, drifting */
	FSL_EVAL_DROPPED,    /* 1 % of the records lost */
	FSL_EVAL_LOST,       /* 1 rank in 8 left no file (never a struck one) */
	FSL_EVAL_CONDITIONS_N
};
const char *fsl_eval_condition_text(enum fsl_eval_condition condition);

enum { FSL_EVAL_TEXT_MAX = 64 };

/* One job to simulate. */
struct fsl_eval_task {
	size_t idx; /* index in the whole matrix, before filters */
	const struct fsl_eval_scenario *scenario;
	const struct fsl_eval_topology *topology;
	int32_t n_ranks;
	int32_t n_steps;
	int64_t seed;           /* of the wanted range */
	uint64_t random;        /* seed of the simulation, from seed and cell */
	double magnitude;       /* wanted slowdown, share; 0: none */
	int32_t duration_steps; /* duration of the fault; 0: it lasts */
	bool is_from_start;     /* the fault is there from the first step on */
	enum fsl_eval_condition condition;
	const struct fsl_eval_surroundings *devices, *timelines;
};

/* Properties of a job, by which jobs are filtered and results divided. */
enum fsl_eval_property {
	FSL_EVAL_BY_FAULT,
	FSL_EVAL_BY_TOPOLOGY,
	FSL_EVAL_BY_RANKS,
	FSL_EVAL_BY_STEPS,
	FSL_EVAL_BY_MAGNITUDE, /* as wanted, percent */
	FSL_EVAL_BY_DURATION,  /* steps */
	FSL_EVAL_BY_CONDITION,
	FSL_EVAL_BY_DEVICES,
	FSL_EVAL_BY_TIMELINES,
	FSL_EVAL_PROPERTIES_N
};
void fsl_eval_task_put(char *out, size_t size, const struct fsl_eval_task *task,
		       enum fsl_eval_property property);

struct fsl_eval_selection {
	const char *preset;         /* "quick", "full", "families": those of "full" alone */
	int64_t seed_from, seed_to; /* inclusive; -1: as many as the preset has, from @seed_from */
	const char *const
		*filters; /* "fault=compute-one", all must hold; values are separated by "|" */
	size_t n_filters;
	size_t limit; /* greatest number of jobs, spread over the matrix; 0: all */
};

/* First seeds: tuning uses the first range, published figures the second. */
enum { FSL_EVAL_SEED_TUNE = 1, FSL_EVAL_SEED_TEST = 1001 };

/* Tasks in the order of the table, at least one; in @arena. FSL_ERR_USAGE: an unknown preset or
 * filter, a filter value that no job has, or no matching job. */
enum fsl_status fsl_eval_matrix(struct fsl_eval_task **tasks, size_t *n_tasks,
				const struct fsl_eval_selection *selection, struct fsl_arena *arena,
				struct fsl_error *err);

#endif
