/* The one table of kernels that communicate. */
#include "capture/comm_kernels.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct row {
	const char *begin, *end; /* of the type, in any case */
	enum fsl_comm_kernel kind;
	const char *group; /* begin of the name of the told group in which the kernels meet */
} rows[] = {
	{"MoeDistributeDispatch", "", FSL_COMM_KERNEL_FUSED, "e"},
	{"MoeDistributeCombine", "", FSL_COMM_KERNEL_FUSED, "e"},
	{"DispatchFFNCombine", "", FSL_COMM_KERNEL_FUSED, "e"},
	{"DispatchGmmCombine", "", FSL_COMM_KERNEL_FUSED, "e"},
	{"AllGatherMatmul", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"MatmulReduceScatter", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"MatmulAllReduce", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"InplaceMatmulAllReduce", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"QuantMatmulAllReduce", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"WeightQuantMatmulAllReduce", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"GroupedMatmulAllReduce", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"QuantAllReduce", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"QuantReduceScatter", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"MatmulAlltoAll", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"AlltoAllMatmul", "", FSL_COMM_KERNEL_FUSED, "tp"},
	{"AlltoAllAllGatherBatchMatmul", "", FSL_COMM_KERNEL_FUSED, "e"},
	{"BatchMatmulReduceScatterAlltoAll", "", FSL_COMM_KERNEL_FUSED, "e"},
	{"AlltoAllvGroupedMatmul", "", FSL_COMM_KERNEL_FUSED, "e"},
	{"GroupedMatmulAlltoAllv", "", FSL_COMM_KERNEL_FUSED, "e"},
	{"allreduce", "AicpuKernel", FSL_COMM_KERNEL_COLLECTIVE, NULL},
	{"allgather", "AicpuKernel", FSL_COMM_KERNEL_COLLECTIVE, NULL},
	{"alltoall", "AicpuKernel", FSL_COMM_KERNEL_COLLECTIVE, NULL},
	{"reducescatter", "AicpuKernel", FSL_COMM_KERNEL_COLLECTIVE, NULL},
	{"broadcast", "AicpuKernel", FSL_COMM_KERNEL_COLLECTIVE, NULL},
	{"scatter", "AicpuKernel", FSL_COMM_KERNEL_COLLECTIVE, NULL},
	{"reduce", "AicpuKernel", FSL_COMM_KERNEL_COLLECTIVE, NULL},
	{"send", "AicpuKernel", FSL_COMM_KERNEL_P2P, NULL},
	{"recv", "AicpuKernel", FSL_COMM_KERNEL_P2P, NULL},
	{"receive", "AicpuKernel", FSL_COMM_KERNEL_P2P, NULL},
	{"batchsendrecv", "AicpuKernel", FSL_COMM_KERNEL_P2P, NULL},
};
enum { ROWS_N = sizeof(rows) / sizeof(rows[0]) };

static const struct row *row_of(const char *type, size_t length)
{
	const char *behind = memrchr(type, '_', length);
	size_t n_head = behind != NULL ? (size_t)(behind + 1 - type) : 0;
	type += n_head;
	length -= n_head;
	for (size_t i = 0; i < ROWS_N && length > 0; i++) {
		/* Every kernel is asked for, and few begin with the same letter. */
		if (tolower((unsigned char)type[0]) != tolower((unsigned char)rows[i].begin[0])) {
			continue;
		}
		size_t n_begin = strlen(rows[i].begin), n_end = strlen(rows[i].end);
		if (length >= n_begin + n_end && strncasecmp(type, rows[i].begin, n_begin) == 0 &&
		    strncasecmp(type + length - n_end, rows[i].end, n_end) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

static const struct fsl_profile_found_comm *found_of(const struct fsl_profile_found_comms *found,
						     const char *type, size_t length)
{
	for (size_t i = 0; found != NULL && i < found->n_items; i++) {
		const char *known = found->items[i].type;
		if (strncmp(known, type, length) == 0 && known[length] == '\0') {
			return &found->items[i];
		}
	}
	return NULL;
}

enum fsl_comm_kernel fsl_comm_kernel_of(const struct fsl_profile_found_comms *found,
					const char *type, size_t length)
{
	const struct row *row = row_of(type, length);
	return row != NULL                             ? row->kind
	       : found_of(found, type, length) != NULL ? FSL_COMM_KERNEL_FUSED
						       : FSL_COMM_KERNEL_NONE;
}

/* "tp", or "exp" and "ep" for "e". Groups of data parallelism ("edp", "exp_dp") hold copies, which
 * do not exchange rows. NULL unless there is exactly one. */
static const struct fsl_profile_parallel_group *told_group(const struct fsl_profile_info *info,
							   const char *begin)
{
	const struct fsl_profile_parallel_group *found = NULL;
	for (size_t g = 0; g < info->n_groups; g++) {
		const char *name = info->groups[g].name;
		if (strncasecmp(name, begin, strlen(begin)) != 0 ||
		    strcasestr(name, "dp") != NULL || strchr(name, '_') != NULL ||
		    info->groups[g].n_ranks < 2) {
			continue;
		}
		if (found != NULL) {
			return NULL;
		}
		found = &info->groups[g];
	}
	return found;
}

#define CALL_GROUP "kernels of "

bool fsl_profile_is_call_group(const char *name)
{
	return strncmp(name, CALL_GROUP, sizeof(CALL_GROUP) - 1) == 0;
}

void fsl_profile_call_group(char text[FSL_CALL_GROUP_BYTES],
			    const struct fsl_profile_cluster *cluster,
			    const struct fsl_profile_rank *rank, const char *type)
{
	const struct row *row = row_of(type, strlen(type));
	const struct fsl_profile_found_comm *found = found_of(rank->found, type, strlen(type));
	const char *group = row != NULL ? row->group : found != NULL ? found->group : NULL;
	const struct fsl_profile_parallel_group *told =
		group != NULL ? told_group(&rank->info, group) : NULL;
	size_t stage = fsl_profile_stage_of(cluster, rank->rank);
	if (told != NULL) {
		(void)snprintf(text, FSL_CALL_GROUP_BYTES, CALL_GROUP "group %s", told->hash);
	} else if (stage != SIZE_MAX) {
		(void)snprintf(text, FSL_CALL_GROUP_BYTES, CALL_GROUP "stage %zu", stage);
	} else {
		(void)snprintf(text, FSL_CALL_GROUP_BYTES, CALL_GROUP "all ranks");
	}
}
