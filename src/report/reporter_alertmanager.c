/*
 * Posts the open incidents to Alertmanager in each run: an alert that is not posted again ends by
 * itself, three intervals later. One that cleared is posted twice with its end. Nothing that
 * changes from run to run is a label, as each other label makes another alert.
 */
#include <stdio.h>
#include <string.h>

#include "alarm/channel.h"
#include "alarm/deliver.h"
#include "alarm/http.h"
#include "base/confine.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "config/config.h"
#include "report/document.h"
#include "report/incident.h"
#include "report/report.h"
#include "text/comma_list.h"

enum { PLACES_MAX = 16, INTERVALS_UNTIL_END = 3 };

struct self {
	const struct fsl_config *config;
	char *body; /* NULL: nothing is to be told */
};

static bool begin(void *opaque, const struct fsl_config *config, const struct fsl_report *report)
{
	if (config == NULL || config->is_look || config->alertmanager_url == NULL ||
	    report->perception == NULL) {
		return false;
	}
	*(struct self *)opaque = (struct self){.config = config};
	return true;
}

/* RFC 3339; an end in the future says that it is still open. */
static int64_t end_of(const struct fsl_incident *incident, const struct fsl_config *config)
{
	double until_ns = INTERVALS_UNTIL_END * config->fail_slow_span_mins * 60.0 * FSL_NS_PER_S;
	return incident->status == FSL_INCIDENT_CLEARED ? incident->cleared_ns
							: config->now_ns + (int64_t)until_ns;
}

/* @place: "" for an alert about the job. */
static void put_alert(struct fsl_document *document, cJSON *list,
		      const struct fsl_incident *incident, const char *place,
		      const struct fsl_config *config)
{
	char host[256], number[32];
	cJSON *alert = fsl_document_object(document, list, NULL);
	cJSON *labels = fsl_document_object(document, alert, "labels");
	cJSON *notes = fsl_document_object(document, alert, "annotations");
	fsl_document_text(document, labels, "alertname", "FailslowIncident");
	fsl_document_text(document, labels, "training_job", incident->job_name);
	fsl_document_text(document, labels, "verdict", incident->kind);
	if (*incident->cause != '\0') {
		fsl_document_text(document, labels, "cause", incident->cause);
	}
	if (*place != '\0') {
		(void)snprintf(host, sizeof(host), "%.*s", (int)strcspn(place, "#"), place);
		fsl_document_text(document, labels, "host", host);
		fsl_document_text(document, labels, "place", place);
	}
	fsl_document_text(document, notes, "summary", incident->headline);
	fsl_document_text(document, notes, "severity", fsl_incident_severity(incident));
	fsl_document_text(document, notes, "incident", incident->id);
	fsl_document_text(document, notes, "ranks", incident->ranks);
	(void)snprintf(number, sizeof(number), "%.1f", 100.0 * incident->lost_share);
	fsl_document_text(document, notes, "lost_percent", number);
	(void)snprintf(number, sizeof(number), "%.2f", incident->confidence);
	fsl_document_text(document, notes, "confidence", number);
	fsl_document_time(document, alert, "startsAt", incident->opened_ns);
	fsl_document_time(document, alert, "endsAt", end_of(incident, config));
}

/* One alert per place; if these are too many one per host, and if these are too many one for all.
 */
static const char *told_places(const struct fsl_incident *incident)
{
	if (fsl_comma_count(incident->places) <= PLACES_MAX) {
		return incident->places;
	}
	return fsl_comma_count(incident->hosts) <= PLACES_MAX ? incident->hosts : "";
}

static void put_incident(struct fsl_document *document, cJSON *list,
			 const struct fsl_incident *incident, const struct fsl_config *config)
{
	const char *places = told_places(incident);
	struct fsl_comma_item item;
	char place[256];
	if (*places == '\0') {
		put_alert(document, list, incident, "", config);
	}
	while (!document->has_failed && fsl_comma_next(&places, &item)) {
		(void)snprintf(place, sizeof(place), "%.*s",
			       (int)(item.length < 255 ? item.length : 255), item.text);
		put_alert(document, list, incident, place, config);
	}
}

static enum fsl_status verdict(void *opaque, struct fsl_report *report, struct fsl_error *err)
{
	struct self *self = opaque;
	struct fsl_document document = {0};
	cJSON *list = cJSON_CreateArray();
	bool is_told = false;
	document.has_failed = list == NULL;
	for (size_t i = 0; report->incidents != NULL && i < report->incidents->n_items; i++) {
		const struct fsl_incident *incident = &report->incidents->items[i];
		if (incident->opened_ns != FSL_NS_ABSENT) {
			put_incident(&document, list, incident, self->config);
			is_told = true;
		}
	}
	list = fsl_document_finish(&document, list);
	if (list == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: document=\"alerts\"");
	}
	self->body = is_told ? fsl_json_text(list, 0) : NULL;
	cJSON_Delete(list);
	return FSL_OK;
}

static enum fsl_status post(const struct self *self, struct fsl_error *err)
{
	static const char path[] = "/api/v2/alerts";
	char *url = NULL, *whole = NULL;
	FSL_TRY(fsl_secret_read(&url, "alertmanager_url", self->config->alertmanager_url, err));
	size_t length = strlen(url);
	while (length > 0 && url[length - 1] == '/') {
		length--;
	}
	whole = fsl_calloc(length + sizeof(path), 1);
	enum fsl_status status = FSL_OK;
	if (whole == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: key=\"alertmanager_url\"");
	} else {
		memcpy(whole, url, length);
		memcpy(whole + length, path, sizeof(path));
		const struct fsl_http_post request = {
			.key = "alertmanager_url",
			.url = whole,
			.body = self->body,
			.deadline_ns = fsl_clock_ns() + fsl_alarm_share_ns(self->config),
		};
		status = fsl_http_send(&request, err);
	}
	fsl_free(whole);
	fsl_free(url);
	return status;
}

/* Behind the end of the incidents: other runs do not wait for the state meanwhile. */
static void end(void *opaque, bool is_told)
{
	struct self *self = opaque;
	struct fsl_error err = {0};
	if (self->body != NULL && is_told && post(self, &err) != FSL_OK) {
		fsl_log(FSL_LOG_WARNING, "alarm",
			"a receiver was not told, the next run tells it: "
			"channel=\"alertmanager\", cause=\"%s\"",
			fsl_error_root(&err));
	}
	fsl_free(self->body);
}

/* Alertmanager is reached with libraries and certificates of any place. */
static void allow(struct fsl_confine *plan, const struct fsl_config *config)
{
	if (config->alertmanager_url != NULL) {
		fsl_confine_allow(plan, FSL_CONFINE_NOTHING, "Alertmanager is told");
	}
}

const struct fsl_reporter fsl_reporter_alertmanager = {
	.name = "alertmanager",
	.summary = "posts open incidents in each run (alertmanager_url)",
	.self_bytes = sizeof(struct self),
	.begin = begin,
	.verdict = verdict,
	.end = end,
	.allow = allow,
};
