/* Headline and key facts of hosts: who waited, for which CPU, held by whom, at what cost. */
#include "report/page/head.h"
#include "report/page/hosts_parts.h"

#include <math.h>
#include <string.h>

static void put_none(struct fsl_markup *markup, enum fsl_html_word word,
		     const struct fsl_html_hosts *page)
{
	bool is_normal = strcmp(fsl_html_text(page->trace, "verdict"), "normal") == 0;
	fsl_html_say(markup, "b", is_normal ? word : FSL_PAGE_UNKNOWN);
}

static void put_who(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	int64_t n_high = fsl_html_index(page->told, "highSteps");
	int64_t n_steps = fsl_html_index(page->told, "steps");
	int64_t first = fsl_html_index(page->told, "firstStep");
	int64_t last = fsl_html_index(page->told, "lastStep");
	if (!page->is_named) {
		put_none(markup, FSL_PAGE_NOBODY, page);
		return;
	}
	fsl_markup_put(markup, "<b>rank %d</b><small>%s (%d) · ", page->rank,
		       fsl_html_text(page->told, "name"), fsl_html_index(page->told, "pid"));
	fsl_markup_put(markup, "%d / %d ", n_high, n_steps);
	fsl_html_say(markup, "span", FSL_PAGE_STEPS);
	fsl_markup_put(markup, first == last ? " · %d" : " · %d–", first);
	if (first != last) {
		fsl_markup_put(markup, "%d", last);
	}
	fsl_markup_raw(markup, "</small>");
}

/* The CPU for which the thread waits longest in the worst step. */
static const struct fsl_html_lane *lane_of(const struct fsl_html_hosts *page)
{
	const struct fsl_html_lane *most = NULL;
	for (size_t i = 0; i < page->n_lanes; i++) {
		const struct fsl_html_lane *lane = &page->lanes[i];
		if (lane->wait_ms > 0.0 && (most == NULL || lane->wait_ms > most->wait_ms)) {
			most = lane;
		}
	}
	return most;
}

static void put_where(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	char span[32];
	const struct fsl_html_lane *lane = lane_of(page);
	if (!page->is_named) {
		fsl_markup_raw(markup, "<b>–</b>");
		return;
	}
	fsl_markup_raw(markup, "<b>");
	if (page->is_quota) {
		fsl_html_say(markup, "span", FSL_PAGE_ITS_QUOTA);
	} else if (page->main_holder != SIZE_MAX && page->holders[page->main_holder].cpu >= 0) {
		fsl_markup_put(markup, "CPU %d", page->holders[page->main_holder].cpu);
	} else {
		fsl_markup_put(markup, lane != NULL ? "CPU %d" : "CPU",
			       lane != NULL ? lane->cpu : 0);
	}
	fsl_markup_raw(markup, "</b>");
	if (lane != NULL && page->step >= 0) {
		fsl_markup_put(markup, "<small>CPU %d: %s ", lane->cpu,
			       fsl_markup_span(lane->wait_ms, span));
		fsl_html_say(markup, "span", FSL_PAGE_IN_STEP);
		fsl_markup_put(markup, " %d</small>", page->step);
	}
}

static void put_held_by(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	char span[32];
	if (page->main_holder == SIZE_MAX) {
		if (page->is_named) {
			fsl_html_say(markup, "b", FSL_PAGE_H_unknown);
		} else {
			put_none(markup, FSL_PAGE_NOBODY, page);
		}
		return;
	}
	const struct fsl_html_holder *holder = &page->holders[page->main_holder];
	fsl_markup_raw(markup, "<b>");
	fsl_hosts_put_holder(markup, holder, "span");
	fsl_markup_put(markup, "</b><small>%s ",
		       fsl_markup_span(holder->seen_ms + holder->likely_ms, span));
	fsl_html_say(markup, "span", FSL_PAGE_PER_STEP);
	if (holder->likely_ms > 0.0) {
		fsl_markup_raw(markup, ", ");
		fsl_html_say(markup, "span", FSL_PAGE_OF_IT_LIKELY);
		fsl_markup_put(markup, " %s", fsl_markup_span(holder->likely_ms, span));
	}
	fsl_markup_raw(markup, "</small>");
}

static void put_cost(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	char span[32];
	if (!page->is_named) {
		put_none(markup, FSL_PAGE_NOTHING, page);
		return;
	}
	fsl_markup_put(markup, "<b>%s</b> ",
		       fsl_markup_span(fsl_html_number(page->told, "waitMsPerStep"), span));
	fsl_html_say(markup, "small class=\"i\"", FSL_PAGE_OF_EACH);
	fsl_markup_put(markup, " <small class=\"i\">%s</small><small>",
		       fsl_markup_span(fsl_html_number(page->told, "highStepMs"), span));
	fsl_html_say(markup, "span", FSL_PAGE_USUALLY);
	fsl_markup_put(markup, " %s</small>",
		       fsl_markup_span(fsl_html_number(page->told, "usualMsPerStep"), span));
}

static const cJSON *first_of(const cJSON *list)
{
	return cJSON_IsArray(list) ? list->child : NULL;
}

static void put_headline(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	const cJSON *file = first_of(fsl_html_at(page->trace, "files"));
	int64_t n_ranks = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, fsl_html_at(page->trace, "ranks"))
	{
		n_ranks++;
	}
	fsl_html_begin_header(markup, fsl_html_text(page->trace, "verdict"), !page->is_named);
	fsl_html_end_state(markup, cJSON_IsString(file) ? file->valuestring : "");
	fsl_markup_put(markup, " · %d ", n_ranks);
	fsl_html_say(markup, "span", FSL_PAGE_RANKS);
	fsl_html_end_header(markup, fsl_html_text(page->trace, "headline"), "",
			    fsl_html_text(first_of(fsl_html_at(page->trace, "advice")), "text"));
}

void fsl_hosts_put_facts(struct fsl_markup *markup, const struct fsl_html_hosts *page)
{
	static const struct {
		enum fsl_html_word title;
		const char *id;
		void (*put)(struct fsl_markup *, const struct fsl_html_hosts *);
	} facts[] = {
		{FSL_PAGE_WHO_WAITED, "who", put_who},
		{FSL_PAGE_FOR_WHICH_CPU, "where", put_where},
		{FSL_PAGE_HELD_BY, "why", put_held_by},
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
