/* Shared by the files of src/state. */
#ifndef FSL_STATE_STATE_PARTS_H
#define FSL_STATE_STATE_PARTS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/number.h"
#include "state/state.h"

/* Age at which a record is removed, ns. */
#define FSL_STATE_KEEP_NS (INT64_C(90) * 24 * 3600 * FSL_NS_PER_S)

struct fsl_state {
	sqlite3 *db;
	char *path;
	bool has_tables; /* else the first transaction makes them: one wait for the disk less */
};

/* Fills @err from the error of @db and returns its status. @what: "open", "read" or "write". */
enum fsl_status fsl_state_fail(sqlite3 *db, const char *path, const char *what,
			       struct fsl_error *err);
/* Runs SQL statements that return no rows. */
enum fsl_status fsl_state_execute(struct fsl_state *state, const char *sql, const char *what,
				  struct fsl_error *err);
/* Begins a transaction that writes; other runs wait. Makes the tables if the file has none. */
enum fsl_status fsl_state_begin(struct fsl_state *state, struct fsl_error *err);
/* Ends a transaction: kept as a whole when @is_done, else as if it had never begun. */
enum fsl_status fsl_state_finish(struct fsl_state *state, bool is_done, struct fsl_error *err);

#endif
