/* The account bar, where the wall time went, and the ladder of what would come back. */
#include "report/page/charts.h"

#include <math.h>
#include <string.h>

enum {
	THICK = 26,
	RUNG = 30, /* height of a line of the ladder */
	LADDER_LEFT = 1,
	LADDER_RIGHT = 556,
	RUNGS_MAX = 3,
	PARTS_MAX = 16,
};

/* The class of a part's colour: lost, usual, or not looked at. */
static const char *class_of(const char *part)
{
	static const struct {
		const char *part, *class;
	} known[] = {
		{"productive", "good"},
		{"computing", "good"},
		{"exposedCommunication", "usual"},
		{"exposedMemory", "usual two"},
		{"free", "idle"},
		{"checkpoint", "usual"},
		{"evaluation", "usual two"},
		{"warm_up", "usual two"},
		{"notObserved", "idle"},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(part, known[i].part) == 0) {
			return known[i].class;
		}
	}
	return "lost";
}

static bool has(const struct fsl_html *page)
{
	const cJSON *part = NULL;
	cJSON_ArrayForEach(part, fsl_html_at(page->root, "account"))
	{
		if (fsl_html_number(part, "share") > 0.0) {
			return true;
		}
	}
	return false;
}

static void put_name(struct fsl_markup *markup, const cJSON *part)
{
	const cJSON *ranks = fsl_html_at(part, "ranks");
	fsl_html_say_of(markup, 'A', fsl_html_text(part, "part"));
	bool is_rank = strcmp(fsl_html_text(part, "part"), "slow_rank") == 0;
	if (is_rank && cJSON_IsArray(ranks) && ranks->child != NULL && ranks->child->next == NULL) {
		fsl_markup_put(markup, " %g", ranks->child->valuedouble);
	}
}

static void put_account(struct fsl_markup *markup, const struct fsl_html *page)
{
	char span[32];
	double x = 1.0, whole = FSL_CHART_WIDTH - 4.0;
	const cJSON *part = NULL;
	size_t n = 0;
	cJSON_ArrayForEach(part, fsl_html_at(page->root, "account"))
	{
		double share = fsl_html_number(part, "share");
		const char *name = fsl_html_text(part, "part");
		if (!(share > 0.0 && share <= 1.0) || n++ == PARTS_MAX) {
			continue;
		}
		double width = share * whole;
		fsl_markup_put(markup,
			       "<rect x=\"%f\" y=\"4\" width=\"%f\" height=\"%d\" class=\"a %h\">"
			       "<title>",
			       x, fmax(width - 1.0, 0.6), (int64_t)THICK, class_of(name));
		fsl_html_say_of(markup, 'A', name);
		fsl_markup_put(markup, ": %s, %g %</title></rect>",
			       fsl_markup_span(fsl_html_number(part, "ms"), span), 100.0 * share);
		if (width > 64.0) { /* also in print and on telephones, with larger letters */
			fsl_markup_put(markup,
				       "<text x=\"%f\" y=\"21\" class=\"in in-%h\">%g %</text>",
				       x + width / 2.0, class_of(name), 100.0 * share);
		}
		x += width;
	}
}

struct rung {
	const char *kind, *name;
	double ms;
};

static bool is_kind(const struct rung *rung, const char *kind)
{
	return strcmp(rung->kind, kind) == 0;
}

/* Who the verdict names, then what brings back more, and everything at its level. */
static size_t find_rungs(struct rung rungs[RUNGS_MAX], const struct fsl_html *page)
{
	size_t n = 0;
	struct rung all = {"", "", NAN};
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, fsl_html_at(page->root, "whatIf"))
	{
		struct rung rung = {fsl_html_text(item, "kind"), fsl_html_text(item, "name"),
				    fsl_html_number(item, "ms")};
		bool is_new = rung.ms >= 0.01 * page->step_ms && n + 1 < RUNGS_MAX;
		bool is_place = !is_kind(&rung, "cause") && !is_kind(&rung, "replica");
		all = is_kind(&rung, "all") ? rung : all;
		for (size_t i = 0; i < n; i++) {
			/* A tenth more is worth a line. */
			is_new &= !is_kind(&rung, rungs[i].kind) && rung.ms > 1.1 * rungs[i].ms;
		}
		if (is_new && is_place && !is_kind(&rung, "all")) {
			rungs[n++] = rung;
		}
	}
	if (all.ms >= 0.01 * page->step_ms && (n == 0 || all.ms >= rungs[n - 1].ms)) {
		rungs[n++] = all;
	}
	return n;
}

/* Words for the part that is put at its level. */
static void put_subject(struct fsl_markup *markup, const struct rung *rung)
{
	if (is_kind(rung, "all")) {
		fsl_html_say(markup, "tspan", FSL_PAGE_WITHOUT_ALL);
		return;
	}
	fsl_html_say(markup, "tspan", FSL_PAGE_WITHOUT);
	fsl_markup_raw(markup, " ");
	fsl_html_say_word(markup, "tspan", 'K', rung->kind);
	fsl_markup_raw(markup, " ");
	fsl_chart_put_end(markup, rung->name, 24);
}

static void put_rung(struct fsl_markup *markup, const struct fsl_html *page, size_t line,
		     const struct rung *rung)
{
	double y = 52.0 + (double)line * RUNG;
	double scale = (LADDER_RIGHT - LADDER_LEFT) / page->step_ms;
	double ms = rung != NULL ? fmax(page->step_ms - rung->ms, 0.0) : page->step_ms;
	double x = LADDER_LEFT + ms * scale;
	fsl_markup_put(markup,
		       "<rect x=\"%d\" y=\"%f\" width=\"%f\" height=\"7\" class=\"a %h\">"
		       "<title>%g ms</title></rect>",
		       (int64_t)LADDER_LEFT, y + 15.0, x - LADDER_LEFT,
		       rung != NULL ? "good" : "lost", ms);
	if (rung == NULL) {
		fsl_markup_put(markup, "<text class=\"e b\" x=\"%d\" y=\"%f\">%g ms</text>",
			       (int64_t)LADDER_RIGHT, y + 10.0, ms);
		fsl_markup_put(markup, "<text x=\"1\" y=\"%f\" class=\"b\">", y + 10.0);
		fsl_html_say(markup, "tspan", FSL_PAGE_NOW);
		fsl_markup_raw(markup, "</text>");
		return;
	}
	fsl_markup_put(markup,
		       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"7\" class=\"a hatch\"/>", x,
		       y + 15.0, LADDER_RIGHT - x);
	fsl_markup_put(markup, "<text class=\"e\" x=\"%d\" y=\"%f\">", (int64_t)LADDER_RIGHT,
		       y + 10.0);
	/* Letters of narrow screens leave no room for it. */
	fsl_markup_raw(markup, "<tspan class=\"m wide\">");
	fsl_html_say(markup, "tspan", FSL_PAGE_SAVES);
	fsl_markup_put(markup, " %g ms → </tspan><tspan class=\"b\">%g ms</tspan></text>", rung->ms,
		       ms);
	fsl_markup_put(markup, "<text x=\"1\" y=\"%f\">", y + 10.0);
	put_subject(markup, rung);
	fsl_markup_raw(markup, "</text>");
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	struct rung rungs[RUNGS_MAX];
	/* Stalls, and pauses in turn, come back as a whole, and not at the level of anybody. */
	const char *verdict = fsl_html_text(page->root, "verdict");
	bool is_of_steps = strcmp(verdict, "stalls") != 0 && strcmp(verdict, "host_pauses") != 0;
	size_t n = page->step_ms > 0.0 && is_of_steps ? find_rungs(rungs, page) : 0;
	double height = 36.0 + (n > 0 ? 20.0 + (double)(n + 1) * RUNG : 0.0);
	const cJSON *part = NULL;
	size_t n_told = 0;
	fsl_chart_open(markup, "account", height, "where the time went and what would come back");
	put_account(markup, page);
	if (n > 0) {
		put_rung(markup, page, 0, NULL);
	}
	for (size_t i = 0; i < n; i++) {
		put_rung(markup, page, i + 1, &rungs[i]);
	}
	fsl_chart_close(markup);
	fsl_markup_raw(markup, "<p class=\"key\">");
	cJSON_ArrayForEach(part, fsl_html_at(page->root, "account"))
	{
		if (fsl_html_number(part, "share") >= 0.005 && n_told++ < 6) {
			fsl_markup_put(markup, "<span><i class=\"a %h\"></i>",
				       class_of(fsl_html_text(part, "part")));
			put_name(markup, part);
			fsl_markup_put(markup, ": %g %</span>",
				       100.0 * fsl_html_number(part, "share"));
		}
	}
	fsl_markup_raw(markup, "</p>");
}

static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	char span[32];
	const cJSON *part = NULL;
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th", FSL_PAGE_PART);
	fsl_html_say(markup, "th", FSL_PAGE_TIME);
	fsl_html_say(markup, "th", FSL_PAGE_SHARE_OF_TIME);
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	cJSON_ArrayForEach(part, fsl_html_at(page->root, "account"))
	{
		fsl_markup_raw(markup, "<tr><td>");
		put_name(markup, part);
		fsl_markup_put(markup, "<td>%s<td>%g %",
			       fsl_markup_span(fsl_html_number(part, "ms"), span),
			       100.0 * fsl_html_number(part, "share"));
	}
	fsl_markup_raw(markup, "</tbody>");
}

const struct fsl_chart fsl_chart_account = {
	.name = "account",
	.title = FSL_PAGE_ACCOUNT,
	.note = FSL_PAGE_ACCOUNT_NOTE,
	.empty = FSL_PAGE_ACCOUNT_EMPTY,
	.has = has,
	.draw = draw,
	.is_numeric = true,
	.tell = tell,
};
