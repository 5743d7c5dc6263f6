/* Sums by name and shape while the trace is read, means of one call in the end. */
#include "source/kineto/operations.h"

#include <string.h>

#include "base/try.h"

enum fsl_status fsl_kineto_add_operations(struct fsl_kineto_events *events,
					  const struct fsl_trace_event *event,
					  const struct fsl_kineto_work *work, struct fsl_error *err)
{
	const uint32_t key[2] = {work->whole_id, work->shape_id};
	int64_t flops = event->args[FSL_KINETO_FLOPS], bytes = event->args[FSL_KINETO_MOVED_BYTES];
	uint32_t id = 0;
	if (work->category != FSL_KINETO_KERNEL || flops < 0 || bytes < 0) {
		return FSL_OK;
	}
	if (events->operation_keys == NULL &&
	    (events->operation_keys = fsl_strpool_create()) == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
				(int)events->rank->rank);
	}
	FSL_TRY(fsl_strpool_intern(events->operation_keys, (const char *)key, sizeof(key), &id,
				   err));
	if (id == events->n_operations) {
		const struct fsl_kineto_operations none = {.name_id = work->whole_id,
							   .shape_id = work->shape_id};
		FSL_TRY(FSL_APPEND(events, operations, &none, err));
	}
	struct fsl_kineto_operations *sums = &events->operations[id];
	sums->count++;
	sums->flops += (double)flops;
	sums->bytes += (double)bytes;
	return FSL_OK;
}

enum fsl_status fsl_kineto_tell_operations(const struct fsl_kineto_events *events,
					   struct fsl_function_times *times, struct fsl_error *err)
{
	for (size_t i = 0; i < events->n_operations; i++) {
		const struct fsl_kineto_operations *sums = &events->operations[i];
		uint32_t id = 0;
		FSL_TRY(fsl_function_find(times, FSL_FUNCTION_COMPUTE, sums->name_id,
					  sums->shape_id, FSL_STR_NONE, &id, err));
		times->built[id].function.flops = sums->flops / (double)sums->count;
		times->built[id].function.bytes = sums->bytes / (double)sums->count;
	}
	return FSL_OK;
}
