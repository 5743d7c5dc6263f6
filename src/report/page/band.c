/* Own time of the told rank over time, against the band that holds 80 % of its peers. */
#include "report/page/charts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "model/matrices.h"

enum { HEIGHT = 190, LEFT = 46, RIGHT = 552, TOP = 24, BOTTOM = 170 };

/* Levels of one column, ms; NaN: not seen. */
struct level {
	double low, middle, high, told;
};

static bool has(const struct fsl_html *page)
{
	return page->own.codes != NULL && page->worst != SIZE_MAX && page->n_columns > 1 &&
	       page->n_ranks > 2;
}

/* The code that @n_below of the counted ones lie below; ms. */
static double ms_at(const size_t counts[256], size_t n_below)
{
	int code = 1;
	for (size_t n = counts[1]; code < 255 && n <= n_below; n += counts[code]) {
		code++;
	}
	return (double)fsl_matrix_ms((uint8_t)code);
}

static struct level level_of(const struct fsl_html *page, size_t column)
{
	size_t n = 0, counts[256] = {0};
	for (size_t r = 0; r < page->n_ranks; r++) {
		unsigned char code = page->own.codes[r * page->n_columns + column];
		if (code > 0 && fsl_html_is_peer(page, page->worst, r)) {
			counts[code]++;
			n++;
		}
	}
	unsigned char mine = page->own.codes[page->worst * page->n_columns + column];
	struct level level = {NAN, NAN, NAN, (double)fsl_matrix_ms(mine)};
	if (n > 0) {
		level.low = ms_at(counts, (n - 1) / 10);
		level.middle = ms_at(counts, (n - 1) / 2);
		level.high = ms_at(counts, (n - 1) - (n - 1) / 10);
	}
	return level;
}

static double x_of(const struct fsl_html *page, size_t column)
{
	return LEFT + (double)column * (RIGHT - LEFT) / (double)(page->n_columns - 1);
}

static double y_of(double ms, double low, double high)
{
	return BOTTOM - fmin(fmax((ms - low) / (high - low), 0.0), 1.0) * (BOTTOM - TOP);
}

static double value_of(const struct level *level, size_t offset)
{
	double ms = NAN;
	memcpy(&ms, (const char *)level + offset, sizeof(ms));
	return ms;
}

/* True inside of a flat stretch of the line: its ends tell the same. */
static bool is_flat(const struct fsl_html *page, const struct level *levels, size_t column,
		    size_t offset)
{
	if (column == 0 || column + 1 >= page->n_columns) {
		return false;
	}
	double before = value_of(&levels[column - 1], offset) - value_of(&levels[column], offset);
	double after = value_of(&levels[column + 1], offset) - value_of(&levels[column], offset);
	return fabs(before) <= 0.0 && fabs(after) <= 0.0; /* a gap is NaN */
}

/* Points of a line, with gaps for columns in which nothing was seen. */
static void put_line(struct fsl_markup *markup, const struct fsl_html *page,
		     const struct level *levels, size_t offset, const double range[2])
{
	bool is_in = false;
	for (size_t c = 0; c < page->n_columns; c++) {
		double ms = value_of(&levels[c], offset);
		if (!isnan(ms) && !is_flat(page, levels, c, offset)) {
			fsl_markup_put(markup, "%h%f %f", is_in ? "L" : "M", x_of(page, c),
				       y_of(ms, range[0], range[1]));
		}
		is_in = !isnan(ms);
	}
}

static void put_band(struct fsl_markup *markup, const struct fsl_html *page,
		     const struct level *levels, const double range[2])
{
	const size_t low = offsetof(struct level, low), high = offsetof(struct level, high);
	fsl_markup_raw(markup, "<path class=\"band\" d=\"");
	for (size_t begin = 0; begin < page->n_columns; begin++) {
		size_t end = begin;
		while (end < page->n_columns && !isnan(levels[end].low)) {
			end++;
		}
		for (size_t c = begin; c < end; c++) {
			if (!is_flat(page, levels, c, low)) {
				fsl_markup_put(markup, "%h%f %f", c == begin ? "M" : "L",
					       x_of(page, c),
					       y_of(levels[c].low, range[0], range[1]));
			}
		}
		for (size_t c = end; c > begin; c--) {
			if (!is_flat(page, levels, c - 1, high)) {
				fsl_markup_put(markup, "L%f %f", x_of(page, c - 1),
					       y_of(levels[c - 1].high, range[0], range[1]));
			}
		}
		fsl_markup_raw(markup, end > begin ? "z" : "");
		begin = end;
	}
	fsl_markup_raw(markup, "\"/>");
}

static void put_axis(struct fsl_markup *markup, const double range[2])
{
	double tick = fsl_chart_tick(range[1] - range[0], 4);
	const struct fsl_chart_unit unit = fsl_chart_unit_of(range[1], tick);
	for (double ms = ceil(range[0] / tick) * tick; ms <= range[1]; ms += tick) {
		double y = y_of(ms, range[0], range[1]);
		fsl_chart_put_rule(markup, LEFT, RIGHT, y, ms, &unit);
	}
	fsl_markup_put(markup, "<text class=\"m\" x=\"0\" y=\"10\">%h</text>", unit.name);
}

static void set_range(double range[2], const struct fsl_html *page, const struct level *levels)
{
	double low = INFINITY, high = 0.0;
	for (size_t c = 0; c < page->n_columns; c++) {
		low = fmin(low, fmin(levels[c].low, levels[c].told));
		high = fmax(high, fmax(levels[c].high, levels[c].told));
	}
	double margin = fmax(0.15 * (high - low), 0.02 * high);
	range[0] = low - margin > 0.25 * high ? low - margin : 0.0;
	range[1] = high > 0.0 ? high + margin : 1.0;
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	struct level *levels = fsl_calloc(page->n_columns, sizeof(*levels));
	double range[2];
	if (levels == NULL) {
		markup->pack.is_failed = true;
		return;
	}
	for (size_t c = 0; c < page->n_columns; c++) {
		levels[c] = level_of(page, c);
	}
	set_range(range, page, levels);
	fsl_chart_open(markup, "bandchart", HEIGHT, "own time of the told rank and of its peers");
	put_axis(markup, range);
	put_band(markup, page, levels, range);
	fsl_markup_raw(markup, "<path class=\"middle\" d=\"");
	put_line(markup, page, levels, offsetof(struct level, middle), range);
	fsl_markup_raw(markup, "\"/>");
	bool is_named = page->ranks[page->worst].is_named;
	fsl_markup_put(markup, "<path class=\"told%h\" d=\"", is_named ? "" : " calm");
	put_line(markup, page, levels, offsetof(struct level, told), range);
	fsl_markup_raw(markup, "\"/>");
	fsl_markup_put(markup, "<text class=\"tag e%h\" x=\"%d\" y=\"%f\">rank %d</text>",
		       is_named ? "" : " calm", (int64_t)RIGHT,
		       fmax(y_of(levels[page->n_columns - 1].told, range[0], range[1]) - 7.0, 10.0),
		       page->ranks[page->worst].rank);
	/* The line of a rank that the reader chooses. */
	fsl_markup_put(markup, "<path class=\"picked\" data-frame=\"%d %d %d %d ", (int64_t)LEFT,
		       (int64_t)RIGHT, (int64_t)TOP, (int64_t)BOTTOM);
	fsl_markup_number(markup, range[0], 3);
	fsl_markup_raw(markup, " ");
	fsl_markup_number(markup, range[1], 3);
	fsl_markup_put(markup, "\"/><text class=\"tag picked\" x=\"%d\"></text>",
		       (int64_t)LEFT + 6);
	fsl_chart_close(markup);
	fsl_free(levels);
}

static void put_level(struct fsl_markup *markup, const struct level *level)
{
	const double values[] = {level->told, level->low, level->middle, level->high};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		fsl_markup_put(markup, "<td>%g%h", values[i], isnan(values[i]) ? "–" : " ms");
	}
}

/* A row for some columns: that in which the told rank took longest. */
static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	enum { TOLD_MAX = 32 };
	char clock[16];
	size_t n = page->n_columns, every = n / TOLD_MAX + (n % TOLD_MAX != 0);
	const unsigned char *told = page->own.codes + page->worst * n;
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th", FSL_PAGE_TIME);
	fsl_markup_put(markup, "<th>rank %d</th>", page->ranks[page->worst].rank);
	fsl_html_say(markup, "th", FSL_PAGE_LOW);
	fsl_html_say(markup, "th", FSL_PAGE_PEERS);
	fsl_html_say(markup, "th", FSL_PAGE_HIGH);
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	for (size_t begin = 0; begin < n; begin += every) {
		size_t longest = begin;
		for (size_t c = begin; c < begin + every && c < n; c++) {
			longest = told[c] > told[longest] ? c : longest;
		}
		const struct level level = level_of(page, longest);
		fsl_markup_put(markup, "<tr><td>%s", fsl_chart_column_clock(page, longest, clock));
		put_level(markup, &level);
	}
	fsl_markup_raw(markup, "</tbody>");
}

const struct fsl_chart fsl_chart_band = {
	.name = "band",
	.title = FSL_PAGE_BAND,
	.note = FSL_PAGE_BAND_NOTE,
	.empty = FSL_PAGE_BARS_EMPTY,
	.has = has,
	.draw = draw,
	.is_numeric = true,
	.tell = tell,
};
