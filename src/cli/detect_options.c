/* The option table of `failslow detect`. */
#include "cli/detect_options.h"

#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/opt.h"
#include "base/try.h"

enum { OPTIONS_N = 12 /* with the row that ends the table */, JOBS_MAX = 4096 };

static const char *const formats[] = {"text", "json", NULL};

/* Places for values that the parser cannot write into the options struct directly. */
struct targets {
	struct fsl_detect_options *options;
	int format;
	bool is_quiet;
};

static void fill_table(struct fsl_opt table[OPTIONS_N], struct targets *targets)
{
	struct fsl_detect_options *o = targets->options;
	const struct fsl_opt rows[OPTIONS_N] = {
		{"config", 'c', FSL_OPT_TEXT, &o->config_path, 0, 0, NULL, "FILE",
		 "model_config.json; without it the installed one"},
		{"output", 'o', FSL_OPT_TEXT, &o->output, 0, 0, NULL, "DIR",
		 "folder for both verdict files, made when missing"},
		{"from", 0, FSL_OPT_TIME, &o->from_ns, 0, 0, NULL, "TIME",
		 "look at operators that end at or after TIME"},
		{"to", 0, FSL_OPT_TIME, &o->to_ns, 0, 0, NULL, "TIME",
		 "look at operators that end at or before TIME"},
		{"now", 0, FSL_OPT_TIME, &o->now_ns, 0, 0, NULL, "TIME",
		 "take TIME as the present (hang detection, file names)"},
		{"jobs", 'j', FSL_OPT_INT, &o->jobs, 0, JOBS_MAX, NULL, "N",
		 "threads; 0: one for each 16 MiB, one per core at most"},
		{"format", 0, FSL_OPT_CHOICE, &targets->format, 0, 0, formats, "FORMAT",
		 "what goes to stdout: text (default) or json"},
		{"exit-code", 0, FSL_OPT_FLAG, &o->wants_exit_code, 0, 0, NULL, NULL,
		 "exit with 1 when an anomaly was found that is not known from the last look_back"},
		{"quiet", 'q', FSL_OPT_COUNT, &o->n_quiet, 0, 0, NULL, NULL,
		 "no summary; twice: no warnings either"},
		{"verbose", 'v', FSL_OPT_COUNT, &o->n_verbose, 0, 0, NULL, NULL,
		 "one log line a stage; twice: more"},
		{"help", 'h', FSL_OPT_FLAG, &o->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	for (size_t i = 0; i < OPTIONS_N; i++) {
		table[i] = rows[i];
	}
}

static void set_log_level(const struct fsl_detect_options *options)
{
	if (options->n_quiet > 1) {
		fsl_log_set_level(FSL_LOG_ERROR);
	} else if (options->n_verbose > 0) {
		fsl_log_set_level(options->n_verbose > 1 ? FSL_LOG_DEBUG : FSL_LOG_INFO);
	}
}

enum fsl_status fsl_detect_options_parse(struct fsl_detect_options *out, int argc, char **argv,
					 struct fsl_error *err)
{
	struct fsl_opt table[OPTIONS_N];
	struct targets targets = {.options = out};
	int n_operands = 0;
	*out = (struct fsl_detect_options){
		.from_ns = INT64_MIN, .to_ns = INT64_MAX, .now_ns = INT64_MIN, .jobs = -1};
	fill_table(table, &targets);
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (n_operands > 1) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "one folder at most: second=\"%s\"", argv[2]);
	}
	if (out->from_ns > out->to_ns) {
		char from[40], to[40];
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"--from is later than --to: from=\"%s\", to=\"%s\"",
				fsl_format_utc(out->from_ns, from, sizeof(from)),
				fsl_format_utc(out->to_ns, to, sizeof(to)));
	}
	out->directory = n_operands == 1 ? argv[1] : NULL;
	out->is_json = targets.format == 1;
	set_log_level(out);
	return FSL_OK;
}

enum fsl_status fsl_detect_options_apply(const struct fsl_detect_options *options,
					 struct fsl_config *config, struct fsl_error *err)
{
	if (options->directory != NULL) {
		config->root_path = options->directory;
		config->training_log = NULL;
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
	config->now_ns = options->now_ns != INT64_MIN ? options->now_ns : fsl_now_ns();
	return FSL_OK;
}

void fsl_detect_options_help(void)
{
	struct fsl_opt table[OPTIONS_N];
	struct fsl_detect_options options = {0};
	struct targets targets = {.options = &options};
	fill_table(table, &targets);
	(void)printf(
		"usage: failslow detect [options] [DIR]\n\n"
		"Says whether a training job got slower, which rank did it and why, from what\n"
		"sysTrace left in DIR (or where the configuration says).\n\nOptions:\n");
	fsl_opt_print(stdout, table);
	(void)printf("\nTIME is ISO 8601 or an integer epoch in s, ms, us or ns.\n"
		     "Exit codes: 0 done, 1 anomaly found (with --exit-code), 2 usage or "
		     "configuration,\n3 unusable input or unwritable output, 4 out of memory "
		     "or internal error.\n\nManual: failslow-detect(1)\n");
}
