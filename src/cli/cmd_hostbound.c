/* `failslow hostbound`: who took the CPU from the processes of training, from traces of the kernel
 * and the files of the job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/language.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "capture/capture.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/confined.h"
#include "cli/operands.h"
#include "engine/chapters.h"
#include "engine/hostbound_picture.h"
#include "engine/load.h"
#include "engine/threads.h"
#include "plugin/registry.h"
#include "report/hostbound.h"
#include "report/page/page.h"

enum { OPERANDS_MAX = 4096 };

/* The command line. */
struct request {
	const char *const
		*paths; /* [n_paths]: traces, and folders with traces and files of a job */
	size_t n_paths;
	const char *markers;  /* folder with the files of the job; NULL: the folders among paths */
	const char *topology; /* NULL: beside each trace */
	const char *page;     /* NULL: none */
	int format, color;
	bool wants_long, wants_exit_code, wants_help;
};

static enum fsl_status parse(struct request *r, int argc, char **argv, struct fsl_error *err)
{
	int n_operands = 0;
	*r = (struct request){0};
	const struct fsl_opt table[] = {
		{"markers", 'm', FSL_OPT_TEXT, &r->markers, 0, 0, NULL, "DIR",
		 "folder with the markers and timelines of the job, whose steps are told; without it "
		 "the folders PATH"},
		{"topology", 0, FSL_OPT_TEXT, &r->topology, 0, 0, NULL, "FILE",
		 "output of `lscpu -p=cpu,core,node,socket,cache` of the host; without it "
		 "NAME.topology.txt beside the trace"},
		{"format", 0, FSL_OPT_CHOICE, &r->format, 0, 0, fsl_output_formats, "FORMAT",
		 "what goes to stdout: text (default) or json"},
		{"report", 0, FSL_OPT_TEXT, &r->page, 0, 0, NULL, "FILE",
		 "writes one HTML page with charts, too"},
		{"color", 0, FSL_OPT_CHOICE, &r->color, 0, 0, fsl_color_choices, "WHEN",
		 "colours: auto (default: on a terminal, without NO_COLOR), always, never"},
		{"long", 'l', FSL_OPT_FLAG, &r->wants_long, 0, 0, NULL, NULL,
		 "all ranks, advice and threads; without it at most 24 lines"},
		{"exit-code", 0, FSL_OPT_FLAG, &r->wants_exit_code, 0, 0, NULL, NULL,
		 "exit with 1 if a rank is host-bound"},
		{"help", 'h', FSL_OPT_FLAG, &r->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (r->wants_help) {
		fsl_command_help(
			"hostbound", "hostbound PATH... [OPTION]...",
			"Says which rank waited for CPUs, in which steps, and which process held "
			"them, from kernel traces (ftrace, trace-cmd report, perf sched script) and "
			"the markers of the same job.\n",
			table);
		return FSL_OK;
	}
	FSL_TRY(fsl_check_operands(n_operands, 1, OPERANDS_MAX, "kernel traces, or their folder",
				   err));
	fsl_operands_sort(argv + 1, (size_t)n_operands);
	r->paths = (const char *const *)argv + 1;
	r->n_paths = (size_t)n_operands;
	return FSL_OK;
}

static bool is_folder(const char *path)
{
	struct stat facts;
	return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Folders that may hold files of the job: --markers, else operands. */
static size_t job_folders(const struct request *request, const char **folders)
{
	size_t n = 0;
	if (request->markers != NULL) {
		folders[n++] = request->markers;
		return n;
	}
	for (size_t i = 0; i < request->n_paths; i++) {
		if (is_folder(request->paths[i])) {
			folders[n++] = request->paths[i];
		}
	}
	return n;
}

/* Reads and analyses the job. *has_job: there is one; else *why tells what is missing. */
static enum fsl_status read_job(struct fsl_job *job, const struct fsl_config *config,
				bool is_wanted, bool *has_job, struct fsl_error *why,
				struct fsl_error *err)
{
	struct fsl_time_range range = fsl_time_range_of(config);
	enum fsl_log_level level = fsl_log_level_get();
	if (!is_wanted) {
		fsl_log_set_level(FSL_LOG_ERROR); /* traces are no files of a job */
	}
	enum fsl_status status = fsl_job_load(job, config, &range, why);
	FSL_THEN(status, fsl_job_judge(job, config, why));
	fsl_log_set_level(level);
	*has_job = status == FSL_OK;
	if (status == FSL_ERR_MEMORY) {
		*err = *why;
		return status;
	}
	return FSL_OK;
}

static enum fsl_status tell(const struct request *request, const struct fsl_host_traces *traces,
			    struct fsl_error *err)
{
	if (request->format == FSL_OUTPUT_JSON) {
		return fsl_print_json(fsl_hostbound_json(traces), err);
	}
	/* One line is kept for what is left out. */
	struct fsl_screen_budget budget = {FSL_SCREEN_LINES_MAX - 1, 0};
	struct fsl_screen screen = fsl_screen_of(stdout, fsl_terminal_width(),
						 fsl_terminal_has_colours(request->color));
	screen.budget = request->wants_long ? NULL : &budget;
	return fsl_hostbound_print(traces, &screen, err);
}

static enum fsl_status draw(const struct request *request, const struct fsl_host_traces *traces,
			    struct fsl_error *err)
{
	return request->page != NULL
		       ? fsl_html_report(request->page, fsl_hostbound_json(traces), err)
		       : FSL_OK;
}

static enum fsl_status judge(const struct request *request, const struct fsl_job *job,
			     const struct fsl_profile *capture, int *exit_code,
			     struct fsl_error *err)
{
	struct fsl_host_traces traces = {.capture = capture,
					 .profiles = &request->markers,
					 .n_profiles = request->markers != NULL,
					 .topology = request->topology};
	const char **paths = NULL;
	size_t n_paths = 0;
	FSL_TRY(FSL_NEW(paths, request->n_paths, "paths", err));
	for (size_t i = 0; i < request->n_paths; i++) {
		if (!fsl_host_records_knows(request->paths[i])) {
			paths[n_paths++] = request->paths[i];
		}
	}
	enum fsl_status status =
		n_paths > 0 ? fsl_host_traces_load(&traces, paths, n_paths, false, job, err)
			    : FSL_OK;
	fsl_free(paths);
	FSL_THEN(status,
		 fsl_host_traces_add_records(&traces, request->paths, request->n_paths, job, err));
	FSL_THEN(status, fsl_host_traces_check(&traces, err));
	if (status == FSL_OK && traces.n_items == 0) {
		status =
			FSL_FAIL(err, FSL_ERR_INPUT,
				 "no kernel trace was found: path=\"%s\", wanted=\"text of ftrace, "
				 "of trace-cmd report or of perf sched script\"",
				 request->paths[0]);
	}
	if (status == FSL_OK && (request->format == FSL_OUTPUT_JSON || request->page != NULL)) {
		status = fsl_host_traces_picture(&traces, err);
	}
	FSL_THEN(status, draw(request, &traces, err));
	FSL_THEN(status, tell(request, &traces, err));
	for (size_t i = 0; status == FSL_OK && i < traces.n_items; i++) {
		if (request->wants_exit_code &&
		    traces.items[i].judged.verdict == FSL_HOSTBOUND_FOUND) {
			*exit_code = FSL_EXIT_ANOMALY;
		}
	}
	fsl_host_traces_fini(&traces);
	return status;
}

/* The job is told by a capture of a profiler if it left no markers. *has: there is one. */
static enum fsl_status read_capture(struct fsl_profile *capture, const char *const *folders,
				    size_t n_folders, bool *has, struct fsl_error *err)
{
	const struct fsl_profile_options options = {.path = folders[0],
						    .more_paths = folders + 1,
						    .n_more_paths = n_folders - 1,
						    .n_threads = fsl_threads_start(0)};
	enum fsl_log_level level = fsl_log_level_get();
	struct fsl_error own = {0};
	fsl_log_set_level(FSL_LOG_ERROR); /* a folder need not hold one */
	enum fsl_status status = fsl_profile_read(capture, &options, &own);
	fsl_log_set_level(level);
	*has = status == FSL_OK;
	if (status == FSL_ERR_MEMORY) {
		*err = own;
		return status;
	}
	return FSL_OK;
}

/* Judges the traces beside the job in @folders; n_folders 0: without one. */
static enum fsl_status judge_beside(const struct request *request, const struct fsl_config *config,
				    const char *const *folders, size_t n_folders, int *exit_code,
				    struct fsl_error *err)
{
	struct fsl_job job;
	struct fsl_profile capture = {0};
	bool is_wanted = request->markers != NULL, has_job = false, has_capture = false;
	struct fsl_error why = {0};
	if (n_folders == 0) {
		return judge(request, NULL, NULL, exit_code, err);
	}
	enum fsl_status status = fsl_job_init(&job, err);
	FSL_THEN(status, read_job(&job, config, is_wanted, &has_job, &why, err));
	if (status == FSL_OK && !has_job) {
		status = read_capture(&capture, folders, n_folders, &has_capture, err);
	}
	if (status == FSL_OK && is_wanted && !has_job && !has_capture) {
		*err = why;
		status = FSL_ERR_INPUT;
	}
	FSL_THEN(status, judge(request, has_job ? &job : NULL, has_capture ? &capture : NULL,
			       exit_code, err));
	fsl_profile_fini(&capture);
	fsl_job_fini(&job);
	return status;
}

/* Inputs: operands, and files beside traces that are operands. */
static enum fsl_status confine(const struct request *request, const struct fsl_config *config,
			       struct fsl_error *err)
{
	const char **paths = NULL;
	struct fsl_arena arena = {0};
	size_t n = 0;
	FSL_TRY(FSL_NEW(paths, 2 * request->n_paths + 2, "paths", err));
	for (size_t i = 0; i < request->n_paths; i++) {
		const char *slash = strrchr(request->paths[i], '/');
		paths[n++] = request->paths[i];
		const char *folder =
			slash == NULL ? "."
				      : fsl_arena_strndup(&arena, request->paths[i],
							  (size_t)(slash - request->paths[i]) + 1);
		if (folder != NULL && !is_folder(request->paths[i])) {
			paths[n++] = folder;
		}
	}
	if (request->markers != NULL) {
		paths[n++] = request->markers;
	}
	if (request->topology != NULL) {
		paths[n++] = request->topology;
	}
	const struct fsl_confined_run run = {
		.config = config, .paths = paths, .n_paths = n, .page = request->page};
	fsl_confined_begin(&run);
	fsl_free(paths);
	fsl_arena_fini(&arena);
	return FSL_OK;
}

static enum fsl_status run_as_configured(const struct request *request,
					 struct fsl_registry *registry, int *exit_code,
					 struct fsl_error *err)
{
	static const char *folders[OPERANDS_MAX + 1];
	struct fsl_config config = {0};
	size_t n_folders = job_folders(request, folders);
	enum fsl_status status = fsl_config_load(&config, NULL, registry, err);
	if (status == FSL_OK && n_folders > 0) {
		config.root_path = folders[0];
		config.more_paths = folders + 1;
		config.n_more_paths = n_folders - 1;
	}
	config.training_log = NULL;
	config.chapter_keep = false;
	config.is_look = config.lacks_present = true;
	config.now_ns = fsl_now_ns();
	if (n_folders > 0) {
		FSL_THEN(status, fsl_operands_describe(&config, folders, n_folders, false, err));
	}
	FSL_THEN(status, confine(request, &config, err));
	FSL_THEN(status, judge_beside(request, &config, folders, n_folders, exit_code, err));
	fsl_config_fini(&config);
	return status;
}

enum fsl_status fsl_cmd_hostbound(int argc, char **argv, int *exit_code, struct fsl_error *err)
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
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors");
	}
	enum fsl_status status = run_as_configured(&request, registry, exit_code, err);
	fsl_registry_destroy(registry);
	return status;
}
