/* Which journal a state file has, and when. */
#include "state/journal.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { ENDS_MAX = 16, WAIT_MS = 50 };

/* XFS_SUPER_MAGIC and ZFS_SUPER_MAGIC stand in no header of the system. */
static const uint32_t local_file_systems[] = {
	EXT4_SUPER_MAGIC, /* ext2 and ext3, too */
	BTRFS_SUPER_MAGIC,    F2FS_SUPER_MAGIC,
	TMPFS_MAGIC,          OVERLAYFS_SUPER_MAGIC, /* the root of a container */
	UINT32_C(0x58465342),                        /* XFS */
	UINT32_C(0x2fc12fc1),                        /* ZFS */
};

/* Folders of one host; variables hold several, separated by ':'. */
static bool is_below(const char *path, const char *folder, size_t length)
{
	return length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/';
}

static bool is_in_state_folder(const char *path)
{
	static const char shared[] = "/var/lib";
	const char *at = getenv("STATE_DIRECTORY");
	bool is_found = is_below(path, shared, sizeof(shared) - 1);
	while (!is_found && at != NULL && *at != '\0') {
		size_t length = strcspn(at, ":");
		is_found = is_below(path, at, length);
		at += length + (at[length] == ':');
	}
	return is_found;
}

bool fsl_journal_is_of_one_host(const char *path)
{
	struct statfs facts;
	if (!is_in_state_folder(path) || statfs(path, &facts) != 0) {
		return false;
	}
	for (size_t i = 0; i < sizeof(local_file_systems) / sizeof(local_file_systems[0]); i++) {
		if ((uint32_t)facts.f_type == local_file_systems[i]) {
			return true;
		}
	}
	return false;
}

/* SQLite answers with the journal that the file has then. */
static bool set_journal(sqlite3 *db, const char *sql, const char *wanted)
{
	sqlite3_stmt *statement = NULL;
	bool is_set = false;
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW) {
		const char *mode = (const char *)sqlite3_column_text(statement, 0);
		is_set = mode != NULL && strcmp(mode, wanted) == 0;
	}
	sqlite3_finalize(statement);
	return is_set;
}

bool fsl_journal_begin_log(sqlite3 *db, const char *path)
{
	return fsl_journal_is_of_one_host(path) &&
	       set_journal(db, "PRAGMA journal_mode = WAL", "wal");
}

void fsl_journal_end_log(sqlite3 *db)
{
	const struct timespec wait = {.tv_nsec = WAIT_MS * 1000000L};
	if (sqlite3_get_autocommit(db) == 0) {
		(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	}
	/* SQLite does not wait for others here, whatever its timeout is. */
	for (int i = 0; i < ENDS_MAX && !set_journal(db, "PRAGMA journal_mode = DELETE", "delete");
	     i++) {
		(void)nanosleep(&wait, NULL);
	}
}

bool fsl_journal_remove(const char *path)
{
	static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char journal[PATH_MAX + 16];
		(void)snprintf(journal, sizeof(journal), "%s%s", path, suffixes[i]);
		if (unlink(journal) != 0 && errno != ENOENT) {
			return false;
		}
	}
	return true;
}
