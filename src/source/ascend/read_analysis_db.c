/* analysis.db (MindSpore: communication_analyzer.db): the content of step_trace_time.csv,
 * communication.json and communication_matrix.json as tables, with the units of these files. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "source/ascend/comms.h"
#include "source/ascend/databases.h"
#include "source/ascend/merge.h"

#define BYTES_PER_MB 1000000

/* One database while its tables are read, and the rank that they fill. */
struct analysis {
	struct fsl_profile_rank *rank;
	struct fsl_db *db;
	const struct fsl_profile_input *input;
};

/* A time in @unit_ns as ns; FSL_NS_ABSENT if missing. Noise below 0 becomes 0 in whole ns. */
static int64_t time_of(const struct fsl_db_rows *rows, size_t column, int64_t unit_ns)
{
	int64_t value = 0;
	return fsl_db_scaled(rows, column, unit_ns, &value) && value >= 0 ? value : FSL_NS_ABSENT;
}

/* A duration in ms as ns, and the rest below a ns in *rest_ps. */
static int64_t duration_of(const struct fsl_db_rows *rows, size_t column, int16_t *rest_ps)
{
	int64_t ps = 0;
	*rest_ps = 0;
	if (!fsl_db_scaled(rows, column, INT64_C(1000) * FSL_NS_PER_MS, &ps) || ps < 0 ||
	    ps > INT64_MAX - 500) {
		return time_of(rows, column, FSL_NS_PER_MS);
	}
	int64_t ns = (ps + 500) / 1000;
	*rest_ps = (int16_t)(ps - ns * 1000);
	return ns;
}

/* A number times @scale; 0 if missing or negative. */
static int64_t amount_of(const struct fsl_db_rows *rows, size_t column, int64_t scale)
{
	int64_t value = 0;
	return fsl_db_scaled(rows, column, scale, &value) && value > 0 ? value : 0;
}

/* Reads "50", "step50" or a number. */
static int64_t step_of(const struct fsl_db_rows *rows, size_t column)
{
	size_t length = 0;
	int64_t step = FSL_STEP_ABSENT;
	const char *text = fsl_db_text(rows, column, &length);
	if (text != NULL) {
		return fsl_profile_step_from_text(text, length);
	}
	return fsl_db_i64(rows, column, &step) && step >= 0 ? step : FSL_STEP_ABSENT;
}

/* True for p2p, by column @type if it has a value, else by the operator's name. */
static bool is_p2p(const struct fsl_db_rows *rows, size_t type, const char *name)
{
	size_t length = 0;
	const char *text = fsl_db_text(rows, type, &length);
	return text != NULL ? length == 3 && memcmp(text, "p2p", 3) == 0
			    : fsl_profile_is_p2p(name, strlen(name));
}

static enum fsl_profile_transport transport_of(const struct fsl_db_rows *rows, size_t column)
{
	size_t length = 0;
	const char *text = fsl_db_text(rows, column, &length);
	return text != NULL ? fsl_profile_transport_from_text(text, length) : FSL_TRANSPORT_OTHER;
}

/* Table StepTraceTime, us. */
enum step_column {
	STEP,
	STEP_DEVICE,
	COMPUTING,
	EXPOSED,
	OVERLAPPED,
	COMMUNICATION,
	FREE,
	STAGE,
	BUBBLE,
	NOT_RECEIVE,
	PREPARING,
	STEP_COLUMNS_N
};

static const struct fsl_db_column step_columns[STEP_COLUMNS_N] = {
	[STEP] = {{"step"}, false, 0},
	[STEP_DEVICE] = {{"deviceId", "device_id"}, false, 0},
	[COMPUTING] = {{"computing"}, true, 0},
	[EXPOSED] = {{"communication_not_overlapped"}, true, 0},
	[OVERLAPPED] = {{"overlapped"}, false, 0},
	[COMMUNICATION] = {{"communication"}, false, 0},
	[FREE] = {{"free"}, true, 0},
	[STAGE] = {{"stage"}, false, 0},
	[BUBBLE] = {{"bubble"}, false, 0},
	[NOT_RECEIVE] = {{"communication_not_overlapped_and_exclude_receive"}, false, 0},
	[PREPARING] = {{"preparing"}, false, 0},
};

static enum fsl_status add_step(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	const struct analysis *analysis = context;
	struct fsl_profile_rank *rank = analysis->rank;
	struct fsl_profile_step row = {
		.step = step_of(rows, STEP),
		.device_id = -1,
		.computing_ns = time_of(rows, COMPUTING, FSL_NS_PER_US),
		.exposed_ns = time_of(rows, EXPOSED, FSL_NS_PER_US),
		.overlapped_ns = time_of(rows, OVERLAPPED, FSL_NS_PER_US),
		.communication_ns = time_of(rows, COMMUNICATION, FSL_NS_PER_US),
		.free_ns = time_of(rows, FREE, FSL_NS_PER_US),
		.stage_ns = time_of(rows, STAGE, FSL_NS_PER_US),
		.bubble_ns = time_of(rows, BUBBLE, FSL_NS_PER_US),
		.exposed_not_receive_ns = time_of(rows, NOT_RECEIVE, FSL_NS_PER_US),
		.preparing_ns = time_of(rows, PREPARING, FSL_NS_PER_US),
	};
	(void)fsl_db_i64(rows, STEP_DEVICE, &row.device_id);
	if (rank->folder.writer == FSL_PROFILE_MINDSPORE && row.preparing_ns == 0) {
		row.preparing_ns = FSL_NS_ABSENT; /* not measured in this database */
	}
	if (row.computing_ns == FSL_NS_ABSENT || row.exposed_ns == FSL_NS_ABSENT ||
	    row.free_ns == FSL_NS_ABSENT) {
		fsl_db_drop(rows, "a time of a step is missing or no number");
		return FSL_OK;
	}
	if (fsl_profile_is_other_device(rank, &row)) {
		fsl_db_drop(rows, fsl_profile_other_device);
		return FSL_OK;
	}
	if (!fsl_profile_wants_step(analysis->input, row.step)) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(rank->steps, rank->steps_capacity, rank->n_steps + 1, err));
	rank->steps[rank->n_steps++] = row;
	return FSL_OK;
}

/* Table CommAnalyzerTime, us and ms. */
enum comm_column {
	COMM_NAME,
	COMM_GROUP,
	COMM_STEP,
	COMM_TYPE,
	BEGIN,
	ELAPSE,
	TRANSIT,
	WAIT,
	SYNC,
	IDLE,
	COMM_COLUMNS_N
};

static const struct fsl_db_column comm_columns[COMM_COLUMNS_N] = {
	[COMM_NAME] = {{"hccl_op_name", "op_name"}, true, 0},
	[COMM_GROUP] = {{"group_name"}, false, 0},
	[COMM_STEP] = {{"step"}, false, 0},
	[COMM_TYPE] = {{"type"}, false, 0},
	[BEGIN] = {{"start_timestamp"}, true, 0},
	[ELAPSE] = {{"elapse_time", "elapsed_time"}, true, 0},
	[TRANSIT] = {{"transit_time"}, false, 0},
	[WAIT] = {{"wait_time"}, false, 0},
	[SYNC] = {{"synchronization_time"}, false, 0},
	[IDLE] = {{"idle_time"}, false, 0},
};

static bool is_total(const char *name)
{
	return strncmp(name, "Total", 5) == 0;
}

static enum fsl_status add_comm(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	const struct analysis *analysis = context;
	struct fsl_profile_rank *rank = analysis->rank;
	struct fsl_profile_comm row = {
		.step = step_of(rows, COMM_STEP),
		.begin_ns = time_of(rows, BEGIN, FSL_NS_PER_US),
		.traffic_begin = (uint32_t)rank->n_traffic,
	};
	row.elapse_ns = duration_of(rows, ELAPSE, &row.elapse_ps);
	row.transit_ns = duration_of(rows, TRANSIT, &row.transit_ps);
	row.wait_ns = duration_of(rows, WAIT, &row.wait_ps);
	row.sync_ns = duration_of(rows, SYNC, &row.sync_ps);
	row.idle_ns = duration_of(rows, IDLE, &row.idle_ps);
	if (!fsl_profile_wants_step(analysis->input, row.step)) {
		return FSL_OK;
	}
	FSL_TRY(fsl_db_intern(rows, COMM_NAME, &row.name_id, err));
	FSL_TRY(fsl_db_intern(rows, COMM_GROUP, &row.group_id, err));
	const char *name = fsl_strpool_text(rank->names, row.name_id);
	if (row.name_id == FSL_STR_NONE || row.begin_ns == FSL_NS_ABSENT ||
	    row.elapse_ns == FSL_NS_ABSENT) {
		fsl_db_drop(rows, "an operator without name, start or elapsed time");
		return FSL_OK;
	}
	if (is_total(name)) {
		return FSL_OK;
	}
	row.is_p2p = is_p2p(rows, COMM_TYPE, name);
	FSL_TRY(FSL_GROW(rank->comms, rank->comms_capacity, rank->n_comms + 1, err));
	rank->comms[rank->n_comms++] = row;
	return FSL_OK;
}

/* Table CommAnalyzerMatrix, MB and ms. */
enum link_column {
	LINK_LABEL,
	LINK_GROUP,
	LINK_STEP,
	LINK_TYPE,
	LINK_NAME,
	SRC,
	DST,
	LINK_TRANSPORT,
	LINK_SIZE,
	LINK_TIME,
	LINK_RATE,
	LINK_COLUMNS_N
};

static const struct fsl_db_column link_columns[LINK_COLUMNS_N] = {
	[LINK_LABEL] = {{"hccl_op_name"}, true, 0},
	[LINK_GROUP] = {{"group_name"}, false, 0},
	[LINK_STEP] = {{"step"}, false, 0},
	[LINK_TYPE] = {{"type"}, false, 0},
	[LINK_NAME] = {{"op_name"}, false, 0},
	[SRC] = {{"src_rank"}, true, 0},
	[DST] = {{"dst_rank"}, true, 0},
	[LINK_TRANSPORT] = {{"transport_type"}, true, 0},
	[LINK_SIZE] = {{"transit_size"}, true, 0},
	[LINK_TIME] = {{"transit_time"}, true, 0},
	[LINK_RATE] = {{"bandwidth"}, false, 0},
};

/* Reads a place inside a group; false if the value is none. */
static bool member_of(const struct fsl_db_rows *rows, size_t column, int32_t *out)
{
	int64_t value = 0;
	if (!fsl_db_i64(rows, column, &value) || value < 0 || value >= FSL_PROFILE_RANKS_MAX) {
		return false;
	}
	*out = (int32_t)value;
	return true;
}

static enum fsl_status add_link(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	const struct analysis *analysis = context;
	struct fsl_profile_rank *rank = analysis->rank;
	struct fsl_profile_link row = {
		.step = step_of(rows, LINK_STEP),
		.transport = transport_of(rows, LINK_TRANSPORT),
		.n_bytes = amount_of(rows, LINK_SIZE, BYTES_PER_MB),
		.gb_per_s = fsl_db_real(rows, LINK_RATE),
	};
	row.time_ns = duration_of(rows, LINK_TIME, &row.time_ps);
	if (!fsl_profile_wants_step(analysis->input, row.step)) {
		return FSL_OK;
	}
	FSL_TRY(fsl_db_intern(rows, LINK_LABEL, &row.label_id, err));
	FSL_TRY(fsl_db_intern(rows, LINK_GROUP, &row.group_id, err));
	FSL_TRY(fsl_db_intern(rows, LINK_NAME, &row.name_id, err));
	if (row.label_id == FSL_STR_NONE || !member_of(rows, SRC, &row.src) ||
	    !member_of(rows, DST, &row.dst) || row.time_ns == FSL_NS_ABSENT) {
		fsl_db_drop(rows, "a link without name, ends or time");
		return FSL_OK;
	}
	row.is_p2p = is_p2p(rows, LINK_TYPE, fsl_strpool_text(rank->names, row.name_id));
	FSL_TRY(FSL_GROW(rank->links, rank->links_capacity, rank->n_links + 1, err));
	rank->links[rank->n_links++] = row;
	return FSL_OK;
}

static const struct fsl_db_select step_select = {
	{"StepTraceTime"}, NULL, step_columns, STEP_COLUMNS_N, ""};
static const struct fsl_db_select comm_select = {
	{"CommAnalyzerTime"}, NULL, comm_columns, COMM_COLUMNS_N, ""};
static const struct fsl_db_select link_select = {
	{"CommAnalyzerMatrix"}, NULL, link_columns, LINK_COLUMNS_N, ""};

/* Table CommAnalyzerBandwidth, MB and ms: traffic of each operator by kind of link. */
enum traffic_column {
	TRAFFIC_NAME,
	TRAFFIC_GROUP,
	TRAFFIC_STEP,
	TRAFFIC_TRANSPORT,
	TRAFFIC_SIZE,
	TRAFFIC_TIME,
	TRAFFIC_RATE,
	TRAFFIC_LARGE,
	PACKET_SIZE,
	PACKET_COUNT,
	PACKET_TIME,
	TRAFFIC_COLUMNS_N
};

static const struct fsl_db_column traffic_columns[TRAFFIC_COLUMNS_N] = {
	[TRAFFIC_NAME] = {{"hccl_op_name", "op_name"}, true, 0},
	[TRAFFIC_GROUP] = {{"group_name"}, false, 0},
	[TRAFFIC_STEP] = {{"step"}, false, 0},
	[TRAFFIC_TRANSPORT] = {{"transport_type", "band_type"}, true, 0},
	[TRAFFIC_SIZE] = {{"transit_size"}, true, 0},
	[TRAFFIC_TIME] = {{"transit_time"}, true, 0},
	[TRAFFIC_RATE] = {{"bandwidth"}, false, 0},
	[TRAFFIC_LARGE] = {{"large_packet_ratio"}, false, 0},
	[PACKET_SIZE] = {{"package_size"}, false, 0},
	[PACKET_COUNT] = {{"count"}, false, 0},
	[PACKET_TIME] = {{"total_duration"}, false, 0},
};

/* One row per packet size; rows of one operator and kind of link follow each other. */
static const struct fsl_db_select traffic_select = {
	{"CommAnalyzerBandwidth"}, NULL, traffic_columns, TRAFFIC_COLUMNS_N, "ORDER BY 1, 2, 3, 4"};

/* Index of an operator in rank->comms. */
struct place {
	uint32_t name_id, group_id;
	int64_t step;
	size_t at;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int order = FSL_ORDER(a->name_id, b->name_id);
	order = order != 0 ? order : FSL_ORDER(a->group_id, b->group_id);
	return order != 0 ? order : FSL_ORDER(a->step, b->step);
}

struct walk {
	struct fsl_profile_rank *rank;
	struct fsl_db_rows *rows; /* the present row */
	struct place *places;     /* sorted */
	size_t n_places;
	size_t comm; /* its traffic is the last in rank->traffic; SIZE_MAX none */
};

static enum fsl_status list_places(struct walk *walk, size_t first, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = walk->rank;
	walk->n_places = rank->n_comms - first;
	walk->places = fsl_calloc(walk->n_places, sizeof(*walk->places));
	if (walk->places == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu",
				walk->n_places);
	}
	for (size_t i = 0; i < walk->n_places; i++) {
		const struct fsl_profile_comm *comm = &rank->comms[first + i];
		walk->places[i] =
			(struct place){comm->name_id, comm->group_id, comm->step, first + i};
	}
	qsort(walk->places, walk->n_places, sizeof(*walk->places), compare_places);
	return FSL_OK;
}

/* Index of the row's operator in rank->comms, SIZE_MAX if it is unwanted or missing. */
static size_t find_comm(const struct walk *walk)
{
	size_t n_name = 0, n_group = 0;
	const struct fsl_strpool *names = walk->rank->names;
	const char *name = fsl_db_text(walk->rows, TRAFFIC_NAME, &n_name);
	const char *group = fsl_db_text(walk->rows, TRAFFIC_GROUP, &n_group);
	struct place key = {FSL_STR_NONE, FSL_STR_NONE, step_of(walk->rows, TRAFFIC_STEP), 0};
	if (name == NULL) {
		return SIZE_MAX;
	}
	key.name_id = fsl_strpool_find(names, name, n_name);
	key.group_id = group != NULL ? fsl_strpool_find(names, group, n_group) : FSL_STR_NONE;
	const struct place *place =
		bsearch(&key, walk->places, walk->n_places, sizeof(*walk->places), compare_places);
	return place != NULL ? place->at : SIZE_MAX;
}

/* Drops kinds of links without traffic, as the reader of the text file does. */
static void end_traffic(struct walk *walk)
{
	struct fsl_profile_rank *rank = walk->rank;
	if (walk->comm == SIZE_MAX || rank->comms[walk->comm].n_traffic == 0) {
		return;
	}
	const struct fsl_profile_traffic *last = &rank->traffic[rank->n_traffic - 1];
	if (last->n_bytes == 0 && last->time_ns <= 0 && last->n_packets == 0) {
		rank->n_traffic--;
		rank->comms[walk->comm].n_traffic--;
	}
}

static enum fsl_status begin_traffic(struct walk *walk, enum fsl_profile_transport transport,
				     struct fsl_error *err)
{
	struct fsl_profile_rank *rank = walk->rank;
	struct fsl_profile_comm *comm = &rank->comms[walk->comm];
	if (comm->n_traffic == 0) {
		comm->traffic_begin = (uint32_t)rank->n_traffic;
	}
	struct fsl_profile_traffic traffic = {
		.transport = transport,
		.n_bytes = amount_of(walk->rows, TRAFFIC_SIZE, BYTES_PER_MB),
		.gb_per_s = fsl_db_real(walk->rows, TRAFFIC_RATE),
		.large_packet_ratio = fsl_db_real(walk->rows, TRAFFIC_LARGE),
		.packets_begin = (uint32_t)rank->n_packets,
	};
	traffic.time_ns = duration_of(walk->rows, TRAFFIC_TIME, &traffic.time_ps);
	traffic.time_ns = traffic.time_ns == FSL_NS_ABSENT ? 0 : traffic.time_ns;
	FSL_TRY(FSL_GROW(rank->traffic, rank->traffic_capacity, rank->n_traffic + 1, err));
	rank->traffic[rank->n_traffic++] = traffic;
	comm->n_traffic++;
	return FSL_OK;
}

static enum fsl_status add_packets(struct walk *walk, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = walk->rank;
	struct fsl_profile_packets packets = {
		.n_bytes = amount_of(walk->rows, PACKET_SIZE, BYTES_PER_MB),
		.count = amount_of(walk->rows, PACKET_COUNT, 1),
	};
	packets.time_ns = duration_of(walk->rows, PACKET_TIME, &packets.time_ps);
	if (packets.count == 0 || packets.time_ns == FSL_NS_ABSENT) {
		return FSL_OK; /* a link without own packets has one row of zeros */
	}
	FSL_TRY(FSL_GROW(rank->packets, rank->packets_capacity, rank->n_packets + 1, err));
	rank->packets[rank->n_packets++] = packets;
	rank->traffic[rank->n_traffic - 1].n_packets++;
	return FSL_OK;
}

static enum fsl_status add_traffic(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct walk *walk = context;
	walk->rows = rows;
	const struct fsl_profile_rank *rank = walk->rank;
	size_t comm = find_comm(walk);
	if (comm == SIZE_MAX || rank->n_traffic >= UINT32_MAX || rank->n_packets >= UINT32_MAX) {
		return FSL_OK;
	}
	enum fsl_profile_transport transport = transport_of(rows, TRAFFIC_TRANSPORT);
	bool is_same = comm == walk->comm && rank->comms[comm].n_traffic > 0 &&
		       rank->traffic[rank->n_traffic - 1].transport == transport;
	if (!is_same) {
		end_traffic(walk);
		if (comm != walk->comm && rank->comms[comm].n_traffic > 0) {
			walk->comm = SIZE_MAX;
			return FSL_OK; /* not in order: a repeated row */
		}
		walk->comm = comm;
		FSL_TRY(begin_traffic(walk, transport, err));
	}
	return add_packets(walk, err);
}

/* Reads traffic for the operators in rank->comms from @first on. */
static enum fsl_status read_traffic(struct fsl_profile_rank *rank, size_t first, struct fsl_db *db,
				    struct fsl_error *err)
{
	struct walk walk = {.rank = rank, .comm = SIZE_MAX};
	if (rank->n_comms == first) {
		return FSL_OK;
	}
	enum fsl_status status = list_places(&walk, first, err);
	if (status == FSL_OK) {
		status = fsl_db_read(db, &traffic_select, add_traffic, &walk, err);
	}
	end_traffic(&walk);
	fsl_free(walk.places);
	return status;
}

static enum fsl_status read_comms(struct analysis *analysis, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = analysis->rank;
	size_t first = rank->n_comms;
	enum fsl_status status = fsl_db_read(analysis->db, &comm_select, add_comm, analysis, err);
	if (status == FSL_OK) {
		status = fsl_profile_merge_comms(rank, &first, analysis->db, err);
	}
	if (status == FSL_OK) {
		status = read_traffic(rank, first, analysis->db, err);
	}
	fsl_profile_sort_comms(rank);
	return status;
}

enum fsl_status fsl_profile_read_analysis_db(struct fsl_profile_rank *rank, struct fsl_db *db,
					     const struct fsl_profile_input *input,
					     struct fsl_error *err)
{
	struct analysis analysis = {rank, db, input};
	size_t n_steps = rank->n_steps, n_links = rank->n_links;
	FSL_TRY(fsl_db_read(db, &step_select, add_step, &analysis, err));
	FSL_TRY(fsl_profile_merge_steps(rank, n_steps, db, err));
	FSL_TRY(read_comms(&analysis, err));
	FSL_TRY(fsl_db_read(db, &link_select, add_link, &analysis, err));
	return fsl_profile_merge_links(rank, n_links, db, err);
}
