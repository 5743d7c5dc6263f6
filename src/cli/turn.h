/* One run at a time looks at a job and writes to one place. */
#ifndef FSL_CLI_TURN_H
#define FSL_CLI_TURN_H

#include <stdbool.h>

#include "state/job_lock.h"

enum { FSL_LOCK_WAIT_S_MAX = 86400 }; /* of --lock-wait; a day, as lock_wait_s */

/*
 * Keeps a run that writes apart from another run over the same job. *is_busy: the other run goes on
 * and this one is to end, which a warning in @area tells. It found nothing wrong: the other run
 * tells what there is to tell. Release @lock in any case. FSL_ERR_MEMORY.
 */
enum fsl_status fsl_turn_take(struct fsl_job_lock *lock, const struct fsl_lock_request *request,
			      const char *area, bool *is_busy, struct fsl_error *err);

#endif
