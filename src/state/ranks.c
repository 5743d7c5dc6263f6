/* How many ranks earlier runs saw of a job. */
#include "base/mem.h"
#include "model/run.h"
#include "state/state_parts.h"
#include "state/state_place.h"

/* Another run writes for milliseconds; a verdict does not wait longer for what is only helpful. */
enum { BUSY_TIMEOUT_MS = 500 };

struct fsl_seen_ranks fsl_seen_ranks_at(sqlite3_stmt *row, int column)
{
	int64_t n = sqlite3_column_int64(row, column);
	int64_t until_ns = sqlite3_column_int64(row, column + 1);
	bool is_known = n > 0 && n <= FSL_RANKS_MAX && until_ns > 0;
	return is_known ? (struct fsl_seen_ranks){(size_t)n, until_ns} : (struct fsl_seen_ranks){0};
}

/* The file is not checked for damage: whoever opens it to write does that. */
void fsl_state_recall_ranks(struct fsl_seen_ranks *out, const char *state_path, const char *job)
{
	struct fsl_error ignored = {0};
	struct fsl_state state = {0};
	sqlite3_stmt *statement = NULL;
	*out = (struct fsl_seen_ranks){0};
	if (fsl_state_place(&state.path, state_path, FSL_LOG_DEBUG, &ignored) != FSL_OK) {
		return;
	}
	/* To write, as the journal of a run that was killed is played back. */
	int code = sqlite3_open_v2(
		state.path, &state.db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL);
	if (code == SQLITE_OK && sqlite3_busy_timeout(state.db, BUSY_TIMEOUT_MS) == SQLITE_OK &&
	    fsl_state_ask(&state, &statement, "SELECT ranks, ranks_ns FROM jobs WHERE job = ?1",
			  "t", job) == SQLITE_ROW) {
		*out = fsl_seen_ranks_at(statement, 0);
	}
	sqlite3_finalize(statement);
	sqlite3_close(state.db);
	fsl_free(state.path);
}
