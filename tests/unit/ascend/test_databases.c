/* Foreign databases: never changed; a fault in one costs only that one. */
#include "one_database_folder.h"

#include <dirent.h>

#define ONE_STEP                                                                                   \
	DATABASE_STEPS "INSERT INTO StepTraceTime VALUES (0, '1', 1, 1, 1, 1, 1, 1, 1, 1, 1);"

static size_t n_entries(void)
{
	DIR *dir = opendir(folder.path);
	size_t n = 0;
	assert_non_null(dir);
	while (readdir(dir) != NULL) {
		n++;
	}
	assert_int_equal(closedir(dir), 0);
	return n - 2;
}

static size_t load(const char *name, char *bytes, size_t size)
{
	FILE *file = fopen(database_path(&folder, name), "rb");
	assert_non_null(file);
	size_t length = fread(bytes, 1, size, file);
	assert_int_equal(fclose(file), 0);
	assert_true(length < size);
	return length;
}

static void communication_of_msprof_lies_in_a_folder_of_its_own(void **state)
{
	(void)state;
	char path[512];
	(void)snprintf(path, sizeof(path), "%s/analyze", folder.path);
	assert_int_equal(mkdir(path, 0755), 0);
	database_sql(&folder, "analyze/communication_analyzer.db", ONE_STEP);
	database_read(&folder);
	assert_int_equal(rank->n_steps, 0);
	rank->folder.writer = FSL_PROFILE_MSPROF;
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_true(rank->has_db);
}

/* In WAL mode SQLite would make files beside the database even to read it. */
static void a_database_is_read_without_a_trace(void **state)
{
	(void)state;
	static char before[1 << 16], after[1 << 16];
	struct stat first, second, dir_first, dir_second;
	database_sql(&folder, "analysis.db", "PRAGMA journal_mode = WAL;" ONE_STEP);
	size_t n_before = load("analysis.db", before, sizeof(before));
	assert_int_equal(stat(database_path(&folder, "analysis.db"), &first), 0);
	assert_int_equal(stat(folder.path, &dir_first), 0);
	assert_int_equal(n_entries(), 1);
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(n_entries(), 1);
	assert_int_equal(stat(database_path(&folder, "analysis.db"), &second), 0);
	assert_int_equal(stat(folder.path, &dir_second), 0);
	assert_memory_equal(&first.st_mtim, &second.st_mtim, sizeof(first.st_mtim));
	assert_memory_equal(&dir_first.st_mtim, &dir_second.st_mtim, sizeof(first.st_mtim));
	assert_int_equal(load("analysis.db", after, sizeof(after)), n_before);
	assert_memory_equal(before, after, n_before);
}

static void a_folder_that_cannot_be_written_is_read(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db", "PRAGMA journal_mode = WAL;" ONE_STEP);
	assert_int_equal(chmod(database_path(&folder, "analysis.db"), 0444), 0);
	assert_int_equal(chmod(folder.path, 0555), 0);
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_READ);
}

static void any_path_names_its_own_file(void **state)
{
	(void)state;
	char odd[512];
	(void)snprintf(odd, sizeof(odd), "%s/a b?mode=rwc&x#%%41'\"\xc3\xa4", folder.path);
	assert_int_equal(mkdir(odd, 0755), 0);
	(void)snprintf(folder.path + strlen(folder.path), 64, "/a b?mode=rwc&x#%%41'\"\xc3\xa4");
	database_sql(&folder, "analysis.db", ONE_STEP);
	rank->folder.path = rank->folder.output_path = odd;
	database_read(&folder);
	*strrchr(folder.path, '/') = '\0';
	assert_int_equal(rank->n_steps, 1);
}

static void a_log_that_is_not_read_is_told(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db", ONE_STEP);
	database_bytes(&folder, "analysis.db-wal", "x", 1);
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->n_files, 1);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_PARTIAL);
	assert_int_equal(n_entries(), 2);
}

static void what_is_no_database_is_told(void **state)
{
	(void)state;
	database_bytes(&folder, "analysis.db", "", 0);
	database_bytes(&folder, "communication_analyzer.db", "no database, but long enough", 28);
	database_read(&folder);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_EMPTY);
	const struct fsl_file *file = database_file(&folder, "communication_analyzer.db");
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_non_null(strstr(file->message, "file is not a database"));
	assert_false(rank->has_db);
}

/* A leaf of the schema whose cell has 2^64 - 1 bytes, for which SQLite answers that memory is
 * short. */
static void a_row_of_impossible_size_is_damage_and_no_want_of_memory(void **state)
{
	(void)state;
	enum { PAGE = 512, N_PAGES = 17, LEAF = 15 * PAGE, CELL = 8079 - LEAF };
	char bytes[N_PAGES * PAGE + 1] = "SQLite format 3";
	static const char leaf[] = {13, 0,          0, 0,  4, 0,          0, 0,
				    1,  (char)0x8f, 0, 60, 0, (char)0xef, 0, (char)0x83};
	bytes[16] = 2; /* 512 */
	bytes[21] = 64;
	bytes[22] = bytes[23] = 32;
	bytes[100] = 5;
	bytes[111] = 16;
	memcpy(bytes + LEAF, leaf, sizeof(leaf));
	memset(bytes + LEAF + CELL, 0xff, 9);
	bytes[LEAF + CELL + 10] = 'I';
	database_bytes(&folder, "analysis.db", bytes, sizeof(bytes));
	database_read(&folder);
	const struct fsl_file *file = database_file(&folder, "analysis.db");
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_non_null(strstr(file->message, "a row of impossible size"));
}

static void a_pipe_does_not_block(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(database_path(&folder, "analysis.db"), 0644), 0);
	database_read(&folder);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_UNUSABLE);
}

static void a_database_without_known_tables_is_empty(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     "CREATE TABLE other (x); INSERT INTO other VALUES (1)");
	database_read(&folder);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_EMPTY);
}

static void views_with_the_names_of_tables_are_not_read(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     "CREATE VIEW StepTraceTime AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL"
		     " SELECT i + 1 FROM n) SELECT i AS step, i AS computing, i AS free,"
		     " i AS communication_not_overlapped FROM n");
	database_read(&folder);
	assert_int_equal(rank->n_steps, 0);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_EMPTY);
}

static void columns_that_are_worked_out_are_not_read(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     "CREATE TABLE StepTraceTime (step TEXT, computing NUMERIC,"
		     " communication_not_overlapped NUMERIC, free NUMERIC AS"
		     " (length(hex(zeroblob(1000000 + step)))));"
		     "INSERT INTO StepTraceTime (step, computing, communication_not_overlapped)"
		     " VALUES (1, 1, 1)");
	database_read(&folder);
	assert_int_equal(rank->n_steps, 0);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_EMPTY);
}

static void a_huge_value_beside_the_wanted_ones_costs_nothing(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     ONE_STEP "ALTER TABLE StepTraceTime ADD COLUMN waste BLOB;"
			      "UPDATE StepTraceTime SET waste = zeroblob(20000000);");
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_READ);
}

static void a_huge_name_is_told_and_what_is_before_is_used(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     DATABASE_COMMS
		     "INSERT INTO CommAnalyzerTime VALUES"
		     " ('hcom_a__1_1_1', '7', 1, 1, 1, 1, 1, 1, 'step1', 'collective'),"
		     " (replace(hex(zeroblob(5000000)), '00', 'xx'), '7', 1, 1, 1, 1, 1, 1,"
		     "  'step1', 'collective')");
	database_read(&folder);
	assert_int_equal(rank->n_comms, 1);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_PARTIAL);
}

static void of_two_of_a_kind_one_is_read(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db", ONE_STEP);
	database_sql(&folder, "analysis.db_old.db", ONE_STEP);
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->n_files, 2);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_DUPLICATE);
}

/* Every page of a sound database damaged in turn, and the file cut at every place: no failure. */
static void damage_is_told_and_no_failure(void **state)
{
	(void)state;
	static char sound[1 << 17], broken[1 << 17];
	uint32_t seed = 1;
	database_sql(
		&folder, "analysis.db",
		DATABASE_STEPS DATABASE_COMMS
		"INSERT INTO StepTraceTime WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL"
		" SELECT i + 1 FROM n LIMIT 100) SELECT 0, i, i, i, i, i, i, i, i, i, i FROM n;"
		"INSERT INTO CommAnalyzerTime WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL"
		" SELECT i + 1 FROM n LIMIT 100) SELECT 'hcom_a__1_' || i || '_1', '7', i, i, i,"
		" i, i, i, 'step1', 'p2p' FROM n;"
		"INSERT INTO CommAnalyzerBandwidth SELECT hccl_op_name, '7', 'HCCS', 1, 1, 1, 1,"
		" 1, 1, 1, step, type FROM CommAnalyzerTime;");
	size_t length = load("analysis.db", sound, sizeof(sound));
	for (size_t round = 0; round < 300; round++) {
		memcpy(broken, sound, length);
		for (size_t i = 0; i < 1 + round % 30; i++) {
			seed = seed * 1664525 + 1013904223;
			broken[(seed >> 8) % length] = (char)(seed >> 24);
		}
		size_t kept = round % 3 == 0 ? (seed >> 8) % length : length;
		folder_teardown(NULL);
		folder_setup(NULL);
		database_bytes(&folder, "analysis.db", broken, kept);
		database_read(&folder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_database_is_read_without_a_trace, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(communication_of_msprof_lies_in_a_folder_of_its_own,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_written_is_read,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(any_path_names_its_own_file, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(a_log_that_is_not_read_is_told, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(what_is_no_database_is_told, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(
			a_row_of_impossible_size_is_damage_and_no_want_of_memory, folder_setup,
			folder_teardown),
		cmocka_unit_test_setup_teardown(a_pipe_does_not_block, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(a_database_without_known_tables_is_empty,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(views_with_the_names_of_tables_are_not_read,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(columns_that_are_worked_out_are_not_read,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_huge_value_beside_the_wanted_ones_costs_nothing,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_huge_name_is_told_and_what_is_before_is_used,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(of_two_of_a_kind_one_is_read, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(damage_is_told_and_no_failure, folder_setup,
						folder_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
