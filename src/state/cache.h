/*
 * Keeps the verdicts on chapters that are over in an SQLite file of its own. Whoever deletes the
 * file loses only time. The file stays sound if a run is killed at any moment; a damaged file is
 * replaced by a new one.
 */
#ifndef FSL_STATE_CACHE_H
#define FSL_STATE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "base/mem.h"

enum {
	FSL_CACHE_JOB_BYTES_MAX =
		32 << 20,    /* bytes of one job; beyond, its oldest matrices are not kept */
	FSL_CACHE_DAYS = 90, /* a job that was not judged for so many days is removed */
};

/* One chapter that is over. */
struct fsl_cache_chapter {
	int64_t begin_ns, end_ns;
	const void *summary; /* borrowed, or the job's arena */
	size_t n_summary;
	const void *matrices; /* likewise; n_matrices 0: not kept any more */
	size_t n_matrices;
	bool is_new; /* to be written; false in chapters that were read */
};

/* Kept data of the job in one folder. Start as {0}. */
struct fsl_cache_job {
	struct fsl_arena arena;
	const void *head; /* of the whole job */
	size_t n_head;
	struct fsl_cache_chapter *items; /* oldest first */
	size_t n_items;
};
void fsl_cache_job_fini(struct fsl_cache_job *job);

/* Path of the cache file that belongs to a state file: "x-cache.db" for "x.db". NULL: out of
 * memory. Free with fsl_free. */
char *fsl_cache_path(const char *state_path);

/*
 * Reads the kept data of the job in folder @root that was judged by the same @rules. *out stays
 * empty if there are none. Never waits for a lock: FSL_ERR_IO if another run has locked the file,
 * or if it cannot be read.
 */
enum fsl_status fsl_cache_get(struct fsl_cache_job *out, const char *path, const char *root,
			      const char *rules, struct fsl_error *err);
/*
 * Replaces the kept data of the job by @job, as a whole or not at all: writes its head and its new
 * chapters, and removes chapters that @job does not list. Removes jobs that were not written for
 * FSL_CACHE_DAYS. Never waits for a lock, as above.
 */
enum fsl_status fsl_cache_put(const char *path, const char *root, const char *rules,
			      const struct fsl_cache_job *job, int64_t now_ns,
			      struct fsl_error *err);

#endif
