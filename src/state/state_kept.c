/* What earlier runs found and a later one need not find again, in the same SQLite file. */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "state/state_parts.h"

/* Tells bytes that the disk changed: a page check does not look at them. */
static int64_t checksum(const void *bytes, size_t n)
{
	return (int64_t)(fsl_hash_block(bytes, n) >> 1);
}

/* The row under the statement; *bytes stays NULL when it is not what was written. */
static enum fsl_status copy_row(sqlite3_stmt *statement, void **bytes, size_t *n_bytes,
				struct fsl_error *err)
{
	const void *found = sqlite3_column_blob(statement, 0);
	int n = sqlite3_column_bytes(statement, 0);
	if (found == NULL || n <= 0 ||
	    checksum(found, (size_t)n) != sqlite3_column_int64(statement, 1)) {
		return FSL_OK;
	}
	*bytes = fsl_calloc((size_t)n, 1);
	if (*bytes == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for state: bytes=%d", n);
	}
	memcpy(*bytes, found, (size_t)n);
	*n_bytes = (size_t)n;
	return FSL_OK;
}

enum fsl_status fsl_state_get_kept(struct fsl_state *state, const char *root, const char *rules,
				   void **bytes, size_t *n_bytes, struct fsl_error *err)
{
	sqlite3_stmt *statement = NULL;
	enum fsl_status status = FSL_OK;
	*bytes = NULL;
	*n_bytes = 0;
	if (!state->has_tables) {
		return FSL_OK;
	}
	int code = sqlite3_prepare_v2(
		state->db, "SELECT bytes, checksum FROM kept WHERE root = ?1 AND rules = ?2", -1,
		&statement, NULL);
	if (code == SQLITE_OK) {
		code = sqlite3_bind_text(statement, 1, root, -1, SQLITE_STATIC);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_bind_text(statement, 2, rules, -1, SQLITE_STATIC);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_step(statement);
	}
	if (code == SQLITE_ROW) {
		status = copy_row(statement, bytes, n_bytes, err);
	} else if (code != SQLITE_DONE) {
		status = fsl_state_fail(state->db, state->path, "read", err);
	}
	sqlite3_finalize(statement);
	return status;
}

struct kept {
	const char *root, *rules;
	const void *bytes;
	size_t n_bytes;
	int64_t now_ns;
};

static int put(struct fsl_state *state, const struct kept *kept)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(state->db,
				      "INSERT OR REPLACE INTO kept (root, rules, saved_ns, "
				      "checksum, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
				      -1, &statement, NULL);
	if (code == SQLITE_OK) {
		code = sqlite3_bind_text(statement, 1, kept->root, -1, SQLITE_STATIC);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_bind_text(statement, 2, kept->rules, -1, SQLITE_STATIC);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_bind_int64(statement, 3, kept->now_ns);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_bind_int64(statement, 4, checksum(kept->bytes, kept->n_bytes));
	}
	if (code == SQLITE_OK) {
		code = sqlite3_bind_blob64(statement, 5, kept->bytes, kept->n_bytes, SQLITE_STATIC);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_step(statement);
	}
	sqlite3_finalize(statement);
	return code;
}

static int remove_old(struct fsl_state *state, int64_t now_ns)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(state->db, "DELETE FROM kept WHERE saved_ns < ?1", -1,
				      &statement, NULL);
	if (code == SQLITE_OK) {
		code = sqlite3_bind_int64(statement, 1, now_ns - FSL_STATE_KEEP_NS);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_step(statement);
	}
	sqlite3_finalize(statement);
	return code;
}

enum fsl_status fsl_state_put_kept(struct fsl_state *state, const char *root, const char *rules,
				   const void *bytes, size_t n_bytes, int64_t now_ns,
				   struct fsl_error *err)
{
	struct kept kept = {root, rules, bytes, n_bytes, now_ns};
	enum fsl_status status = fsl_state_begin(state, err);
	if (status != FSL_OK) {
		return status;
	}
	bool is_done = put(state, &kept) == SQLITE_DONE && remove_old(state, now_ns) == SQLITE_DONE;
	return fsl_state_finish(state, is_done, err);
}
