/* Time that the collectives of a rank waited for the signals of each member of their groups. */
#ifndef FSL_SOURCE_ASCEND_SIGNAL_WAITS_H
#define FSL_SOURCE_ASCEND_SIGNAL_WAITS_H

#include "capture/capture.h"

/* Index over rank->waits; start as {.rank = rank}. */
struct fsl_signal_waits {
	struct fsl_profile_rank *rank;
	struct fsl_strpool *keys; /* of rank->waits from @first on, in their order */
	size_t first;
};

/* True for tasks that wait for a signal: "Notify_Wait". */
bool fsl_is_signal_wait(const char *name, size_t length);
/* Adds to a member's sum; ignores impossible places and too many members. FSL_ERR_MEMORY only. */
enum fsl_status fsl_signal_waits_add(struct fsl_signal_waits *waits, uint32_t group_id,
				     int64_t place, int64_t wait_ns, struct fsl_error *err);
/* Group of the only collective that runs at @time_ns; FSL_STR_NONE if none or several run. */
uint32_t fsl_signal_waits_group_at(const struct fsl_profile_rank *rank, int64_t time_ns);
void fsl_signal_waits_fini(struct fsl_signal_waits *waits);

#endif
