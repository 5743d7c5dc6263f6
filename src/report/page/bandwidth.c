/* Bandwidth by size: a dot for each link and size of its transfers, on scales of powers of ten; the
 * link that is named stands out among links like it. */
#include "report/page/charts.h"

#include <math.h>

enum {
	HEIGHT = 220,
	LEFT = 58,
	RIGHT = 548,
	TOP = 20,
	BOTTOM = 182,
	TOLD_MAX = 60, /* rows of the table */
};

/* Exponents of ten at the ends of both axes. */
struct frame {
	double x0, x1, y0, y1;
};

static double gb_per_s(const struct fsl_html_size *size)
{
	return size->n_bytes / size->ms / 1e6;
}

static bool has(const struct fsl_html *page)
{
	size_t n = 0;
	for (size_t i = 0; i < page->n_links; i++) {
		n += page->links[i].n_sizes > 0;
	}
	return n > 1;
}

/* A margin around all dots, so that a single size stands in the middle. */
static struct frame frame_of(const struct fsl_html *page)
{
	struct frame frame = {INFINITY, -INFINITY, INFINITY, -INFINITY};
	for (size_t i = 0; i < page->n_links; i++) {
		for (size_t k = 0; k < page->links[i].n_sizes; k++) {
			double x = log10(page->links[i].sizes[k].n_bytes);
			double y = log10(gb_per_s(&page->links[i].sizes[k]));
			frame = (struct frame){fmin(frame.x0, x), fmax(frame.x1, x),
					       fmin(frame.y0, y), fmax(frame.y1, y)};
		}
	}
	double across = fmax(0.15 * (frame.x1 - frame.x0), 0.3);
	double down = fmax(0.15 * (frame.y1 - frame.y0), 0.15);
	return (struct frame){frame.x0 - across, frame.x1 + across, frame.y0 - down,
			      frame.y1 + down};
}

static double x_of(const struct frame *frame, const struct fsl_html_size *size)
{
	double share = (log10(size->n_bytes) - frame->x0) / (frame->x1 - frame->x0);
	return LEFT + share * (RIGHT - LEFT);
}

static double y_of(const struct frame *frame, double value)
{
	return BOTTOM - (log10(value) - frame->y0) / (frame->y1 - frame->y0) * (BOTTOM - TOP);
}

/* "8 MB" */
static void put_bytes(struct fsl_markup *markup, double n_bytes)
{
	static const struct {
		const char *name;
		double n_bytes;
	} units[] = {{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1.0}};
	size_t i = 0;
	while (n_bytes < units[i].n_bytes && i + 1 < sizeof(units) / sizeof(units[0])) {
		i++;
	}
	fsl_markup_put(markup, "%g %h", n_bytes / units[i].n_bytes, units[i].name);
}

/* Lines at 1, 2 and 5 times powers of ten; 1 alone if there are many. */
static void put_axes(struct fsl_markup *markup, const struct frame *frame)
{
	static const double steps[] = {1.0, 2.0, 5.0};
	size_t n_steps_y = frame->y1 - frame->y0 < 1.6 ? 3 : 1;
	size_t n_steps_x = frame->x1 - frame->x0 < 1.6 ? 3 : 1;
	for (double power = floor(frame->y0); power <= frame->y1; power += 1.0) {
		for (size_t i = 0; i < n_steps_y; i++) {
			double value = steps[i] * pow(10.0, power), y = y_of(frame, value);
			if (y <= BOTTOM && y >= TOP) {
				fsl_markup_put(markup,
					       "<path class=\"rule\" d=\"M%d %fH%d\"/><text "
					       "class=\"e m\" x=\"%d\" y=\"%f\">%g</text>",
					       (int64_t)LEFT, y, (int64_t)RIGHT, (int64_t)LEFT - 6,
					       y + 4.0, value);
			}
		}
	}
	for (double power = floor(frame->x0); power <= frame->x1; power += 1.0) {
		for (size_t i = 0; i < n_steps_x; i++) {
			struct fsl_html_size size = {steps[i] * pow(10.0, power), 1.0};
			double x = x_of(frame, &size);
			if (x >= LEFT && x <= RIGHT - 10.0) {
				fsl_markup_put(markup, "<text class=\"n0\" x=\"%f\" y=\"%d\">", x,
					       (int64_t)BOTTOM + 18);
				put_bytes(markup, size.n_bytes);
				fsl_markup_raw(markup, "</text>");
			}
		}
	}
	fsl_markup_raw(markup, "<text class=\"m\" x=\"0\" y=\"12\">GB/s</text>");
}

static void put_dots(struct fsl_markup *markup, const struct frame *frame,
		     const struct fsl_html_link *link, bool is_named)
{
	for (size_t k = 0; k < link->n_sizes; k++) {
		const struct fsl_html_size *size = &link->sizes[k];
		fsl_markup_put(markup, "<circle class=\"%h\" cx=\"%f\" cy=\"%f\" r=\"%h\"><title>",
			       is_named ? "lost a ringed" : "good a", x_of(frame, size),
			       y_of(frame, gb_per_s(size)), is_named ? "5.5" : "3.6");
		fsl_chart_put_ends(markup, link);
		fsl_markup_raw(markup, ": ");
		put_bytes(markup, size->n_bytes);
		fsl_markup_put(markup, ", %g ms, %g GB/s</title></circle>", size->ms,
			       gb_per_s(size));
	}
}

/* Dots of the named links, above those of all others, and the name of the costliest. */
static void put_named(struct fsl_markup *markup, const struct fsl_html *page,
		      const struct frame *frame)
{
	bool has_name = false;
	for (size_t i = 0; i < page->n_links; i++) {
		const struct fsl_html_link *link = &page->links[i];
		if (link->n_sizes == 0 || !fsl_chart_is_named(page, link)) {
			continue;
		}
		put_dots(markup, frame, link, true);
		if (!has_name) {
			double x = x_of(frame, &link->sizes[0]);
			bool is_right = x < FSL_CHART_WIDTH * 0.7;
			fsl_markup_put(markup, "<text class=\"tag%h\" x=\"%f\" y=\"%f\">",
				       is_right ? "" : " e", is_right ? x + 10.0 : x - 10.0,
				       y_of(frame, gb_per_s(&link->sizes[0])) + 4.5);
			fsl_chart_put_ends(markup, link);
			fsl_markup_raw(markup, "</text>");
		}
		has_name = true;
	}
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	const struct frame frame = frame_of(page);
	fsl_chart_open(markup, "bandwidth", HEIGHT, "bandwidth of links by size");
	put_axes(markup, &frame);
	for (size_t i = 0; i < page->n_links; i++) {
		if (!fsl_chart_is_named(page, &page->links[i])) {
			put_dots(markup, &frame, &page->links[i], false);
		}
	}
	put_named(markup, page, &frame);
	fsl_chart_close(markup);
	fsl_markup_raw(markup, "<p class=\"key\"><span><i class=\"a lost\"></i>");
	fsl_html_say(markup, "span", FSL_PAGE_CULPRIT);
	fsl_markup_raw(markup, "</span><span><i class=\"a good\"></i>");
	fsl_html_say(markup, "span", FSL_PAGE_LINKS_LIKE);
	fsl_markup_raw(markup, "</span></p>");
}

static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	size_t n = 0;
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th", FSL_PAGE_LINK);
	fsl_html_say(markup, "th", FSL_PAGE_SIZE);
	fsl_markup_raw(markup, "<th>ms<th>GB/s</tr></thead><tbody>");
	for (size_t i = 0; i < page->n_links; i++) {
		const struct fsl_html_link *link = &page->links[i];
		for (size_t k = 0; k < link->n_sizes && n < TOLD_MAX; k++, n++) {
			fsl_markup_put(markup, "<tr%h><td>",
				       fsl_chart_is_named(page, link) ? " class=\"hit\"" : "");
			fsl_chart_put_ends(markup, link);
			fsl_markup_raw(markup, "<td>");
			put_bytes(markup, link->sizes[k].n_bytes);
			fsl_markup_put(markup, "<td>%g<td>%g", link->sizes[k].ms,
				       gb_per_s(&link->sizes[k]));
		}
	}
	fsl_markup_raw(markup, "</tbody>");
}

const struct fsl_chart fsl_chart_bandwidth = {
	.name = "bandwidth",
	.title = FSL_PAGE_BANDWIDTH,
	.note = FSL_PAGE_BANDWIDTH_NOTE,
	.empty = FSL_PAGE_BANDWIDTH_EMPTY,
	.has = has,
	.draw = draw,
	.is_numeric = true,
	.tell = tell,
};
