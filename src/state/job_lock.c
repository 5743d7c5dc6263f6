/* Keeps two runs over one job apart, with a lock on one byte of a file. */
#include "state/job_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os_error.h"
#include "base/try.h"
#include "state/state.h"
#include "state/state_place.h"

enum {
	TRY_EVERY_MS = 50, /* a run takes longer; a wait that is longer by this is not felt */
	MS_PER_S = 1000,
};
#define NS_PER_MS 1000000L
/* Offsets of locks are below 2^48: two of a thousand jobs with one state share an offset once in
 * half a billion such states, and file servers take offsets of that size. */
#define OFFSET_MASK ((UINT64_C(1) << 48) - 1)

/* "x.lock" for the state file "x.db", "x" for "x"; NULL: out of memory. Free with fsl_free. */
static char *lock_path(const char *state_path)
{
	static const char ending[] = ".db";
	size_t length = strlen(state_path), n_ending = sizeof(ending) - 1;
	if (length > n_ending && strcmp(state_path + length - n_ending, ending) == 0) {
		length -= n_ending;
	}
	char *path = fsl_calloc(length + sizeof(FSL_LOCK_SUFFIX), 1);
	if (path != NULL) {
		memcpy(path, state_path, length);
		memcpy(path + length, FSL_LOCK_SUFFIX, sizeof(FSL_LOCK_SUFFIX));
	}
	return path;
}

static uint64_t add_path(uint64_t hash, const char *path)
{
	char *found = path != NULL ? realpath(path, NULL) : NULL;
	const char *text = found != NULL ? found : path != NULL ? path : "";
	hash = fsl_hash_bytes(hash, text, strlen(text) + 1);
	free(found);
	return hash;
}

/* The byte that belongs to the job. */
static struct flock lock_of(const struct fsl_lock_request *request)
{
	uint64_t hash = add_path(FSL_HASH_START, request->job);
	hash = add_path(hash, request->training_log);
	return (struct flock){.l_type = F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)(hash & OFFSET_MASK),
			      .l_len = 1};
}

/* Opens the file where only root and the user can change it; -1 with the reason in @err. */
static int open_file(const struct fsl_lock_request *request, struct fsl_error *err)
{
	char *wanted = lock_path(request->state_path);
	char *path = NULL;
	int fd = -1;
	enum fsl_status status =
		wanted != NULL ? fsl_state_prepare_folder(request->state_path, err)
			       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the lock");
	FSL_THEN(status, fsl_state_place(&path, wanted, FSL_LOG_DEBUG, err));
	if (status == FSL_OK) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
		if (fd < 0) {
			(void)FSL_FAIL(err, FSL_ERR_IO,
				       "cannot open it: path=\"%s\", reason=\"%s\"", path,
				       fsl_os_error(errno).text);
		}
	}
	fsl_free(path);
	fsl_free(wanted);
	return fd;
}

static bool is_held_by_other(int code)
{
	return code == EACCES || code == EAGAIN;
}

/* Tries until @wait_s are over. 0 or errno. */
static int wait_for(int fd, struct flock *lock, double wait_s)
{
	const struct timespec pause = {0, TRY_EVERY_MS * NS_PER_MS};
	int64_t n_tries = (int64_t)(wait_s * MS_PER_S / TRY_EVERY_MS);
	for (;; n_tries--) {
		if (fcntl(fd, F_SETLK, lock) == 0) {
			return 0;
		}
		if (!is_held_by_other(errno) || n_tries <= 0) {
			return errno;
		}
		(void)nanosleep(&pause, NULL);
	}
}

enum fsl_status fsl_job_lock_take(struct fsl_job_lock *lock, const struct fsl_lock_request *request,
				  enum fsl_lock_result *result, struct fsl_error *err)
{
	struct fsl_error own = {0};
	struct flock wanted = lock_of(request);
	*lock = (struct fsl_job_lock){.fd = open_file(request, &own)};
	*result = FSL_LOCK_NONE;
	if (lock->fd < 0) {
		fsl_log(FSL_LOG_INFO, "state",
			"runs over this job are not kept apart: cause=\"%s\"",
			fsl_error_root(&own));
		return own.status == FSL_ERR_MEMORY
			       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the lock")
			       : FSL_OK;
	}
	int code = wait_for(lock->fd, &wanted, request->wait_s);
	*result = code == 0                ? FSL_LOCK_TAKEN
		  : is_held_by_other(code) ? FSL_LOCK_BUSY
					   : FSL_LOCK_NONE;
	if (*result == FSL_LOCK_BUSY) {
		bool is_told = fcntl(lock->fd, F_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK;
		lock->other = is_told ? wanted.l_pid : 0;
	} else if (*result == FSL_LOCK_NONE) {
		fsl_log(FSL_LOG_INFO, "state",
			"runs over this job are not kept apart: file system=\"%s\"",
			fsl_os_error(code).text);
	}
	if (*result != FSL_LOCK_TAKEN) {
		fsl_job_lock_release(lock);
	}
	return FSL_OK;
}

void fsl_job_lock_release(struct fsl_job_lock *lock)
{
	if (lock->fd >= 0) {
		(void)close(lock->fd);
	}
	lock->fd = -1;
}
