/* Kernel traces of the hosts of a job: their threads in the steps of the ranks, and who took the
 * CPU from whom. */
#ifndef FSL_ENGINE_HOSTBOUND_H
#define FSL_ENGINE_HOSTBOUND_H

#include "engine/job.h"
#include "judge/hostbound.h"
#include "source/ftrace/clock_fit.h"
#include "source/ftrace/find.h"
#include "source/ftrace/load.h"

/* One trace. */
struct fsl_host_trace {
	const struct fsl_ftrace_trace *files; /* borrowed from the list */
	struct fsl_ftrace_ranks ranks;
	struct fsl_ftrace_beside beside;
	struct fsl_ftrace_loaded loaded;
	struct fsl_sched sched;
	struct fsl_hostbound judged;
	/* Share of the launches of operators at which the launching thread runs; NaN: not checked.
	 * A wrong clock has a low one. */
	double clock_score;
	bool lacks_clock; /* nothing tells the clock of the trace, so that the job is not used */
	struct fsl_clock_fit fit;           /* of a clock that nothing tells */
	struct fsl_sched_topology topology; /* of its CPUs; n_cpus 0: not told */
	size_t n_job_ranks;                 /* ranks whose steps come from the files of the job */
	bool has_job_pids;                  /* the processes of its markers were looked for */
	struct fsl_host_picture *picture;   /* owned; NULL: not made (engine/hostbound_picture.h) */
};

/* A trace that could not be read. */
struct fsl_host_left_out {
	const char *path;   /* borrowed from the list */
	const char *reason; /* with the remedy; arena of the list */
};

/* Start as {0}; @capture, @profiles and @topology may be set before loading. */
struct fsl_host_traces {
	const struct fsl_profile *capture; /* of the same job, whose steps are those of ranks that
					      the job does not tell; borrowed; NULL: none */
	const char *const *profiles; /* [n_profiles]: folders with the job's profiles, which tell
					clocks; borrowed; n_profiles 0: the paths of the traces */
	size_t n_profiles;
	const char *topology; /* file that `lscpu -p` wrote; borrowed; NULL: NAME.topology.txt
				 beside NAME.txt, else topology.txt there */
	struct fsl_ftrace_traces found;
	struct fsl_host_trace *items;
	size_t n_items;
	struct fsl_prof_clocks clocks; /* of profiles, looked for if a trace needs them */
	bool has_looked;
	struct fsl_host_left_out *left_out;
	size_t n_left_out, left_out_capacity;
	struct fsl_error failure; /* of the first one; n_causes 0: none, or told */
};

/*
 * Finds the kernel traces below @paths (source/ftrace/find.h), reads them and judges each. A trace
 * whose clock nothing beside it tells has that of the profiles of its host. @job:
 * the analysed job of the same hosts, whose steps are those of the ranks; NULL: steps are those of
 * marks in the traces. A trace that cannot be read is left out, since it is one host of many:
 * fsl_host_traces_check tells it; @is_brief: a warning tells it at once. FSL_ERR_MEMORY,
 * FSL_ERR_LIMIT (too many traces). Release @out with fsl_host_traces_fini in any case.
 */
enum fsl_status fsl_host_traces_load(struct fsl_host_traces *out, const char *const *paths,
				     size_t n_paths, bool is_brief, const struct fsl_job *job,
				     struct fsl_error *err);
/* True if a file of this name holds sysTrace's records of a host, os_trace_*.pb. */
bool fsl_host_records_knows(const char *path);
/* Adds such files in and below @paths, as one trace for each folder. Their CPUs are unknown. @job
 * as above; @paths must not be empty. */
enum fsl_status fsl_host_traces_add_records(struct fsl_host_traces *traces,
					    const char *const *paths, size_t n_paths,
					    const struct fsl_job *job, struct fsl_error *err);
/* Call after traces and records were added. If all of them were left out, returns why the first one
 * was; else a warning tells it, as warnings told the others. */
enum fsl_status fsl_host_traces_check(struct fsl_host_traces *traces, struct fsl_error *err);
void fsl_host_traces_fini(struct fsl_host_traces *traces);

#endif
