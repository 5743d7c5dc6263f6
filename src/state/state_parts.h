/* Shared by the files that keep something in the state file. */
#ifndef FSL_STATE_STATE_PARTS_H
#define FSL_STATE_STATE_PARTS_H

#include <sqlite3.h>

#include "model/seen_ranks.h"
#include "state/state.h"

struct fsl_state {
	sqlite3 *db;
	char *path;
	bool is_read_only; /* this user may not write the file */
	bool has_log;      /* its write-ahead log ends when it is closed */
	bool has_tables;   /* else the first transaction makes them: one wait for the disk less */
};

/* Fills @err from the error of the database. @what: "open", "read" or "write". */
enum fsl_status fsl_state_fail(const struct fsl_state *state, const char *what,
			       struct fsl_error *err);

/*
 * Runs one statement to its first row, with its parameters in order: @types has a letter for each,
 * t text, i int64_t, d double. Returns SQLite's code. The caller steps on and always calls
 * sqlite3_finalize(*out).
 */
int fsl_state_ask(struct fsl_state *state, sqlite3_stmt **out, const char *sql, const char *types,
		  ...);
/* Calls @use for each row and finalizes the statement. @code: of its first step, as fsl_state_ask
 * returned it. The first failure of @use ends it. */
enum fsl_status fsl_state_each(struct fsl_state *state, sqlite3_stmt *statement, int code,
			       enum fsl_status (*use)(void *context, sqlite3_stmt *row,
						      struct fsl_error *err),
			       void *context, struct fsl_error *err);
/* The same as fsl_state_ask() for a statement whose rows nobody reads. */
enum fsl_status fsl_state_run(struct fsl_state *state, struct fsl_error *err, const char *sql,
			      const char *types, ...);

/* Reads the columns ranks and ranks_ns of a job; {0} if they are not known. */
struct fsl_seen_ranks fsl_seen_ranks_at(sqlite3_stmt *row, int column);

#endif
