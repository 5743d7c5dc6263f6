/* Two pictures with a bar for each worker: where its time goes, and one function. */
#include "report/page/functions_parts.h"

#include <math.h>
#include <string.h>

enum {
	LEFT = 54,
	RIGHT = 556,
	SHARES_TOP = 22,
	SHARES_HIGH = 150,
	RATIO_TOP = 24,
	CALL_TOP = 142,
	PANEL_HIGH = 84,
	TWIN_MAX = 64, /* rows of a table beside a picture */
};

/* Classes of colours of the parts, and their words. */
static const struct {
	const char *class;
	enum fsl_html_word word;
} parts[FSL_HTML_SHARES_N] = {
	[FSL_HTML_SHARE_COMPUTE] = {"a good", FSL_PAGE_P_compute},
	[FSL_HTML_SHARE_MEMORY] = {"s2", FSL_PAGE_A_exposedMemory},
	[FSL_HTML_SHARE_COMMUNICATION] = {"a usual", FSL_PAGE_P_exposed},
	[FSL_HTML_SHARE_IDLE] = {"a idle", FSL_PAGE_DEVICE_IDLE},
};

/* The part in which the excess of a section lies. */
static enum fsl_html_share share_of(const char *section)
{
	static const struct {
		const char *section;
		enum fsl_html_share share;
	} known[] = {{"compute", FSL_HTML_SHARE_COMPUTE}, {"memory", FSL_HTML_SHARE_MEMORY}};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].section, section) == 0) {
			return known[i].share;
		}
	}
	return FSL_HTML_SHARE_IDLE;
}

/* The worker of a bin that is shown: the culprit, else the one with the greatest excess. */
static const struct fsl_html_worker *shown_of(const struct fsl_html_functions *page,
					      const struct fsl_functions_bins *bins, size_t bin)
{
	const struct fsl_html_worker *shown = &page->workers[bin * bins->per];
	for (size_t w = bin * bins->per; w < (bin + 1) * bins->per && w < page->n_workers; w++) {
		const struct fsl_html_worker *worker = &page->workers[w];
		bool is_first = worker->is_culprit && !shown->is_culprit;
		bool is_more =
			worker->is_culprit == shown->is_culprit && worker->excess > shown->excess;
		shown = is_first || is_more ? worker : shown;
	}
	return shown;
}

static void put_excess(struct fsl_markup *markup, double x, double y, double width, double high,
		       const struct fsl_html_worker *worker)
{
	fsl_markup_put(markup,
		       "<rect class=\"excess\" x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\">"
		       "<title>rank %d: ",
		       x, y, width, high, worker->rank);
	fsl_functions_put_share(markup, worker->excess);
	fsl_markup_raw(markup, " ");
	fsl_html_say(markup, "span", FSL_PAGE_BEYOND_PEERS);
	fsl_markup_put(markup,
		       "</title></rect><rect class=\"hatch w\" x=\"%f\" y=\"%f\" width=\"%f\" "
		       "height=\"%f\"/>",
		       x, y, width, high);
}

/* One worker as a column of 100 %, computing at its foot. */
static void put_column(struct fsl_markup *markup, const struct fsl_html_worker *worker, double x,
		       double width)
{
	double y = SHARES_TOP + SHARES_HIGH;
	for (size_t s = 0; s < FSL_HTML_SHARES_N; s++) {
		double high = worker->shares[s] * SHARES_HIGH;
		if (!(high >= 0.05)) {
			continue;
		}
		y -= high;
		fsl_markup_put(markup,
			       "<rect class=\"%h\" x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\">"
			       "<title>rank %d: ",
			       parts[s].class, x, y, width, high, worker->rank);
		fsl_html_say(markup, "span", parts[s].word);
		fsl_markup_raw(markup, " ");
		fsl_functions_put_share(markup, worker->shares[s]);
		fsl_markup_raw(markup, "</title></rect>");
		double excess = fmin(worker->excess, worker->shares[s]) * SHARES_HIGH;
		if (worker->is_culprit && excess > 0.0 && share_of(worker->section) == s) {
			put_excess(markup, x, y, width, excess, worker);
		}
	}
}

static bool has_shares(const struct fsl_html_functions *page)
{
	for (size_t w = 0; w < page->n_workers; w++) {
		if (isfinite(page->workers[w].shares[FSL_HTML_SHARE_COMPUTE])) {
			return true;
		}
	}
	return false;
}

static void put_percent_rules(struct fsl_markup *markup)
{
	for (int percent = 0; percent <= 100; percent += 50) {
		double y = SHARES_TOP + SHARES_HIGH * (1.0 - percent / 100.0);
		fsl_markup_put(markup,
			       "<path class=\"rule\" d=\"M%d %fH%d\"/><text class=\"e m\" x=\"%d\" "
			       "y=\"%f\">%d %</text>",
			       (int64_t)LEFT, y, (int64_t)RIGHT, (int64_t)(LEFT - 6), y + 4.0,
			       (int64_t)percent);
	}
}

static void put_shares_picture(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	struct fsl_functions_bins bins = fsl_functions_bins_of(page, LEFT, RIGHT);
	double gap = fmin(bins.width * 0.2, 8.0);
	fsl_chart_open(markup, "shares", SHARES_TOP + SHARES_HIGH + 20.0,
		       "where the time of each worker goes");
	put_percent_rules(markup);
	for (size_t b = 0; b < bins.n; b++) {
		const struct fsl_html_worker *worker = shown_of(page, &bins, b);
		double x = bins.left + (double)b * bins.width + gap / 2.0;
		put_column(markup, worker, x, bins.width - gap);
		if (worker->is_culprit) {
			fsl_markup_put(markup,
				       "<rect class=\"ring\" x=\"%f\" y=\"%f\" width=\"%f\" "
				       "height=\"%f\" rx=\"2\"/>",
				       x - 2.0, SHARES_TOP - 2.0, bins.width - gap + 4.0,
				       SHARES_HIGH + 4.0);
		}
	}
	fsl_functions_put_bin_labels(markup, page, &bins, SHARES_TOP + SHARES_HIGH + 16.0);
	fsl_chart_close(markup);
}

void fsl_functions_put_shares(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	fsl_html_open_section(markup, "shares", FSL_PAGE_SHARES);
	if (!has_shares(page)) {
		fsl_html_say(markup, "p class=\"empty\"", FSL_PAGE_SHARES_EMPTY);
		fsl_markup_raw(markup, "</section>");
		return;
	}
	fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_SHARES_NOTE);
	put_shares_picture(markup, page);
	fsl_markup_raw(markup, "<p class=\"key\">");
	for (size_t s = 0; s < FSL_HTML_SHARES_N; s++) {
		fsl_markup_put(markup, "<span><i class=\"%h\"></i>", parts[s].class);
		fsl_html_say(markup, "span", parts[s].word);
		fsl_markup_raw(markup, "</span>");
	}
	if (page->n_culprits > 0) {
		fsl_markup_raw(markup, "<span><i class=\"excess\"></i>");
		fsl_html_say(markup, "span", FSL_PAGE_BEYOND_CULPRIT);
		fsl_markup_raw(markup, "</span>");
	}
	fsl_markup_raw(markup, "<a href=\"#workers\">");
	fsl_html_say(markup, "span", FSL_PAGE_FIGURES);
	fsl_markup_raw(markup, "</a></p></section>");
}

/* The value of a bin: the greatest of its workers; NaN: none has one. */
static double value_of(const struct fsl_html_functions *page, const struct fsl_functions_bins *bins,
		       size_t bin, bool is_ratio, bool *is_abnormal)
{
	const struct fsl_html_function *function = &page->items[page->told];
	double most = NAN;
	*is_abnormal = false;
	for (size_t w = bin * bins->per; w < (bin + 1) * bins->per && w < page->n_workers; w++) {
		const struct fsl_html_cell *cell = &function->cells[w];
		most = fmax(most, is_ratio ? cell->ratio : cell->mean_us); /* not NaN, if one is */
		*is_abnormal |= cell->is_abnormal;
	}
	return most;
}

static void put_bar_title(struct fsl_markup *markup, const struct fsl_html_functions *page,
			  size_t worker, double value, bool is_ratio)
{
	fsl_markup_put(markup, "<title>rank %d: ", page->workers[worker].rank);
	if (is_ratio) {
		fsl_functions_put_share(markup, value);
	} else {
		fsl_functions_put_us(markup, value);
	}
	fsl_markup_raw(markup, "</title></rect>");
}

/* Bars of one figure. The script finds the same bars by the class of their group. */
static void put_panel(struct fsl_markup *markup, const struct fsl_html_functions *page,
		      const struct fsl_functions_bins *bins, double top, bool is_ratio)
{
	const struct fsl_html_function *function = &page->items[page->told];
	double most = is_ratio ? function->ratio_max : function->mean_us_max;
	double gap = fmin(bins->width * 0.2, 8.0);
	fsl_html_say(markup,
		     is_ratio ? "text class=\"m\" x=\"54\" y=\"12\""
			      : "text class=\"m\" x=\"54\" y=\"130\"",
		     is_ratio ? FSL_PAGE_OF_TRACE : FSL_PAGE_ONE_CALL);
	fsl_markup_put(markup,
		       "<path class=\"rule\" d=\"M%d %fH%dM%d %fH%d\"/><text class=\"e m most\" "
		       "x=\"%d\" y=\"%f\">",
		       (int64_t)LEFT, top, (int64_t)RIGHT, (int64_t)LEFT, top + PANEL_HIGH,
		       (int64_t)RIGHT, (int64_t)(LEFT - 6), top + 4.0);
	if (is_ratio) {
		fsl_functions_put_share(markup, most);
	} else {
		fsl_functions_put_us(markup, most);
	}
	fsl_markup_put(markup, "</text><text class=\"e m\" x=\"%d\" y=\"%f\">%h</text>",
		       (int64_t)(LEFT - 6), top + PANEL_HIGH + 4.0, is_ratio ? "0 %" : "0 µs");
	fsl_markup_put(markup, "<g class=\"%h\" data-top=\"%f\" data-high=\"%d\">",
		       is_ratio ? "share" : "call", top, (int64_t)PANEL_HIGH);
	for (size_t b = 0; b < bins->n; b++) {
		bool is_abnormal = false;
		double value = value_of(page, bins, b, is_ratio, &is_abnormal);
		double high = value > 0.0 && most > 0.0 ? value / most * PANEL_HIGH : 0.0;
		fsl_markup_put(
			markup, "<rect class=\"v%h\" x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\">",
			is_abnormal ? " hot" : "", bins->left + (double)b * bins->width + gap / 2.0,
			top + PANEL_HIGH - high, bins->width - gap, high);
		put_bar_title(markup, page, b * bins->per, value, is_ratio);
	}
	fsl_markup_raw(markup, "</g>");
}

static void put_usual(struct fsl_markup *markup, const struct fsl_html_function *function)
{
	double share =
		function->ratio_max > 0.0 ? function->usual_ratio / function->ratio_max : 0.0;
	double y = RATIO_TOP + PANEL_HIGH * (1.0 - (isfinite(share) ? fmin(share, 1.0) : 0.0));
	fsl_markup_put(markup, "<path class=\"usual\" d=\"M%d %fH%d\"><title>", (int64_t)LEFT, y,
		       (int64_t)RIGHT);
	fsl_html_say(markup, "span", FSL_PAGE_USUAL_SHARE);
	fsl_markup_raw(markup, "</title></path>");
}

static void put_twin(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	static const int columns[] = {FSL_PAGE_RANK,     FSL_PAGE_OF_TRACE, FSL_PAGE_RIGHT,
				      FSL_PAGE_ONE_CALL, FSL_PAGE_RIGHT,    FSL_PAGE_WORDS_N};
	const struct fsl_html_function *function = &page->items[page->told];
	fsl_markup_raw(markup, "<details>");
	fsl_html_say(markup, "summary", FSL_PAGE_FIGURES);
	fsl_html_put_head(markup, columns);
	for (size_t w = 0; w < page->n_workers && w < TWIN_MAX; w++) {
		const struct fsl_html_cell *cell = &function->cells[w];
		fsl_markup_put(markup, "<tr%h><td>%d<td class=\"n\">",
			       cell->is_abnormal ? " class=\"hit\"" : "", page->workers[w].rank);
		fsl_functions_put_share(markup, cell->ratio);
		fsl_functions_put_us_cell(markup, cell->mean_us);
	}
	fsl_markup_raw(markup, "</tbody></table></div></details>");
}

void fsl_functions_put_one(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	fsl_html_open_section(markup, "function", FSL_PAGE_ONE);
	if (page->told == SIZE_MAX || page->n_workers == 0) {
		fsl_html_say(markup, "p class=\"empty\"", FSL_PAGE_ONE_EMPTY);
		fsl_markup_raw(markup, "</section>");
		return;
	}
	const struct fsl_html_function *function = &page->items[page->told];
	struct fsl_functions_bins bins = fsl_functions_bins_of(page, LEFT, RIGHT);
	fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_ONE_NOTE);
	fsl_markup_raw(markup, "<p class=\"one\" role=\"status\">");
	fsl_functions_put_whole_name(markup, function);
	fsl_markup_raw(markup, "</p>");
	fsl_chart_open(markup, "one", CALL_TOP + PANEL_HIGH + 20.0, "one function on all workers");
	put_panel(markup, page, &bins, RATIO_TOP, true);
	put_usual(markup, function);
	put_panel(markup, page, &bins, CALL_TOP, false);
	fsl_functions_put_bin_labels(markup, page, &bins, CALL_TOP + PANEL_HIGH + 16.0);
	fsl_chart_close(markup);
	put_twin(markup, page);
	fsl_markup_raw(markup, "</section>");
}
