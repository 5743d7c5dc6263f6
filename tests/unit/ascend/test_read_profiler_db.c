/* The profiler's own databases: tasks, communication, calls, metadata; and a peer's results from
 * them. */
#include "one_database_folder.h"

#include "source/ascend/info.h"

#define NAME "ascend_pytorch_profiler_0.db"
#define RANK_0                                                                                     \
	"insight-2rank-db/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/"                          \
	"ascend_pytorch_profiler_0.db"
#define RECIPES "expected/insight-2rank-db/level1-recipes/"

#define TABLES                                                                                     \
	"CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"                            \
	"CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER,"                     \
	" connectionId INTEGER, globalTaskId INTEGER);"                                            \
	"CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY,"          \
	" taskType INTEGER, opType INTEGER, inputShapes INTEGER, inputDataTypes INTEGER);"         \
	"CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER,"           \
	" groupName INTEGER);"                                                                     \
	"CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);"                     \
	"INSERT INTO STRING_IDS VALUES (1, 'aclnnMm'), (2, 'AI_CORE'), (3, 'MatMul'),"             \
	" (4, '\"32,16;16,8\"'), (5, 'FLOAT;FLOAT'), (6, 'hcom_allReduce__586_0_1'),"              \
	" (7, 'group_name_5'), (8, 'N/A'), (9, 'hcom_receive__586_0_1'), (10, '586');"

static const char *name_of(uint32_t id)
{
	return reading_name(&folder.reading, id);
}

static void kernels_of_a_step_are_counted_by_kind(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "INSERT INTO STEP_TIME VALUES (7, 100, 200), (8, 200, 300);"
			    "INSERT INTO TASK VALUES (150, 160, 0, 0, 1), (110, 130, 0, 0, 2),"
			    " (250, 251, 0, 0, 3), (120, 190, 0, 0, 4), (90, 95, 0, 0, 5);"
			    "INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1, 2, 3, 4, 5),"
			    " (1, 2, 2, 3, 4, 5), (1, 3, 2, 3, 8, 8), (1, 5, 2, 3, 4, 5)");
	database_read(&folder);
	assert_int_equal(database_file(&folder, NAME)->state, FSL_FILE_READ);
	assert_int_equal(rank->n_kernels, 2);
	const struct fsl_profile_kernels *kernels = &rank->kernels[0];
	assert_int_equal(kernels->step, 7);
	assert_int_equal(kernels->count, 2);
	assert_int_equal(kernels->total_ns, 30);
	assert_int_equal(kernels->min_ns, 10);
	assert_int_equal(kernels->max_ns, 20);
	assert_string_equal(name_of(kernels->type_id), "MatMul");
	assert_string_equal(name_of(kernels->core_id), "AI_CORE");
	assert_string_equal(name_of(kernels->shape_id), "32,16;16,8|FLOAT;FLOAT");
	assert_int_equal(rank->kernels[1].step, 8);
	assert_int_equal(rank->n_rebuilt, 2);
	assert_int_equal(rank->rebuilt[0].computing_ns, 30);
	assert_int_equal(rank->rebuilt[0].free_ns, 20 + 90);
	assert_int_equal(rank->trace.begin_ns, 90);
	assert_int_equal(rank->trace.end_ns, 251);
}

static void counters_of_the_cores_are_those_of_the_text(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN blockDim INTEGER;"
			    "CREATE TABLE TASK_PMU_INFO (globalTaskId INTEGER, name INTEGER,"
			    " value NUMERIC);"
			    "INSERT INTO STRING_IDS VALUES (20, 'aic_mac_ratio'),"
			    " (21, 'aic_scalar_ratio'), (22, 'aiv_scalar_ratio'),"
			    " (23, 'aic_mac_time');"
			    "INSERT INTO TASK VALUES (1100, 2100, 0, 0, 1), (2100, 5100, 0, 0, 2);"
			    "INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1, 2, 3, 4, 5, 8),"
			    " (1, 2, 2, 3, 4, 5, 20);"
			    "INSERT INTO TASK_PMU_INFO VALUES (2, 20, 0.5), (1, 20, 0.25),"
			    " (9, 20, 1), (2, 21, 0.1), (2, 22, 0.9), (1, 22, 7), (1, 23, 0.75),"
			    " (NULL, 20, 0.5), (1, 99, 0.5)");
	database_read(&folder);
	assert_int_equal(rank->n_kernels, 1);
	assert_int_equal(rank->kernels[0].n_blocks, 20);
	const float *pipe_ns = rank->kernels[0].pipe_ns;
	assert_float_equal(pipe_ns[FSL_PIPE_CUBE], 1750.0, 0.1);
	assert_float_equal(pipe_ns[FSL_PIPE_SCALAR], 2700.0, 0.1);
	assert_float_equal(pipe_ns[FSL_PIPE_READ], 0.0, 0.1);
}

/* More tasks out of order than the breakdown holds: SQLite sorts them. */
static void tasks_may_come_in_any_order(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "INSERT INTO TASK WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL"
			    " SELECT i + 1 FROM n LIMIT 40000) SELECT 1000000 - 10 * i,"
			    " 1000000 - 10 * i + 6, 0, 0, i FROM n;"
			    "INSERT INTO COMPUTE_TASK_INFO SELECT 1, globalTaskId, 2, 3, 4, 5"
			    " FROM TASK");
	database_read(&folder);
	const struct fsl_file *file = database_file(&folder, NAME);
	assert_int_equal(file->state, FSL_FILE_READ);
	assert_int_equal(file->n_records, 40000);
	assert_int_equal(rank->n_kernels, 1);
	assert_int_equal(rank->kernels[0].count, 40000);
	assert_int_equal(rank->n_rebuilt, 1);
	assert_int_equal(rank->rebuilt[0].computing_ns, 40000 * 6);
	assert_int_equal(rank->rebuilt[0].free_ns, 39999 * 4);
}

static void communication_has_the_groups_of_the_text_files(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "INSERT INTO STEP_TIME VALUES (7, 100, 200);"
			    "INSERT INTO TASK VALUES (110, 130, 0, 0, 2);"
			    "INSERT INTO COMPUTE_TASK_INFO VALUES (1, 2, 2, 3, 4, 5);"
			    "INSERT INTO COMMUNICATION_OP VALUES (9, 170, 180, 10),"
			    " (6, 120, 150, 7), (6, 20, 50, 7)");
	database_read(&folder);
	assert_int_equal(rank->n_comms, 2);
	const struct fsl_profile_comm *comm = &rank->comms[0];
	assert_int_equal(comm->step, 7);
	assert_int_equal(comm->begin_ns, 120);
	assert_int_equal(comm->elapse_ns, 30);
	assert_int_equal(comm->transit_ns, FSL_NS_ABSENT);
	assert_false(comm->is_p2p);
	assert_string_equal(name_of(comm->name_id), "hcom_allReduce__586_0_1");
	assert_string_equal(name_of(comm->group_id), "5862276114690318097");
	assert_true(comm[1].is_p2p);
	assert_string_equal(name_of(comm[1].group_id), "586");
	assert_int_equal(rank->n_rebuilt, 1);
	assert_int_equal(rank->rebuilt[0].computing_ns, 20);
	assert_int_equal(rank->rebuilt[0].communication_ns, 40);
	assert_int_equal(rank->rebuilt[0].exposed_ns, 30);
	assert_int_equal(rank->rebuilt[0].bubble_ns, 10);
}

static void times_may_be_text_and_names_may_be_missing(void **state)
{
	(void)state;
	database_sql(&folder, "msprof_20260101.db",
		     "CREATE TABLE TASK (startNs TEXT, endNs TEXT, globalTaskId INTEGER);"
		     "CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER,"
		     " opType INTEGER);"
		     "INSERT INTO TASK VALUES ('1736410576395167660', '1736410576395182660', 1),"
		     " ('x', '2', 2), (10, 5, 3), (NULL, 4, 4);"
		     "INSERT INTO COMPUTE_TASK_INFO VALUES (99, 1, 98), (99, 2, 98),"
		     " (99, 3, 98), (99, 4, 98)");
	database_read(&folder);
	assert_int_equal(rank->n_kernels, 1);
	assert_int_equal(rank->kernels[0].step, FSL_STEP_ABSENT);
	assert_int_equal(rank->kernels[0].total_ns, 15000);
	assert_int_equal(rank->kernels[0].type_id, FSL_STR_NONE);
	const struct fsl_file *file = database_file(&folder, "msprof_20260101.db");
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 3);
}

static void only_the_device_of_the_rank_is_read(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);"
			    "INSERT INTO RANK_DEVICE_MAP VALUES (9, 3), (0, 5);"
			    "INSERT INTO TASK VALUES (110, 130, 3, 0, 1), (120, 125, 5, 0, 2);"
			    "INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1, 2, 3, 4, 5),"
			    " (1, 2, 2, 3, 4, 5)");
	database_read(&folder);
	assert_int_equal(rank->n_kernels, 1);
	assert_int_equal(rank->kernels[0].total_ns, 5);
	assert_int_equal(rank->rebuilt[0].device_id, 5);
}

static void slices_make_the_steps_that_no_file_tells(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "CREATE TABLE OVERLAP_ANALYSIS (deviceId INTEGER, startNs INTEGER,"
			    " endNs INTEGER, type INTEGER);"
			    "INSERT INTO STEP_TIME VALUES (7, 100, 200);"
			    "INSERT INTO OVERLAP_ANALYSIS VALUES (0, 110, 130, 0),"
			    " (0, 120, 150, 1), (0, 130, 150, 2), (0, 150, 190, 3),"
			    " (0, 190, 195, 0), (0, 500, 900, 0)");
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	const struct fsl_profile_step *step = &rank->steps[0];
	assert_int_equal(step->step, 7);
	assert_int_equal(step->computing_ns, 25);
	assert_int_equal(step->communication_ns, 30);
	assert_int_equal(step->exposed_ns, 20);
	assert_int_equal(step->overlapped_ns, 10);
	assert_int_equal(step->free_ns, 40);
	assert_int_equal(step->stage_ns, 85);
	assert_int_equal(step->preparing_ns, 10);
}

static void copies_count_in_the_slices_that_are_free(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "ALTER TABLE TASK ADD COLUMN taskType INTEGER;"
			    "CREATE TABLE OVERLAP_ANALYSIS (deviceId INTEGER, startNs INTEGER,"
			    " endNs INTEGER, type INTEGER);"
			    "INSERT INTO STRING_IDS VALUES (20, 'MEMCPY_ASYNC'), (21, 'SDMA');"
			    "INSERT INTO STEP_TIME VALUES (7, 100, 200), (8, 200, 300);"
			    "INSERT INTO TASK VALUES (110, 130, 0, 0, 1, 2),"
			    " (140, 160, 0, 0, 2, 20), (150, 170, 0, 0, 3, 20),"
			    " (150, 190, 0, 0, 4, 21), (260, 270, 0, 0, 5, 20),"
			    " (155, 185, 9, 0, 6, 20);"
			    "INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1, 2, 3, 4, 5);"
			    "INSERT INTO OVERLAP_ANALYSIS VALUES (0, 110, 130, 0),"
			    " (0, 150, 190, 3), (0, 190, 250, 0), (0, 250, 290, 3)");
	database_read(&folder);
	assert_int_equal(rank->n_copies, 2);
	assert_int_equal(rank->copies[0].step, 7);
	assert_int_equal(rank->copies[0].exposed_ns, 20);
	assert_int_equal(rank->copies[1].step, 8);
	assert_int_equal(rank->copies[1].exposed_ns, 10);
	assert_int_equal(database_file(&folder, NAME)->n_records, 2 + 1 + 4);
}

static void slices_that_are_not_all_there_are_not_used(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "CREATE TABLE OVERLAP_ANALYSIS (startNs, endNs, type);"
			    "INSERT INTO OVERLAP_ANALYSIS VALUES (110, 130, 0);"
			    "CREATE TABLE status_info (key TEXT, value TEXT);"
			    "INSERT INTO status_info VALUES ('OVERLAP_ANALYSIS_STATUS',"
			    " 'NOT_FINISH')");
	database_read(&folder);
	assert_int_equal(rank->n_steps, 0);
}

static void calls_are_summed_by_level_and_name(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER,"
			    " type INTEGER, name INTEGER);"
			    "INSERT INTO CANN_API VALUES (10, 20, 20000, 1), (30, 35, 10000, 1),"
			    " (40, 44, 20000, 1), (50, 51, 77, 1), (60, 61, 20000, 1234)");
	database_read(&folder);
	assert_int_equal(rank->n_api_statistics, 3);
	const struct fsl_profile_statistic *row = &rank->api_statistics[0];
	assert_string_equal(name_of(row->kind_id), "acl");
	assert_string_equal(name_of(row->name_id), "aclnnMm");
	assert_int_equal(row->count, 2);
	assert_int_equal(row->total_ns, 14);
	assert_int_equal(row->min_ns, 4);
	assert_int_equal(row->mean_ns, 7);
	assert_int_equal(row->max_ns, 10);
	assert_string_equal(name_of(rank->api_statistics[1].kind_id), "node");
	assert_int_equal(rank->api_statistics[2].kind_id, FSL_STR_NONE);
}

static void frequencies_hold_until_the_next(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     "CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC,"
		     " freq INTEGER);"
		     "INSERT INTO AICORE_FREQ VALUES (0, 300, 1800), (0, 100, 1800),"
		     " (0, 150, 800), (0, 400, 'x'), (0, 500, 1000)");
	database_read(&folder);
	assert_int_equal(rank->trace.n_freqs, 3);
	assert_int_equal(rank->trace.freqs_mhz[0], 800);
	assert_int_equal(rank->trace.freq_ns[0], 150);
	assert_int_equal(rank->trace.freqs_mhz[1], 1000);
	assert_int_equal(rank->trace.freq_ns[1], 0);
	assert_int_equal(rank->trace.freqs_mhz[2], 1800);
	assert_int_equal(rank->trace.freq_ns[2], 50 + 200);
}

static void metadata_tells_host_layout_and_groups(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     "CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT);"
		     "INSERT INTO HOST_INFO VALUES ('3538958389648580163', 'ubuntu');"
		     "CREATE TABLE META_DATA (name TEXT, value TEXT);"
		     "INSERT INTO META_DATA VALUES ('SCHEMA_VERSION', '1.0.0'),"
		     " ('distributed_args', '{\"world_size\": 4, \"pipeline_model_parallel_size\":"
		     " 2}'), ('parallel_group_info', '{\"group_name_5\": {\"group_name\":"
		     " \"dp_cp\", \"group_rank\": 0, \"global_ranks\": [0, 1]}}')");
	database_read(&folder);
	assert_string_equal(rank->info.host_uid, "3538958389648580163");
	assert_string_equal(rank->info.host_name, "ubuntu");
	assert_int_equal(rank->info.world_size, 4);
	assert_int_equal(rank->info.pipeline_size, 2);
	assert_int_equal(rank->info.n_groups, 1);
	assert_string_equal(rank->info.groups[0].name, "dp_cp");
	assert_string_equal(rank->info.groups[0].hash, "5862276114690318097");
}

static void metadata_that_is_no_json_is_told(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     "CREATE TABLE META_DATA (name TEXT, value TEXT);"
		     "INSERT INTO META_DATA VALUES ('parallel_group_info', '{\"group_'),"
		     " ('distributed_args', '[1]')");
	database_read(&folder);
	assert_int_equal(rank->info.n_groups, 0);
	assert_int_equal(database_file(&folder, NAME)->state, FSL_FILE_PARTIAL);
}

static void operators_with_groups_replace_rows_of_kernel_details(void **state)
{
	(void)state;
	reading_text(&folder.reading, fsl_profile_read_kernel_details,
		     "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
		     "7,hcom_allReduce__586_0_1,hcom_allReduce_,HCCL,0.12,0.03\n");
	assert_int_equal(rank->n_comms, 1);
	database_sql(&folder, NAME,
		     TABLES "INSERT INTO STEP_TIME VALUES (7, 100, 200);"
			    "INSERT INTO COMMUNICATION_OP VALUES (6, 120, 150, 7)");
	database_read(&folder);
	assert_int_equal(rank->n_comms, 1);
	assert_string_equal(name_of(rank->comms[0].group_id), "5862276114690318097");
	assert_int_equal(database_file(&folder, NAME)->state, FSL_FILE_READ);
}

/* Without an index each name costs a look at all: more than a file of this size may ask for. */
static void endless_work_is_stopped(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     "CREATE TABLE STRING_IDS (id INTEGER, value TEXT);"
		     "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER,"
		     " name INTEGER);"
		     "INSERT INTO STRING_IDS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL"
		     " SELECT i + 1 FROM n LIMIT 20000) SELECT -1, 'a' FROM n;"
		     "INSERT INTO CANN_API SELECT 0, 1, 5000, rowid FROM STRING_IDS");
	database_read(&folder);
	const struct fsl_file *file = database_file(&folder, NAME);
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_non_null(strstr(file->message, "more work than its size allows"));
}

static void of_databases_of_several_ranks_its_own_is_read(void **state)
{
	(void)state;
	rank->rank = 1;
	for (int r = 0; r < 3; r++) {
		char name[64], sql[128];
		(void)snprintf(name, sizeof(name), "ascend_pytorch_profiler_%d.db", r);
		(void)snprintf(sql, sizeof(sql),
			       "CREATE TABLE HOST_INFO (hostUid TEXT);"
			       "INSERT INTO HOST_INFO VALUES ('host%d')",
			       r);
		database_sql(&folder, name, sql);
	}
	database_read(&folder);
	assert_string_equal(rank->info.host_uid, "host1");
	assert_int_equal(database_file(&folder, "ascend_pytorch_profiler_2.db")->state,
			 FSL_FILE_DUPLICATE);
}

/* Copies the profiler's database of rank 0, without the analysis.db beside it. */
static void copy_real(void)
{
	static char bytes[1 << 20];
	char path[1024];
	reading_shared_path(path, sizeof(path), RANK_0);
	FILE *file = fopen(path, "rb");
	if (file == NULL) {
		skip();
	}
	size_t length = fread(bytes, 1, sizeof(bytes), file);
	assert_int_equal(fclose(file), 0);
	database_bytes(&folder, NAME, bytes, length);
}

static void a_real_database_alone_tells_the_steps_of_analysis_db(void **state)
{
	(void)state;
	copy_real();
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->n_rebuilt, 1);
	const struct fsl_profile_step *both[] = {&rank->steps[0], &rank->rebuilt[0]};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(both[i]->step, 50);
		assert_int_equal(both[i]->computing_ns, 8903431);
		assert_int_equal(both[i]->exposed_ns, 98071947);
		assert_int_equal(both[i]->overlapped_ns, 4036153);
		assert_int_equal(both[i]->communication_ns, 102108100);
		assert_int_equal(both[i]->free_ns, 25258144);
		assert_int_equal(both[i]->stage_ns, 132233522);
	}
	assert_int_equal(rank->steps[0].preparing_ns, 18055693);
	assert_int_equal(rank->trace.n_freqs, 1);
	assert_int_equal(rank->trace.freqs_mhz[0], 1800);
	assert_int_equal(rank->n_comms, 4);
	assert_string_equal(name_of(rank->comms[0].group_id), "17148521525495523210");
}

static const struct fsl_profile_link *link_to(int32_t dst)
{
	for (size_t i = 0; i < rank->n_links; i++) {
		if (rank->links[i].dst == dst) {
			return &rank->links[i];
		}
	}
	fail_msg("no link to %d", (int)dst);
	return NULL;
}

/* allreduce-total of CommAnalyzerMatrix: 61.210624 MB in 4.11136 ms to member 1, and so on. */
static void copies_of_a_real_database_make_the_links_of_analysis_db(void **state)
{
	(void)state;
	copy_real();
	database_read(&folder);
	assert_int_equal(rank->n_links, 8);
	const struct {
		int32_t dst;
		enum fsl_profile_transport transport;
		int64_t n_bytes, time_ns;
	} links[] = {{0, FSL_TRANSPORT_LOCAL, 61210656, 145024},
		     {1, FSL_TRANSPORT_HCCS, 61210624, 4111364},
		     {7, FSL_TRANSPORT_HCCS, 60332352, 3994040}};
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		const struct fsl_profile_link *link = link_to(links[i].dst);
		assert_int_equal(link->src, 0);
		assert_int_equal(link->step, 50);
		assert_int_equal(link->transport, links[i].transport);
		assert_int_equal(link->n_bytes, links[i].n_bytes);
		assert_int_equal(link->time_ns, links[i].time_ns);
		assert_string_equal(name_of(link->label_id), "allreduce-total");
		assert_string_equal(name_of(link->group_id), "17148521525495523210");
	}
	/* Waits for signals of the seven others; most by far for member 6. */
	assert_int_equal(rank->n_waits, 7);
	int64_t most_ns = 0, rest_ns = 0;
	for (size_t i = 0; i < rank->n_waits; i++) {
		*(rank->waits[i].place == 6 ? &most_ns : &rest_ns) += rank->waits[i].wait_ns;
	}
	assert_int_equal(most_ns, 97654290);
	assert_int_equal(rest_ns, 49631156);
}

static const struct fsl_profile_memory *memory_of(const char *component)
{
	for (size_t i = 0; i < rank->n_memory; i++) {
		if (strcmp(name_of(rank->memory[i].component_id), component) == 0) {
			return &rank->memory[i];
		}
	}
	fail_msg("no memory of %s", component);
	return NULL;
}

static void memory_of_a_real_database_is_told_in_its_greatest_amounts(void **state)
{
	(void)state;
	copy_real();
	database_read(&folder);
	assert_int_equal(memory_of("PTA")->reserved_bytes, 1522532352);
	assert_int_equal(memory_of("PTA")->largest_bytes, 150995456);
	assert_string_equal(name_of(memory_of("PTA")->largest_name_id), "aten::mm");
	assert_int_equal(memory_of("GE")->reserved_bytes, 78381056);
	assert_int_equal(memory_of("APP")->reserved_bytes, INT64_C(2216402944));
	assert_int_equal(memory_of("APP")->allocated_bytes, -1);
}

static void links_of_a_file_before_stay(void **state)
{
	(void)state;
	copy_real();
	rank->links = fsl_calloc(1, sizeof(*rank->links));
	assert_non_null(rank->links);
	rank->n_links = rank->links_capacity = 1;
	database_read(&folder);
	assert_int_equal(rank->n_links, 1);
	assert_int_equal(rank->n_waits, 7);
}

static void real_databases_of_a_rank_tell_the_same(void **state)
{
	(void)state;
	for (int r = 0; r < 2; r++) {
		char name[256];
		(void)snprintf(name, sizeof(name),
			       "insight-2rank-db/level1/rank%d_ascend_pt/ASCEND_PROFILER_OUTPUT",
			       r);
		database_read_shared(&folder, name);
		assert_int_equal(rank->n_files, 2);
		for (size_t i = 0; i < 2; i++) {
			assert_string_equal(rank->files[i].message, "");
			assert_int_equal(rank->files[i].state, FSL_FILE_READ);
		}
		assert_int_equal(rank->n_comms, 4);
		assert_int_equal(rank->n_links, 48);
		assert_int_equal(rank->n_steps, 1);
		assert_int_equal(rank->rebuilt[0].computing_ns, rank->steps[0].computing_ns);
		assert_int_equal(rank->rebuilt[0].exposed_ns, rank->steps[0].exposed_ns);
		assert_int_equal(rank->rebuilt[0].free_ns, rank->steps[0].free_ns);
		assert_int_equal(rank->rebuilt[0].stage_ns, rank->steps[0].stage_ns);
		folder_teardown(NULL);
		folder_setup(NULL);
	}
}

/* Hands the rows of a peer's result to @check. */
static size_t for_each_row(const char *recipe, const char *sql, void (*check)(sqlite3_stmt *row))
{
	char path[1024], uri[1100];
	sqlite3 *db = NULL;
	sqlite3_stmt *row = NULL;
	size_t n = 0;
	reading_shared_path(path, sizeof(path), recipe);
	(void)snprintf(uri, sizeof(uri), "file:%s?mode=ro&immutable=1", path);
	assert_int_equal(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
	while (sqlite3_step(row) == SQLITE_ROW) {
		check(row);
		n++;
	}
	(void)sqlite3_finalize(row);
	(void)sqlite3_close(db);
	return n;
}

static bool is_column(sqlite3_stmt *row, int column, uint32_t id)
{
	return strcmp((const char *)sqlite3_column_text(row, column), name_of(id)) == 0;
}

/* OpType, TaskType, Count, MinNs, MaxNs, SumNs. */
static void check_kernels(sqlite3_stmt *row)
{
	int64_t count = 0, min_ns = INT64_MAX, max_ns = 0, sum_ns = 0;
	for (size_t i = 0; i < rank->n_kernels; i++) {
		const struct fsl_profile_kernels *own = &rank->kernels[i];
		if (is_column(row, 0, own->type_id) && is_column(row, 1, own->core_id)) {
			count += own->count;
			sum_ns += own->total_ns;
			min_ns = own->min_ns < min_ns ? own->min_ns : min_ns;
			max_ns = own->max_ns > max_ns ? own->max_ns : max_ns;
		}
	}
	assert_int_equal(count, sqlite3_column_int64(row, 2));
	assert_int_equal(min_ns, sqlite3_column_int64(row, 3));
	assert_int_equal(max_ns, sqlite3_column_int64(row, 4));
	assert_int_equal(sum_ns, sqlite3_column_int64(row, 5));
}

/* name, totalCount, minNs, maxNs, totalTimeNs. */
static void check_calls(sqlite3_stmt *row)
{
	int64_t count = 0, min_ns = INT64_MAX, max_ns = 0, sum_ns = 0;
	for (size_t i = 0; i < rank->n_api_statistics; i++) {
		const struct fsl_profile_statistic *own = &rank->api_statistics[i];
		if (is_column(row, 0, own->name_id)) {
			count += own->count;
			sum_ns += own->total_ns;
			min_ns = own->min_ns < min_ns ? own->min_ns : min_ns;
			max_ns = own->max_ns > max_ns ? own->max_ns : max_ns;
		}
	}
	assert_int_equal(count, sqlite3_column_int64(row, 1));
	assert_int_equal(min_ns, sqlite3_column_int64(row, 2));
	assert_int_equal(max_ns, sqlite3_column_int64(row, 3));
	assert_int_equal(sum_ns, sqlite3_column_int64(row, 4));
}

/* startTime(us), duration(us) of the rank's longest gaps. */
static void check_gaps(sqlite3_stmt *row)
{
	int64_t begin_ns = (int64_t)(sqlite3_column_double(row, 0) * 1000 + 0.5);
	int64_t dur_ns = (int64_t)(sqlite3_column_double(row, 1) * 1000 + 0.5);
	for (size_t i = 0; i < rank->n_gaps; i++) {
		if (rank->gaps[i].begin_ns - INT64_C(1736410576000000000) == begin_ns) {
			assert_int_equal(rank->gaps[i].dur_ns, dur_ns);
			return;
		}
	}
	fail_msg("no gap at %lld ns", (long long)begin_ns);
}

static void sums_are_those_of_the_peer(void **state)
{
	(void)state;
	copy_real();
	database_read(&folder);
	assert_int_equal(for_each_row(RECIPES "compute_op_sum.db",
				      "SELECT OpType, TaskType, Count, MinNs, MaxNs, SumNs FROM"
				      " ComputeOpPerRankStatsByOpType WHERE Rank = 0",
				      check_kernels),
			 33);
	assert_int_equal(for_each_row(RECIPES "cann_api_sum.db",
				      "SELECT name, totalCount, minNs, maxNs, totalTimeNs FROM"
				      " CannApiSumRank WHERE rank = 0",
				      check_calls),
			 57);
	assert_int_equal(for_each_row(RECIPES "free_analysis.db",
				      "SELECT substr(\"startTime(us)\", 11), \"duration(us)\" FROM"
				      " FreeAnalysis WHERE rankId = 0",
				      check_gaps),
			 10);
}

/* The peer's reason for each of the rank's longest gaps: startTime(us), reason. */
static void check_reasons(sqlite3_stmt *row)
{
	int64_t begin_ns = (int64_t)(sqlite3_column_double(row, 0) * 1000 + 0.5);
	const char *reason = (const char *)sqlite3_column_text(row, 1);
	for (size_t i = 0; i < rank->trace.n_idle; i++) {
		const struct fsl_profile_idle *idle = &rank->trace.idle[i];
		if (idle->begin_ns - INT64_C(1736410576000000000) != begin_ns) {
			continue;
		}
		assert_in_range(idle->launch_lag_ns, 1, idle->dur_ns);
		assert_true(idle->torch_lag_ns > 0);
		bool is_framework = idle->torch_lag_ns <= idle->dur_ns;
		assert_int_equal(is_framework, strncmp(reason, "Idle Pytorch", 12) == 0);
		return;
	}
	fail_msg("no stretch at %lld ns", (long long)begin_ns);
}

static void reasons_of_idleness_are_those_of_the_peer(void **state)
{
	(void)state;
	copy_real();
	database_read(&folder);
	assert_true(rank->has_trace);
	assert_int_equal(rank->trace.n_launches, 204);
	assert_in_range(rank->trace.lag_median_ns, 400000, 800000);
	assert_int_equal(rank->trace.n_idle, FSL_PROFILE_GAPS_MAX);
	assert_true(rank->trace.idle[0].n_acl > 0);
	assert_int_equal(for_each_row(RECIPES "free_analysis.db",
				      "SELECT substr(\"startTime(us)\", 11), reason FROM"
				      " FreeAnalysis WHERE rankId = 0 AND reason NOT LIKE"
				      " 'Device task%'",
				      check_reasons),
			 9);
}

/* A collective is one launch, whatever its tasks are, and begins with the first of them. */
static void tasks_of_a_collective_are_one_launch(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "DROP TABLE COMMUNICATION_OP;"
			    "CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER,"
			    " endNs INTEGER, groupName INTEGER, connectionId INTEGER);"
			    "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER,"
			    " type INTEGER, connectionId INTEGER PRIMARY KEY, name INTEGER);"
			    "INSERT INTO TASK VALUES (100, 200, 0, 5, 1), (300, 310, 0, 6, 2),"
			    " (700, 710, 0, 6, 3), (800, 810, 0, 6, 4);"
			    "INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1, 2, 3, 4, 5);"
			    "INSERT INTO COMMUNICATION_OP VALUES (6, 300, 810, 7, 6);"
			    "INSERT INTO CANN_API VALUES (60, 70, 10000, 5, 1),"
			    " (220, 230, 10000, 6, 1);");
	database_read(&folder);
	const struct fsl_profile_trace *trace = &rank->trace;
	assert_int_equal(trace->n_launches, 2);
	assert_int_equal(trace->lag_max_ns, 80);
	assert_int_equal(trace->idle[0].launch_lag_ns, 80);
}

static void launches_lead_to_the_framework(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER,"
			    " type INTEGER, connectionId INTEGER PRIMARY KEY, name INTEGER);"
			    "CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT,"
			    " connectionId INTEGER, name INTEGER, type INTEGER);"
			    "CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);"
			    "CREATE TABLE GC_RECORD (startNs INTEGER, endNs INTEGER);"
			    "INSERT INTO STRING_IDS VALUES (11, 'enumerate(DataLoader)#next');"
			    "INSERT INTO TASK VALUES (100, 200, 0, 5, 1), (900, 950, 0, 6, 2);"
			    "INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1, 2, 3, 4, 5),"
			    " (1, 2, 2, 3, 4, 5);"
			    "INSERT INTO CANN_API VALUES (60, 70, 10000, 5, 1),"
			    " (800, 810, 10000, 6, 1);"
			    "INSERT INTO CONNECTION_IDS VALUES (1, 5), (2, 6);"
			    "INSERT INTO PYTORCH_API VALUES ('20', '30', 1, 1, 50001),"
			    " ('780', '790', 2, 1, 50001), ('1', '2', 2, 1, 50002),"
			    " ('1000', '20001000', NULL, 11, 50001),"
			    " ('1000', '20001000', NULL, 1, 50001);"
			    "INSERT INTO GC_RECORD VALUES (10, 2000010), (10, 20)");
	database_read(&folder);
	const struct fsl_profile_trace *trace = &rank->trace;
	assert_true(rank->has_trace);
	assert_int_equal(trace->n_launches, 2);
	assert_int_equal(trace->lag_max_ns, 100);
	assert_int_equal(trace->n_idle, 1);
	assert_int_equal(trace->idle[0].begin_ns, 200);
	assert_int_equal(trace->idle[0].launch_lag_ns, 100);
	assert_int_equal(trace->idle[0].torch_lag_ns, 120);
	assert_int_equal(trace->calls[FSL_HOST_DATALOADER].long_ns, 20000000);
	assert_int_equal(trace->calls[FSL_HOST_DATALOADER].n, 1);
	assert_int_equal(trace->calls[FSL_HOST_GC].n, 2);
	assert_int_equal(trace->calls[FSL_HOST_GC].long_ns, 2000000);
}

/* Each allocation in turn: the reading fails, and says that memory is short. */
static void short_memory_is_a_failure(void **state)
{
	(void)state;
	const struct fsl_profile_options options = {0};
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		folder_teardown(NULL);
		folder_setup(NULL);
		database_sql(
			&folder, "analysis.db",
			DATABASE_STEPS DATABASE_COMMS
			"INSERT INTO StepTraceTime VALUES (0, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1);"
			"INSERT INTO CommAnalyzerTime VALUES ('hcom_a__586_0_1',"
			" '5862276114690318097', 1, 1, 1, 1, 1, 1, 'step7', 'collective');"
			"INSERT INTO CommAnalyzerBandwidth VALUES ('hcom_a__586_0_1',"
			" '5862276114690318097', 'HCCS', 1, 1, 1, 1, 1, 1, 1, 'step7', 'p2p')");
		database_sql(&folder, NAME,
			     TABLES "INSERT INTO STEP_TIME VALUES (7, 100, 200);"
				    "INSERT INTO TASK VALUES (110, 130, 0, 0, 2);"
				    "INSERT INTO COMPUTE_TASK_INFO VALUES (1, 2, 2, 3, 4, 5);"
				    "INSERT INTO COMMUNICATION_OP VALUES (9, 170, 180, 7)");
		struct fsl_error err = {0};
		fsl_mem_fail_at(nth);
		status = fsl_profile_read_databases(rank, &options, &err);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_true(nth < 1000);
	}
	assert_int_equal(rank->n_kernels, 1);
	assert_int_equal(rank->n_comms, 1);
}

static void damage_is_told_and_no_failure(void **state)
{
	(void)state;
	static char sound[1 << 20], broken[1 << 20];
	char path[1024];
	uint32_t seed = 7;
	reading_shared_path(path, sizeof(path), RANK_0);
	FILE *file = fopen(path, "rb");
	if (file == NULL) {
		skip();
	}
	size_t length = fread(sound, 1, sizeof(sound), file);
	assert_int_equal(fclose(file), 0);
	for (size_t round = 0; round < 60; round++) {
		memcpy(broken, sound, length);
		for (size_t i = 0; i < 1 + round * 5; i++) {
			seed = seed * 1664525 + 1013904223;
			broken[(seed >> 4) % length] = (char)(seed >> 24);
		}
		size_t kept = round % 4 == 0 ? (seed >> 4) % length : length;
		folder_teardown(NULL);
		folder_setup(NULL);
		database_bytes(&folder, NAME, broken, kept);
		database_read(&folder);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)
	const struct CMUnitTest tests[] = {
		TEST(kernels_of_a_step_are_counted_by_kind),
		TEST(counters_of_the_cores_are_those_of_the_text),
		TEST(tasks_may_come_in_any_order),
		TEST(copies_count_in_the_slices_that_are_free),
		TEST(communication_has_the_groups_of_the_text_files),
		TEST(times_may_be_text_and_names_may_be_missing),
		TEST(only_the_device_of_the_rank_is_read),
		TEST(slices_make_the_steps_that_no_file_tells),
		TEST(slices_that_are_not_all_there_are_not_used),
		TEST(calls_are_summed_by_level_and_name),
		TEST(frequencies_hold_until_the_next),
		TEST(metadata_tells_host_layout_and_groups),
		TEST(metadata_that_is_no_json_is_told),
		TEST(operators_with_groups_replace_rows_of_kernel_details),
		TEST(endless_work_is_stopped),
		TEST(of_databases_of_several_ranks_its_own_is_read),
		TEST(a_real_database_alone_tells_the_steps_of_analysis_db),
		TEST(copies_of_a_real_database_make_the_links_of_analysis_db),
		TEST(memory_of_a_real_database_is_told_in_its_greatest_amounts),
		TEST(links_of_a_file_before_stay),
		TEST(real_databases_of_a_rank_tell_the_same),
		TEST(sums_are_those_of_the_peer),
		TEST(tasks_of_a_collective_are_one_launch),
		TEST(launches_lead_to_the_framework),
		TEST(reasons_of_idleness_are_those_of_the_peer),
		TEST(short_memory_is_a_failure),
		TEST(damage_is_told_and_no_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
