/* Incidents of a job, from run to run. */
#include "state/incidents.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/number.h"
#include "base/secret.h"
#include "base/try.h"
#include "state/limits.h"
#include "state/state_parts.h"
#include "text/comma_list.h"

static const char *const status_texts[FSL_INCIDENT_STATUSES_N] = {
	[FSL_INCIDENT_PENDING] = "pending",
	[FSL_INCIDENT_OPEN] = "open",
	[FSL_INCIDENT_CLEARED] = "cleared",
};

static const char *const edge_texts[FSL_EDGES_N] = {
	[FSL_EDGE_NONE] = "none",
	[FSL_EDGE_OPEN] = "open",
	[FSL_EDGE_UPDATE] = "update",
	[FSL_EDGE_CLEAR] = "clear",
};

const char *fsl_incident_status_text(enum fsl_incident_status status)
{
	return status_texts[status];
}

const char *fsl_incident_edge_text(enum fsl_incident_edge edge)
{
	return edge_texts[edge];
}

void fsl_incidents_fini(struct fsl_incidents *incidents)
{
	fsl_free(incidents->items);
	fsl_arena_fini(&incidents->arena);
	*incidents = (struct fsl_incidents){0};
}

/* 48 bits of milliseconds and 80 random ones, five to a letter (the ULID specification). */
static void make_id(char id[FSL_INCIDENT_ID_CHARS + 1], int64_t now_ns)
{
	static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	enum { TIME_CHARS = 10, BITS = 5 };
	uint8_t random[FSL_INCIDENT_ID_CHARS - TIME_CHARS] = {0};
	uint64_t ms = (uint64_t)(now_ns > 0 ? now_ns : 0) / FSL_NS_PER_MS;
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random)) {
		memcpy(random, fsl_secret_keys(), sizeof(random));
	}
	for (size_t i = 0; i < TIME_CHARS; i++) {
		id[i] = letters[(ms >> (BITS * (TIME_CHARS - 1 - i))) & 31];
	}
	for (size_t i = 0; i < sizeof(random); i++) {
		id[TIME_CHARS + i] = letters[random[i] & 31];
	}
	id[FSL_INCIDENT_ID_CHARS] = '\0';
}

#define COLUMNS                                                                                    \
	"id, job, name, status, class, kind, cause, places, hosts, ranks, headline, first_ns, "    \
	"opened_ns, seen_ns, cleared_ns, held_ns, runs, clean_runs, ranks_seen, told_share, "      \
	"lost_share, lost_ms, confidence"

static const char *text_at(struct fsl_arena *arena, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	return fsl_arena_strdup(arena, text != NULL ? text : "");
}

static int64_t time_at(sqlite3_stmt *row, int column)
{
	int64_t time_ns = sqlite3_column_int64(row, column);
	return time_ns != 0 ? time_ns : FSL_NS_ABSENT;
}

/* What is unknown is kept as a negative number. */
static double amount_at(sqlite3_stmt *row, int column)
{
	double amount = sqlite3_column_double(row, column);
	return amount >= 0.0 ? amount : (double)NAN;
}

static enum fsl_status add_row(void *list, sqlite3_stmt *row, struct fsl_error *err)
{
	struct fsl_incidents *out = list;
	struct fsl_arena *arena = &out->arena;
	FSL_TRY(FSL_GROW(out->items, out->capacity, out->n_items + 1, err));
	struct fsl_incident *item = &out->items[out->n_items];
	const char *id = (const char *)sqlite3_column_text(row, 0);
	int status = sqlite3_column_int(row, 3), class = sqlite3_column_int(row, 4);
	*item = (struct fsl_incident){
		.job = text_at(arena, row, 1),
		.job_name = text_at(arena, row, 2),
		.status = status >= 0 && status < FSL_INCIDENT_STATUSES_N
				  ? (enum fsl_incident_status)status
				  : FSL_INCIDENT_CLEARED,
		.class = class >= 0 && class < FSL_INCIDENT_CLASSES_N
				 ? (enum fsl_incident_class) class
				 : FSL_INCIDENT_JOB,
		.kind = text_at(arena, row, 5),
		.cause = text_at(arena, row, 6),
		.places = text_at(arena, row, 7),
		.hosts = text_at(arena, row, 8),
		.ranks = text_at(arena, row, 9),
		.headline = text_at(arena, row, 10),
		.first_ns = time_at(row, 11),
		.opened_ns = time_at(row, 12),
		.seen_ns = time_at(row, 13),
		.cleared_ns = time_at(row, 14),
		.held_ns = sqlite3_column_int64(row, 15),
		.n_runs = sqlite3_column_int64(row, 16),
		.n_clean = sqlite3_column_int64(row, 17),
		.n_ranks_seen = sqlite3_column_int64(row, 18),
		.told_share = sqlite3_column_double(row, 19),
		.lost_share = amount_at(row, 20),
		.lost_ms = amount_at(row, 21),
		.confidence = sqlite3_column_double(row, 22),
	};
	(void)snprintf(item->id, sizeof(item->id), "%s", id != NULL ? id : "");
	if (item->job == NULL || item->job_name == NULL || item->kind == NULL ||
	    item->cause == NULL || item->places == NULL || item->hosts == NULL ||
	    item->ranks == NULL || item->headline == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: incidents=%zu", out->n_items);
	}
	out->n_items++;
	return FSL_OK;
}

static double amount_of(double amount)
{
	return isfinite(amount) ? amount : -1.0;
}

static int64_t time_of(int64_t time_ns)
{
	return time_ns != FSL_NS_ABSENT ? time_ns : 0;
}

static enum fsl_status keep(struct fsl_state *state, const struct fsl_incident *item,
			    struct fsl_error *err)
{
	return fsl_state_run(
		state, err,
		"INSERT OR REPLACE INTO incidents (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
		"?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)",
		"tttiittttttiiiiiiiidddd", item->id, item->job, item->job_name,
		(int64_t)item->status, (int64_t)item->class, item->kind, item->cause, item->places,
		item->hosts, item->ranks, item->headline, time_of(item->first_ns),
		time_of(item->opened_ns), time_of(item->seen_ns), time_of(item->cleared_ns),
		item->held_ns, item->n_runs, item->n_clean, item->n_ranks_seen, item->told_share,
		amount_of(item->lost_share), amount_of(item->lost_ms), item->confidence);
}

/* True if one of the places that @text lists is @place, or a device of that host, or its host. */
static bool holds_place(const char *text, const char *place)
{
	size_t n_host = strcspn(place, "#");
	bool is_host = place[n_host] == '\0';
	struct fsl_comma_item item;
	while (fsl_comma_next(&text, &item)) {
		const char *mark = memchr(item.text, '#', item.length);
		size_t n_item_host = mark != NULL ? (size_t)(mark - item.text) : item.length;
		bool is_same_host = n_item_host == n_host && strncmp(item.text, place, n_host) == 0;
		bool is_same_device =
			item.length == strlen(place) && strncmp(item.text, place, item.length) == 0;
		if (is_same_device || (is_same_host && (is_host || mark == NULL))) {
			return true;
		}
	}
	return false;
}

/* A job that is slow may be found to be so by a rank, later: it is the same incident. */
static bool is_problem_of(const struct fsl_incident *item, const struct fsl_incident_look *look)
{
	if (look->class != item->class) {
		return look->class == FSL_INCIDENT_PLACE && item->class == FSL_INCIDENT_JOB;
	}
	if (item->class != FSL_INCIDENT_PLACE) {
		return true;
	}
	for (size_t i = 0; i < look->n_places; i++) {
		if (holds_place(item->places, look->places[i])) {
			return true;
		}
	}
	return false;
}

/* A run that saw another problem saw this one well only if it could have told both: a job that
 * hangs or is slow for nobody's fault tells nothing about its ranks. */
static bool is_seen_well(const struct fsl_incident *item, const struct fsl_incident_look *look)
{
	bool is_told = look->result == FSL_LOOK_CLEAN ||
		       (look->result == FSL_LOOK_PROBLEM && look->class == FSL_INCIDENT_PLACE) ||
		       (look->result == FSL_LOOK_PROBLEM && item->class == FSL_INCIDENT_HANG);
	return look->has_ended || (is_told && (int64_t)look->n_ranks_seen >= item->n_ranks_seen);
}

/* A job opens the same incident again and again: counts the openings of the last day. */
static enum fsl_status count_openings(struct fsl_state *state, const struct fsl_incident_look *look,
				      size_t *n_opened, struct fsl_error *err)
{
	struct fsl_incidents recent = {0};
	sqlite3_stmt *statement = NULL;
	int code = fsl_state_ask(state, &statement,
				 "SELECT " COLUMNS " FROM incidents WHERE job = ?1 AND class = ?2 "
				 "AND opened_ns > ?3",
				 "tii", look->job, (int64_t)look->class,
				 look->now_ns > FSL_INCIDENT_FLAP_NS
					 ? look->now_ns - FSL_INCIDENT_FLAP_NS
					 : INT64_C(0));
	enum fsl_status status = fsl_state_each(state, statement, code, add_row, &recent, err);
	*n_opened = 0;
	for (size_t i = 0; i < recent.n_items; i++) {
		*n_opened += is_problem_of(&recent.items[i], look);
	}
	fsl_incidents_fini(&recent);
	return status;
}

static enum fsl_status open_one(struct fsl_state *state, struct fsl_incident *item,
				const struct fsl_incident_look *look, struct fsl_error *err)
{
	size_t n_before = 0;
	FSL_TRY(count_openings(state, look, &n_before, err));
	item->status = FSL_INCIDENT_OPEN;
	item->edge = FSL_EDGE_OPEN;
	item->opened_ns = look->now_ns;
	item->told_share = item->lost_share;
	if (n_before + 1 >= FSL_INCIDENT_FLAP_OPENS) {
		item->held_ns = look->now_ns + FSL_INCIDENT_FLAP_NS;
	}
	return FSL_OK;
}

/* True if the loss is so great, or of such a kind, that nobody should wait for a second run. */
static bool is_urgent(const struct fsl_incident_look *look)
{
	return look->class == FSL_INCIDENT_HANG || look->lost_share >= FSL_INCIDENT_AT_ONCE_SHARE;
}

static bool has_changed(const struct fsl_incident *item)
{
	double ratio = item->lost_share / item->told_share;
	return ratio >= FSL_INCIDENT_UPDATE_RATIO || ratio <= 1.0 / FSL_INCIDENT_UPDATE_RATIO;
}

/* Who it is about. That stays as it was told when it opened: receivers know it by that. */
static void identify(struct fsl_incidents *list, struct fsl_incident *item,
		     const struct fsl_incident_look *look)
{
	item->class = look->class;
	item->kind = fsl_arena_strdup(&list->arena, look->kind);
	item->cause = fsl_arena_strdup(&list->arena, look->cause);
	item->places = fsl_comma_join(&list->arena, look->places, look->n_places);
	item->hosts = fsl_arena_strdup(&list->arena, look->bad_hosts);
	item->ranks = fsl_arena_strdup(&list->arena, look->ranks);
}

/* The run sees the problem of @item, which may be new. */
static enum fsl_status see(struct fsl_state *state, struct fsl_incidents *list,
			   struct fsl_incident *item, const struct fsl_incident_look *look,
			   struct fsl_error *err)
{
	bool is_explained = item->class != look->class;
	item->headline = fsl_arena_strdup(&list->arena, look->headline);
	if (item->status == FSL_INCIDENT_PENDING || is_explained) {
		identify(list, item, look);
	}
	if (item->kind == NULL || item->cause == NULL || item->headline == NULL ||
	    item->places == NULL || item->hosts == NULL || item->ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: incidents=%zu", list->n_items);
	}
	item->seen_ns = look->now_ns;
	item->lost_share = look->lost_share;
	item->lost_ms = look->lost_ms;
	item->confidence = look->confidence;
	item->n_runs++;
	item->n_clean = 0;
	if ((int64_t)look->n_ranks_seen > item->n_ranks_seen) {
		item->n_ranks_seen = (int64_t)look->n_ranks_seen;
	}
	if (item->status == FSL_INCIDENT_PENDING) {
		if (is_urgent(look) || item->n_runs >= FSL_INCIDENT_OPEN_RUNS) {
			FSL_TRY(open_one(state, item, look, err));
		}
	} else if (is_explained || has_changed(item)) {
		item->edge = FSL_EDGE_UPDATE;
		item->told_share = item->lost_share;
	}
	return keep(state, item, err);
}

static enum fsl_status add_new(struct fsl_state *state, struct fsl_incidents *list,
			       const struct fsl_incident_look *look, struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(list->items, list->capacity, list->n_items + 1, err));
	struct fsl_incident *item = &list->items[list->n_items];
	*item = (struct fsl_incident){
		.job = fsl_arena_strdup(&list->arena, look->job),
		.job_name = fsl_arena_strdup(&list->arena, look->job_name),
		.status = FSL_INCIDENT_PENDING,
		.class = look->class,
		.first_ns = look->now_ns,
		.opened_ns = FSL_NS_ABSENT,
		.cleared_ns = FSL_NS_ABSENT,
	};
	if (item->job == NULL || item->job_name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: incidents=%zu", list->n_items);
	}
	make_id(item->id, look->now_ns);
	FSL_TRY(see(state, list, item, look, err));
	list->n_items++;
	return FSL_OK;
}

/* The run does not see the problem of @item. *is_gone: it is listed no more. */
static enum fsl_status miss(struct fsl_state *state, struct fsl_incident *item,
			    const struct fsl_incident_look *look, bool *is_gone,
			    struct fsl_error *err)
{
	*is_gone = false;
	if (item->status == FSL_INCIDENT_CLEARED) {
		item->n_clean++;
		*is_gone = item->n_clean >= FSL_INCIDENT_CLEAR_RUNS + FSL_INCIDENT_CLEAR_TOLD_RUNS;
		return keep(state, item, err);
	}
	if (!is_seen_well(item, look)) {
		return FSL_OK;
	}
	if (item->status == FSL_INCIDENT_PENDING) {
		*is_gone = true;
		return fsl_state_run(state, err, "DELETE FROM incidents WHERE id = ?1", "t",
				     item->id);
	}
	item->n_clean++;
	bool is_over = item->n_clean >= FSL_INCIDENT_CLEAR_RUNS && look->now_ns >= item->held_ns;
	if (is_over || look->has_ended) {
		item->status = FSL_INCIDENT_CLEARED;
		item->edge = FSL_EDGE_CLEAR;
		item->cleared_ns = look->now_ns;
		item->n_clean = FSL_INCIDENT_CLEAR_RUNS;
	}
	return keep(state, item, err);
}

/* Pending, open, and cleared so lately that receivers may have missed it. */
static enum fsl_status load_current(struct fsl_state *state, const char *job,
				    struct fsl_incidents *out, struct fsl_error *err)
{
	sqlite3_stmt *statement = NULL;
	int code = fsl_state_ask(state, &statement,
				 "SELECT " COLUMNS
				 " FROM incidents WHERE job = ?1 AND (status < ?2 OR clean_runs < "
				 "?3) ORDER BY first_ns, id",
				 "tii", job, (int64_t)FSL_INCIDENT_CLEARED,
				 (int64_t)(FSL_INCIDENT_CLEAR_RUNS + FSL_INCIDENT_CLEAR_TOLD_RUNS));
	return fsl_state_each(state, statement, code, add_row, out, err);
}

static enum fsl_status note_all(struct fsl_state *state, const struct fsl_incident_look *look,
				struct fsl_incidents *list, struct fsl_error *err)
{
	bool is_known = look->result != FSL_LOOK_PROBLEM;
	size_t n_kept = 0;
	for (size_t i = 0; i < list->n_items; i++) {
		struct fsl_incident *item = &list->items[i];
		bool is_gone = false;
		if (!is_known && item->status != FSL_INCIDENT_CLEARED &&
		    is_problem_of(item, look)) {
			is_known = true;
			FSL_TRY(see(state, list, item, look, err));
		} else {
			FSL_TRY(miss(state, item, look, &is_gone, err));
		}
		if (!is_gone) {
			list->items[n_kept++] = *item;
		}
	}
	list->n_items = n_kept;
	return is_known ? FSL_OK : add_new(state, list, look, err);
}

/* The earlier runs of a job. */
struct past {
	int64_t last_ns; /* the last one; INT64_MIN: there is none */
	struct fsl_seen_ranks seen;
};

/* Adds the time since the last run to what was observed of the job and its hosts. */
static enum fsl_status note_observed(struct fsl_state *state, const struct fsl_incident_look *look,
				     const struct past *past, struct fsl_error *err)
{
	int64_t gap_ns = past->last_ns != INT64_MIN ? look->now_ns - past->last_ns : 0;
	gap_ns = gap_ns <= FSL_OBSERVED_GAP_NS ? gap_ns : 0;
	const struct fsl_seen_ranks now = {look->n_ranks_seen, look->end_ns};
	const struct fsl_seen_ranks seen =
		fsl_seen_ranks_with(&past->seen, &now, look->begin_ns, look->forget_hours);
	FSL_TRY(fsl_state_run(
		state, err,
		"INSERT INTO jobs (job, name, first_ns, last_ns, runs, observed_ns, ranks, ranks_ns) "
		"VALUES (?1, ?2, ?3, ?3, 1, 0, ?5, ?6) ON CONFLICT (job) DO UPDATE SET name = ?2, "
		"last_ns = ?3, runs = runs + 1, observed_ns = observed_ns + ?4, ranks = ?5, "
		"ranks_ns = ?6",
		"ttiiii", look->job, look->job_name, look->now_ns, gap_ns, (int64_t)seen.n,
		seen.until_ns));
	for (size_t i = 0; i < look->n_hosts; i++) {
		FSL_TRY(fsl_state_run(
			state, err,
			"INSERT INTO hosts (job, host, observed_ns) VALUES (?1, ?2, 0) ON CONFLICT "
			"(job, host) DO UPDATE SET observed_ns = observed_ns + ?3",
			"tti", look->job, look->hosts[i], gap_ns));
	}
	return FSL_OK;
}

static enum fsl_status find_past(struct fsl_state *state, const char *job, struct past *past,
				 struct fsl_error *err)
{
	sqlite3_stmt *statement = NULL;
	int code =
		fsl_state_ask(state, &statement,
			      "SELECT last_ns, ranks, ranks_ns FROM jobs WHERE job = ?1", "t", job);
	*past = (struct past){.last_ns = INT64_MIN};
	if (code == SQLITE_ROW) {
		past->last_ns = sqlite3_column_int64(statement, 0);
		past->seen = fsl_seen_ranks_at(statement, 1);
	}
	sqlite3_finalize(statement);
	return code == SQLITE_ROW || code == SQLITE_DONE ? FSL_OK
							 : fsl_state_fail(state, "read", err);
}

static enum fsl_status note(struct fsl_state *state, const struct fsl_incident_look *look,
			    struct fsl_incidents *out, struct fsl_error *err)
{
	struct past past;
	FSL_TRY(fsl_state_begin(state, err));
	FSL_TRY(find_past(state, look->job, &past, err));
	FSL_TRY(load_current(state, look->job, out, err));
	if (look->now_ns <= past.last_ns) {
		return FSL_OK; /* an older moment is looked at once more */
	}
	FSL_TRY(note_observed(state, look, &past, err));
	FSL_TRY(note_all(state, look, out, err));
	return fsl_state_run(state, err, "DELETE FROM incidents WHERE status = ?1 AND seen_ns < ?2",
			     "ii", (int64_t)FSL_INCIDENT_CLEARED,
			     look->now_ns > FSL_INCIDENT_KEEP_NS
				     ? look->now_ns - FSL_INCIDENT_KEEP_NS
				     : INT64_C(0));
}

enum fsl_status fsl_incidents_note(struct fsl_state *state, const struct fsl_incident_look *look,
				   struct fsl_incidents *out, struct fsl_error *err)
{
	*out = (struct fsl_incidents){0};
	enum fsl_status status = note(state, look, out, err);
	if (status != FSL_OK) {
		fsl_incidents_fini(out);
	}
	return status;
}

static bool passes(const struct fsl_incident *item, const struct fsl_incident_filter *filter)
{
	return (filter->job_name == NULL || strcmp(item->job_name, filter->job_name) == 0) &&
	       (filter->host == NULL ||
		fsl_comma_has(item->hosts, filter->host, strlen(filter->host))) &&
	       (filter->since_ns == FSL_NS_ABSENT || item->seen_ns >= filter->since_ns) &&
	       (!filter->only_open || item->status == FSL_INCIDENT_OPEN);
}

enum fsl_status fsl_incidents_find(struct fsl_state *state,
				   const struct fsl_incident_filter *filter,
				   struct fsl_incidents *out, struct fsl_error *err)
{
	sqlite3_stmt *statement = NULL;
	size_t n_kept = 0;
	*out = (struct fsl_incidents){0};
	int code = fsl_state_ask(state, &statement,
				 "SELECT " COLUMNS " FROM incidents WHERE status > ?1 "
				 "ORDER BY opened_ns DESC, id DESC",
				 "i", (int64_t)FSL_INCIDENT_PENDING);
	enum fsl_status status = fsl_state_each(state, statement, code, add_row, out, err);
	for (size_t i = 0; i < out->n_items; i++) {
		if (passes(&out->items[i], filter)) {
			out->items[n_kept++] = out->items[i];
		}
	}
	out->n_items = n_kept;
	if (status != FSL_OK) {
		fsl_incidents_fini(out);
	}
	return status;
}

enum fsl_status fsl_incidents_list(struct fsl_state *state,
				   const struct fsl_incident_filter *filter,
				   struct fsl_incidents *out, struct fsl_error *err)
{
	FSL_TRY(fsl_state_begin(state, err)); /* makes the tables of an older file */
	FSL_TRY(fsl_incidents_find(state, filter, out, err));
	enum fsl_status status = fsl_state_settle(state, true, err);
	if (status != FSL_OK) {
		fsl_incidents_fini(out);
	}
	return status;
}
