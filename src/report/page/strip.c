/* The strip: a dot for each step, levels before and after the onset, checkpoints and stalls. */
#include "report/page/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

enum {
	HEIGHT = 236,
	LEFT = 46,
	RIGHT = 552,
	TOP = 26,
	BOTTOM = 204,
	POINTS_MAX = 500, /* more lie on the same pixels */
	TITLED_MAX = 160, /* dots that tell their figures without a script */
	TOLD_MAX = 60,    /* rows of the table */
	TALL = 8,         /* times the middle step: longer ones do not set the scale */
	STALLS_MAX = 200, /* marks of one kind */
	FEW = 12,         /* steps whose dots are larger, as of captures */
};

/* Steps, and the frame that they are drawn in. */
struct strip {
	const struct fsl_html *page;
	double from_ms, to_ms;  /* of time */
	double low_ms, high_ms; /* of lengths; longer ones are drawn at the upper edge */
};

static double x_of(const struct strip *strip, double at_ms)
{
	double span = strip->to_ms - strip->from_ms;
	double share = span > 0.0 ? (at_ms - strip->from_ms) / span : 0.5;
	double margin = strip->page->n_steps <= FEW ? 10.0 : 0.0; /* of large dots */
	return LEFT + margin + fmin(fmax(share, 0.0), 1.0) * (RIGHT - LEFT - 1.5 * margin);
}

static double y_of(const struct strip *strip, double ms)
{
	double share = (ms - strip->low_ms) / (strip->high_ms - strip->low_ms);
	return BOTTOM - fmin(fmax(share, 0.0), 1.0) * (BOTTOM - TOP);
}

/* Begin of a step with a number, or of the first behind it; the end if there is none. */
static double time_of(const struct strip *strip, int64_t step)
{
	const struct fsl_html *page = strip->page;
	for (size_t i = 0; i < page->n_steps; i++) {
		if (page->steps[i].step >= step) {
			return page->steps[i].at_ms;
		}
	}
	return strip->to_ms;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Single steps may be a hundred times as long as usual: they do not set the scale. */
static bool set_scale(struct strip *strip)
{
	const struct fsl_html *page = strip->page;
	size_t n = page->n_steps;
	double *ms = fsl_calloc(n + 1, sizeof(*ms));
	if (ms == NULL) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		ms[i] = page->steps[i].ms;
	}
	qsort(ms, n, sizeof(*ms), by_value);
	double most = ms[n - 1] <= TALL * ms[(n - 1) / 2] ? ms[n - 1] : 2.0 * ms[(n - 1) * 19 / 20];
	double least = ms[n / 100];
	double margin = fmax(0.4 * (most - least), 0.05 * most);
	strip->low_ms = least - margin > 0.25 * most ? least - margin : 0.0;
	strip->high_ms = most + 0.25 * (most - strip->low_ms);
	if (!(strip->high_ms > strip->low_ms)) {
		strip->high_ms = strip->low_ms + 1.0;
	}
	fsl_free(ms);
	return true;
}

static void put_axes(struct fsl_markup *markup, const struct strip *strip)
{
	char buffer[40], clock[16], span[32];
	double tick = fsl_chart_tick(strip->high_ms - strip->low_ms, 4);
	double first = ceil(strip->low_ms / tick) * tick;
	const struct fsl_chart_unit unit = fsl_chart_unit_of(strip->high_ms, tick);
	for (double ms = first; ms <= strip->high_ms; ms += tick) {
		double y = y_of(strip, ms);
		fsl_chart_put_rule(markup, LEFT, RIGHT, y, ms, &unit);
	}
	fsl_markup_put(markup, "<text class=\"m\" x=\"0\" y=\"12\">%h</text>", unit.name);
	const cJSON *series = fsl_html_at(fsl_html_at(strip->page->root, "pictures"), "steps");
	int64_t from_ns = fsl_html_index(series, "fromNs");
	if (from_ns > 0) {
		const char *iso = fsl_chart_iso(from_ns, buffer);
		fsl_markup_put(markup, "<text class=\"m\" x=\"%d\" y=\"226\">%s UTC</text>",
			       (int64_t)LEFT, fsl_chart_clock(iso, clock));
		int64_t to_ns = from_ns + (int64_t)(strip->to_ms * 1e6);
		iso = fsl_chart_iso(to_ns, buffer);
		fsl_markup_put(markup, "<text class=\"e m\" x=\"%d\" y=\"226\">%s</text>",
			       (int64_t)RIGHT, fsl_chart_clock(iso, clock));
	} else {
		fsl_markup_put(markup, "<text class=\"e m\" x=\"%d\" y=\"226\">%s</text>",
			       (int64_t)RIGHT, fsl_markup_span(strip->to_ms, span));
	}
}

/* Shades slow stretches and draws their levels. */
static void put_episodes(struct fsl_markup *markup, const struct strip *strip)
{
	const cJSON *pictures = fsl_html_at(strip->page->root, "pictures"), *episode = NULL;
	double behind = strip->from_ms;
	cJSON_ArrayForEach(episode, fsl_html_at(pictures, "episodes"))
	{
		int64_t since = fsl_html_index(episode, "sinceStep");
		int64_t until = fsl_html_index(episode, "untilStep");
		double before_ms = fsl_html_number(episode, "beforeMs");
		double after_ms = fsl_html_number(episode, "afterMs");
		double x0 = x_of(strip, behind), x1 = x_of(strip, time_of(strip, since));
		double x2 = until >= 0 ? x_of(strip, time_of(strip, until)) : RIGHT;
		if (since < 0 || !isfinite(before_ms) || !isfinite(after_ms)) {
			continue;
		}
		fsl_markup_put(markup,
			       "<rect class=\"ep\" x=\"%f\" y=\"%d\" width=\"%f\" height=\"%d\"/>",
			       x1, (int64_t)TOP, fmax(x2 - x1, 0.0), (int64_t)(BOTTOM - TOP));
		fsl_markup_put(markup, "<path class=\"level\" d=\"M%f %fH%f\"/>", x0,
			       y_of(strip, before_ms), x1);
		fsl_markup_put(markup, "<path class=\"level bad\" d=\"M%f %fH%f\"/>", x1,
			       y_of(strip, after_ms), x2);
		behind = until >= 0 ? time_of(strip, until) : strip->to_ms;
	}
}

static size_t every_of(size_t n, size_t most)
{
	return n / most + (n % most != 0);
}

/* Index of the longest step of those from @i on. */
static size_t longest_of(const struct fsl_html *page, size_t i, size_t every)
{
	size_t longest = i;
	for (size_t k = i; k < i + every && k < page->n_steps; k++) {
		longest = page->steps[k].ms > page->steps[longest].ms ? k : longest;
	}
	return longest;
}

static void put_dots(struct fsl_markup *markup, const struct strip *strip)
{
	const struct fsl_html *page = strip->page;
	size_t every = every_of(page->n_steps, POINTS_MAX);
	bool is_titled = page->n_steps <= TITLED_MAX;
	fsl_markup_put(markup, "%h",
		       is_titled ? "<g class=\"dots\">" : "<path class=\"dots\" d=\"");
	for (size_t i = 0; i < page->n_steps; i += every) {
		const struct fsl_html_step *step = &page->steps[longest_of(page, i, every)];
		double x = x_of(strip, step->at_ms), y = y_of(strip, step->ms);
		if (!is_titled) {
			fsl_markup_put(markup, "M%f %fh0", x, y);
			continue;
		}
		fsl_markup_put(markup,
			       "<circle cx=\"%f\" cy=\"%f\" r=\"2.4\"><title>step %d: %g ms</title>"
			       "</circle>",
			       x, y, step->step, step->ms);
	}
	fsl_markup_raw(markup, is_titled ? "</g>" : "\"/>");
}

static void put_stall(struct fsl_markup *markup, const cJSON *stall, double x)
{
	fsl_markup_put(markup, "<path class=\"stall\" d=\"M%f %dl-5 -8h10z\"><title>", x,
		       (int64_t)TOP - 2);
	fsl_html_say(markup, "span", FSL_PAGE_STALL);
	fsl_markup_put(markup, ", step %d: ", fsl_html_index(stall, "step"));
	fsl_html_say_of(markup, 'P', fsl_html_text(stall, "phase"));
	fsl_markup_put(markup, ", %g ms</title></path>", fsl_html_number(stall, "lostMs"));
}

/* Ticks of checkpoints below, and of stalls above. */
static void put_marks(struct fsl_markup *markup, const struct strip *strip)
{
	const struct fsl_html *page = strip->page;
	const cJSON *stall = NULL;
	double behind = -10.0;
	for (size_t i = 0; i < page->n_steps; i++) {
		double x = x_of(strip, page->steps[i].at_ms);
		if (page->steps[i].has_checkpoint && x - behind >= 1.5) {
			fsl_markup_put(markup,
				       "<path class=\"save\" d=\"M%f %dv6\"><title>step %d: ", x,
				       (int64_t)BOTTOM + 2, page->steps[i].step);
			fsl_html_say(markup, "span", FSL_PAGE_CHECKPOINT);
			fsl_markup_raw(markup, "</title></path>");
			behind = x;
		}
	}
	cJSON_ArrayForEach(stall, fsl_html_at(fsl_html_at(page->root, "pictures"), "stalls"))
	{
		int64_t step = fsl_html_index(stall, "step");
		int64_t every = fsl_html_index(stall, "everySteps");
		int64_t n = every > 0 ? fsl_html_index(stall, "times") : 1;
		for (int64_t i = 0; step >= 0 && i < n && i < STALLS_MAX; i++) {
			double at_ms = time_of(strip, step + i * every);
			if (at_ms < strip->to_ms || i == 0) {
				put_stall(markup, stall, x_of(strip, at_ms));
			}
		}
	}
}

/* A job that hangs: its silence begins where the steps end. */
static void put_silence(struct fsl_markup *markup, const cJSON *root)
{
	char clock[16];
	fsl_markup_put(markup,
		       "<path class=\"onset\" d=\"M%d %dV%d\"/><text class=\"tag e\" x=\"%d\" "
		       "y=\"15\">",
		       (int64_t)RIGHT, (int64_t)TOP - 8, (int64_t)BOTTOM, (int64_t)RIGHT - 5);
	fsl_html_say(markup, "tspan", FSL_PAGE_NO_EVENT_SINCE);
	fsl_markup_put(markup, " %s UTC</text>",
		       fsl_chart_clock(fsl_html_text(fsl_html_at(root, "hang"), "since"), clock));
}

/* The onset: of the costliest culprit, else of the first slow stretch. */
static void put_onset(struct fsl_markup *markup, const struct strip *strip)
{
	const cJSON *root = strip->page->root, *list = fsl_html_at(root, "culprits");
	const cJSON *culprit = cJSON_IsArray(list) ? list->child : NULL;
	const cJSON *episodes = fsl_html_at(fsl_html_at(root, "pictures"), "episodes");
	int64_t step = fsl_html_index(culprit, "onsetStep");
	char clock[16];
	const cJSON *losses = fsl_html_at(root, "losses");
	if (cJSON_IsObject(fsl_html_at(root, "hang"))) {
		put_silence(markup, root);
		return;
	}
	if (step < 0 && culprit == NULL && cJSON_IsArray(episodes)) {
		step = fsl_html_index(episodes->child, "sinceStep");
	}
	if (step < 0 && culprit == NULL && cJSON_IsArray(losses)) {
		step = fsl_html_index(losses->child, "sinceStep");
	}
	if (step < 0) {
		return;
	}
	double x = x_of(strip, time_of(strip, step));
	bool is_right = x < FSL_CHART_WIDTH * 0.6;
	fsl_markup_put(markup, "<path class=\"onset\" d=\"M%f %dV%d\"/>", x, (int64_t)TOP - 8,
		       (int64_t)BOTTOM);
	fsl_markup_put(markup, "<text class=\"tag%h\" x=\"%f\" y=\"15\">step %d",
		       is_right ? "" : " e", is_right ? x + 5.0 : x - 5.0, step);
	const char *time = fsl_chart_clock(fsl_html_text(culprit, "onsetTime"), clock);
	fsl_markup_put(markup, "%h%s%h</text>", *time != '\0' ? " · " : "", time,
		       *time != '\0' ? " UTC" : "");
}

static bool has(const struct fsl_html *page)
{
	return page->n_steps > 1;
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	const struct fsl_html_step *last = &page->steps[page->n_steps - 1];
	struct strip strip = {page, page->steps[0].at_ms, last->at_ms, 0.0, 1.0};
	if (!set_scale(&strip)) {
		markup->pack.is_failed = true;
		return;
	}
	fsl_chart_open(markup, page->n_steps <= FEW ? "strip few" : "strip", HEIGHT,
		       "length of each step over time");
	put_episodes(markup, &strip);
	put_axes(markup, &strip);
	put_dots(markup, &strip);
	put_marks(markup, &strip);
	put_onset(markup, &strip);
	fsl_chart_close(markup);
}

static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	size_t every = every_of(page->n_steps, TOLD_MAX);
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th", FSL_PAGE_STEP);
	fsl_html_say(markup, "th", FSL_PAGE_LENGTH);
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	for (size_t i = 0; i < page->n_steps; i += every) {
		const struct fsl_html_step *step = &page->steps[longest_of(page, i, every)];
		fsl_markup_put(markup, "<tr><td>%d<td>%g ms", step->step, step->ms);
	}
	fsl_markup_raw(markup, "</tbody>");
}

const struct fsl_chart fsl_chart_strip = {
	.name = "strip",
	.title = FSL_PAGE_STRIP,
	.note = FSL_PAGE_STRIP_NOTE,
	.empty = FSL_PAGE_STRIP_EMPTY,
	.has = has,
	.draw = draw,
	.is_numeric = true,
	.tell = tell,
};
