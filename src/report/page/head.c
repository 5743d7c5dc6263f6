/* The begin of every page: the line above the headline, the headline, what to do, key facts. */
#include "report/page/head.h"

#include <string.h>

/* Bytes of the word at @text with the blanks before it. */
static size_t word_length(const char *text)
{
	size_t n_blanks = strspn(text, " ");
	return n_blanks + strcspn(text + n_blanks, " ");
}

/* Bytes of a unit behind a figure, with the blank before it and punctuation behind; 0: none. */
static size_t unit_length(const char *text)
{
	static const char *const units[] = {"ms", "s", "min", "h", "%", "minutes", "times"};
	size_t n = word_length(text), n_letters = strcspn(text + (*text == ' '), " ,;:)");
	for (size_t i = 0; *text == ' ' && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i]) == n_letters && strncmp(text + 1, units[i], n_letters) == 0) {
			return n;
		}
	}
	return 0;
}

/* Text whose figures with units and words with hyphens stay whole: browsers break lines there. */
static void put_words(struct fsl_markup *markup, const char *text)
{
	char word[64];
	while (*text != '\0') {
		size_t n_blanks = strspn(text, " "), n = word_length(text);
		const char *first = text + n_blanks + strspn(text + n_blanks, "(+-");
		size_t n_unit = *first >= '0' && *first <= '9' ? unit_length(text + n) : 0;
		bool is_short = n + n_unit < sizeof(word);
		n = is_short ? n + n_unit : n < sizeof(word) ? n : sizeof(word) - 1;
		while (n > 1 && ((unsigned char)text[n] & 0xc0) == 0x80) {
			n--; /* between characters */
		}
		memcpy(word, text, n);
		word[n] = '\0';
		if (is_short && (n_unit > 0 || strchr(word, '-') != NULL)) {
			fsl_markup_put(markup, "%h<span class=\"w\">%s</span>",
				       n_blanks > 0 ? " " : "", word + n_blanks);
		} else {
			fsl_markup_text(markup, word);
		}
		text += n;
	}
}

void fsl_html_begin_header(struct fsl_markup *markup, const char *verdict, bool is_calm)
{
	fsl_markup_put(markup, "<header><p class=\"top\"><span class=\"state%h\">",
		       is_calm ? " calm" : "");
	fsl_html_say_of(markup, 'V', verdict);
}

void fsl_html_end_state(struct fsl_markup *markup, const char *path)
{
	const char *slash = strrchr(path, '/');
	fsl_markup_put(markup, "</span><span class=\"job\">%s",
		       slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}

void fsl_html_end_header(struct fsl_markup *markup, const char *headline, const char *reason,
			 const char *next)
{
	fsl_markup_raw(markup,
		       "</span><button id=\"lang\" type=\"button\" hidden>中文</button></p>");
	fsl_markup_raw(markup, "<h1 id=\"headline\"");
	fsl_html_put_chinese(markup, headline);
	fsl_markup_raw(markup, ">");
	put_words(markup, headline);
	fsl_markup_raw(markup, "</h1>");
	if (*reason != '\0') {
		fsl_html_say_sentence(markup, "p class=\"reason\"", reason);
	}
	if (*next != '\0') {
		fsl_markup_raw(markup, "<p class=\"next\" id=\"next\"><b>");
		fsl_html_say(markup, "span", FSL_PAGE_NEXT);
		fsl_markup_raw(markup, ":</b> ");
		fsl_html_say_sentence(markup, "span", next);
		fsl_markup_raw(markup, "</p>");
	}
	fsl_markup_raw(markup, "</header>");
}

void fsl_html_begin_fact(struct fsl_markup *markup, enum fsl_html_word title, const char *id)
{
	fsl_markup_raw(markup, "<div>");
	fsl_html_say(markup, "dt", title);
	fsl_markup_put(markup, "<dd id=\"%h\">", id);
}

void fsl_html_end_fact(struct fsl_markup *markup)
{
	fsl_markup_raw(markup, "</dd></div>");
}
