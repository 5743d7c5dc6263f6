/* The five sections as tables, the workers, and how the page was made. */
#include "report/page/functions_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	NAME_MAX_SHOWN = 72,
	OUTLIERS_MAX = 3, /* workers that are named in a row */
	DETAILS_MAX = 64,
	WORKERS_MAX = 256,
};

/* Title and tab of each section, and its key in the document. */
static const struct {
	enum fsl_html_word title, tab;
	const char *key;
} sections[FSL_HTML_SECTIONS_N] = {
	[FSL_HTML_COMPUTE] = {FSL_PAGE_SECTION_COMPUTE, FSL_PAGE_TAB_COMPUTE, "gpuCompute"},
	[FSL_HTML_MEMORY] = {FSL_PAGE_SECTION_MEMORY, FSL_PAGE_TAB_MEMORY, "gpuMemory"},
	[FSL_HTML_COMMUNICATION] = {FSL_PAGE_SECTION_COMMUNICATION, FSL_PAGE_TAB_COMMUNICATION,
				    "communication"},
	[FSL_HTML_RUNTIME] = {FSL_PAGE_SECTION_RUNTIME, FSL_PAGE_TAB_RUNTIME, "cudaRuntime"},
	[FSL_HTML_PYTHON] = {FSL_PAGE_SECTION_PYTHON, FSL_PAGE_TAB_PYTHON, "python"},
};

static size_t first_section(const struct fsl_html_functions *page)
{
	return page->told != SIZE_MAX ? (size_t)page->items[page->told].section : 0;
}

static bool has_outliers(const struct fsl_html_functions *page, size_t section)
{
	for (size_t i = 0; i < page->n_items; i++) {
		if (page->items[i].section == section && page->items[i].n_abnormal > 0) {
			return true;
		}
	}
	return false;
}

/* Hidden until a script runs: without one all sections stand below each other. */
static void put_tabs(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	fsl_markup_raw(markup, "<div class=\"tabs\" role=\"tablist\" hidden>");
	for (size_t s = 0; s < FSL_HTML_SECTIONS_N; s++) {
		bool is_first = s == first_section(page);
		fsl_markup_put(markup,
			       "<button type=\"button\" role=\"tab\" id=\"tab-%h\" "
			       "aria-controls=\"%h\" aria-selected=\"%h\"%h>",
			       fsl_html_section_ids[s], fsl_html_section_ids[s],
			       is_first ? "true" : "false",
			       has_outliers(page, s) ? " class=\"out\"" : "");
		fsl_html_say(markup, "span", sections[s].tab);
		fsl_markup_raw(markup, "</button>");
	}
	fsl_markup_raw(markup, "</div>");
}

/* "rank 2 (42 %), rank 5 (28 %) +3": those that are farthest from the usual first. */
static void put_outliers(struct fsl_markup *markup, const struct fsl_html_functions *page,
			 const struct fsl_html_function *function)
{
	size_t told[OUTLIERS_MAX], n = 0;
	for (size_t k = 0; k < OUTLIERS_MAX; k++) {
		double most = -1.0;
		for (size_t w = 0; w < page->n_workers; w++) {
			const struct fsl_html_cell *cell = &function->cells[w];
			double apart = fabs(cell->ratio - function->usual_ratio);
			bool is_new = cell->is_abnormal;
			for (size_t i = 0; i < n; i++) {
				is_new = is_new && told[i] != w;
			}
			if (is_new && !(apart <= most)) {
				most = isfinite(apart) ? apart : 0.0;
				told[k] = w;
			}
		}
		n += most >= 0.0;
	}
	for (size_t i = 0; i < n; i++) {
		fsl_markup_put(markup, "%h<span class=\"w\">rank %d (", i > 0 ? ", " : "",
			       page->workers[told[i]].rank);
		fsl_functions_put_share(markup, function->cells[told[i]].ratio);
		fsl_markup_raw(markup, ")</span>");
	}
	if (function->n_abnormal > n) {
		fsl_markup_put(markup, " +%d", (int64_t)(function->n_abnormal - n));
	}
}

static void put_row(struct fsl_markup *markup, const struct fsl_html_functions *page, size_t i)
{
	const struct fsl_html_function *function = &page->items[i];
	fsl_markup_put(markup, "<tr data-f=\"%d\"%h><td title=\"", (int64_t)i,
		       function->n_abnormal > 0 ? " class=\"out\"" : "");
	fsl_functions_put_whole_name(markup, function);
	fsl_markup_raw(markup, "\">");
	fsl_functions_put_name(markup, function, NAME_MAX_SHOWN);
	if (*function->shape != '\0' || *function->group != '\0') {
		fsl_markup_put(markup, " <small>%s</small>",
			       *function->shape != '\0' ? function->shape : function->group);
	}
	fsl_markup_raw(markup, "<td class=\"n\">");
	fsl_functions_put_share(markup, function->ratio);
	fsl_functions_put_us_cell(markup, function->call_us);
	fsl_markup_raw(markup, "<td>");
	put_outliers(markup, page, function);
}

static void put_table(struct fsl_markup *markup, const struct fsl_html_functions *page,
		      size_t section)
{
	static const int columns[] = {FSL_PAGE_FUNCTION, FSL_PAGE_OF_TRACE, FSL_PAGE_RIGHT,
				      FSL_PAGE_ONE_CALL, FSL_PAGE_RIGHT,    FSL_PAGE_STANDS_OUT,
				      FSL_PAGE_WORDS_N};
	bool has_rows = false;
	for (size_t i = 0; i < page->n_items; i++) {
		if (page->items[i].section != section) {
			continue;
		}
		if (!has_rows) {
			fsl_html_put_head(markup, columns);
		}
		has_rows = true;
		put_row(markup, page, i);
	}
	if (has_rows) {
		fsl_markup_raw(markup, "</tbody></table></div>");
		return;
	}
	bool is_asked = cJSON_IsObject(fsl_html_at(page->root, sections[section].key));
	fsl_html_say(markup, "p class=\"empty\"",
		     is_asked ? FSL_PAGE_SECTION_EMPTY : FSL_PAGE_SECTION_NOT_ASKED);
}

static void put_further(struct fsl_markup *markup, const struct fsl_html_functions *page,
			size_t section)
{
	const cJSON *others =
		fsl_html_at(fsl_html_at(page->root, "others"), fsl_html_section_ids[section]);
	if (fsl_html_index(others, "functions") > 0) {
		fsl_markup_put(markup, "<p class=\"note\">%d ",
			       fsl_html_index(others, "functions"));
		fsl_html_say(markup, "span", FSL_PAGE_FURTHER);
		fsl_markup_raw(markup, " ");
		fsl_functions_put_share(markup, fsl_html_number(others, "averageRatio"));
		fsl_markup_raw(markup, "</p>");
	}
}

static void put_cut(struct fsl_markup *markup, const struct fsl_html_functions *page,
		    size_t section)
{
	if (page->n_cut[section] > 0) {
		fsl_markup_put(markup, "<p class=\"note\">%d ", (int64_t)page->n_cut[section]);
		fsl_html_say(markup, "span", FSL_PAGE_MORE_FUNCTIONS);
		fsl_markup_raw(markup, "</p>");
	}
}

static void put_utilisation(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	static const char *const keys[] = {"min", "median", "max"};
	const cJSON *use = fsl_html_at(fsl_html_at(page->root, "gpuCompute"), "utilization");
	if (!cJSON_IsObject(use)) {
		return;
	}
	fsl_markup_raw(markup, "<p class=\"note\">");
	fsl_html_say(markup, "span", FSL_PAGE_UTILISATION);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		fsl_markup_raw(markup, k > 0 ? ", " : ": ");
		fsl_functions_put_share(markup, fsl_html_number(use, keys[k]));
	}
	fsl_markup_raw(markup, "</p>");
}

/* Kernels that take longer on a worker than on its peers, by worker. */
static void put_details(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	static const int columns[] = {FSL_PAGE_RANK,  FSL_PAGE_KERNEL,     FSL_PAGE_ONE_CALL,
				      FSL_PAGE_RIGHT, FSL_PAGE_PEERS_TAKE, FSL_PAGE_RIGHT,
				      FSL_PAGE_TIMES, FSL_PAGE_RIGHT,      FSL_PAGE_WORDS_N};
	const cJSON *list = NULL, *item = NULL;
	const cJSON *report = fsl_html_at(fsl_html_at(page->root, "gpuCompute"), "detailedReport");
	size_t n = 0;
	cJSON_ArrayForEach(list, report)
	{
		cJSON_ArrayForEach(item, list)
		{
			if (n == DETAILS_MAX || !cJSON_IsObject(item)) {
				continue;
			}
			if (n++ == 0) {
				fsl_html_say(markup, "h3", FSL_PAGE_DETAIL);
				fsl_html_put_head(markup, columns);
			}
			fsl_markup_put(markup, "<tr><td>%s<td>",
				       list->string != NULL ? list->string : "");
			fsl_functions_put_begin(markup, fsl_html_text(item, "kernel"),
						NAME_MAX_SHOWN);
			fsl_functions_put_us_cell(markup, fsl_html_number(item, "meanUs"));
			fsl_functions_put_us_cell(markup, fsl_html_number(item, "peersMeanUs"));
			fsl_markup_put(markup, "<td class=\"n\">%g",
				       fsl_html_number(item, "slowRatio"));
		}
	}
	fsl_markup_raw(markup, n > 0 ? "</tbody></table></div>" : "");
}

void fsl_functions_put_sections(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	put_tabs(markup, page);
	for (size_t s = 0; s < FSL_HTML_SECTIONS_N; s++) {
		fsl_markup_put(markup, "<section id=\"%h\" class=\"card panel\">",
			       fsl_html_section_ids[s]);
		fsl_html_say(markup, "h2", sections[s].title);
		if (s == FSL_HTML_COMPUTE) {
			put_utilisation(markup, page);
		}
		if (s == FSL_HTML_PYTHON) {
			fsl_functions_put_flame(markup, page);
		}
		put_table(markup, page, s);
		put_cut(markup, page, s);
		put_further(markup, page, s);
		if (s == FSL_HTML_COMPUTE) {
			put_details(markup, page);
			fsl_functions_put_roofline(markup, page);
		}
		fsl_markup_raw(markup, "</section>");
	}
}

/* A worker in the order of its table. */
struct place {
	const struct fsl_html_worker *worker;
	int role; /* 2 culprit, 1 straggler, 0 neither */
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	if (a->role != b->role) {
		return a->role > b->role ? -1 : 1;
	}
	if (a->worker->excess > b->worker->excess || a->worker->excess < b->worker->excess) {
		return a->worker->excess > b->worker->excess ? -1 : 1;
	}
	return (a->worker->rank > b->worker->rank) - (a->worker->rank < b->worker->rank);
}

static void put_score(struct fsl_markup *markup, double score)
{
	fsl_markup_raw(markup, "<td class=\"n\">");
	if (isfinite(score)) {
		fsl_markup_number(markup, score, 3);
	} else {
		fsl_markup_raw(markup, "–");
	}
}

static void put_worker(struct fsl_markup *markup, const struct fsl_html_worker *worker,
		       bool has_hosts)
{
	const char *state = worker->is_culprit     ? "culprit"
			    : worker->is_victim    ? "victim"
			    : worker->is_straggler ? "straggler"
						   : "normal";
	fsl_markup_put(markup, "<tr%h><td>%d", worker->is_culprit ? " class=\"hit\"" : "",
		       worker->rank);
	if (has_hosts) {
		fsl_markup_put(markup, "<td>%s", worker->host);
	}
	fsl_markup_raw(markup, "<td>");
	fsl_html_say_of(markup, 'R', state);
	fsl_markup_raw(markup, "<td class=\"n\">");
	fsl_functions_put_share(markup, worker->excess);
	fsl_markup_raw(markup, "<td>");
	fsl_functions_say_section(markup, worker->section);
	for (size_t s = 0; s < FSL_HTML_SHARES_N; s++) {
		fsl_markup_raw(markup, "<td class=\"n\">");
		fsl_functions_put_share(markup, worker->shares[s]);
	}
	put_score(markup, worker->relative_score);
	put_score(markup, worker->individual_score);
	fsl_markup_raw(markup, "<td class=\"n\">");
	fsl_functions_put_share(markup, worker->same_work);
}

static void put_workers_head(struct fsl_markup *markup, bool has_hosts)
{
	static const int columns[] = {FSL_PAGE_RANK,
				      FSL_PAGE_HOST,
				      FSL_PAGE_ROLE,
				      FSL_PAGE_BEYOND_SHARE,
				      FSL_PAGE_RIGHT,
				      FSL_PAGE_IN_SECTION,
				      FSL_PAGE_P_compute,
				      FSL_PAGE_RIGHT,
				      FSL_PAGE_COPIES_ALONE,
				      FSL_PAGE_RIGHT,
				      FSL_PAGE_COMMUNICATION_ALONE,
				      FSL_PAGE_RIGHT,
				      FSL_PAGE_DEVICE_IDLE,
				      FSL_PAGE_RIGHT,
				      FSL_PAGE_SCORE_RELATIVE,
				      FSL_PAGE_RIGHT,
				      FSL_PAGE_SCORE_INDIVIDUAL,
				      FSL_PAGE_RIGHT,
				      FSL_PAGE_SAME_WORK,
				      FSL_PAGE_RIGHT,
				      FSL_PAGE_WORDS_N};
	int shown[sizeof(columns) / sizeof(columns[0])];
	size_t n = 0;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (has_hosts || columns[i] != FSL_PAGE_HOST) {
			shown[n++] = columns[i];
		}
	}
	fsl_html_put_head(markup, shown);
}

void fsl_functions_put_workers(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	struct place *places = fsl_calloc(page->n_workers + 1, sizeof(*places));
	markup->pack.is_failed |= places == NULL;
	if (places == NULL || page->n_workers == 0) {
		fsl_free(places);
		return;
	}
	for (size_t w = 0; w < page->n_workers; w++) {
		const struct fsl_html_worker *worker = &page->workers[w];
		places[w] = (struct place){worker, worker->is_culprit     ? 2
						   : worker->is_straggler ? 1
									  : 0};
	}
	qsort(places, page->n_workers, sizeof(*places), compare_places);
	bool has_hosts = false;
	for (size_t w = 0; w < page->n_workers; w++) {
		has_hosts |= *page->workers[w].host != '\0';
	}
	fsl_html_open_section(markup, "workers", FSL_PAGE_WORKERS_TABLE);
	put_workers_head(markup, has_hosts);
	for (size_t i = 0; i < page->n_workers && i < WORKERS_MAX; i++) {
		put_worker(markup, places[i].worker, has_hosts);
	}
	fsl_markup_raw(markup, "</tbody></table></div>");
	if (page->n_workers > WORKERS_MAX) {
		fsl_markup_put(markup, "<p class=\"note\">%d ",
			       (int64_t)(page->n_workers - WORKERS_MAX));
		fsl_html_say(markup, "span", FSL_PAGE_MORE_WORKERS);
		fsl_markup_raw(markup, "</p>");
	}
	fsl_markup_raw(markup, "</section>");
	fsl_free(places);
}

/* The path of the traces as a word of a shell; NULL: none, or it cannot be quoted. */
static const char *path_of(const struct fsl_html_functions *page, const char **quote)
{
	const char *path = fsl_html_text(page->root, "path");
	*quote = strpbrk(path, " \t\n$&;|<>()*?[]#~=%{}!\"\\`") != NULL ? "'" : "";
	return *path == '\0' || strchr(path, '\'') != NULL ? NULL : path;
}

void fsl_functions_put_slice(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	const cJSON *slice = fsl_html_at(page->root, "slice");
	const char *quote = "", *path = path_of(page, &quote);
	const char *from = fsl_html_text(slice, "from"), *to = fsl_html_text(slice, "to");
	int64_t rank = fsl_html_index(slice, "rank"), peer = fsl_html_index(slice, "peer");
	bool has_slice = rank >= 0 && *from != '\0' && *to != '\0';
	if (path == NULL || page->n_workers == 0) {
		return;
	}
	if (!has_slice) {
		rank = page->workers[0].rank;
		peer = page->n_workers > 1 ? page->workers[1].rank : -1;
	}
	fsl_html_open_section(markup, "slice", FSL_PAGE_SLICE);
	fsl_markup_raw(markup, "<p class=\"note\">");
	fsl_html_say(markup, "span", has_slice ? FSL_PAGE_SLICE_NOTE : FSL_PAGE_SLICE_ALL);
	fsl_markup_put(markup,
		       " <a href=\"https://ui.perfetto.dev\" rel=\"noreferrer\">ui.perfetto.dev</a>"
		       "</p><p><code>failslow convert %h%s%h -o slice.pftrace --ranks %d",
		       quote, path, quote, rank);
	if (peer >= 0) {
		fsl_markup_put(markup, ",%d", peer);
	}
	if (has_slice) {
		fsl_markup_put(markup, " --from %s --to %s", from, to);
	}
	fsl_markup_raw(markup, "</code></p></section>");
}

void fsl_functions_put_technical(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	const cJSON *options = fsl_html_at(page->root, "options");
	const char *quote = "", *path = path_of(page, &quote);
	fsl_html_open_section(markup, "technical", FSL_PAGE_TECHNICAL);
	fsl_markup_raw(markup, "<div class=\"scroll\"><table class=\"pairs\"><tbody><tr>");
	fsl_html_say(markup, "th", FSL_PAGE_FOLDER);
	fsl_markup_put(markup, "<td><code>%s</code>", fsl_html_text(page->root, "path"));
	if (path != NULL) {
		fsl_markup_raw(markup, "<tr>");
		fsl_html_say(markup, "th", FSL_PAGE_COMMAND);
		fsl_markup_put(markup,
			       "<td><code>failslow functions %h%s%h --report FILE.html</code>",
			       quote, path, quote);
	}
	fsl_markup_raw(markup, "<tr>");
	fsl_html_say(markup, "th", FSL_PAGE_OPTIONS);
	fsl_markup_put(markup, "<td><code>--delta %g --k %g --sample %g</code><tr>",
		       fsl_html_number(options, "delta"), fsl_html_number(options, "k"),
		       fsl_html_number(options, "sample"));
	fsl_html_say(markup, "th", FSL_PAGE_VERSION);
	fsl_markup_raw(markup, "<td><code>failslow " FSL_VERSION
			       ", failslow.functions/1</code></tbody></table></div></section>");
}
