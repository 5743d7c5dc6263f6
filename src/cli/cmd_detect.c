/* `failslow detect`: from files to verdicts, once. The engine behind it is src/engine/job.h. */
#include "base/log.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/detect_options.h"
#include "cli/profile_run.h"
#include "cli/terminal.h"
#include "config/config.h"
#include "engine/chapters.h"
#include "engine/load.h"
#include "engine/threads.h"
#include "plugin/registry.h"
#include "report/reporter.h"

static enum fsl_status tell(struct fsl_job *job, const struct fsl_config *config,
			    const struct fsl_detect_options *options, struct fsl_error *err)
{
	enum fsl_print text = options->n_quiet == 0 ? FSL_PRINT_TEXT : FSL_PRINT_NOTHING;
	struct fsl_report report = {
		.perception = &job->perception,
		.localisation = &job->localisation,
		.topology = &job->topology,
		.run = &job->run,
		.is_anomaly = fsl_job_is_anomaly(job),
		.print = options->is_json ? FSL_PRINT_JSON : text,
		.stream = stdout,
		.colours = fsl_terminal_has_colours(),
		.width = fsl_terminal_width(),
	};
	return fsl_report_tell(&report, config, err);
}

/* @has_captures: captures lie beside the files, so that no other input is no failure to be told. */
static enum fsl_status detect(const struct fsl_config *config,
			      const struct fsl_detect_options *options, bool has_captures,
			      int *exit_code, struct fsl_error *err)
{
	struct fsl_job job;
	struct fsl_time_range range = fsl_time_range_of(config);
	enum fsl_status found = fsl_job_init(&job, err);
	if (found == FSL_OK) {
		found = fsl_job_load(&job, config, &range, err);
	}
	if (found == FSL_ERR_INPUT && has_captures) {
		fsl_job_fini(&job);
		return found;
	}
	if (found == FSL_OK) {
		found = fsl_job_judge(&job, config, err);
	}
	if (found != FSL_OK) {
		fsl_job_note_failure(&job, err);
	} else if (range.is_waiting_for_fail_slow && !job.perception.is_anomaly) {
		fsl_job_withhold(&job);
	}
	fsl_coverage_share(&job.perception.coverage, &job.localisation.coverage);
	enum fsl_status status = tell(&job, config, options, err);
	bool is_new = fsl_job_is_anomaly(&job) && !job.localisation.is_suppressed;
	*exit_code = options->wants_exit_code && is_new ? FSL_EXIT_ANOMALY : FSL_EXIT_DONE;
	fsl_job_fini(&job);
	return found != FSL_OK ? found : status;
}

static enum fsl_status tell_captures(const struct fsl_detect_options *options, int *exit_code,
				     struct fsl_error *err)
{
	enum fsl_print text = options->n_quiet == 0 ? FSL_PRINT_TEXT : FSL_PRINT_NOTHING;
	int n_jobs = options->jobs > 0 ? (int)options->jobs : 0;
	const struct fsl_profile_run run = {
		.input = {.path = options->directory, .n_threads = fsl_threads_start(n_jobs)},
		.output = options->output,
		.wants_exit_code = options->wants_exit_code,
		.print = options->is_json ? FSL_PRINT_JSON : text};
	if (options->from_ns != INT64_MIN || options->to_ns != INT64_MAX) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"--from and --to are for marker files; captures have steps, "
				"`failslow profile DIR --steps LIST` chooses some: path=\"%s\"",
				options->directory);
	}
	return fsl_profile_run(&run, exit_code, err);
}

/* Captures beside the files of a job are told below its verdict. One document of JSON is about the
 * job alone. */
static enum fsl_status tell_captures_too(const struct fsl_detect_options *options, int *exit_code,
					 struct fsl_error *err)
{
	int code = FSL_EXIT_DONE;
	if (options->is_json || options->n_quiet > 0) {
		fsl_log(FSL_LOG_WARNING, "detect",
			"captures of a profiler are there, too: `failslow profile DIR` tells what "
			"they say: path=\"%s\"",
			options->directory);
		return FSL_OK;
	}
	(void)printf("\nCaptures of the profiler\n");
	enum fsl_status status = tell_captures(options, &code, err);
	*exit_code = code != FSL_EXIT_DONE ? code : *exit_code;
	return status;
}

static enum fsl_status detect_as_configured(const struct fsl_detect_options *options,
					    bool has_captures, int *exit_code,
					    struct fsl_error *err)
{
	struct fsl_config config = {0};
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors");
	}
	const char *path = options->config_path;
	if (path == NULL) {
		path = fsl_config_find_default();
	}
	enum fsl_status status = fsl_config_load(&config, path, registry, err);
	if (status == FSL_OK) {
		status = fsl_detect_options_apply(options, &config, err);
	}
	if (status == FSL_OK) {
		status = detect(&config, options, has_captures, exit_code, err);
	}
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return status;
}

enum fsl_status fsl_cmd_detect(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct fsl_detect_options options;
	bool has_captures = false, has_other = true;
	FSL_TRY(fsl_detect_options_parse(&options, argc, argv, err));
	if (options.wants_help) {
		fsl_detect_options_help();
		return FSL_OK;
	}
	if (options.directory != NULL && options.config_path == NULL) {
		FSL_TRY(fsl_profile_look(options.directory, &has_captures, &has_other, err));
	}
	enum fsl_status status =
		has_other ? detect_as_configured(&options, has_captures, exit_code, err)
			  : FSL_ERR_INPUT;
	if (status == FSL_ERR_INPUT && has_captures) {
		*err = (struct fsl_error){0};
		return tell_captures(&options, exit_code, err);
	}
	return status == FSL_OK && has_captures ? tell_captures_too(&options, exit_code, err)
						: status;
}
