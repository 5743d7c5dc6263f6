/* cluster_analysis.db: the tables of the peer tool and of its recipes communication_group_map,
 * communication_time_sum and communication_matrix_sum, with its names, columns and types. */
#include <inttypes.h>
#include <string.h>

#include "base/try.h"
#include "report/msprof/parts.h"
#include "report/msprof/sums.h"
#include "report/msprof/table.h"

#define PS_PER_MS 1e9
#define MB        1e6
#define US        1e3

static enum fsl_status put_groups(struct fsl_peer_table *table, const struct fsl_peer_index *index,
				  struct fsl_error *err)
{
	fsl_peer_table_begin(table,
			     "CREATE TABLE CommunicationGroupMapping (type TEXT, rank_set TEXT, "
			     "group_name TEXT, group_id TEXT, pg_name TEXT)",
			     "INSERT INTO CommunicationGroupMapping VALUES (?,?,?,?,?)");
	for (size_t g = 0; g < index->cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &index->cluster->groups[g];
		char *ranks = fsl_peer_ranks_text(group->ranks, group->n_ranks, false);
		if (ranks == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
					group->n_ranks);
		}
		fsl_peer_table_text(table, group->is_p2p ? "p2p" : "collective");
		fsl_peer_table_text(table, ranks);
		fsl_peer_table_text(table, group->hash);
		fsl_peer_table_text(table, group->id);
		fsl_peer_table_text(table, group->name);
		fsl_peer_table_end_row(table);
		fsl_free(ranks);
	}
	return FSL_OK;
}

/* Writes the first columns of a row of operators. */
static void put_head(struct fsl_peer_table *table, const struct fsl_peer_index *index,
		     const struct fsl_peer_entry *entry, bool is_sum)
{
	char step[32];
	fsl_peer_table_text(table, fsl_peer_step_text(entry->step, step, sizeof(step)));
	fsl_peer_table_integer(table, fsl_peer_rank(index, entry));
	fsl_peer_table_text(table,
			    is_sum ? "Total Op Info" : fsl_strpool_text(index->names, entry->name));
	fsl_peer_table_text(table, fsl_strpool_text(index->cluster->hashes, entry->hash));
}

static void put_time(struct fsl_peer_table *table, const struct fsl_peer_index *index,
		     const struct fsl_peer_entry *entry, const struct fsl_peer_sum *sum,
		     bool is_sum)
{
	put_head(table, index, entry, is_sum);
	fsl_peer_table_real(table, is_sum ? 0 : (double)fsl_peer_comm(index, entry)->begin_ns / US);
	fsl_peer_table_real(table, (double)sum->elapse_ps / PS_PER_MS);
	fsl_peer_table_real(table, (double)sum->transit_ps / PS_PER_MS);
	fsl_peer_table_real(table, (double)sum->wait_ps / PS_PER_MS);
	fsl_peer_table_real(table, (double)sum->sync_ps / PS_PER_MS);
	fsl_peer_table_real(table, (double)sum->idle_ps / PS_PER_MS);
	fsl_peer_table_real(table, fsl_peer_share(sum->sync_ps, sum->transit_ps));
	fsl_peer_table_real(table, fsl_peer_share(sum->wait_ps, sum->transit_ps));
	fsl_peer_table_end_row(table);
}

/* Writes one row per packet size; each row repeats the sums of the kind of link. */
static void put_bandwidth(struct fsl_peer_table *table, const struct fsl_peer_index *index,
			  const struct fsl_peer_entry *entry, const struct fsl_peer_sum *sum,
			  bool is_sum)
{
	const struct fsl_profile_rank *rank = &index->profile->ranks[entry->rank];
	const struct fsl_profile_comm *comm = fsl_peer_comm(index, entry);
	for (size_t i = 0; i < sum->n_packets; i++) {
		const struct fsl_peer_packets *packets = &sum->packets[i];
		int64_t n_bytes = sum->traffic[packets->transport].n_bytes;
		int64_t time_ps = sum->traffic[packets->transport].time_ps;
		double gb_per_s = fsl_peer_round(fsl_peer_bandwidth(n_bytes, time_ps));
		double large_ratio = 0;
		for (uint32_t t = 0; !is_sum && t < comm->n_traffic; t++) {
			const struct fsl_profile_traffic *own =
				&rank->traffic[comm->traffic_begin + t];
			if (own->transport == packets->transport) {
				gb_per_s = own->gb_per_s;
				large_ratio = own->large_packet_ratio;
			}
		}
		put_head(table, index, entry, is_sum);
		fsl_peer_table_text(table, fsl_profile_transport_text(packets->transport));
		fsl_peer_table_real(table, (double)n_bytes / MB);
		fsl_peer_table_real(table, (double)time_ps / PS_PER_MS);
		fsl_peer_table_real(table, gb_per_s);
		fsl_peer_table_real(table, large_ratio);
		fsl_peer_table_real(table, (double)packets->n_bytes / MB);
		fsl_peer_table_integer(table, packets->count);
		fsl_peer_table_real(table, (double)packets->time_ps / PS_PER_MS);
		fsl_peer_table_end_row(table);
	}
}

typedef void (*put_comm)(struct fsl_peer_table *table, const struct fsl_peer_index *index,
			 const struct fsl_peer_entry *entry, const struct fsl_peer_sum *sum,
			 bool is_sum);

/* Writes every operator of every rank, or one row per rank, step and group. */
static enum fsl_status put_comms(struct fsl_peer_table *table, const struct fsl_peer_index *index,
				 put_comm put, bool is_sum, struct fsl_error *err)
{
	const struct fsl_peer_entries *entries = is_sum ? &index->comm_sums : &index->comms;
	struct fsl_peer_sum sum = {0};
	enum fsl_status status = FSL_OK;
	size_t begin = 0;
	while (begin < entries->n && status == FSL_OK) {
		const struct fsl_peer_entry *entry = &entries->items[begin];
		size_t end = begin + 1;
		while (is_sum && end < entries->n && entries->items[end].set == entry->set &&
		       entries->items[end].step == entry->step &&
		       entries->items[end].hash == entry->hash &&
		       entries->items[end].rank == entry->rank) {
			end++;
		}
		status = fsl_peer_sum_comms(&sum, index, entries, begin, end, err);
		if (status == FSL_OK) {
			put(table, index, entry, &sum, is_sum);
		}
		begin = end;
	}
	fsl_peer_sum_fini(&sum);
	return status;
}

static enum fsl_status put_times(struct fsl_peer_table *table, const struct fsl_peer_index *index,
				 struct fsl_error *err)
{
	fsl_peer_table_begin(
		table,
		"CREATE TABLE ClusterCommunicationTime (step TEXT, rank_id INTEGER, "
		"hccl_op_name TEXT, group_name TEXT, start_timestamp REAL, elapsed_time REAL, "
		"transit_time REAL, wait_time REAL, synchronization_time REAL, idle_time REAL, "
		"synchronization_time_ratio REAL, wait_time_ratio REAL)",
		"INSERT INTO ClusterCommunicationTime VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
	FSL_TRY(put_comms(table, index, put_time, false, err));
	return put_comms(table, index, put_time, true, err);
}

static enum fsl_status put_bandwidths(struct fsl_peer_table *table,
				      const struct fsl_peer_index *index, struct fsl_error *err)
{
	fsl_peer_table_begin(
		table,
		"CREATE TABLE ClusterCommunicationBandwidth (step TEXT, rank_id INTEGER, "
		"hccl_op_name TEXT, group_name TEXT, band_type TEXT, transit_size REAL, "
		"transit_time REAL, bandwidth REAL, large_packet_ratio REAL, package_size REAL, "
		"count INTEGER, total_duration REAL)",
		"INSERT INTO ClusterCommunicationBandwidth VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
	FSL_TRY(put_comms(table, index, put_bandwidth, false, err));
	return put_comms(table, index, put_bandwidth, true, err);
}

static void put_link(struct fsl_peer_table *table, const struct fsl_peer_index *index,
		     const struct fsl_peer_entry *entry, const struct fsl_peer_link_sum *sum,
		     bool is_sum)
{
	char step[32];
	fsl_peer_table_text(table, fsl_peer_step_text(entry->step, step, sizeof(step)));
	fsl_peer_table_text(table,
			    is_sum ? "Total Op Info" : fsl_strpool_text(index->names, entry->name));
	fsl_peer_table_text(table, fsl_strpool_text(index->cluster->hashes, entry->hash));
	fsl_peer_table_real(table, entry->src);
	fsl_peer_table_real(table, entry->dst);
	fsl_peer_table_text(table, fsl_profile_transport_text(sum->transport));
	fsl_peer_table_text(table, sum->op_name);
	fsl_peer_table_real(table, (double)sum->n_bytes / MB);
	fsl_peer_table_real(table, (double)sum->time_ps / PS_PER_MS);
	fsl_peer_table_real(table, fsl_peer_bandwidth(sum->n_bytes, sum->time_ps));
	fsl_peer_table_end_row(table);
}

static void put_links(struct fsl_peer_table *table, const struct fsl_peer_index *index, bool is_sum)
{
	const struct fsl_peer_entries *links = is_sum ? &index->link_sums : &index->links;
	size_t begin = 0;
	while (begin < links->n) {
		size_t end = fsl_peer_run_end(links, begin, links->n, FSL_PEER_RUN_SET);
		end = fsl_peer_run_end(links, begin, end, FSL_PEER_RUN_STEP);
		end = fsl_peer_run_end(links, begin, end,
				       is_sum ? FSL_PEER_RUN_GROUP : FSL_PEER_RUN_NAME);
		while (begin < end) {
			size_t next = fsl_peer_run_end(links, begin, end, FSL_PEER_RUN_LINK);
			const struct fsl_peer_entry *entry = &links->items[begin];
			if (entry->src >= 0) {
				struct fsl_peer_link_sum sum =
					fsl_peer_sum_links(index, links, begin, next);
				put_link(table, index, entry, &sum, is_sum);
			}
			begin = next;
		}
	}
}

static enum fsl_status put_matrix(struct fsl_peer_table *table, const struct fsl_peer_index *index,
				  struct fsl_error *err)
{
	(void)err;
	fsl_peer_table_begin(
		table,
		"CREATE TABLE ClusterCommunicationMatrix (step TEXT, hccl_op_name TEXT, "
		"group_name TEXT, src_rank REAL, dst_rank REAL, transport_type TEXT, "
		"op_name TEXT, transit_size REAL, transit_time REAL, bandwidth REAL)",
		"INSERT INTO ClusterCommunicationMatrix VALUES (?,?,?,?,?,?,?,?,?,?)");
	put_links(table, index, false);
	put_links(table, index, true);
	return FSL_OK;
}

static void put_place(struct fsl_peer_table *table, const struct fsl_peer_index *index,
		      const struct fsl_peer_step_row *row)
{
	const struct fsl_profile_place *place = &index->cluster->places[row->rank];
	bool is_stage = row->stage != SIZE_MAX;
	const int32_t numbers[] = {place->dp, place->pp, place->tp};
	for (size_t i = 0; i < 3; i++) {
		if (is_stage && index->cluster->has_places) {
			fsl_peer_table_text(table, "NA");
		} else if (is_stage || numbers[i] < 0) {
			fsl_peer_table_none(table);
		} else {
			fsl_peer_table_integer(table, numbers[i]);
		}
	}
}

static enum fsl_status put_step(struct fsl_peer_table *table, const struct fsl_peer_index *index,
				const struct fsl_peer_step_row *row, struct fsl_error *err)
{
	bool is_stage = row->stage != SIZE_MAX;
	const struct fsl_profile_stage *stage =
		is_stage ? &index->cluster->stages[row->stage] : NULL;
	char number[32] = "";
	char *ranks = is_stage ? fsl_peer_ranks_text(stage->ranks, stage->n_ranks, false) : NULL;
	if (is_stage && ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", stage->n_ranks);
	}
	if (row->step != FSL_STEP_ABSENT) {
		(void)snprintf(number, sizeof(number), "%" PRId64, row->step);
	}
	fsl_peer_table_text(table, number);
	fsl_peer_table_text(table, is_stage ? "stage" : "rank");
	(void)snprintf(number, sizeof(number), "%" PRId32, index->profile->ranks[row->rank].rank);
	fsl_peer_table_text(table, is_stage ? ranks : number);
	for (size_t c = 0; c < FSL_PEER_STEP_COLUMNS; c++) {
		if (row->columns_ns[c] == FSL_NS_ABSENT) {
			fsl_peer_table_none(table);
		} else {
			fsl_peer_table_real(table, (double)row->columns_ns[c] / US);
		}
	}
	put_place(table, index, row);
	fsl_peer_table_end_row(table);
	fsl_free(ranks);
	return FSL_OK;
}

static enum fsl_status put_steps(struct fsl_peer_table *table, const struct fsl_peer_index *index,
				 struct fsl_error *err)
{
	struct fsl_peer_step_row *rows = NULL;
	size_t n_rows = 0;
	enum fsl_status status =
		fsl_peer_step_rows(index->profile, index->cluster, &rows, &n_rows, err);
	fsl_peer_table_begin(
		table,
		"CREATE TABLE ClusterStepTraceTime (step TEXT, type TEXT, \"index\" TEXT, "
		"computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC, "
		"communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC, "
		"communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC, "
		"dp_index INTEGER, pp_index INTEGER, tp_index INTEGER)",
		"INSERT INTO ClusterStepTraceTime VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	for (size_t i = 0; i < n_rows && status == FSL_OK; i++) {
		status = put_step(table, index, &rows[i], err);
	}
	fsl_free(rows);
	return status;
}

/* True for the first rank of each host: there are many ranks and few hosts. */
static bool is_first_of_host(const struct fsl_profile *profile, size_t r)
{
	for (size_t i = 0; i < r; i++) {
		if (strcmp(profile->ranks[i].info.host_uid, profile->ranks[r].info.host_uid) == 0) {
			return false;
		}
	}
	return *profile->ranks[r].info.host_uid != '\0';
}

static enum fsl_status put_hosts(struct fsl_peer_table *table, const struct fsl_peer_index *index,
				 struct fsl_error *err)
{
	(void)err;
	fsl_peer_table_begin(table, "CREATE TABLE HostInfo (hostUid TEXT, hostName TEXT)",
			     "INSERT INTO HostInfo VALUES (?,?)");
	for (size_t r = 0; r < index->profile->n_ranks; r++) {
		const struct fsl_profile_info *info = &index->profile->ranks[r].info;
		if (is_first_of_host(index->profile, r)) {
			fsl_peer_table_text(table, info->host_uid);
			fsl_peer_table_text(table,
					    *info->host_name != '\0' ? info->host_name : NULL);
			fsl_peer_table_end_row(table);
		}
	}
	return FSL_OK;
}

static int64_t device_of(const struct fsl_profile_rank *rank)
{
	int64_t device = rank->n_steps > 0 ? rank->steps[0].device_id : -1;
	return device < 0 && rank->n_rebuilt > 0 ? rank->rebuilt[0].device_id : device;
}

static enum fsl_status put_devices(struct fsl_peer_table *table, const struct fsl_peer_index *index,
				   struct fsl_error *err)
{
	(void)err;
	fsl_peer_table_begin(table,
			     "CREATE TABLE RankDeviceMap (rankId INTEGER, deviceId INTEGER, "
			     "hostUid TEXT, profilePath TEXT)",
			     "INSERT INTO RankDeviceMap VALUES (?,?,?,?)");
	for (size_t r = 0; r < index->profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &index->profile->ranks[r];
		const char *host = *rank->info.host_uid != '\0' ? rank->info.host_uid : NULL;
		int64_t device = device_of(rank);
		if (device < 0 && host == NULL) {
			continue;
		}
		fsl_peer_table_integer(table, rank->rank);
		if (device >= 0) {
			fsl_peer_table_integer(table, device);
		} else {
			fsl_peer_table_none(table);
		}
		fsl_peer_table_text(table, host);
		fsl_peer_table_text(table, rank->folder.path);
		fsl_peer_table_end_row(table);
	}
	return FSL_OK;
}

/* Adds a key to the object in @text, which already has its first key. */
static void add_key(char *text, size_t size, const char *key, const char *value)
{
	size_t length = strlen(text);
	(void)snprintf(text + length, size - length, "%s\"%s\": %s", length > 0 ? ", " : "{", key,
		       value);
}

/* The layout as the framework writes it; "" if it is unknown. */
static void layout_text(const struct fsl_profile_info *info, char *text, size_t size)
{
	const struct {
		const char *key;
		int64_t value;
	} sizes[] = {
		{"tensor_model_parallel_size", info->tensor_size},
		{"pipeline_model_parallel_size", info->pipeline_size},
		{"data_parallel_size", info->data_size},
		{"context_parallel_size", info->context_size},
		{"expert_model_parallel_size", info->expert_size},
		{"world_size", info->world_size},
	};
	text[0] = '\0';
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char number[32];
		(void)snprintf(number, sizeof(number), "%" PRId64, sizes[i].value);
		if (sizes[i].value > 0) {
			add_key(text, size, sizes[i].key, number);
		}
	}
	if (info->sequence_parallel != 0) {
		add_key(text, size, "sequence_parallel",
			info->sequence_parallel > 0 ? "true" : "false");
	}
	if (text[0] != '\0') {
		size_t length = strlen(text);
		(void)snprintf(text + length, size - length, "}");
	}
}

static enum fsl_status put_base(struct fsl_peer_table *table, const struct fsl_peer_index *index,
				struct fsl_error *err)
{
	(void)err;
	char text[512] = "";
	for (size_t r = 0; r < index->profile->n_ranks && text[0] == '\0'; r++) {
		layout_text(&index->profile->ranks[r].info, text, sizeof(text));
	}
	if (text[0] != '\0') {
		fsl_peer_table_begin(table, "CREATE TABLE ClusterBaseInfo (key TEXT, value TEXT)",
				     "INSERT INTO ClusterBaseInfo VALUES (?,?)");
		fsl_peer_table_text(table, "distributed_args");
		fsl_peer_table_text(table, text);
		fsl_peer_table_end_row(table);
	}
	return FSL_OK;
}

enum fsl_status fsl_peer_write_database(const char *path, const struct fsl_peer_index *index,
					struct fsl_error *err)
{
	static enum fsl_status (*const put[])(struct fsl_peer_table *,
					      const struct fsl_peer_index *, struct fsl_error *) = {
		put_groups, put_times, put_bandwidths, put_matrix,
		put_steps,  put_hosts, put_devices,    put_base,
	};
	struct fsl_peer_table table;
	enum fsl_status status = FSL_OK;
	fsl_peer_table_open(&table, path);
	for (size_t i = 0; i < sizeof(put) / sizeof(put[0]) && status == FSL_OK; i++) {
		status = put[i](&table, index, err);
	}
	enum fsl_status finished =
		fsl_peer_table_finish(&table, path, status == FSL_OK ? err : NULL);
	return status == FSL_OK ? finished : status;
}
