/* Copies of collectives in the profiler's database: links, and how many of them a rank may have. */
#include "one_database_folder.h"

#define NAME "ascend_pytorch_profiler_0.db"
#define TABLES                                                                                     \
	"CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"                            \
	"CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER,"                     \
	" globalTaskId INTEGER);"                                                                  \
	"CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY,"    \
	" taskType INTEGER, groupName INTEGER, srcRank INTEGER, dstRank INTEGER,"                  \
	" transportType INTEGER, linkType INTEGER, size INTEGER);"                                 \
	"INSERT INTO STRING_IDS VALUES (1, 'hcom_allReduce__586_0_1'), (2, 'Memcpy'), (3, '586');"

static void copies_over_one_link_are_summed(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "INSERT INTO TASK VALUES (100, 110, 0, 1), (200, 230, 0, 2);"
			    "INSERT INTO COMMUNICATION_TASK_INFO VALUES"
			    " (1, 1, 2, 3, 0, 1, 0, 1, 512), (1, 2, 2, 3, 0, 1, 0, 1, 1024);");
	database_read(&folder);
	assert_int_equal(rank->n_links, 1);
	assert_int_equal(rank->links[0].n_bytes, 1536);
	assert_int_equal(rank->links[0].time_ns, 40);
	assert_int_equal(rank->links[0].transport, FSL_TRANSPORT_HCCS);
}

static void more_links_than_a_rank_may_have_are_left_out_and_told(void **state)
{
	(void)state;
	database_sql(&folder, NAME,
		     TABLES "INSERT INTO TASK WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL"
			    " SELECT i + 1 FROM n LIMIT 65540) SELECT 10 * i, 10 * i + 6, 0, i"
			    " FROM n; INSERT INTO COMMUNICATION_TASK_INFO SELECT 1, globalTaskId,"
			    " 2, 3, globalTaskId / 256, globalTaskId % 256, 0, 1, 512 FROM TASK;");
	database_read(&folder);
	const struct fsl_file *file = database_file(&folder, NAME);
	assert_int_equal(rank->n_links, 65536);
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_string_equal(file->message, "more than 65536 links; further ones are left out");
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copies_over_one_link_are_summed, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(
			more_links_than_a_rank_may_have_are_left_out_and_told, folder_setup,
			folder_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
