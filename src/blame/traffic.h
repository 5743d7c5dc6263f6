/* Transfers of a capture that could be faster by how they are made up: which ranks, and how long.
 */
#ifndef FSL_BLAME_TRAFFIC_H
#define FSL_BLAME_TRAFFIC_H

#include "capture/capture.h"

enum fsl_packet_rule {
	FSL_RULE_LARGE_RDMA,   /* packets over RDMA are large enough for its bandwidth */
	FSL_RULE_LARGE_INSIDE, /* the same over links inside the node */
	FSL_RULE_ALIGNED,      /* packets inside the node are aligned */
	FSL_PACKET_RULES_N
};

/* Ranks whose packets break a rule in operators that take long, and the rank that they take
 * longest.
 */
struct fsl_broken_rule {
	size_t n_ranks; /* 0: the others are not set */
	int32_t worst;
	size_t n_ops; /* of that rank */
	double transfer_ms, step_ms;
};

/* A rank some of whose transfers over RDMA take so long that packets were sent again. */
struct fsl_retransmission {
	const struct fsl_profile_rank *rank;
	const struct fsl_profile_comm *longest;
	int64_t longest_ns;
	size_t n; /* such transfers */
};

/* Ranks that move little inside the node while kernels use the memory, too. */
struct fsl_contention {
	size_t n_ranks; /* 0: the others are not set */
	int32_t slowest;
	double gb_per_s, overlapped_share; /* of that rank */
};

struct fsl_traffic {
	struct fsl_arena arena;
	struct fsl_broken_rule broken[FSL_PACKET_RULES_N];
	struct fsl_retransmission *retransmissions; /* by rank */
	size_t n_retransmissions;
	struct fsl_contention contention;
};

/* Fills @out (overwritten). Fails with FSL_ERR_MEMORY only; @out is then empty. */
enum fsl_status fsl_traffic_judge(struct fsl_traffic *out, const struct fsl_profile *profile,
				  struct fsl_error *err);
void fsl_traffic_fini(struct fsl_traffic *traffic);

#endif
