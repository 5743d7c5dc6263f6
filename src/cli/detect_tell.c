/* What became of a job goes to its readers: files, the terminal, the alarm, the next run. */
#include "cli/detect_tell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "cli/terminal.h"
#include "report/report.h"
#include "state/state.h"

/* Trouble with the state costs no verdict. Where --output says where the file lies, no key of the
 * configuration helps. */
static void warn_of_state(const struct fsl_config *config, const struct fsl_error *err)
{
	fsl_log(FSL_LOG_WARNING, "state",
		"repeated alarms cannot be suppressed, check the folder: file=\"%s\", %s, "
		"cause=\"%s\"",
		config->state_path,
		config->is_output_given ? "option=\"--output\"" : "key=\"state_path\"",
		fsl_error_root(err));
}

/* Nothing new comes of a job that has ended: what was told of it is not told again while its files
 * lie there. */
static double look_back_mins(const struct fsl_job *job, const struct fsl_config *config)
{
	static const double ENDED_MINS = 90.0 * 24.0 * 60.0; /* the state forgets then */
	return job->perception.is_over ? fmax(ENDED_MINS, config->look_back_mins)
				       : config->look_back_mins;
}

/* An alarm that was raised within look_back is marked as known and no alarm again. */
static void check_alarm(struct fsl_job *job, const struct fsl_config *config,
			struct fsl_state **state)
{
	struct fsl_error err = {0};
	struct fsl_alarm alarm = {.since_ns = FSL_NS_ABSENT};
	struct fsl_localisation *out = &job->localisation;
	if (config->look_back_mins <= 0.0 || !fsl_job_is_anomaly(job)) {
		return;
	}
	enum fsl_status status = fsl_dir_create(config->slow_node_detection_path, &err);
	if (status == FSL_OK) {
		status = fsl_state_open(state, config->state_path, &err);
	}
	if (status == FSL_OK) {
		/* The same job by whatever path it is given. */
		char *folder = realpath(config->root_path, NULL);
		status = fsl_state_check_alarm(*state, folder != NULL ? folder : config->root_path,
					       out, config->now_ns, look_back_mins(job, config),
					       &alarm, &err);
		free(folder);
	}
	if (status != FSL_OK) {
		warn_of_state(config, &err);
	}
	out->is_suppressed = alarm.is_suppressed;
	out->suppressed_since_ns = alarm.since_ns;
}

/* An alarm counts as raised once its verdict stands; one that nobody could see is raised again. */
static void settle_alarm(struct fsl_state *state, const struct fsl_config *config, bool is_told)
{
	struct fsl_error err = {0};
	if (state != NULL && fsl_state_settle_alarm(state, is_told, &err) != FSL_OK) {
		warn_of_state(config, &err);
	}
}

/* What is told of one job, and how. */
struct telling {
	struct fsl_job *job;
	const struct fsl_config *config;
	const struct fsl_detect_options *options;
	struct fsl_state *state; /* NULL: nothing to alarm of, or no state */
	struct fsl_summary summary;
	cJSON *perception, *localisation; /* the documents; NULL: not yet, or memory was short */
};

/* The first failure stands. */
static void note_first(enum fsl_status *status, struct fsl_error *err, enum fsl_status next,
		       const struct fsl_error *why)
{
	if (*status == FSL_OK && next != FSL_OK) {
		*status = next;
		*err = *why;
	}
}

/* The verdict of perception says nothing of alarms. */
static enum fsl_status write_perception(struct telling *telling, struct fsl_error *err)
{
	struct fsl_perception *perception = &telling->job->perception;
	telling->perception = fsl_perception_json(perception, telling->config);
	return fsl_report_write_perception(perception, telling->perception, telling->config,
					   &telling->summary.perception_path, err);
}

static enum fsl_status write_localisation(struct telling *telling, struct fsl_error *err)
{
	struct fsl_job *job = telling->job;
	telling->localisation = fsl_localisation_json(&job->localisation, &job->topology, &job->run,
						      telling->config);
	return fsl_report_write_localisation(&job->localisation, telling->localisation,
					     telling->config, &telling->summary.localisation_path,
					     err);
}

/* What waits until it is known whether the alarm is new: the verdict of localisation, and the text.
 * One that could not be stored is still told. @status, @err: of the verdict of perception. */
static enum fsl_status tell(struct telling *telling, enum fsl_status status, struct fsl_error *err)
{
	struct fsl_error why = *err;
	enum fsl_status next = write_localisation(telling, &why);
	note_first(&status, err, next, &why);
	next = fsl_report_sync(telling->config, &why);
	note_first(&status, err, next, &why);
	if (telling->options->is_json) {
		next = fsl_report_json(stdout, telling->perception, telling->localisation, &why);
		note_first(&status, err, next, &why);
	} else if (telling->options->n_quiet == 0) {
		fsl_report_text(stdout, &telling->summary);
	}
	settle_alarm(telling->state, telling->config, status == FSL_OK);
	return status;
}

/* The verdicts are written one after the other: file systems that gather the syncs of several
 * threads let each wait. What is kept waits until the state is open: one that cannot be used is
 * removed with all that lies beside it. */
enum fsl_status fsl_job_tell(struct fsl_job *job, const struct fsl_config *config,
			     const struct fsl_detect_options *options, struct fsl_kept *kept,
			     struct fsl_error *err)
{
	struct telling telling = {.job = job,
				  .config = config,
				  .options = options,
				  .summary = {.perception = &job->perception,
					      .localisation = &job->localisation,
					      .topology = &job->topology,
					      .run = &job->run,
					      .colours = fsl_terminal_has_colours(),
					      .width = fsl_terminal_width()}};
	enum fsl_status status = FSL_OK;
#pragma omp parallel sections
	{
#pragma omp section
		check_alarm(job, config, &telling.state);
#pragma omp section
		status = write_perception(&telling, err);
	}
#pragma omp parallel sections
	{
#pragma omp section
		status = tell(&telling, status, err);
#pragma omp section
		if (kept != NULL) {
			fsl_kept_save(kept, job, config);
		}
	}
	cJSON_Delete(telling.perception);
	cJSON_Delete(telling.localisation);
	fsl_state_close(telling.state);
	return status;
}
