/* Kernels by operations per byte and per second, if counters tell both. */
#include "report/page/functions_parts.h"

#include <math.h>

enum { LEFT = 64, RIGHT = 552, TOP = 10, BOTTOM = 206, HEIGHT = 246, DECADES_MAX = 12 };

/* Both axes are logarithms to the base of ten. */
struct roof {
	double x_low, x_high, y_low, y_high; /* whole decades */
	double best_rate, best_bandwidth;    /* operations and bytes per second */
};

static bool is_told(const struct fsl_html_function *function)
{
	return function->section == FSL_HTML_COMPUTE && function->flops > 0.0 &&
	       function->bytes > 0.0 && function->call_us > 0.0;
}

static double rate_of(const struct fsl_html_function *function)
{
	return function->flops / (function->call_us / 1e6);
}

static bool measure(struct roof *out, const struct fsl_html_functions *page)
{
	double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
	*out = (struct roof){0};
	for (size_t i = 0; i < page->n_items; i++) {
		const struct fsl_html_function *function = &page->items[i];
		if (!is_told(function)) {
			continue;
		}
		double x = log10(function->flops / function->bytes), y = log10(rate_of(function));
		x_low = fmin(x_low, x);
		x_high = fmax(x_high, x);
		y_low = fmin(y_low, y);
		y_high = fmax(y_high, y);
		out->best_rate = fmax(out->best_rate, rate_of(function));
		out->best_bandwidth =
			fmax(out->best_bandwidth, function->bytes / (function->call_us / 1e6));
	}
	out->x_low = floor(x_low);
	out->x_high = fmax(ceil(x_high), out->x_low + 1.0);
	out->y_low = floor(y_low);
	out->y_high = fmax(ceil(y_high + 0.1), out->y_low + 1.0);
	return x_high - x_low < DECADES_MAX && y_high - y_low < DECADES_MAX;
}

static double x_of(const struct roof *roof, double log_x)
{
	return LEFT + (RIGHT - LEFT) * (log_x - roof->x_low) / (roof->x_high - roof->x_low);
}

static double y_of(const struct roof *roof, double log_y)
{
	return BOTTOM - (BOTTOM - TOP) * (log_y - roof->y_low) / (roof->y_high - roof->y_low);
}

/* "10 G": a power of ten with its prefix. */
static void put_power(struct fsl_markup *markup, double power)
{
	static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
	int thousands = power >= 0.0 ? (int)(power / 3.0) : 0;
	thousands = thousands > 6 ? 6 : thousands;
	fsl_markup_number(markup, pow(10.0, power - 3.0 * thousands), 6);
	fsl_markup_raw(markup, prefixes[thousands]);
}

static void put_axes(struct fsl_markup *markup, const struct roof *roof)
{
	for (double y = roof->y_low; y <= roof->y_high; y += 1.0) {
		fsl_markup_put(markup,
			       "<path class=\"rule\" d=\"M%d %fH%d\"/><text class=\"e m\" x=\"%d\" "
			       "y=\"%f\">",
			       (int64_t)LEFT, y_of(roof, y), (int64_t)RIGHT, (int64_t)(LEFT - 6),
			       y_of(roof, y) + 4.0);
		put_power(markup, y);
		fsl_markup_raw(markup, "</text>");
	}
	for (double x = roof->x_low; x <= roof->x_high; x += 1.0) {
		fsl_markup_put(markup, "<text class=\"x\" x=\"%f\" y=\"%d\">", x_of(roof, x),
			       (int64_t)(BOTTOM + 16));
		put_power(markup, x);
		fsl_markup_raw(markup, "</text>");
	}
	fsl_html_say(markup, "text class=\"m\" x=\"64\" y=\"240\"", FSL_PAGE_PER_BYTE);
}

/* The best rate, and the best bandwidth up to it. */
static void put_roof(struct fsl_markup *markup, const struct roof *roof)
{
	double rate = log10(roof->best_rate), bandwidth = log10(roof->best_bandwidth);
	double from_y = fmax(bandwidth + roof->x_low, roof->y_low);
	double knee = fmin(rate - bandwidth, roof->x_high);
	fsl_markup_put(markup, "<path class=\"level\" d=\"M%f %fL%f %fH%d\"/>",
		       x_of(roof, from_y - bandwidth), y_of(roof, from_y), x_of(roof, knee),
		       y_of(roof, knee + bandwidth), (int64_t)RIGHT);
}

static void put_point(struct fsl_markup *markup, const struct roof *roof,
		      const struct fsl_html_functions *page, size_t i)
{
	const struct fsl_html_function *function = &page->items[i];
	double intensity = function->flops / function->bytes, rate = rate_of(function);
	fsl_markup_put(
		markup, "<circle class=\"pt%h\" cx=\"%f\" cy=\"%f\" r=\"%f\" data-f=\"%d\"><title>",
		function->n_abnormal > 0 ? " hot" : "", x_of(roof, log10(intensity)),
		y_of(roof, log10(rate)),
		4.0 + 12.0 * sqrt(isfinite(function->ratio) ? fmin(function->ratio, 1.0) : 0.0),
		(int64_t)i);
	fsl_functions_put_name(markup, function, 60);
	fsl_markup_put(markup, ": %g G/s, %g ", rate / 1e9, intensity);
	fsl_html_say(markup, "span", FSL_PAGE_PER_BYTE);
	fsl_markup_raw(markup, "</title></circle>");
}

void fsl_functions_put_roofline(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	struct roof roof;
	size_t n = 0;
	for (size_t i = 0; i < page->n_items; i++) {
		n += is_told(&page->items[i]);
	}
	if (n == 0 || !measure(&roof, page)) {
		return;
	}
	fsl_markup_raw(markup, "<div id=\"roofline\">");
	fsl_html_say(markup, "h3", FSL_PAGE_ROOFLINE);
	fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_ROOFLINE_NOTE);
	fsl_chart_open(markup, "roof", HEIGHT, "kernels by operations per byte and per second");
	put_axes(markup, &roof);
	put_roof(markup, &roof);
	for (size_t i = 0; i < page->n_items; i++) {
		if (is_told(&page->items[i])) {
			put_point(markup, &roof, page, i);
		}
	}
	fsl_chart_close(markup);
	fsl_markup_raw(markup, "</div>");
}
