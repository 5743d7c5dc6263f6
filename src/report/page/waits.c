/* A hang: when the last event of each rank was, who waits since then, and who is not there. */
#include "report/page/charts.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"

enum {
	ROWS_MAX = 10, /* of the picture: those who are not there come first */
	TOLD_MAX = 60, /* of the table */
	ROW = 20,
	TOP = 4,
	LEFT = 66,
	AXIS_RIGHT = 330, /* of events; beyond it nothing is to scale */
	RIGHT = 556,
};

enum kind { MISSING, STOPPED, NO_DATA, WAITING, OTHER };

struct row {
	int64_t rank;
	double at_ms; /* of the last event, since the first of all; NaN: none */
	enum kind kind;
};

struct waits {
	struct row *rows; /* by kind, then by number */
	size_t n, n_waiting;
	int64_t from_ns;
	double span_ms; /* from the first last event to the last */
};

static const cJSON *list_of(const struct fsl_html *page, const char *key)
{
	const cJSON *list = fsl_html_at(fsl_html_at(page->root, "hang"), key);
	return cJSON_IsArray(list) ? list->child : NULL;
}

static int by_kind(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->kind != y->kind) {
		return x->kind < y->kind ? -1 : 1;
	}
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_ranks(struct waits *out, const struct fsl_html *page)
{
	int64_t to_ns = INT64_MIN;
	enum kind absent = list_of(page, "missing") != NULL ? MISSING : STOPPED;
	out->from_ns = INT64_MAX;
	for (size_t r = 0; r < page->n_ranks; r++) {
		const struct fsl_html_rank *rank = &page->ranks[r];
		int64_t at_ns = 0;
		bool is_told = rank->last_event != NULL && fsl_parse_time(rank->last_event, &at_ns);
		enum kind kind = rank->is_stopped ? absent : rank->is_waiting ? WAITING : OTHER;
		out->rows[out->n++] =
			(struct row){rank->rank, is_told ? (double)at_ns : (double)NAN, kind};
		out->n_waiting += rank->is_waiting && !rank->is_stopped;
		if (is_told) {
			out->from_ns = at_ns < out->from_ns ? at_ns : out->from_ns;
			to_ns = at_ns > to_ns ? at_ns : to_ns;
		}
	}
	out->span_ms = to_ns > out->from_ns ? (double)(to_ns - out->from_ns) / FSL_NS_PER_MS : 0.0;
	for (size_t i = 0; i < out->n; i++) {
		out->rows[i].at_ms = (out->rows[i].at_ms - (double)out->from_ns) / FSL_NS_PER_MS;
	}
}

/* False: memory is short. Free out->rows with fsl_free. */
static bool make(struct waits *out, const struct fsl_html *page)
{
	size_t n = page->n_ranks;
	for (const cJSON *rank = list_of(page, "noData"); rank != NULL; rank = rank->next) {
		n++;
	}
	*out = (struct waits){.rows = fsl_calloc(n + 1, sizeof(*out->rows))};
	if (out->rows == NULL) {
		return false;
	}
	add_ranks(out, page);
	for (const cJSON *rank = list_of(page, "noData"); rank != NULL; rank = rank->next) {
		int64_t index = fsl_html_index_of(rank);
		if (index >= 0 && fsl_html_find(page, index) == SIZE_MAX) {
			out->rows[out->n++] = (struct row){index, NAN, NO_DATA};
		}
	}
	qsort(out->rows, out->n, sizeof(*out->rows), by_kind);
	return true;
}

static enum fsl_html_word word_of(enum kind kind)
{
	static const enum fsl_html_word words[] = {
		[MISSING] = FSL_PAGE_NOT_THERE, [STOPPED] = FSL_PAGE_STOPPED,
		[NO_DATA] = FSL_PAGE_NO_DATA,   [WAITING] = FSL_PAGE_WAITING,
		[OTHER] = FSL_PAGE_IDLE,
	};
	return words[kind];
}

static void put_row(struct fsl_markup *markup, const struct waits *waits, const struct row *row,
		    double y)
{
	bool is_absent = row->kind <= NO_DATA;
	double span = fmax(waits->span_ms, 1.0), low = -0.1 * span, high = 1.05 * span;
	double x = LEFT + (row->at_ms - low) / (high - low) * (AXIS_RIGHT - LEFT);
	fsl_markup_put(markup, "<text class=\"e%h\" x=\"%d\" y=\"%f\">rank %d</text>",
		       is_absent ? " b" : " m", (int64_t)LEFT - 8, y + 13.0, row->rank);
	if (!isfinite(x)) {
		x = LEFT;
	} else {
		fsl_markup_put(markup,
			       "<rect class=\"a %h\" x=\"%d\" y=\"%f\" width=\"%f\" height=\"12\">"
			       "<title>rank %d: ",
			       is_absent ? "lost" : "good", (int64_t)LEFT, y + 2.0, x - LEFT,
			       row->rank);
		fsl_html_say(markup, "span", FSL_PAGE_LAST_EVENT);
		fsl_markup_put(markup, " +%g ms</title></rect>", row->at_ms);
	}
	if (row->kind == WAITING) {
		fsl_markup_put(
			markup,
			"<rect class=\"hatch\" x=\"%f\" y=\"%f\" width=\"%f\" height=\"12\"/>", x,
			y + 2.0, RIGHT - x);
	} else if (is_absent) {
		fsl_markup_put(markup,
			       "<circle class=\"ring\" cx=\"%f\" cy=\"%f\" r=\"5\"/><text "
			       "class=\"tag\" x=\"%f\" y=\"%f\">",
			       x, y + 8.0, x + 11.0, y + 12.5);
		fsl_html_say(markup, "tspan", word_of(row->kind));
		fsl_markup_raw(markup, "</text>");
	}
}

/* Clock of the first last event, how far the last one is from it, and the present. */
static void put_axis(struct fsl_markup *markup, const struct fsl_html *page,
		     const struct waits *waits, double y)
{
	char iso[40], clock[16], span[32];
	const char *now = fsl_html_text(fsl_html_at(page->root, "job"), "now");
	if (waits->from_ns < INT64_MAX) {
		double x = LEFT + 0.1 / 1.15 * (AXIS_RIGHT - LEFT);
		double end = LEFT + 1.1 / 1.15 * (AXIS_RIGHT - LEFT);
		fsl_markup_put(markup,
			       "<path class=\"rule\" d=\"M%f %dV%f\"/><text class=\"m\" x=\"%d\" "
			       "y=\"%f\">%s UTC</text>",
			       x, (int64_t)TOP, y, (int64_t)LEFT, y + 14.0,
			       fsl_chart_clock(fsl_chart_iso(waits->from_ns, iso), clock));
		if (waits->span_ms > 0.0) {
			fsl_markup_put(markup,
				       "<path class=\"rule\" d=\"M%f %dV%f\"/><text class=\"e m\" "
				       "x=\"%f\" y=\"%f\">+%s</text>",
				       end, (int64_t)TOP, y, end, y + 14.0,
				       fsl_markup_span(waits->span_ms, span));
		}
	}
	if (*fsl_chart_clock(now, clock) != '\0') {
		fsl_markup_put(markup, "<text class=\"e m\" x=\"%d\" y=\"%f\">", (int64_t)RIGHT,
			       y + 14.0);
		fsl_html_say(markup, "tspan", FSL_PAGE_PRESENT);
		fsl_markup_put(markup, " %s</text>", clock);
	}
}

static bool has(const struct fsl_html *page)
{
	return cJSON_IsObject(fsl_html_at(page->root, "hang")) && page->n_ranks > 0;
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	struct waits waits;
	if (!make(&waits, page)) {
		markup->pack.is_failed = true;
		return;
	}
	size_t n = waits.n < ROWS_MAX ? waits.n : ROWS_MAX;
	double bottom = TOP + (double)(n + (n < waits.n)) * ROW;
	fsl_chart_open(markup, "waits", bottom + 20.0, "last event of each rank");
	put_axis(markup, page, &waits, bottom);
	for (size_t i = 0; i < n; i++) {
		put_row(markup, &waits, &waits.rows[i], TOP + (double)i * ROW);
	}
	if (n < waits.n) {
		fsl_markup_put(markup, "<text class=\"e m\" x=\"%d\" y=\"%f\">+ %d</text>",
			       (int64_t)LEFT - 8, bottom - ROW + 13.0, (int64_t)(waits.n - n));
	}
	fsl_chart_close(markup);
	const cJSON *hang = fsl_html_at(page->root, "hang");
	fsl_markup_raw(markup, "<p class=\"key\"><span><i class=\"a good\"></i>");
	fsl_html_say(markup, "span", FSL_PAGE_LAST_EVENT);
	if (waits.n_waiting > 0) {
		fsl_markup_raw(markup, "</span><span><i class=\"hatched\"></i>");
		fsl_html_say(markup, "span", FSL_PAGE_WAITING);
		fsl_markup_put(markup, " (%d) %s", (int64_t)waits.n_waiting,
			       fsl_html_text(hang, "operation"));
	}
	fsl_markup_raw(markup, "</span></p>");
	fsl_free(waits.rows);
}

static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	struct waits waits;
	char iso[40];
	if (!make(&waits, page)) {
		markup->pack.is_failed = true;
		return;
	}
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th class=\"n\"", FSL_PAGE_RANK);
	fsl_html_say(markup, "th", FSL_PAGE_LAST_EVENT);
	fsl_html_say(markup, "th", FSL_PAGE_ROLE);
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	for (size_t i = 0; i < waits.n && i < TOLD_MAX; i++) {
		const struct row *row = &waits.rows[i];
		int64_t at_ns = isfinite(row->at_ms)
					? waits.from_ns + (int64_t)(row->at_ms * FSL_NS_PER_MS)
					: -1;
		fsl_markup_put(markup, "<tr%h><td class=\"n\">%d<td>%s<td>",
			       row->kind <= NO_DATA ? " class=\"hit\"" : "", row->rank,
			       at_ns >= 0 ? fsl_chart_iso(at_ns, iso) : "–");
		if (row->kind != OTHER) {
			fsl_html_say(markup, "span", word_of(row->kind));
		}
	}
	fsl_markup_raw(markup, "</tbody>");
	fsl_free(waits.rows);
}

const struct fsl_chart fsl_chart_waits = {
	.name = "waits",
	.title = FSL_PAGE_HANG,
	.note = FSL_PAGE_HANG_NOTE,
	.empty = FSL_PAGE_HANG_EMPTY,
	.has = has,
	.draw = draw,
	.tell = tell,
};
