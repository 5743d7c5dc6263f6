/* The alarms that were given, so that none is repeated within look_back. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "state/state.h"
#include "state/state_parts.h"

/* Age at which a record is removed, ns. */
#define KEEP_NS (INT64_C(90) * 24 * 3600 * FSL_NS_PER_S)

static int compare_culprits(const void *left, const void *right)
{
	const struct fsl_culprit *a = *(const struct fsl_culprit *const *)left;
	const struct fsl_culprit *b = *(const struct fsl_culprit *const *)right;
	int order = FSL_ORDER(a->rank, b->rank);
	order = order != 0 ? order : FSL_ORDER(a->cause, b->cause);
	return order != 0 ? order : FSL_ORDER(a->peer, b->peer);
}

/* "2:network:6,6:network:2", with "hang," in front of a hang; SQLite's growing string keeps its own
 * error. */
static bool add_culprits(sqlite3_str *key, const struct fsl_localisation *localisation)
{
	size_t n = localisation->n_culprits;
	const struct fsl_culprit **sorted = fsl_calloc(n, sizeof(const struct fsl_culprit *));
	if (sorted == NULL) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		sorted[i] = &localisation->culprits[i];
	}
	qsort(sorted, n, sizeof(const struct fsl_culprit *), compare_culprits);
	for (size_t i = 0; i < n; i++) {
		sqlite3_str_appendf(key, "%s%d:%s:%d", i > 0 ? "," : "", (int)sorted[i]->rank,
				    fsl_cause_text(sorted[i]->cause), (int)sorted[i]->peer);
	}
	fsl_free(sorted);
	return true;
}

/* "lack:5,6" or "slow:3": the ranks that are listed as abnormal for lack of data, or for another
 * reason. */
static bool add_abnormal(sqlite3_str *key, const struct fsl_localisation *localisation,
			 bool is_lack)
{
	int32_t *ranks = fsl_calloc(localisation->n_abnormal, sizeof(*ranks));
	if (ranks == NULL) {
		return false;
	}
	size_t n = 0;
	for (size_t i = 0; i < localisation->n_abnormal; i++) {
		if ((localisation->abnormal[i].method == FSL_METHOD_LACK) == is_lack) {
			ranks[n++] = localisation->abnormal[i].rank;
		}
	}
	qsort(ranks, n, sizeof(*ranks), fsl_rank_compare);
	for (size_t i = 0; i < n; i++) {
		sqlite3_str_appendf(key, "%s%d",
				    i > 0     ? ","
				    : is_lack ? "lack:"
					      : "slow:",
				    (int)ranks[i]);
	}
	fsl_free(ranks);
	return true;
}

/*
 * Without culprits: the ranks that the classical points name, those that lack data, or the job
 * itself when its verdict is an anomaly (hang, job slowdown).
 */
static bool add_nameless(sqlite3_str *key, const struct fsl_localisation *localisation)
{
	if (!add_abnormal(key, localisation, false) || !add_abnormal(key, localisation, true)) {
		return false;
	}
	bool is_quiet = localisation->kind == FSL_VERDICT_NORMAL ||
			localisation->kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	if (sqlite3_str_length(key) == 0 && !is_quiet) {
		sqlite3_str_appendall(key, "job");
	}
	return true;
}

/* Makes the key of the incident of a verdict: two verdicts with equal keys are the same incident.
 * *key NULL: no incident. Free with sqlite3_free. */
static enum fsl_status make_key(struct fsl_state *state,
				const struct fsl_localisation *localisation, char **key,
				struct fsl_error *err)
{
	sqlite3_str *text = sqlite3_str_new(state->db);
	/* A job that stops after its slow rank was reported is another incident. */
	if (localisation->kind == FSL_VERDICT_HANG) {
		sqlite3_str_appendall(text, "hang,");
	}
	bool is_made = localisation->n_culprits > 0 ? add_culprits(text, localisation)
						    : add_nameless(text, localisation);
	is_made = is_made && sqlite3_str_errcode(text) == SQLITE_OK;
	*key = sqlite3_str_finish(text);
	if (!is_made) {
		sqlite3_free(*key);
		*key = NULL;
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for state: culprits=%zu",
				localisation->n_culprits);
	}
	return FSL_OK;
}

struct incident {
	const char *kind, *key, *text;
	int64_t now_ns;
	int64_t after_ns; /* records at or before this are too old */
};

/* Time of the newest alarm within look_back and the begin of its incident; INT64_MIN: none. */
static enum fsl_status find_known(struct fsl_state *state, const struct incident *incident,
				  int64_t *alarm_ns, int64_t *since_ns, struct fsl_error *err)
{
	sqlite3_stmt *statement = NULL;
	int code = fsl_state_ask(state, &statement,
				 "SELECT time_ns, first_since_ns FROM alarms WHERE kind = ?1 AND "
				 "key = ?2 AND last_seen_ns > ?3 AND time_ns <= ?4 "
				 "ORDER BY time_ns DESC LIMIT 1",
				 "ttii", incident->kind, incident->key, incident->after_ns,
				 incident->now_ns);
	bool is_known = code == SQLITE_ROW;
	*alarm_ns = is_known ? sqlite3_column_int64(statement, 0) : INT64_MIN;
	*since_ns = is_known ? sqlite3_column_int64(statement, 1) : incident->now_ns;
	sqlite3_finalize(statement);
	return is_known || code == SQLITE_DONE ? FSL_OK : fsl_state_fail(state, "read", err);
}

/* Inside a transaction: looks the incident up, then records an alarm or that it was seen again. */
static enum fsl_status look_up_and_record(struct fsl_state *state, const struct incident *incident,
					  struct fsl_alarm *out, struct fsl_error *err)
{
	int64_t alarm_ns = 0, now_ns = incident->now_ns;
	FSL_TRY(find_known(state, incident, &alarm_ns, &out->since_ns, err));
	out->is_suppressed = alarm_ns != INT64_MIN && alarm_ns > incident->after_ns;
	if (out->is_suppressed) {
		FSL_TRY(fsl_state_run(state, err,
				      "UPDATE alarms SET last_seen_ns = max(last_seen_ns, ?4) "
				      "WHERE kind = ?1 AND key = ?2 AND time_ns > ?3 AND "
				      "time_ns <= ?4",
				      "ttii", incident->kind, incident->key, incident->after_ns,
				      now_ns));
	} else {
		FSL_TRY(fsl_state_run(state, err,
				      "INSERT INTO alarms (kind, key, last_seen_ns, time_ns, "
				      "first_since_ns, text) VALUES (?1, ?2, ?3, ?3, ?4, ?5)",
				      "ttiit", incident->kind, incident->key, now_ns, out->since_ns,
				      incident->text));
	}
	return fsl_state_run(state, err, "DELETE FROM alarms WHERE last_seen_ns < ?1", "i",
			     now_ns > KEEP_NS ? now_ns - KEEP_NS : INT64_C(0));
}

static int64_t look_back_begin_ns(int64_t now_ns, double look_back_mins)
{
	double look_back_ns = look_back_mins * 60.0 * FSL_NS_PER_S;
	if (!(look_back_ns > 0.0)) {
		return now_ns;
	}
	return look_back_ns < (double)now_ns ? now_ns - (int64_t)look_back_ns : -1;
}

/* "/home/sysTrace/mspti|3:compute:-1": the same rank of another job is another incident. */
static enum fsl_status add_job(char **key, const char *job, struct fsl_error *err)
{
	char *whole = sqlite3_mprintf("%s|%s", job, *key);
	sqlite3_free(*key);
	*key = whole;
	return whole != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for state: job=\"%s\"", job);
}

enum fsl_status fsl_state_check_alarm(struct fsl_state *state, const char *job,
				      const struct fsl_localisation *localisation, int64_t now_ns,
				      double look_back_mins, struct fsl_alarm *out,
				      struct fsl_error *err)
{
	char *key = NULL;
	struct fsl_alarm alarm = {.since_ns = FSL_NS_ABSENT};
	enum fsl_status status = make_key(state, localisation, &key, err);
	bool is_incident = status == FSL_OK && key != NULL;
	if (is_incident) {
		status = add_job(&key, job, err);
	}
	if (is_incident && status == FSL_OK) {
		struct incident incident = {
			.kind = fsl_verdict_text(localisation->kind),
			.key = key,
			.text = localisation->reason != NULL ? localisation->reason : "",
			.now_ns = now_ns,
			.after_ns = look_back_begin_ns(now_ns, look_back_mins),
		};
		status = fsl_state_begin(state, err);
		FSL_THEN(status, look_up_and_record(state, &incident, &alarm, err));
	}
	if (status == FSL_OK) {
		*out = alarm;
	}
	sqlite3_free(key);
	return status;
}
