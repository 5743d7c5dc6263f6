/* One run at a time looks at a job. */
#include "cli/turn.h"

#include "base/log.h"
#include "base/try.h"

enum fsl_status fsl_turn_take(struct fsl_job_lock *lock, const struct fsl_lock_request *request,
			      const char *area, bool *is_busy, struct fsl_error *err)
{
	enum fsl_lock_result result = FSL_LOCK_NONE;
	FSL_TRY(fsl_job_lock_take(lock, request, &result, err));
	*is_busy = result == FSL_LOCK_BUSY;
	if (*is_busy) {
		fsl_log(FSL_LOG_WARNING, area,
			"another run looks at this job, this one ends: root_path=\"%s\", pid=%lld, "
			"lock_wait_s=%g",
			request->job, (long long)lock->other, request->wait_s);
	}
	return FSL_OK;
}
