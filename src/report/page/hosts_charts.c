/* Two pictures of the worst waits: who held each CPU, and who held the CPUs of the told rank. */
#include "report/page/hosts_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEFT = 76,
	RIGHT = 556,
	TOP = 4,
	TICKS_MAX = 6,
	HELD_ROW = 34,
	HELD_BAR = 12,
	PIDS_SHOWN = 2,
	NAME_MAX_SHOWN = 40,
};

/* Classes of colours and words, by who held a CPU. */
static const struct {
	const char *class, *key;
	enum fsl_html_word word;
} looks[FSL_HTML_CLASSES_N] = {
	[FSL_HTML_TOLD] = {"s0", "s0", FSL_PAGE_HOLDS_told},
	[FSL_HTML_CULPRIT] = {"excess", "excess", FSL_PAGE_HOLDS_culprit},
	[FSL_HTML_LIKELY] = {"likely", "likely", FSL_PAGE_HOLDS_likely},
	[FSL_HTML_RANKS] = {"s2", "s2", FSL_PAGE_HOLDS_ranks},
	[FSL_HTML_PROCESSES] = {"a two", "a two", FSL_PAGE_HOLDS_processes},
	[FSL_HTML_KERNEL] = {"s5", "s5", FSL_PAGE_HOLDS_kernel},
	[FSL_HTML_INTERRUPT] = {"ink", "ink", FSL_PAGE_HOLDS_interrupt},
	[FSL_HTML_IDLE] = {"a idle", "a idle", FSL_PAGE_HOLDS_idle},
	[FSL_HTML_UNHELD] = {"unk", "hatched", FSL_PAGE_HOLDS_unknown},
};

void fsl_hosts_put_key(struct fsl_markup *markup, const char *class, enum fsl_html_word word)
{
	fsl_markup_put(markup, "<span><i class=\"%h\"></i>", class);
	fsl_html_say(markup, "span", word);
	fsl_markup_raw(markup, "</span>");
}

void fsl_hosts_open_twin(struct fsl_markup *markup, const int *columns)
{
	fsl_markup_raw(markup, "<details>");
	fsl_html_say(markup, "summary", FSL_PAGE_FIGURES);
	fsl_html_put_head(markup, columns);
}

void fsl_hosts_close_twin(struct fsl_markup *markup)
{
	fsl_markup_raw(markup, "</tbody></table></div></details>");
}

void fsl_hosts_put_ms_cell(struct fsl_markup *markup, double ms)
{
	if (isfinite(ms)) {
		fsl_markup_put(markup, "<td class=\"n\">%g ms", ms);
	} else {
		fsl_markup_raw(markup, "<td class=\"n\">–");
	}
}

void fsl_hosts_put_holder(struct fsl_markup *markup, const struct fsl_html_holder *holder,
			  const char *tag)
{
	const cJSON *pid = NULL;
	size_t n = 0;
	bool is_somebody = strcmp(holder->kind, "process") == 0 ||
			   strcmp(holder->kind, "kernel") == 0 || holder->rank >= 0;
	if (!is_somebody) {
		fsl_html_say_word(markup, tag, 'H', holder->kind);
		return;
	}
	if (holder->rank >= 0) {
		fsl_markup_put(markup, "rank %d ", holder->rank);
	}
	fsl_chart_put_end(markup, *holder->name != '\0' ? holder->name : "?", NAME_MAX_SHOWN);
	cJSON_ArrayForEach(pid, holder->pids)
	{
		if (n++ < PIDS_SHOWN) {
			fsl_markup_put(markup, "%h%d", n == 1 ? " (" : ", ",
				       fsl_html_index_of(pid));
		}
	}
	bool has_more = n > PIDS_SHOWN || holder->has_more_pids;
	fsl_markup_raw(markup, has_more ? ", …" : "");
	fsl_markup_raw(markup, n > 0 ? ")" : "");
}

/* How high lanes are, so that all of them fit. A CPU that the rank waits for is higher than others
 * if there are many. */
struct layout {
	double lane, told, line, gap; /* a CPU, one that is waited for, the line of waits */
	size_t labels_every;
};

static struct layout layout_of(const struct fsl_html_hosts *page)
{
	static const struct layout layouts[] = {
		{34, 34, 5, 15, 1}, {22, 22, 4, 9, 1}, {12, 18, 4, 5, 1}, {7, 18, 4, 4, 2}};
	size_t n = page->n_lanes;
	return layouts[n <= 2 ? 0 : n <= 4 ? 1 : n <= 8 ? 2 : 3];
}

static double lane_high(const struct layout *layout, const struct fsl_html_lane *lane)
{
	return lane->wait_ms > 0.0 ? layout->told : layout->lane;
}

/* From one CPU to the next. */
static double pitch_of(const struct layout *layout, const struct fsl_html_lane *lane)
{
	bool has_line = lane->wait_ms > 0.0 || layout->labels_every == 1;
	return lane_high(layout, lane) + layout->gap + (has_line ? layout->line : 0.0);
}

/* Opens a group whose unit across is a cell: numbers are short. */
static void open_cells(struct fsl_markup *markup, const struct fsl_html_lane *lane, double y)
{
	fsl_markup_put(markup, "<g transform=\"translate(%d %f) scale(", (int64_t)LEFT, y);
	fsl_markup_number(markup, (double)(RIGHT - LEFT) / (double)lane->n, 4);
	fsl_markup_raw(markup, " 1)\">");
}

static void put_cells(struct fsl_markup *markup, size_t from, size_t to, double high)
{
	fsl_markup_put(markup, "M%d 0H%dv%fH%dz", (int64_t)from, (int64_t)to, high, (int64_t)from);
}

/* Cells of one class in a lane, as one path in units of cells; nothing if it has none. */
static void put_class(struct fsl_markup *markup, const struct fsl_html_lane *lane,
		      enum fsl_html_class class, double high)
{
	bool is_open = false;
	for (size_t c = 0, end = 0; c < lane->n; c = end) {
		enum fsl_html_class own = fsl_html_class_of(lane->holders[c]);
		for (end = c + 1; end < lane->n && lane->holders[end] == lane->holders[c];) {
			end++;
		}
		if (own != class) {
			continue;
		}
		if (!is_open) {
			fsl_markup_put(markup, "<path class=\"%h\" d=\"", looks[class].class);
		}
		is_open = true;
		put_cells(markup, c, end, high);
	}
	if (is_open) {
		fsl_markup_put(markup, "\"><title>CPU %d: ", lane->cpu);
		fsl_html_say(markup, "span", looks[class].word);
		fsl_markup_put(markup, " %g ms</title></path>", lane->ms[class]);
	}
}

/* The line below a lane: the told thread waits for this CPU. */
static void put_waits(struct fsl_markup *markup, const struct fsl_html_lane *lane, double high)
{
	if (strchr(lane->waits, 'w') == NULL) {
		return;
	}
	fsl_markup_raw(markup, "<path class=\"ink waits\" d=\"");
	for (size_t c = 0, end = 0; c < lane->n; c = end) {
		for (end = c + 1; end < lane->n && lane->waits[end] == lane->waits[c];) {
			end++;
		}
		if (lane->waits[c] == 'w') {
			put_cells(markup, c, end, high);
		}
	}
	fsl_markup_raw(markup, "\"><title>");
	fsl_html_say(markup, "span", FSL_PAGE_WAITS);
	fsl_markup_put(markup, " %g ms</title></path>", lane->wait_ms);
}

static void put_axis(struct fsl_markup *markup, double length_ms, double y)
{
	double tick_ms = fsl_chart_tick(length_ms, TICKS_MAX);
	struct fsl_chart_unit unit = fsl_chart_unit_of(length_ms, tick_ms);
	for (double ms = 0.0; ms <= length_ms; ms += tick_ms) {
		double x = LEFT + ms / length_ms * (RIGHT - LEFT);
		bool is_last = ms + tick_ms > length_ms;
		fsl_markup_put(markup,
			       "<path class=\"rule\" d=\"M%f %dV%f\"/><text class=\"m%h\" x=\"%f\" "
			       "y=\"%f\">",
			       x, (int64_t)TOP, y, x > RIGHT - 40.0 ? " e" : " x", x, y + 14.0);
		fsl_markup_number(markup, ms / unit.ms, unit.decimals);
		fsl_markup_put(markup, "%h%h</text>", is_last ? " " : "", is_last ? unit.name : "");
	}
}

static void put_lane(struct fsl_markup *markup, const struct fsl_html_lane *lane,
		     const struct layout *layout, double y)
{
	double high = lane_high(layout, lane);
	open_cells(markup, lane, y);
	for (size_t c = 0; c < FSL_HTML_CLASSES_N; c++) {
		put_class(markup, lane, (enum fsl_html_class)c, high);
	}
	fsl_markup_raw(markup, "</g>");
	if (lane->wait_ms > 0.0) {
		open_cells(markup, lane, y + high + 2.0);
		put_waits(markup, lane, layout->line);
		fsl_markup_raw(markup, "</g>");
	}
}

/* CPUs that the rank waits for have a label always; of others those that have room. */
static bool has_label(const struct fsl_html_hosts *page, const struct layout *layout, size_t i)
{
	bool is_told = page->lanes[i].wait_ms > 0.0;
	bool is_beside = (i > 0 && page->lanes[i - 1].wait_ms > 0.0) ||
			 (i + 1 < page->n_lanes && page->lanes[i + 1].wait_ms > 0.0);
	return is_told ||
	       (i % layout->labels_every == 0 && (layout->labels_every == 1 || !is_beside));
}

static void put_cpus_picture(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	const struct layout layout = layout_of(page);
	double y = TOP, bottom = TOP;
	for (size_t i = 0; i < page->n_lanes; i++) {
		bottom += pitch_of(&layout, &page->lanes[i]);
	}
	fsl_chart_open(markup, "cpus", bottom + 20.0, "who held each CPU");
	put_axis(markup, page->length_ms, bottom);
	for (size_t i = 0; i < page->n_lanes; i++) {
		const struct fsl_html_lane *lane = &page->lanes[i];
		if (has_label(page, &layout, i)) {
			fsl_markup_put(markup,
				       "<text class=\"e%h\" x=\"%d\" y=\"%f\">CPU %d</text>",
				       lane->wait_ms > 0.0 ? " b" : "", (int64_t)(LEFT - 8),
				       y + lane_high(&layout, lane) / 2.0 + 5.0, lane->cpu);
		}
		put_lane(markup, lane, &layout, y);
		y += pitch_of(&layout, lane);
	}
	fsl_chart_close(markup);
}

static void put_cpus_key(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	fsl_markup_raw(markup, "<p class=\"key\">");
	for (size_t c = 0; c < FSL_HTML_CLASSES_N; c++) {
		bool is_there = false;
		for (size_t i = 0; i < page->n_lanes; i++) {
			for (size_t k = 0; k < page->lanes[i].n && !is_there; k++) {
				is_there = fsl_html_class_of(page->lanes[i].holders[k]) == c;
			}
		}
		if (!is_there) {
			continue;
		}
		if (c == FSL_HTML_TOLD) {
			fsl_markup_put(markup, "<span><i class=\"s0\"></i>rank %d</span>",
				       page->rank);
		} else if (c == FSL_HTML_CULPRIT && page->main_holder != SIZE_MAX) {
			fsl_markup_raw(markup, "<span><i class=\"excess\"></i>");
			fsl_hosts_put_holder(markup, &page->holders[page->main_holder], "span");
			fsl_markup_raw(markup, "</span>");
		} else {
			fsl_hosts_put_key(markup, looks[c].key, looks[c].word);
		}
	}
	fsl_markup_raw(markup, "</p>");
}

static void put_cpus_twin(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	int columns[4 + 2 * FSL_HTML_CLASSES_N] = {FSL_PAGE_CPU, FSL_PAGE_WAITS, FSL_PAGE_RIGHT};
	for (size_t c = 0; c < FSL_HTML_CLASSES_N; c++) {
		columns[3 + 2 * c] = (int)looks[c].word;
		columns[4 + 2 * c] = FSL_PAGE_RIGHT;
	}
	columns[3 + 2 * FSL_HTML_CLASSES_N] = FSL_PAGE_WORDS_N;
	fsl_hosts_open_twin(markup, columns);
	for (size_t i = 0; i < page->n_lanes; i++) {
		const struct fsl_html_lane *lane = &page->lanes[i];
		fsl_markup_put(markup, "<tr><td>%d", lane->cpu);
		fsl_hosts_put_ms_cell(markup, lane->wait_ms);
		for (size_t c = 0; c < FSL_HTML_CLASSES_N; c++) {
			fsl_hosts_put_ms_cell(markup, lane->ms[c]);
		}
	}
	fsl_hosts_close_twin(markup);
}

/* Who woke whom before the rank went on, if it was not the rank alone. */
static void put_chain(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	const cJSON *chain = fsl_html_at(page->told, "chain");
	const cJSON *links = fsl_html_at(chain, "links");
	bool has_others =
		cJSON_IsArray(links) && links->child != NULL && links->child->next != NULL;
	if (has_others && fsl_html_index(chain, "step") == page->step) {
		fsl_html_say_sentence(markup, "p class=\"note more\"",
				      fsl_html_text(chain, "text"));
	}
}

void fsl_hosts_put_cpus(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	double n_more = fsl_html_number(page->picture, "moreCpus");
	fsl_html_open_section(markup, "cpus",
			      page->step >= 0 ? FSL_PAGE_CPUS : FSL_PAGE_CPUS_TRACE);
	if (page->n_lanes == 0) {
		fsl_html_say(markup, "p class=\"empty\"", FSL_PAGE_CPUS_EMPTY);
		fsl_markup_raw(markup, "</section>");
		return;
	}
	if (page->step >= 0) {
		fsl_markup_put(markup, "<p class=\"note\">rank %d, step %d: ", page->rank,
			       page->step);
		fsl_html_say(markup, "span", FSL_PAGE_CPUS_NOTE);
		fsl_markup_raw(markup, "</p>");
	}
	put_cpus_picture(markup, page);
	put_cpus_key(markup, page);
	put_chain(markup, page);
	if (n_more > 0.0 && n_more < 1e9) {
		fsl_markup_put(markup, "<p class=\"note more\">%d ", (int64_t)n_more);
		fsl_html_say(markup, "span", FSL_PAGE_MORE_CPUS);
		fsl_markup_raw(markup, "</p>");
	}
	put_cpus_twin(markup, page);
	fsl_markup_raw(markup, "</section>");
}

/* The class of colours of a holder: the one to blame stands out. */
static const char *look_of(const struct fsl_html_hosts *page, size_t i)
{
	static const struct {
		const char *kind, *class;
	} kinds[] = {{"own", "s0"},    {"rank", "s2"},     {"process", "a two"},
		     {"kernel", "s5"}, {"idle", "a idle"}, {"quota", "s3"}};
	if (i == page->main_holder) {
		return "excess";
	}
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		if (strcmp(page->holders[i].kind, kinds[k].kind) == 0) {
			return kinds[k].class;
		}
	}
	return "unk";
}

static void put_held_bar(struct fsl_markup *markup, const struct fsl_html_hosts *page, size_t i,
			 double most_ms)
{
	const struct fsl_html_holder *holder = &page->holders[i];
	double y = (double)i * HELD_ROW, scale = (RIGHT - 1) / most_ms;
	double seen = holder->seen_ms * scale, likely = holder->likely_ms * scale;
	bool is_main = i == page->main_holder;
	fsl_markup_put(markup, "<text%h x=\"1\" y=\"%f\">", is_main ? " class=\"b\"" : "",
		       y + 14.0);
	fsl_hosts_put_holder(markup, holder, "tspan");
	fsl_markup_put(markup, "</text><text class=\"e%h\" x=\"%d\" y=\"%f\">%g ms</text>",
		       is_main ? " b" : " m", (int64_t)RIGHT, y + 14.0,
		       holder->seen_ms + holder->likely_ms);
	fsl_markup_put(markup,
		       "<rect class=\"%h\" x=\"1\" y=\"%f\" width=\"%f\" height=\"%d\"><title>",
		       look_of(page, i), y + 19.0, fmax(seen, 0.5), (int64_t)HELD_BAR);
	fsl_html_say(markup, "span", FSL_PAGE_SEEN_MS);
	fsl_markup_put(markup, " %g ms</title></rect>", holder->seen_ms);
	if (likely >= 0.5) {
		fsl_markup_put(markup,
			       "<rect class=\"likely\" x=\"%f\" y=\"%f\" width=\"%f\" "
			       "height=\"%d\"><title>",
			       1.0 + seen, y + 19.0, likely, (int64_t)HELD_BAR);
		fsl_html_say(markup, "span", FSL_PAGE_LIKELY_MS);
		fsl_markup_put(markup, " %g ms</title></rect>", holder->likely_ms);
	}
}

static void put_held_twin(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	static const int columns[] = {FSL_PAGE_HOLDER,    FSL_PAGE_SEEN_MS, FSL_PAGE_RIGHT,
				      FSL_PAGE_LIKELY_MS, FSL_PAGE_RIGHT,   FSL_PAGE_CPU,
				      FSL_PAGE_RIGHT,     FSL_PAGE_WORDS_N};
	fsl_hosts_open_twin(markup, columns);
	for (size_t i = 0; i < page->n_holders; i++) {
		const struct fsl_html_holder *holder = &page->holders[i];
		fsl_markup_put(markup, "<tr%h><td>",
			       i == page->main_holder ? " class=\"hit\"" : "");
		fsl_hosts_put_holder(markup, holder, "span");
		fsl_hosts_put_ms_cell(markup, holder->seen_ms);
		fsl_hosts_put_ms_cell(markup, holder->likely_ms);
		fsl_markup_raw(markup, "<td class=\"n\">");
		if (holder->cpu >= 0) {
			fsl_markup_put(markup, "%d", holder->cpu);
		} else {
			fsl_markup_raw(markup, "–");
		}
	}
	fsl_hosts_close_twin(markup);
}

void fsl_hosts_put_held(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	const double share_least = 0.005; /* of the longest bar: a shorter one cannot be seen */
	double most_ms = 0.0, likely_ms = 0.0;
	size_t n = page->n_holders;
	for (size_t i = 0; i < page->n_holders; i++) {
		const struct fsl_html_holder *holder = &page->holders[i];
		most_ms = fmax(most_ms, holder->seen_ms + holder->likely_ms);
		likely_ms += holder->likely_ms;
	}
	fsl_html_open_section(markup, "held", FSL_PAGE_HELD);
	if (!(most_ms > 0.0)) {
		fsl_html_say(markup, "p class=\"empty\"", FSL_PAGE_HELD_EMPTY);
		fsl_markup_raw(markup, "</section>");
		return;
	}
	fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_HELD_NOTE);
	while (n > 1 && page->holders[n - 1].seen_ms + page->holders[n - 1].likely_ms <
				share_least * most_ms) {
		n--; /* the table has them */
	}
	fsl_chart_open(markup, "held", (double)n * HELD_ROW, "who held the CPU");
	for (size_t i = 0; i < n; i++) {
		put_held_bar(markup, page, i, most_ms);
	}
	fsl_chart_close(markup);
	if (likely_ms > 0.0) {
		fsl_markup_raw(markup, "<p class=\"key\">");
		fsl_hosts_put_key(markup, "likely", FSL_PAGE_LIKELY_NOTE);
		fsl_markup_raw(markup, "</p>");
	}
	put_held_twin(markup, page);
	fsl_markup_raw(markup, "</section>");
}
