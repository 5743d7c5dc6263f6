/* Long steps by kind: how often each came, where the time stood, and what it cost. */
#include "report/page/charts.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = 4, ROW = 46, RIGHT = 556, THICK = 16 };

static const cJSON *first_of(const struct fsl_html *page)
{
	const cJSON *list = fsl_html_at(fsl_html_at(page->root, "pictures"), "stalls");
	return cJSON_IsArray(list) ? list->child : NULL;
}

static bool has(const struct fsl_html *page)
{
	return strcmp(fsl_html_text(page->root, "verdict"), "stalls") == 0 &&
	       first_of(page) != NULL && fsl_html_number(first_of(page), "lostMs") > 0.0;
}

/* "checkpoint: every 20 steps, 4 times", or "step 12". */
static void put_kind(struct fsl_markup *markup, const char *tag, const cJSON *stall)
{
	int64_t every = fsl_html_index(stall, "everySteps");
	fsl_html_say_word(markup, tag, 'P', fsl_html_text(stall, "phase"));
	fsl_markup_raw(markup, ": ");
	if (every > 0) {
		fsl_html_say(markup, tag, FSL_PAGE_EVERY);
		fsl_markup_put(markup, " %d ", every);
		fsl_html_say(markup, tag, FSL_PAGE_STEPS);
	} else {
		fsl_html_say(markup, tag, FSL_PAGE_STEP);
		fsl_markup_put(markup, " %d", fsl_html_index(stall, "step"));
	}
	if (fsl_html_index(stall, "times") > 1) {
		fsl_markup_put(markup, ", %d ×", fsl_html_index(stall, "times"));
	}
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	size_t n = 0;
	char span[32];
	double most = 0.0;
	const cJSON *first = first_of(page);
	for (const cJSON *stall = first; stall != NULL && n < ROWS_MAX; stall = stall->next) {
		most = fmax(most, fsl_html_number(stall, "lostMs"));
		n++;
	}
	fsl_chart_open(markup, "stalls", (double)n * ROW, "long steps by kind");
	for (size_t i = 0; i < n; i++, first = first->next) {
		double y = (double)i * ROW, ms = fsl_html_number(first, "lostMs");
		fsl_markup_put(markup, "<text x=\"1\" y=\"%f\" class=\"b\">", y + 14.0);
		put_kind(markup, "tspan", first);
		fsl_markup_put(markup, "</text><text x=\"%d\" y=\"%f\" class=\"e m\">%s</text>",
			       (int64_t)RIGHT, y + 14.0, fsl_markup_span(ms, span));
		fsl_markup_put(markup,
			       "<rect x=\"1\" y=\"%f\" width=\"%f\" height=\"%d\" class=\"a "
			       "lost\"><title>%s, step %d</title></rect>",
			       y + 21.0, fmax(ms / most * (RIGHT - 1), 1.0), (int64_t)THICK, span,
			       fsl_html_index(first, "step"));
	}
	fsl_chart_close(markup);
}

static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	enum { TOLD_MAX = 60 };
	char span[32];
	size_t n = 0;
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th", FSL_PAGE_STALL);
	fsl_html_say(markup, "th class=\"n\"", FSL_PAGE_COSTS);
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	for (const cJSON *stall = first_of(page); stall != NULL && n++ < TOLD_MAX;
	     stall = stall->next) {
		fsl_markup_raw(markup, "<tr><td>");
		put_kind(markup, "span", stall);
		fsl_markup_put(markup, "<td class=\"n\">%s",
			       fsl_markup_span(fsl_html_number(stall, "lostMs"), span));
	}
	fsl_markup_raw(markup, "</tbody>");
}

const struct fsl_chart fsl_chart_stalls = {
	.name = "stalls",
	.title = FSL_PAGE_STALLS,
	.note = FSL_PAGE_STALLS_NOTE,
	.empty = FSL_PAGE_STALLS_EMPTY,
	.has = has,
	.draw = draw,
	.tell = tell,
};
