/*
 * What runs found of the chapters of captures that are over, in an SQLite file of its own: it may
 * be deleted at any time at no loss but time. Killing a run at any moment leaves it sound; one that
 * is damaged all the same is made anew.
 */
#ifndef FSL_STATE_CACHE_H
#define FSL_STATE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "base/mem.h"

enum {
	FSL_CACHE_JOB_BYTES_MAX = 32 << 20, /* beyond that the oldest matrices go */
	FSL_CACHE_DAYS = 90,                /* a job that nobody judged for so long goes */
};

/* One chapter that is over. */
struct fsl_cache_chapter {
	int64_t begin_ns, end_ns;
	const void *summary; /* borrowed, or the job's arena */
	size_t n_summary;
	const void *matrices; /* likewise; n_matrices 0: gone */
	size_t n_matrices;
	bool is_new; /* to be written; of those read false */
};

/* What is known of the job in one folder. Start as {0}. */
struct fsl_cache_job {
	struct fsl_arena arena;
	const void *head; /* of the whole job */
	size_t n_head;
	struct fsl_cache_chapter *items; /* oldest first */
	size_t n_items;
};
void fsl_cache_job_fini(struct fsl_cache_job *job);

/* The file that belongs to a state file: "x.db" has "x-cache.db". NULL: out of memory. Free with
 * fsl_free. */
char *fsl_cache_path(const char *state_path);

/*
 * Reads what is known of the job in folder @root, judged by the same @rules; *out stays empty when
 * that is nothing. Waits for nobody: FSL_ERR_IO when another run has locked the file, or it cannot
 * be read.
 */
enum fsl_status fsl_cache_get(struct fsl_cache_job *out, const char *path, const char *root,
			      const char *rules, struct fsl_error *err);
/*
 * Makes @job what is known of it: writes its head and the chapters that are new, and forgets
 * chapters that it does not list, all or nothing. Removes jobs of which nothing was written for
 * FSL_CACHE_DAYS. Waits for nobody, either.
 */
enum fsl_status fsl_cache_put(const char *path, const char *root, const char *rules,
			      const struct fsl_cache_job *job, int64_t now_ns,
			      struct fsl_error *err);

#endif
