/* Who arrives last: how long the others waited for each rank. */
#include "report/page/charts.h"

#include <math.h>

enum { ROWS_MAX = 8, ROW = 22, LEFT = 92, RIGHT = 490 };

/* Indices of the latest ranks, latest first. */
static size_t find_latest(size_t latest[ROWS_MAX], const struct fsl_html *page)
{
	size_t n = 0;
	for (size_t r = 0; r < page->n_ranks; r++) {
		size_t at = n;
		if (!(page->ranks[r].late_ms > 0.0)) {
			continue;
		}
		while (at > 0 && page->ranks[latest[at - 1]].late_ms < page->ranks[r].late_ms) {
			at--;
		}
		for (size_t k = n < ROWS_MAX ? n : ROWS_MAX - 1; k > at; k--) {
			latest[k] = latest[k - 1];
		}
		if (at < ROWS_MAX) {
			latest[at] = r;
			n += n < ROWS_MAX;
		}
	}
	return n;
}

static bool has(const struct fsl_html *page)
{
	size_t latest[ROWS_MAX];
	size_t n = find_latest(latest, page);
	return n > 1 && page->ranks[latest[0]].late_ms >= 0.01 * page->step_ms;
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	size_t latest[ROWS_MAX], n = find_latest(latest, page);
	double most = page->ranks[latest[0]].late_ms;
	fsl_chart_open(markup, "arrival", 4.0 + (double)n * ROW, "who arrives last");
	for (size_t i = 0; i < n; i++) {
		const struct fsl_html_rank *rank = &page->ranks[latest[i]];
		double y = 2.0 + (double)i * ROW, width = rank->late_ms / most * (RIGHT - LEFT);
		fsl_markup_put(markup, "<text class=\"e%h\" x=\"%d\" y=\"%f\">rank %d</text>",
			       rank->is_named ? " b" : " m", (int64_t)LEFT - 8, y + 14.0,
			       rank->rank);
		fsl_markup_put(markup,
			       "<rect x=\"%d\" y=\"%f\" width=\"%f\" height=\"14\" class=\"a %h\">"
			       "<title>rank %d: ",
			       (int64_t)LEFT, y + 3.0, fmax(width, 1.0),
			       rank->is_named ? "lost" : "usual", rank->rank);
		fsl_html_say(markup, "span", FSL_PAGE_LATE);
		fsl_markup_put(markup, " %g ms ", rank->late_ms);
		fsl_html_say(markup, "span", FSL_PAGE_PER_STEP);
		fsl_markup_raw(markup, "</title></rect>");
		if (rank->is_victim && !rank->is_named) {
			fsl_markup_put(markup,
				       "<rect x=\"%d\" y=\"%f\" width=\"%f\" height=\"14\" "
				       "class=\"hatch\"/>",
				       (int64_t)LEFT, y + 3.0, fmax(width, 1.0));
		}
		fsl_markup_put(markup, "<text class=\"m\" x=\"%f\" y=\"%f\">%g ms</text>",
			       LEFT + width + 6.0, y + 14.0, rank->late_ms);
	}
	fsl_chart_close(markup);
}

static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	size_t latest[ROWS_MAX], n = find_latest(latest, page);
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th class=\"n\"", FSL_PAGE_RANK);
	fsl_html_say(markup, "th class=\"n\"", FSL_PAGE_LATE);
	fsl_html_say(markup, "th", FSL_PAGE_ROLE);
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	for (size_t i = 0; i < n; i++) {
		const struct fsl_html_rank *rank = &page->ranks[latest[i]];
		fsl_markup_put(markup, "<tr%h><td class=\"n\">%d<td class=\"n\">%g ms<td>",
			       rank->is_named ? " class=\"hit\"" : "", rank->rank, rank->late_ms);
		if (rank->is_named || rank->is_victim) {
			fsl_html_say(markup, "span",
				     rank->is_culprit ? FSL_PAGE_CULPRIT
				     : rank->is_named ? FSL_PAGE_NAMED
						      : FSL_PAGE_VICTIM);
		}
	}
	fsl_markup_raw(markup, "</tbody>");
}

const struct fsl_chart fsl_chart_arrival = {
	.name = "arrival",
	.title = FSL_PAGE_ARRIVAL,
	.note = FSL_PAGE_ARRIVAL_NOTE,
	.empty = FSL_PAGE_BARS_EMPTY,
	.has = has,
	.draw = draw,
	.tell = tell,
};
