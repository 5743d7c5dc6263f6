/* `failslow watch`: the look of `detect --config` again and again, as a service. */
#include <stdio.h>

#include "base/log.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/watch.h"
#include "config/config.h"
#include "plugin/registry.h"

enum { ARGV_MAX = 16 };
#define SECONDS_PER_MINUTE 60.0

struct options {
	struct fsl_config_place place; /* of the default configuration */
	const char *config_path;       /* NULL: the installed one */
	double every_mins;             /* 0: as configured */
	char every_text[32];           /* the same for looks */
	bool is_once, wants_help;
	int log_form; /* enum fsl_log_form; -1: as configured */
	int n_quiet, n_verbose;
};

static enum fsl_status parse(struct options *o, int argc, char **argv, struct fsl_error *err)
{
	*o = (struct options){.log_form = -1};
	const struct fsl_opt table[] = {
		{"config", 'c', FSL_OPT_TEXT, &o->config_path, 0, 0, NULL, "FILE",
		 "model_config.json; without it the installed one"},
		{"every", 0, FSL_OPT_REAL, &o->every_mins, 0, FSL_EVERY_MINUTES_MAX, NULL,
		 "MINUTES", "time between the begins of two looks; without it fail_slow_span_mins"},
		{"once", 0, FSL_OPT_FLAG, &o->is_once, 0, 0, NULL, NULL,
		 "look once, with the exit code of the look"},
		{"log-format", 0, FSL_OPT_CHOICE, &o->log_form, 0, 0, fsl_log_forms, "FORMAT",
		 "messages: text, logfmt or json; without it log_format"},
		{"quiet", 'q', FSL_OPT_COUNT, &o->n_quiet, 0, 0, NULL, NULL,
		 "no line for each look; twice: no warnings either"},
		{"verbose", 'v', FSL_OPT_COUNT, &o->n_verbose, 0, 0, NULL, NULL,
		 "one log line a stage; twice: more"},
		{"help", 'h', FSL_OPT_FLAG, &o->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	int n_operands = 0;
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (o->wants_help) {
		fsl_command_help(
			"watch", "watch [options]",
			"Looks at the job of a configuration every fail_slow_span_mins minutes, as a "
			"service, and writes and reports what `detect --config` does. SIGHUP reads "
			"the configuration again, SIGTERM and SIGINT end the watch.\n" FSL_EXIT_CODES_TEXT,
			table);
		return FSL_OK;
	}
	if (o->config_path == NULL && fsl_config_find_default(&o->place)) {
		o->config_path = o->place.path;
	}
	if (o->config_path == NULL) {
		return FSL_FAIL(
			err, FSL_ERR_USAGE,
			"there is no installed configuration, name one: option=\"--config\"");
	}
	return fsl_check_operands(n_operands, 0, 0, "none", err);
}

/* Reads the configuration for its interval, and to refuse a wrong one before the first look. */
static enum fsl_status read_interval(void *context, double *every_s, struct fsl_error *err)
{
	const struct options *options = context;
	struct fsl_config config = {0};
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors");
	}
	enum fsl_status status = fsl_config_load(&config, options->config_path, registry, err);
	if (status == FSL_OK) {
		double mins = options->every_mins > 0.0 ? options->every_mins
							: config.fail_slow_span_mins;
		*every_s = mins * SECONDS_PER_MINUTE;
		fsl_log_set_form(options->log_form < 0 ? config.log_form
						       : (enum fsl_log_form)options->log_form);
	}
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return status;
}

/* Words of a look; the last one is NULL. Looks tell receivers of alarms the interval: without an
 * option they read it in the configuration, as it is then. */
static void make_argv(char *words[ARGV_MAX], struct options *options)
{
	static char program[] = "failslow", command[] = "detect", config[] = "--config",
		    format[] = "--format", line[] = "line", quiet[] = "--quiet", verbose[] = "-v",
		    log_format[] = "--log-format", every[] = "--every";
	size_t n = 0;
	words[n++] = program;
	words[n++] = command;
	words[n++] = config;
	words[n++] = (char *)(uintptr_t)options->config_path;
	words[n++] = format;
	words[n++] = line;
	if (options->every_mins > 0.0) {
		(void)snprintf(options->every_text, sizeof(options->every_text), "%.17g",
			       options->every_mins);
		words[n++] = every;
		words[n++] = options->every_text;
	}
	if (options->n_quiet > 1) {
		words[n++] = quiet;
		words[n++] = quiet;
	}
	if (options->log_form >= 0) {
		words[n++] = log_format;
		words[n++] = (char *)(uintptr_t)fsl_log_forms[options->log_form];
	}
	for (int i = 0; i < options->n_verbose && i < 2; i++) {
		words[n++] = verbose;
	}
	words[n] = NULL;
}

enum fsl_status fsl_cmd_watch(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct options options;
	char *words[ARGV_MAX];
	FSL_TRY(parse(&options, argc, argv, err));
	if (options.wants_help) {
		return FSL_OK;
	}
	if (options.log_form >= 0) {
		fsl_log_set_form((enum fsl_log_form)options.log_form);
	}
	if (options.n_quiet > 1) {
		fsl_log_set_level(FSL_LOG_ERROR);
	}
	make_argv(words, &options);
	struct fsl_watch_plan plan = {.argv = words,
				      .is_once = options.is_once,
				      .is_quiet = options.n_quiet > 0,
				      .reload = read_interval,
				      .context = &options};
	FSL_TRY(read_interval(&options, &plan.every_s, err));
	return fsl_watch_run(&plan, exit_code, err);
}
