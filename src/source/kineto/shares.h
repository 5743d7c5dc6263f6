/* Parts of the device's time, of the whole trace and of each step. */
#ifndef FSL_SOURCE_KINETO_SHARES_H
#define FSL_SOURCE_KINETO_SHARES_H

#include "source/kineto/events.h"

/* Fills rank->shares from the work, which is sorted and has its steps. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_tell_shares(struct fsl_kineto_events *events,
				       const struct fsl_profile_input *input,
				       struct fsl_error *err);

/* Kind of work of the device. */
enum fsl_device_work fsl_kineto_kind_of(const struct fsl_kineto_events *events,
					const struct fsl_kineto_work *work);

#endif
