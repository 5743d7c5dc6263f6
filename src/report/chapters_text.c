/* The line of the terminal summary on a capture that was judged in chapters. */
#include "report/chapters_text.h"

#include <inttypes.h>

#include "base/mem.h"
#include "text/phrase.h"

enum { OTHERS_SHOWN_MAX = 3, RANGES_SHOWN_MAX = 4 };

/* " slow_rank (ranks 3, 5) from 2026-11-20 08:00:00". */
static void add_other(struct fsl_phrase *phrase, const struct fsl_chapter_note *chapter)
{
	fsl_phrase_add(phrase, " %s", fsl_verdict_text(chapter->kind));
	int32_t *ranks = fsl_calloc(chapter->n_culprits, sizeof(*ranks));
	if (ranks != NULL && chapter->n_culprits > 0) {
		for (size_t i = 0; i < chapter->n_culprits; i++) {
			ranks[i] = chapter->culprits[i].rank;
		}
		fsl_phrase_add(phrase, " (");
		fsl_phrase_add_unsorted_ranks(phrase, ranks, chapter->n_culprits, RANGES_SHOWN_MAX);
		fsl_phrase_add(phrase, ")");
	}
	fsl_free(ranks);
	fsl_phrase_add(phrase, " from ");
	fsl_phrase_add_time(phrase, chapter->begin_ns);
}

/* What was wrong in other chapters, newest first; chapters that agree are told once. */
static void add_others(struct fsl_phrase *phrase, const struct fsl_localisation *localisation)
{
	const struct fsl_chapter_note *chapters = localisation->chapters;
	size_t n_others = 0;
	for (size_t k = localisation->n_chapters; k-- > 0;) {
		bool is_told = chapters[k].is_told;
		for (; k > 0 && fsl_chapters_agree(&chapters[k - 1], &chapters[k]); k--) {
			is_told = is_told || chapters[k - 1].is_told;
		}
		if (is_told || fsl_verdict_is_quiet(chapters[k].kind)) {
			continue;
		}
		if (n_others < OTHERS_SHOWN_MAX) {
			fsl_phrase_add(phrase, n_others == 0 ? "; also" : ",");
			add_other(phrase, &chapters[k]);
		}
		n_others++;
	}
	if (n_others > OTHERS_SHOWN_MAX) {
		fsl_phrase_add(phrase, " and %zu more in the verdict file",
			       n_others - OTHERS_SHOWN_MAX);
	}
}

void fsl_chapters_text(const struct fsl_screen *screen, const struct fsl_localisation *localisation)
{
	struct fsl_phrase phrase = {0};
	size_t n = localisation->n_chapters, told = 0;
	if (n == 0) {
		return;
	}
	while (told + 1 < n && !localisation->chapters[told].is_told) {
		told++;
	}
	const struct fsl_chapter_note *chapter = &localisation->chapters[told];
	fsl_phrase_add(&phrase, "this is number %zu of %zu, ", told + 1, n);
	fsl_phrase_add_time(&phrase, chapter->begin_ns);
	fsl_phrase_add(&phrase, " to ");
	fsl_phrase_add_time(&phrase, chapter->end_ns);
	if (told + 1 < n) {
		fsl_phrase_add(&phrase, "; nothing was wrong since");
	}
	add_others(&phrase, localisation);
	fsl_screen_field(screen, "chapter", phrase.text);
}
