/*
 * How transfers are made up: retransmissions, packets that are too small or not aligned, and slow
 * transfers while kernels use the memory, too. Limits are those of the profiler's own advisor.
 */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "capture/step_rows.h"
#include "judge/finding.h"
#include "judge/limits.h"

enum { TEXT_MAX = 640 };
enum rule { SMALL_RDMA, SMALL_SDMA, UNALIGNED, RULES_N };

/* Operators of one rank that break a rule, per step. */
struct broken {
	double transit_ms[RULES_N];
	size_t n[RULES_N];
};

/* The rank for which a rule costs most, and how many it concerns. */
struct worst {
	int32_t rank;
	size_t n_ranks, n_ops;
	double transit_ms, step_ms;
};

static bool is_inside_node(enum fsl_profile_transport transport)
{
	return transport == FSL_TRANSPORT_HCCS || transport == FSL_TRANSPORT_PCIE ||
	       transport == FSL_TRANSPORT_SIO || transport == FSL_TRANSPORT_HCCS_SW;
}

/* Shares of an operator's volume; NaN when it moves nothing that way. */
static void measure_op(double shares[RULES_N], const struct fsl_profile_rank *rank,
		       const struct fsl_profile_comm *comm)
{
	double volume[RULES_N] = {0.0}, bad[RULES_N] = {0.0};
	for (uint32_t t = 0; t < comm->n_traffic; t++) {
		const struct fsl_profile_traffic *traffic = &rank->traffic[comm->traffic_begin + t];
		bool is_rdma = traffic->transport == FSL_TRANSPORT_RDMA;
		if (!is_rdma && !is_inside_node(traffic->transport)) {
			continue;
		}
		enum rule small = is_rdma ? SMALL_RDMA : SMALL_SDMA;
		int64_t small_bytes = is_rdma ? FSL_JUDGE_RDMA_BYTES_MIN : FSL_JUDGE_SDMA_BYTES_MIN;
		for (uint32_t p = 0; p < traffic->n_packets; p++) {
			const struct fsl_profile_packets *packets =
				&rank->packets[traffic->packets_begin + p];
			double bytes = (double)packets->n_bytes * (double)packets->count;
			volume[small] += bytes;
			bad[small] += packets->n_bytes < small_bytes ? bytes : 0.0;
			volume[UNALIGNED] += is_rdma ? 0.0 : bytes;
			bad[UNALIGNED] +=
				!is_rdma && packets->n_bytes % FSL_JUDGE_ALIGNED_BYTES != 0 ? bytes
											    : 0.0;
		}
	}
	for (size_t k = 0; k < RULES_N; k++) {
		shares[k] = volume[k] > 0.0 ? bad[k] / volume[k] : NAN;
	}
}

static struct broken measure_rank(const struct fsl_profile_rank *rank)
{
	struct broken broken = {0};
	double n_steps = (double)fsl_profile_n_steps(rank);
	for (size_t c = 0; c < rank->n_comms; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		double shares[RULES_N];
		measure_op(shares, rank, comm);
		for (size_t k = 0; k < RULES_N; k++) {
			if (shares[k] > FSL_JUDGE_BROKEN_SHARE_MAX && comm->transit_ns > 0) {
				broken.n[k]++;
				broken.transit_ms[k] +=
					(double)comm->transit_ns / FSL_NS_PER_MS / n_steps;
			}
		}
	}
	return broken;
}

static enum fsl_status add_rule(struct fsl_profile_findings *findings, enum rule rule,
				const struct worst *worst, struct fsl_error *err)
{
	static const struct {
		enum fsl_code code;
		const char *what, *advice;
	} texts[] = {
		[SMALL_RDMA] = {FSL_CODE_SMALL_PACKETS, "RDMA packets below 1 MB",
				"larger buckets or batches, or fewer shards, make larger packets"},
		[SMALL_SDMA] = {FSL_CODE_SMALL_PACKETS, "packets below 16 MB inside the node",
				"larger buckets or batches, or fewer shards, make larger packets"},
		[UNALIGNED] = {FSL_CODE_UNALIGNED_PACKETS,
			       "packets that are no multiple of 512 bytes",
			       "pad buffers of collectives to multiples of 512 bytes per rank"},
	};
	char what[TEXT_MAX];
	(void)snprintf(what, sizeof(what),
		       "%zu ranks move more than a fifth in %s; on rank %d such operators (%zu) "
		       "transfer for %.1f of %.1f ms a step",
		       worst->n_ranks, texts[rule].what, (int)worst->rank, worst->n_ops,
		       worst->transit_ms, worst->step_ms);
	struct fsl_profile_finding finding = fsl_profile_finding_of(texts[rule].code);
	finding.what = what;
	finding.advice = texts[rule].advice;
	(void)fsl_profile_finding_add_fact(&finding, "transfer", worst->transit_ms, "ms");
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_RANKS, (double)worst->n_ranks);
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status judge_packets(struct fsl_profile_findings *findings,
				     const struct fsl_profile *profile, struct fsl_error *err)
{
	struct worst worst[RULES_N] = {{0}};
	enum fsl_status status = FSL_OK;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		struct broken broken = measure_rank(rank);
		double step_ms = fsl_profile_step_ms(rank);
		for (size_t k = 0; k < RULES_N; k++) {
			if (!(broken.transit_ms[k] >= FSL_JUDGE_TRANSFER_SHARE_MIN * step_ms)) {
				continue;
			}
			worst[k].n_ranks++;
			if (broken.transit_ms[k] > worst[k].transit_ms) {
				worst[k].rank = rank->rank;
				worst[k].n_ops = broken.n[k];
				worst[k].transit_ms = broken.transit_ms[k];
				worst[k].step_ms = step_ms;
			}
		}
	}
	for (size_t k = 0; k < RULES_N && status == FSL_OK; k++) {
		if (worst[k].n_ranks > 0) {
			status = add_rule(findings, (enum rule)k, &worst[k], err);
		}
	}
	return status;
}

/* One finding per rank: the operator that transferred longest. */
static enum fsl_status judge_retransmission(struct fsl_profile_findings *findings,
					    const struct fsl_profile_rank *rank,
					    struct fsl_error *err)
{
	const struct fsl_profile_comm *longest = NULL;
	int64_t longest_ns = FSL_JUDGE_RETRANSMISSION_NS;
	size_t n = 0;
	for (size_t c = 0; c < rank->n_comms; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		for (uint32_t t = 0; t < comm->n_traffic; t++) {
			const struct fsl_profile_traffic *traffic =
				&rank->traffic[comm->traffic_begin + t];
			if (traffic->transport != FSL_TRANSPORT_RDMA ||
			    traffic->time_ns <= FSL_JUDGE_RETRANSMISSION_NS) {
				continue;
			}
			n++;
			if (traffic->time_ns > longest_ns) {
				longest_ns = traffic->time_ns;
				longest = comm;
			}
		}
	}
	if (longest == NULL) {
		return FSL_OK;
	}
	char what[TEXT_MAX];
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_RDMA_RETRANSMISSION);
	(void)snprintf(what, sizeof(what),
		       "rank %d transfers for %.0f ms over RDMA in %s, longer than the %d ms after "
		       "which packets are sent again (%zu such operators)",
		       (int)rank->rank, (double)longest_ns / FSL_NS_PER_MS,
		       fsl_strpool_text(rank->names, longest->name_id),
		       (int)(FSL_JUDGE_RETRANSMISSION_NS / 1000000), n);
	finding.rank = rank->rank;
	finding.step = longest->step;
	finding.what = what;
	finding.advice = "look for lost packets: counters of the port, flow control of the switch, "
			 "HCCL_RDMA_TIMEOUT and HCCL_RDMA_RETRY_CNT";
	(void)fsl_profile_finding_add_fact(&finding, "transfer", (double)longest_ns / FSL_NS_PER_MS,
					   "ms");
	return fsl_profile_findings_add(findings, &finding, err);
}

/* Bandwidth inside the node of all operators of a rank; NaN: nothing was moved there. */
static double bandwidth_inside(const struct fsl_profile_rank *rank)
{
	double bytes = 0.0, ns = 0.0;
	for (size_t t = 0; t < rank->n_traffic; t++) {
		const struct fsl_profile_traffic *traffic = &rank->traffic[t];
		if (is_inside_node(traffic->transport) && traffic->n_bytes > 0 &&
		    traffic->time_ns > 0) {
			bytes += (double)traffic->n_bytes;
			ns += (double)traffic->time_ns;
		}
	}
	return ns > 0.0 ? bytes / ns : NAN;
}

static enum fsl_status judge_contention(struct fsl_profile_findings *findings,
					const struct fsl_profile *profile, struct fsl_error *err)
{
	int32_t slowest = -1;
	size_t n = 0;
	double least = INFINITY, share = NAN;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		double overlapped_ms = fsl_profile_part_ms(rank, FSL_PART_OVERLAPPED);
		double all_ms = fsl_profile_part_ms(rank, FSL_PART_COMMUNICATION);
		double gb_per_s = bandwidth_inside(rank);
		if (gb_per_s < FSL_JUDGE_CONTENDED_GB_PER_S &&
		    overlapped_ms > FSL_JUDGE_OVERLAPPED_SHARE_MIN * all_ms) {
			n++;
			if (gb_per_s < least) {
				least = gb_per_s;
				slowest = rank->rank;
				share = overlapped_ms / all_ms;
			}
		}
	}
	if (n == 0) {
		return FSL_OK;
	}
	char what[TEXT_MAX];
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_BANDWIDTH_CONTENTION);
	(void)snprintf(
		what, sizeof(what),
		"%zu ranks move less than %.1f GB/s inside the node, rank %d %.1f GB/s, while "
		"%.0f %% of its communication runs beside kernels: they may share the memory's "
		"bandwidth",
		n, FSL_JUDGE_CONTENDED_GB_PER_S, (int)slowest, least, 100.0 * share);
	finding.what = what;
	finding.advice =
		"compare with a step in which communication is not overlapped; the limit is "
		"that of links of 18 GB/s";
	(void)fsl_profile_finding_add_fact(&finding, "bandwidth", least, "GB/s");
	(void)fsl_profile_finding_add_fact(&finding, "overlapped", share, "share");
	return fsl_profile_findings_add(findings, &finding, err);
}

enum fsl_status fsl_profile_judge_traffic(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err)
{
	enum fsl_status status = judge_packets(findings, facts->profile, err);
	for (size_t r = 0; r < facts->profile->n_ranks && status == FSL_OK; r++) {
		status = judge_retransmission(findings, &facts->profile->ranks[r], err);
	}
	return status == FSL_OK ? judge_contention(findings, facts->profile, err) : status;
}
