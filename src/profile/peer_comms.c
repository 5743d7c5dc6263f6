/* cluster_communication.json: times and traffic of every operator on every rank, and their sums. */
#include <inttypes.h>

#include "profile/peer_json.h"
#include "profile/peer_parts.h"
#include "profile/peer_sums.h"
#include "report/document.h"

enum { US_DECIMALS = 3, MS_DECIMALS = 9 /* of ps */, MB_DECIMALS = 6 };

/* Kinds that the profiler always lists, used or not. */
static bool is_listed(enum fsl_profile_transport transport)
{
	return transport == FSL_TRANSPORT_RDMA || transport == FSL_TRANSPORT_HCCS ||
	       transport == FSL_TRANSPORT_PCIE || transport == FSL_TRANSPORT_SDMA ||
	       transport == FSL_TRANSPORT_SIO;
}

/* @comm NULL: a sum, which has no start. */
static void put_times(struct fsl_peer_json *json, const struct fsl_peer_sum *sum,
		      const struct fsl_profile_comm *comm)
{
	fsl_peer_json_open(json, "Communication Time Info", '{');
	if (comm != NULL) {
		fsl_peer_json_scaled(json, "Start Timestamp(us)", comm->begin_ns, US_DECIMALS);
	}
	fsl_peer_json_scaled(json, "Elapse Time(ms)", sum->elapse_ps, MS_DECIMALS);
	fsl_peer_json_scaled(json, "Transit Time(ms)", sum->transit_ps, MS_DECIMALS);
	fsl_peer_json_scaled(json, "Wait Time(ms)", sum->wait_ps, MS_DECIMALS);
	fsl_peer_json_scaled(json, "Synchronization Time(ms)", sum->sync_ps, MS_DECIMALS);
	fsl_peer_json_scaled(json, "Idle Time(ms)", sum->idle_ps, MS_DECIMALS);
	fsl_peer_json_real(json, "Wait Time Ratio", fsl_peer_share(sum->wait_ps, sum->transit_ps));
	fsl_peer_json_real(json, "Synchronization Time Ratio",
			   fsl_peer_share(sum->sync_ps, sum->transit_ps));
	fsl_peer_json_close(json, '}');
}

/* A number of MB as Python writes it: "8.388608", "4e-06". */
static const char *size_text(int64_t n_bytes, char *buffer, size_t size)
{
	const int64_t fixed_min = 100, fixed_max = INT64_C(1000000000000000);
	return n_bytes >= fixed_min && n_bytes < fixed_max
		       ? fsl_peer_scaled(n_bytes, MB_DECIMALS, 1, buffer, size)
		       : fsl_python_float((double)n_bytes / 1e6, buffer, size);
}

/* Sizes of packets are keys. */
static void put_packets(struct fsl_peer_json *json, const struct fsl_peer_sum *sum,
			enum fsl_profile_transport transport)
{
	fsl_peer_json_open(json, "Size Distribution", '{');
	for (size_t i = 0; i < sum->n_packets; i++) {
		const struct fsl_peer_packets *packets = &sum->packets[i];
		if (packets->transport != transport ||
		    (packets->n_bytes == 0 && packets->count == 0)) {
			continue;
		}
		char key[48];
		fsl_peer_json_open(json, size_text(packets->n_bytes, key, sizeof(key)), '[');
		fsl_peer_json_integer(json, NULL, packets->count);
		fsl_peer_json_scaled(json, NULL, packets->time_ps, MS_DECIMALS);
		fsl_peer_json_close(json, ']');
	}
	fsl_peer_json_close(json, '}');
}

/* Four of five. */
static void put_unused(struct fsl_peer_json *json, enum fsl_profile_transport transport,
		       bool is_sum)
{
	fsl_peer_json_raw(json, fsl_profile_transport_text(transport),
			  is_sum ? "{\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, "
				   "\"Bandwidth(GB/s)\": 0, \"Size Distribution\": {}}"
				 : "{\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, "
				   "\"Bandwidth(GB/s)\": 0, \"Large Packet Ratio\": 0, "
				   "\"Size Distribution\": {}}");
}

/* As written for one operator, computed for a sum. */
static void put_transport(struct fsl_peer_json *json, const struct fsl_peer_sum *sum,
			  enum fsl_profile_transport transport,
			  const struct fsl_profile_traffic *traffic, bool is_sum)
{
	int64_t n_bytes = sum->traffic[transport].n_bytes;
	int64_t time_ps = sum->traffic[transport].time_ps;
	fsl_peer_json_open(json, fsl_profile_transport_text(transport), '{');
	fsl_peer_json_scaled(json, "Transit Size(MB)", n_bytes, MB_DECIMALS);
	fsl_peer_json_scaled(json, "Transit Time(ms)", time_ps, MS_DECIMALS);
	fsl_peer_json_real(json, "Bandwidth(GB/s)",
			   traffic != NULL ? traffic->gb_per_s
					   : fsl_peer_round(fsl_peer_bandwidth(n_bytes, time_ps)));
	if (!is_sum) {
		fsl_peer_json_real(json, "Large Packet Ratio",
				   traffic != NULL ? traffic->large_packet_ratio : 0);
	}
	put_packets(json, sum, transport);
	fsl_peer_json_close(json, '}');
}

static const struct fsl_profile_traffic *traffic_of(const struct fsl_profile_rank *rank,
						    const struct fsl_profile_comm *comm,
						    enum fsl_profile_transport transport)
{
	for (uint32_t i = 0; comm != NULL && i < comm->n_traffic; i++) {
		const struct fsl_profile_traffic *traffic = &rank->traffic[comm->traffic_begin + i];
		if (traffic->transport == transport) {
			return traffic;
		}
	}
	return NULL;
}

/* One rank's part of an operator, or (@is_sum) of all of them. */
static enum fsl_status put_rank(struct fsl_peer_json *json, struct fsl_peer_sum *sum,
				const struct fsl_peer_index *index,
				const struct fsl_peer_entries *entries, size_t begin, size_t end,
				bool is_sum, struct fsl_error *err)
{
	const struct fsl_peer_entry *entry = &entries->items[begin];
	const struct fsl_profile_rank *rank = &index->profile->ranks[entry->rank];
	const struct fsl_profile_comm *comm = is_sum ? NULL : fsl_peer_comm(index, entry);
	enum fsl_status status = fsl_peer_sum_comms(sum, index, entries, begin, end, err);
	if (status != FSL_OK) {
		return status;
	}
	char key[16];
	(void)snprintf(key, sizeof(key), "%" PRId32, rank->rank);
	fsl_peer_json_open(json, key, '{');
	put_times(json, sum, comm);
	fsl_peer_json_open(json, "Communication Bandwidth Info", '{');
	for (int t = 0; t < FSL_TRANSPORTS_N; t++) {
		enum fsl_profile_transport transport = (enum fsl_profile_transport)t;
		if (!sum->traffic[t].is_used && is_listed(transport)) {
			put_unused(json, transport, is_sum);
		} else if (sum->traffic[t].is_used) {
			put_transport(json, sum, transport, traffic_of(rank, comm, transport),
				      is_sum);
		}
	}
	fsl_peer_json_close(json, '}');
	fsl_peer_json_close(json, '}');
	return FSL_OK;
}

/* Entries of one operator, or of one group: a rank behind the other. */
static enum fsl_status put_ranks(struct fsl_peer_json *json, struct fsl_peer_sum *sum,
				 const struct fsl_peer_index *index,
				 const struct fsl_peer_entries *entries, size_t begin, size_t end,
				 bool is_sum, struct fsl_error *err)
{
	const struct fsl_peer_entry *first = &entries->items[begin];
	enum fsl_status status = FSL_OK;
	fsl_peer_json_key(json,
			  is_sum ? "Total Op Info" : fsl_strpool_text(index->names, first->name),
			  fsl_strpool_text(index->cluster->hashes, first->hash));
	fsl_peer_json_open(json, NULL, '{');
	while (begin < end && status == FSL_OK) {
		size_t next = fsl_peer_run_end(entries, begin, end, FSL_PEER_RUN_RANK);
		status = put_rank(json, sum, index, entries, begin, next, is_sum, err);
		begin = next;
	}
	fsl_peer_json_close(json, '}');
	return status;
}

/* Both orders agree on sets and steps: @begin and @end hold for both. */
static enum fsl_status put_step(struct fsl_peer_json *json, const struct fsl_peer_index *index,
				size_t begin, size_t end, struct fsl_error *err)
{
	const struct fsl_peer_entries *orders[2] = {&index->comms, &index->comm_sums};
	const enum fsl_peer_run runs[2] = {FSL_PEER_RUN_NAME, FSL_PEER_RUN_GROUP};
	struct fsl_peer_sum sum = {0};
	enum fsl_status status = FSL_OK;
	char key[32];
	fsl_peer_json_open(
		json, fsl_peer_step_text(index->comms.items[begin].step, key, sizeof(key)), '{');
	for (size_t o = 0; o < 2 && status == FSL_OK; o++) {
		for (size_t i = begin; i < end && status == FSL_OK;) {
			size_t next = fsl_peer_run_end(orders[o], i, end, runs[o]);
			status = put_ranks(json, &sum, index, orders[o], i, next, o == 1, err);
			i = next;
		}
	}
	fsl_peer_json_close(json, '}');
	fsl_peer_sum_fini(&sum);
	return status;
}

enum fsl_status fsl_peer_write_comms(FILE *stream, const struct fsl_peer_index *index,
				     struct fsl_error *err)
{
	struct fsl_peer_json json = {.stream = stream};
	const struct fsl_peer_entries *comms = &index->comms;
	enum fsl_status status = FSL_OK;
	fsl_peer_json_open(&json, NULL, '{');
	for (size_t i = 0; i < comms->n && status == FSL_OK;) {
		size_t set_end = fsl_peer_run_end(comms, i, comms->n, FSL_PEER_RUN_SET);
		fsl_peer_json_open(&json, fsl_strpool_text(index->sets, comms->items[i].set), '{');
		while (i < set_end && status == FSL_OK) {
			size_t end = fsl_peer_run_end(comms, i, set_end, FSL_PEER_RUN_STEP);
			status = put_step(&json, index, i, end, err);
			i = end;
		}
		fsl_peer_json_close(&json, '}');
	}
	fsl_peer_json_close(&json, '}');
	return status;
}
