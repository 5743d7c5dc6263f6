/* Packets and transfers of each rank, beside the limits of the profiler's own advisor. */
#include "blame/traffic.h"

#include <math.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/limits.h"
#include "capture/step_rows.h"

/* Operators of one rank that break a rule, per step. */
struct broken {
	double transit_ms[FSL_PACKET_RULES_N];
	size_t n[FSL_PACKET_RULES_N];
};

static bool is_inside_node(enum fsl_profile_transport transport)
{
	return transport == FSL_TRANSPORT_HCCS || transport == FSL_TRANSPORT_PCIE ||
	       transport == FSL_TRANSPORT_SIO || transport == FSL_TRANSPORT_HCCS_SW;
}

/* Shares of an operator's volume; NaN if it moves nothing that way. */
static void measure_op(double shares[FSL_PACKET_RULES_N], const struct fsl_profile_rank *rank,
		       const struct fsl_profile_comm *comm)
{
	double volume[FSL_PACKET_RULES_N] = {0.0}, bad[FSL_PACKET_RULES_N] = {0.0};
	for (uint32_t t = 0; t < comm->n_traffic; t++) {
		const struct fsl_profile_traffic *traffic = &rank->traffic[comm->traffic_begin + t];
		bool is_rdma = traffic->transport == FSL_TRANSPORT_RDMA;
		if (!is_rdma && !is_inside_node(traffic->transport)) {
			continue;
		}
		enum fsl_packet_rule small = is_rdma ? FSL_RULE_LARGE_RDMA : FSL_RULE_LARGE_INSIDE;
		int64_t small_bytes = is_rdma ? FSL_RDMA_BYTES_MIN : FSL_SDMA_BYTES_MIN;
		for (uint32_t p = 0; p < traffic->n_packets; p++) {
			const struct fsl_profile_packets *packets =
				&rank->packets[traffic->packets_begin + p];
			double bytes = (double)packets->n_bytes * (double)packets->count;
			volume[small] += bytes;
			bad[small] += packets->n_bytes < small_bytes ? bytes : 0.0;
			volume[FSL_RULE_ALIGNED] += is_rdma ? 0.0 : bytes;
			bad[FSL_RULE_ALIGNED] +=
				!is_rdma && packets->n_bytes % FSL_ALIGNED_BYTES != 0 ? bytes : 0.0;
		}
	}
	for (size_t k = 0; k < FSL_PACKET_RULES_N; k++) {
		shares[k] = volume[k] > 0.0 ? bad[k] / volume[k] : NAN;
	}
}

static struct broken measure_rank(const struct fsl_profile_rank *rank)
{
	struct broken broken = {0};
	double n_steps = (double)fsl_profile_n_steps(rank);
	for (size_t c = 0; c < rank->n_comms; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		double shares[FSL_PACKET_RULES_N];
		measure_op(shares, rank, comm);
		for (size_t k = 0; k < FSL_PACKET_RULES_N; k++) {
			if (shares[k] > FSL_BROKEN_SHARE_MAX && comm->transit_ns > 0) {
				broken.n[k]++;
				broken.transit_ms[k] +=
					(double)comm->transit_ns / FSL_NS_PER_MS / n_steps;
			}
		}
	}
	return broken;
}

static void compare_packets(struct fsl_traffic *out, const struct fsl_profile_rank *rank)
{
	struct broken broken = measure_rank(rank);
	double step_ms = fsl_profile_step_ms(rank);
	for (size_t k = 0; k < FSL_PACKET_RULES_N; k++) {
		struct fsl_broken_rule *rule = &out->broken[k];
		double ms = broken.transit_ms[k];
		if (!(ms >= FSL_CAPTURE_TRANSFER_SHARE_MIN * step_ms)) {
			continue;
		}
		size_t n_ranks = rule->n_ranks + 1;
		if (ms > rule->transfer_ms) {
			*rule = (struct fsl_broken_rule){.worst = rank->rank,
							 .n_ops = broken.n[k],
							 .transfer_ms = ms,
							 .step_ms = step_ms};
		}
		rule->n_ranks = n_ranks;
	}
}

static void find_retransmissions(struct fsl_traffic *out, const struct fsl_profile_rank *rank)
{
	struct fsl_retransmission found = {.rank = rank, .longest_ns = FSL_RETRANSMISSION_NS};
	for (size_t c = 0; c < rank->n_comms; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		for (uint32_t t = 0; t < comm->n_traffic; t++) {
			const struct fsl_profile_traffic *traffic =
				&rank->traffic[comm->traffic_begin + t];
			if (traffic->transport != FSL_TRANSPORT_RDMA ||
			    traffic->time_ns <= FSL_RETRANSMISSION_NS) {
				continue;
			}
			found.n++;
			if (traffic->time_ns > found.longest_ns) {
				found.longest_ns = traffic->time_ns;
				found.longest = comm;
			}
		}
	}
	if (found.longest != NULL) {
		out->retransmissions[out->n_retransmissions++] = found;
	}
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

static void compare_bandwidth(struct fsl_contention *out, const struct fsl_profile_rank *rank)
{
	double overlapped_ms = fsl_profile_part_ms(rank, FSL_PART_OVERLAPPED);
	double all_ms = fsl_profile_part_ms(rank, FSL_PART_COMMUNICATION);
	double gb_per_s = bandwidth_inside(rank);
	if (gb_per_s < FSL_CONTENDED_GB_PER_S &&
	    overlapped_ms > FSL_OVERLAPPED_SHARE_MIN * all_ms) {
		if (out->n_ranks == 0 || gb_per_s < out->gb_per_s) {
			out->slowest = rank->rank;
			out->gb_per_s = gb_per_s;
			out->overlapped_share = overlapped_ms / all_ms;
		}
		out->n_ranks++;
	}
}

enum fsl_status fsl_traffic_judge(struct fsl_traffic *out, const struct fsl_profile *profile,
				  struct fsl_error *err)
{
	*out = (struct fsl_traffic){0};
	FSL_TRY(FSL_ARENA_NEW(out->retransmissions, &out->arena, profile->n_ranks, "ranks", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		compare_packets(out, &profile->ranks[r]);
		find_retransmissions(out, &profile->ranks[r]);
		compare_bandwidth(&out->contention, &profile->ranks[r]);
	}
	return FSL_OK;
}

void fsl_traffic_fini(struct fsl_traffic *traffic)
{
	fsl_arena_fini(&traffic->arena);
	*traffic = (struct fsl_traffic){0};
}
