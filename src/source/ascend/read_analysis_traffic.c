/* CommAnalyzerBandwidth of analysis.db: traffic of each operator by kind of link. */
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "source/ascend/read_analysis_parts.h"

#include <stdlib.h>

enum column {
	NAME,
	GROUP,
	STEP,
	TRANSPORT,
	SIZE,
	TIME,
	RATE,
	LARGE,
	PACKET_SIZE,
	PACKET_COUNT,
	PACKET_TIME,
	COLUMNS_N
};

static const struct fsl_db_column columns[COLUMNS_N] = {
	[NAME] = {{"hccl_op_name", "op_name"}, true, 0},
	[GROUP] = {{"group_name"}, false, 0},
	[STEP] = {{"step"}, false, 0},
	[TRANSPORT] = {{"transport_type", "band_type"}, true, 0},
	[SIZE] = {{"transit_size"}, true, 0},
	[TIME] = {{"transit_time"}, true, 0},
	[RATE] = {{"bandwidth"}, false, 0},
	[LARGE] = {{"large_packet_ratio"}, false, 0},
	[PACKET_SIZE] = {{"package_size"}, false, 0},
	[PACKET_COUNT] = {{"count"}, false, 0},
	[PACKET_TIME] = {{"total_duration"}, false, 0},
};

/* One row per packet size; rows of one operator and kind of link follow each other. */
static const struct fsl_db_select select_all = {
	{"CommAnalyzerBandwidth"}, NULL, columns, COLUMNS_N, "ORDER BY 1, 2, 3, 4"};

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
	struct fsl_db_rows *rows;
	struct place *places; /* sorted */
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
	const char *name = fsl_db_text(walk->rows, NAME, &n_name);
	const char *group = fsl_db_text(walk->rows, GROUP, &n_group);
	struct place key = {FSL_STR_NONE, FSL_STR_NONE, fsl_analysis_step(walk->rows, STEP), 0};
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
		.n_bytes = fsl_analysis_amount(walk->rows, SIZE, FSL_ANALYSIS_BYTES_PER_MB),
		.gb_per_s = fsl_db_real(walk->rows, RATE),
		.large_packet_ratio = fsl_db_real(walk->rows, LARGE),
		.packets_begin = (uint32_t)rank->n_packets,
	};
	traffic.time_ns = fsl_analysis_duration(walk->rows, TIME, &traffic.time_ps);
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
		.n_bytes = fsl_analysis_amount(walk->rows, PACKET_SIZE, FSL_ANALYSIS_BYTES_PER_MB),
		.count = fsl_analysis_amount(walk->rows, PACKET_COUNT, 1),
	};
	packets.time_ns = fsl_analysis_duration(walk->rows, PACKET_TIME, &packets.time_ps);
	if (packets.count == 0 || packets.time_ns == FSL_NS_ABSENT) {
		return FSL_OK; /* a link without own packets has one row of zeros */
	}
	FSL_TRY(FSL_GROW(rank->packets, rank->packets_capacity, rank->n_packets + 1, err));
	rank->packets[rank->n_packets++] = packets;
	rank->traffic[rank->n_traffic - 1].n_packets++;
	return FSL_OK;
}

static enum fsl_status add_row(struct walk *walk, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = walk->rank;
	size_t comm = find_comm(walk);
	if (comm == SIZE_MAX || rank->n_traffic >= UINT32_MAX || rank->n_packets >= UINT32_MAX) {
		return FSL_OK;
	}
	enum fsl_profile_transport transport = fsl_analysis_transport(walk->rows, TRANSPORT);
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

enum fsl_status fsl_analysis_read_traffic(struct fsl_profile_rank *rank, size_t first,
					  struct fsl_db *db, struct fsl_error *err)
{
	struct walk walk = {.rank = rank, .comm = SIZE_MAX};
	if (rank->n_comms == first) {
		return FSL_OK;
	}
	enum fsl_status status = list_places(&walk, first, err);
	if (status == FSL_OK) {
		status = fsl_db_select(&walk.rows, db, &select_all, err);
	}
	bool has_row = walk.rows != NULL;
	while (status == FSL_OK && has_row) {
		status = fsl_db_next(walk.rows, &has_row, err);
		if (status == FSL_OK && has_row) {
			status = add_row(&walk, err);
		}
	}
	end_traffic(&walk);
	fsl_db_rows_close(walk.rows);
	fsl_free(walk.places);
	return status;
}
