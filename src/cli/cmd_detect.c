/* `failslow detect`: from files to verdicts, once. The engine behind it is src/engine/job.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/deadline.h"
#include "base/language.h"
#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/confined.h"
#include "cli/host_processes.h"
#include "cli/operands.h"
#include "cli/profile_run.h"
#include "cli/turn.h"
#include "cli/watch.h"
#include "config/config.h"
#include "engine/chapters.h"
#include "engine/load.h"
#include "plugin/registry.h"
#include "report/reporter.h"
#include "state/state.h"

enum { JOBS_MAX = 4096 };

/* The command line. */
struct options {
	const char *config_path;  /* NULL: the default configuration, if there is one */
	const char *const *paths; /* [n_paths]: operands, files and folders of one job */
	size_t n_paths;           /* 0: as configured */
	const char *output;       /* folder for the verdict files; NULL: as configured */
	const char *page;         /* file for the HTML page; NULL: none */
	int64_t from_ns, to_ns;   /* INT64_MIN / INT64_MAX: open */
	int64_t now_ns;           /* INT64_MIN: the clock */
	int64_t jobs;             /* -1: as configured */
	int64_t lock_wait_s;      /* -1: as configured */
	double every_mins;        /* 0: as configured */
	int format;               /* enum fsl_output_format */
	int color;                /* index in fsl_color_choices */
	bool wants_long;
	int exit_mode; /* enum fsl_exit_mode */
	bool wants_help;
	int log_form; /* enum fsl_log_form; -1: as configured */
	int n_quiet, n_verbose;
};

static void set_log(const struct options *options)
{
	if (options->log_form >= 0) {
		fsl_log_set_form((enum fsl_log_form)options->log_form);
	}
	if (options->n_quiet > 1) {
		fsl_log_set_level(FSL_LOG_ERROR);
	} else if (options->n_verbose > 0) {
		fsl_log_set_level(options->n_verbose > 1 ? FSL_LOG_DEBUG : FSL_LOG_INFO);
	}
}

static enum fsl_status check_range(const struct options *o, struct fsl_error *err)
{
	if (o->from_ns > o->to_ns) {
		char from[40], to[40];
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"--from is later than --to: from=\"%s\", to=\"%s\"",
				fsl_format_utc(o->from_ns, from, sizeof(from)),
				fsl_format_utc(o->to_ns, to, sizeof(to)));
	}
	return FSL_OK;
}

static enum fsl_status parse(struct options *o, int argc, char **argv, struct fsl_error *err)
{
	*o = (struct options){.exit_mode = FSL_EXIT_ALWAYS_DONE,
			      .from_ns = INT64_MIN,
			      .to_ns = INT64_MAX,
			      .now_ns = INT64_MIN,
			      .jobs = -1,
			      .log_form = -1,
			      .lock_wait_s = -1};
	const struct fsl_opt table[] = {
		{"config", 'c', FSL_OPT_TEXT, &o->config_path, 0, 0, NULL, "FILE",
		 "model_config.json; without it the installed one"},
		{"output", 'o', FSL_OPT_TEXT, &o->output, 0, 0, NULL, "DIR",
		 "folder for both verdict files, made when missing"},
		{"report", 0, FSL_OPT_TEXT, &o->page, 0, 0, NULL, "FILE",
		 "also write one HTML page with charts"},
		{"from", 0, FSL_OPT_TIME, &o->from_ns, 0, 0, NULL, "TIME",
		 "look at operators that end at or after TIME"},
		{"to", 0, FSL_OPT_TIME, &o->to_ns, 0, 0, NULL, "TIME",
		 "look at operators that end at or before TIME"},
		{"now", 0, FSL_OPT_TIME, &o->now_ns, 0, 0, NULL, "TIME",
		 "take TIME as the present (hang detection, file names)"},
		{"jobs", 'j', FSL_OPT_INT, &o->jobs, 0, JOBS_MAX, NULL, "N",
		 "threads; 0: one for each 16 MiB, one per core at most"},
		{"lock-wait", 0, FSL_OPT_INT, &o->lock_wait_s, 0, FSL_LOCK_WAIT_S_MAX, NULL,
		 "SECONDS",
		 "wait so long for another run over the same job; without it lock_wait_s"},
		{"every", 0, FSL_OPT_REAL, &o->every_mins, 0, FSL_EVERY_MINUTES_MAX, NULL,
		 "MINUTES", "time between two runs; without it fail_slow_span_mins"},
		{"format", 0, FSL_OPT_CHOICE, &o->format, 0, 0, fsl_verdict_formats, "FORMAT",
		 "what goes to stdout: text (default), json, or the headline as one line"},
		{"color", 0, FSL_OPT_CHOICE, &o->color, 0, 0, fsl_color_choices, "WHEN",
		 "colours: auto (default: on a terminal, without NO_COLOR), always, never"},
		{"long", 'l', FSL_OPT_FLAG, &o->wants_long, 0, 0, NULL, NULL,
		 "the whole summary; without it at most 24 lines"},
		{"exit-code", 0, FSL_OPT_MODE, &o->exit_mode, 0, 0, fsl_exit_modes, NULL,
		 "exit with 1: new (or no word), if an anomaly was found that is not known from the "
		 "last look_back; state, as long as something is wrong"},
		{"log-format", 0, FSL_OPT_CHOICE, &o->log_form, 0, 0, fsl_log_forms, "FORMAT",
		 "messages: text, logfmt or json; without it log_format"},
		{"quiet", 'q', FSL_OPT_COUNT, &o->n_quiet, 0, 0, NULL, NULL,
		 "no summary; twice: no warnings either"},
		{"verbose", 'v', FSL_OPT_COUNT, &o->n_verbose, 0, 0, NULL, NULL,
		 "one log line a stage; twice: more"},
		{"help", 'h', FSL_OPT_FLAG, &o->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	int n_operands = 0;
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	FSL_TRY(check_range(o, err));
	fsl_operands_sort(argv + 1, (size_t)n_operands);
	o->paths = (const char *const *)argv + 1;
	o->n_paths = (size_t)n_operands;
	set_log(o);
	if (o->wants_help) {
		fsl_command_help(
			"detect", "detect [options] [PATH]...",
			"Says whether a training job got slower, which rank did it and why, from what "
			"sysTrace left in the files and folders PATH (or where the configuration "
			"says).\n\nTIME is ISO 8601 or an integer epoch in s, ms, us or ns.\n" FSL_EXIT_CODES_TEXT,
			table);
	}
	return FSL_OK;
}

/* Files in a folder that is looked at may be old: what ends there does not end now. */
static bool has_present(const struct options *options)
{
	return options->now_ns != INT64_MIN || options->config_path != NULL ||
	       options->n_paths == 0;
}

/* Options win over keys. Texts are borrowed from argv or live in config->arena. */
static enum fsl_status apply(const struct options *options, struct fsl_config *config,
			     struct fsl_error *err)
{
	if (options->n_paths > 0) {
		config->root_path = options->paths[0];
		config->more_paths = options->paths + 1;
		config->n_more_paths = options->n_paths - 1;
		/* Chapters are kept for one tree. */
		config->chapter_keep &= options->n_paths == 1;
		config->training_log = NULL;
		if (options->config_path == NULL) {
			config->job_name = NULL; /* the installed one is of another job */
		}
		config->is_look = options->config_path == NULL && options->output == NULL;
	}
	if (options->output != NULL) {
		config->fail_slow_perception_path = options->output;
		config->slow_node_detection_path = options->output;
		config->is_output_given = true;
		config->state_path =
			fsl_arena_printf(&config->arena, "%s/" FSL_STATE_FILE, options->output);
		if (config->state_path == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: option=\"output\"");
		}
	}
	if (options->from_ns != INT64_MIN || options->to_ns != INT64_MAX) {
		config->has_range = true;
		config->range_begin_ns = options->from_ns;
		config->range_end_ns = options->to_ns;
	}
	if (options->jobs >= 0) {
		config->jobs = options->jobs;
	}
	if (options->lock_wait_s >= 0) {
		config->lock_wait_s = (double)options->lock_wait_s;
	}
	if (options->every_mins > 0.0) {
		config->fail_slow_span_mins = options->every_mins;
		config->every_mins = options->every_mins;
	}
	config->now_ns = options->now_ns != INT64_MIN ? options->now_ns : fsl_now_ns();
	config->lacks_present = !has_present(options);
	return FSL_OK;
}

static enum fsl_status tell(struct fsl_job *job, const struct fsl_config *config,
			    const struct options *options, bool has_captures, int *exit_code,
			    struct fsl_error *err)
{
	char buffer[PATH_MAX];
	struct fsl_report report = {
		.root = fsl_operands_root(options->paths, options->n_paths, buffer),
		.perception = &job->perception,
		.localisation = &job->localisation,
		.topology = &job->topology,
		.run = &job->run,
		.steps = &job->steps,
		.series = &job->progress.steps,
		.blame = &job->blame,
		.own = &job->own,
		.match = &job->match,
		.described_by = config->described_by,
		.page_path = options->page,
		.now_ns = has_present(options) ? config->now_ns : FSL_NS_ABSENT,
		.is_anomaly = fsl_job_is_anomaly(job),
		.print = fsl_print_as(options->format, options->n_quiet > 0),
		.stream = stdout,
		.has_beside = has_captures,
		.is_long = options->wants_long,
		.colours = fsl_terminal_has_colours(options->color),
		.has_blocks = fsl_terminal_has_blocks(),
		.width = fsl_terminal_width(),
	};
	enum fsl_status status = fsl_report_tell(&report, config, err);
	*exit_code = fsl_verdict_exit_code(options->exit_mode, &report,
					   report.is_anomaly && !job->localisation.is_suppressed);
	return status;
}

/* @has_captures: captures lie beside the files, so that no other input is no failure to be told.
 * @refusal: what is told if there is no input; no causes: what ingest says. */
static enum fsl_status detect(const struct fsl_config *config, const struct options *options,
			      bool has_captures, const struct fsl_error *refusal, int *exit_code,
			      struct fsl_error *err)
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
	if (found == FSL_ERR_INPUT && refusal->n_causes > 0 && job.run.n_files <= 1) {
		*err = *refusal; /* it tells more than that the only file is of no known format */
	}
	if (found == FSL_OK) {
		fsl_deadline_stage(job.feed != NULL ? "reading and judging" : "judging");
		found = fsl_job_judge(&job, config, err);
	}
	if (found == FSL_OK) {
		bool has_paths = options->n_paths > 0;
		size_t n_paths = config->root_path != NULL ? 1 : 0;
		const struct fsl_host_question question = {
			.verdict = &job.localisation,
			.job = &job,
			.paths = has_paths ? options->paths : &config->root_path,
			.n_paths = has_paths ? options->n_paths : n_paths};
		found = fsl_host_processes_name(&question, err);
	}
	if (found != FSL_OK) {
		fsl_job_note_failure(&job, err);
	} else if (range.is_waiting_for_fail_slow && !job.perception.is_anomaly) {
		fsl_job_withhold(&job);
	}
	fsl_deadline_end(); /* results are written whole, and alarms sent once */
	fsl_coverage_share(&job.perception.coverage, &job.localisation.coverage);
	enum fsl_status status = tell(&job, config, options, has_captures, exit_code, err);
	fsl_job_fini(&job);
	return found != FSL_OK ? found : status;
}

/* @is_beside: beside the files of a job, which are told before. @is_warned: files of a job were
 * looked for before. */
static enum fsl_status tell_captures(const struct options *options, bool is_beside, bool is_warned,
				     int *exit_code, struct fsl_error *err)
{
	int n_jobs = options->jobs > 0 ? (int)options->jobs : 0;
	const struct fsl_profile_run run = {
		.paths = options->paths,
		.n_paths = options->n_paths,
		.n_jobs = n_jobs,
		.config_path = options->config_path,
		.is_warned = is_warned,
		.output = options->output,
		.page = is_beside ? NULL : options->page, /* that of the job has the file */
		.lock_wait_s = options->lock_wait_s,
		.exit_mode = options->exit_mode,
		.is_beside = is_beside,
		.is_long = options->wants_long,
		.has_colours = fsl_terminal_has_colours(options->color),
		.print = fsl_print_as(options->format, options->n_quiet > 0)};
	if (options->from_ns != INT64_MIN || options->to_ns != INT64_MAX) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"--from and --to are for marker files; captures have steps, "
				"`failslow profile DIR --steps LIST` chooses some: path=\"%s\"",
				options->paths[0]);
	}
	return fsl_profile_run(&run, exit_code, err);
}

/* Captures beside the files of a job are told below its verdict. One document of JSON is about the
 * job alone. */
static enum fsl_status tell_captures_too(const struct options *options, int *exit_code,
					 struct fsl_error *err)
{
	int code = FSL_EXIT_DONE;
	if (options->format != FSL_OUTPUT_TEXT || options->n_quiet > 0) {
		fsl_log(FSL_LOG_WARNING, "detect",
			"captures of a profiler are there, too: `failslow profile DIR` tells what "
			"they say: path=\"%s\"",
			options->paths[0]);
		return FSL_OK;
	}
	(void)fsl_tell_print(stdout, "\nCaptures of the profiler\n");
	enum fsl_status status = tell_captures(options, true, true, &code, err);
	*exit_code = code != FSL_EXIT_DONE ? code : *exit_code;
	return status;
}

/* *is_busy: another run looks at the job, so that this one is to end. */
static enum fsl_status take_lock(struct fsl_job_lock *lock, const struct fsl_config *config,
				 bool *is_busy, struct fsl_error *err)
{
	const struct fsl_lock_request request = {config->state_path, config->root_path,
						 config->training_log, config->lock_wait_s};
	return config->is_look ? FSL_OK : fsl_turn_take(lock, &request, "detect", is_busy, err);
}

static void confine(const struct fsl_config *config, const struct options *options)
{
	const struct fsl_confined_run run = {
		.config = config,
		.paths = options->paths,
		.n_paths = options->n_paths,
		.output = options->output,
		.page = options->page,
		.has_job = true,
	};
	if (options->page != NULL) {
		fsl_language_add("zh_CN"); /* pages hold both */
	}
	fsl_confined_begin(&run);
}

/* A run that writes misses ranks that the runs before saw. Looks have no past. */
static void recall_ranks(struct fsl_config *config, const struct options *options)
{
	char buffer[PATH_MAX];
	const char *root = fsl_operands_root(options->paths, options->n_paths, buffer);
	char *real = realpath(root != NULL ? root : config->root_path, NULL);
	if (real != NULL && !config->is_look) {
		fsl_state_recall_ranks(&config->seen_ranks, config->state_path, real);
	}
	free(real);
}

/* @is_busy: another run looks at the job, so that nothing was done. */
static enum fsl_status detect_as_configured(const struct options *options, bool has_captures,
					    const struct fsl_error *refusal, bool *is_busy,
					    int *exit_code, struct fsl_error *err)
{
	struct fsl_job_lock lock = {.fd = -1};
	struct fsl_config config = {0};
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors");
	}
	struct fsl_config_place place;
	const char *path = options->config_path;
	if (path == NULL && fsl_config_find_default(&place)) {
		path = place.path;
	}
	enum fsl_status status = fsl_config_load(&config, path, registry, err);
	if (status == FSL_OK && options->log_form < 0) {
		fsl_log_set_form(config.log_form);
	}
	FSL_THEN(status, apply(options, &config, err));
	if (status == FSL_OK && options->n_paths > 0 && options->config_path == NULL) {
		status =
			fsl_operands_describe(&config, options->paths, options->n_paths, true, err);
	}
	FSL_THEN(status, take_lock(&lock, &config, is_busy, err));
	if (status == FSL_OK && !*is_busy) {
		confine(&config, options);
		fsl_deadline_begin(config.is_look ? 0.0 : config.max_run_minutes,
				   FSL_EXIT_INTERNAL);
		recall_ranks(&config, options);
		status = detect(&config, options, has_captures, refusal, exit_code, err);
	}
	fsl_deadline_end();
	fsl_job_lock_release(&lock);
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return status;
}

enum fsl_status fsl_cmd_detect(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct options options;
	struct fsl_error refusal = {0};
	bool has_captures = false, has_other = true, is_busy = false;
	FSL_TRY(parse(&options, argc, argv, err));
	if (options.wants_help) {
		return FSL_OK;
	}
	if (options.n_paths > 0) {
		FSL_TRY(fsl_profile_look(options.paths, options.n_paths, &has_captures, &has_other,
					 &refusal, err));
	}
	enum fsl_status status = has_other ? detect_as_configured(&options, has_captures, &refusal,
								  &is_busy, exit_code, err)
					   : FSL_ERR_INPUT;
	if (status == FSL_ERR_INPUT && has_captures) {
		*err = (struct fsl_error){0};
		return tell_captures(&options, false, has_other, exit_code, err);
	}
	return status == FSL_OK && has_captures && !is_busy
		       ? tell_captures_too(&options, exit_code, err)
		       : status;
}
