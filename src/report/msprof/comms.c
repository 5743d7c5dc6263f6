/* cluster_communication.json: times and traffic of every operator on every rank, and their sums. */
#include <inttypes.h>

#include "base/try.h"
#include "report/document.h"
#include "report/msprof/parts.h"
#include "report/msprof/sums.h"
#include "text/json_write.h"

enum { US_DECIMALS = 3, MS_DECIMALS = 9 /* of a number of ps */, MB_DECIMALS = 6 };

/* True for kinds that the profiler always lists, used or not. */
static bool is_listed(enum fsl_profile_transport transport)
{
	return transport == FSL_TRANSPORT_RDMA || transport == FSL_TRANSPORT_HCCS ||
	       transport == FSL_TRANSPORT_PCIE || transport == FSL_TRANSPORT_SDMA ||
	       transport == FSL_TRANSPORT_SIO;
}

/* Writes times. @comm is NULL for a sum, which has no start. */
static void put_times(struct fsl_json_writer *json, const struct fsl_peer_sum *sum,
		      const struct fsl_profile_comm *comm)
{
	fsl_json_write_open(json, "Communication Time Info", '{');
	if (comm != NULL) {
		fsl_json_write_scaled(json, "Start Timestamp(us)", comm->begin_ns, US_DECIMALS);
	}
	fsl_json_write_scaled(json, "Elapse Time(ms)", sum->elapse_ps, MS_DECIMALS);
	fsl_json_write_scaled(json, "Transit Time(ms)", sum->transit_ps, MS_DECIMALS);
	fsl_json_write_scaled(json, "Wait Time(ms)", sum->wait_ps, MS_DECIMALS);
	fsl_json_write_scaled(json, "Synchronization Time(ms)", sum->sync_ps, MS_DECIMALS);
	fsl_json_write_scaled(json, "Idle Time(ms)", sum->idle_ps, MS_DECIMALS);
	fsl_json_write_real(json, "Wait Time Ratio", fsl_peer_share(sum->wait_ps, sum->transit_ps));
	fsl_json_write_real(json, "Synchronization Time Ratio",
			    fsl_peer_share(sum->sync_ps, sum->transit_ps));
	fsl_json_write_close(json, '}');
}

/* A number of MB as Python writes it: "8.388608", "4e-06". */
static const char *size_text(int64_t n_bytes, char *buffer, size_t size)
{
	const int64_t fixed_min = 100, fixed_max = INT64_C(1000000000000000);
	return n_bytes >= fixed_min && n_bytes < fixed_max
		       ? fsl_json_write_digits(n_bytes, MB_DECIMALS, 1, buffer, size)
		       : fsl_python_float((double)n_bytes / 1e6, buffer, size);
}

/* Writes packets; their sizes are the keys. */
static void put_packets(struct fsl_json_writer *json, const struct fsl_peer_sum *sum,
			enum fsl_profile_transport transport)
{
	fsl_json_write_open(json, "Size Distribution", '{');
	for (size_t i = 0; i < sum->n_packets; i++) {
		const struct fsl_peer_packets *packets = &sum->packets[i];
		if (packets->transport != transport ||
		    (packets->n_bytes == 0 && packets->count == 0)) {
			continue;
		}
		char key[48];
		fsl_json_write_open(json, size_text(packets->n_bytes, key, sizeof(key)), '[');
		fsl_json_write_integer(json, NULL, packets->count);
		fsl_json_write_scaled(json, NULL, packets->time_ps, MS_DECIMALS);
		fsl_json_write_close(json, ']');
	}
	fsl_json_write_close(json, '}');
}

/* Writes a kind of link without traffic. */
static void put_unused(struct fsl_json_writer *json, enum fsl_profile_transport transport,
		       bool is_sum)
{
	fsl_json_write_raw(json, fsl_profile_transport_text(transport),
			   is_sum ? "{\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, "
				    "\"Bandwidth(GB/s)\": 0, \"Size Distribution\": {}}"
				  : "{\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, "
				    "\"Bandwidth(GB/s)\": 0, \"Large Packet Ratio\": 0, "
				    "\"Size Distribution\": {}}");
}

/* Writes the traffic over a kind of link: as read for one operator, computed for a sum. */
static void put_transport(struct fsl_json_writer *json, const struct fsl_peer_sum *sum,
			  enum fsl_profile_transport transport,
			  const struct fsl_profile_traffic *traffic, bool is_sum)
{
	int64_t n_bytes = sum->traffic[transport].n_bytes;
	int64_t time_ps = sum->traffic[transport].time_ps;
	fsl_json_write_open(json, fsl_profile_transport_text(transport), '{');
	fsl_json_write_scaled(json, "Transit Size(MB)", n_bytes, MB_DECIMALS);
	fsl_json_write_scaled(json, "Transit Time(ms)", time_ps, MS_DECIMALS);
	fsl_json_write_real(json, "Bandwidth(GB/s)",
			    traffic != NULL ? traffic->gb_per_s
					    : fsl_peer_round(fsl_peer_bandwidth(n_bytes, time_ps)));
	if (!is_sum) {
		fsl_json_write_real(json, "Large Packet Ratio",
				    traffic != NULL ? traffic->large_packet_ratio : 0);
	}
	put_packets(json, sum, transport);
	fsl_json_write_close(json, '}');
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

/* State of the document under construction. */
struct writer {
	struct fsl_json_writer json;
	const struct fsl_peer_index *index;
	struct fsl_peer_sum sum; /* sum of the rank being written */
};

/* A part of the operators: those of one name, or all of a group, which are summed up. */
struct part {
	const struct fsl_peer_entries *entries;
	size_t begin, end;
	bool is_sum;
};

/* Writes one rank. @part holds operators of this rank only. */
static enum fsl_status put_rank(struct writer *writer, const struct part *part,
				struct fsl_error *err)
{
	struct fsl_json_writer *json = &writer->json;
	const struct fsl_peer_entry *entry = &part->entries->items[part->begin];
	const struct fsl_profile_rank *rank = &writer->index->profile->ranks[entry->rank];
	const struct fsl_profile_comm *comm =
		part->is_sum ? NULL : fsl_peer_comm(writer->index, entry);
	FSL_TRY(fsl_peer_sum_comms(&writer->sum, writer->index, part->entries, part->begin,
				   part->end, err));
	char key[16];
	(void)snprintf(key, sizeof(key), "%" PRId32, rank->rank);
	fsl_json_write_open(json, key, '{');
	put_times(json, &writer->sum, comm);
	fsl_json_write_open(json, "Communication Bandwidth Info", '{');
	for (int t = 0; t < FSL_TRANSPORTS_N; t++) {
		enum fsl_profile_transport transport = (enum fsl_profile_transport)t;
		if (writer->sum.traffic[t].is_used) {
			put_transport(json, &writer->sum, transport,
				      traffic_of(rank, comm, transport), part->is_sum);
		} else if (is_listed(transport)) {
			put_unused(json, transport, part->is_sum);
		}
	}
	fsl_json_write_close(json, '}');
	fsl_json_write_close(json, '}');
	return FSL_OK;
}

/* Writes the ranks, one after the other. */
static enum fsl_status put_ranks(struct writer *writer, const struct part *part,
				 struct fsl_error *err)
{
	const struct fsl_peer_index *index = writer->index;
	const struct fsl_peer_entry *first = &part->entries->items[part->begin];
	struct part own = *part;
	enum fsl_status status = FSL_OK;
	fsl_json_write_key(&writer->json,
			   part->is_sum ? "Total Op Info"
					: fsl_strpool_text(index->names, first->name),
			   fsl_strpool_text(index->cluster->hashes, first->hash));
	fsl_json_write_open(&writer->json, NULL, '{');
	for (; own.begin < part->end && status == FSL_OK; own.begin = own.end) {
		own.end = fsl_peer_run_end(part->entries, own.begin, part->end, FSL_PEER_RUN_RANK);
		status = put_rank(writer, &own, err);
	}
	fsl_json_write_close(&writer->json, '}');
	return status;
}

/* Writes one step. Both orders agree on sets and steps, so that @begin and @end hold for both. */
static enum fsl_status put_step(struct writer *writer, size_t begin, size_t end,
				struct fsl_error *err)
{
	const struct fsl_peer_entries *orders[2] = {&writer->index->comms,
						    &writer->index->comm_sums};
	const enum fsl_peer_run runs[2] = {FSL_PEER_RUN_NAME, FSL_PEER_RUN_GROUP};
	enum fsl_status status = FSL_OK;
	char key[32];
	fsl_peer_step_text(orders[0]->items[begin].step, key, sizeof(key));
	fsl_json_write_open(&writer->json, key, '{');
	for (size_t o = 0; o < 2; o++) {
		struct part part = {orders[o], begin, begin, o == 1};
		for (; part.begin < end && status == FSL_OK; part.begin = part.end) {
			part.end = fsl_peer_run_end(orders[o], part.begin, end, runs[o]);
			status = put_ranks(writer, &part, err);
		}
	}
	fsl_json_write_close(&writer->json, '}');
	return status;
}

enum fsl_status fsl_peer_write_comms(FILE *stream, const struct fsl_peer_index *index,
				     struct fsl_error *err)
{
	struct writer writer = {.json = {.stream = stream}, .index = index};
	const struct fsl_peer_entries *comms = &index->comms;
	enum fsl_status status = FSL_OK;
	fsl_json_write_open(&writer.json, NULL, '{');
	for (size_t i = 0; i < comms->n && status == FSL_OK;) {
		size_t set_end = fsl_peer_run_end(comms, i, comms->n, FSL_PEER_RUN_SET);
		fsl_json_write_open(&writer.json,
				    fsl_strpool_text(index->sets, comms->items[i].set), '{');
		while (i < set_end && status == FSL_OK) {
			size_t end = fsl_peer_run_end(comms, i, set_end, FSL_PEER_RUN_STEP);
			status = put_step(&writer, i, end, err);
			i = end;
		}
		fsl_json_write_close(&writer.json, '}');
	}
	fsl_json_write_close(&writer.json, '}');
	fsl_peer_sum_fini(&writer.sum);
	return status;
}
