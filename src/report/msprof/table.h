/* Writes rows into a new SQLite file. The first failure is kept, and every later call then does
 * nothing, so that code for a row is a plain list of its columns. */
#ifndef FSL_REPORT_MSPROF_TABLE_H
#define FSL_REPORT_MSPROF_TABLE_H

#include <sqlite3.h>
#include <stdint.h>

#include <failslow/error.h>

struct fsl_peer_table {
	sqlite3 *db;
	sqlite3_stmt *row;
	const char *create, *insert; /* of a table that its first row creates; NULL: it exists */
	int column;                  /* next column, from 1 */
	int code;                    /* SQLITE_OK, or the code of the first failure */
};

/* Opens the empty file at @path. Finish it in any case. */
void fsl_peer_table_open(struct fsl_peer_table *table, const char *path);
/* Goes on with rows of another table. The table is created with its first row; without rows there
 * is none. Both texts are borrowed until the next table. */
void fsl_peer_table_begin(struct fsl_peer_table *table, const char *create, const char *insert);
void fsl_peer_table_text(struct fsl_peer_table *table,
			 const char *text); /* copied; NULL: SQL NULL */
void fsl_peer_table_integer(struct fsl_peer_table *table, int64_t value);
void fsl_peer_table_real(struct fsl_peer_table *table, double value);
void fsl_peer_table_none(struct fsl_peer_table *table);
void fsl_peer_table_end_row(struct fsl_peer_table *table);
/* Commits and closes; returns the first failure. */
enum fsl_status fsl_peer_table_finish(struct fsl_peer_table *table, const char *path,
				      struct fsl_error *err);

#endif
