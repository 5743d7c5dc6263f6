/* Headline and key facts: who, since when, why, at what cost. */
#include "report/page/head.h"
#include "report/page/parts.h"

#include <math.h>
#include <string.h>

static const cJSON *first_of(const struct fsl_html *page, const char *key)
{
	const cJSON *list = fsl_html_at(page->root, key);
	return cJSON_IsArray(list) ? list->child : NULL;
}

/* Up to four numbers of a list. */
static void put_numbers(struct fsl_markup *markup, const cJSON *list)
{
	enum { SHOWN_MAX = 4 };
	size_t n = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		int64_t index = fsl_html_index_of(item);
		if (index >= 0 && n++ < SHOWN_MAX) {
			fsl_markup_put(markup, "%h%d", n > 1 ? ", " : "", index);
		}
	}
	fsl_markup_raw(markup, n > SHOWN_MAX ? ", …" : "");
}

static void put_named(struct fsl_markup *markup, const struct fsl_html *page)
{
	enum { SHOWN_MAX = 4 };
	size_t n = 0;
	for (size_t r = 0; r < page->n_ranks; r++) {
		if (page->ranks[r].is_named && n++ < SHOWN_MAX) {
			fsl_markup_put(markup, "%h%d", n > 1 ? ", " : "", page->ranks[r].rank);
		}
	}
	fsl_markup_raw(markup, n > SHOWN_MAX ? ", …" : "");
}

static bool has_items(const cJSON *list)
{
	return cJSON_IsArray(list) && list->child != NULL;
}

/* Far end of a link on another host. */
static void put_far_host(struct fsl_markup *markup, const struct fsl_html *page)
{
	const cJSON *first = first_of(page, "culprits");
	size_t r = fsl_html_find(page, fsl_html_index(first, "peer"));
	const char *host = r != SIZE_MAX ? fsl_html_host(page, &page->ranks[r]) : "";
	if (*host != '\0' && strcmp(host, fsl_html_text(first, "host")) != 0) {
		fsl_markup_put(markup, " → %s", host);
	}
}

static void put_culprits(struct fsl_markup *markup, const struct fsl_html *page)
{
	enum { SHOWN_MAX = 3 };
	const cJSON *culprit = NULL, *first = first_of(page, "culprits");
	size_t n = 0;
	int64_t peer = fsl_html_index(first, "peer");
	fsl_markup_raw(markup, "<b>");
	fsl_html_say(markup, "span", FSL_PAGE_RANK);
	cJSON_ArrayForEach(culprit, fsl_html_at(page->root, "culprits"))
	{
		if (n++ < SHOWN_MAX && (peer < 0 || n == 1)) {
			fsl_markup_put(markup, "%h%d", n > 1 ? ", " : " ",
				       fsl_html_index(culprit, "rank"));
		}
	}
	if (peer >= 0) {
		bool is_two_way = false;
		int64_t n_links = 0;
		cJSON_ArrayForEach(culprit, fsl_html_at(page->root, "culprits"))
		{
			int64_t rank = fsl_html_index(culprit, "rank");
			is_two_way |= rank == peer;
			n_links += fsl_html_index(culprit, "peer") > rank;
		}
		fsl_markup_put(markup, " %h %d", is_two_way ? "↔" : "→", peer);
		if (n_links > 1) {
			fsl_markup_put(markup, " +%d", n_links - 1);
		}
	} else if (n > SHOWN_MAX) {
		fsl_markup_put(markup, " +%d", (int64_t)(n - SHOWN_MAX));
	}
	fsl_markup_put(markup, "</b><small>%s", fsl_html_text(first, "host"));
	put_far_host(markup, page);
	fsl_markup_raw(markup, "</small>");
}

/* A host that all its ranks slow down: its name is shorter than theirs. */
static void put_slow_host(struct fsl_markup *markup, const struct fsl_html *page)
{
	fsl_markup_raw(markup, "<b>");
	fsl_html_say(markup, "span", FSL_PAGE_HOST);
	fsl_markup_put(markup, " %s</b><small>%d ",
		       fsl_html_text(first_of(page, "culprits"), "host"),
		       (int64_t)page->n_culprits);
	fsl_html_say(markup, "span", FSL_PAGE_RANKS);
	fsl_markup_raw(markup, "</small>");
}

/* A pipeline stage: its number is shorter than its ranks. */
static void put_stage(struct fsl_markup *markup, const struct fsl_html *page)
{
	fsl_markup_raw(markup, "<b>");
	fsl_html_say(markup, "span", FSL_PAGE_STAGE_OF);
	fsl_markup_put(markup, " %s</b><small>", page->stage_name);
	fsl_html_say(markup, "span", FSL_PAGE_RANK);
	fsl_markup_raw(markup, " ");
	put_named(markup, page);
	fsl_markup_raw(markup, "</small>");
}

/* True if somebody may be at fault, but no file tells ranks apart. */
static bool is_unknown(const struct fsl_html *page)
{
	bool is_normal = strcmp(fsl_html_text(page->root, "verdict"), "normal") == 0;
	return strcmp(fsl_html_text(page->root, "state"), "unknown") == 0 ||
	       (!is_normal && !fsl_chart_grid.has(page));
}

static void put_who(struct fsl_markup *markup, const struct fsl_html *page)
{
	const cJSON *hang = fsl_html_at(page->root, "hang");
	const cJSON *stopped = fsl_html_at(hang, "stopped"),
		    *missing = fsl_html_at(hang, "missing");
	const cJSON *told = has_items(missing) ? missing : has_items(stopped) ? stopped : NULL;
	bool is_host = strcmp(fsl_html_text(page->root, "verdict"), "slow_host") == 0;
	if (is_host && *fsl_html_text(first_of(page, "culprits"), "host") != '\0') {
		put_slow_host(markup, page);
	} else if (first_of(page, "culprits") != NULL) {
		put_culprits(markup, page);
	} else if (page->is_of_stage) {
		put_stage(markup, page);
	} else if (told != NULL || page->n_named > 0) {
		fsl_markup_raw(markup, "<b>");
		fsl_html_say(markup, "span", FSL_PAGE_RANK);
		fsl_markup_raw(markup, " ");
		if (told != NULL) {
			put_numbers(markup, told);
		} else {
			put_named(markup, page);
		}
		fsl_markup_raw(markup, "</b><small>");
		if (told != NULL) {
			fsl_html_say(markup, "span",
				     told == missing ? FSL_PAGE_NOT_THERE : FSL_PAGE_STOPPED);
		}
		fsl_markup_raw(markup, "</small>");
	} else {
		bool is_in_turn = strcmp(fsl_html_text(page->root, "verdict"), "host_pauses") == 0;
		fsl_html_say(markup, "b",
			     is_unknown(page) ? FSL_PAGE_UNKNOWN
			     : is_in_turn     ? FSL_PAGE_IN_TURN
					      : FSL_PAGE_NOBODY);
	}
}

static void put_since(struct fsl_markup *markup, const struct fsl_html *page)
{
	const cJSON *culprit = first_of(page, "culprits"), *loss = first_of(page, "losses");
	const cJSON *hang = fsl_html_at(page->root, "hang");
	int64_t step = fsl_html_index(culprit != NULL ? culprit : loss,
				      culprit != NULL ? "onsetStep" : "sinceStep");
	const char *time = cJSON_IsObject(hang) ? fsl_html_text(hang, "since")
			   : culprit != NULL    ? fsl_html_text(culprit, "onsetTime")
						: fsl_html_text(loss, "since");
	char clock[16], date[16] = "";
	if (*fsl_chart_clock(time, clock) == '\0' && step < 0) {
		if (culprit != NULL || loss != NULL) {
			fsl_html_say(markup, "b", FSL_PAGE_ALL_STEPS);
		} else {
			fsl_markup_raw(markup, "<b>–</b>");
		}
		return;
	}
	fsl_markup_raw(markup, "<b>");
	if (*clock != '\0') {
		memcpy(date, time, 10);
		fsl_markup_put(markup, "%s", clock);
	} else {
		fsl_html_say(markup, "span", FSL_PAGE_STEP);
		fsl_markup_put(markup, " %d", step);
	}
	fsl_markup_raw(markup, "</b><small>");
	if (*date != '\0') {
		fsl_markup_put(markup, "%s UTC", date);
	}
	if (*clock != '\0' && step >= 0) {
		fsl_markup_raw(markup, " · ");
		fsl_html_say(markup, "span", FSL_PAGE_STEP);
		fsl_markup_put(markup, " %d", step);
	}
	fsl_markup_raw(markup, "</small>");
}

static void put_why(struct fsl_markup *markup, const struct fsl_html *page)
{
	const cJSON *culprit = first_of(page, "culprits"), *loss = first_of(page, "losses");
	const char *cause =
		culprit != NULL ? fsl_html_text(culprit, "cause") : fsl_html_text(loss, "cause");
	const char *other = fsl_html_text(culprit, "otherCause");
	double confidence = fsl_html_number(page->root, "confidence");
	fsl_markup_raw(markup, "<b>");
	if (*cause != '\0') {
		fsl_html_say_of(markup, 'C', cause);
	} else {
		fsl_html_say_of(markup, 'V', fsl_html_text(page->root, "verdict"));
	}
	if (*other != '\0') {
		fsl_markup_raw(markup, " / ");
		fsl_html_say_of(markup, 'C', other);
	}
	fsl_markup_raw(markup, "</b><small>");
	if (confidence > 0.0) {
		fsl_html_say(markup, "span", FSL_PAGE_CONFIDENCE);
		fsl_markup_put(markup, " %g %", 100.0 * confidence);
	}
	fsl_markup_raw(markup, "</small>");
}

/* Lost time of the job in node-hours, if it is that much. */
static void put_node_hours(struct fsl_markup *markup, const struct fsl_html *page, double lost_ms)
{
	const cJSON *job = fsl_html_at(page->root, "job");
	double hours = fsl_html_number(job, "hosts") * lost_ms / 36e5;
	if (hours >= 0.1) {
		fsl_markup_put(markup, " · %g node-h", hours);
	}
}

static void put_cost(struct fsl_markup *markup, const struct fsl_html *page)
{
	char span[32];
	double per_step = fsl_html_number(page->root, "lostMsPerStep"), lost_ms = 0.0;
	double share = fsl_html_number(page->root, "lostShare");
	const cJSON *loss = NULL;
	cJSON_ArrayForEach(loss, fsl_html_at(page->root, "losses"))
	{
		double ms = fsl_html_number(loss, "ms");
		lost_ms += ms > 0.0 ? ms : 0.0;
	}
	if (per_step > 0.0) {
		fsl_markup_put(markup, "<b>%s</b> ", fsl_markup_span(per_step, span));
		fsl_html_say(markup, "small class=\"i\"", FSL_PAGE_PER_STEP);
	} else if (lost_ms > 0.0) {
		fsl_markup_put(markup, "<b>%s</b>", fsl_markup_span(lost_ms, span));
	} else {
		bool is_unknown = strcmp(fsl_html_text(page->root, "state"), "unknown") == 0;
		fsl_html_say(markup, "b", is_unknown ? FSL_PAGE_UNKNOWN : FSL_PAGE_NOTHING);
		return;
	}
	fsl_markup_raw(markup, "<small>");
	if (lost_ms > 0.0 && share > 0.0) {
		if (per_step > 0.0) {
			fsl_markup_put(markup, "%s, ", fsl_markup_span(lost_ms, span));
		}
		fsl_markup_put(markup, "%g % ", 100.0 * share);
		fsl_html_say(markup, "span", FSL_PAGE_OF_TIME);
		put_node_hours(markup, page, lost_ms);
	} else if (per_step > 0.0 && page->step_ms > 0.0) {
		fsl_markup_put(markup, "%g % ", 100.0 * per_step / page->step_ms);
		fsl_html_say(markup, "span", FSL_PAGE_OF_STEP);
	}
	fsl_markup_raw(markup, "</small>");
}

static void put_headline(struct fsl_markup *markup, const struct fsl_html *page)
{
	const cJSON *job = fsl_html_at(page->root, "job");
	char clock[16];
	const char *now = fsl_html_text(job, "now");
	const char *state = fsl_html_text(page->root, "state");
	bool is_calm = strcmp(state, "clear") == 0 || strcmp(state, "unknown") == 0;
	fsl_html_begin_header(markup, fsl_html_text(page->root, "verdict"), is_calm);
	fsl_markup_raw(markup, " · ");
	fsl_html_say_of(markup, 'S', state);
	fsl_html_end_state(markup, fsl_html_text(job, "name"));
	if (fsl_html_index(job, "ranks") > 0) {
		fsl_markup_put(markup, " · %d ", fsl_html_index(job, "ranks"));
		fsl_html_say(markup, "span", FSL_PAGE_RANKS);
	}
	if (strlen(now) >= 10 && *fsl_chart_clock(now, clock) != '\0') {
		fsl_markup_raw(markup, " · ");
		char date[16] = "";
		memcpy(date, now, 10);
		fsl_markup_put(markup, "%s %s UTC", date, clock);
	}
	/* Captures list advice with each finding. */
	fsl_html_end_header(
		markup, fsl_html_text(page->root, "headline"), fsl_html_text(page->root, "reason"),
		page->is_capture ? "" : fsl_html_text(first_of(page, "findings"), "advice"));
}

void fsl_html_put_facts(struct fsl_markup *markup, const struct fsl_html *page)
{
	static const struct {
		enum fsl_html_word title;
		const char *id;
		void (*put)(struct fsl_markup *, const struct fsl_html *);
	} facts[] = {
		{FSL_PAGE_WHO, "who", put_who},
		{FSL_PAGE_SINCE, "since", put_since},
		{FSL_PAGE_WHY, "why", put_why},
		{FSL_PAGE_COST, "cost", put_cost},
	};
	put_headline(markup, page);
	fsl_markup_raw(markup, "<dl class=\"facts\">");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		fsl_html_begin_fact(markup, facts[i].title, facts[i].id);
		facts[i].put(markup, page);
		fsl_html_end_fact(markup);
	}
	fsl_markup_raw(markup, "</dl>");
}
