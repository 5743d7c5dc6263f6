/* Headline and key facts of functions: who, which function, how, at what cost. */
#include "report/page/functions_parts.h"
#include "report/page/head.h"

#include <math.h>
#include <string.h>

static const double TIMES_MIN =
	1.1; /* from here on a call takes longer, below it comes more often */

static const struct fsl_html_worker *worst_of(const struct fsl_html_functions *page)
{
	bool has = page->n_culprits > 0 && page->worst != SIZE_MAX;
	return has ? &page->workers[page->worst] : NULL;
}

static bool is_unknown(const struct fsl_html_functions *page)
{
	return strcmp(fsl_html_text(page->root, "verdict"), "insufficient_evidence") == 0;
}

static void put_nothing(struct fsl_markup *markup, const struct fsl_html_functions *page,
			enum fsl_html_word word)
{
	fsl_html_say(markup, "b", is_unknown(page) ? FSL_PAGE_UNKNOWN : word);
}

static void put_who(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	enum { SHOWN_MAX = 4 };
	size_t n = 0;
	if (worst_of(page) == NULL) {
		put_nothing(markup, page, FSL_PAGE_NOBODY);
		return;
	}
	fsl_markup_raw(markup, "<b>");
	fsl_html_say(markup, "span", FSL_PAGE_RANK);
	for (size_t w = 0; w < page->n_workers; w++) {
		if (page->workers[w].is_culprit && n++ < SHOWN_MAX) {
			fsl_markup_put(markup, "%h%d", n > 1 ? ", " : " ", page->workers[w].rank);
		}
	}
	fsl_markup_raw(markup, n > SHOWN_MAX ? ", …</b><small>" : "</b><small>");
	fsl_markup_text(markup, worst_of(page)->host);
	if (page->n_victims > 0) {
		fsl_markup_put(markup, "%h%d ", *worst_of(page)->host != '\0' ? " · " : "",
			       (int64_t)page->n_victims);
		fsl_html_say(markup, "span",
			     page->n_victims == 1 ? FSL_PAGE_WAITS_FOR_IT : FSL_PAGE_WAIT_FOR_IT);
	}
	fsl_markup_raw(markup, "</small>");
}

/* The told function if it is the reason; NULL: the worst worker is idle between functions. */
static const struct fsl_html_function *reason_of(const struct fsl_html_functions *page)
{
	const struct fsl_html_worker *worst = worst_of(page);
	const struct fsl_html_function *told =
		page->told != SIZE_MAX ? &page->items[page->told] : NULL;
	bool is_reason = worst != NULL && told != NULL &&
			 strcmp(worst->section, fsl_html_section_ids[told->section]) == 0;
	return is_reason ? told : NULL;
}

static void put_where(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	enum { NAME_MAX_SHOWN = 44 };
	const struct fsl_html_function *function = reason_of(page);
	if (worst_of(page) == NULL) {
		fsl_markup_raw(markup, "<b>–</b>");
		return;
	}
	fsl_markup_raw(markup, "<b class=\"name\">");
	if (function != NULL) {
		fsl_functions_put_name(markup, function, NAME_MAX_SHOWN);
		fsl_markup_raw(markup, "</b><small>");
		fsl_functions_say_section(markup, worst_of(page)->section);
		fsl_markup_raw(markup, "</small>");
	} else {
		fsl_functions_say_section(markup, worst_of(page)->section);
		fsl_markup_raw(markup, "</b>");
	}
}

/* "6.55 times as long", and opens the line below. */
static void put_times(struct fsl_markup *markup, double times, enum fsl_html_word word)
{
	fsl_markup_put(markup, "<b>%g</b> ", times);
	fsl_html_say(markup, "small class=\"i\"", word);
	fsl_markup_raw(markup, "<small>");
}

static void put_how(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	const struct fsl_html_function *function = reason_of(page);
	if (function == NULL) {
		if (worst_of(page) != NULL) {
			fsl_html_say(markup, "b", FSL_PAGE_DEVICE_IDLE);
		} else {
			fsl_markup_raw(markup, "<b>–</b>");
		}
		return;
	}
	const struct fsl_html_cell *cell = &function->cells[page->worst];
	double peers_us = fsl_functions_peers_us(page, function);
	double peers_count = fsl_functions_peers_count(page, function);
	if (cell->mean_us / peers_us >= TIMES_MIN) {
		put_times(markup, cell->mean_us / peers_us, FSL_PAGE_TIMES_AS_LONG);
		fsl_functions_put_us(markup, cell->mean_us);
		fsl_markup_raw(markup, " ");
		fsl_html_say(markup, "span", FSL_PAGE_A_CALL);
		fsl_markup_raw(markup, ", ");
		fsl_functions_put_us(markup, peers_us);
	} else {
		bool is_told = cell->count > 0.0 && peers_count > 0.0;
		put_times(markup, is_told ? cell->count / peers_count : (double)NAN,
			  FSL_PAGE_TIMES_AS_OFTEN);
		fsl_markup_put(markup, "%g ", cell->count);
		fsl_html_say(markup, "span", FSL_PAGE_CALLS);
		fsl_markup_put(markup, ", %g", peers_count);
	}
	fsl_markup_raw(markup, " ");
	fsl_html_say(markup, "span", FSL_PAGE_ON_PEERS);
	fsl_markup_raw(markup, "</small>");
}

static void put_cost(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	char span[32];
	const struct fsl_html_worker *worst = worst_of(page);
	if (worst == NULL || !(worst->excess > 0.0)) {
		put_nothing(markup, page, FSL_PAGE_NOTHING);
		return;
	}
	fsl_markup_raw(markup, "<b>");
	fsl_functions_put_share(markup, worst->excess);
	fsl_markup_raw(markup, "</b> ");
	fsl_html_say(markup, "small class=\"i\"", FSL_PAGE_BEYOND_PEERS);
	if (worst->window_ms > 0.0) {
		fsl_markup_put(markup, "<small>%s / ",
			       fsl_markup_span(worst->excess * worst->window_ms, span));
		fsl_markup_put(markup, "%s</small>", fsl_markup_span(worst->window_ms, span));
	}
}

static void put_headline(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	fsl_html_begin_header(markup, fsl_html_text(page->root, "verdict"), page->n_culprits == 0);
	fsl_html_end_state(markup, fsl_html_text(page->root, "path"));
	fsl_markup_put(markup, " · %d ", (int64_t)page->n_workers);
	fsl_html_say(markup, "span", page->n_workers == 1 ? FSL_PAGE_WORKER : FSL_PAGE_WORKERS);
	fsl_html_end_header(markup, fsl_html_text(page->root, "headline"), "",
			    fsl_html_text(page->root, "next"));
}

void fsl_functions_put_facts(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	static const struct {
		enum fsl_html_word title;
		const char *id;
		void (*put)(struct fsl_markup *, const struct fsl_html_functions *);
	} facts[] = {
		{FSL_PAGE_WHO, "who", put_who},
		{FSL_PAGE_WHICH_FUNCTION, "where", put_where},
		{FSL_PAGE_HOW, "why", put_how},
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
