/*
 * Writes failslow_<job>.prom for the text file collector of node_exporter. The file has no times:
 * the collector refuses them. A series that is gone has cleared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account/account.h"
#include "base/confine.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "config/config.h"
#include "report/case_json.h"
#include "report/report.h"
#include "state/incidents.h"
#include "text/phrase.h"

enum { CULPRITS_MAX = 16 }; /* more would make too many series */

struct self {
	const struct fsl_config *config;
};

static bool begin(void *opaque, const struct fsl_config *config, const struct fsl_report *report)
{
	if (config == NULL || config->is_look || config->textfile_path == NULL ||
	    report->perception == NULL || report->localisation == NULL) {
		return false;
	}
	*(struct self *)opaque = (struct self){.config = config};
	return true;
}

/* A label's value: quotes, backslashes and line breaks are escaped. */
static void put_label(FILE *out, const char *name, const char *value, bool is_first)
{
	(void)fprintf(out, "%s%s=\"", is_first ? "" : ",", name);
	for (; *value != '\0'; value++) {
		if (*value == '\n') {
			(void)fputs("\\n", out);
		} else {
			(void)fprintf(out, "%s%c", strchr("\"\\", *value) != NULL ? "\\" : "",
				      *value);
		}
	}
	(void)fputc('"', out);
}

/* Help and type have to be the same in all files of the folder. */
static void put_head(FILE *out, const char *name, const char *help)
{
	(void)fprintf(out, "# HELP failslow_%s %s\n# TYPE failslow_%s gauge\n", name, help, name);
}

/* One number about the job; nothing if it is not known. */
static void put_number(FILE *out, const char *job, const char *name, const char *help, double value)
{
	if (isfinite(value)) {
		put_head(out, name, help);
		(void)fprintf(out, "failslow_%s{", name);
		put_label(out, "training_job", job, true);
		(void)fprintf(out, "} %.10g\n", value);
	}
}

static void put_verdicts(FILE *out, const char *job, enum fsl_verdict_kind kind)
{
	put_head(out, "verdict", "1 for the verdict of the last run, 0 for all others.");
	for (int k = 0; k < FSL_VERDICTS_OF_JOBS_N; k++) {
		(void)fputs("failslow_verdict{", out);
		put_label(out, "training_job", job, true);
		put_label(out, "verdict", fsl_verdict_text((enum fsl_verdict_kind)k), false);
		(void)fprintf(out, "} %d\n", k == (int)kind);
	}
}

/* Who slows the job now. */
static void put_culprits(FILE *out, const char *job, const struct fsl_report *report)
{
	const struct fsl_localisation *verdict = report->localisation;
	const struct fsl_outcome outcome = fsl_report_outcome(report);
	if (fsl_outcome_state(&outcome) != FSL_STATE_ACTIVE || verdict->n_culprits == 0) {
		return;
	}
	put_head(out, "culprit", "1 for each rank that slows the job now, 16 at most.");
	for (size_t i = 0; i < verdict->n_culprits && i < CULPRITS_MAX; i++) {
		const struct fsl_culprit *culprit = &verdict->culprits[i];
		char rank[16];
		(void)snprintf(rank, sizeof(rank), "%d", (int)culprit->rank);
		(void)fputs("failslow_culprit{", out);
		put_label(out, "training_job", job, true);
		put_label(out, "rank", rank, false);
		put_label(out, "host", fsl_text_or_empty(culprit->server_ip), false);
		put_label(out, "cause", fsl_cause_text(culprit->cause), false);
		(void)fputs("} 1\n", out);
	}
}

static size_t count_open(const struct fsl_incidents *incidents)
{
	size_t n = 0;
	for (size_t i = 0; incidents != NULL && i < incidents->n_items; i++) {
		n += incidents->items[i].status == FSL_INCIDENT_OPEN;
	}
	return n;
}

static void put_all(FILE *out, const char *job, const struct fsl_report *report,
		    const struct fsl_config *config)
{
	const struct fsl_coverage *coverage = &report->localisation->coverage;
	const struct fsl_outcome outcome = fsl_report_outcome(report);
	struct fsl_account account;
	fsl_account_make(&account, &outcome);
	put_verdicts(out, job, fsl_outcome_kind(&outcome));
	put_culprits(out, job, report);
	put_number(out, job, "incidents_open", "Incidents of the job that are open.",
		   (double)count_open(report->incidents));
	put_number(out, job, "lost_share", "Share of the time looked at that was lost, 0 to 1.",
		   account.lost_share);
	put_number(out, job, "lost_seconds_per_step", "Time that each step loses.",
		   report->localisation->lost_ms_per_step / 1e3);
	put_number(out, job, "coverage_ratio", "Share of the expected ranks that left data.",
		   coverage->n_ranks_expected > 0
			   ? (double)coverage->n_ranks_seen / (double)coverage->n_ranks_expected
			   : (double)NAN);
	put_number(out, job, "last_run_timestamp_seconds", "Time of the last run.",
		   (double)(config->now_ns / FSL_NS_PER_S));
	put_number(out, job, "interval_seconds", "Time from one run to the next, as configured.",
		   config->fail_slow_span_mins * 60.0);
}

static enum fsl_status write_file(const char *path, const char *job,
				  const struct fsl_report *report, const struct fsl_config *config,
				  struct fsl_error *err)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	if (out == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", path);
	}
	put_all(out, job, report, config);
	bool is_whole = ferror(out) == 0;
	is_whole = fclose(out) == 0 && is_whole;
	enum fsl_status status =
		is_whole ? fsl_file_write_atomic(path, text, length, err)
			 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", path);
	free(text);
	return status;
}

static enum fsl_status verdict(void *opaque, struct fsl_report *report, struct fsl_error *err)
{
	const struct self *self = opaque;
	const struct fsl_job_identity job = fsl_report_job(report, self->config);
	const struct fsl_outcome outcome = fsl_report_outcome(report);
	char name[FSL_JOB_ID_MAX + 32];
	(void)snprintf(name, sizeof(name), "failslow_%s.prom", job.name);
	(void)fsl_dir_sweep(self->config->textfile_path);
	char *path = fsl_path_join(self->config->textfile_path, name);
	enum fsl_status status = FSL_OK;
	if (path == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", name);
	}
	if (fsl_outcome_has_ended(&outcome) && count_open(report->incidents) == 0) {
		(void)unlink(path); /* its numbers would stand there for ever */
	} else {
		status = write_file(path, job.name, report, self->config, err);
	}
	if (status != FSL_OK) {
		status = FSL_CAUSE(err, status,
				   "cannot write metrics, make the folder or set another: "
				   "file=\"%s\", key=\"textfile_path\"",
				   path);
	}
	fsl_free(path);
	return status;
}

static void allow(struct fsl_confine *plan, const struct fsl_config *config)
{
	fsl_confine_allow(plan, FSL_CONFINE_WRITE, config->textfile_path);
}

const struct fsl_reporter fsl_reporter_textfile = {
	.name = "textfile",
	.summary = "writes metrics for node_exporter (textfile_path)",
	.self_bytes = sizeof(struct self),
	.begin = begin,
	.verdict = verdict,
	.allow = allow,
};
