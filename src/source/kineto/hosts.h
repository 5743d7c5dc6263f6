/* Operators, calls and loading of data of all threads in one order, for the critical path. */
#ifndef FSL_SOURCE_KINETO_HOSTS_H
#define FSL_SOURCE_KINETO_HOSTS_H

#include "capture/critical_path.h"
#include "source/kineto/events.h"

/* An operator or the loading of data of one thread. */
struct fsl_kineto_host_thread {
	struct fsl_frame_cursor cursor;
	struct fsl_path_host newest;
};

struct fsl_kineto_hosts {
	const struct fsl_kineto_events *events; /* frames are settled, calls sorted by begin */
	int64_t begin_ns, end_ns;               /* hosts that begin in this time are wanted */
	/* Effect of a call on the device. */
	void (*set_action)(const void *context, const struct fsl_kineto_call *call,
			   struct fsl_path_host *host);
	const void *context;

	struct fsl_kineto_host_thread *threads;
	bool *has_autograd; /* by thread */
	size_t n_threads;
	uint32_t *heap; /* of threads that have hosts left */
	size_t n_heap;
	struct fsl_kineto_calls calls;
	size_t next_call;           /* in the events */
	struct fsl_path_host *ties; /* calls that begin at one time, in the order of hosts */
	size_t n_ties, ties_capacity, next_tie;
};

/* Begins a walk for which the first members are set. FSL_ERR_MEMORY only; call the end then, too.
 */
enum fsl_status fsl_kineto_hosts_begin(struct fsl_kineto_hosts *hosts, struct fsl_error *err);
/* Tells the next host by fsl_path_host_compare(); *has is false behind the last. FSL_ERR_MEMORY. */
enum fsl_status fsl_kineto_hosts_next(void *hosts, struct fsl_path_host *host, bool *has,
				      struct fsl_error *err);
void fsl_kineto_hosts_end(struct fsl_kineto_hosts *hosts);

#endif
