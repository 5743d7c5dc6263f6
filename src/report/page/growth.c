/* A job that became slower: one step before its first slow stretch above one of its end, each split
 * into own work and the rest, so that the reader sees which of both grew. */
#include "report/page/charts.h"

#include <math.h>
#include <string.h>

#include "model/matrices.h"

enum { HEIGHT = 176, LEFT = 1, RIGHT = 556, THICK = 34 };

/* Lengths of a step, ms. own_ms NaN: no file tells it. */
struct level {
	double whole_ms, own_ms;
};

struct growth {
	int64_t since_step;
	struct level before, after;
};

static const cJSON *first_episode(const struct fsl_html *page)
{
	const cJSON *list = fsl_html_at(fsl_html_at(page->root, "pictures"), "episodes");
	return cJSON_IsArray(list) ? list->child : NULL;
}

/* Begin of a step as a column of the matrices, perhaps behind the last one. */
static size_t column_of(const struct fsl_html *page, int64_t step)
{
	const cJSON *pictures = fsl_html_at(page->root, "pictures");
	const cJSON *over_time = fsl_html_at(pictures, "overTime");
	double from_ns = fsl_html_number(over_time, "fromNs");
	double span_ns = fsl_html_number(over_time, "toNs") - from_ns;
	double begin_ns = fsl_html_number(fsl_html_at(pictures, "steps"), "fromNs");
	for (size_t i = 0; i < page->n_steps && span_ns > 0.0; i++) {
		double at_ns = begin_ns + page->steps[i].at_ms * 1e6 - from_ns;
		if (page->steps[i].step >= step && at_ns >= 0.0) {
			return (size_t)fmin(at_ns / span_ns * (double)page->n_columns,
					    (double)page->n_columns);
		}
	}
	return 0;
}

/* Median of the own time of all ranks in columns [begin, end), ms; NaN: nothing was seen. */
static double own_of(const struct fsl_html *page, size_t begin, size_t end)
{
	size_t n = 0, counts[256] = {0}, n_below = 0;
	for (size_t r = 0; page->own.codes != NULL && r < page->n_ranks; r++) {
		for (size_t c = begin; c < end; c++) {
			unsigned char code = page->own.codes[r * page->n_columns + c];
			counts[code]++;
			n += code > 0;
		}
	}
	for (int code = 1; code < 256; code++) {
		n_below += counts[code];
		if (2 * n_below > n) {
			return (double)fsl_matrix_ms((uint8_t)code);
		}
	}
	return NAN;
}

static struct growth make(const struct fsl_html *page)
{
	const cJSON *episode = first_episode(page);
	int64_t since = fsl_html_index(episode, "sinceStep");
	struct growth growth = {since,
				{fsl_html_number(episode, "beforeMs"), NAN},
				{fsl_html_number(episode, "afterMs"), NAN}};
	int64_t until = fsl_html_index(episode, "untilStep");
	size_t onset = page->n_columns > 0 ? column_of(page, since) : 0;
	size_t end = until >= 0 && onset > 0 ? column_of(page, until) : page->n_columns;
	/* Step times alone tell no rank's own work, though they fill its matrix. */
	if (onset == 0 || end <= onset || !fsl_chart_grid.has(page)) {
		return growth;
	}
	size_t length = (end - onset) / 8 + 1; /* of the end, which a steady growth reaches */
	growth.before.own_ms = fmin(own_of(page, 0, onset), growth.before.whole_ms);
	growth.after.own_ms = fmin(own_of(page, end - length, end), growth.after.whole_ms);
	return growth;
}

static bool has(const struct fsl_html *page)
{
	const struct growth growth = make(page);
	return strcmp(fsl_html_text(page->root, "verdict"), "job_slowdown") == 0 &&
	       growth.since_step >= 0 && growth.before.whole_ms > 0.0 &&
	       growth.after.whole_ms > growth.before.whole_ms;
}

static void put_segment(struct fsl_markup *markup, double x, double width, double y,
			const char *class, double ms)
{
	fsl_markup_put(markup,
		       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%d\" class=\"%h\">"
		       "<title>%g ms</title></rect>",
		       x, y, fmax(width - 1.0, 0.5), (int64_t)THICK, class, ms);
	if (width > 44.0) {
		fsl_markup_put(markup, "<text x=\"%f\" y=\"%f\" class=\"in%h\">%g</text>",
			       x + width / 2.0, y + THICK / 2.0 + 4.0,
			       strcmp(class, "s0") == 0 ? "" : " io", ms);
	}
}

static void put_bar(struct fsl_markup *markup, const struct growth *growth,
		    const struct level *level, double y)
{
	double scale = (RIGHT - LEFT) / growth->after.whole_ms;
	bool is_split = isfinite(growth->before.own_ms) && isfinite(growth->after.own_ms);
	double own = is_split ? level->own_ms : 0.0;
	if (is_split) {
		put_segment(markup, LEFT, own * scale, y, "s0", own);
	}
	put_segment(markup, LEFT + own * scale, (level->whole_ms - own) * scale, y,
		    is_split ? "sr" : "a good", level->whole_ms - own);
}

/* Time that a step takes longer, hatched below the end of its bar. */
static void put_excess(struct fsl_markup *markup, const struct growth *growth, double y)
{
	double scale = (RIGHT - LEFT) / growth->after.whole_ms;
	double excess = growth->after.whole_ms - growth->before.whole_ms;
	double x = RIGHT - excess * scale;
	fsl_markup_put(markup,
		       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"8\" class=\"excess\"/>"
		       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"8\" class=\"hatch w\"/>"
		       "<text class=\"tag e\" x=\"%d\" y=\"%f\">+%g ms</text>",
		       x, y, RIGHT - x, x, y, RIGHT - x, (int64_t)RIGHT, y + 24.0, excess);
}

static void put_legend(struct fsl_markup *markup)
{
	fsl_markup_raw(markup, "<p class=\"key\"><span><i class=\"s0\"></i>");
	fsl_html_say(markup, "span", FSL_PAGE_OWN_WORK);
	fsl_markup_raw(markup, "</span><span><i class=\"sr\"></i>");
	fsl_html_say(markup, "span", FSL_PAGE_WAIT_REST);
	fsl_markup_raw(markup, "</span></p>");
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	const struct growth growth = make(page);
	fsl_chart_open(markup, "bars", HEIGHT, "one step before and after");
	fsl_html_say(markup, "text x=\"1\" y=\"14\" class=\"b\"", FSL_PAGE_STEP_AFTER);
	fsl_markup_put(markup, "<text x=\"%d\" y=\"14\" class=\"e m\">%g ms</text>", (int64_t)RIGHT,
		       growth.after.whole_ms);
	put_bar(markup, &growth, &growth.after, 22.0);
	put_excess(markup, &growth, 22.0 + THICK + 3.0);
	fsl_markup_raw(markup, "<text x=\"1\" y=\"122\">");
	fsl_html_say(markup, "tspan", FSL_PAGE_STEP_BEFORE);
	fsl_markup_put(markup, " %d</text>", growth.since_step);
	fsl_markup_put(markup, "<text x=\"%d\" y=\"122\" class=\"e m\">%g ms</text>",
		       (int64_t)RIGHT, growth.before.whole_ms);
	put_bar(markup, &growth, &growth.before, 130.0);
	fsl_chart_close(markup);
	if (isfinite(growth.before.own_ms) && isfinite(growth.after.own_ms)) {
		put_legend(markup);
	}
}

static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	const struct growth growth = make(page);
	const struct level *const levels[] = {&growth.before, &growth.after};
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th", FSL_PAGE_STEP);
	fsl_html_say(markup, "th", FSL_PAGE_LENGTH);
	fsl_html_say(markup, "th", FSL_PAGE_OWN_WORK);
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		double own_ms = levels[i]->own_ms;
		fsl_markup_raw(markup, "<tr><td>");
		fsl_html_say(markup, "span", i == 0 ? FSL_PAGE_STEP_BEFORE : FSL_PAGE_STEP_AFTER);
		fsl_markup_put(markup, "%h", i == 0 ? " " : "");
		if (i == 0) {
			fsl_markup_integer(markup, growth.since_step);
		}
		fsl_markup_put(markup, "<td>%g ms<td>%g%h", levels[i]->whole_ms, own_ms,
			       isfinite(own_ms) ? " ms" : "–");
	}
	fsl_markup_raw(markup, "</tbody>");
}

const struct fsl_chart fsl_chart_growth = {
	.name = "growth",
	.title = FSL_PAGE_BARS,
	.note = FSL_PAGE_GROWTH_NOTE,
	.empty = FSL_PAGE_GROWTH_EMPTY,
	.has = has,
	.draw = draw,
	.is_numeric = true,
	.tell = tell,
};
