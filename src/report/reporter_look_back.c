/*
 * An alarm that was sent within look_back is not sent again: this reporter marks the verdict before
 * any other reporter tells it. A fault of the state file costs no verdict.
 */
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "config/config.h"
#include "report/case_json.h"
#include "report/reporter.h"
#include "state/state.h"

/* Its keys of the configuration, and the state once an alarm was looked up in it. */
struct look_back {
	const char *job; /* path of its folder */
	const char *state_path, *state_folder;
	bool is_output_given; /* --output says where the state lies */
	int64_t now_ns;
	double mins;
	struct fsl_state *state; /* NULL: nothing to alarm of, or no state */
};

/* If --output says where the state lies, no key of the configuration helps. */
static void warn_of_state(const struct look_back *self, const struct fsl_error *err)
{
	fsl_log(FSL_LOG_WARNING, "state",
		"repeated alarms cannot be suppressed, check the folder: file=\"%s\", %s, "
		"cause=\"%s\"",
		self->state_path,
		self->is_output_given ? "option=\"--output\"" : "key=\"state_path\"",
		fsl_error_root(err));
}

/* Minutes to look back. A job that has ended gives no new facts: its alarm is not repeated while
 * its files lie there. */
static double mins_of(const struct fsl_config *config, const struct fsl_report *report)
{
	static const double ENDED_MINS = 90.0 * 24.0 * 60.0; /* the state forgets then */
	return report->perception->is_over ? fmax(ENDED_MINS, config->look_back_mins)
					   : config->look_back_mins;
}

static bool begin(void *opaque, const struct fsl_config *config, const struct fsl_report *report)
{
	if (config == NULL || config->is_look || config->look_back_mins <= 0.0 ||
	    report->perception == NULL || !report->is_anomaly) {
		return false;
	}
	*(struct look_back *)opaque = (struct look_back){
		.job = fsl_report_root(report, config),
		.state_path = config->state_path,
		.state_folder = config->slow_node_detection_path,
		.is_output_given = config->is_output_given,
		.now_ns = config->now_ns,
		.mins = mins_of(config, report),
	};
	return true;
}

static enum fsl_status check_alarm(struct look_back *self, struct fsl_localisation *localisation,
				   struct fsl_alarm *alarm, struct fsl_error *err)
{
	enum fsl_status status = fsl_dir_create(self->state_folder, err);
	if (status == FSL_OK) {
		status = fsl_state_open(&self->state, self->state_path, err);
	}
	if (status == FSL_OK) {
		/* The same job by whatever path it is given. */
		char *folder = realpath(self->job, NULL);
		status = fsl_state_check_alarm(self->state, folder != NULL ? folder : self->job,
					       localisation, self->now_ns, self->mins, alarm, err);
		free(folder);
	}
	return status;
}

static enum fsl_status verdict(void *opaque, struct fsl_report *report, struct fsl_error *unused)
{
	struct look_back *self = opaque;
	struct fsl_error err = {0};
	struct fsl_alarm alarm = {.since_ns = FSL_NS_ABSENT};
	(void)unused;
	if (check_alarm(self, report->localisation, &alarm, &err) != FSL_OK) {
		warn_of_state(self, &err);
	}
	report->localisation->is_suppressed = alarm.is_suppressed;
	report->localisation->suppressed_since_ns = alarm.since_ns;
	return FSL_OK;
}

/* An alarm counts as raised once its verdict stands; one that nobody could see is raised again. */
static void end(void *opaque, bool is_told)
{
	struct look_back *self = opaque;
	struct fsl_error err = {0};
	if (self->state != NULL && fsl_state_settle_alarm(self->state, is_told, &err) != FSL_OK) {
		warn_of_state(self, &err);
	}
	fsl_state_close(self->state);
}

const struct fsl_reporter fsl_reporter_look_back = {
	.name = "look_back",
	.summary = "marks an alarm that was given within look_back as known",
	.self_bytes = sizeof(struct look_back),
	.begin = begin,
	.verdict = verdict,
	.end = end,
};
