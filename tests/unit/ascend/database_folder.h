/* For tests of databases: a folder with databases that SQLite made, read as a rank's folder. */
#ifndef FSL_TESTS_PROFILE_DATABASE_FOLDER_H
#define FSL_TESTS_PROFILE_DATABASE_FOLDER_H

#include "reading.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "source/ascend/databases.h"
#include "support/program.h"

struct database_folder {
	struct reading reading;
	char path[256];
};

static inline void database_folder_begin(struct database_folder *folder)
{
	reading_begin(&folder->reading);
	(void)snprintf(folder->path, sizeof(folder->path), "/tmp/failslow-db-XXXXXX");
	assert_non_null(mkdtemp(folder->path));
	folder->reading.rank.folder =
		(struct fsl_profile_folder){.path = folder->path, .output_path = folder->path};
}

static inline void database_folder_end(struct database_folder *folder)
{
	(void)chmod(folder->path, 0755);
	reading_end(&folder->reading);
	scratch_remove(folder->path);
}

static inline const char *database_path(const struct database_folder *folder, const char *name)
{
	static char path[512];
	(void)snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	return path;
}

/* Runs @sql on the database, which is made when it is not there. */
static inline void database_sql(const struct database_folder *folder, const char *name,
				const char *sql)
{
	sqlite3 *db = NULL;
	char *message = NULL;
	assert_int_equal(sqlite3_open(database_path(folder, name), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
		fail_msg("%s: %s", message, sql);
	}
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Any bytes as a file. */
static inline void database_bytes(const struct database_folder *folder, const char *name,
				  const char *bytes, size_t length)
{
	FILE *file = fopen(database_path(folder, name), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static inline void database_read(struct database_folder *folder)
{
	const struct fsl_profile_options options = {.steps = folder->reading.steps,
						    .n_steps = folder->reading.n_steps};
	assert_int_equal(fsl_profile_read_databases(&folder->reading.rank, &options, NULL), FSL_OK);
}

/* Reads the databases of a folder of the reference data; skips the test when there is none. */
static inline void database_read_shared(struct database_folder *folder, const char *name)
{
	char path[1024];
	reading_shared_path(path, sizeof(path), name);
	if (access(path, R_OK) != 0) {
		skip();
	}
	folder->reading.rank.folder.path = folder->reading.rank.folder.output_path =
		fsl_arena_strdup(&folder->reading.rank.arena, path);
	database_read(folder);
}

/* The file of the rank with this end of its path. */
static inline const struct fsl_file *database_file(const struct database_folder *folder,
						   const char *name)
{
	const struct fsl_profile_rank *rank = &folder->reading.rank;
	for (size_t i = 0; i < rank->n_files; i++) {
		const char *slash = strrchr(rank->files[i].path, '/');
		if (strcmp(slash + 1, name) == 0) {
			return &rank->files[i];
		}
	}
	fail_msg("no file %s", name);
	return NULL;
}

#define DATABASE_STEPS                                                                             \
	"CREATE TABLE StepTraceTime (deviceId INTEGER, step TEXT, computing NUMERIC,"              \
	" communication_not_overlapped NUMERIC, overlapped NUMERIC, communication NUMERIC,"        \
	" free NUMERIC, stage NUMERIC, bubble NUMERIC,"                                            \
	" communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC);"
#define DATABASE_COMMS                                                                             \
	"CREATE TABLE CommAnalyzerTime (hccl_op_name TEXT, group_name TEXT,"                       \
	" start_timestamp NUMERIC, elapse_time NUMERIC, transit_time NUMERIC,"                     \
	" wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC, step TEXT,"          \
	" type TEXT);"                                                                             \
	"CREATE TABLE CommAnalyzerBandwidth (hccl_op_name TEXT, group_name TEXT,"                  \
	" transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC,"     \
	" large_packet_ratio NUMERIC, package_size NUMERIC, count NUMERIC,"                        \
	" total_duration NUMERIC, step TEXT, type TEXT);"

#endif
