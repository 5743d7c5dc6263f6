/* Single events of a trace, for timelines. */
#ifndef FSL_SOURCE_KINETO_KEEP_H
#define FSL_SOURCE_KINETO_KEEP_H

#include "source/kineto/events.h"

/* Adds work of the device, calls and functions of the host to rank->kept; does nothing if rows are
 * not kept. Steps of the work must be known. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_keep_rows(const struct fsl_kineto_events *events, struct fsl_error *err);

#endif
