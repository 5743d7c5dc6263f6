/* `failslow detect`: from files to verdicts, once. The engine behind it is src/engine/job.h. */
#include "cli/command.h"
#include "cli/detect_options.h"
#include "cli/terminal.h"
#include "config/config.h"
#include "engine/chapters.h"
#include "engine/load.h"
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

static enum fsl_status detect(const struct fsl_config *config,
			      const struct fsl_detect_options *options, int *exit_code,
			      struct fsl_error *err)
{
	struct fsl_job job;
	struct fsl_time_range range = fsl_time_range_of(config);
	enum fsl_status found = fsl_job_init(&job, err);
	if (found == FSL_OK) {
		found = fsl_job_load(&job, config, &range, err);
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

enum fsl_status fsl_cmd_detect(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct fsl_detect_options options;
	struct fsl_config config = {0};
	struct fsl_registry *registry = NULL;
	enum fsl_status status = fsl_detect_options_parse(&options, argc, argv, err);
	if (status != FSL_OK || options.wants_help) {
		if (status == FSL_OK) {
			fsl_detect_options_help();
		}
		return status;
	}
	registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors");
	}
	const char *path = options.config_path;
	if (path == NULL) {
		path = fsl_config_find_default();
	}
	status = fsl_config_load(&config, path, registry, err);
	FSL_THEN(status, fsl_detect_options_apply(&options, &config, err));
	FSL_THEN(status, detect(&config, &options, exit_code, err));
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return status;
}
