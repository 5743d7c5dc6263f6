/* analysis.db (MindSpore: communication_analyzer.db): the content of step_trace_time.csv,
 * communication.json and communication_matrix.json as tables, with the units of these files. */
#include "source/ascend/read_analysis_parts.h"

#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "source/ascend/merge.h"

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

static enum fsl_status add_step(struct fsl_profile_rank *rank, struct fsl_db_rows *rows,
				const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct fsl_profile_step row = {
		.step = fsl_analysis_step(rows, STEP),
		.device_id = -1,
		.computing_ns = fsl_analysis_time(rows, COMPUTING, FSL_NS_PER_US),
		.exposed_ns = fsl_analysis_time(rows, EXPOSED, FSL_NS_PER_US),
		.overlapped_ns = fsl_analysis_time(rows, OVERLAPPED, FSL_NS_PER_US),
		.communication_ns = fsl_analysis_time(rows, COMMUNICATION, FSL_NS_PER_US),
		.free_ns = fsl_analysis_time(rows, FREE, FSL_NS_PER_US),
		.stage_ns = fsl_analysis_time(rows, STAGE, FSL_NS_PER_US),
		.bubble_ns = fsl_analysis_time(rows, BUBBLE, FSL_NS_PER_US),
		.exposed_not_receive_ns = fsl_analysis_time(rows, NOT_RECEIVE, FSL_NS_PER_US),
		.preparing_ns = fsl_analysis_time(rows, PREPARING, FSL_NS_PER_US),
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
	if (!fsl_profile_wants_step(input, row.step)) {
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

static enum fsl_status add_comm(struct fsl_profile_rank *rank, struct fsl_db_rows *rows,
				const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct fsl_profile_comm row = {
		.step = fsl_analysis_step(rows, COMM_STEP),
		.begin_ns = fsl_analysis_time(rows, BEGIN, FSL_NS_PER_US),
		.traffic_begin = (uint32_t)rank->n_traffic,
	};
	row.elapse_ns = fsl_analysis_duration(rows, ELAPSE, &row.elapse_ps);
	row.transit_ns = fsl_analysis_duration(rows, TRANSIT, &row.transit_ps);
	row.wait_ns = fsl_analysis_duration(rows, WAIT, &row.wait_ps);
	row.sync_ns = fsl_analysis_duration(rows, SYNC, &row.sync_ps);
	row.idle_ns = fsl_analysis_duration(rows, IDLE, &row.idle_ps);
	if (!fsl_profile_wants_step(input, row.step)) {
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
	row.is_p2p = fsl_analysis_is_p2p(rows, COMM_TYPE, name);
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

static enum fsl_status add_link(struct fsl_profile_rank *rank, struct fsl_db_rows *rows,
				const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct fsl_profile_link row = {
		.step = fsl_analysis_step(rows, LINK_STEP),
		.transport = fsl_analysis_transport(rows, LINK_TRANSPORT),
		.n_bytes = fsl_analysis_amount(rows, LINK_SIZE, FSL_ANALYSIS_BYTES_PER_MB),
		.gb_per_s = fsl_db_real(rows, LINK_RATE),
	};
	row.time_ns = fsl_analysis_duration(rows, LINK_TIME, &row.time_ps);
	if (!fsl_profile_wants_step(input, row.step)) {
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
	row.is_p2p =
		fsl_analysis_is_p2p(rows, LINK_TYPE, fsl_strpool_text(rank->names, row.name_id));
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

static enum fsl_status read_comms(struct fsl_profile_rank *rank, struct fsl_db *db,
				  const struct fsl_profile_input *input, struct fsl_error *err)
{
	size_t first = rank->n_comms;
	enum fsl_status status =
		fsl_analysis_read_table(rank, db, &comm_select, add_comm, input, err);
	if (status == FSL_OK) {
		status = fsl_profile_merge_comms(rank, &first, db, err);
	}
	if (status == FSL_OK) {
		status = fsl_analysis_read_traffic(rank, first, db, err);
	}
	fsl_profile_sort_comms(rank);
	return status;
}

enum fsl_status fsl_profile_read_analysis_db(struct fsl_profile_rank *rank, struct fsl_db *db,
					     const struct fsl_profile_input *input,
					     struct fsl_error *err)
{
	size_t n_steps = rank->n_steps, n_links = rank->n_links;
	FSL_TRY(fsl_analysis_read_table(rank, db, &step_select, add_step, input, err));
	FSL_TRY(fsl_profile_merge_steps(rank, n_steps, db, err));
	FSL_TRY(read_comms(rank, db, input, err));
	FSL_TRY(fsl_analysis_read_table(rank, db, &link_select, add_link, input, err));
	return fsl_profile_merge_links(rank, n_links, db, err);
}
