/* `failslow series`: lasting changes of one series of numbers, for any file that holds one. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/growth.h"
#include "base/language.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/confined.h"
#include "cli/series_chart.h"
#include "report/document.h"
#include "report/screen.h"
#include "source/series/series_file.h"

enum { COLUMNS_N = 6, CELL_BYTES = 64, SUMMARY_BYTES = 512 };
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

static const char *const format_names[] = {"text", "json", "csv", NULL};
static const char *const profile_names[] = {"series", "steps", NULL};
static const struct fsl_shift_options *const profiles[] = {&fsl_shift_series, &fsl_shift_steps};

/* The command line. */
struct request {
	const char *path, *column;
	int format, profile;
	int64_t segment_min, points_max;           /* 0: not given */
	double change_percent_min, p_max, penalty; /* NaN: not given */
	bool wants_exit_code, wants_help;
};

/* The answer, before it is printed. */
struct result {
	struct fsl_series_file file;
	struct fsl_shift_options options;
	struct fsl_shifts shifts;
	struct fsl_growth drift;
	size_t first; /* position of the first value that was judged */
	size_t n;     /* values from it on */
	char summary[SUMMARY_BYTES];
};

static enum fsl_status parse(struct request *request, int argc, char **argv, struct fsl_error *err)
{
	const struct fsl_opt options[] = {
		{"column", 'c', FSL_OPT_TEXT, &request->column, 0, 0, NULL, "NAME",
		 "column with the values, by name or number; needed where there are several"},
		{"profile", 0, FSL_OPT_CHOICE, &request->profile, 0, 0, profile_names, NULL,
		 "defaults for any series (default), or those of step times"},
		{"min-segment", 0, FSL_OPT_INT, &request->segment_min, FSL_SHIFT_SEGMENT_MIN_LEAST,
		 FSL_SHIFT_VALUES_MAX, NULL, "N",
		 "points that a level must last (default 10, at most a quarter of all; steps 5)"},
		{"least-change", 0, FSL_OPT_REAL, &request->change_percent_min, 0, 1000000, NULL,
		 "PERCENT",
		 "least change of the level, however large others are (default: 0.75 standard "
		 "deviations of the series; steps 5)"},
		{"p-max", 0, FSL_OPT_REAL, &request->p_max, 0, 1, NULL, "P",
		 "greatest p of the rank test (default 0.01; steps 0.002)"},
		{"penalty", 0, FSL_OPT_REAL, &request->penalty, 0, 1000000, NULL, "C",
		 "a change must save C log(n) variances of squared error (default 3)"},
		{"max-points", 0, FSL_OPT_INT, &request->points_max, 1, FSL_SHIFT_VALUES_MAX, NULL,
		 "N", "look at the latest N points only"},
		{"format", 0, FSL_OPT_CHOICE, &request->format, 0, 0, format_names, NULL,
		 "what goes to stdout: text (default), json or csv"},
		{"exit-code", 0, FSL_OPT_FLAG, &request->wants_exit_code, 0, 0, NULL, NULL,
		 "exit with 1 when a change was found"},
		{"help", 'h', FSL_OPT_FLAG, &request->wants_help, 0, 0, NULL, NULL,
		 "show this help"},
		{0},
	};
	int n_operands = 0;
	enum fsl_status status = fsl_opt_parse(options, argc, argv, &n_operands, err);
	if (status == FSL_OK && request->wants_help) {
		fsl_command_help(
			"series", "series FILE [OPTION]...",
			"Finds lasting changes of the level in FILE: CSV with a column of values, and one "
			"of times if you like, or JSON. - reads standard input.\n",
			options);
		return FSL_OK;
	}
	FSL_THEN(status,
		 fsl_check_operands(n_operands, 1, 1, "one file, - for standard input", err));
	request->path = argv[1];
	return status;
}

static enum fsl_status read_input(struct result *result, const struct request *request,
				  struct fsl_error *err)
{
	struct fsl_reader *reader = NULL;
	bool is_stdin = strcmp(request->path, "-") == 0;
	enum fsl_status status =
		is_stdin ? fsl_reader_open_fd(&reader, dup(STDIN_FILENO), "standard input", err)
			 : fsl_reader_open(&reader, request->path, err);
	FSL_THEN(status, fsl_series_file_read(&result->file, reader, request->column, err));
	fsl_reader_close(reader);
	return status;
}

static void set_options(struct result *result, const struct request *request)
{
	struct fsl_shift_options *options = &result->options;
	*options = *profiles[request->profile];
	if (request->segment_min > 0) {
		options->segment_min = (size_t)request->segment_min;
		options->segment_share_max = 0.0;
	}
	if (!isnan(request->change_percent_min)) {
		options->change_min = request->change_percent_min / 100.0;
		options->spread_min = options->penalty_spread = 0.0;
	}
	options->p_max = isnan(request->p_max) ? options->p_max : request->p_max;
	options->penalty = isnan(request->penalty) ? options->penalty : request->penalty;
	size_t n_max = request->points_max > 0 ? (size_t)request->points_max : SIZE_MAX;
	result->n = result->file.n < n_max ? result->file.n : n_max;
	result->first = result->file.n - result->n;
}

/* Refuses a bound that no change can pass: "too few points" would be the wrong reason. */
static enum fsl_status check_p_max(const struct result *result, struct fsl_error *err)
{
	double least = fsl_shift_p_least(&result->options);
	if (result->options.p_max >= least) {
		return FSL_OK;
	}
	return FSL_FAIL(err, FSL_ERR_USAGE,
			"no change can have so small a p, give a greater one: option=\"--p-max\", "
			"value=%g, least=%.1e",
			result->options.p_max, least);
}

static const char *verdict_of(const struct result *result)
{
	if (result->shifts.n_used < fsl_shift_values_min(&result->options)) {
		return "too_few_points";
	}
	return result->shifts.n > 0 ? "changes" : "no_change";
}

/* NaN if the level before was 0. */
static double percent(const struct fsl_shift *shift)
{
	double share = (shift->after - shift->before) / fabs(shift->before);
	return isfinite(share) ? 100.0 * share : (double)NAN;
}

__attribute__((format(printf, 2, 3))) static void say(struct result *result, const char *format,
						      ...)
{
	size_t length = strlen(result->summary);
	va_list args;
	va_start(args, format);
	(void)vsnprintf(result->summary + length, SUMMARY_BYTES - length, format, args);
	va_end(args);
}

static void say_largest(struct result *result)
{
	const struct fsl_shifts *shifts = &result->shifts;
	const struct fsl_shift *largest = &shifts->items[0];
	for (size_t i = 1; i < shifts->n; i++) {
		const struct fsl_shift *shift = &shifts->items[i];
		if (fabs(shift->after - shift->before) > fabs(largest->after - largest->before)) {
			largest = shift;
		}
	}
	say(result, "; %sfrom %.6g to %.6g at index %zu", shifts->n > 1 ? "the largest " : "",
	    largest->before, largest->after, result->first + largest->at);
}

static void say_drift(struct result *result)
{
	const struct fsl_growth *drift = &result->drift;
	say(result,
	    "%s steadily from %.6g to %.6g (%.2f times) from index %zu to %zu, in %zu points",
	    drift->to > drift->from ? N_("grows") : N_("falls"), drift->from, drift->to,
	    drift->to / drift->from, result->first + drift->begin, result->first + drift->end - 1,
	    result->shifts.n_used);
}

/* Names the bound on p when it alone asks for more points than there are. */
static void say_bound(struct result *result)
{
	struct fsl_shift_options options = result->options;
	options.p_max = 1.0;
	if (result->shifts.n_used >= fsl_shift_values_min(&options)) {
		say(result, " for a p of at most %g", result->options.p_max);
	}
}

static void summarise(struct result *result)
{
	const struct fsl_shifts *shifts = &result->shifts;
	size_t n_needed = fsl_shift_values_min(&result->options);
	const char *points = shifts->n_used == 1 ? "point" : "points";
	if (shifts->n_used < n_needed) {
		say(result, "too few points: %zu, at least %zu are needed", shifts->n_used,
		    n_needed);
		say_bound(result);
	} else if (result->drift.is_found) {
		say_drift(result);
	} else if (shifts->n == 0) {
		say(result, "no lasting change in %zu %s", shifts->n_used, points);
	} else {
		say(result, "%zu lasting %s in %zu %s", shifts->n,
		    shifts->n == 1 ? "change" : "changes", shifts->n_used, points);
		say_largest(result);
	}
	if (shifts->n_spikes > 0) {
		say(result, "; %zu %s capped", shifts->n_spikes,
		    shifts->n_spikes == 1 ? "spike" : "spikes");
	}
	if (shifts->n_missing > 0) {
		say(result, "; %zu missing %s left out", shifts->n_missing,
		    shifts->n_missing == 1 ? "value" : "values");
	}
}

/* The time as it was written, without what would move the cursor; "" when there is none. */
static void copy_time(const struct result *result, size_t at, char out[CELL_BYTES])
{
	const char *text = result->file.times != NULL ? result->file.times[result->first + at] : "";
	size_t i = 0;
	for (; text[i] != '\0' && i + 1 < CELL_BYTES; i++) {
		unsigned char c = (unsigned char)text[i];
		out[i] = c < ' ' || c == 0x7f ? '?' : text[i];
	}
	out[i] = '\0';
}

static const char *const headings[COLUMNS_N] = {"index", "time", "before", "after", "change", "p"};

static void print_chart(const struct result *result)
{
	const struct fsl_series_chart chart = {
		.values = result->file.values + result->first,
		.n = result->n,
		.first = result->first,
		.shifts = &result->shifts,
		.drift = &result->drift,
		.width = fsl_terminal_width(),
		.has_blocks = fsl_terminal_has_blocks(),
	};
	if (result->shifts.n_used >= fsl_shift_values_min(&result->options)) {
		printf("\n");
		fsl_series_chart_print(stdout, &chart);
	}
}

static enum fsl_status print_text(const struct result *result, struct fsl_error *err)
{
	size_t n = result->shifts.n;
	const struct fsl_screen screen = fsl_screen_of(stdout, fsl_terminal_width(), false);
	fsl_screen_headline(&screen, FSL_COLOUR_NONE, result->summary);
	print_chart(result);
	if (n == 0) {
		return FSL_OK;
	}
	char(*texts)[CELL_BYTES] = NULL;
	const char **cells = NULL;
	enum fsl_status status = FSL_NEW(texts, n * COLUMNS_N, "cells", err);
	FSL_THEN(status, FSL_NEW(cells, (n + 1) * COLUMNS_N, "cells", err));
	if (status != FSL_OK) {
		goto out;
	}
	/* The column of times is left out if the series has none. */
	size_t n_columns = 0;
	for (size_t k = 0; k < COLUMNS_N; k++) {
		if (k != 1 || result->file.times != NULL) {
			cells[n_columns++] = headings[k];
		}
	}
	size_t n_cells = n_columns;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_shift *shift = &result->shifts.items[i];
		char(*row)[CELL_BYTES] = texts + i * COLUMNS_N;
		(void)snprintf(row[0], CELL_BYTES, "%zu", result->first + shift->at);
		copy_time(result, shift->at, row[1]);
		(void)snprintf(row[2], CELL_BYTES, "%.6g", shift->before);
		(void)snprintf(row[3], CELL_BYTES, "%.6g", shift->after);
		(void)snprintf(row[4], CELL_BYTES, isnan(percent(shift)) ? "-" : "%+.1f %%",
			       percent(shift));
		(void)snprintf(row[5], CELL_BYTES, shift->p_value > 0.0 ? "%.1e" : "<1e-300",
			       shift->p_value);
		for (size_t k = 0; k < COLUMNS_N; k++) {
			if (k != 1 || result->file.times != NULL) {
				cells[n_cells++] = row[k];
			}
		}
	}
	printf("\n");
	fsl_print_table(cells, n + 1, n_columns, fsl_terminal_width());
out:
	fsl_free((void *)cells);
	fsl_free(texts);
	return status;
}

static void print_csv(const struct result *result)
{
	printf("index,time,before,after,change_percent,p_value\n");
	for (size_t i = 0; i < result->shifts.n; i++) {
		const struct fsl_shift *shift = &result->shifts.items[i];
		char time[CELL_BYTES];
		copy_time(result, shift->at, time);
		const char *quote = time[0] != '\0' ? "\"" : "";
		printf("%zu,%s", result->first + shift->at, quote);
		for (const char *c = time; *c != '\0'; c++) {
			printf("%s%c", *c == '"' ? "\"" : "", *c);
		}
		printf("%s,%.17g,%.17g,", quote, shift->before, shift->after);
		if (!isnan(percent(shift))) {
			printf("%.6g", percent(shift));
		}
		printf(",%.6g\n", shift->p_value);
	}
}

/* null if @value is not finite. */
static void add_number(struct fsl_document *document, cJSON *object, const char *key, double value)
{
	fsl_document_item(document, object, key,
			  isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

static void add_change(struct fsl_document *document, cJSON *list, const struct result *result,
		       const struct fsl_shift *shift)
{
	char time[CELL_BYTES];
	cJSON *object = fsl_document_object(document, list, NULL);
	copy_time(result, shift->at, time);
	fsl_document_count(document, object, "index", result->first + shift->at);
	if (result->file.times != NULL) {
		fsl_document_text(document, object, "time", time);
	} else {
		fsl_document_null(document, object, "time");
	}
	add_number(document, object, "before", shift->before);
	add_number(document, object, "after", shift->after);
	add_number(document, object, "changePercent", percent(shift));
	add_number(document, object, "pValue", shift->p_value);
}

static enum fsl_status print_json(const struct result *result, const struct request *request,
				  struct fsl_error *err)
{
	const struct fsl_shifts *shifts = &result->shifts;
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fsl_document_text(&document, root, "file", request->path);
	fsl_document_text(&document, root, "column", result->file.column);
	fsl_document_text(&document, root, "verdict", verdict_of(result));
	fsl_document_text(&document, root, "summary", result->summary);
	fsl_document_count(&document, root, "points", shifts->n_used);
	fsl_document_count(&document, root, "missing", shifts->n_missing);
	fsl_document_count(&document, root, "spikes", shifts->n_spikes);
	add_number(&document, root, "noise", shifts->sigma);
	cJSON *list = fsl_document_array(&document, root, "changes");
	for (size_t i = 0; i < shifts->n; i++) {
		add_change(&document, list, result, &shifts->items[i]);
	}
	return fsl_print_json(fsl_document_finish(&document, root), err);
}

static enum fsl_status print_result(const struct result *result, const struct request *request,
				    struct fsl_error *err)
{
	switch ((enum format)request->format) {
	case FORMAT_TEXT:
		return print_text(result, err);
	case FORMAT_JSON:
		return print_json(result, request, err);
	case FORMAT_CSV:
		print_csv(result);
		return FSL_OK;
	}
	return FSL_OK;
}

enum fsl_status fsl_cmd_series(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct request request = {.change_percent_min = NAN, .p_max = NAN, .penalty = NAN};
	struct result result = {.n = 0};
	*exit_code = FSL_EXIT_DONE;
	enum fsl_status status = parse(&request, argc, argv, err);
	if (status != FSL_OK || request.wants_help) {
		return status;
	}
	fsl_confined_begin_files(request.path, NULL, NULL);
	status = read_input(&result, &request, err);
	if (status == FSL_OK) {
		set_options(&result, &request);
		status = check_p_max(&result, err);
	}
	FSL_THEN(status, fsl_shifts_find(&result.shifts, result.file.values + result.first,
					 result.n, &result.options, err));
	FSL_THEN(status, fsl_growth_find(&result.drift, result.file.values + result.first, result.n,
					 &result.shifts, result.options.change_min, err));
	if (status == FSL_OK) {
		summarise(&result);
		status = print_result(&result, &request, err);
	}
	if (status == FSL_OK && request.wants_exit_code &&
	    (result.shifts.n > 0 || result.drift.is_found)) {
		*exit_code = FSL_EXIT_ANOMALY;
	}
	fsl_shifts_fini(&result.shifts);
	fsl_series_file_fini(&result.file);
	return status;
}
