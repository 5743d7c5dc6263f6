/* `failslow functions`: kernels, copies, collectives, calls and functions of Python across the
 * workers of a job, from traces of PyTorch's profiler. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/language.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/confined.h"
#include "cli/number_list.h"
#include "cli/operands.h"
#include "engine/threads.h"
#include "report/functions.h"
#include "report/page/page.h"
#include "report/what_if.h"
#include "source/kineto/lanes.h"
#include "source/optable/op_table_file.h"

enum { JOBS_MAX = 4096, SAMPLE_MAX = 65536 };

/* The command line. */
struct request {
	const char *path, *workers, *baseline, *page;
	struct fsl_functions_choice choice;
	struct fsl_functions_options options;
	int64_t sample, n_jobs;
	int format, color;
	bool wants_long, wants_exit_code, wants_help;
	int32_t ranks[FSL_NUMBER_LIST_MAX];
	struct fsl_number_list list;
	struct fsl_opt_texts lane_rules;
	struct fsl_lanes *lanes;
	struct fsl_functions_baseline found;
};

static enum fsl_status parse(struct request *r, int argc, char **argv, struct fsl_error *err)
{
	int n_operands = 0;
	*r = (struct request){.choice = {.section = -1}, .options = fsl_functions_defaults()};
	const struct fsl_opt table[] = {
		{"section", 0, FSL_OPT_CHOICE, &r->choice.section, 0, 0,
		 fsl_functions_section_texts, NULL, "only this section"},
		{"function", 0, FSL_OPT_TEXT, &r->choice.function, 0, 0, NULL, "TEXT",
		 "only functions whose name or shape holds TEXT, however short they are, on each "
		 "worker"},
		{"class", 0, FSL_OPT_TEXT, &r->choice.group, 0, 0, NULL, "TEXT",
		 "only collectives whose class holds TEXT: ring, tree, sendrecv"},
		{"worker", 0, FSL_OPT_TEXT, &r->workers, 0, 0, NULL, "LIST",
		 "only values of these ranks, as in 0,8-15; all are compared"},
		{"baseline", 'b', FSL_OPT_TEXT, &r->baseline, 0, 0, NULL, "PATH",
		 "traces of an earlier run of the same job: tells which functions take longer than "
		 "there"},
		{"lane", 0, FSL_OPT_TEXTS, &r->lane_rules, 0, 0, NULL, "REGEX=KIND", fsl_lane_help},
		{"delta", 0, FSL_OPT_REAL, &r->options.delta, 0, 3, NULL, "D",
		 "two workers differ in a function from this distance on (default 0.25)"},
		{"k", 0, FSL_OPT_REAL, &r->options.k, 0, 1000, NULL, "K",
		 "a worker stands out if it differs from so many median absolute deviations more "
		 "peers than the median (default 5)"},
		{"sample", 0, FSL_OPT_INT, &r->sample, 1, SAMPLE_MAX, NULL, "N",
		 "peers that each worker is compared with (default 100)"},
		{"format", 0, FSL_OPT_CHOICE, &r->format, 0, 0, fsl_output_formats, "FORMAT",
		 "what goes to stdout: text (default) or json"},
		{"report", 0, FSL_OPT_TEXT, &r->page, 0, 0, NULL, "FILE",
		 "writes one HTML page with charts, too"},
		{"jobs", 'j', FSL_OPT_INT, &r->n_jobs, 0, JOBS_MAX, NULL, "N",
		 "threads; 0: one per core (default)"},
		{"color", 0, FSL_OPT_CHOICE, &r->color, 0, 0, fsl_color_choices, "WHEN",
		 "colours: auto (default: on a terminal, without NO_COLOR), always, never"},
		{"long", 'l', FSL_OPT_FLAG, &r->wants_long, 0, 0, NULL, NULL,
		 "all functions that matter; without it at most 24 lines"},
		{"exit-code", 0, FSL_OPT_FLAG, &r->wants_exit_code, 0, 0, NULL, NULL,
		 "exit with 1 if a worker is named, or a function takes longer than in the baseline"},
		{"help", 'h', FSL_OPT_FLAG, &r->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (r->wants_help) {
		fsl_command_help(
			"functions", "functions PATH [OPTION]...",
			"Compares functions across the workers of a job, in traces of PyTorch's profiler: "
			"kernels, copies of memory, collectives, calls of the runtime, and functions "
			"of Python by call path; says which worker is slow by which of them. From a "
			"table of operations (StragglerAnalysis) it tells the cost of stragglers.\n",
			table);
		return FSL_OK;
	}
	FSL_TRY(fsl_check_operands(n_operands, 1, 1, "the folder with the traces", err));
	r->path = argv[1];
	r->choice.path = r->path;
	r->options.sample = r->sample > 0 ? (size_t)r->sample : r->options.sample;
	FSL_TRY(fsl_number_list_parse(&r->list, "--worker", r->workers, err));
	for (size_t i = 0; i < r->list.n_items; i++) {
		r->ranks[i] = (int32_t)r->list.items[i];
	}
	r->choice.ranks = r->ranks;
	r->choice.n_ranks = r->list.n_items;
	return FSL_OK;
}

static enum fsl_status check_workers(const struct request *request,
				     const struct fsl_profile *profile, struct fsl_error *err)
{
	for (size_t i = 0; i < request->choice.n_ranks; i++) {
		if (fsl_profile_rank_of(profile, request->choice.ranks[i]) == NULL) {
			return FSL_FAIL(err, FSL_ERR_USAGE,
					"the set has no such rank: option=\"--worker\", rank=%d",
					(int)request->choice.ranks[i]);
		}
	}
	return FSL_OK;
}

static enum fsl_status tell(const struct request *request, const struct fsl_functions_view *view,
			    struct fsl_error *err)
{
	if (request->format == FSL_OUTPUT_JSON) {
		cJSON *document = fsl_functions_json(view, &request->choice);
		cJSON *baseline = fsl_functions_baseline_json(&request->choice);
		fsl_functions_add_remarks(document, &request->choice);
		if (!cJSON_AddItemToObject(document, "baseline", baseline)) {
			cJSON_Delete(baseline);
			cJSON_Delete(document);
			document = NULL;
		}
		return fsl_print_json(document, err);
	}
	/* One line is kept for what is left out. */
	struct fsl_screen_budget budget = {FSL_SCREEN_LINES_MAX - 1, 0};
	struct fsl_screen screen = fsl_screen_of(stdout, fsl_terminal_width(),
						 fsl_terminal_has_colours(request->color));
	screen.budget = request->wants_long ? NULL : &budget;
	fsl_functions_print(view, &request->choice, &screen);
	return FSL_OK;
}

/* Reads the earlier traces, and puts them beside those of now. */
static enum fsl_status compare_baseline(struct request *request, struct fsl_profile *then,
					const struct fsl_profile *now,
					const struct fsl_profile_options *options,
					struct fsl_error *err)
{
	struct fsl_profile_options earlier = *options;
	earlier.path = request->baseline;
	if (request->baseline == NULL) {
		return FSL_OK;
	}
	FSL_TRY(fsl_profile_read(then, &earlier, err));
	request->choice.baseline = &request->found;
	request->choice.baseline_path = request->baseline;
	return fsl_functions_compare_baseline(&request->found, now, then,
					      request->options.ratio_min, err);
}

static enum fsl_status draw(const struct request *request, const struct fsl_functions_view *view,
			    struct fsl_error *err)
{
	return request->page != NULL
		       ? fsl_html_report(request->page, fsl_functions_json(view, &request->choice),
					 err)
		       : FSL_OK;
}

static enum fsl_status compare(struct request *request, int *exit_code, struct fsl_error *err)
{
	struct fsl_profile profile = {0}, baseline = {0};
	struct fsl_profile_cluster cluster = {0};
	struct fsl_functions_view view = {.reason = ""};
	const struct fsl_profile_options options = {
		.path = request->path,
		.n_threads = fsl_threads_start((int)request->n_jobs),
		.sums_functions = true,
		.lanes = request->lanes,
	};
	FSL_TRY(fsl_profile_read(&profile, &options, err));
	request->choice.profile = &profile;
	enum fsl_status status = check_workers(request, &profile, err);
	FSL_THEN(status, fsl_profile_cluster_build(&cluster, &profile, err));
	FSL_THEN(status, fsl_functions_compare(&view, &profile, &cluster, &request->options, err));
	FSL_THEN(status, compare_baseline(request, &baseline, &profile, &options, err));
	FSL_THEN(status, draw(request, &view, err));
	FSL_THEN(status, tell(request, &view, err));
	if (status == FSL_OK && request->wants_exit_code &&
	    (view.verdict == FSL_FUNCTIONS_CULPRITS || request->found.n_items > 0)) {
		*exit_code = FSL_EXIT_ANOMALY;
	}
	fsl_functions_view_fini(&view);
	fsl_profile_cluster_fini(&cluster);
	fsl_profile_fini(&baseline);
	fsl_profile_fini(&profile);
	return status;
}

static enum fsl_status tell_what_if(const struct request *request,
				    const struct fsl_what_if *what_if,
				    const struct fsl_op_table *table, struct fsl_error *err)
{
	if (request->format == FSL_OUTPUT_JSON) {
		return fsl_print_json(fsl_what_if_json(what_if, table, request->path), err);
	}
	struct fsl_screen screen = fsl_screen_of(stdout, fsl_terminal_width(),
						 fsl_terminal_has_colours(request->color));
	fsl_what_if_print(what_if, table, &screen);
	return FSL_OK;
}

/* Options that choose among functions, or draw them: a table of operations has none. */
static enum fsl_status check_table_options(const struct request *request, struct fsl_error *err)
{
	const struct {
		const char *name;
		bool is_given;
	} options[] = {
		{"--report", request->page != NULL},
		{"--baseline", request->baseline != NULL},
		{"--section", request->choice.section >= 0},
		{"--function", request->choice.function != NULL},
		{"--class", request->choice.group != NULL},
		{"--worker", request->workers != NULL},
		{"--lane", request->lane_rules.n_items > 0},
	};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (options[i].is_given) {
			return FSL_FAIL(err, FSL_ERR_USAGE,
					"a table of operations has no functions and no page, leave "
					"the option out (--format json tells all): option=\"%s\", "
					"path=\"%s\"",
					options[i].name, request->path);
		}
	}
	return FSL_OK;
}

/* A table of operations tells what the job would gain without stragglers. */
static enum fsl_status ask_table(const struct request *request, int *exit_code,
				 struct fsl_error *err)
{
	struct fsl_op_table table = {0};
	struct fsl_what_if what_if = {0};
	FSL_TRY(check_table_options(request, err));
	enum fsl_status status = fsl_op_table_read(&table, request->path, err);
	FSL_THEN(status, fsl_what_if_ask(&what_if, &table, err));
	FSL_THEN(status, tell_what_if(request, &what_if, &table, err));
	if (status == FSL_OK && request->wants_exit_code && fsl_what_if_names_worker(&what_if)) {
		*exit_code = FSL_EXIT_ANOMALY;
	}
	fsl_what_if_fini(&what_if);
	fsl_op_table_fini(&table);
	return status;
}

enum fsl_status fsl_cmd_functions(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	static struct request request;
	*exit_code = FSL_EXIT_DONE;
	FSL_TRY(parse(&request, argc, argv, err));
	if (request.wants_help) {
		return FSL_OK;
	}
	if (request.page != NULL) {
		fsl_language_add("zh_CN"); /* pages hold both */
	}
	FSL_TRY(fsl_lanes_create(&request.lanes, request.lane_rules.items,
				 request.lane_rules.n_items, err));
	fsl_confined_begin_files(request.path, request.baseline, request.page);
	enum fsl_status status = fsl_op_table_is_file(request.path)
					 ? ask_table(&request, exit_code, err)
					 : compare(&request, exit_code, err);
	fsl_lanes_destroy(request.lanes);
	return status;
}
