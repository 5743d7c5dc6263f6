/* `failslow profile DIR`: what profilers of Ascend devices left, one folder per rank. */
#include <stdlib.h>

#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/number_list.h"
#include "cli/operands.h"
#include "cli/profile_run.h"
#include "cli/turn.h"
#include "source/kineto/lanes.h"

enum { JOBS_MAX = 4096 };
static const char *const exports[] = {"msprof-analyze", NULL};

/* The command line. */
struct request {
	const char *const *paths; /* [n_paths] */
	size_t n_paths;
	const char *baseline, *config, *output, *page, *ranks, *steps;
	int export_as; /* -1: nothing */
	int format, color;
	int64_t device_gib;          /* 0: not told */
	int64_t n_jobs, lock_wait_s; /* -1: as configured */
	int n_quiet;
	bool wants_long, wants_help;
	int exit_mode; /* enum fsl_exit_mode */
	int32_t rank_numbers[FSL_NUMBER_LIST_MAX];
	struct fsl_number_list rank_list, step_list;
	struct fsl_opt_texts lane_rules;
	struct fsl_lanes *lanes;
};

static enum fsl_status parse_lists(struct request *r, struct fsl_error *err)
{
	FSL_TRY(fsl_number_list_parse(&r->rank_list, "--ranks", r->ranks, err));
	for (size_t i = 0; i < r->rank_list.n_items; i++) {
		r->rank_numbers[i] = (int32_t)r->rank_list.items[i];
	}
	return fsl_number_list_parse(&r->step_list, "--steps", r->steps, err);
}

static enum fsl_status parse(struct request *r, int argc, char **argv, struct fsl_error *err)
{
	int n_operands = 0;
	*r = (struct request){
		.export_as = -1, .lock_wait_s = -1, .exit_mode = FSL_EXIT_ALWAYS_DONE};
	const struct fsl_opt table[] = {
		{"output", 'o', FSL_OPT_TEXT, &r->output, 0, 0, NULL, "DIR",
		 "keep the result in DIR/failslow_<job>.json, and what --export asks for"},
		{"export", 0, FSL_OPT_CHOICE, &r->export_as, 0, 0, exports, NULL,
		 "also write the files of msprof-analyze into DIR/cluster_analysis_output"},
		{"report", 0, FSL_OPT_TEXT, &r->page, 0, 0, NULL, "FILE",
		 "also write one HTML page with charts"},
		{"config", 'c', FSL_OPT_TEXT, &r->config, 0, 0, NULL, "FILE",
		 "model_config.json with the detectors to be heard; default: the one in its usual "
		 "place"},
		{"baseline", 'b', FSL_OPT_TEXT, &r->baseline, 0, 0, NULL, "DIR",
		 "an earlier capture of the same job: tells what grew"},
		{"device-memory", 0, FSL_OPT_INT, &r->device_gib, 1, FSL_DEVICE_GIB_MAX, NULL,
		 "GIB", "memory of a device in GiB: a peak that reaches it is told"},
		{"lane", 0, FSL_OPT_TEXTS, &r->lane_rules, 0, 0, NULL, "REGEX=KIND", fsl_lane_help},
		{"ranks", 0, FSL_OPT_TEXT, &r->ranks, 0, 0, NULL, "LIST",
		 "only these ranks: numbers and ranges, as in 0,8-15"},
		{"steps", 0, FSL_OPT_TEXT, &r->steps, 0, 0, NULL, "LIST", "only these steps"},
		{"format", 0, FSL_OPT_CHOICE, &r->format, 0, 0, fsl_verdict_formats, "FORMAT",
		 "what goes to stdout: text (default), json, or the headline as one line"},
		{"jobs", 'j', FSL_OPT_INT, &r->n_jobs, 0, JOBS_MAX, NULL, "N",
		 "threads; 0: one per core (default)"},
		{"lock-wait", 0, FSL_OPT_INT, &r->lock_wait_s, 0, FSL_LOCK_WAIT_S_MAX, NULL,
		 "SECONDS",
		 "wait so long for another run over the same job; without it lock_wait_s"},
		{"color", 0, FSL_OPT_CHOICE, &r->color, 0, 0, fsl_color_choices, "WHEN",
		 "colours: auto (default: on a terminal, without NO_COLOR), always, never"},
		{"long", 'l', FSL_OPT_FLAG, &r->wants_long, 0, 0, NULL, NULL,
		 "the whole summary; without it at most 24 lines"},
		{"exit-code", 0, FSL_OPT_MODE, &r->exit_mode, 0, 0, fsl_exit_modes, NULL,
		 "exit with 1 if a rank, link or host is named"},
		{"quiet", 'q', FSL_OPT_COUNT, &r->n_quiet, 0, 0, NULL, NULL, "print no summary"},
		{"help", 'h', FSL_OPT_FLAG, &r->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (r->wants_help) {
		fsl_command_help(
			"profile", "profile [OPTION]... PATH...",
			"Says what captures of a profiler tell: where the time of a step goes, "
			"which rank, stage or link holds the others up, and what could be won.\n",
			table);
		return FSL_OK;
	}
	FSL_TRY(fsl_check_operands(n_operands, 1, argc, "the folder with the captures", err));
	fsl_operands_sort(argv + 1, (size_t)n_operands);
	r->paths = (const char *const *)argv + 1;
	r->n_paths = (size_t)n_operands;
	FSL_TRY(parse_lists(r, err));
	if (r->export_as >= 0 && r->output == NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "--export needs --output DIR");
	}
	return FSL_OK;
}

enum fsl_status fsl_cmd_profile(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	static struct request request;
	FSL_TRY(parse(&request, argc, argv, err));
	if (request.wants_help) {
		return FSL_OK;
	}
	FSL_TRY(fsl_lanes_create(&request.lanes, request.lane_rules.items,
				 request.lane_rules.n_items, err));
	const struct fsl_profile_run run = {
		.paths = request.paths,
		.n_paths = request.n_paths,
		.input = {.ranks = request.rank_numbers,
			  .n_ranks = request.rank_list.n_items,
			  .steps = request.step_list.items,
			  .n_steps = request.step_list.n_items,
			  .lanes = request.lanes},
		.n_jobs = (int)request.n_jobs,
		.config_path = request.config,
		.baseline = request.baseline,
		.device_bytes = request.device_gib * FSL_BYTES_PER_GIB,
		.output = request.output,
		.page = request.page,
		.lock_wait_s = request.lock_wait_s,
		.wants_msprof = request.export_as >= 0,
		.exit_mode = request.exit_mode,
		.is_long = request.wants_long,
		.has_colours = fsl_terminal_has_colours(request.color),
		.print = fsl_print_as(request.format, request.n_quiet > 0),
	};
	enum fsl_status status = fsl_profile_run(&run, exit_code, err);
	fsl_lanes_destroy(request.lanes);
	return status;
}
