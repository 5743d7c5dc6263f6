/* Two bars: one step of the told rank beside the middle of its peers, by parts. */
#include "report/page/charts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
	HEIGHT = 176,
	LEFT = 1,
	RIGHT = 556,
	THICK = 34,
	SEGMENTS_MAX = FSL_PAGE_PARTS_MAX + 2,
};

/* A bar: the parts of own time, waiting, and the rest of the step. */
struct bar {
	double ms[SEGMENTS_MAX]; /* NaN: not known */
	double whole_ms;
};

struct pair {
	const char *names[SEGMENTS_MAX];
	size_t n, n_own; /* segments; those of own work stand first */
	struct bar told, peers;
	double most_ms;
	size_t worst; /* segment with the greatest excess; SIZE_MAX: none */
};

static double at_least_0(double value)
{
	return isfinite(value) && value > 0.0 ? value : 0.0;
}

static void add(struct pair *pair, const struct fsl_html *page, const char *name, size_t offset)
{
	const struct fsl_html_rank *rank = &page->ranks[page->worst];
	double told = NAN;
	memcpy(&told, (const char *)rank + offset, sizeof(told));
	pair->names[pair->n] = name;
	pair->told.ms[pair->n] = at_least_0(told);
	pair->peers.ms[pair->n] = at_least_0(fsl_html_peers_median(page, page->worst, offset));
	pair->told.whole_ms += pair->told.ms[pair->n];
	pair->peers.whole_ms += pair->peers.ms[pair->n];
	pair->n++;
}

static void make(struct pair *out, const struct fsl_html *page)
{
	*out = (struct pair){.worst = SIZE_MAX};
	for (size_t p = 0; p < page->n_parts; p++) {
		add(out, page, page->part_names[p],
		    offsetof(struct fsl_html_rank, part_ms) + p * sizeof(double));
	}
	out->n_own = out->n;
	if (!page->is_capture) {
		add(out, page, "wait", offsetof(struct fsl_html_rank, wait_ms));
		out->most_ms = fmax(out->told.whole_ms, out->peers.whole_ms);
		double step_ms = fmax(out->most_ms, at_least_0(page->step_ms));
		out->names[out->n] = "rest";
		out->told.ms[out->n] = step_ms - out->told.whole_ms;
		out->peers.ms[out->n] = step_ms - out->peers.whole_ms;
		out->told.whole_ms = out->peers.whole_ms = step_ms;
		out->n++;
	}
	out->most_ms = fmax(out->told.whole_ms, out->peers.whole_ms);
	bool is_named = page->ranks[page->worst].is_named; /* else nobody is to blame */
	double most = 0.02 * out->most_ms;                 /* less is noise, and has no name */
	for (size_t i = 0; i < out->n_own; i++) {
		bool is_wait = strcmp(out->names[i], "exposedCommunication") == 0;
		double excess = out->told.ms[i] - out->peers.ms[i];
		if (is_named && excess > most && !is_wait) {
			most = excess;
			out->worst = i;
		}
	}
}

static void put_bar(struct fsl_markup *markup, const struct pair *pair, const struct bar *bar,
		    double y)
{
	double scale = (RIGHT - LEFT) / pair->most_ms, x = LEFT;
	for (size_t i = 0; i < pair->n; i++) {
		double width = bar->ms[i] * scale;
		if (width < 0.05) {
			continue;
		}
		fsl_markup_put(markup,
			       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%d\" class=\"s%d%h\">"
			       "<title>",
			       x, y, fmax(width - 1.0, 0.5), (int64_t)THICK, (int64_t)i,
			       strcmp(pair->names[i], "wait") == 0   ? " sw"
			       : strcmp(pair->names[i], "rest") == 0 ? " sr"
								     : "");
		fsl_html_say_of(markup, 'P', pair->names[i]);
		fsl_markup_put(markup, ": %g ms</title></rect>", bar->ms[i]);
		if (width > 44.0) {
			fsl_markup_put(markup,
				       "<text x=\"%f\" y=\"%f\" class=\"in i%d%h\">%g</text>",
				       x + width / 2.0, y + THICK / 2.0 + 4.0, (int64_t)i,
				       i >= pair->n_own ? " io" : "", bar->ms[i]);
		}
		x += width;
	}
}

/* Hatches what the told rank has more in its worst part, and names it. */
static void put_excess(struct fsl_markup *markup, const struct pair *pair, double y)
{
	double scale = (RIGHT - LEFT) / pair->most_ms, x = LEFT;
	if (pair->worst == SIZE_MAX) {
		return;
	}
	for (size_t i = 0; i <= pair->worst; i++) {
		x += pair->told.ms[i] * scale;
	}
	double excess = pair->told.ms[pair->worst] - pair->peers.ms[pair->worst];
	double width = excess * scale, from = x - width;
	fsl_markup_put(markup,
		       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%d\" class=\"excess\"/>"
		       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%d\" class=\"hatch w\"/>",
		       from, y, width - 1.0, (int64_t)THICK, from, y, width - 1.0, (int64_t)THICK);
	bool is_end = from + width / 2.0 > FSL_CHART_WIDTH / 2.0;
	fsl_markup_put(markup, "<path class=\"onset\" d=\"M%f %fv5H%fv-5\"/>", from + 1.0,
		       y + THICK + 3.0, x - 2.0);
	fsl_markup_put(markup, "<text class=\"tag%h\" x=\"%f\" y=\"%f\">+%g ms </text>",
		       is_end ? " e" : "", is_end ? x - 2.0 : from + 1.0, y + THICK + 22.0, excess);
}

static bool has(const struct fsl_html *page)
{
	struct pair pair;
	if (page->worst == SIZE_MAX || page->n_parts == 0 || page->n_ranks < 2) {
		return false;
	}
	make(&pair, page);
	return pair.most_ms > 0.0 && pair.peers.whole_ms > 0.0;
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	struct pair pair;
	make(&pair, page);
	const struct fsl_html_rank *rank = &page->ranks[page->worst];
	fsl_chart_open(markup, "bars", HEIGHT, "one step of the told rank and of its median peer");
	fsl_markup_put(markup, "<text x=\"1\" y=\"14\" class=\"b\">rank %d</text>", rank->rank);
	fsl_markup_put(markup, "<text x=\"%d\" y=\"14\" class=\"e m\">%g ms</text>", (int64_t)RIGHT,
		       pair.told.whole_ms);
	put_bar(markup, &pair, &pair.told, 22.0);
	put_excess(markup, &pair, 22.0);
	fsl_html_say(markup, "text x=\"1\" y=\"122\"",
		     page->is_of_stage ? FSL_PAGE_PEERS_STAGE : FSL_PAGE_PEERS);
	fsl_markup_put(markup, "<text x=\"%d\" y=\"122\" class=\"e m\">%g ms</text>",
		       (int64_t)RIGHT, pair.peers.whole_ms);
	put_bar(markup, &pair, &pair.peers, 130.0);
	fsl_chart_close(markup);
	fsl_markup_raw(markup, "<p class=\"key\">");
	for (size_t i = 0; i < pair.n; i++) {
		fsl_markup_put(markup, "<span><i class=\"s%d%h\"></i>", (int64_t)i,
			       strcmp(pair.names[i], "wait") == 0   ? " sw"
			       : strcmp(pair.names[i], "rest") == 0 ? " sr"
								    : "");
		fsl_html_say_of(markup, 'P', pair.names[i]);
		fsl_markup_raw(markup, "</span>");
	}
	if (pair.worst != SIZE_MAX) {
		fsl_markup_raw(markup, "<span><i class=\"excess\"></i>");
		fsl_html_say(markup, "span", FSL_PAGE_MORE);
		fsl_markup_raw(markup, "</span>");
	}
	fsl_markup_raw(markup, "</p>");
}

static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	struct pair pair;
	make(&pair, page);
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th", FSL_PAGE_PART);
	fsl_markup_put(markup, "<th>rank %d", page->ranks[page->worst].rank);
	fsl_html_say(markup, "th", page->is_of_stage ? FSL_PAGE_PEERS_STAGE : FSL_PAGE_PEERS);
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	for (size_t i = 0; i < pair.n; i++) {
		fsl_markup_raw(markup, "<tr><td>");
		fsl_html_say_of(markup, 'P', pair.names[i]);
		fsl_markup_put(markup, "<td>%g ms<td>%g ms", pair.told.ms[i], pair.peers.ms[i]);
	}
	fsl_markup_raw(markup, "</tbody>");
}

const struct fsl_chart fsl_chart_bars = {
	.name = "bars",
	.title = FSL_PAGE_BARS,
	.note = FSL_PAGE_BARS_NOTE,
	.empty = FSL_PAGE_BARS_EMPTY,
	.has = has,
	.draw = draw,
	.is_numeric = true,
	.tell = tell,
};
