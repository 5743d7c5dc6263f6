/*
 * One run at a time judges a job into one place. The lock is a byte of a file beside the state: the
 * kernel gives it back when the process ends, however it ends, so that no lock is left over. The
 * file itself stays, empty.
 */
#ifndef FSL_STATE_JOB_LOCK_H
#define FSL_STATE_JOB_LOCK_H

#include <stdint.h>

#include <failslow/error.h>

/* Name of the lock's file beside the state file, if the state file is called <name>.db. */
#define FSL_LOCK_SUFFIX ".lock"

enum fsl_lock_result {
	FSL_LOCK_TAKEN,
	FSL_LOCK_BUSY, /* another run holds it, and went on to do so while this one waited */
	FSL_LOCK_NONE, /* no file could be made or locked: runs are not kept apart */
};

struct fsl_job_lock {
	int fd;        /* -1: nothing is held */
	int64_t other; /* process that holds the lock if it is busy; 0: on another host */
};

/* What the lock belongs to. */
struct fsl_lock_request {
	const char *state_path;   /* state file of the run; the lock lies beside it, or where a safe
				     place for the state is (state_place.h) */
	const char *job;          /* folder of the job */
	const char *training_log; /* NULL: none is named */
	double wait_s;            /* longest wait for another run, seconds */
};

/*
 * Takes the lock of a job, and makes its folder and file if they are missing. The file is never
 * reached through a link. Other jobs with the same state have locks of their own. *lock is to be
 * released in any case. FSL_ERR_MEMORY, else FSL_OK. A process may hold one lock.
 */
enum fsl_status fsl_job_lock_take(struct fsl_job_lock *lock, const struct fsl_lock_request *request,
				  enum fsl_lock_result *result, struct fsl_error *err);
void fsl_job_lock_release(struct fsl_job_lock *lock);

#endif
