/* Fixed texts of the page in English, which scripts exchange for Chinese. */
#ifndef FSL_REPORT_PAGE_TEXTS_H
#define FSL_REPORT_PAGE_TEXTS_H

#include "report/page/markup.h"

enum fsl_html_word {
#define PAGE_TEXT(id, english, chinese) FSL_PAGE_##id,
#include "report/page/page_texts.def"
	FSL_PAGE_CASE_WORDS_N, /* the words from here on are those of functions */
	FSL_PAGE_CASE_LAST = FSL_PAGE_CASE_WORDS_N - 1,
#include "report/page/functions_texts.def"
	FSL_PAGE_FUNCTION_WORDS_N, /* the words from here on are those of hosts */
	FSL_PAGE_FUNCTION_LAST = FSL_PAGE_FUNCTION_WORDS_N - 1,
#include "report/page/hosts_texts.def"
#undef PAGE_TEXT
	FSL_PAGE_WORDS_N
};

/* English; static. */
const char *fsl_html_word(enum fsl_html_word word);
/* The word for a word of the document, as @kind 'A' for a part of the account; FSL_PAGE_WORDS_N:
 * none, and the document's own is shown. Kinds: A, C (cause), F (section of functions), K (of a
 * what-if), P (part of a step), R (role of a worker), S (state), V. */
enum fsl_html_word fsl_html_word_of(char kind, const char *text);

/* Element with a text that can be exchanged: @tag "span", "h2", "text x=\"4\"". */
void fsl_html_say(struct fsl_markup *markup, const char *tag, enum fsl_html_word word);
/* The same of a word of the document; without a translation its text alone. */
void fsl_html_say_word(struct fsl_markup *markup, const char *tag, char kind, const char *text);
/* As "span": a word of the document, or its translation. */
void fsl_html_say_of(struct fsl_markup *markup, char kind, const char *text);
/* The attribute with the translation of a sentence, if the catalog has one. */
void fsl_html_put_chinese(struct fsl_markup *markup, const char *sentence);
/* Element with a sentence of the document: a translation stands beside it if the catalog has one
 * (base/language.h), for the script. @tag as above. */
void fsl_html_say_sentence(struct fsl_markup *markup, const char *tag, const char *sentence);
/* Names the subject of a what-if, "rank 5" or "computing", its word as @tag, "span" or "tspan". */
void fsl_html_say_whatif(struct fsl_markup *markup, const char *tag, const char *kind,
			 const char *name);
/* The Chinese table as a JSON array; elements hold the English words. Words that the page does not
 * use are empty. */
enum fsl_html_words {
	FSL_HTML_WORDS_OF_CASE,
	FSL_HTML_WORDS_OF_FUNCTIONS, /* and those of a case */
	FSL_HTML_WORDS_OF_HOSTS,     /* and those of a case */
};
void fsl_html_put_tables(struct fsl_markup *markup, enum fsl_html_words words);

#endif
