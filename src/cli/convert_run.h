/* One conversion: inputs -> tracks -> a file. */
#ifndef FSL_CLI_CONVERT_RUN_H
#define FSL_CLI_CONVERT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

/* The wanted conversion; all members are borrowed. */
struct fsl_convert_run {
	const char *const *paths; /* [n_paths] */
	size_t n_paths;
	const char *output;      /* file */
	const char *config_path; /* NULL: the one in its usual place */
	const int64_t *ranks;    /* [n_ranks]; n_ranks 0: all */
	size_t n_ranks;
	const int64_t *cpus; /* [n_cpus]: of kernel traces; n_cpus 0: all */
	size_t n_cpus;
	int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: open */
	int64_t now_ns;         /* the present; INT64_MIN: that of detect */
	const char *libraries;  /* folders with those of the job, separated by ':'; NULL: none */
	int64_t device_bytes;   /* memory of a device; 0: not known */
	int64_t n_jobs;         /* threads; -1: as configured */
	bool is_aligned;        /* one clock for all ranks */
	bool wants_verdict;
	bool is_quiet; /* no summary */
};

/* True if a file of this name can be written. */
bool fsl_convert_knows(const char *output);

/* Reads the inputs, writes the file, prints the summary. FSL_ERR_INPUT if there is nothing to
 * convert, FSL_ERR_IO if the file cannot be written; an older file of the name then stays. */
enum fsl_status fsl_convert_run(const struct fsl_convert_run *run, struct fsl_error *err);

#endif
