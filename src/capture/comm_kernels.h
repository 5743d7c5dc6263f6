/* Kernels that communicate, by the names that the profiler gives their types. */
#ifndef FSL_CAPTURE_COMM_KERNELS_H
#define FSL_CAPTURE_COMM_KERNELS_H

#include "capture/cluster.h"

enum fsl_comm_kernel {
	FSL_COMM_KERNEL_NONE,
	/* Computes and communicates in one kernel (MC2): what a call takes beyond the shortest of
	 * its instance is waiting. */
	FSL_COMM_KERNEL_FUSED,
	/* Runs a collective on AI CPUs: it communicates and computes nothing. */
	FSL_COMM_KERNEL_COLLECTIVE,
	/* The same for a send or receive, whose peer the name does not tell. */
	FSL_COMM_KERNEL_P2P,
};

/* Kind of a type ("MoeDistributeDispatchV2", "allreduceAicpuKernel"), or of a name that ends in its
 * type behind "_" ("aclnnMm_MatMulV2"), as captures of level 0 have. Types of @found are fused
 * kernels, too; NULL: none. */
enum fsl_comm_kernel fsl_comm_kernel_of(const struct fsl_profile_found_comms *found,
					const char *type, size_t length);

enum { FSL_CALL_GROUP_BYTES = 96 };
/*
 * Name of the group in which fused kernels and collectives on AI CPUs of the rank meet: the told
 * group of experts or of tensor parallelism, else the ranks of the stage, else all.
 */
void fsl_profile_call_group(char text[FSL_CALL_GROUP_BYTES],
			    const struct fsl_profile_cluster *cluster,
			    const struct fsl_profile_rank *rank, const char *type);

/* True for such a name. */
bool fsl_profile_is_call_group(const char *name);

#endif
