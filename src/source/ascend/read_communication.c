/*
 * communication.json: every communication operator with its times and its traffic by kind of link.
 * {"step50": {"p2p": {"op@group": {...}}, "collective": {...}}}. Raw captures (PROF_*) have only
 * the operators, without step and kind around them.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "source/ascend/comms.h"
#include "source/ascend/json_records.h"
#include "source/ascend/trace_steps.h"

/* The open operator. */
struct open_op {
	struct fsl_profile_comm op;
	size_t packets_begin; /* rank->n_packets before it */
};

static bool is_times(const struct fsl_json_value *key)
{
	return fsl_json_is(key, "Communication Time Info");
}

static bool has_key(const struct fsl_json_value *key)
{
	return is_times(key) || fsl_json_is(key, "Communication Bandwidth Info");
}

static void begin_op(struct fsl_json_walk *walk)
{
	struct open_op *open = walk->context;
	open->packets_begin = walk->rank->n_packets;
	open->op = (struct fsl_profile_comm){
		.begin_ns = FSL_NS_ABSENT,
		.elapse_ns = FSL_NS_ABSENT,
		.transit_ns = FSL_NS_ABSENT,
		.wait_ns = FSL_NS_ABSENT,
		.sync_ns = FSL_NS_ABSENT,
		.idle_ns = FSL_NS_ABSENT,
		.traffic_begin = (uint32_t)walk->rank->n_traffic,
	};
}

/* Drops the traffic of the open operator. */
static void drop_traffic(struct fsl_json_walk *walk)
{
	const struct open_op *open = walk->context;
	walk->rank->n_traffic = open->op.traffic_begin;
	walk->rank->n_packets = open->packets_begin;
}

/* Reads one figure of "Communication Time Info". */
static enum fsl_status read_time(struct fsl_json_walk *walk, const struct fsl_json_value *key,
				 void *of, struct fsl_error *err)
{
	(void)of;
	struct fsl_profile_comm *op = &((struct open_op *)walk->context)->op;
	const struct {
		const char *key;
		int64_t *ns;
		int16_t *ps;
	} fields[] = {
		{"Start Timestamp(us)", &op->begin_ns, NULL},
		{"Elapse Time(ms)", &op->elapse_ns, &op->elapse_ps},
		{"Transit Time(ms)", &op->transit_ns, &op->transit_ps},
		{"Wait Time(ms)", &op->wait_ns, &op->wait_ps},
		{"Synchronization Time(ms)", &op->sync_ns, &op->sync_ps},
		{"Idle Time(ms)", &op->idle_ns, &op->idle_ps},
	};
	size_t f = 0, n = sizeof(fields) / sizeof(fields[0]);
	while (f < n && !fsl_json_is(key, fields[f].key)) {
		f++;
	}
	struct fsl_json_value value;
	FSL_TRY(fsl_json_take_scalar(walk->json, &value, err));
	if (f == n) {
		return FSL_OK;
	}
	*fields[f].ns = FSL_NS_ABSENT;
	if (fields[f].ps != NULL) {
		*fields[f].ps = 0;
		(void)fsl_json_duration(&value, fields[f].ns, fields[f].ps);
	} else {
		(void)fsl_json_scaled(&value, FSL_NS_PER_US, FSL_JSON_TIME_MAX_NS, fields[f].ns);
	}
	return FSL_OK;
}

/* Reads the array [count, time in ms]; *is_good is false for any other value. */
static enum fsl_status read_pair(struct fsl_json_walk *walk, struct fsl_profile_packets *packets,
				 bool *is_good, struct fsl_error *err)
{
	size_t n = 0, n_good = 0;
	bool is_more = false;
	enum fsl_status status = fsl_json_enter_array(walk->json, &is_more, err);
	size_t depth = fsl_json_depth(walk->json);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value value;
		status = fsl_json_take_scalar(walk->json, &value, err);
		is_more = status == FSL_OK && fsl_json_depth(walk->json) == depth;
		if (is_more && n == 0) {
			n_good += fsl_json_scaled(&value, 1, FSL_JSON_FIGURE_MAX, &packets->count);
		} else if (is_more && n == 1) {
			n_good += fsl_json_duration(&value, &packets->time_ns, &packets->time_ps);
		}
		n += is_more;
	}
	*is_good = n_good == 2;
	return status;
}

static enum fsl_status read_packets(struct fsl_json_walk *walk, const struct fsl_json_value *size,
				    void *of, struct fsl_error *err)
{
	(void)of;
	struct fsl_profile_rank *rank = walk->rank;
	struct fsl_profile_packets packets = {0};
	bool is_good = false;
	bool has_size = fsl_json_bytes(size, &packets.n_bytes);
	FSL_TRY(read_pair(walk, &packets, &is_good, err));
	if (!has_size || !is_good || rank->n_packets >= UINT32_MAX) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(rank->packets, rank->packets_capacity, rank->n_packets + 1, err));
	rank->packets[rank->n_packets++] = packets;
	return FSL_OK;
}

/* Reads one figure of one kind of link. */
static enum fsl_status read_figure(struct fsl_json_walk *walk, const struct fsl_json_value *key,
				   void *of, struct fsl_error *err)
{
	struct fsl_profile_traffic *traffic = of;
	if (fsl_json_is(key, "Size Distribution")) {
		walk->rank->n_packets = traffic->packets_begin;
		return fsl_json_walk_members(walk, read_packets, NULL, err);
	}
	bool is_size = fsl_json_is(key, "Transit Size(MB)");
	bool is_time = fsl_json_is(key, "Transit Time(ms)");
	bool is_rate = fsl_json_is(key, "Bandwidth(GB/s)");
	bool is_large = fsl_json_is(key, "Large Packet Ratio");
	struct fsl_json_value value;
	FSL_TRY(fsl_json_take_scalar(walk->json, &value, err));
	if (is_size) {
		(void)fsl_json_bytes(&value, &traffic->n_bytes);
	} else if (is_time) {
		(void)fsl_json_duration(&value, &traffic->time_ns, &traffic->time_ps);
	} else if (is_rate) {
		traffic->gb_per_s = fsl_json_real(&value);
	} else if (is_large) {
		traffic->large_packet_ratio = fsl_json_real(&value);
	}
	return FSL_OK;
}

/* Keeps the traffic, unless it is zero. */
static enum fsl_status keep_traffic(struct fsl_profile_rank *rank,
				    const struct fsl_profile_traffic *traffic,
				    struct fsl_error *err)
{
	bool is_kept = (traffic->n_bytes > 0 || traffic->time_ns > 0 || traffic->n_packets > 0) &&
		       rank->n_traffic < UINT32_MAX;
	if (!is_kept) {
		rank->n_packets = traffic->packets_begin;
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(rank->traffic, rank->traffic_capacity, rank->n_traffic + 1, err));
	rank->traffic[rank->n_traffic++] = *traffic;
	return FSL_OK;
}

/* Reads the traffic over one kind of link. */
static enum fsl_status read_transport(struct fsl_json_walk *walk, const struct fsl_json_value *key,
				      void *of, struct fsl_error *err)
{
	(void)of;
	enum fsl_profile_transport transport =
		fsl_profile_transport_from_text(key->text, key->length);
	struct fsl_profile_traffic traffic = {.transport = transport,
					      .gb_per_s = NAN,
					      .large_packet_ratio = NAN,
					      .packets_begin = (uint32_t)walk->rank->n_packets};
	FSL_TRY(fsl_json_walk_members(walk, read_figure, &traffic, err));
	traffic.n_packets = (uint32_t)(walk->rank->n_packets - traffic.packets_begin);
	return keep_traffic(walk->rank, &traffic, err);
}

static enum fsl_status read_part(struct fsl_json_walk *walk, const struct fsl_json_value *key,
				 struct fsl_error *err)
{
	if (is_times(key)) {
		return fsl_json_walk_members(walk, read_time, NULL, err);
	}
	drop_traffic(walk); /* an earlier object had the same key */
	return fsl_json_walk_members(walk, read_transport, NULL, err);
}

static enum fsl_status end_op(struct fsl_json_walk *walk, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = walk->rank;
	struct fsl_profile_comm *op = &((struct open_op *)walk->context)->op;
	const struct fsl_json_level *name = fsl_json_walk_key(walk, 0);
	struct fsl_profile_op_name parts;
	FSL_TRY(fsl_profile_split_op(rank, name->text, name->length, &parts, err));
	if (!parts.is_good) {
		return fsl_json_walk_reject(walk, "an operator without a name", err);
	}
	if (op->begin_ns == FSL_NS_ABSENT || op->elapse_ns == FSL_NS_ABSENT) {
		return fsl_json_walk_reject(walk, "an operator without start or elapsed time", err);
	}
	op->name_id = parts.name_id;
	op->group_id = parts.group_id;
	op->step = walk->step;
	if (op->step == FSL_STEP_ABSENT) {
		op->step = fsl_trace_step_of(&rank->trace, op->begin_ns, op->elapse_ns);
		if (!fsl_profile_wants_step(walk->input, op->step)) {
			drop_traffic(walk);
			return FSL_OK;
		}
	}
	op->is_p2p = walk->has_kind ? walk->is_p2p : fsl_profile_is_p2p(name->text, name->length);
	op->n_traffic = (uint32_t)(rank->n_traffic - op->traffic_begin);
	FSL_TRY(FSL_GROW(rank->comms, rank->comms_capacity, rank->n_comms + 1, err));
	rank->comms[rank->n_comms++] = *op;
	return FSL_OK;
}

enum fsl_status fsl_profile_read_communication(struct fsl_profile_rank *rank,
					       const struct fsl_profile_input *input,
					       struct fsl_error *err)
{
	static const struct fsl_json_record record = {
		.n_levels_max = 3,
		.has_key = has_key,
		.begin = begin_op,
		.read = read_part,
		.end = end_op,
		.drop = drop_traffic,
		.remedy = "no communication operator in the file: a capture without communication",
	};
	struct open_op open = {0};
	enum fsl_status status = fsl_json_walk_file(rank, input, &record, &open, err);
	fsl_profile_sort_comms(rank);
	return status;
}
