/* Charts of the page, one file each. Each draws a picture of FSL_CHART_WIDTH units, scaled to the
 * width that there is, and says in one sentence why it is empty, if it is. */
#ifndef FSL_REPORT_PAGE_CHARTS_H
#define FSL_REPORT_PAGE_CHARTS_H

#include "report/page/markup.h"
#include "report/page/model.h"
#include "report/page/texts.h"

enum { FSL_CHART_WIDTH = 560 };

/* One picture: a name, its head, and the functions that draw it as SVG and as a table. */
struct fsl_chart {
	const char *name; /* also its id in the page */
	enum fsl_html_word title, note, empty;
	/* Whether there is something to draw. */
	bool (*has)(const struct fsl_html *page);
	void (*draw)(struct fsl_markup *markup, const struct fsl_html *page);
	bool is_numeric; /* all columns of its table but the first are numbers */
	/* Rows of a table with the same figures, with its head. */
	void (*tell)(struct fsl_markup *markup, const struct fsl_html *page);
};

extern const struct fsl_chart fsl_chart_grid, fsl_chart_strip, fsl_chart_bars, fsl_chart_links,
	fsl_chart_bandwidth, fsl_chart_waits, fsl_chart_stalls, fsl_chart_growth, fsl_chart_account,
	fsl_chart_band, fsl_chart_arrival;

/* Opens an SVG of a height in units, with a name for readers of screens. */
void fsl_chart_open(struct fsl_markup *markup, const char *name, double height, const char *label);
void fsl_chart_close(struct fsl_markup *markup);
/* Rounds a greatest value up to 1, 2 or 5 times a power of ten that divides an axis well. */
double fsl_chart_tick(double span, int n_ticks_max);
/* An axis of milliseconds, or of seconds if it reaches far. */
struct fsl_chart_unit {
	const char *name;
	double ms;
	int decimals;
};
/* The unit of an axis up to @high_ms with a line each @tick_ms. */
struct fsl_chart_unit fsl_chart_unit_of(double high_ms, double tick_ms);
/* A line across the chart from @left to @right at height @y, with its value before it. */
void fsl_chart_put_rule(struct fsl_markup *markup, int64_t left, int64_t right, double y, double ms,
			const struct fsl_chart_unit *unit);
/* The end of a name of at most @n_most bytes, which tells hosts apart, with "…" if it is cut. */
void fsl_chart_put_end(struct fsl_markup *markup, const char *name, size_t n_most);
/* "rank 2 → 6", or of a group its first members. */
void fsl_chart_put_ends(struct fsl_markup *markup, const struct fsl_html_link *link);
/* True if the verdict names the link. */
bool fsl_chart_is_named(const struct fsl_html *page, const struct fsl_html_link *link);
/* Opens a key, <p>, with the scale of costs in a <span> that stays open, too. */
void fsl_chart_put_scale(struct fsl_markup *markup);
/* Time of day from an ISO time: "15:07:05"; "" if it is none. @buffer of 16 bytes. */
const char *fsl_chart_clock(const char *iso, char buffer[16]);
/* Begin of a column of the matrices as a time of day; "" if the case does not tell it. */
const char *fsl_chart_column_clock(const struct fsl_html *page, size_t column, char buffer[16]);
/* ISO time of nanoseconds since 1970. @buffer of 40 bytes. */
const char *fsl_chart_iso(int64_t ns, char buffer[40]);

#endif
