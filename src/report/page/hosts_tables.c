/* The second look at hosts: tables, and the order of the page. */
#include "report/page/hosts_parts.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = 64, THREADS_MAX = 16 }; /* of a table; the document has all */

static void close_table(struct fsl_markup *markup)
{
	fsl_markup_raw(markup, "</tbody></table></div></section>");
}

static bool has_items(const cJSON *list)
{
	return cJSON_IsArray(list) && list->child != NULL;
}

static void put_ranks(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	static const int columns[] = {
		FSL_PAGE_RANK,          FSL_PAGE_PROCESS, FSL_PAGE_STEPS_LONG, FSL_PAGE_RIGHT,
		FSL_PAGE_WAIT_PER_STEP, FSL_PAGE_RIGHT,   FSL_PAGE_USUAL_WAIT, FSL_PAGE_RIGHT,
		FSL_PAGE_STEP_LENGTH,   FSL_PAGE_RIGHT,   FSL_PAGE_HELD_BY,    FSL_PAGE_WORDS_N};
	const cJSON *rank = NULL, *list = fsl_html_at(page->trace, "ranks");
	size_t n = 0;
	if (!has_items(list)) {
		return;
	}
	fsl_html_open_section(markup, "host-ranks", FSL_PAGE_HOST_RANKS);
	fsl_html_put_head(markup, columns);
	cJSON_ArrayForEach(rank, list)
	{
		const cJSON *holders = fsl_html_at(rank, "holders");
		const cJSON *most = cJSON_IsArray(holders) ? holders->child : NULL;
		if (n++ == ROWS_MAX) {
			break;
		}
		fsl_markup_put(markup, "<tr%h><td>%d<td>%s (%d)<td class=\"n\">%d / %d",
			       cJSON_IsTrue(fsl_html_at(rank, "isNamed")) ? " class=\"hit\"" : "",
			       fsl_html_index(rank, "rank"), fsl_html_text(rank, "name"),
			       fsl_html_index(rank, "pid"), fsl_html_index(rank, "highSteps"),
			       fsl_html_index(rank, "steps"));
		fsl_hosts_put_ms_cell(markup, fsl_html_number(rank, "waitMsPerStep"));
		fsl_hosts_put_ms_cell(markup, fsl_html_number(rank, "usualMsPerStep"));
		fsl_hosts_put_ms_cell(markup, fsl_html_number(rank, "stepMs"));
		fsl_markup_raw(markup, "<td>");
		if (most != NULL) {
			const struct fsl_html_holder holder = {
				.kind = fsl_html_text(most, "kind"),
				.name = fsl_html_text(most, "name"),
				.rank = fsl_html_index(most, "rank"),
				.pids = fsl_html_at(most, "pids"),
				.has_more_pids = cJSON_IsTrue(fsl_html_at(most, "hasMorePids"))};
			fsl_hosts_put_holder(markup, &holder, "span");
		}
	}
	close_table(markup);
}

static void put_advice(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	static const int columns[] = {FSL_PAGE_ADVICE, FSL_PAGE_EXCESS, FSL_PAGE_RIGHT,
				      FSL_PAGE_WORDS_N};
	const cJSON *item = NULL, *list = fsl_html_at(page->trace, "advice");
	size_t n = 0;
	if (!has_items(list)) {
		return;
	}
	fsl_html_open_section(markup, "advice", FSL_PAGE_HOST_ADVICE);
	fsl_html_put_head(markup, columns);
	cJSON_ArrayForEach(item, list)
	{
		if (n++ == ROWS_MAX) {
			break;
		}
		fsl_markup_raw(markup, "<tr><td>");
		fsl_html_say_sentence(markup, "span", fsl_html_text(item, "text"));
		fsl_hosts_put_ms_cell(markup, fsl_html_number(item, "msPerStep"));
	}
	close_table(markup);
}

static void put_thread(struct fsl_markup *markup, const cJSON *thread)
{
	static const char *const keys[] = {
		"runMs",   "queueAfterWakeupMs", "queuePreemptedMs", "diskMs",
		"sleepMs", "unknownMs"};
	double p99_ms = fsl_html_number(fsl_html_at(thread, "wakeupLatency"), "p99Ms");
	int64_t rank = fsl_html_index(thread, "rank");
	fsl_markup_put(markup, "<tr><td>%s<td class=\"n\">%d<td class=\"n\">",
		       fsl_html_text(thread, "name"), fsl_html_index(thread, "tid"));
	if (rank >= 0) {
		fsl_markup_put(markup, "%d", rank);
	} else {
		fsl_markup_raw(markup, "–");
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		double ms = fsl_html_number(thread, keys[i]);
		fsl_hosts_put_ms_cell(markup, ms > 0.0 ? ms : (double)NAN);
	}
	fsl_hosts_put_ms_cell(markup, p99_ms);
	fsl_markup_put(markup, "<td class=\"n\">%d", fsl_html_index(thread, "migrations"));
}

static void put_threads(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	static const int columns[] = {
		FSL_PAGE_THREAD, FSL_PAGE_TID,         FSL_PAGE_RIGHT, FSL_PAGE_RANK,
		FSL_PAGE_RIGHT,  FSL_PAGE_T_run,       FSL_PAGE_RIGHT, FSL_PAGE_T_wakeup,
		FSL_PAGE_RIGHT,  FSL_PAGE_T_preempted, FSL_PAGE_RIGHT, FSL_PAGE_T_disk,
		FSL_PAGE_RIGHT,  FSL_PAGE_T_sleep,     FSL_PAGE_RIGHT, FSL_PAGE_T_unknown,
		FSL_PAGE_RIGHT,  FSL_PAGE_WAKEUP_P99,  FSL_PAGE_RIGHT, FSL_PAGE_MIGRATIONS,
		FSL_PAGE_RIGHT,  FSL_PAGE_WORDS_N};
	const cJSON *thread = NULL, *list = fsl_html_at(page->trace, "threads");
	size_t n = 0;
	if (!has_items(list)) {
		return;
	}
	fsl_html_open_section(markup, "threads", FSL_PAGE_THREADS);
	fsl_html_put_head(markup, columns);
	cJSON_ArrayForEach(thread, list)
	{
		if (n++ < THREADS_MAX) {
			put_thread(markup, thread);
		}
	}
	fsl_markup_raw(markup, "</tbody></table></div>");
	if (n > THREADS_MAX) {
		fsl_markup_put(markup, "<p class=\"note\">%d ", (int64_t)(n - THREADS_MAX));
		fsl_html_say(markup, "span", FSL_PAGE_MORE_THREADS);
		fsl_markup_raw(markup, "</p>");
	}
	fsl_markup_raw(markup, "</section>");
}

static void put_interrupts(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	static const int columns[] = {FSL_PAGE_INTERRUPT, FSL_PAGE_COUNT,  FSL_PAGE_RIGHT,
				      FSL_PAGE_TIME,      FSL_PAGE_RIGHT,  FSL_PAGE_FROM_RANKS,
				      FSL_PAGE_RIGHT,     FSL_PAGE_WORDS_N};
	const cJSON *item = NULL, *list = fsl_html_at(page->trace, "interrupts");
	size_t n = 0;
	if (!has_items(list)) {
		return;
	}
	fsl_html_open_section(markup, "interrupts", FSL_PAGE_INTERRUPTS);
	fsl_html_put_head(markup, columns);
	cJSON_ArrayForEach(item, list)
	{
		if (n++ == ROWS_MAX) {
			break;
		}
		fsl_markup_put(markup, "<tr><td>%s %d %s<td class=\"n\">%d",
			       fsl_html_text(item, "kind"), fsl_html_index(item, "number"),
			       fsl_html_text(item, "name"), fsl_html_index(item, "count"));
		fsl_hosts_put_ms_cell(markup, fsl_html_number(item, "selfMs"));
		fsl_hosts_put_ms_cell(markup, fsl_html_number(item, "stolenFromRanksMs"));
	}
	close_table(markup);
}

/* Verdicts of all traces, if there are several. */
static void put_all_traces(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	static const int columns[] = {FSL_PAGE_TRACE, FSL_PAGE_VERDICT, FSL_PAGE_WORDS_N};
	const cJSON *item = NULL, *list = fsl_html_at(page->root, "traces");
	size_t n = 0;
	if (!has_items(list) || list->child->next == NULL) {
		return;
	}
	fsl_html_open_section(markup, "all-traces", FSL_PAGE_ALL_TRACES);
	fsl_html_put_head(markup, columns);
	cJSON_ArrayForEach(item, list)
	{
		const cJSON *files = fsl_html_at(item, "files");
		const cJSON *file = cJSON_IsArray(files) ? files->child : NULL;
		if (n++ == ROWS_MAX) {
			break;
		}
		fsl_markup_put(markup, "<tr%h><td><code>%s</code><td>",
			       item == page->trace ? " class=\"hit\"" : "",
			       cJSON_IsString(file) ? file->valuestring : "");
		fsl_html_say_sentence(markup, "span", fsl_html_text(item, "headline"));
	}
	close_table(markup);
}

static void put_count(struct fsl_markup *markup, enum fsl_html_word word, const cJSON *object,
		      const char *key)
{
	int64_t count = fsl_html_index(object, key);
	if (count >= 0) {
		fsl_markup_raw(markup, "<tr>");
		fsl_html_say(markup, "th", word);
		fsl_markup_put(markup, "<td>%d", count);
	}
}

static void put_technical(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	const cJSON *coverage = fsl_html_at(page->trace, "coverage");
	const cJSON *clock = fsl_html_at(page->trace, "clock");
	const cJSON *file = NULL;
	size_t n = 0;
	const char *name = fsl_html_text(clock, "name");
	double score = fsl_html_number(clock, "score");
	fsl_html_open_section(markup, "technical", FSL_PAGE_TECHNICAL);
	fsl_markup_raw(markup, "<div class=\"scroll\"><table class=\"pairs\"><tbody>");
	cJSON_ArrayForEach(file, fsl_html_at(page->trace, "files"))
	{
		if (cJSON_IsString(file) && n++ < ROWS_MAX) {
			fsl_markup_raw(markup, "<tr>");
			fsl_html_say(markup, "th", FSL_PAGE_FILE);
			fsl_markup_put(markup, "<td><code>%s</code>", file->valuestring);
		}
	}
	put_count(markup, FSL_PAGE_EVENTS, coverage, "events");
	put_count(markup, FSL_PAGE_SWITCHES, coverage, "switches");
	put_count(markup, FSL_PAGE_LOST_EVENTS, coverage, "lostEvents");
	if (*name != '\0') {
		fsl_markup_raw(markup, "<tr>");
		fsl_html_say(markup, "th", FSL_PAGE_CLOCK);
		fsl_markup_put(markup, "<td>%s", name);
		if (isfinite(score)) {
			fsl_markup_put(markup, " · %g % ", 100.0 * score);
			fsl_html_say(markup, "span", FSL_PAGE_CLOCK_SCORE);
		}
	}
	fsl_markup_raw(markup, "<tr>");
	fsl_html_say(markup, "th", FSL_PAGE_VERSION);
	fsl_markup_raw(markup, "<td><code>failslow " FSL_VERSION ", failslow.hostbound/1</code>");
	close_table(markup);
}

void fsl_hosts_put_tables(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	put_advice(markup, page);
	put_ranks(markup, page);
	put_threads(markup, page);
	put_interrupts(markup, page);
	put_all_traces(markup, page);
	put_technical(markup, page);
}

void fsl_hosts_put_in_case(struct fsl_markup *markup, const struct fsl_html *page)
{
	struct fsl_html_hosts hosts;
	const cJSON *trace = fsl_html_host_trace(page);
	if (trace == NULL) {
		return;
	}
	if (fsl_html_hosts_read_trace(&hosts, trace, NULL) != FSL_OK) {
		markup->pack.is_failed = true;
		return;
	}
	if (hosts.n_lanes > 0) {
		fsl_hosts_put_cpus(markup, &hosts);
	}
	if (hosts.n_holders > 0) {
		fsl_hosts_put_held(markup, &hosts);
	}
	if (hosts.n_steps > 0) {
		fsl_hosts_put_steps(markup, &hosts);
		fsl_hosts_put_states(markup, &hosts);
	}
	fsl_hosts_put_latency(markup, &hosts);
	fsl_html_hosts_fini(&hosts);
}

/* The script needs these numbers. */
static void put_data(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	fsl_markup_raw(markup, "<script type=\"application/json\" id=\"data\">{\"rank\":[");
	for (size_t i = 0; i < page->n_ranks; i++) {
		fsl_markup_put(markup, "%h%d", i > 0 ? "," : "", page->ranks[i].number);
	}
	fsl_markup_raw(markup, "],\"texts\":");
	fsl_html_put_tables(markup, FSL_HTML_WORDS_OF_HOSTS);
	fsl_markup_raw(markup, "}</script>");
}

void fsl_hosts_put_body(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	fsl_markup_raw(markup, "<main class=\"hosts\">");
	fsl_hosts_put_facts(markup, page);
	fsl_markup_raw(markup, "<div class=\"first\">");
	fsl_hosts_put_cpus(markup, page);
	fsl_hosts_put_held(markup, page);
	fsl_hosts_put_steps(markup, page);
	fsl_hosts_put_states(markup, page);
	fsl_markup_raw(markup, "</div><div class=\"second\">");
	fsl_hosts_put_latency(markup, page);
	fsl_hosts_put_tables(markup, page);
	fsl_markup_raw(markup, "</div></main>");
	put_data(markup, page);
}
