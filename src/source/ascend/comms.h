/* Shared by the readers of communication operators: names, steps, order. */
#ifndef FSL_SOURCE_ASCEND_COMMS_H
#define FSL_SOURCE_ASCEND_COMMS_H

#include "capture/breakdown.h"
#include "capture/comm_kernels.h"

/* True for names of point-to-point operators: hcom_send, hcom_receive and hcom_batchSendRecv in any
 * case, with any ending. */
bool fsl_profile_is_p2p(const char *name, size_t length);
/* Number in "step50" or "50"; FSL_STEP_ABSENT for "step" and every other text. */
int64_t fsl_profile_step_from_text(const char *text, size_t length);
/* The parts of a name: "hcom_allReduce__586_0_1@17522". */
struct fsl_profile_op_name {
	uint32_t name_id;
	uint32_t group_id; /* text behind the last "@"; FSL_STR_NONE if there is none */
	bool is_good;      /* false: a part is empty or holds a NUL; the ids are FSL_STR_NONE */
};
/* Splits a name and interns its parts in rank->names. FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_profile_split_op(struct fsl_profile_rank *rank, const char *text, size_t length,
				     struct fsl_profile_op_name *out, struct fsl_error *err);
/* Kind of task of a kernel of this type. */
enum fsl_task_kind fsl_profile_kernel_task(const struct fsl_profile_rank *rank, const char *type,
					   size_t length);
/* Adds a call of a kernel that communicates to rank->calls; sends and receives on AI CPUs are none,
 * as their peer is unknown. *is_full: there are a million already. FSL_ERR_MEMORY only. */
enum fsl_status fsl_profile_add_call(struct fsl_profile_rank *rank, const struct fsl_task *task,
				     uint32_t type_id, uint32_t kernels_idx, bool *is_full,
				     struct fsl_error *err);
#endif
