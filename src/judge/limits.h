/*
 * Every threshold of src/judge: value, unit, reason. Limits on the number of lines and on the size
 * of texts stand in the files that write the texts. "Advisor": the profiler's own advisor
 * (msprof-analyze) has the same limit, so that both tell the same about a capture. "By experience":
 * no experiment is known that tells the value from its half or its double.
 */
#ifndef FSL_JUDGE_LIMITS_H
#define FSL_JUDGE_LIMITS_H

#include <stdint.h>

/* Costs, as share of a step. */

/* Sends and receives of a pipeline, and transfers that break a rule of packets: less time in them
 * is not worth telling. By experience. */
#define FSL_JUDGE_TRANSFER_SHARE_MIN 0.05
/* All communication: below this its parts are not told. By experience. */
#define FSL_JUDGE_COMMUNICATION_SHARE_MIN 0.1

/* Single steps. */

/* Steps that are judged one by one: a bound on time. A capture has some tens. */
enum { FSL_JUDGE_STEPS_MAX = 512 };

/* Confidence of the verdict: 0 to 1, by experience. */

/* Each of several steps shows it. */
#define FSL_JUDGE_CONFIDENCE_ALL_STEPS 0.9
/* One step was captured: it may come and go. */
#define FSL_JUDGE_CONFIDENCE_ONE_STEP 0.8
/* No step shows it alone. */
#define FSL_JUDGE_CONFIDENCE_NO_STEP 0.5
/* Normal, but somebody was slow in some steps. */
#define FSL_JUDGE_CONFIDENCE_PASSING 0.7
/* Late, and nothing tells why; or a stage of one rank. */
#define FSL_JUDGE_CONFIDENCE_UNEXPLAINED 0.5

/* Host (dispatch_symptoms.c, judge_host.c). */

/* The longest gap, as share of the free time of a step: a pause, not the price of launches. By
 * experience. */
#define FSL_JUDGE_LONG_GAP_SHARE_MIN 0.2
/* ms per step: less would be told as 0.00 ms. */
#define FSL_JUDGE_TOLD_MS_MIN 0.005

/* Traffic (judge_traffic.c, judge_communication.c). Advisor. */

/* ns: an operator over RDMA that transfers for so long has waited for a retransmission. */
#define FSL_JUDGE_RETRANSMISSION_NS INT64_C(4000000000)
/* Bytes: smaller packets do not use the bandwidth of RDMA, and of links inside the node. */
#define FSL_JUDGE_RDMA_BYTES_MIN INT64_C(1000000)
#define FSL_JUDGE_SDMA_BYTES_MIN INT64_C(16000000)
/* Bytes: packets of a multiple of this are aligned. */
#define FSL_JUDGE_ALIGNED_BYTES 512
/* Share of the volume that may be in packets that break a rule. */
#define FSL_JUDGE_BROKEN_SHARE_MAX 0.2
/* GB/s: links inside a node below 0.8 of their 18 GB/s contend with kernels for the memory... */
#define FSL_JUDGE_CONTENDED_GB_PER_S (0.8 * 18.0)
/* ...if this share of communication runs beside kernels. */
#define FSL_JUDGE_OVERLAPPED_SHARE_MIN 0.1

/* Counters of the devices (judge_counters.c). By experience. */

/* Hits in the L2 cache that a rank lacks, of all accesses. */
#define FSL_JUDGE_CACHE_HITS_LACK_MIN 0.1
/* Share of packets: the network of training loses none. */
#define FSL_JUDGE_PACKETS_LOST_MIN 0.001
/* Share of the bandwidth used while anything moves: the port is full... */
#define FSL_JUDGE_PORT_FULL 0.9
/* ...and its peers use so much less. */
#define FSL_JUDGE_PORT_MORE_MIN 0.2
/* Latency of PCIe beyond that of the peers, as share. */
#define FSL_JUDGE_PCIE_MORE_MIN 0.5
/* Peers: beside fewer nobody knows who is usual. */
enum { FSL_JUDGE_COUNTER_PEERS_MIN = 2 };

/* Memory (judge_memory.c). */

/* Share of what is held that is not used: memory in pieces. By experience. */
#define FSL_JUDGE_UNUSED_SHARE_MIN 0.2

#endif
