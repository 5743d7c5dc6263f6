/*
 * Tells how transfers are made up: retransmissions, packets that are too small or not aligned, and
 * slow transfers while kernels use the memory, too. Limits are those of the profiler's own advisor.
 */
#include <stdio.h>

#include "base/try.h"
#include "blame/limits.h"
#include "blame/traffic.h"
#include "judge/finding.h"

enum { TEXT_MAX = 640 };

static enum fsl_status tell_packets(struct fsl_profile_findings *findings,
				    enum fsl_packet_rule rule, const struct fsl_broken_rule *broken,
				    struct fsl_error *err)
{
	static const struct {
		enum fsl_code code;
		const char *what, *advice;
	} texts[] = {
		[FSL_RULE_LARGE_RDMA] =
			{FSL_CODE_SMALL_PACKETS, "RDMA packets below 1 MB",
			 "larger buckets or batches, or fewer shards, make larger packets"},
		[FSL_RULE_LARGE_INSIDE] =
			{FSL_CODE_SMALL_PACKETS, "packets below 16 MB inside the node",
			 "larger buckets or batches, or fewer shards, make larger packets"},
		[FSL_RULE_ALIGNED] =
			{FSL_CODE_UNALIGNED_PACKETS, "packets that are no multiple of 512 bytes",
			 "pad buffers of collectives to multiples of 512 bytes per rank"},
	};
	char what[TEXT_MAX];
	(void)snprintf(what, sizeof(what),
		       "%zu ranks move more than a fifth in %s; on rank %d such operators (%zu) "
		       "transfer for %.1f of %.1f ms a step",
		       broken->n_ranks, texts[rule].what, (int)broken->worst, broken->n_ops,
		       broken->transfer_ms, broken->step_ms);
	struct fsl_profile_finding finding = fsl_profile_finding_of(texts[rule].code);
	finding.what = what;
	finding.advice = texts[rule].advice;
	(void)fsl_profile_finding_add_fact(&finding, "transfer", broken->transfer_ms, "ms");
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_RANKS, (double)broken->n_ranks);
	return fsl_profile_findings_add(findings, &finding, err);
}

/* One finding per rank: the operator that transferred longest. */
static enum fsl_status tell_retransmission(struct fsl_profile_findings *findings,
					   const struct fsl_retransmission *found,
					   struct fsl_error *err)
{
	char what[TEXT_MAX];
	double ms = (double)found->longest_ns / FSL_NS_PER_MS;
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_RDMA_RETRANSMISSION);
	(void)snprintf(what, sizeof(what),
		       "rank %d transfers for %.0f ms over RDMA in %s, longer than the %d ms after "
		       "which packets are sent again (%zu such operators)",
		       (int)found->rank->rank, ms,
		       fsl_strpool_text(found->rank->names, found->longest->name_id),
		       (int)(FSL_RETRANSMISSION_NS / 1000000), found->n);
	finding.rank = found->rank->rank;
	finding.step = found->longest->step;
	finding.what = what;
	finding.advice = "look for lost packets: counters of the port, flow control of the switch, "
			 "HCCL_RDMA_TIMEOUT and HCCL_RDMA_RETRY_CNT";
	(void)fsl_profile_finding_add_fact(&finding, "transfer", ms, "ms");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell_contention(struct fsl_profile_findings *findings,
				       const struct fsl_contention *found, struct fsl_error *err)
{
	char what[TEXT_MAX];
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_BANDWIDTH_CONTENTION);
	(void)snprintf(
		what, sizeof(what),
		"%zu ranks move less than %.1f GB/s inside the node, rank %d %.1f GB/s, while "
		"%.0f %% of its communication runs beside kernels: they may share the memory's "
		"bandwidth",
		found->n_ranks, FSL_CONTENDED_GB_PER_S, (int)found->slowest, found->gb_per_s,
		100.0 * found->overlapped_share);
	finding.what = what;
	finding.advice =
		"compare with a step in which communication is not overlapped; the limit is "
		"that of links of 18 GB/s";
	(void)fsl_profile_finding_add_fact(&finding, "bandwidth", found->gb_per_s, "GB/s");
	(void)fsl_profile_finding_add_fact(&finding, "overlapped", found->overlapped_share,
					   "share");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell_all(struct fsl_profile_findings *findings,
				const struct fsl_traffic *found, struct fsl_error *err)
{
	for (size_t k = 0; k < FSL_PACKET_RULES_N; k++) {
		if (found->broken[k].n_ranks > 0) {
			FSL_TRY(tell_packets(findings, (enum fsl_packet_rule)k, &found->broken[k],
					     err));
		}
	}
	for (size_t i = 0; i < found->n_retransmissions; i++) {
		FSL_TRY(tell_retransmission(findings, &found->retransmissions[i], err));
	}
	return found->contention.n_ranks > 0 ? tell_contention(findings, &found->contention, err)
					     : FSL_OK;
}

enum fsl_status fsl_profile_judge_traffic(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err)
{
	struct fsl_traffic found;
	FSL_TRY(fsl_traffic_judge(&found, facts->profile, err));
	enum fsl_status status = tell_all(findings, &found, err);
	fsl_traffic_fini(&found);
	return status;
}
