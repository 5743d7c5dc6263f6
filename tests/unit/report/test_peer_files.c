/* The files of the peer tool, from made-up sets. */
#include "unit/ascend/made_set.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "report/msprof/files.h"

static char folder[] = "/tmp/failslow-test-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/failslow-test-XXXXXX");
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	char command[128];
	(void)snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

static void path_of(char *path, size_t size, const char *name)
{
	(void)snprintf(path, size, "%s/cluster_analysis_output/%s", folder, name);
}

static void export(const struct fsl_profile *set)
{
	struct fsl_profile_cluster cluster = {0};
	assert_int_equal(fsl_profile_cluster_build(&cluster, set, NULL), FSL_OK);
	assert_int_equal(fsl_profile_write_peer_files(folder, set, &cluster, NULL), FSL_OK);
	fsl_profile_cluster_fini(&cluster);
}

static void assert_text(const char *name, const char *wanted)
{
	char path[128], *text = NULL;
	size_t length = 0;
	path_of(path, sizeof(path), name);
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_OK);
	assert_string_equal(text, wanted);
	fsl_free(text);
}

static bool is_there(const char *name)
{
	char path[128];
	path_of(path, sizeof(path), name);
	return access(path, F_OK) == 0;
}

/* Result of a query as text, rows behind each other, columns with '|'. */
static void assert_query(const char *sql, const char *wanted)
{
	char path[128], text[2048] = "";
	sqlite3 *db = NULL;
	sqlite3_stmt *row = NULL;
	size_t length = 0;
	path_of(path, sizeof(path), "cluster_analysis.db");
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
	while (sqlite3_step(row) == SQLITE_ROW) {
		for (int c = 0; c < sqlite3_column_count(row); c++) {
			const char *cell = (const char *)sqlite3_column_text(row, c);
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s|",
						   cell != NULL ? cell : "NULL");
		}
	}
	(void)sqlite3_finalize(row);
	(void)sqlite3_close(db);
	assert_string_equal(text, wanted);
}

static void add_step_row(struct fsl_profile *set, size_t r, int64_t computing_ns)
{
	struct fsl_profile_rank *rank = &set->ranks[r];
	assert_int_equal(FSL_GROW(rank->steps, rank->steps_capacity, rank->n_steps + 1, NULL),
			 FSL_OK);
	rank->steps[rank->n_steps++] = (struct fsl_profile_step){.step = 7,
								 .device_id = 4,
								 .computing_ns = computing_ns,
								 .exposed_ns = 1500 + (int64_t)r,
								 .preparing_ns = FSL_NS_ABSENT};
}

static void steps_have_a_row_per_rank_and_the_greatest_of_a_stage(void **state)
{
	(void)state;
	struct fsl_profile set;
	made_set_init(&set, 3);
	set.ranks[0].info.pipeline_size = 3;
	set.ranks[0].info.data_size = 2;
	set.ranks[0].info.world_size = 6;
	set.ranks[0].info.sequence_parallel = -1;
	set.ranks[0].info.host_uid = set.ranks[2].info.host_uid = "5";
	set.ranks[0].info.host_name = "node";
	for (size_t r = 0; r < 3; r++) {
		add_step_row(&set, r, r == 1 ? 1000000 : 2000250);
	}
	export(&set);
	assert_text("cluster_step_trace_time.csv",
		    "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,"
		    "Communication,Free,Stage,Bubble,Communication(Not Overlapped and Exclude "
		    "Receive),DP Index,PP Index,TP Index\r\n"
		    "7,rank,0,2000.25,1.5,0.0,0.0,0.0,0.0,0.0,0.0,0,0,0\r\n"
		    "7,rank,1,1000.0,1.501,0.0,0.0,0.0,0.0,0.0,0.0,1,0,0\r\n"
		    "7,rank,2,2000.25,1.502,0.0,0.0,0.0,0.0,0.0,0.0,0,1,0\r\n"
		    "7,stage,\"(0, 1)\",2000.25,1.501,0.0,0.0,0.0,0.0,0.0,0.0,NA,NA,NA\r\n"
		    "7,stage,\"(2, 3)\",2000.25,1.502,0.0,0.0,0.0,0.0,0.0,0.0,NA,NA,NA\r\n");
	assert_query("SELECT type, \"index\", computing, preparing, dp_index FROM "
		     "ClusterStepTraceTime WHERE \"index\" LIKE '%1%'",
		     "rank|1|1000|NULL|1|stage|(0,1)|2000.25|NULL|NA|");
	assert_query("SELECT * FROM RankDeviceMap WHERE rankId = 2", "2|4|5|made|");
	assert_query("SELECT * FROM HostInfo", "5|node|");
	assert_query("SELECT * FROM ClusterBaseInfo",
		     "distributed_args|{\"pipeline_model_parallel_size\": 3, "
		     "\"data_parallel_size\": 2, \"world_size\": 6, \"sequence_parallel\": "
		     "false}|");
	/* Nothing else is known. */
	assert_false(is_there("communication_group.json"));
	assert_false(is_there("cluster_communication.json"));
	assert_false(is_there("cluster_communication_matrix.json"));
	assert_query("SELECT count(*) FROM sqlite_master", "4|");
	fsl_profile_fini(&set);
}

static void places_that_nobody_told_are_none(void **state)
{
	(void)state;
	struct fsl_profile set;
	made_set_init(&set, 1);
	add_step_row(&set, 0, 1000);
	export(&set);
	assert_query("SELECT dp_index, pp_index, tp_index FROM ClusterStepTraceTime",
		     "NULL|NULL|NULL|");
	fsl_profile_fini(&set);
}

/* An operator that moved 8 bytes in two packets over HCCS. */
static void add_op(struct fsl_profile *set, size_t r, const char *name, int64_t elapse_ns)
{
	struct fsl_profile_rank *rank = &set->ranks[r];
	assert_int_equal(FSL_GROW(rank->traffic, rank->traffic_capacity, rank->n_traffic + 1, NULL),
			 FSL_OK);
	assert_int_equal(FSL_GROW(rank->packets, rank->packets_capacity, rank->n_packets + 1, NULL),
			 FSL_OK);
	struct fsl_profile_comm *comm = made_comm(set, r, name, "17", false);
	comm->begin_ns = INT64_C(1764246877147674500);
	comm->elapse_ns = elapse_ns;
	comm->elapse_ps = 31;
	comm->transit_ns = 1000;
	comm->wait_ns = 3000;
	comm->traffic_begin = (uint32_t)rank->n_traffic;
	comm->n_traffic = 1;
	rank->traffic[rank->n_traffic++] =
		(struct fsl_profile_traffic){.transport = FSL_TRANSPORT_HCCS,
					     .n_bytes = 8,
					     .time_ns = 2,
					     .gb_per_s = 4.5,
					     .large_packet_ratio = 0.5,
					     .packets_begin = (uint32_t)rank->n_packets,
					     .n_packets = 1};
	rank->packets[rank->n_packets++] =
		(struct fsl_profile_packets){.n_bytes = 4, .count = 2, .time_ns = 2};
}

#define NOTHING                                                                                    \
	"{\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, \"Bandwidth(GB/s)\": 0, \"Large "      \
	"Packet Ratio\": 0, \"Size Distribution\": {}}"
#define NO_SUM                                                                                     \
	"{\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, \"Bandwidth(GB/s)\": 0, \"Size "       \
	"Distribution\": {}}"

static void operators_stand_under_their_ranks_with_a_sum_behind(void **state)
{
	(void)state;
	struct fsl_profile set;
	made_set_init(&set, 1);
	add_op(&set, 0, "a\"", 5000);
	add_op(&set, 0, "a\"", 9000); /* the same key again: the first one stands */
	export(&set);
	assert_text(
		"cluster_communication.json",
		"{\"(0,)\": {\"step1\": {\"a\\\"@17\": {\"0\": {\"Communication Time Info\": "
		"{\"Start Timestamp(us)\": 1764246877147674.5, \"Elapse Time(ms)\": 0.005000031, "
		"\"Transit Time(ms)\": 0.001, \"Wait Time(ms)\": 0.003, \"Synchronization "
		"Time(ms)\": 0, \"Idle Time(ms)\": 0, \"Wait Time Ratio\": 0.75, \"Synchronization "
		"Time Ratio\": 0.0}, \"Communication Bandwidth Info\": {\"RDMA\": " NOTHING
		", \"HCCS\": {\"Transit Size(MB)\": 0.000008, \"Transit Time(ms)\": 0.000002, "
		"\"Bandwidth(GB/s)\": 4.5, \"Large Packet Ratio\": 0.5, \"Size Distribution\": "
		"{\"4e-06\": [2, 0.000002]}}, \"PCIE\": " NOTHING ", \"SDMA\": " NOTHING
		", \"SIO\": " NOTHING "}}}, \"Total Op Info@17\": {\"0\": {\"Communication Time "
		"Info\": {\"Elapse Time(ms)\": 0.005000031, \"Transit Time(ms)\": 0.001, \"Wait "
		"Time(ms)\": 0.003, \"Synchronization Time(ms)\": 0, \"Idle Time(ms)\": 0, \"Wait "
		"Time Ratio\": 0.75, \"Synchronization Time Ratio\": 0.0}, \"Communication "
		"Bandwidth Info\": {\"RDMA\": " NO_SUM
		", \"HCCS\": {\"Transit Size(MB)\": 0.000008, \"Transit Time(ms)\": 0.000002, "
		"\"Bandwidth(GB/s)\": 4.0, \"Size Distribution\": {\"4e-06\": [2, 0.000002]}}, "
		"\"PCIE\": " NO_SUM ", \"SDMA\": " NO_SUM ", \"SIO\": " NO_SUM "}}}}}}");
	fsl_profile_fini(&set);
}

static void sums_add_operators_and_recompute_ratios(void **state)
{
	(void)state;
	struct fsl_profile set;
	made_set_init(&set, 2);
	for (size_t r = 0; r < 2; r++) {
		add_op(&set, r, "a", 5000);
		add_op(&set, r, "b", 9000 + 1000 * (int64_t)r);
	}
	export(&set);
	assert_query("SELECT rank_id, elapsed_time, wait_time_ratio FROM ClusterCommunicationTime "
		     "WHERE hccl_op_name = 'Total Op Info'",
		     "0|0.014000062|0.75|1|0.015000062|0.75|");
	assert_query("SELECT band_type, transit_size, bandwidth, package_size, count FROM "
		     "ClusterCommunicationBandwidth WHERE rank_id = 1",
		     "HCCS|8.0e-06|4.5|4.0e-06|2|HCCS|8.0e-06|4.5|4.0e-06|2|"
		     "HCCS|1.6e-05|4.0|4.0e-06|4|");
	fsl_profile_fini(&set);
}

static void links_go_between_global_ranks_and_others_are_left_out(void **state)
{
	(void)state;
	struct fsl_profile set;
	made_set_init(&set, 2);
	for (size_t r = 0; r < 2; r++) {
		int32_t place = 1 - (int32_t)r; /* the group counts the other way round */
		made_link(&set, r, "allreduce-total", "17", place, place)->n_bytes = 8;
		made_link(&set, r, "allreduce-total", "17", place, 5)->n_bytes = 8;
		struct fsl_profile_link *link = made_link(&set, r, "allreduce-total", "17", 1, 0);
		link->n_bytes = 3000000;
		link->time_ns = 2000000;
		link->gb_per_s = 9;
		made_link(&set, r, "allreduce-top1", "17", 1, 0)->gb_per_s = NAN;
	}
	export(&set);
	assert_text(
		"cluster_communication_matrix.json",
		"{\"(0, 1)\": {\"step1\": {\"allreduce-total@17\": {\"0-0\": {\"Transport "
		"Type\": \"LOCAL\", \"Transit Time(ms)\": 0, \"Transit Size(MB)\": 0.000008, "
		"\"Op Name\": \"\", \"Bandwidth(GB/s)\": 0.0}, \"0-1\": {\"Transport Type\": "
		"\"HCCS\", \"Transit Time(ms)\": 4, \"Transit Size(MB)\": 6, \"Op Name\": \"\", "
		"\"Bandwidth(GB/s)\": 1.5}, \"1-1\": {\"Transport Type\": \"LOCAL\", \"Transit "
		"Time(ms)\": 0, \"Transit Size(MB)\": 0.000008, \"Op Name\": \"\", "
		"\"Bandwidth(GB/s)\": 0.0}}, \"allreduce-top1@17\": {\"0-1\": {\"Transport "
		"Type\": \"HCCS\", \"Transit Time(ms)\": 0, \"Transit Size(MB)\": 0, \"Op "
		"Name\": \"\", \"Bandwidth(GB/s)\": 0.0}}, \"Total Op Info@17\": {\"0-0\": "
		"{\"Transport Type\": \"LOCAL\", \"Transit Time(ms)\": 0, \"Transit Size(MB)\": "
		"0.000008, \"Op Name\": \"\", \"Bandwidth(GB/s)\": 0.0}, \"0-1\": {\"Transport "
		"Type\": \"HCCS\", \"Transit Time(ms)\": 4, \"Transit Size(MB)\": 6, \"Op "
		"Name\": \"\", \"Bandwidth(GB/s)\": 1.5}, \"1-1\": {\"Transport Type\": "
		"\"LOCAL\", \"Transit Time(ms)\": 0, \"Transit Size(MB)\": 0.000008, \"Op "
		"Name\": \"\", \"Bandwidth(GB/s)\": 0.0}}}}}");
	assert_query("SELECT hccl_op_name, src_rank, dst_rank, bandwidth FROM "
		     "ClusterCommunicationMatrix WHERE src_rank <> dst_rank",
		     "allreduce-total|0.0|1.0|1.5|allreduce-top1|0.0|1.0|0.0|"
		     "Total Op Info|0.0|1.0|1.5|");
	fsl_profile_fini(&set);
}

static void group_file_lists_who_used_it_and_who_is_in_it(void **state)
{
	(void)state;
	const int32_t told[] = {0, 1};
	struct fsl_profile set;
	made_set_init(&set, 1);
	made_comm(&set, 0, "hcom_send__1", "g", true);
	made_comm(&set, 0, "hcom_allReduce__1", "17", false);
	made_told(&set, 0, "g", "pp", told, 2);
	export(&set);
	assert_text("communication_group.json",
		    "{\"collective\": [[0]], \"p2p\": [[0]], \"comm_group_parallel_info\": "
		    "[{\"type\": \"collective\", \"rank_set\": [0], \"group_name\": \"17\", "
		    "\"group_id\": \"\", \"pg_name\": \"\"}, {\"type\": \"p2p\", \"rank_set\": [0, "
		    "1], \"group_name\": \"g\", \"group_id\": \"g\", \"pg_name\": \"pp\"}]}");
	assert_query("SELECT * FROM CommunicationGroupMapping WHERE type = 'p2p'",
		     "p2p|(0,1)|g|g|pp|");
	fsl_profile_fini(&set);
}

static void numbers_that_do_not_fit_are_held_at_the_end(void **state)
{
	(void)state;
	struct fsl_profile set;
	made_set_init(&set, 1);
	add_op(&set, 0, "a", INT64_MAX);
	add_op(&set, 0, "b", INT64_MAX);
	export(&set);
	assert_query("SELECT elapsed_time FROM ClusterCommunicationTime WHERE hccl_op_name = 'a'",
		     "9223372036.85478|");
	fsl_profile_fini(&set);
}

static void nothing_to_tell_writes_nothing(void **state)
{
	(void)state;
	struct fsl_profile set;
	made_set_init(&set, 1);
	export(&set);
	assert_false(is_there("cluster_analysis.db"));
	assert_false(is_there("cluster_step_trace_time.csv"));
	fsl_profile_fini(&set);
}

static void files_of_an_earlier_capture_do_not_stay(void **state)
{
	(void)state;
	struct fsl_profile set;
	made_set_init(&set, 1);
	add_op(&set, 0, "a", 5);
	export(&set);
	assert_true(is_there("cluster_communication.json"));
	fsl_profile_fini(&set);
	made_set_init(&set, 1);
	add_step_row(&set, 0, 5);
	export(&set);
	assert_true(is_there("cluster_step_trace_time.csv"));
	assert_false(is_there("cluster_communication.json"));
	assert_false(is_there("communication_group.json"));
	assert_query("SELECT name FROM sqlite_master", "ClusterStepTraceTime|RankDeviceMap|");
	fsl_profile_fini(&set);
}

static size_t count_files(void)
{
	char path[128], **names = NULL;
	size_t n = 0;
	path_of(path, sizeof(path), "");
	assert_int_equal(fsl_dir_list(path, &names, &n, NULL), FSL_OK);
	fsl_free(names);
	return n;
}

static void every_failed_allocation_is_told_and_leaves_no_half_file(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster = {0};
	made_set_init(&set, 2);
	add_op(&set, 0, "a", 5);
	add_op(&set, 1, "a", 5);
	add_step_row(&set, 0, 5);
	made_link(&set, 0, "allreduce-total", "17", 0, 0);
	assert_int_equal(fsl_profile_cluster_build(&cluster, &set, NULL), FSL_OK);
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		fsl_mem_fail_at(nth);
		status = fsl_profile_write_peer_files(folder, &set, &cluster, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_int_equal(count_files(), 5);
	fsl_profile_cluster_fini(&cluster);
	fsl_profile_fini(&set);
}

static void folder_that_cannot_be_made_is_told(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster = {0};
	struct fsl_error err = {0};
	made_set_init(&set, 1);
	assert_int_equal(fsl_profile_write_peer_files("/dev/null", &set, &cluster, &err),
			 FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "/dev/null"));
	fsl_profile_fini(&set);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(steps_have_a_row_per_rank_and_the_greatest_of_a_stage),
		IN_FOLDER(places_that_nobody_told_are_none),
		IN_FOLDER(operators_stand_under_their_ranks_with_a_sum_behind),
		IN_FOLDER(sums_add_operators_and_recompute_ratios),
		IN_FOLDER(links_go_between_global_ranks_and_others_are_left_out),
		IN_FOLDER(group_file_lists_who_used_it_and_who_is_in_it),
		IN_FOLDER(numbers_that_do_not_fit_are_held_at_the_end),
		IN_FOLDER(nothing_to_tell_writes_nothing),
		IN_FOLDER(files_of_an_earlier_capture_do_not_stay),
		IN_FOLDER(every_failed_allocation_is_told_and_leaves_no_half_file),
		IN_FOLDER(folder_that_cannot_be_made_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
