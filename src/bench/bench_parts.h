/* Shared by the files of src/bench: the folder of a benchmark, its trees, and its processes. */
#ifndef FSL_BENCH_BENCH_PARTS_H
#define FSL_BENCH_BENCH_PARTS_H

#include <signal.h>

#include "bench/bench.h"

enum { FSL_BENCH_PATH_BYTES = 4096, FSL_BENCH_ARGS_MAX = 24 };

/* Working folder of a benchmark, used by no other process. */
struct fsl_bench_place {
	const char *program;
	char path[FSL_BENCH_PATH_BYTES / 2];
	sigset_t before; /* signals that were blocked before */
	int interrupted; /* signal that ended a wait; 0: none */
};

/* Makes the folder below @dir. Signals that end programs are blocked until the place is closed. */
enum fsl_status fsl_bench_place_open(struct fsl_bench_place *place, const char *program,
				     const char *dir, struct fsl_error *err);
/* Removes the folder. Call in any case. */
void fsl_bench_place_close(struct fsl_bench_place *place);

/* Resources that a process used. */
struct fsl_bench_usage {
	int64_t cpu_ns, wall_ns;
	uint64_t peak_bytes; /* at least the peak of the process that started it */
	int exit_code;       /* 127: no such program; 128 and more: killed by signal code - 128 */
};

/*
 * Runs @argv (NULL-terminated; the first is a path, or a name to look up) and waits for it.
 * Standard output and standard error go into files; NULL: output is thrown away, errors are shown.
 * An exit code other than 0 is no error here. A process that was killed is an error. So is a signal
 * that asks this program to end: the process is then killed, and place->interrupted is set.
 */
enum fsl_status fsl_bench_spawn(struct fsl_bench_place *place, const char *const *argv,
				const char *out_path, const char *err_path,
				struct fsl_bench_usage *usage, struct fsl_error *err);

/* One simulated job on disk. */
struct fsl_bench_tree {
	char path[FSL_BENCH_PATH_BYTES / 2 + 64];
	int64_t now_ns;
	int64_t begin_ns, end_ns;        /* range of the job */
	struct fsl_bench_tree_size size; /* of the files that are read */
	enum fsl_bench_input input;
};

/* Describes a job to write. */
struct fsl_bench_job {
	const char *name; /* name of the folder */
	enum fsl_bench_input input;
	int64_t n_bytes; /* approximate size as marker CSV; other forms have the same markers */
	int64_t n_ranks;
	int64_t n_shards; /* tp; 0: 8, 4 or 2, whichever fits */
	int64_t n_pairs;  /* operators of a step; 0: 8 */
};
enum fsl_status fsl_bench_tree_write(struct fsl_bench_tree *out, struct fsl_bench_place *place,
				     const struct fsl_bench_job *job, struct fsl_error *err);
/* Writes the traces of a job, as many bytes of them as the job would have of marker CSV. */
enum fsl_status fsl_bench_traces_write(const struct fsl_bench_tree *tree,
				       const struct fsl_bench_job *job, struct fsl_error *err);
/* Folder with the files that cases of this input read. */
void fsl_bench_tree_folder(const struct fsl_bench_tree *tree, char folder[FSL_BENCH_PATH_BYTES]);

/* Measures one run of @item over @tree, in a process of its own. */
enum fsl_status fsl_bench_measure(struct fsl_bench_sample *out, struct fsl_bench_place *place,
				  const struct fsl_bench_case *item,
				  const struct fsl_bench_tree *tree, int64_t n_jobs,
				  struct fsl_error *err);
/* How to run `failslow detect`. */
struct fsl_bench_detect {
	int64_t n_jobs;  /* threads; 0: one per core */
	int64_t from_ns; /* judges only what ends at this time or later; INT64_MIN: all */
	bool goes_on;    /* uses the state of the previous run; else it reads everything */
};
enum fsl_status fsl_bench_measure_detect(struct fsl_bench_sample *out,
					 struct fsl_bench_place *place,
					 const struct fsl_bench_tree *tree,
					 const struct fsl_bench_detect *how, struct fsl_error *err);
/* Measures the start of the program, in a run that does nothing. */
enum fsl_status fsl_bench_measure_start_up(struct fsl_bench_sample *out,
					   struct fsl_bench_place *place, struct fsl_error *err);
/* Instructions of the timed part, by callgrind, which sees one thread: NaN for cases with threads.
 * *note (static) says why there are none, else NULL. */
enum fsl_status fsl_bench_count_instructions(double *out, const char **note,
					     struct fsl_bench_place *place,
					     const struct fsl_bench_case *item,
					     const struct fsl_bench_tree *tree,
					     struct fsl_error *err);

/* Cases over traces, which count events: trees of cJSON, events alone, and the whole reader. */
enum fsl_status fsl_bench_parse_traces(const struct fsl_bench_data *data, uint64_t *n_rows,
				       struct fsl_error *err);
enum fsl_status fsl_bench_walk_traces(const struct fsl_bench_data *data, uint64_t *n_rows,
				      struct fsl_error *err);
enum fsl_status fsl_bench_read_traces(const struct fsl_bench_data *data, uint64_t *n_rows,
				      struct fsl_error *err);

/* The number at the start of @text, behind blanks; false if there is none. */
bool fsl_bench_number(const char *text, int64_t *out);

/* Medians of the figures of @n samples, each figure on its own. */
struct fsl_bench_sample fsl_bench_median(const struct fsl_bench_sample *samples, size_t n);

#endif
