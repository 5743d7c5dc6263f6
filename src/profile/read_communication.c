/*
 * communication.json: every communication operator with its times and what it moved over which kind
 * of link. {"step50": {"p2p": {"op@group": {...}}, "collective": {...}}}; raw captures (PROF_*)
 * have the operators alone, without step and kind around them. An operator is told by its inner
 * keys, so that both are read the same way.
 */
#include <string.h>

#include "base/number.h"
#include "profile/comms.h"
#include "profile/json_file.h"

enum {
	LEVELS_MAX = 3,        /* step, kind, operator */
	NAME_BYTES_MAX = 1024, /* of an operator with its group */
	BYTES_PER_MB = 1000000,
};

static const char remedy[] =
	"no communication operator in the file: Level0, or a capture without communication";

/* The key of an object that is open. */
struct level {
	char text[NAME_BYTES_MAX];
	size_t length; /* SIZE_MAX: too long */
};

struct walk {
	struct fsl_profile_rank *rank;
	const struct fsl_profile_input *input;
	struct fsl_json *json;
	struct level levels[LEVELS_MAX];
	size_t n_levels;
	/* The operator that is open. */
	bool is_op;
	struct fsl_profile_comm op;
	size_t packets_begin; /* rank->n_packets in front of it */
};

static void begin_op(struct walk *walk)
{
	if (walk->is_op) {
		return;
	}
	walk->is_op = true;
	walk->packets_begin = walk->rank->n_packets;
	walk->op = (struct fsl_profile_comm){
		.begin_ns = FSL_NS_ABSENT,
		.elapse_ns = FSL_NS_ABSENT,
		.transit_ns = FSL_NS_ABSENT,
		.wait_ns = FSL_NS_ABSENT,
		.sync_ns = FSL_NS_ABSENT,
		.idle_ns = FSL_NS_ABSENT,
		.traffic_begin = (uint32_t)walk->rank->n_traffic,
	};
}

/* Forgets what the open operator moved. */
static void drop_traffic(struct walk *walk)
{
	walk->rank->n_traffic = walk->op.traffic_begin;
	walk->rank->n_packets = walk->packets_begin;
}

/* The field of "Communication Time Info" with this key; NULL: nobody asks. */
static int64_t *time_field(struct fsl_profile_comm *op, const struct fsl_json_value *key)
{
	if (fsl_json_is(key, "Start Timestamp(us)")) {
		return &op->begin_ns;
	}
	if (fsl_json_is(key, "Elapse Time(ms)")) {
		return &op->elapse_ns;
	}
	if (fsl_json_is(key, "Transit Time(ms)")) {
		return &op->transit_ns;
	}
	if (fsl_json_is(key, "Wait Time(ms)")) {
		return &op->wait_ns;
	}
	if (fsl_json_is(key, "Synchronization Time(ms)")) {
		return &op->sync_ns;
	}
	return fsl_json_is(key, "Idle Time(ms)") ? &op->idle_ns : NULL;
}

static enum fsl_status read_times(struct walk *walk, struct fsl_error *err)
{
	bool is_more = false;
	enum fsl_status status = fsl_json_enter_object(walk->json, &is_more, err);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value value;
		status = fsl_json_next_key(walk->json, &value, &is_more, err);
		if (status != FSL_OK || !is_more) {
			break;
		}
		int64_t *field = time_field(&walk->op, &value);
		bool is_begin = field == &walk->op.begin_ns;
		status = fsl_json_take_scalar(walk->json, &value, err);
		if (status == FSL_OK && field != NULL) {
			*field = FSL_NS_ABSENT;
			(void)fsl_json_scaled(
				&value, is_begin ? FSL_NS_PER_US : FSL_NS_PER_MS,
				is_begin ? FSL_PROFILE_TIME_MAX_NS : FSL_PROFILE_FIGURE_MAX, field);
		}
	}
	return status;
}

/* [count, time in ms] behind its size in MB. */
static enum fsl_status read_packets(struct walk *walk, const struct fsl_json_value *size,
				    struct fsl_error *err)
{
	struct fsl_profile_rank *rank = walk->rank;
	struct fsl_profile_packets packets = {0};
	int64_t figures[2] = {0, 0};
	size_t n = 0;
	const struct fsl_json_value number = {FSL_JSON_STRING, size->text, size->length};
	bool is_good =
		fsl_json_scaled(&number, BYTES_PER_MB, FSL_PROFILE_FIGURE_MAX, &packets.n_bytes);
	bool is_more = false;
	enum fsl_status status = fsl_json_enter_array(walk->json, &is_more, err);
	while (status == FSL_OK && is_more) {
		size_t depth = fsl_json_depth(walk->json);
		struct fsl_json_value value;
		status = fsl_json_take_scalar(walk->json, &value, err);
		is_more = status == FSL_OK && fsl_json_depth(walk->json) == depth;
		if (is_more && n < 2) {
			is_good = fsl_json_scaled(&value, n == 0 ? 1 : FSL_NS_PER_MS,
						  FSL_PROFILE_FIGURE_MAX, &figures[n]) &&
				  is_good;
			n++;
		}
	}
	if (status != FSL_OK || !is_good || n < 2 || rank->n_packets >= UINT32_MAX) {
		return status;
	}
	packets.count = figures[0];
	packets.time_ns = figures[1];
	status = FSL_GROW(rank->packets, rank->packets_capacity, rank->n_packets + 1, err);
	if (status == FSL_OK) {
		rank->packets[rank->n_packets++] = packets;
	}
	return status;
}

static enum fsl_status read_distribution(struct walk *walk, struct fsl_error *err)
{
	bool is_more = false;
	enum fsl_status status = fsl_json_enter_object(walk->json, &is_more, err);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value size;
		status = fsl_json_next_key(walk->json, &size, &is_more, err);
		if (status == FSL_OK && is_more) {
			status = read_packets(walk, &size, err);
		}
	}
	return status;
}

/* One figure of one kind of link. */
static enum fsl_status read_figure(struct walk *walk, struct fsl_profile_traffic *traffic,
				   const struct fsl_json_value *key, struct fsl_error *err)
{
	if (fsl_json_is(key, "Size Distribution")) {
		walk->rank->n_packets = traffic->packets_begin;
		return read_distribution(walk, err);
	}
	bool is_size = fsl_json_is(key, "Transit Size(MB)");
	bool is_time = fsl_json_is(key, "Transit Time(ms)");
	bool is_rate = fsl_json_is(key, "Bandwidth(GB/s)");
	bool is_large = fsl_json_is(key, "Large Packet Ratio");
	struct fsl_json_value value;
	enum fsl_status status = fsl_json_take_scalar(walk->json, &value, err);
	if (status != FSL_OK) {
		return status;
	}
	if (is_size) {
		(void)fsl_json_scaled(&value, BYTES_PER_MB, FSL_PROFILE_FIGURE_MAX,
				      &traffic->n_bytes);
	} else if (is_time) {
		(void)fsl_json_scaled(&value, FSL_NS_PER_MS, FSL_PROFILE_FIGURE_MAX,
				      &traffic->time_ns);
	} else if (is_rate) {
		traffic->gb_per_s = fsl_json_real(&value);
	} else if (is_large) {
		traffic->large_packet_ratio = fsl_json_real(&value);
	}
	return FSL_OK;
}

/* What went over one kind of link; kinds over which nothing went are not kept. */
static enum fsl_status read_transport(struct walk *walk, enum fsl_profile_transport transport,
				      struct fsl_error *err)
{
	struct fsl_profile_rank *rank = walk->rank;
	struct fsl_profile_traffic traffic = {.transport = transport,
					      .packets_begin = (uint32_t)rank->n_packets};
	bool is_more = false;
	enum fsl_status status = fsl_json_enter_object(walk->json, &is_more, err);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value key;
		status = fsl_json_next_key(walk->json, &key, &is_more, err);
		if (status == FSL_OK && is_more) {
			status = read_figure(walk, &traffic, &key, err);
		}
	}
	if (status != FSL_OK) {
		return status;
	}
	traffic.n_packets = (uint32_t)(rank->n_packets - traffic.packets_begin);
	bool is_kept = (traffic.n_bytes > 0 || traffic.time_ns > 0 || traffic.n_packets > 0) &&
		       rank->n_traffic < UINT32_MAX;
	if (!is_kept) {
		rank->n_packets = traffic.packets_begin;
		return FSL_OK;
	}
	status = FSL_GROW(rank->traffic, rank->traffic_capacity, rank->n_traffic + 1, err);
	if (status == FSL_OK) {
		rank->traffic[rank->n_traffic++] = traffic;
	}
	return status;
}

static enum fsl_status read_traffic(struct walk *walk, struct fsl_error *err)
{
	bool is_more = false;
	drop_traffic(walk); /* of the same key before */
	enum fsl_status status = fsl_json_enter_object(walk->json, &is_more, err);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value key;
		status = fsl_json_next_key(walk->json, &key, &is_more, err);
		if (status == FSL_OK && is_more) {
			status = read_transport(
				walk, fsl_profile_transport_from_text(key.text, key.length), err);
		}
	}
	return status;
}

/* Step and kind from the keys around the operator; false when the step is not wanted. */
static bool place_op(struct walk *walk, const char *name, size_t n_name)
{
	walk->op.step = FSL_STEP_ABSENT;
	walk->op.is_p2p = fsl_profile_is_p2p(name, n_name);
	for (size_t i = 0; i + 1 < walk->n_levels; i++) {
		const struct fsl_json_value key = {FSL_JSON_KEY, walk->levels[i].text,
						   walk->levels[i].length};
		if (key.length == SIZE_MAX) {
			continue;
		}
		if (fsl_json_is(&key, "p2p") || fsl_json_is(&key, "collective")) {
			walk->op.is_p2p = key.text[0] == 'p';
		} else {
			walk->op.step = fsl_profile_step_from_text(key.text, key.length);
		}
	}
	return fsl_profile_wants_step(walk->input, walk->op.step);
}

/* Behind the last key of an operator. */
static enum fsl_status end_op(struct walk *walk, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = walk->rank;
	struct fsl_profile_comm *op = &walk->op;
	const struct level *own = &walk->levels[walk->n_levels - 1];
	bool is_good = own->length != SIZE_MAX;
	walk->is_op = false;
	if (is_good && !place_op(walk, own->text, own->length)) {
		drop_traffic(walk);
		return FSL_OK;
	}
	walk->input->file->n_records++;
	enum fsl_status status = FSL_OK;
	if (is_good) {
		status = fsl_profile_split_op(rank, own->text, own->length, &op->name_id,
					      &op->group_id, &is_good, err);
	}
	if (status != FSL_OK) {
		return status;
	}
	if (!is_good || op->begin_ns == FSL_NS_ABSENT || op->elapse_ns == FSL_NS_ABSENT) {
		drop_traffic(walk);
		return fsl_json_file_drop(rank, walk->input, walk->json,
					  is_good ? "an operator without start or elapsed time"
						  : "an operator without a name",
					  err);
	}
	op->n_traffic = (uint32_t)(rank->n_traffic - op->traffic_begin);
	status = FSL_GROW(rank->comms, rank->comms_capacity, rank->n_comms + 1, err);
	if (status == FSL_OK) {
		rank->comms[rank->n_comms++] = *op;
	}
	return status;
}

/* Sums ("Total Op Info") and steps that are not wanted. */
static bool is_skipped(const struct walk *walk, const struct fsl_json_value *key)
{
	bool is_total = key->length >= 5 && memcmp(key->text, "Total", 5) == 0;
	return is_total || (walk->n_levels == 0 &&
			    !fsl_profile_wants_step(walk->input, fsl_profile_step_from_text(
									 key->text, key->length)));
}

/* The value behind a key that is no part of an operator: opens a level when it is an object. */
static enum fsl_status open_level(struct walk *walk, const struct fsl_json_value *key,
				  struct fsl_error *err)
{
	bool is_entered = false;
	if (walk->is_op || walk->n_levels == LEVELS_MAX || is_skipped(walk, key)) {
		struct fsl_json_value value;
		return fsl_json_take_scalar(walk->json, &value, err);
	}
	struct level *level = &walk->levels[walk->n_levels];
	bool is_short = key->length <= sizeof(level->text);
	level->length = is_short ? key->length : SIZE_MAX;
	if (is_short) {
		memcpy(level->text, key->text, key->length);
	}
	enum fsl_status status = fsl_json_enter_object(walk->json, &is_entered, err);
	walk->n_levels += is_entered;
	return status;
}

static enum fsl_status read_key(struct walk *walk, const struct fsl_json_value *key,
				struct fsl_error *err)
{
	bool is_times = fsl_json_is(key, "Communication Time Info");
	bool is_traffic = fsl_json_is(key, "Communication Bandwidth Info");
	if (walk->n_levels == 0 || (!is_times && !is_traffic)) {
		return open_level(walk, key, err);
	}
	begin_op(walk);
	return is_times ? read_times(walk, err) : read_traffic(walk, err);
}

static enum fsl_status read_document(struct walk *walk, struct fsl_error *err)
{
	bool is_more = false;
	enum fsl_status status = fsl_json_enter_object(walk->json, &is_more, err);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value key;
		bool has_key = false;
		status = fsl_json_next_key(walk->json, &key, &has_key, err);
		if (status == FSL_OK && has_key) {
			status = read_key(walk, &key, err);
		} else if (status == FSL_OK) {
			status = walk->is_op ? end_op(walk, err) : FSL_OK;
			is_more = walk->n_levels > 0;
			walk->n_levels -= is_more;
		}
	}
	return status;
}

enum fsl_status fsl_profile_read_communication(struct fsl_profile_rank *rank,
					       const struct fsl_profile_input *input,
					       struct fsl_error *err)
{
	struct fsl_error own = {0};
	struct walk *walk = fsl_calloc(1, sizeof(*walk));
	struct fsl_json *json = fsl_json_create(input->reader);
	enum fsl_status status = FSL_ERR_MEMORY;
	if (walk != NULL && json != NULL) {
		*walk = (struct walk){.rank = rank, .input = input, .json = json};
		status = read_document(walk, &own);
		if (walk->is_op) {
			drop_traffic(walk);
		}
		fsl_profile_sort_comms(rank);
	}
	fsl_json_destroy(json);
	fsl_free(walk);
	return fsl_json_file_end(rank, input, status, &own, remedy, err);
}
