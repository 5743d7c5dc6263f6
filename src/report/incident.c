/* Incidents in reports. */
#include "report/incident.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/account.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "config/config.h"
#include "model/steps.h"
#include "report/case_json.h"
#include "report/document.h"
#include "report/report.h"
#include "report/words.h"
#include "state/limits.h"
#include "text/comma_list.h"
#include "text/phrase.h"

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Sorts texts and leaves one of each. */
static size_t make_unique(const char **texts, size_t n)
{
	size_t n_kept = 0;
	if (n > 1) {
		qsort(texts, n, sizeof(*texts), compare_texts);
	}
	for (size_t i = 0; i < n; i++) {
		if (n_kept == 0 || strcmp(texts[n_kept - 1], texts[i]) != 0) {
			texts[n_kept++] = texts[i];
		}
	}
	return n_kept;
}

static enum fsl_status list_hosts(struct fsl_incident_sight *out, const struct fsl_run *run,
				  struct fsl_error *err)
{
	const char **hosts = NULL;
	size_t n = 0, n_ranks = run != NULL ? run->n_ranks : 0;
	FSL_TRY(FSL_ARENA_NEW(hosts, &out->arena, n_ranks + 1, "hosts", err));
	for (size_t r = 0; r < n_ranks; r++) {
		const char *host = fsl_text_or_empty(run->ranks[r].server_ip);
		if (*host != '\0') {
			hosts[n++] = host;
		}
	}
	out->look.n_hosts = make_unique(hosts, n);
	out->look.hosts = hosts;
	return FSL_OK;
}

/* A rank on its host. A restart keeps which of its host's ranks one is, counted from the lowest,
 * and not the rank. */
struct seat {
	const char *host;
	int32_t rank;
	size_t place;
};

static int compare_seats(const void *left, const void *right)
{
	const struct seat *a = left, *b = right;
	int order = strcmp(a->host, b->host);
	return order != 0 ? order : FSL_ORDER(a->rank, b->rank);
}

/* Seats of all ranks, sorted. */
struct seats {
	struct seat *items;
	size_t n;
};

static enum fsl_status list_seats(struct seats *out, struct fsl_arena *arena,
				  const struct fsl_run *run, struct fsl_error *err)
{
	out->n = run != NULL ? run->n_ranks : 0;
	FSL_TRY(FSL_ARENA_NEW(out->items, arena, out->n + 1, "ranks", err));
	for (size_t r = 0; r < out->n; r++) {
		out->items[r] = (struct seat){fsl_text_or_empty(run->ranks[r].server_ip),
					      run->ranks[r].rank, 0};
	}
	if (out->n > 1) {
		qsort(out->items, out->n, sizeof(*out->items), compare_seats);
	}
	for (size_t i = 1; i < out->n; i++) {
		bool is_same = strcmp(out->items[i].host, out->items[i - 1].host) == 0;
		out->items[i].place = is_same ? out->items[i - 1].place + 1 : 0;
	}
	return FSL_OK;
}

static size_t place_on_host(const struct seats *seats, int32_t rank, const char *host)
{
	const struct seat key = {host, rank, 0};
	const struct seat *found =
		seats->n > 0 ? bsearch(&key, seats->items, seats->n, sizeof(key), compare_seats)
			     : NULL;
	return found != NULL ? found->place : 0;
}

static const char *place_of(struct fsl_arena *arena, const struct seats *seats,
			    const struct fsl_culprit *culprit, enum fsl_verdict_kind kind)
{
	const char *host = fsl_text_or_empty(culprit->server_ip);
	if (*host == '\0') {
		return fsl_arena_printf(arena, "rank %d", (int)culprit->rank);
	}
	if (kind == FSL_VERDICT_SLOW_HOST || culprit->is_uplink) {
		return host;
	}
	return fsl_arena_printf(arena, "%s#%zu", host, place_on_host(seats, culprit->rank, host));
}

static enum fsl_status list_culprits(struct fsl_incident_sight *out,
				     const struct fsl_report *report, struct fsl_error *err)
{
	const struct fsl_localisation *verdict = report->localisation;
	struct fsl_incident_look *look = &out->look;
	const char **places = NULL, **hosts = NULL, **ranks = NULL;
	struct seats seats;
	size_t n = verdict->n_culprits, n_hosts = 0;
	FSL_TRY(list_seats(&seats, &out->arena, report->run, err));
	FSL_TRY(FSL_ARENA_NEW(places, &out->arena, n + 1, "culprits", err));
	FSL_TRY(FSL_ARENA_NEW(hosts, &out->arena, n + 1, "culprits", err));
	FSL_TRY(FSL_ARENA_NEW(ranks, &out->arena, n + 1, "culprits", err));
	for (size_t i = 0; i < n; i++) {
		const struct fsl_culprit *culprit = &verdict->culprits[i];
		places[i] = place_of(&out->arena, &seats, culprit, verdict->kind);
		ranks[i] = fsl_arena_printf(&out->arena, "%d", (int)culprit->rank);
		if (places[i] == NULL || ranks[i] == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: culprits=%zu", n);
		}
		if (*fsl_text_or_empty(culprit->server_ip) != '\0') {
			hosts[n_hosts++] = culprit->server_ip;
		}
	}
	look->n_places = make_unique(places, n);
	look->places = places;
	look->bad_hosts = fsl_comma_join(&out->arena, hosts, make_unique(hosts, n_hosts));
	look->ranks = fsl_comma_join(&out->arena, ranks, n);
	return look->bad_hosts != NULL && look->ranks != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: culprits=%zu", n);
}

/* The share of the time that the problem costs now. */
static double lost_share_of(const struct fsl_report *report, enum fsl_verdict_kind kind)
{
	const struct fsl_localisation *verdict = report->localisation;
	const struct fsl_step_episode *episode = fsl_longest_episode(report->perception);
	if (kind == FSL_VERDICT_HANG) {
		return 1.0;
	}
	if (kind == FSL_VERDICT_JOB_SLOWDOWN && episode != NULL) {
		return fmax(1.0 - episode->before_ms / episode->after_ms, 0.0);
	}
	if (isfinite(verdict->lost_ms_per_step) && verdict->step_ms > 0.0) {
		return fmin(verdict->lost_ms_per_step / verdict->step_ms, 1.0);
	}
	struct fsl_account account;
	const struct fsl_outcome job = fsl_report_outcome(report);
	fsl_account_make(&account, &job);
	return account.lost_share;
}

static enum fsl_incident_class class_of(const struct fsl_localisation *verdict,
					enum fsl_verdict_kind kind)
{
	return kind == FSL_VERDICT_HANG                           ? FSL_INCIDENT_HANG
	       : kind == verdict->kind && verdict->n_culprits > 0 ? FSL_INCIDENT_PLACE
								  : FSL_INCIDENT_JOB;
}

static enum fsl_status describe(struct fsl_incident_sight *out, const struct fsl_report *report,
				struct fsl_error *err)
{
	const struct fsl_outcome job = fsl_report_outcome(report);
	const struct fsl_localisation *verdict = report->localisation;
	enum fsl_verdict_kind kind = fsl_outcome_kind(&job);
	struct fsl_incident_look *look = &out->look;
	struct fsl_phrase headline = {0};
	fsl_words_headline(&headline, report);
	if (verdict->n_culprits > 0 && verdict->culprits[0].process != NULL) {
		fsl_phrase_add(&headline, "; %s", verdict->culprits[0].process->text);
	}
	look->class = class_of(verdict, kind);
	look->kind = fsl_verdict_text(kind);
	look->cause = verdict->n_culprits > 0 ? fsl_cause_text(verdict->culprits[0].cause) : "";
	look->headline = fsl_arena_strdup(&out->arena, headline.text);
	look->lost_share = lost_share_of(report, kind);
	look->lost_ms = verdict->lost_ms_per_step;
	look->confidence = verdict->confidence;
	if (look->headline == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"headline\"");
	}
	return list_culprits(out, report, err);
}

/* Begin and end of the data of all chapters, if the capture has several. */
static void find_span(struct fsl_incident_look *look, const struct fsl_localisation *verdict)
{
	size_t n = verdict->n_chapters;
	look->begin_ns = n > 0 ? verdict->chapters[0].begin_ns : verdict->coverage.begin_ns;
	look->end_ns = n > 0 ? verdict->chapters[n - 1].end_ns : verdict->coverage.end_ns;
}

enum fsl_status fsl_incident_sight_take(struct fsl_incident_sight *out,
					const struct fsl_report *report,
					const struct fsl_config *config, struct fsl_error *err)
{
	static const enum fsl_look_result results[] = {
		[FSL_STATE_CLEAR] = FSL_LOOK_CLEAN,
		[FSL_STATE_ACTIVE] = FSL_LOOK_PROBLEM,
		[FSL_STATE_OVER] = FSL_LOOK_CLEAN,
		[FSL_STATE_UNKNOWN] = FSL_LOOK_UNKNOWN,
	};
	const struct fsl_outcome job = fsl_report_outcome(report);
	const struct fsl_job_identity identity = fsl_report_job(report, config);
	const char *root = fsl_report_root(report, config);
	/* The same job by whatever path it is given. */
	char *real = root != NULL ? realpath(root, NULL) : NULL;
	*out = (struct fsl_incident_sight){0};
	out->look = (struct fsl_incident_look){
		.job = fsl_arena_strdup(&out->arena, real != NULL ? real : fsl_text_or_empty(root)),
		.job_name = fsl_arena_strdup(&out->arena, identity.name),
		.now_ns = config->now_ns,
		.result = results[fsl_outcome_state(&job)],
		.has_ended = fsl_outcome_has_ended(&job),
		.n_ranks_seen = report->localisation->coverage.n_ranks_seen,
		.forget_hours = config->hang_forget_hours,
	};
	find_span(&out->look, report->localisation);
	free(real);
	if (out->look.job == NULL || out->look.job_name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"incident\"");
	}
	FSL_TRY(list_hosts(out, report->run, err));
	return out->look.result == FSL_LOOK_PROBLEM ? describe(out, report, err) : FSL_OK;
}

void fsl_incident_sight_fini(struct fsl_incident_sight *sight)
{
	fsl_arena_fini(&sight->arena);
	*sight = (struct fsl_incident_sight){0};
}

const char *fsl_incident_severity(const struct fsl_incident *incident)
{
	bool is_critical = incident->class == FSL_INCIDENT_HANG ||
			   incident->lost_share >= FSL_INCIDENT_AT_ONCE_SHARE;
	return is_critical ? "critical" : "warning";
}

/* A list with commas between, as a list of texts or of numbers. */
static void put_list(struct fsl_document *document, cJSON *root, const char *key, const char *text,
		     bool is_numbers)
{
	cJSON *list = fsl_document_array(document, root, key);
	struct fsl_comma_item item;
	char copy[512];
	while (!document->has_failed && fsl_comma_next(&text, &item)) {
		(void)snprintf(copy, sizeof(copy), "%.*s",
			       (int)(item.length < 500 ? item.length : 500), item.text);
		if (is_numbers) {
			fsl_document_integer(document, list, NULL, strtoll(copy, NULL, 10));
		} else {
			fsl_document_text(document, list, NULL, copy);
		}
	}
}

/* An incident that cleared is told as over. */
static void put_headline(struct fsl_document *document, cJSON *root,
			 const struct fsl_incident *incident)
{
	bool is_over = incident->status == FSL_INCIDENT_CLEARED;
	struct fsl_phrase headline = {0};
	fsl_phrase_add(&headline, "%s%s%s", is_over ? "OVER (was: " : "", incident->headline,
		       is_over ? ")" : "");
	fsl_document_text(document, root, "headline", headline.text);
}

char *fsl_incident_edge_json(const struct fsl_incident *incident, int64_t now_ns, int64_t n_of_host)
{
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fsl_document_text(&document, root, "schema", "failslow.edge/1");
	fsl_document_text(&document, root, "edge", fsl_incident_edge_text(incident->edge));
	fsl_document_text(&document, root, "incident", incident->id);
	fsl_document_time(&document, root, "time", now_ns);
	fsl_document_text(&document, root, "job", incident->job_name);
	fsl_document_text(&document, root, "jobRoot", incident->job);
	fsl_document_text(&document, root, "kind", incident->kind);
	fsl_document_text(&document, root, "cause", incident->cause);
	fsl_document_text(&document, root, "severity", fsl_incident_severity(incident));
	put_headline(&document, root, incident);
	put_list(&document, root, "hosts", incident->hosts, false);
	put_list(&document, root, "ranks", incident->ranks, true);
	put_list(&document, root, "places", incident->places, false);
	fsl_document_text(&document, root, "hostList", incident->hosts);
	fsl_document_text(&document, root, "rankList", incident->ranks);
	fsl_document_number(&document, root, "lostShare", incident->lost_share, FSL_DECIMALS_RATIO);
	fsl_document_number(&document, root, "lostMsPerStep", incident->lost_ms, FSL_DECIMALS_MS);
	fsl_document_number(&document, root, "confidence", incident->confidence,
			    FSL_DECIMALS_RATIO);
	fsl_document_time(&document, root, "firstSeen", incident->first_ns);
	fsl_document_time(&document, root, "opened", incident->opened_ns);
	fsl_document_time(&document, root, "cleared", incident->cleared_ns);
	fsl_document_integer(&document, root, "runs", incident->n_runs);
	fsl_document_integer(&document, root, "incidentsOfHost7Days", n_of_host);
	fsl_document_engine(&document, root, NULL);
	root = fsl_document_finish(&document, root);
	char *text = root != NULL ? fsl_json_text(root, 0) : NULL;
	cJSON_Delete(root);
	return text;
}
