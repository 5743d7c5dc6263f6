/*
 * Brings the incidents of the job up to date before any other reporter tells the verdict, marks an
 * alarm that was given within look_back as known, and tells receivers of edges once the verdict
 * stands. A fault of the state file costs no verdict.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alarm/channel.h"
#include "alarm/deliver.h"
#include "base/confine.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "config/config.h"
#include "report/case_json.h"
#include "report/incident.h"
#include "report/reporter.h"
#include "state/state.h"
#include "text/comma_list.h"

#define WEEK_NS (INT64_C(7) * 24 * 3600 * FSL_NS_PER_S)

/* Its keys of the configuration, and the state once it is open. */
struct self {
	const struct fsl_config *config;
	double look_back_mins;   /* 0: no alarm is looked up */
	struct fsl_state *state; /* NULL: it cannot be used */
	struct fsl_incidents incidents;
};

/* If --output says where the state lies, no key of the configuration helps. */
static void warn_of_state(const struct self *self, const struct fsl_error *err)
{
	fsl_log(FSL_LOG_WARNING, "state", "%s, check the folder: file=\"%s\", %s, cause=\"%s\"",
		self->look_back_mins > 0.0 ? "incidents are not kept and this alarm may repeat"
					   : "incidents are not kept",
		self->config->state_path,
		self->config->is_output_given ? "option=\"--output\"" : "key=\"state_path\"",
		fsl_error_root(err));
}

/* Minutes to look back. A job that has ended gives no new facts: its alarm is not repeated while
 * its files lie there. */
static double mins_of(const struct fsl_config *config, const struct fsl_report *report)
{
	static const double ENDED_MINS = 90.0 * 24.0 * 60.0; /* the state forgets then */
	if (!report->is_anomaly || !(config->look_back_mins > 0.0)) {
		return 0.0;
	}
	return report->perception->is_over ? fmax(ENDED_MINS, config->look_back_mins)
					   : config->look_back_mins;
}

static bool begin(void *opaque, const struct fsl_config *config, const struct fsl_report *report)
{
	if (config == NULL || config->is_look || report->perception == NULL ||
	    report->localisation == NULL) {
		return false;
	}
	*(struct self *)opaque =
		(struct self){.config = config, .look_back_mins = mins_of(config, report)};
	return true;
}

static enum fsl_status check_alarm(struct self *self, struct fsl_report *report, const char *job,
				   struct fsl_error *err)
{
	struct fsl_alarm alarm = {.since_ns = FSL_NS_ABSENT};
	if (self->look_back_mins > 0.0) {
		FSL_TRY(fsl_state_check_alarm(self->state, job, report->localisation,
					      self->config->now_ns, self->look_back_mins, &alarm,
					      err));
	}
	report->localisation->is_suppressed = alarm.is_suppressed;
	report->localisation->suppressed_since_ns = alarm.since_ns;
	return FSL_OK;
}

/* Incidents of the worst host of @incident in the last seven days, and this one. */
static enum fsl_status count_of_host(struct self *self, const struct fsl_incident *incident,
				     int64_t *n_most, struct fsl_error *err)
{
	char host[256];
	const char *rest = incident->hosts;
	struct fsl_comma_item item;
	*n_most = 1;
	while (fsl_comma_next(&rest, &item)) {
		struct fsl_incidents found;
		(void)snprintf(host, sizeof(host), "%.*s",
			       (int)(item.length < 255 ? item.length : 255), item.text);
		const struct fsl_incident_filter filter = {
			.host = host, .since_ns = self->config->now_ns - WEEK_NS};
		FSL_TRY(fsl_incidents_find(self->state, &filter, &found, err));
		int64_t n_found = (int64_t)found.n_items;
		*n_most = n_found > *n_most ? n_found : *n_most;
		fsl_incidents_fini(&found);
	}
	return FSL_OK;
}

static enum fsl_status put_edge(struct self *self, const struct fsl_incident *incident,
				struct fsl_error *err)
{
	int64_t n_of_host = 1;
	FSL_TRY(count_of_host(self, incident, &n_of_host, err));
	char *text = fsl_incident_edge_json(incident, self->config->now_ns, n_of_host);
	if (text == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: document=\"edge\"");
	}
	enum fsl_status status =
		fsl_alarm_put(self->state, self->config, incident->id, incident->edge, text, err);
	fsl_free(text);
	return status;
}

static enum fsl_status note(struct self *self, struct fsl_report *report,
			    const struct fsl_incident_look *look, struct fsl_error *err)
{
	if (fsl_dir_create(self->config->slow_node_detection_path, NULL) != FSL_OK) {
		return FSL_OK; /* those that write the verdicts tell it */
	}
	FSL_TRY(fsl_state_open(&self->state, self->config->state_path, err));
	FSL_TRY(check_alarm(self, report, look->job, err));
	FSL_TRY(fsl_incidents_note(self->state, look, &self->incidents, err));
	for (size_t i = 0; i < self->incidents.n_items; i++) {
		enum fsl_incident_edge edge = self->incidents.items[i].edge;
		if (edge == FSL_EDGE_OPEN || edge == FSL_EDGE_CLEAR) {
			FSL_TRY(put_edge(self, &self->incidents.items[i], err));
		}
	}
	report->incidents = &self->incidents;
	return FSL_OK;
}

static enum fsl_status verdict(void *opaque, struct fsl_report *report, struct fsl_error *unused)
{
	struct self *self = opaque;
	struct fsl_incident_sight sight;
	struct fsl_error err = {0};
	(void)unused;
	enum fsl_status status = fsl_incident_sight_take(&sight, report, self->config, &err);
	FSL_THEN(status, note(self, report, &sight.look, &err));
	if (status != FSL_OK) {
		warn_of_state(self, &err);
		fsl_state_close(self->state); /* nothing of this run is kept */
		self->state = NULL;
	}
	fsl_incident_sight_fini(&sight);
	return FSL_OK;
}

/* An alarm counts as raised once its verdict stands; one that nobody could see is raised again. */
static void end(void *opaque, bool is_told)
{
	struct self *self = opaque;
	struct fsl_error err = {0};
	if (self->state != NULL && fsl_state_settle(self->state, is_told, &err) != FSL_OK) {
		warn_of_state(self, &err);
	} else if (self->state != NULL && is_told) {
		fsl_alarm_deliver(self->state, self->config);
	}
	fsl_state_close(self->state);
	fsl_incidents_fini(&self->incidents);
}

/* Receivers are reached with libraries, certificates and programs of any place. */
static void allow(struct fsl_confine *plan, const struct fsl_config *config)
{
	for (size_t i = 0; fsl_channels[i] != NULL; i++) {
		if (fsl_channels[i]->is_on(config)) {
			fsl_confine_allow(plan, FSL_CONFINE_NOTHING, "receivers are told");
		}
	}
}

const struct fsl_reporter fsl_reporter_incidents = {
	.name = "incidents",
	.summary = "keeps incidents and tells their begins and ends",
	.self_bytes = sizeof(struct self),
	.begin = begin,
	.verdict = verdict,
	.end = end,
	.allow = allow,
};
