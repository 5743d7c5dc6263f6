/* `failslow bench`: how fast it is on this machine, beside what the machine and libraries can do.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "bench/bench.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "engine/threads.h"
#include "eval/page.h"
#include "report/report.h"
#include "sim/sim.h"

enum {
	JOBS_MAX = 4096,
	SCALES_MAX = 8,
	PATH_BYTES = 4096,
	MB_DEFAULT = 32,
	RANKS_DEFAULT = 8,
	RUNS_DEFAULT = 5,
};
static const double bytes_per_mb = 1e6;

/* The command line. */
struct request {
	struct fsl_bench_options bench;
	const char *output, *one_case; /* NULL: not given */
	int scale;                     /* -1: none */
	int format;
	bool wants_help;
	const char *folder; /* operand of --case */
	char program[PATH_BYTES];
};

static enum fsl_status check(const struct request *request, int n_operands, struct fsl_error *err)
{
	const struct fsl_bench_options *b = &request->bench;
	if (request->one_case != NULL) {
		return fsl_check_operands(n_operands, 1, 1, "the folder with the files of the case",
					  err);
	}
	if (request->scale >= 0 && (b->only != NULL || b->wants_instructions)) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"--scale measures detect alone: leave out --only and "
				"--instructions");
	}
	return fsl_check_operands(n_operands, 0, 0, "none (a folder goes with --case)", err);
}

static enum fsl_status parse(struct request *r, int argc, char **argv, struct fsl_error *err)
{
	const char *scales[SCALES_MAX];
	int n_operands = 0;
	const char *temporary = getenv("TMPDIR");
	*r = (struct request){.scale = -1};
	r->bench = (struct fsl_bench_options){
		.dir = temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp",
		.n_mb = MB_DEFAULT,
		.n_ranks = RANKS_DEFAULT,
		.n_runs = RUNS_DEFAULT};
	struct fsl_bench_options *b = &r->bench;
	size_t n = 0;
	for (; fsl_bench_scales[n].name != NULL && n + 1 < SCALES_MAX; n++) {
		scales[n] = fsl_bench_scales[n].name;
	}
	scales[n] = NULL;
	const struct fsl_opt table[] = {
		{"size", 's', FSL_OPT_INT, &b->n_mb, 1, FSL_BENCH_MB_MAX, NULL, "MB",
		 "megabytes of marker CSV (default 32)"},
		{"ranks", 'r', FSL_OPT_INT, &b->n_ranks, 2, FSL_SIM_RANKS_MAX, NULL, "N",
		 "ranks of the simulated job, an even number (default 8)"},
		{"runs", 'n', FSL_OPT_INT, &b->n_runs, 1, FSL_BENCH_RUNS_MAX, NULL, "N",
		 "runs of every case; medians are shown (default 5)"},
		{"jobs", 'j', FSL_OPT_INT, &b->n_jobs, 0, JOBS_MAX, NULL, "N",
		 "threads of cache-all and detect-all; 0: one per core (default)"},
		{"only", 0, FSL_OPT_TEXT, &b->only, 0, 0, NULL, "LIST",
		 "cases, by name, separated by commas; default: all"},
		{"scale", 0, FSL_OPT_CHOICE, &r->scale, 0, 0, scales, NULL,
		 "instead of comparing cases, measure how the cost of detect grows"},
		{"instructions", 'i', FSL_OPT_FLAG, &b->wants_instructions, 0, 0, NULL, NULL,
		 "count instructions per byte, too, with valgrind"},
		{"dir", 0, FSL_OPT_TEXT, &b->dir, 0, 0, NULL, "DIR",
		 "where the folder for the inputs is made (default: TMPDIR, else /tmp)"},
		{"case", 0, FSL_OPT_TEXT, &r->one_case, 0, 0, NULL, "NAME",
		 "run one case once in this process over the files of DIR, for profilers"},
		{"format", 0, FSL_OPT_CHOICE, &r->format, 0, 0, fsl_output_formats, NULL,
		 "what goes to stdout: text (default) or json"},
		{"output", 'o', FSL_OPT_TEXT, &r->output, 0, 0, NULL, "FILE",
		 "write the JSON form into FILE, too"},
		{"help", 'h', FSL_OPT_FLAG, &r->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (r->wants_help) {
		fsl_command_help(
			"bench", "bench [OPTION]...\n       failslow bench --case NAME DIR\n",
			"Measures how fast this program reads and judges on this machine, beside "
			"what the machine and the usual libraries do with the same bytes. Its "
			"inputs are simulated and removed at the end.\n",
			table);
		return FSL_OK;
	}
	r->folder = argv[1];
	return check(r, n_operands, err);
}

/* One line on the terminal that is written over; nothing elsewhere. */
static void show_progress(size_t n_done, size_t n_all)
{
	(void)fprintf(stderr, "\r%3zu %%", n_all > 0 ? 100 * n_done / n_all : 0);
}

static void clear_progress(void)
{
	if (isatty(STDERR_FILENO)) {
		(void)fprintf(stderr, "\r     \r");
	}
}

static void put_ratio(struct fsl_page *page, double ratio)
{
	if (isnan(ratio)) {
		fsl_page_cell(page, "-");
	} else {
		fsl_page_cell(page, ratio < 10.0 ? "%.2f" : "%.1f", ratio);
	}
}

static void put_result(struct fsl_page *page, const struct fsl_bench_result *result,
		       bool has_instructions)
{
	const struct fsl_bench_sample *median = &result->median;
	double mb = (double)median->n_bytes / bytes_per_mb;
	double cpu_s = (double)median->cpu_ns / 1e9;
	fsl_page_cell(page, "%s", result->item->name);
	fsl_page_cell(page, "%.1f", mb);
	fsl_page_cell(page, "%.1f", cpu_s * 1e3);
	fsl_page_cell(page, "%.1f", (double)median->wall_ns / 1e6);
	fsl_page_cell(page, "%.0f", mb / cpu_s);
	if (median->n_rows > 0) {
		fsl_page_cell(page, "%.2f", (double)median->n_rows / cpu_s / 1e6);
	} else {
		fsl_page_cell(page, "-");
	}
	fsl_page_cell(page, "%.1f", (double)median->peak_bytes / bytes_per_mb);
	for (size_t base = 0; base < FSL_BENCH_BASES_N; base++) {
		put_ratio(page, result->ratios[base]);
	}
	if (has_instructions) {
		put_ratio(page, result->instructions_per_byte);
	}
}

/* Compares two threads with one, and a run that goes on with one from scratch: a line each. */
static void put_comparisons(struct fsl_page *page, const struct fsl_bench_report *report)
{
	bool is_first = true;
	for (size_t i = 0; i < report->n_results; i++) {
		const struct fsl_bench_result *result = &report->results[i];
		if (!isnan(result->speedup)) {
			fsl_page_printf(page, is_first ? "\n" : "");
			fsl_page_printf(page, "%s is %.2f x as fast as %s by the clock\n",
					result->item->name, result->speedup, result->item->alone);
			is_first = false;
		}
		if (!isnan(result->share)) {
			fsl_page_printf(page, is_first ? "\n" : "");
			fsl_page_printf(page, "%s takes %.1f %% of the CPU time of %s\n",
					result->item->name, 100.0 * result->share,
					result->item->anew);
			is_first = false;
		}
	}
}

static void put_report(struct fsl_page *page, const struct fsl_bench_report *report,
		       bool has_instructions)
{
	fsl_page_printf(page,
			"%" PRId64 " ranks, %d cores; medians of %" PRId64 " runs, cases in turn\n"
			"MB/s and Mrows/s (millions of rows) per second of CPU time; x: CPU time "
			"per byte over that of the case (library: the one that does the same)\n\n",
			report->n_ranks, report->n_cores, report->n_runs);
	fsl_page_table_of(page, NULL,
			  has_instructions ? "case|MB|CPU ms|wall ms|MB/s|Mrows/s|peak MB|x memcpy|"
					     "x read|x newlines|x library|instr/B"
					   : "case|MB|CPU ms|wall ms|MB/s|Mrows/s|peak MB|x memcpy|"
					     "x read|x newlines|x library");
	for (size_t i = 0; i < report->n_results; i++) {
		put_result(page, &report->results[i], has_instructions);
	}
	fsl_page_table_end(page);
	put_comparisons(page, report);
	if (report->note != NULL) {
		fsl_page_printf(page, "\nno instructions per byte: %s\n", report->note);
	}
}

/* Cost per rank or per megabyte, without the start of the program. */
static double cost_us(const struct fsl_bench_growth *growth, const struct fsl_bench_point *point)
{
	double own_us = (double)(point->median.cpu_ns - growth->start_up.cpu_ns) / 1e3;
	return own_us /
	       (growth->scale->is_per_x ? point->x : (double)point->median.n_bytes / bytes_per_mb);
}

static void put_growth(struct fsl_page *page, const struct fsl_bench_growth *growth)
{
	const struct fsl_bench_scale *scale = growth->scale;
	struct fsl_told room;
	char headings[80];
	(void)snprintf(headings, sizeof(headings), "MB|CPU ms|CPU us/%s|wall ms|peak MB",
		       scale->per);
	fsl_page_printf(page,
			"failslow detect, one thread: %s\n"
			"medians of %" PRId64 " runs, points in turn; the start takes "
			"%.1f ms and %.1f MB,\nwhich CPU us/%s and the exponents leave out\n\n",
			scale->summary, growth->n_runs, (double)growth->start_up.cpu_ns / 1e6,
			(double)growth->start_up.peak_bytes / bytes_per_mb, scale->per);
	fsl_page_table_of(page, fsl_page_tell(page, scale->unit, &room), headings);
	for (size_t i = 0; i < growth->n_points; i++) {
		const struct fsl_bench_sample *median = &growth->points[i].median;
		fsl_page_cell(page, "%s", growth->points[i].label);
		fsl_page_cell(page, "%.1f", (double)median->n_bytes / bytes_per_mb);
		fsl_page_cell(page, "%.1f", (double)median->cpu_ns / 1e6);
		fsl_page_cell(page, "%.0f", cost_us(growth, &growth->points[i]));
		fsl_page_cell(page, "%.1f", (double)median->wall_ns / 1e6);
		fsl_page_cell(page, "%.1f", (double)median->peak_bytes / bytes_per_mb);
	}
	fsl_page_table_end(page);
	fsl_page_printf(
		page, "\nexponent of growth (1: in proportion): CPU time %.2f, peak memory %.2f\n",
		growth->cpu_exponent, growth->memory_exponent);
}

static enum fsl_status write_json(const char *path, const cJSON *json, struct fsl_error *err)
{
	char *text = json != NULL ? fsl_json_text(json, 1) : NULL;
	if (text == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	enum fsl_status status = fsl_file_write_atomic(path, text, strlen(text), err);
	fsl_free(text);
	return status;
}

static enum fsl_status print(const struct request *request, const struct fsl_bench_report *report,
			     const struct fsl_bench_growth *growth, struct fsl_error *err)
{
	struct fsl_page page;
	cJSON *json = fsl_bench_json(report, growth);
	enum fsl_status status = FSL_OK;
	if (request->output != NULL) {
		status = write_json(request->output, json, err);
	}
	if (request->format == FSL_OUTPUT_JSON) {
		enum fsl_status printed = fsl_print_json(json, err);
		return status == FSL_OK ? printed : status;
	}
	cJSON_Delete(json);
	fsl_page_init(&page, false);
	page.width = fsl_terminal_width();
	page.is_told = true;
	if (report != NULL) {
		put_report(&page, report, request->bench.wants_instructions);
	} else {
		put_growth(&page, growth);
	}
	if (!page.has_failed) {
		fsl_print_told(page.text);
	} else {
		FSL_THEN(status, FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"table\""));
	}
	fsl_page_fini(&page);
	return status;
}

/* Everything is cleaned up: now the signal does what it was sent for. */
static void obey(int interrupted)
{
	if (interrupted != 0) {
		clear_progress();
		(void)signal(interrupted, SIG_DFL);
		(void)raise(interrupted);
	}
}

static enum fsl_status compare(const struct request *request, struct fsl_error *err)
{
	struct fsl_bench_report report;
	enum fsl_status status = fsl_bench_run(&report, &request->bench, err);
	clear_progress();
	obey(report.interrupted);
	FSL_THEN(status, print(request, &report, NULL, err));
	fsl_bench_report_fini(&report);
	return status;
}

static enum fsl_status grow(const struct request *request, struct fsl_error *err)
{
	struct fsl_bench_growth growth;
	enum fsl_status status =
		fsl_bench_grow(&growth, &fsl_bench_scales[request->scale], &request->bench, err);
	clear_progress();
	obey(growth.interrupted);
	FSL_THEN(status, print(request, NULL, &growth, err));
	fsl_bench_growth_fini(&growth);
	return status;
}

static enum fsl_status run_case(const struct request *request, struct fsl_error *err)
{
	struct fsl_bench_sample sample;
	const struct fsl_bench_case *item = NULL;
	enum fsl_status status = fsl_bench_case_find(&item, request->one_case, err);
	int n_jobs = (int)request->bench.n_jobs;
	if (status == FSL_OK && item->alone != NULL) {
		n_jobs = fsl_threads_start(n_jobs);
	}
	FSL_THEN(status, fsl_bench_case_run(item, request->folder, n_jobs, &sample, err));
	if (status == FSL_OK) {
		fsl_bench_sample_print(&sample);
	}
	return status;
}

enum fsl_status fsl_cmd_bench(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct request request;
	*exit_code = FSL_EXIT_DONE;
	enum fsl_status status = parse(&request, argc, argv, err);
	if (status != FSL_OK || request.wants_help) {
		return status;
	}
	if (request.one_case != NULL) {
		return run_case(&request, err);
	}
	if (readlink("/proc/self/exe", request.program, PATH_BYTES - 1) < 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot find the program itself: /proc is needed");
	}
	request.bench.program = request.program;
	request.bench.progress = isatty(STDERR_FILENO) ? show_progress : NULL;
	return request.scale >= 0 ? grow(&request, err) : compare(&request, err);
}
