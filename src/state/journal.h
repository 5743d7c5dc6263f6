/*
 * The journal of a state file: SQLite's rollback journal at rest, and a write-ahead log while a run
 * has the file open, if the file is this host's own. With a log, a reader that does not end keeps
 * no run from writing. A log needs memory that all who open the file share, which hosts do not: the
 * file of a folder of results, which many hosts may have mounted, never gets one.
 */
#ifndef FSL_STATE_JOURNAL_H
#define FSL_STATE_JOURNAL_H

#include <stdbool.h>

#include <sqlite3.h>

/*
 * True if a file at @path is kept by this host alone: it lies below /var/lib, which is state of one
 * host (FHS 3.0, 5.8), or in a folder that systemd made for the service ($STATE_DIRECTORY), and on
 * a file system that no other host serves. @path: absolute, without links.
 */
bool fsl_journal_is_of_one_host(const char *path);

/* Lets @db write ahead if the file at @path may have a log. False: it keeps its rollback journal.
 * Not inside a transaction. */
bool fsl_journal_begin_log(sqlite3 *db, const char *path);
/*
 * Writes the log into the file and returns to the rollback journal, so that whoever may only read
 * the file can open it. Waits for readers for less than a second; if one stays, the log does, too,
 * until the next run. An open transaction is rolled back.
 */
void fsl_journal_end_log(sqlite3 *db);

/* Removes what SQLite would play back into a new file at @path. False: one stays, errno tells
 * why. */
bool fsl_journal_remove(const char *path);

#endif
