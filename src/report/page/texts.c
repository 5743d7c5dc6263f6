/* The table of texts. */
#include "report/page/texts.h"

#include <string.h>

#include "base/language.h"

static const struct {
	const char *id, *english, *chinese;
} words[] = {
#define PAGE_TEXT(id, english, chinese) {#id, english, chinese},
#include "report/page/page_texts.def"

#include "report/page/functions_texts.def"

#include "report/page/hosts_texts.def"
#undef PAGE_TEXT
};

const char *fsl_html_word(enum fsl_html_word word)
{
	return words[word].english;
}

/* Words that several kinds share stand in the table once. */
static enum fsl_html_word find(char kind, const char *text)
{
	for (size_t i = 0; i < FSL_PAGE_WORDS_N; i++) {
		const char *id = words[i].id;
		if (id[0] == kind && id[1] == '_' && strcmp(id + 2, text) == 0) {
			return (enum fsl_html_word)i;
		}
	}
	return FSL_PAGE_WORDS_N;
}

enum fsl_html_word fsl_html_word_of(char kind, const char *text)
{
	static const struct {
		const char *text;
		enum fsl_html_word word;
	} shared[] = {
		{"checkpoint", FSL_PAGE_P_checkpoint},
		{"computing", FSL_PAGE_P_compute},
		{"exposedCommunication", FSL_PAGE_P_exposed},
		{"free", FSL_PAGE_P_free},
		{"dataloader", FSL_PAGE_P_dataloader},
		{"step_head", FSL_PAGE_P_head},
		{"step_body", FSL_PAGE_P_body},
		{"gc", FSL_PAGE_P_collection},
		{"data loading", FSL_PAGE_P_dataloader},
		{"garbage collection", FSL_PAGE_P_collection},
		{"evaluation", FSL_PAGE_A_evaluation},
		{"warm-up", FSL_PAGE_A_warm_up},
		{"gap", FSL_PAGE_A_gap},
		{"restart", FSL_PAGE_A_restart},
		{"unknown", FSL_PAGE_P_unknown},
	};
	enum fsl_html_word word = find(kind, text);
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		if (word == FSL_PAGE_WORDS_N && strcmp(shared[i].text, text) == 0) {
			word = shared[i].word;
		}
	}
	return word;
}

void fsl_html_say(struct fsl_markup *markup, const char *tag, enum fsl_html_word word)
{
	size_t n_name = strcspn(tag, " ");
	fsl_markup_put(markup, "<%h data-t=\"%d\">%s</", tag, (int64_t)word, words[word].english);
	fsl_pack_packed(&markup->pack, tag, n_name);
	fsl_markup_raw(markup, ">");
}

void fsl_html_say_word(struct fsl_markup *markup, const char *tag, char kind, const char *text)
{
	enum fsl_html_word word = fsl_html_word_of(kind, text);
	if (word < FSL_PAGE_WORDS_N) {
		fsl_html_say(markup, tag, word);
	} else {
		fsl_markup_text(markup, text);
	}
}

void fsl_html_say_of(struct fsl_markup *markup, char kind, const char *text)
{
	fsl_html_say_word(markup, "span", kind, text);
}

void fsl_html_put_chinese(struct fsl_markup *markup, const char *sentence)
{
	struct fsl_told room;
	const char *told = fsl_tell_also(sentence, &room);
	if (told != NULL) {
		fsl_markup_put(markup, " data-zh=\"%s\"", told);
	}
}

void fsl_html_say_sentence(struct fsl_markup *markup, const char *tag, const char *sentence)
{
	size_t n_name = strcspn(tag, " ");
	fsl_markup_put(markup, "<%h", tag);
	fsl_html_put_chinese(markup, sentence);
	fsl_markup_put(markup, ">%s</", sentence);
	fsl_pack_packed(&markup->pack, tag, n_name);
	fsl_markup_raw(markup, ">");
}

void fsl_html_say_whatif(struct fsl_markup *markup, const char *tag, const char *kind,
			 const char *name)
{
	bool is_cause = strcmp(kind, "cause") == 0;
	fsl_html_say_word(markup, tag, is_cause ? 'P' : 'K', is_cause ? name : kind);
	bool is_named = !is_cause && strcmp(kind, "all") != 0;
	fsl_markup_put(markup, "%h%s", is_named ? " " : "", is_named ? name : "");
}

void fsl_html_put_tables(struct fsl_markup *markup, enum fsl_html_words kind)
{
	static const size_t ends[] = {
		[FSL_HTML_WORDS_OF_CASE] = FSL_PAGE_CASE_WORDS_N,
		[FSL_HTML_WORDS_OF_FUNCTIONS] = FSL_PAGE_FUNCTION_WORDS_N,
		[FSL_HTML_WORDS_OF_HOSTS] = FSL_PAGE_WORDS_N,
	};
	fsl_markup_raw(markup, "[");
	for (size_t i = 0; i < ends[kind]; i++) {
		bool is_left_out = kind == FSL_HTML_WORDS_OF_HOSTS && i >= FSL_PAGE_CASE_WORDS_N &&
				   i < FSL_PAGE_FUNCTION_WORDS_N;
		fsl_markup_put(markup, "%h\"%h\"", i > 0 ? "," : "",
			       is_left_out ? "" : words[i].chinese);
	}
	fsl_markup_raw(markup, "]");
}
