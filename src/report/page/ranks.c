/* The table of ranks, the raster, and the figures for the script. */
#include "report/page/parts.h"

#include <math.h>
#include <stdlib.h>
#include <zlib.h>

#include "model/matrices.h"
#include "text/base64.h"

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

static void put_row(struct fsl_markup *markup, const struct fsl_html *page, size_t r)
{
	const struct fsl_html_rank *rank = &page->ranks[r];
	fsl_markup_put(markup, "<tr%h><td class=\"n\">%d<td>%s",
		       rank->is_named ? " class=\"hit\"" : "", rank->rank,
		       fsl_html_host(page, rank));
	if (page->has_stages) {
		fsl_markup_raw(markup, "<td class=\"n\">");
		if (rank->stage >= 0) {
			fsl_markup_integer(markup, rank->stage);
		}
	}
	put_ms(markup, rank->cost_ms);
	put_ms(markup, rank->own_ms);
	put_ms(markup, rank->peers_ms);
	put_ms(markup, rank->late_ms);
	put_ms(markup, rank->wait_ms);
	fsl_markup_raw(markup, "<td>");
	if (rank->is_culprit) {
		fsl_html_say(markup, "b", FSL_PAGE_CULPRIT);
	} else if (rank->is_named) {
		fsl_html_say(markup, "b", FSL_PAGE_NAMED);
	} else if (rank->is_victim) {
		fsl_html_say(markup, "span", FSL_PAGE_VICTIM);
	}
}

void fsl_html_put_ranks(struct fsl_markup *markup, const struct fsl_html *page)
{
	static const int with_stages[] = {
		FSL_PAGE_RANK,  FSL_PAGE_RIGHT,  FSL_PAGE_HOST,  FSL_PAGE_STAGE, FSL_PAGE_RIGHT,
		FSL_PAGE_COSTS, FSL_PAGE_RIGHT,  FSL_PAGE_OWN,   FSL_PAGE_RIGHT, FSL_PAGE_OF_PEERS,
		FSL_PAGE_RIGHT, FSL_PAGE_LATE,   FSL_PAGE_RIGHT, FSL_PAGE_WAITS, FSL_PAGE_RIGHT,
		FSL_PAGE_ROLE,  FSL_PAGE_WORDS_N};
	static const int without[] = {FSL_PAGE_RANK,  FSL_PAGE_RIGHT,    FSL_PAGE_HOST,
				      FSL_PAGE_COSTS, FSL_PAGE_RIGHT,    FSL_PAGE_OWN,
				      FSL_PAGE_RIGHT, FSL_PAGE_OF_PEERS, FSL_PAGE_RIGHT,
				      FSL_PAGE_LATE,  FSL_PAGE_RIGHT,    FSL_PAGE_WAITS,
				      FSL_PAGE_RIGHT, FSL_PAGE_ROLE,     FSL_PAGE_WORDS_N};
	struct row *rows = fsl_calloc(page->n_ranks + 1, sizeof(*rows));
	if (rows == NULL || page->n_ranks == 0) {
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
	fsl_html_put_head(markup, page->has_stages ? with_stages : without);
	for (size_t i = 0; i < page->n_ranks && i < ROWS_MAX; i++) {
		put_row(markup, page, rows[i].rank_idx);
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

void fsl_html_put_raster(struct fsl_markup *markup, const struct fsl_html *page)
{
	if (!has_raster(page)) {
		return;
	}
	fsl_html_open_section(markup, "raster", FSL_PAGE_RASTER);
	fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_RASTER_NOTE);
	fsl_markup_raw(markup, "<noscript>");
	fsl_html_say(markup, "p class=\"empty\"", FSL_PAGE_RASTER_SCRIPT);
	fsl_markup_raw(markup,
		       "</noscript><canvas id=\"canvas\" tabindex=\"0\"></canvas>"
		       "<p class=\"key\"><span class=\"scale\"><i class=\"k0\"></i>0 <i "
		       "class=\"k1\"></i>3 % <i class=\"k2\"></i>10 % <i class=\"k3\"></i>20 "
		       "% <i class=\"k4\"></i>≥ 50 % ");
	fsl_html_say(markup, "span", FSL_PAGE_OF_STEP);
	fsl_markup_raw(markup, "</span><span id=\"hover\"></span></p></section>");
}

/* Classes of the scale, two cells in a byte, packed; class 15: nothing was seen. */
static char *pack_classes(const struct fsl_html *page)
{
	enum { UNSEEN = 15 };
	size_t n = page->n_ranks * page->n_columns, n_bytes = n / 2 + 1;
	uLongf n_packed = compressBound(n_bytes);
	unsigned char *cells = fsl_calloc(n_bytes, 1), *packed = fsl_calloc(n_packed, 1);
	char *text = NULL;
	unsigned char class_of[256];
	for (int code = 0; code < 256; code++) {
		double ms = (double)fsl_matrix_ms((uint8_t)code);
		class_of[code] = code == 0 ? UNSEEN : (unsigned char)fsl_html_class(page, ms);
	}
	for (size_t i = 0; cells != NULL && i < n; i++) {
		unsigned int class = class_of[page->loss.codes[i]];
		cells[i / 2] = (unsigned char)(cells[i / 2] | class << (i % 2 * 4));
	}
	if (cells != NULL && packed != NULL &&
	    compress2(packed, &n_packed, cells, n_bytes, Z_DEFAULT_COMPRESSION) == Z_OK) {
		text = fsl_base64_encode(packed, n_packed);
	}
	fsl_free(cells);
	fsl_free(packed);
	return text;
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
	}
	fsl_markup_raw(markup, ",\"texts\":");
	fsl_html_put_tables(markup);
	fsl_markup_raw(markup, "}</script>");
}
