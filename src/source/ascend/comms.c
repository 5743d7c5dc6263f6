/* Names, steps and order of communication operators. */
#include "source/ascend/comms.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

bool fsl_profile_is_p2p(const char *name, size_t length)
{
	static const char *const heads[] = {"hcom_send", "hcom_receive", "hcom_batchsendrecv"};
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		size_t n_head = strlen(heads[i]);
		if (length >= n_head && strncasecmp(name, heads[i], n_head) == 0) {
			return true;
		}
	}
	return false;
}

enum fsl_task_kind fsl_profile_kernel_task(const struct fsl_profile_rank *rank, const char *type,
					   size_t length)
{
	switch (fsl_comm_kernel_of(rank->found, type, length)) {
	case FSL_COMM_KERNEL_FUSED:
		return FSL_TASK_FUSED;
	case FSL_COMM_KERNEL_COLLECTIVE:
	case FSL_COMM_KERNEL_P2P:
		return FSL_TASK_ON_CPU;
	case FSL_COMM_KERNEL_NONE:
		break;
	}
	return FSL_TASK_COMPUTE;
}

enum fsl_status fsl_profile_add_call(struct fsl_profile_rank *rank, const struct fsl_task *task,
				     uint32_t type_id, uint32_t kernels_idx, bool *is_full,
				     struct fsl_error *err)
{
	enum { CALLS_MAX = 1 << 20 }; /* as many as operators */
	const char *type = fsl_strpool_text(rank->names, type_id);
	*is_full = rank->n_calls == CALLS_MAX;
	if (*is_full ||
	    fsl_comm_kernel_of(rank->found, type, strlen(type)) == FSL_COMM_KERNEL_P2P) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(rank->calls, rank->calls_capacity, rank->n_calls + 1, err));
	rank->calls[rank->n_calls++] =
		(struct fsl_profile_call){.step = task->step,
					  .begin_ns = task->begin_ns,
					  .elapse_ns = task->end_ns - task->begin_ns,
					  .type_id = type_id,
					  .kernels_idx = kernels_idx};
	return FSL_OK;
}

int64_t fsl_profile_step_from_text(const char *text, size_t length)
{
	int64_t step = 0;
	if (length >= 4 && strncasecmp(text, "step", 4) == 0) {
		text += 4;
		length -= 4;
	}
	bool is_number = length > 0 && text[0] >= '0' && text[0] <= '9' &&
			 fsl_parse_i64(text, length, &step);
	return is_number ? step : FSL_STEP_ABSENT;
}

enum fsl_status fsl_profile_split_op(struct fsl_profile_rank *rank, const char *text, size_t length,
				     struct fsl_profile_op_name *out, struct fsl_error *err)
{
	const char *at = memrchr(text, '@', length);
	size_t n_name = at != NULL ? (size_t)(at - text) : length;
	size_t n_group = at != NULL ? length - n_name - 1 : 0;
	bool is_good =
		n_name > 0 && (at == NULL || n_group > 0) && memchr(text, '\0', length) == NULL;
	*out = (struct fsl_profile_op_name){FSL_STR_NONE, FSL_STR_NONE, is_good};
	if (!is_good) {
		return FSL_OK;
	}
	FSL_TRY(fsl_strpool_intern(rank->names, text, n_name, &out->name_id, err));
	return at != NULL ? fsl_strpool_intern(rank->names, at + 1, n_group, &out->group_id, err)
			  : FSL_OK;
}
