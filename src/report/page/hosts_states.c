/* Two pictures of states: of the told rank's thread by step, and of a mean step of each rank. */
#include "report/page/hosts_parts.h"

#include <math.h>

enum {
	LEFT = 54,
	RIGHT = 556,
	TOP = 20,
	HIGH = 150,
	TICKS_MAX = 4,
	LABELS_MAX = 8, /* of steps below the picture */
	BARS_LEFT = 72,
	BARS_RIGHT = 466,
	BARS_MAX = 12, /* ranks in the picture; the table has more */
	ROWS_MAX = 24, /* of steps in the table */
	RANK_ROWS_MAX = 64,
};

static const struct {
	const char *class, *key;
	enum fsl_html_word word;
} looks[FSL_HTML_STATES_N] = {
	[FSL_HTML_PREEMPTED] = {"excess", "excess", FSL_PAGE_T_preempted},
	[FSL_HTML_WOKEN] = {"k3", "k3", FSL_PAGE_T_wakeup},
	[FSL_HTML_RUN] = {"s0", "s0", FSL_PAGE_T_run},
	[FSL_HTML_IRQ] = {"ink", "ink", FSL_PAGE_T_interrupt},
	[FSL_HTML_DISK] = {"s2", "s2", FSL_PAGE_T_disk},
	[FSL_HTML_STOP] = {"a two", "a two", FSL_PAGE_T_stop},
	[FSL_HTML_NOT_KNOWN] = {"unk", "hatched", FSL_PAGE_T_unknown},
	[FSL_HTML_SLEEP] = {"a idle", "a idle", FSL_PAGE_T_sleep},
};

static double queue_of(const struct fsl_html_times *times)
{
	return times->ms[FSL_HTML_PREEMPTED] + times->ms[FSL_HTML_WOKEN];
}

/* Keys of the states that take a thousandth of the time. */
static void put_state_keys(struct fsl_markup *markup, const struct fsl_html_times *times, size_t n)
{
	const double share_least = 0.001;
	fsl_markup_raw(markup, "<p class=\"key\">");
	for (size_t s = 0; s < FSL_HTML_STATES_N; s++) {
		double sum = 0.0, whole = 0.0;
		for (size_t i = 0; i < n; i++) {
			sum += times[i].ms[s];
			whole += times[i].whole_ms;
		}
		if (sum >= share_least * whole) {
			fsl_hosts_put_key(markup, looks[s].key, looks[s].word);
		}
	}
	fsl_markup_raw(markup, "</p>");
}

/* Lower edge of the time that a step has above the states up to @state. */
static double y_of(const struct fsl_html_times *step, size_t state, double most_ms)
{
	double ms = 0.0;
	for (size_t s = 0; s <= state; s++) {
		ms += step->ms[s];
	}
	return TOP + HIGH * (1.0 - ms / most_ms);
}

/* Opens the outline. Its unit across is a step, so that numbers are short; hatches stay as they
 * are. */
static void open_outline(struct fsl_markup *markup, const struct fsl_html_hosts *page, size_t state)
{
	double width = (double)(RIGHT - LEFT) / (double)page->n_steps;
	fsl_markup_put(markup, "<path class=\"%h\"", looks[state].class);
	if (state != FSL_HTML_NOT_KNOWN) {
		fsl_markup_put(markup, " transform=\"translate(%d 0) scale(", (int64_t)LEFT);
		fsl_markup_number(markup, width, 4);
		fsl_markup_raw(markup, " 1)\"");
	}
	fsl_markup_put(markup, " d=\"M%d %d",
		       state != FSL_HTML_NOT_KNOWN ? (int64_t)0 : (int64_t)LEFT,
		       (int64_t)(TOP + HIGH));
}

/* The states up to @state, as one outline over all steps: those behind it are drawn before. */
static void put_outline(struct fsl_markup *markup, const struct fsl_html_hosts *page, size_t state,
			double most_ms)
{
	double width = (double)(RIGHT - LEFT) / (double)page->n_steps, sum_ms = 0.0;
	for (size_t i = 0; i < page->n_steps; i++) {
		sum_ms += page->steps[i].ms[state];
	}
	if (!(sum_ms > 0.0)) {
		return;
	}
	open_outline(markup, page, state);
	for (size_t i = 0; i < page->n_steps; i++) {
		fsl_markup_put(markup, "V%f", y_of(&page->steps[i], state, most_ms));
		if (state == FSL_HTML_NOT_KNOWN) {
			fsl_markup_put(markup, "H%f", LEFT + (double)(i + 1) * width);
		} else {
			fsl_markup_raw(markup, "h1");
		}
	}
	fsl_markup_put(markup, "V%dz\"><title>", (int64_t)(TOP + HIGH));
	fsl_html_say(markup, "span", looks[state].word);
	fsl_markup_put(markup, " %g ms ", sum_ms / (double)page->n_steps);
	fsl_html_say(markup, "span", FSL_PAGE_PER_STEP);
	fsl_markup_raw(markup, "</title></path>");
}

static void put_step_labels(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	double width = (double)(RIGHT - LEFT) / (double)page->n_steps;
	size_t every = (page->n_steps + LABELS_MAX - 1) / LABELS_MAX;
	for (size_t i = 0; i < page->n_steps; i += every) {
		fsl_markup_put(markup, "<text class=\"m\" x=\"%f\" y=\"%d\">%d</text>",
			       LEFT + (double)i * width, (int64_t)(TOP + HIGH + 15),
			       page->steps[i].number);
	}
}

/* The step that the CPUs are shown of. */
static void put_worst(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	double width = (double)(RIGHT - LEFT) / (double)page->n_steps;
	for (size_t i = 0; i < page->n_steps; i++) {
		if (page->steps[i].number != page->step) {
			continue;
		}
		double x = LEFT + ((double)i + 0.5) * width;
		bool is_right = x > (LEFT + RIGHT) / 2.0;
		fsl_markup_put(markup,
			       "<path class=\"onset\" d=\"M%f %dV%d\"/><text class=\"tag%h\" "
			       "x=\"%f\" y=\"12\">",
			       x, (int64_t)4, (int64_t)(TOP + HIGH), is_right ? " e" : "",
			       is_right ? x - 5.0 : x + 5.0);
		fsl_html_say(markup, "tspan", FSL_PAGE_STEP);
		fsl_markup_put(markup, " %d: %g ms ", page->step, queue_of(&page->steps[i]));
		fsl_html_say(markup, "tspan", FSL_PAGE_WAIT_PER_STEP);
		fsl_markup_raw(markup, "</text>");
		return;
	}
}

/* The table beside a picture: states that nobody has are left out. */
struct twin {
	bool has[FSL_HTML_STATES_N];
};

static struct twin open_twin(struct fsl_markup *markup, enum fsl_html_word first,
			     const struct fsl_html_times *times, size_t n)
{
	int columns[2 + 2 * (FSL_HTML_STATES_N + 1)] = {(int)first};
	struct twin twin = {{0}};
	size_t n_columns = 0;
	columns[++n_columns] = FSL_PAGE_LENGTH;
	columns[++n_columns] = FSL_PAGE_RIGHT;
	for (size_t s = 0; s < FSL_HTML_STATES_N; s++) {
		for (size_t i = 0; i < n; i++) {
			twin.has[s] |= times[i].ms[s] > 0.0;
		}
		if (twin.has[s]) {
			columns[++n_columns] = (int)looks[s].word;
			columns[++n_columns] = FSL_PAGE_RIGHT;
		}
	}
	columns[++n_columns] = FSL_PAGE_WORDS_N;
	fsl_hosts_open_twin(markup, columns);
	return twin;
}

static void put_times_row(struct fsl_markup *markup, const struct twin *twin,
			  const struct fsl_html_times *times, bool is_told)
{
	fsl_markup_put(markup, "<tr%h><td>%d", is_told ? " class=\"hit\"" : "", times->number);
	fsl_hosts_put_ms_cell(markup, times->whole_ms);
	for (size_t s = 0; s < FSL_HTML_STATES_N; s++) {
		if (twin->has[s]) {
			fsl_hosts_put_ms_cell(markup, times->ms[s]);
		}
	}
}

/* At most ROWS_MAX steps, each @every one; the told one stands among them. */
static void put_steps_twin(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	size_t every = (page->n_steps + ROWS_MAX - 1) / ROWS_MAX;
	struct twin twin = open_twin(markup, FSL_PAGE_STEP, page->steps, page->n_steps);
	for (size_t i = 0; i < page->n_steps; i++) {
		bool is_told = page->steps[i].number == page->step;
		if (is_told || i % every == 0) {
			put_times_row(markup, &twin, &page->steps[i], is_told);
		}
	}
	fsl_hosts_close_twin(markup);
}

static void put_steps_picture(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	double most_ms = 0.0;
	for (size_t i = 0; i < page->n_steps; i++) {
		most_ms = fmax(most_ms, page->steps[i].whole_ms);
	}
	double tick_ms = fsl_chart_tick(most_ms, TICKS_MAX);
	struct fsl_chart_unit unit = fsl_chart_unit_of(most_ms, tick_ms);
	fsl_chart_open(markup, "steps", TOP + HIGH + 20.0, "states by step");
	for (double ms = 0.0; ms <= most_ms; ms += tick_ms) {
		fsl_chart_put_rule(markup, LEFT, RIGHT, TOP + HIGH * (1.0 - ms / most_ms), ms,
				   &unit);
	}
	fsl_markup_put(markup, "<text class=\"m e\" x=\"%d\" y=\"12\">%h</text>",
		       (int64_t)(LEFT - 6), unit.name);
	for (size_t s = FSL_HTML_STATES_N; s-- > 0;) {
		put_outline(markup, page, s, most_ms);
	}
	put_step_labels(markup, page);
	put_worst(markup, page);
	fsl_chart_close(markup);
}

void fsl_hosts_put_steps(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	double every = fsl_html_number(page->picture, "every");
	fsl_html_open_section(markup, "steps", FSL_PAGE_QUEUE_STEPS);
	if (page->n_steps == 0) {
		fsl_html_say(markup, "p class=\"empty\"", FSL_PAGE_QUEUE_EMPTY);
		fsl_markup_raw(markup, "</section>");
		return;
	}
	fsl_markup_put(markup, "<p class=\"note\">rank %d: ", page->rank);
	fsl_html_say(markup, "span",
		     every > 1.0 ? FSL_PAGE_QUEUE_STEPS_MAX : FSL_PAGE_QUEUE_STEPS_NOTE);
	fsl_markup_raw(markup, "</p>");
	put_steps_picture(markup, page);
	put_state_keys(markup, page->steps, page->n_steps);
	put_steps_twin(markup, page);
	fsl_markup_raw(markup, "</section>");
}

static void put_rank_bar(struct fsl_markup *markup, const struct fsl_html_hosts *page, size_t i,
			 double most_ms, double y, double high)
{
	const struct fsl_html_times *rank = &page->ranks[i];
	double scale = (BARS_RIGHT - BARS_LEFT) / most_ms, x = BARS_LEFT;
	bool is_told = rank->number == page->rank && page->is_named;
	fsl_markup_put(markup, "<text class=\"e%h\" x=\"%d\" y=\"%f\">rank %d</text>",
		       is_told ? " b" : "", (int64_t)(BARS_LEFT - 8), y + high / 2.0 + 5.0,
		       rank->number);
	for (size_t s = 0; s < FSL_HTML_STATES_N; s++) {
		double width = rank->ms[s] * scale;
		if (width < 0.2) {
			continue;
		}
		fsl_markup_put(markup,
			       "<rect class=\"%h\" x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\">"
			       "<title>rank %d: ",
			       looks[s].class, x, y, width, high, rank->number);
		fsl_html_say(markup, "span", looks[s].word);
		fsl_markup_put(markup, " %g ms</title></rect>", rank->ms[s]);
		x += width;
	}
	fsl_markup_put(markup, "<text class=\"e%h\" x=\"%d\" y=\"%f\">%g ms</text>",
		       is_told ? " b" : " m", (int64_t)RIGHT, y + high / 2.0 + 5.0, queue_of(rank));
}

/* Which steps are counted. */
static void put_note(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	int64_t first = fsl_html_index(page->told, "firstStep");
	int64_t last = fsl_html_index(page->told, "lastStep");
	if (first < 0) {
		fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_RANK_STATES_NOTE);
		return;
	}
	fsl_markup_raw(markup, "<p class=\"note\">");
	fsl_html_say(markup, "span", FSL_PAGE_RANK_STATES_OF);
	fsl_markup_put(markup, " %d", first);
	if (last != first) {
		fsl_markup_put(markup, "–%d", last);
	}
	fsl_markup_raw(markup, "</p>");
}

void fsl_hosts_put_states(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	size_t n = page->n_ranks < BARS_MAX ? page->n_ranks : BARS_MAX;
	double most_ms = 0.0, pitch = n <= 4 ? 34.0 : n <= 8 ? 24.0 : 17.0;
	fsl_html_open_section(markup, "states", FSL_PAGE_RANK_STATES);
	if (n == 0) {
		fsl_html_say(markup, "p class=\"empty\"", FSL_PAGE_QUEUE_EMPTY);
		fsl_markup_raw(markup, "</section>");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		most_ms = fmax(most_ms, page->ranks[i].whole_ms);
	}
	put_note(markup, page);
	fsl_chart_open(markup, "states", 20.0 + (double)n * pitch, "states by rank");
	fsl_html_say(markup, "text class=\"m e\" x=\"556\" y=\"12\"", FSL_PAGE_WAIT_PER_STEP);
	for (size_t i = 0; i < n; i++) {
		put_rank_bar(markup, page, i, most_ms, 20.0 + (double)i * pitch, pitch * 0.72);
	}
	fsl_chart_close(markup);
	put_state_keys(markup, page->ranks, n);
	struct twin twin = open_twin(markup, FSL_PAGE_RANK, page->ranks, page->n_ranks);
	for (size_t i = 0; i < page->n_ranks && i < RANK_ROWS_MAX; i++) {
		put_times_row(markup, &twin, &page->ranks[i],
			      page->is_named && page->ranks[i].number == page->rank);
	}
	fsl_hosts_close_twin(markup);
	fsl_markup_raw(markup, "</section>");
}
