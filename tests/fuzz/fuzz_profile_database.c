/* Any bytes as a database of the profiler, of both kinds. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz/fuzz_profile.h"
#include "source/ascend/databases.h"

/* SQLite reads files by name alone. */
static void write_file(const char *path, const uint8_t *data, size_t n_bytes)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FSL_REQUIRE(file >= 0);
	FSL_REQUIRE(write(file, data, n_bytes) == (ssize_t)n_bytes);
	FSL_REQUIRE(close(file) == 0);
}

static void read_as(enum fsl_status (*read)(struct fsl_profile_rank *, struct fsl_db *,
					    const struct fsl_profile_input *, struct fsl_error *),
		    struct fsl_profile_rank *rank, const char *path)
{
	struct fsl_file file = {.path = path, .message = ""};
	const struct fsl_profile_input input = {.path = path, .file = &file};
	struct fsl_db *db = NULL;
	FSL_REQUIRE(fsl_db_open(&db, rank, &file, NULL) == FSL_OK);
	if (db != NULL) {
		FSL_REQUIRE(read(rank, db, &input, NULL) == FSL_OK);
		fsl_db_close(db);
	}
	fuzz_check_file(&file);
	fuzz_check_rank(rank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_profile profile = {.ranks = fsl_calloc(1, sizeof(*profile.ranks)), .n_ranks = 1};
	FSL_REQUIRE(profile.ranks != NULL);
	struct fsl_profile_rank *rank = profile.ranks;
	char path[64];
	(void)snprintf(path, sizeof(path), "/tmp/failslow-fuzz-%ld.db", (long)getpid());
	write_file(path, data, n_bytes);
	rank->names = fsl_strpool_create();
	FSL_REQUIRE(rank->names != NULL);
	rank->info.host_uid = "";
	rank->trace.begin_ns = rank->trace.end_ns = FSL_NS_ABSENT;
	read_as(fsl_profile_read_analysis_db, rank, path);
	read_as(fsl_profile_read_profiler_db, rank, path);
	fsl_profile_fini(&profile);
	(void)unlink(path);
	return 0;
}
