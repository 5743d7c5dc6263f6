/*
 * Benchmarks: the speed of failslow, compared with the limits of the machine and with common
 * libraries on the same bytes at the same time. Inputs are simulated into a folder of their own,
 * which is removed on every way out. Each measurement is a process of its own, so that peak memory
 * and CPU time belong to one case. Cases take turns (A B C A B C), so that a slow phase of the
 * machine affects all of them.
 */
#ifndef FSL_BENCH_BENCH_H
#define FSL_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <failslow/error.h>

#include "base/mem.h"

enum {
	FSL_BENCH_RUNS_MAX = 101,
	FSL_BENCH_MB_MAX = 4096,
	FSL_BENCH_CASES_MAX = 24,
	FSL_BENCH_POINTS_MAX = 8,
};

/* Kinds of cases. */
enum fsl_bench_role {
	FSL_BENCH_LIMIT,   /* limit of the machine */
	FSL_BENCH_LIBRARY, /* a common library */
	FSL_BENCH_WORK,    /* failslow's own code */
};
const char *fsl_bench_role_text(enum fsl_bench_role role); /* "limit" */

/* The simulated trees; each case reads one. */
enum fsl_bench_input {
	FSL_BENCH_CSV,       /* marker files */
	FSL_BENCH_JSON,      /* the same markers as JSON */
	FSL_BENCH_TIMELINES, /* timelines as protobuf */
	FSL_BENCH_TRACES,    /* traces of PyTorch's profiler */
	FSL_BENCH_INPUTS_N
};
const char *fsl_bench_input_text(enum fsl_bench_input input); /* "csv" */

/* The files of one folder, as a case gets them. */
struct fsl_bench_data {
	const char *folder;
	const char *const *paths;
	size_t n_paths;
	size_t n_bytes;    /* size of all files */
	const char *bytes; /* content of all files in a row; NULL unless the case wants it */
	char *spare;       /* a buffer of the same size to write to, or NULL likewise */
	int64_t n_jobs;    /* threads of a case with threads; 0: one per core */
};

/* Data that a case needs in memory before its clock starts. */
enum fsl_bench_memory { FSL_BENCH_FILES, FSL_BENCH_IN_MEMORY, FSL_BENCH_IN_MEMORY_TWICE };

/* One line of the table of cases. */
struct fsl_bench_case {
	const char *name;
	const char *summary; /* one line */
	enum fsl_bench_role role;
	enum fsl_bench_input input;
	enum fsl_bench_memory memory;
	const char *row;     /* noun for the counted rows; cases with the same noun must agree.
				NULL: no count */
	const char *library; /* the case that does the same with a library; NULL: none */
	/* The timed part; counts rows. NULL: the whole program, `failslow detect`. */
	enum fsl_status (*work)(const struct fsl_bench_data *data, uint64_t *n_rows,
				struct fsl_error *err);
	const char *alone; /* the case that does the same on one thread; NULL: this one does */
	const char *anew;  /* the case that reads everything, for a case that continues an
			      earlier run; NULL: does not continue one */
};

/* The table of cases; ends with a NULL name. */
extern const struct fsl_bench_case fsl_bench_cases[];
/* Finds a case. FSL_ERR_USAGE for an unknown name, with the known names. */
enum fsl_status fsl_bench_case_find(const struct fsl_bench_case **out, const char *name,
				    struct fsl_error *err);

/* One run of one case. */
struct fsl_bench_sample {
	uint64_t n_bytes;
	uint64_t n_rows;         /* 0 if nothing is counted */
	int64_t cpu_ns, wall_ns; /* of the timed part; for the whole program of the process */
	uint64_t peak_bytes;     /* resident memory of the process */
};

/*
 * Runs @item once in this process over the files of @folder; the measuring processes call it.
 * @n_jobs: threads of a case with threads, 0: one per core. peak_bytes stays 0. FSL_ERR_USAGE if
 * the case is the whole program.
 */
enum fsl_status fsl_bench_case_run(const struct fsl_bench_case *item, const char *folder,
				   int64_t n_jobs, struct fsl_bench_sample *out,
				   struct fsl_error *err);
/* Prints a sample as one line, "bytes=.. rows=.. cpu_ns=.. wall_ns=..", and parses that line. */
void fsl_bench_sample_print(const struct fsl_bench_sample *sample);
bool fsl_bench_sample_parse(struct fsl_bench_sample *out, const char *text);

/* A question about how the cost grows. */
struct fsl_bench_scale {
	const char *name;
	const char *summary;
	const char *unit; /* of x: "ranks" */
	const char *per;  /* the cost is shown per this unit, to see whether it is flat */
	bool is_per_x;    /* that unit is x; else it is the megabyte of files */
};
/* The table of questions; ends with a NULL name. */
extern const struct fsl_bench_scale fsl_bench_scales[];

struct fsl_bench_options {
	const char *program; /* path of failslow, which every measurement starts */
	const char *dir;     /* parent of the folder for the inputs */
	const char *only;    /* names separated by commas; NULL: all cases */
	int64_t n_mb;        /* megabytes (1e6) of marker CSV */
	int64_t n_ranks, n_runs;
	int64_t n_jobs; /* threads of cases with threads; 0: one per core */
	bool wants_instructions;
	/* Called before each run; may be NULL. */
	void (*progress)(size_t n_done, size_t n_all);
};

/* Cost relative to another case, per byte of input, in CPU time: median of the pairs of a round. */
enum fsl_bench_base {
	FSL_BENCH_TO_MEMCPY,
	FSL_BENCH_TO_READ,
	FSL_BENCH_TO_NEWLINES,
	FSL_BENCH_TO_LIBRARY,
	FSL_BENCH_BASES_N
};
const char *fsl_bench_base_text(enum fsl_bench_base base); /* "memcpy" */

struct fsl_bench_result {
	const struct fsl_bench_case *item;
	struct fsl_bench_sample *samples; /* one per run; report->arena */
	struct fsl_bench_sample median;   /* each figure is a median of its own */
	double ratios[FSL_BENCH_BASES_N]; /* NaN: the other case was not run */
	/* Wall time of item->alone over that of this case: median over the pairs of each round.
	 * NaN: the case uses one thread, or the other case was not run. */
	double speedup;
	/* CPU time over that of item->anew, in the same way. NaN: the case continues no run, or the
	 * other case was not run. */
	double share;
	double instructions_per_byte; /* NaN: not counted */
};

struct fsl_bench_tree_size {
	uint64_t n_bytes, n_files;
};

struct fsl_bench_report {
	struct fsl_arena arena;
	int64_t n_ranks, n_runs, n_jobs;
	int n_cores;
	struct fsl_bench_tree_size inputs[FSL_BENCH_INPUTS_N]; /* zero: not needed */
	struct fsl_bench_result results[FSL_BENCH_CASES_MAX];
	size_t n_results;
	const char *note; /* why there are no instruction counts, else NULL */
	int interrupted;  /* signal that ended it, for the caller to raise; all is cleaned up */
};

/* One point of a scaling table. */
struct fsl_bench_point {
	double x;
	const char *label;
	struct fsl_bench_sample *samples; /* growth->arena */
	struct fsl_bench_sample median;   /* includes the start of the program */
};

/* Growth of the cost. */
struct fsl_bench_growth {
	struct fsl_arena arena;
	const struct fsl_bench_scale *scale;
	int64_t n_runs;
	struct fsl_bench_sample start_up; /* of a program run that does nothing; median */
	struct fsl_bench_point points[FSL_BENCH_POINTS_MAX];
	size_t n_points;
	double cpu_exponent, memory_exponent; /* slope of log cost over log x: 1 is linear */
	int interrupted;
};

/*
 * Measures the cases. FSL_ERR_USAGE: unknown case, or too few bytes for so many ranks.
 * FSL_ERR_INTERNAL: two readers of the same rows counted different numbers. Release with
 * fsl_bench_report_fini in any case.
 */
enum fsl_status fsl_bench_run(struct fsl_bench_report *out, const struct fsl_bench_options *options,
			      struct fsl_error *err);
void fsl_bench_report_fini(struct fsl_bench_report *report);
/* Measures `failslow detect` with one thread at each point of @scale. Release with
 * fsl_bench_growth_fini in any case. */
enum fsl_status fsl_bench_grow(struct fsl_bench_growth *out, const struct fsl_bench_scale *scale,
			       const struct fsl_bench_options *options, struct fsl_error *err);
void fsl_bench_growth_fini(struct fsl_bench_growth *growth);

/* Either result as JSON by docs/bench.schema.json; the other one is NULL. NULL if out of memory;
 * the caller deletes it. */
cJSON *fsl_bench_json(const struct fsl_bench_report *report, const struct fsl_bench_growth *growth);

#endif
