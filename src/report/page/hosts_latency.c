/* How long waits for a CPU take: after a wake-up, and after another task took the CPU. */
#include "report/page/hosts_parts.h"

#include <math.h>
#include <stdio.h>

enum {
	LEFT = 54,
	RIGHT = 556,
	PANEL = 148, /* from one panel to the next */
	TOP = 38,    /* of the bars in a panel: two lines of text stand above */
	HIGH = 84,
};

/* Buckets that end above it hold long waits: powers of two have none at 1 ms. */
static const double LONG_MS = 1.1;

/* The axis: powers of two of a ms from the first to the last bucket of all. */
struct axis {
	double first_ms, n; /* lower edge, and buckets */
	double width;
};

static struct axis axis_of(const struct fsl_html_hosts *page)
{
	const struct fsl_html_waits *all[] = {&page->woken[0], &page->woken[1], &page->preempted[0],
					      &page->preempted[1]};
	double low = INFINITY, high = 0.0;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i]->count > 0.0) {
			low = fmin(low, all[i]->below_ms[0] / 2.0);
			high = fmax(high, all[i]->below_ms[all[i]->n_buckets - 1]);
		}
	}
	struct axis axis = {.first_ms = low, .n = fmin(fmax(round(log2(high / low)), 1.0), 64.0)};
	axis.width = (RIGHT - LEFT) / axis.n;
	return axis;
}

static double x_of(const struct axis *axis, double ms)
{
	double at = ms > 0.0 ? log2(ms / axis->first_ms) : 0.0;
	return LEFT + fmin(fmax(at, 0.0), axis->n) * axis->width;
}

static double most_of(const struct fsl_html_waits *waits)
{
	double most = 0.0;
	for (size_t b = 0; b < waits->n_buckets && waits->count > 0.0; b++) {
		most = fmax(most, waits->counts[b] / waits->count);
	}
	return most;
}

/* Text of a length: "6.1 µs", "25 ms". */
static void put_length(struct fsl_markup *markup, double ms)
{
	fsl_markup_put(markup, ms < 0.9995 ? "%g µs" : "%g ms", ms < 0.9995 ? ms * 1e3 : ms);
}

static void put_bars(struct fsl_markup *markup, const struct fsl_html_waits *waits,
		     const struct axis *axis, double y, double most)
{
	for (size_t b = 0; b < waits->n_buckets; b++) {
		double share = waits->counts[b] / waits->count, high = share / most * HIGH;
		double x = x_of(axis, waits->below_ms[b] / 2.0);
		if (!(waits->counts[b] > 0.0)) {
			continue;
		}
		fsl_markup_put(markup,
			       "<rect class=\"%h\" x=\"%f\" y=\"%f\" width=\"%f\" "
			       "height=\"%f\"><title>",
			       waits->below_ms[b] > LONG_MS ? "excess" : "s1", x + 0.5,
			       y + HIGH - fmax(high, 1.0), axis->width - 1.0, fmax(high, 1.0));
		put_length(markup, waits->below_ms[b] / 2.0);
		fsl_markup_raw(markup, " – ");
		put_length(markup, waits->below_ms[b]);
		fsl_markup_put(markup, ": %g</title></rect>", waits->counts[b]);
	}
}

/* The outline of the other ranks' waits. */
static void put_outline(struct fsl_markup *markup, const struct fsl_html_waits *waits,
			const struct axis *axis, double y, double most)
{
	if (!(waits->count > 0.0)) {
		return;
	}
	fsl_markup_put(markup, "<path class=\"outline\" d=\"M%f %f",
		       x_of(axis, waits->below_ms[0] / 2.0), y + HIGH);
	for (size_t b = 0; b < waits->n_buckets; b++) {
		fsl_markup_put(markup, "V%fH%f",
			       y + HIGH * (1.0 - waits->counts[b] / waits->count / most),
			       x_of(axis, waits->below_ms[b]));
	}
	fsl_markup_put(markup, "V%f\"><title>", y + HIGH);
	fsl_html_say(markup, "span", FSL_PAGE_OTHER_RANKS);
	fsl_markup_raw(markup, "</title></path>");
}

/* Percentiles as a line of text, and as marks in its order. */
static void put_percentiles(struct fsl_markup *markup, const struct fsl_html_waits *waits,
			    const struct axis *axis, double y, int64_t rank)
{
	const struct {
		const char *name;
		double ms;
	} marks[] = {{"p50", waits->p50_ms},
		     {"p95", waits->p95_ms},
		     {"p99", waits->p99_ms},
		     {"max", waits->max_ms}};
	fsl_markup_put(markup, "<text class=\"m\" x=\"1\" y=\"%f\">", y - 10.0);
	if (rank >= 0) {
		fsl_markup_put(markup, "rank %d: ", rank);
	}
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		fsl_markup_put(markup, "%h%h ", i > 0 ? " · " : "", marks[i].name);
		put_length(markup, marks[i].ms);
	}
	fsl_markup_raw(markup, "</text>");
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		fsl_markup_put(markup, "<path class=\"mark\" d=\"M%f %fV%f\"><title>%h ",
			       x_of(axis, marks[i].ms), y, y + HIGH, marks[i].name);
		put_length(markup, marks[i].ms);
		fsl_markup_raw(markup, "</title></path>");
	}
}

static void put_ticks(struct fsl_markup *markup, const struct axis *axis, double y)
{
	static const double ticks_ms[] = {1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5};
	fsl_markup_put(markup, "<path class=\"rule\" d=\"M%d %fH%d\"/>", (int64_t)LEFT, y + HIGH,
		       (int64_t)RIGHT);
	for (size_t i = 0; i < sizeof(ticks_ms) / sizeof(ticks_ms[0]); i++) {
		double last_ms = axis->first_ms * exp2(axis->n);
		if (ticks_ms[i] < axis->first_ms || ticks_ms[i] > last_ms) {
			continue;
		}
		double x = x_of(axis, ticks_ms[i]);
		fsl_markup_put(markup, "<text class=\"%h m\" x=\"%f\" y=\"%f\">",
			       x > RIGHT - 30.0 ? "e" : "x", x, y + HIGH + 15.0);
		put_length(markup, ticks_ms[i]);
		fsl_markup_raw(markup, "</text>");
	}
}

static void put_panel(struct fsl_markup *markup, const struct fsl_html_hosts *page,
		      const struct fsl_html_waits waits[2], enum fsl_html_word title, double top)
{
	const struct axis axis = axis_of(page);
	double y = top + TOP, most = fmax(most_of(&waits[0]), most_of(&waits[1]));
	bool has_told = waits[0].count > 0.0;
	char tag[64];
	(void)snprintf(tag, sizeof(tag), "text class=\"b\" x=\"1\" y=\"%.0f\"", top + 12.0);
	fsl_html_say(markup, tag, title);
	put_ticks(markup, &axis, y);
	put_bars(markup, &waits[has_told ? 0 : 1], &axis, y, most);
	if (has_told) {
		put_outline(markup, &waits[1], &axis, y, most);
	}
	put_percentiles(markup, &waits[has_told ? 0 : 1], &axis, y, has_told ? page->rank : -1);
}

static void put_twin_row(struct fsl_markup *markup, const struct fsl_html_waits *waits,
			 enum fsl_html_word what, int64_t rank)
{
	const double lengths[] = {waits->p50_ms, waits->p95_ms, waits->p99_ms, waits->max_ms};
	const double counts[] = {waits->over_100us, waits->over_1ms, waits->over_10ms};
	if (!(waits->count > 0.0)) {
		return;
	}
	fsl_markup_raw(markup, "<tr><td>");
	if (rank >= 0) {
		fsl_markup_put(markup, "rank %d", rank);
	} else {
		fsl_html_say(markup, "span", FSL_PAGE_OTHER_RANKS);
	}
	fsl_markup_raw(markup, "<td>");
	fsl_html_say(markup, "span", what);
	fsl_markup_put(markup, "<td class=\"n\">%d", (int64_t)waits->count);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fsl_markup_put(markup, "<td class=\"n\" data-v=\"%g\">", lengths[i]);
		put_length(markup, lengths[i]);
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		fsl_markup_put(markup, "<td class=\"n\">%d", (int64_t)counts[i]);
	}
}

static void put_twin(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	static const char *const heads[] = {"p50",      "p95",    "p99",    "max",
					    "> 0.1 ms", "> 1 ms", "> 10 ms"};
	static const int columns[] = {FSL_PAGE_RANK, FSL_PAGE_WAIT_PER_STEP, FSL_PAGE_WAITS_N,
				      FSL_PAGE_RIGHT};
	fsl_markup_raw(markup, "<details>");
	fsl_html_say(markup, "summary", FSL_PAGE_FIGURES);
	fsl_markup_raw(markup, "<div class=\"scroll\"><table><thead><tr>");
	fsl_html_say(markup, "th", (enum fsl_html_word)columns[0]);
	fsl_html_say(markup, "th", (enum fsl_html_word)columns[1]);
	fsl_html_say(markup, "th class=\"n\"", (enum fsl_html_word)columns[2]);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		fsl_markup_put(markup, "<th class=\"n\">%s</th>", heads[i]);
	}
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	put_twin_row(markup, &page->woken[0], FSL_PAGE_AFTER_WAKEUP, page->rank);
	put_twin_row(markup, &page->woken[1], FSL_PAGE_AFTER_WAKEUP, -1);
	put_twin_row(markup, &page->preempted[0], FSL_PAGE_AFTER_PREEMPTION, page->rank);
	put_twin_row(markup, &page->preempted[1], FSL_PAGE_AFTER_PREEMPTION, -1);
	fsl_hosts_close_twin(markup);
}

void fsl_hosts_put_latency(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	bool has_woken = page->woken[0].count + page->woken[1].count > 0.0;
	bool has_preempted = page->preempted[0].count + page->preempted[1].count > 0.0;
	fsl_html_open_section(markup, "latency", FSL_PAGE_LATENCY);
	if (!has_woken && !has_preempted) {
		fsl_html_say(markup, "p class=\"empty\"", FSL_PAGE_LATENCY_EMPTY);
		fsl_markup_raw(markup, "</section>");
		return;
	}
	if (page->rank >= 0) {
		fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_LATENCY_NOTE);
	}
	fsl_chart_open(markup, "latency", (has_woken + has_preempted) * (double)PANEL,
		       "how long waits for a CPU take");
	if (has_woken) {
		put_panel(markup, page, page->woken, FSL_PAGE_AFTER_WAKEUP, 0.0);
	}
	if (has_preempted) {
		put_panel(markup, page, page->preempted, FSL_PAGE_AFTER_PREEMPTION,
			  has_woken ? PANEL : 0.0);
	}
	fsl_chart_close(markup);
	put_twin(markup, page);
	fsl_markup_raw(markup, "</section>");
}
