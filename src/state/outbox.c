/* Edges that wait for their receivers. */
#include "state/outbox.h"

#include "base/number.h"
#include "base/try.h"
#include "state/state_parts.h"

enum { BACKOFF_DOUBLINGS_MAX = 6 };
#define BACKOFF_FIRST_NS (INT64_C(60) * FSL_NS_PER_S)
#define BACKOFF_MOST_NS  (INT64_C(3600) * FSL_NS_PER_S)

enum fsl_status fsl_outbox_put(struct fsl_state *state, const char *channel, const char *incident,
			       enum fsl_incident_edge edge, const char *text, int64_t now_ns,
			       struct fsl_error *err)
{
	FSL_TRY(fsl_state_begin(state, err));
	return fsl_state_run(state, err,
			     "INSERT OR IGNORE INTO outbox (channel, incident, edge, made_ns, "
			     "next_ns, tries, text) VALUES (?1, ?2, ?3, ?4, 0, 0, ?5)",
			     "tttit", channel, incident, fsl_incident_edge_text(edge), now_ns,
			     text);
}

static enum fsl_status add_row(void *list, sqlite3_stmt *row, struct fsl_error *err)
{
	struct fsl_outbox *out = list;
	const char *texts[4] = {NULL};
	FSL_TRY(FSL_GROW(out->items, out->capacity, out->n_items + 1, err));
	for (int i = 0; i < 4; i++) {
		const char *text = (const char *)sqlite3_column_text(row, 1 + i);
		texts[i] = fsl_arena_strdup(&out->arena, text != NULL ? text : "");
		if (texts[i] == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: edges=%zu",
					out->n_items);
		}
	}
	out->items[out->n_items++] = (struct fsl_outbox_item){
		.number = sqlite3_column_int64(row, 0),
		.channel = texts[0],
		.incident = texts[1],
		.edge = texts[2],
		.text = texts[3],
		.made_ns = sqlite3_column_int64(row, 5),
		.n_tries = sqlite3_column_int64(row, 6),
	};
	return FSL_OK;
}

enum fsl_status fsl_outbox_due(struct fsl_state *state, const char *channel, int64_t now_ns,
			       struct fsl_outbox *out, struct fsl_error *err)
{
	sqlite3_stmt *statement = NULL;
	*out = (struct fsl_outbox){0};
	int code = fsl_state_ask(state, &statement,
				 "SELECT number, channel, incident, edge, text, made_ns, tries "
				 "FROM outbox WHERE channel = ?1 AND number < coalesce((SELECT "
				 "min(number) FROM outbox WHERE channel = ?1 AND next_ns > ?2), "
				 "9223372036854775807) ORDER BY number",
				 "ti", channel, now_ns);
	enum fsl_status status = fsl_state_each(state, statement, code, add_row, out, err);
	if (status != FSL_OK) {
		fsl_outbox_fini(out);
	}
	return status;
}

enum fsl_status fsl_outbox_count(struct fsl_state *state, const char *channel, size_t *n,
				 struct fsl_error *err)
{
	sqlite3_stmt *statement = NULL;
	int code = fsl_state_ask(state, &statement,
				 "SELECT count(*) FROM outbox WHERE channel = ?1", "t", channel);
	*n = code == SQLITE_ROW ? (size_t)sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return code == SQLITE_ROW ? FSL_OK : fsl_state_fail(state, "read", err);
}

/* Time until the next try behind @n_tries. */
static int64_t backoff_ns(int64_t n_tries)
{
	int64_t doublings = n_tries < BACKOFF_DOUBLINGS_MAX ? n_tries : BACKOFF_DOUBLINGS_MAX;
	int64_t wait_ns = BACKOFF_FIRST_NS << doublings;
	return wait_ns < BACKOFF_MOST_NS ? wait_ns : BACKOFF_MOST_NS;
}

/* Ends a transaction of one statement. */
static enum fsl_status end(struct fsl_state *state, enum fsl_status status, struct fsl_error *err)
{
	enum fsl_status kept =
		fsl_state_settle(state, status == FSL_OK, status == FSL_OK ? err : NULL);
	return status != FSL_OK ? status : kept;
}

enum fsl_status fsl_outbox_try(struct fsl_state *state, const struct fsl_outbox_item *item,
			       int64_t now_ns, struct fsl_error *err)
{
	enum fsl_status status = fsl_state_begin(state, err);
	FSL_THEN(
		status,
		fsl_state_run(state, err,
			      "UPDATE outbox SET tries = tries + 1, next_ns = ?2 WHERE number = ?1",
			      "ii", item->number, now_ns + backoff_ns(item->n_tries)));
	return end(state, status, err);
}

enum fsl_status fsl_outbox_remove(struct fsl_state *state, const struct fsl_outbox_item *item,
				  struct fsl_error *err)
{
	enum fsl_status status = fsl_state_begin(state, err);
	FSL_THEN(status, fsl_state_run(state, err, "DELETE FROM outbox WHERE number = ?1", "i",
				       item->number));
	return end(state, status, err);
}

void fsl_outbox_fini(struct fsl_outbox *outbox)
{
	fsl_free(outbox->items);
	fsl_arena_fini(&outbox->arena);
	*outbox = (struct fsl_outbox){0};
}
