/*
 * A process that puts things back when this one ends, however it ends: kill -9, too. The guard
 * waits at the end of a pipe that only this process holds open.
 */
#ifndef FSL_RECORD_GUARD_H
#define FSL_RECORD_GUARD_H

#include <failslow/error.h>

struct fsl_guard {
	int alive; /* closed: this process has ended */
	int done;  /* the guard tells here what it could not put back; its end: it is done */
};

/*
 * Starts a guard. When this process ends or calls fsl_guard_end(), the guard calls @put_back once,
 * and ends. The guard is no child of this process, ignores signals that can be ignored, and holds
 * no standard streams; the descriptors of @keep stay open in it (-1: none). Call before threads
 * start. FSL_ERR_IO.
 */
enum fsl_status fsl_guard_begin(struct fsl_guard *guard,
				enum fsl_status (*put_back)(void *context, struct fsl_error *err),
				void *context, int keep, struct fsl_error *err);
/* Lets the guard put things back and waits until it has. FSL_ERR_IO tells what it could not. */
enum fsl_status fsl_guard_end(struct fsl_guard *guard, struct fsl_error *err);

#endif
