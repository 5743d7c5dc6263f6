/* The table of ranks, the raster, and the figures for the script. */
#include "report/page/parts.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "model/matrices.h"
#include "text/base64.h"

enum { TWIN_MAX = 32 };  /* rows of the twin of the raster */
enum { ROWS_MAX = 256 }; /* of the table: the script shows no more either */

struct row {
	double cost_ms;
	size_t rank_idx;
	bool is_named;
};

static int by_cost(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->is_named != y->is_named) {
		return x->is_named ? -1 : 1;
	}
	if (x->cost_ms > y->cost_ms || x->cost_ms < y->cost_ms) {
		return x->cost_ms > y->cost_ms ? -1 : 1;
	}
	return (x->rank_idx > y->rank_idx) - (x->rank_idx < y->rank_idx);
}

/* A figure in ms; a dash if it is unknown. The script sorts by @data-v. */
static void put_ms(struct fsl_markup *markup, double ms)
{
	fsl_markup_raw(markup, "<td class=\"n\">");
	if (isfinite(ms)) {
		fsl_markup_number(markup, ms, fabs(ms) >= 100.0 ? 0 : 1);
	} else {
		fsl_markup_raw(markup, "–");
	}
}

/* Columns of figures; those that no rank has are left out. */
static const struct {
	enum fsl_html_word word;
	size_t offset;
} figures[] = {
	{FSL_PAGE_COSTS, offsetof(struct fsl_html_rank, cost_ms)},
	{FSL_PAGE_OWN, offsetof(struct fsl_html_rank, own_ms)},
	{FSL_PAGE_OF_PEERS, offsetof(struct fsl_html_rank, peers_ms)},
	{FSL_PAGE_LATE, offsetof(struct fsl_html_rank, late_ms)},
	{FSL_PAGE_WAITS, offsetof(struct fsl_html_rank, wait_ms)},
};
enum { FIGURES_N = sizeof(figures) / sizeof(figures[0]) };

static double figure_of(const struct fsl_html_rank *rank, size_t figure)
{
	double ms = NAN;
	memcpy(&ms, (const char *)rank + figures[figure].offset, sizeof(ms));
	return ms;
}

/* False: no rank has a figure but 0, as of step times alone, or is named. */
static bool find_shown(bool is_shown[FIGURES_N], const struct fsl_html *page)
{
	bool is_telling = page->n_named > 0;
	for (size_t i = 0; i < FIGURES_N; i++) {
		is_shown[i] = false;
		for (size_t r = 0; r < page->n_ranks; r++) {
			double figure = figure_of(&page->ranks[r], i);
			is_shown[i] |= isfinite(figure);
			is_telling |= fabs(figure) > 0.0;
		}
	}
	return is_telling;
}

static void put_row(struct fsl_markup *markup, const struct fsl_html *page, size_t r,
		    const bool is_shown[FIGURES_N])
{
	const struct fsl_html_rank *rank = &page->ranks[r];
	fsl_markup_put(markup, "<tr%h><td class=\"n\">%d", rank->is_named ? " class=\"hit\"" : "",
		       rank->rank);
	if (page->n_hosts > 0) {
		fsl_markup_put(markup, "<td>%s", fsl_html_host(page, rank));
	}
	if (page->has_stages) {
		fsl_markup_raw(markup, "<td class=\"n\">");
		if (rank->stage >= 0) {
			fsl_markup_integer(markup, rank->stage);
		}
	}
	for (size_t i = 0; i < FIGURES_N; i++) {
		if (is_shown[i]) {
			put_ms(markup, figure_of(rank, i));
		}
	}
	fsl_markup_raw(markup, "<td>");
	if (rank->is_culprit) {
		fsl_html_say(markup, "b", FSL_PAGE_CULPRIT);
	} else if (rank->is_named) {
		fsl_html_say(markup, "b", FSL_PAGE_NAMED);
	} else if (rank->is_victim) {
		fsl_html_say(markup, "span", FSL_PAGE_VICTIM);
	}
}

static void put_head(struct fsl_markup *markup, const struct fsl_html *page,
		     const bool is_shown[FIGURES_N])
{
	int columns[2 * FIGURES_N + 8] = {FSL_PAGE_RANK, FSL_PAGE_RIGHT};
	size_t n = 2;
	if (page->n_hosts > 0) {
		columns[n++] = FSL_PAGE_HOST;
	}
	if (page->has_stages) {
		columns[n++] = FSL_PAGE_STAGE;
		columns[n++] = FSL_PAGE_RIGHT;
	}
	for (size_t i = 0; i < FIGURES_N; i++) {
		if (is_shown[i]) {
			columns[n++] = (int)figures[i].word;
			columns[n++] = FSL_PAGE_RIGHT;
		}
	}
	columns[n++] = FSL_PAGE_ROLE;
	columns[n] = FSL_PAGE_WORDS_N;
	fsl_html_put_head(markup, columns);
}

void fsl_html_put_ranks(struct fsl_markup *markup, const struct fsl_html *page)
{
	bool is_shown[FIGURES_N];
	struct row *rows = fsl_calloc(page->n_ranks + 1, sizeof(*rows));
	if (rows == NULL || !find_shown(is_shown, page)) {
		markup->pack.is_failed |= rows == NULL;
		fsl_free(rows);
		return;
	}
	for (size_t r = 0; r < page->n_ranks; r++) {
		double cost = page->ranks[r].cost_ms;
		rows[r] = (struct row){isfinite(cost) ? cost : -1.0, r, page->ranks[r].is_named};
	}
	qsort(rows, page->n_ranks, sizeof(*rows), by_cost);
	fsl_html_open_section(markup, "ranks", FSL_PAGE_TABLE);
	fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_EXCESS);
	put_head(markup, page, is_shown);
	for (size_t i = 0; i < page->n_ranks && i < ROWS_MAX; i++) {
		put_row(markup, page, rows[i].rank_idx, is_shown);
	}
	fsl_markup_raw(markup, "</tbody></table></div>");
	if (page->n_ranks > ROWS_MAX) {
		fsl_markup_put(markup, "<p class=\"note\">%d ",
			       (int64_t)(page->n_ranks - ROWS_MAX));
		fsl_html_say(markup, "span", FSL_PAGE_TABLE_REST);
		fsl_markup_raw(markup, "</p>");
	}
	fsl_markup_raw(markup, "</section>");
	fsl_free(rows);
}

static bool has_raster(const struct fsl_html *page)
{
	return page->loss.codes != NULL && page->n_columns > 1 && page->n_ranks > 1 &&
	       page->step_ms > 0.0;
}

/* The first code of an excess that counts: codes rise. */
static unsigned int least_code(const struct fsl_html *page)
{
	unsigned int code = 1;
	while (code < 256 && fsl_html_class(page, (double)fsl_matrix_ms((uint8_t)code)) == 0) {
		code++;
	}
	return code;
}

/* The longest excess of a rank: its column; SIZE_MAX if nothing was seen. @n_above: columns with
 * codes from @least on. */
static size_t longest_of(const struct fsl_html *page, size_t r, unsigned int least, size_t *n_above)
{
	const unsigned char *codes = page->loss.codes + r * page->n_columns;
	size_t longest = SIZE_MAX;
	*n_above = 0;
	for (size_t c = 0; c < page->n_columns; c++) {
		if (codes[c] > 0 && (longest == SIZE_MAX || codes[c] > codes[longest])) {
			longest = c;
		}
		*n_above += codes[c] >= least;
	}
	return longest;
}

/* The twin of the raster: when each rank took longest beyond its peers. */
static void put_twin(struct fsl_markup *markup, const struct fsl_html *page)
{
	static const int columns[] = {FSL_PAGE_RANK,  FSL_PAGE_RIGHT, FSL_PAGE_HOST,
				      FSL_PAGE_MOST,  FSL_PAGE_RIGHT, FSL_PAGE_MOST_AT,
				      FSL_PAGE_ABOVE, FSL_PAGE_RIGHT, FSL_PAGE_WORDS_N};
	char clock[16];
	struct row *rows = fsl_calloc(page->n_ranks + 1, sizeof(*rows));
	size_t n_above = 0;
	const unsigned int least = least_code(page);
	markup->pack.is_failed |= rows == NULL;
	for (size_t r = 0; rows != NULL && r < page->n_ranks; r++) {
		size_t longest = longest_of(page, r, least, &n_above);
		double ms = longest == SIZE_MAX
				    ? -1.0
				    : (double)fsl_matrix_ms(
					      page->loss.codes[r * page->n_columns + longest]);
		rows[r] = (struct row){ms, r, page->ranks[r].is_named};
	}
	if (rows != NULL) {
		qsort(rows, page->n_ranks, sizeof(*rows), by_cost);
	}
	fsl_markup_raw(markup, "<details>");
	fsl_html_say(markup, "summary", FSL_PAGE_FIGURES);
	fsl_html_put_head(markup, columns);
	for (size_t i = 0; rows != NULL && i < page->n_ranks && i < TWIN_MAX; i++) {
		const struct fsl_html_rank *rank = &page->ranks[rows[i].rank_idx];
		size_t longest = longest_of(page, rows[i].rank_idx, least, &n_above);
		fsl_markup_put(markup, "<tr%h><td class=\"n\">%d<td>%s",
			       rank->is_named ? " class=\"hit\"" : "", rank->rank,
			       fsl_html_host(page, rank));
		put_ms(markup, rows[i].cost_ms >= 0.0 ? rows[i].cost_ms : (double)NAN);
		fsl_markup_put(markup, "<td>%s<td class=\"n\">%d",
			       longest != SIZE_MAX ? fsl_chart_column_clock(page, longest, clock)
						   : "",
			       (int64_t)n_above);
	}
	fsl_markup_raw(markup, "</tbody></table></div></details>");
	fsl_free(rows);
}

/* Puts the first row of each host, a line each: "8 node2"; nothing if there are too many hosts to
 * be seen, or if hosts have no rows beside each other. */
static void put_bands(struct fsl_markup *markup, const struct fsl_html *page)
{
	enum { BANDS_MAX = 64 };
	size_t n = 0;
	for (size_t r = 0; r < page->n_ranks; r++) {
		n += r == 0 || page->ranks[r].host != page->ranks[r - 1].host;
	}
	if (n < 2 || n > BANDS_MAX || n != page->n_hosts) {
		return;
	}
	fsl_markup_raw(markup, " data-hosts=\"");
	for (size_t r = 0; r < page->n_ranks; r++) {
		if (r == 0 || page->ranks[r].host != page->ranks[r - 1].host) {
			fsl_markup_put(markup, "%h%d ", r > 0 ? "&#10;" : "", (int64_t)r);
			fsl_chart_put_end(markup, fsl_html_host(page, &page->ranks[r]), 14);
		}
	}
	fsl_markup_raw(markup, "\"");
}

void fsl_html_put_raster(struct fsl_markup *markup, const struct fsl_html *page)
{
	if (!has_raster(page)) {
		return;
	}
	fsl_html_open_section(markup, "raster", FSL_PAGE_RASTER);
	fsl_markup_raw(markup, "<p class=\"note\">");
	fsl_html_say(markup, "span", FSL_PAGE_RASTER_NOTE);
	fsl_markup_raw(markup, "; ");
	fsl_html_say(markup, "span", FSL_PAGE_PICK);
	fsl_markup_raw(markup, "</p><noscript>");
	fsl_html_say(markup, "p class=\"empty\"", FSL_PAGE_RASTER_SCRIPT);
	fsl_markup_raw(markup, "</noscript><canvas id=\"canvas\" tabindex=\"0\"");
	put_bands(markup, page);
	fsl_markup_raw(markup, "></canvas>");
	fsl_chart_put_scale(markup);
	fsl_markup_raw(markup, "</span><span id=\"hover\" role=\"status\"></span></p>");
	put_twin(markup, page);
	fsl_markup_raw(markup, "</section>");
}

/* @bytes, packed by zlib, as text; NULL: memory is short. */
static char *pack(const unsigned char *bytes, size_t n_bytes)
{
	uLongf n_packed = compressBound(n_bytes);
	unsigned char *packed = fsl_calloc(n_packed, 1);
	char *text = NULL;
	if (packed != NULL &&
	    compress2(packed, &n_packed, bytes, n_bytes, Z_DEFAULT_COMPRESSION) == Z_OK) {
		text = fsl_base64_encode(packed, n_packed);
	}
	fsl_free(packed);
	return text;
}

/* Classes of the scale, two cells in a byte, packed; class 15: nothing was seen. */
static char *pack_classes(const struct fsl_html *page)
{
	enum { UNSEEN = 15 };
	size_t n = page->n_ranks * page->n_columns, n_bytes = n / 2 + 1;
	unsigned char *cells = fsl_calloc(n_bytes, 1);
	unsigned char class_of[256];
	for (int code = 0; code < 256; code++) {
		double ms = (double)fsl_matrix_ms((uint8_t)code);
		class_of[code] = code == 0 ? UNSEEN : (unsigned char)fsl_html_class(page, ms);
	}
	for (size_t i = 0; cells != NULL && i < n; i++) {
		unsigned int class = class_of[page->loss.codes[i]];
		cells[i / 2] = (unsigned char)(cells[i / 2] | class << (i % 2 * 4));
	}
	char *text = cells != NULL ? pack(cells, n_bytes) : NULL;
	fsl_free(cells);
	return text;
}

/* Own time of all ranks, for the line of a rank that is chosen, if it does not take too much. */
static void put_own(struct fsl_markup *markup, const struct fsl_html *page)
{
	enum { OWN_BYTES_MAX = 400000 }; /* of 1.2 MB for 4,096 ranks */
	const double n_ratios = 253.0;   /* between the codes 2 and 255 */
	char *text = page->own.codes != NULL
			     ? pack(page->own.codes, page->n_ranks * page->n_columns)
			     : NULL;
	if (text != NULL && strlen(text) <= OWN_BYTES_MAX) {
		fsl_markup_raw(markup, ",\"least\":");
		fsl_markup_number(markup, FSL_MATRIX_LEAST_MS, 6);
		fsl_markup_raw(markup, ",\"ratio\":");
		fsl_markup_number(markup,
				  pow(FSL_MATRIX_MOST_MS / FSL_MATRIX_LEAST_MS, 1.0 / n_ratios), 6);
		fsl_markup_put(markup, ",\"own\":\"%h\"", text);
	}
	fsl_free(text);
}

/* Ranks by their place in the grid are listed there; the script needs their numbers and costs. */
static void put_costs(struct fsl_markup *markup, const struct fsl_html *page)
{
	fsl_markup_raw(markup, ",\"rank\":[");
	for (size_t r = 0; r < page->n_ranks; r++) {
		fsl_markup_put(markup, "%h%d", r > 0 ? "," : "", page->ranks[r].rank);
	}
	fsl_markup_raw(markup, "],\"cost\":[");
	for (size_t r = 0; r < page->n_ranks; r++) {
		double cost = page->ranks[r].cost_ms;
		fsl_markup_raw(markup, r > 0 ? "," : "");
		if (isfinite(cost) && cost < 1e12) {
			fsl_markup_number(markup, cost, 1);
		} else {
			fsl_markup_raw(markup, "null");
		}
	}
	fsl_markup_raw(markup, "],\"hit\":[");
	bool is_behind = false;
	for (size_t r = 0; r < page->n_ranks; r++) {
		if (page->ranks[r].is_named) {
			fsl_markup_put(markup, "%h%d", is_behind ? "," : "", (int64_t)r);
			is_behind = true;
		}
	}
	fsl_markup_raw(markup, "]");
}

void fsl_html_put_data(struct fsl_markup *markup, const struct fsl_html *page)
{
	fsl_markup_raw(markup, "<script type=\"application/json\" id=\"data\">{\"step\":");
	if (page->step_ms > 0.0 && page->step_ms < 1e12) {
		fsl_markup_number(markup, page->step_ms, 3);
	} else {
		fsl_markup_raw(markup, "null");
	}
	put_costs(markup, page);
	if (has_raster(page)) {
		char *text = pack_classes(page);
		markup->pack.is_failed |= text == NULL;
		fsl_markup_put(markup, ",\"columns\":%d,\"raster\":\"%h\"",
			       (int64_t)page->n_columns, text != NULL ? text : "");
		fsl_free(text);
		put_own(markup, page);
	}
	fsl_markup_put(markup,
		       ",\"per\":%d,\"perStep\":\"%h\",\"texts\":", (int64_t)FSL_PAGE_PER_STEP,
		       fsl_html_word(FSL_PAGE_PER_STEP));
	fsl_html_put_tables(markup, fsl_html_host_trace(page) != NULL ? FSL_HTML_WORDS_OF_HOSTS
								      : FSL_HTML_WORDS_OF_CASE);
	fsl_markup_raw(markup, "}</script>");
}
