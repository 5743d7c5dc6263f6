/* Sums of operators and links. */
#include "report/msprof/sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"

/* ps of a duration; 0 if it is unknown. */
static int64_t ps_of(int64_t ns, int16_t rest_ps)
{
	int64_t ps = 0;
	if (ns == FSL_NS_ABSENT) {
		return 0;
	}
	return __builtin_mul_overflow(ns, 1000, &ps) ? (ns > 0 ? INT64_MAX : INT64_MIN)
						     : fsl_sum_i64(ps, rest_ps);
}

static enum fsl_status add_packets(struct fsl_peer_sum *sum, const struct fsl_peer_packets *packets,
				   struct fsl_error *err)
{
	enum fsl_status status =
		FSL_GROW(sum->packets, sum->packets_capacity, sum->n_packets + 1, err);
	if (status == FSL_OK) {
		sum->packets[sum->n_packets++] = *packets;
	}
	return status;
}

static enum fsl_status add_traffic(struct fsl_peer_sum *sum, const struct fsl_profile_rank *rank,
				   const struct fsl_profile_traffic *traffic, struct fsl_error *err)
{
	enum fsl_profile_transport transport = traffic->transport;
	sum->traffic[transport].is_used = true;
	sum->traffic[transport].n_bytes =
		fsl_sum_i64(sum->traffic[transport].n_bytes, traffic->n_bytes);
	sum->traffic[transport].time_ps = fsl_sum_i64(sum->traffic[transport].time_ps,
						      ps_of(traffic->time_ns, traffic->time_ps));
	if (traffic->n_packets == 0) {
		return add_packets(sum, &(struct fsl_peer_packets){.transport = transport}, err);
	}
	enum fsl_status status = FSL_OK;
	for (uint32_t i = 0; i < traffic->n_packets && status == FSL_OK; i++) {
		const struct fsl_profile_packets *own = &rank->packets[traffic->packets_begin + i];
		const struct fsl_peer_packets packets = {transport, own->n_bytes, own->count,
							 ps_of(own->time_ns, own->time_ps)};
		status = add_packets(sum, &packets, err);
	}
	return status;
}

static int compare_packets(const void *left, const void *right)
{
	const struct fsl_peer_packets *a = left, *b = right;
	int order = FSL_ORDER(a->transport, b->transport);
	return order != 0 ? order : FSL_ORDER(a->n_bytes, b->n_bytes);
}

/* Joins packets of equal size. */
static void merge_packets(struct fsl_peer_sum *sum)
{
	size_t n = 0;
	if (sum->n_packets > 0) {
		qsort(sum->packets, sum->n_packets, sizeof(*sum->packets), compare_packets);
	}
	for (size_t i = 0; i < sum->n_packets; i++) {
		const struct fsl_peer_packets *packets = &sum->packets[i];
		if (n > 0 && compare_packets(&sum->packets[n - 1], packets) == 0) {
			struct fsl_peer_packets *kept = &sum->packets[n - 1];
			kept->count = fsl_sum_i64(kept->count, packets->count);
			kept->time_ps = fsl_sum_i64(kept->time_ps, packets->time_ps);
		} else {
			sum->packets[n++] = *packets;
		}
	}
	sum->n_packets = n;
}

enum fsl_status fsl_peer_sum_comms(struct fsl_peer_sum *sum, const struct fsl_peer_index *index,
				   const struct fsl_peer_entries *entries, size_t begin, size_t end,
				   struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	*sum = (struct fsl_peer_sum){.packets = sum->packets,
				     .packets_capacity = sum->packets_capacity};
	for (size_t i = begin; i < end && status == FSL_OK; i++) {
		const struct fsl_peer_entry *entry = &entries->items[i];
		const struct fsl_profile_rank *rank = &index->profile->ranks[entry->rank];
		const struct fsl_profile_comm *comm = &rank->comms[entry->at];
		sum->elapse_ps =
			fsl_sum_i64(sum->elapse_ps, ps_of(comm->elapse_ns, comm->elapse_ps));
		sum->transit_ps =
			fsl_sum_i64(sum->transit_ps, ps_of(comm->transit_ns, comm->transit_ps));
		sum->wait_ps = fsl_sum_i64(sum->wait_ps, ps_of(comm->wait_ns, comm->wait_ps));
		sum->sync_ps = fsl_sum_i64(sum->sync_ps, ps_of(comm->sync_ns, comm->sync_ps));
		sum->idle_ps = fsl_sum_i64(sum->idle_ps, ps_of(comm->idle_ns, comm->idle_ps));
		for (uint32_t t = 0; t < comm->n_traffic && status == FSL_OK; t++) {
			status = add_traffic(sum, rank, &rank->traffic[comm->traffic_begin + t],
					     err);
		}
	}
	merge_packets(sum);
	return status;
}

void fsl_peer_sum_fini(struct fsl_peer_sum *sum)
{
	fsl_free(sum->packets);
	*sum = (struct fsl_peer_sum){0};
}

struct fsl_peer_link_sum fsl_peer_sum_links(const struct fsl_peer_index *index,
					    const struct fsl_peer_entries *entries, size_t begin,
					    size_t end)
{
	struct fsl_peer_link_sum sum = {.transport = FSL_TRANSPORT_OTHER, .op_name = ""};
	for (size_t i = begin; i < end; i++) {
		const struct fsl_peer_entry *entry = &entries->items[i];
		const struct fsl_profile_link *link = fsl_peer_link(index, entry);
		sum.transport = link->transport;
		sum.op_name =
			fsl_strpool_text(index->profile->ranks[entry->rank].names, link->name_id);
		sum.n_bytes = fsl_sum_i64(sum.n_bytes, link->n_bytes);
		sum.time_ps = fsl_sum_i64(sum.time_ps, ps_of(link->time_ns, link->time_ps));
		sum.gb_per_s = link->gb_per_s;
	}
	bool is_alone = end - begin == 1 && isfinite(sum.gb_per_s);
	sum.gb_per_s = fsl_peer_round(is_alone ? sum.gb_per_s
					       : fsl_peer_bandwidth(sum.n_bytes, sum.time_ps));
	return sum;
}

/* "%.4f" rounds the exact binary value, as Python's round() does; slow, so only near halves. */
double fsl_peer_round(double value)
{
	double scaled = value * 1e4, whole = floor(scaled), part = scaled - whole;
	if (fabs(scaled) < 1e9 && fabs(part - 0.5) > 1e-6) {
		return (whole + (part > 0.5 ? 1 : 0)) / 1e4;
	}
	char text[400];
	(void)snprintf(text, sizeof(text), "%.4f", value);
	return strtod(text, NULL);
}

double fsl_peer_share(int64_t part_ps, int64_t rest_ps)
{
	double whole = (double)part_ps + (double)rest_ps;
	return whole > 0 ? fsl_peer_round((double)part_ps / whole) : 0;
}

/* Computed in the units of the files, MB and ms, so that halves are rounded as there. */
double fsl_peer_bandwidth(int64_t n_bytes, int64_t time_ps)
{
	return time_ps > 0 ? ((double)n_bytes / 1e6) / ((double)time_ps / 1e9) : 0;
}
