/* What the readers of communication operators share: names, steps, order. */
#ifndef FSL_SOURCE_ASCEND_COMMS_H
#define FSL_SOURCE_ASCEND_COMMS_H

#include "capture/capture.h"

/* True for names of point-to-point operators: hcom_send, hcom_receive and hcom_batchSendRecv in any
 * case, with whatever behind. */
bool fsl_profile_is_p2p(const char *name, size_t length);
/* Number in "step50" or "50"; FSL_STEP_ABSENT for "step" and everything else. */
int64_t fsl_profile_step_from_text(const char *text, size_t length);
/* "hcom_allReduce__586_0_1@17522" in its parts. */
struct fsl_profile_op_name {
	uint32_t name_id;
	uint32_t group_id; /* text behind the last "@"; FSL_STR_NONE without one */
	bool is_good;      /* false: one of them is empty or holds a NUL; both ids are none */
};
/* Interns them in rank->names. */
enum fsl_status fsl_profile_split_op(struct fsl_profile_rank *rank, const char *text, size_t length,
				     struct fsl_profile_op_name *out, struct fsl_error *err);
/* Sorts rank->comms by step, begin, name and group, for readers that added some. */
void fsl_profile_sort_comms(struct fsl_profile_rank *rank);

#endif
