/* `failslow history`: the incidents of earlier runs, and the hosts that have them again and again.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/language.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "base/wrap.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/results.h"
#include "report/document.h"
#include "state/incidents.h"
#include "text/comma_list.h"

enum { INDENT = 4 };
#define WEEK_NS (INT64_C(7) * 24 * 3600 * FSL_NS_PER_S)

struct options {
	const char *config_path, *output, *job, *host;
	int64_t since_ns, now_ns;
	int format;
	bool only_open, repeat, wants_help;
};

static enum fsl_status parse(struct options *o, int argc, char **argv, struct fsl_error *err)
{
	*o = (struct options){.since_ns = FSL_NS_ABSENT, .now_ns = FSL_NS_ABSENT};
	const struct fsl_opt table[] = {
		{"config", 'c', FSL_OPT_TEXT, &o->config_path, 0, 0, NULL, "FILE",
		 "model_config.json whose runs are told; without it the installed one"},
		{"output", 'o', FSL_OPT_TEXT, &o->output, 0, 0, NULL, "DIR",
		 "the runs whose results went there"},
		{"job", 0, FSL_OPT_TEXT, &o->job, 0, 0, NULL, "NAME", "only this job"},
		{"host", 0, FSL_OPT_TEXT, &o->host, 0, 0, NULL, "HOST", "only this host"},
		{"since", 0, FSL_OPT_TIME, &o->since_ns, 0, 0, NULL, "TIME",
		 "only what was seen at or after TIME"},
		{"open", 0, FSL_OPT_FLAG, &o->only_open, 0, 0, NULL, NULL, "only what is open now"},
		{"repeat", 0, FSL_OPT_FLAG, &o->repeat, 0, 0, NULL, NULL,
		 "rank hosts by their incidents per job-day instead"},
		{"now", 0, FSL_OPT_TIME, &o->now_ns, 0, 0, NULL, "TIME",
		 "take TIME as the present (recurrence in the last 7 days)"},
		{"format", 0, FSL_OPT_CHOICE, &o->format, 0, 0, fsl_output_formats, "FORMAT",
		 "text (default) or json"},
		{"help", 'h', FSL_OPT_FLAG, &o->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	int n_operands = 0;
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	FSL_TRY(fsl_check_operands(n_operands, 0, 0, "no operand, but options", err));
	if (o->now_ns == FSL_NS_ABSENT) {
		o->now_ns = fsl_now_ns();
	}
	if (o->wants_help) {
		fsl_command_help(
			"history", "history [OPTION]...",
			"Tells the incidents that earlier runs with a configuration or "
			"--output found: when each began and ended, what it cost, and which "
			"host had how many of late.",
			table);
	}
	return FSL_OK;
}

static const char *time_or_dash(int64_t time_ns, char buffer[40])
{
	if (time_ns == FSL_NS_ABSENT) {
		return "-";
	}
	char whole[40];
	(void)snprintf(buffer, 40, "%.16sZ", fsl_format_utc(time_ns, whole, sizeof(whole)));
	return buffer; /* minutes are enough here */
}

static void print_one(const struct fsl_incident *item, int width)
{
	char begin[40], end[40], loss[32] = "", line[1024];
	if (isfinite(item->lost_share) && item->class != FSL_INCIDENT_HANG) {
		(void)snprintf(loss, sizeof(loss), ", %.0f %% lost", 100.0 * item->lost_share);
	}
	const char *opened = time_or_dash(item->opened_ns, begin);
	if (item->status == FSL_INCIDENT_OPEN) {
		(void)fsl_tell_print(stdout, "%s to now  open\n", opened);
	} else {
		(void)fsl_tell_print(stdout, "%s to %s  %s\n", opened,
				     time_or_dash(item->cleared_ns, end),
				     fsl_incident_status_text(item->status));
	}
	struct fsl_told told;
	(void)snprintf(line, sizeof(line), "job %s: %s%s%s%s", item->job_name, item->kind,
		       *item->cause != '\0' ? ", " : "", item->cause, loss);
	printf("%*s", INDENT, "");
	fsl_wrap(stdout, fsl_tell(line, &told), INDENT, INDENT, width);
	(void)snprintf(line, sizeof(line), "%.1000s", item->headline);
	printf("%*s", INDENT, "");
	fsl_wrap(stdout, fsl_tell(line, &told), INDENT, INDENT, width);
}

/* A host of an incident of the last seven days. */
struct seen_host {
	struct fsl_comma_item host;
	const char *job;
};

static int compare_seen(const void *left, const void *right)
{
	const struct seen_host *a = left, *b = right;
	size_t n = a->host.length < b->host.length ? a->host.length : b->host.length;
	int order = strncmp(a->host.text, b->host.text, n);
	order = order != 0 ? order : FSL_ORDER(a->host.length, b->host.length);
	return order != 0 ? order : strcmp(a->job, b->job);
}

static bool is_same_host(const struct seen_host *a, const struct seen_host *b)
{
	return a->host.length == b->host.length &&
	       strncmp(a->host.text, b->host.text, a->host.length) == 0;
}

/* Hosts of incidents that were seen within seven days before @now_ns, sorted by host and job. */
static enum fsl_status list_seen(const struct fsl_incidents *list, int64_t now_ns,
				 struct seen_host **out, size_t *n_out, struct fsl_error *err)
{
	size_t capacity = 0;
	for (size_t i = 0; i < list->n_items; i++) {
		const struct fsl_incident *item = &list->items[i];
		const char *rest = item->hosts;
		struct fsl_comma_item host;
		bool is_late = item->seen_ns >= now_ns - WEEK_NS && item->seen_ns <= now_ns;
		while (is_late && fsl_comma_next(&rest, &host)) {
			FSL_TRY(FSL_GROW(*out, capacity, *n_out + 1, err));
			(*out)[(*n_out)++] = (struct seen_host){host, item->job};
		}
	}
	if (*n_out > 1) {
		qsort(*out, *n_out, sizeof(**out), compare_seen);
	}
	return FSL_OK;
}

/* "host 10.1.0.7: 3 incidents in 7 days, in 2 jobs", for each host with more than one. */
static enum fsl_status print_recurrence(const struct fsl_incidents *list, int64_t now_ns,
					struct fsl_error *err)
{
	struct seen_host *seen = NULL;
	size_t n = 0, n_jobs = 0;
	const char *gap = "\n";
	enum fsl_status status = list_seen(list, now_ns, &seen, &n, err);
	for (size_t begin = 0, end = 0; begin < n && status == FSL_OK; begin = end) {
		for (n_jobs = 0; end < n && is_same_host(&seen[begin], &seen[end]); end++) {
			n_jobs += end == begin || strcmp(seen[end].job, seen[end - 1].job) != 0;
		}
		if (end - begin > 1) {
			(void)fsl_tell_print(
				stdout, "%shost %.*s: %zu incidents in 7 days, in %zu job%s\n", gap,
				(int)seen[begin].host.length, seen[begin].host.text, end - begin,
				n_jobs, n_jobs == 1 ? "" : "s");
			gap = "";
		}
	}
	fsl_free(seen);
	return status;
}

static enum fsl_status print_list(const struct fsl_incidents *list, int64_t now_ns,
				  struct fsl_error *err)
{
	int width = fsl_terminal_width();
	if (list->n_items == 0) {
		(void)fsl_tell_print(stdout, "no incident\n");
	}
	for (size_t i = 0; i < list->n_items; i++) {
		print_one(&list->items[i], width);
	}
	return print_recurrence(list, now_ns, err);
}

static enum fsl_status print_list_json(const struct fsl_incidents *list, struct fsl_error *err)
{
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fsl_document_text(&document, root, "schema", "failslow.history/1");
	cJSON *items = fsl_document_array(&document, root, "incidents");
	for (size_t i = 0; i < list->n_items && !document.has_failed; i++) {
		const struct fsl_incident *item = &list->items[i];
		cJSON *entry = fsl_document_object(&document, items, NULL);
		fsl_document_text(&document, entry, "id", item->id);
		fsl_document_text(&document, entry, "status",
				  fsl_incident_status_text(item->status));
		fsl_document_text(&document, entry, "job", item->job_name);
		fsl_document_text(&document, entry, "jobRoot", item->job);
		fsl_document_text(&document, entry, "kind", item->kind);
		fsl_document_told(&document, entry, "cause", item->cause);
		fsl_document_text(&document, entry, "hosts", item->hosts);
		fsl_document_text(&document, entry, "ranks", item->ranks);
		fsl_document_text(&document, entry, "places", item->places);
		fsl_document_text(&document, entry, "headline", item->headline);
		fsl_document_time(&document, entry, "firstSeen", item->first_ns);
		fsl_document_time(&document, entry, "opened", item->opened_ns);
		fsl_document_time(&document, entry, "lastSeen", item->seen_ns);
		fsl_document_time(&document, entry, "cleared", item->cleared_ns);
		fsl_document_integer(&document, entry, "runs", item->n_runs);
		fsl_document_number(&document, entry, "lostShare", item->lost_share,
				    FSL_DECIMALS_RATIO);
		fsl_document_number(&document, entry, "lostMsPerStep", item->lost_ms,
				    FSL_DECIMALS_MS);
		fsl_document_number(&document, entry, "confidence", item->confidence,
				    FSL_DECIMALS_RATIO);
	}
	return fsl_print_json(fsl_document_finish(&document, root), err);
}

enum { NUMBERS_N = 4 }; /* columns of --repeat behind the host */

/* Prints a line of --repeat. Numbers stand below each other in every language: a wide character
 * takes two columns. @mark: what stands behind them, or "". */
static void print_repeat_row(const char *host, const char *const numbers[NUMBERS_N],
			     const char *mark)
{
	enum { HOST_WIDTH = 24 };
	static const int widths[NUMBERS_N] = {9, 8, 8, 0};
	int gap = HOST_WIDTH - fsl_columns(host, strlen(host));
	printf("%s%*s", host, gap > 0 ? gap : 0, "");
	for (size_t i = 0; i < NUMBERS_N; i++) {
		gap = widths[i] - fsl_columns(numbers[i], strlen(numbers[i]));
		printf("  %*s%s", gap > 0 ? gap : 0, "", numbers[i]);
	}
	printf("%s%s\n", *mark != '\0' ? "  " : "", mark);
}

static void print_repeat_heading(void)
{
	static const char *const titles[NUMBERS_N] = {N_("incidents"), N_("job-days"),
						      N_("expected"), N_("chance")};
	struct fsl_told host, rooms[NUMBERS_N];
	const char *told[NUMBERS_N];
	for (size_t i = 0; i < NUMBERS_N; i++) {
		told[i] = fsl_tell(titles[i], &rooms[i]);
	}
	print_repeat_row(fsl_tell(N_("host"), &host), told, "");
}

static void print_record(const struct fsl_host_record *record)
{
	struct fsl_told mark;
	char n[32], days[32], expected[32], chance[32];
	const char *const numbers[NUMBERS_N] = {n, days, expected, chance};
	(void)snprintf(n, sizeof(n), "%lld", (long long)record->n_incidents);
	(void)snprintf(days, sizeof(days), "%.2f", record->job_days);
	(void)snprintf(expected, sizeof(expected), "%.2f", record->expected);
	(void)snprintf(chance, sizeof(chance), "%.2g", record->p_value);
	print_repeat_row(record->host, numbers,
			 record->stands_out ? fsl_tell(N_("STANDS OUT"), &mark) : "");
}

static void print_repeat(const struct fsl_host_records *records)
{
	size_t n_named = 0;
	print_repeat_heading();
	for (size_t i = 0; i < records->n_items; i++) {
		const struct fsl_host_record *record = &records->items[i];
		if (record->n_incidents == 0 && i >= 10) {
			continue;
		}
		n_named += record->stands_out;
		print_record(record);
	}
	(void)fsl_tell_print(
		stdout, n_named > 0
				? "chance: of so many incidents or more, if all hosts were alike\n"
				: "no host has more incidents than chance gives to one of them\n");
}

static enum fsl_status print_repeat_json(const struct fsl_host_records *records,
					 struct fsl_error *err)
{
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fsl_document_text(&document, root, "schema", "failslow.repeat/1");
	cJSON *items = fsl_document_array(&document, root, "hosts");
	for (size_t i = 0; i < records->n_items && !document.has_failed; i++) {
		const struct fsl_host_record *record = &records->items[i];
		cJSON *entry = fsl_document_object(&document, items, NULL);
		fsl_document_text(&document, entry, "host", record->host);
		fsl_document_integer(&document, entry, "incidents", record->n_incidents);
		fsl_document_integer(&document, entry, "jobs", record->n_jobs);
		fsl_document_number(&document, entry, "jobDays", record->job_days, 4);
		fsl_document_number(&document, entry, "expectedIncidents", record->expected, 4);
		fsl_document_significant(&document, entry, "pValue", record->p_value, 4);
		fsl_document_bool(&document, entry, "standsOut", record->stands_out);
		fsl_document_time(&document, entry, "lastSeen", record->last_ns);
	}
	return fsl_print_json(fsl_document_finish(&document, root), err);
}

static enum fsl_status tell_repeat(struct fsl_state *state, const struct options *o,
				   struct fsl_error *err)
{
	struct fsl_host_records records;
	FSL_TRY(fsl_hosts_rank(state, o->since_ns, &records, err));
	enum fsl_status status = FSL_OK;
	if (o->format == FSL_OUTPUT_JSON) {
		status = print_repeat_json(&records, err);
	} else {
		print_repeat(&records);
	}
	fsl_host_records_fini(&records);
	return status;
}

static enum fsl_status tell_list(struct fsl_state *state, const struct options *o,
				 struct fsl_error *err)
{
	struct fsl_incidents list;
	const struct fsl_incident_filter filter = {o->job, o->host, o->since_ns, o->only_open};
	FSL_TRY(fsl_incidents_list(state, &filter, &list, err));
	enum fsl_status status = FSL_OK;
	if (o->format == FSL_OUTPUT_JSON) {
		status = print_list_json(&list, err);
	} else {
		status = print_list(&list, o->now_ns, err);
	}
	fsl_incidents_fini(&list);
	return status;
}

static enum fsl_status tell(const char *path, const struct options *o, struct fsl_error *err)
{
	struct fsl_state *state = NULL;
	FSL_TRY(fsl_state_find(&state, path, err));
	enum fsl_status status = o->repeat ? tell_repeat(state, o, err) : tell_list(state, o, err);
	fsl_state_close(state);
	return status;
}

enum fsl_status fsl_cmd_history(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct options options;
	struct fsl_results results;
	*exit_code = FSL_EXIT_DONE;
	FSL_TRY(parse(&options, argc, argv, err));
	if (options.wants_help) {
		return FSL_OK;
	}
	FSL_TRY(fsl_results_find(&results, options.config_path, options.output, err));
	enum fsl_status status = tell(results.state_path, &options, err);
	fsl_results_fini(&results);
	return status;
}
