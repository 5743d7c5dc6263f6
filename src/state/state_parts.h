/* Shared by the files of src/state. */
#ifndef FSL_STATE_STATE_PARTS_H
#define FSL_STATE_STATE_PARTS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/number.h"
#include "state/state.h"

#define FSL_STATE_KEEP_NS (INT64_C(90) * 24 * 3600 * FSL_NS_PER_S) /* then a record is removed */

struct fsl_state {
	sqlite3 *db;
	char *path;
	bool has_tables; /* else the first transaction makes them: one wait for the disk less */
};

/* @what: "open", "read", "write". */
enum fsl_status fsl_state_fail(sqlite3 *db, const char *path, const char *what,
			       struct fsl_error *err);
/* Statements without results. */
enum fsl_status fsl_state_execute(struct fsl_state *state, const char *sql, const char *what,
				  struct fsl_error *err);
/* Begins a transaction that writes; other runs wait. Makes the tables where the file has none. */
enum fsl_status fsl_state_begin(struct fsl_state *state, struct fsl_error *err);
/* Ends a transaction: kept as a whole when @is_done, else as if it had never begun. */
enum fsl_status fsl_state_finish(struct fsl_state *state, bool is_done, struct fsl_error *err);

#endif
