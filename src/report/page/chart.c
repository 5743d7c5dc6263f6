/* Shared by all charts. */
#include "report/page/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

void fsl_chart_open(struct fsl_markup *markup, const char *name, double height, const char *label)
{
	fsl_markup_put(markup,
		       "<svg class=\"c %h\" viewBox=\"0 0 %d %f\" role=\"img\" aria-label=\"%s\" "
		       "xmlns=\"http://www.w3.org/2000/svg\">",
		       name, (int64_t)FSL_CHART_WIDTH, height, label);
}

void fsl_chart_close(struct fsl_markup *markup)
{
	fsl_markup_raw(markup, "</svg>");
}

double fsl_chart_tick(double span, int n_ticks_max)
{
	double rough = span / n_ticks_max;
	double power = pow(10.0, floor(log10(rough)));
	double factor = rough / power;
	return (factor <= 1.0 ? 1.0 : factor <= 2.0 ? 2.0 : factor <= 5.0 ? 5.0 : 10.0) * power;
}

struct fsl_chart_unit fsl_chart_unit_of(double high_ms, double tick_ms)
{
	const double seconds_from_ms = 2e4; /* five digits before a line are too many */
	struct fsl_chart_unit unit = {"ms", 1.0, 0};
	if (high_ms >= seconds_from_ms) {
		unit = (struct fsl_chart_unit){"s", 1e3, 0};
	}
	unit.decimals = tick_ms < unit.ms ? 2 : 0;
	return unit;
}

void fsl_chart_put_rule(struct fsl_markup *markup, int64_t left, int64_t right, double y, double ms,
			const struct fsl_chart_unit *unit)
{
	fsl_markup_put(markup, "<path class=\"rule\" d=\"M%d %fH%d\"/>", left, y, right);
	fsl_markup_put(markup, "<text class=\"e m\" x=\"%d\" y=\"%f\">", left - 6, y + 4.0);
	fsl_markup_number(markup, ms / unit->ms, unit->decimals);
	fsl_markup_raw(markup, "</text>");
}

void fsl_chart_put_end(struct fsl_markup *markup, const char *name, size_t n_most)
{
	size_t length = strlen(name), skipped = length > n_most ? length - n_most + 1 : 0;
	while (skipped > 0 && ((unsigned char)name[skipped] & 0xc0) == 0x80) {
		skipped--;
	}
	fsl_markup_put(markup, "%h%s", skipped > 0 ? "…" : "", name + skipped);
}

void fsl_chart_put_scale(struct fsl_markup *markup)
{
	fsl_markup_raw(markup,
		       "<p class=\"key\"><span class=\"scale\"><i class=\"k0\"></i>0 <i "
		       "class=\"k1\"></i>3 % <i class=\"k2\"></i>10 % <i class=\"k3\"></i>20 "
		       "% <i class=\"k4\"></i>≥ 50 % ");
	fsl_html_say(markup, "span", FSL_PAGE_OF_STEP);
}

const char *fsl_chart_clock(const char *iso, char buffer[16])
{
	buffer[0] = '\0';
	if (strlen(iso) >= 19 && iso[10] == 'T') {
		(void)snprintf(buffer, 16, "%.8s", iso + 11);
	}
	return buffer;
}

const char *fsl_chart_iso(int64_t ns, char buffer[40])
{
	return fsl_format_utc(ns, buffer, 40);
}

const char *fsl_chart_column_clock(const struct fsl_html *page, size_t column, char buffer[16])
{
	char iso[40];
	const cJSON *over_time = fsl_html_at(fsl_html_at(page->root, "pictures"), "overTime");
	int64_t from_ns = fsl_html_index(over_time, "fromNs");
	int64_t to_ns = fsl_html_index(over_time, "toNs");
	double share = (double)column / (double)page->n_columns;
	buffer[0] = '\0';
	if (from_ns < 0 || to_ns <= from_ns) {
		return buffer;
	}
	int64_t at_ns = from_ns + (int64_t)(share * (double)(to_ns - from_ns));
	return fsl_chart_clock(fsl_chart_iso(at_ns, iso), buffer);
}
