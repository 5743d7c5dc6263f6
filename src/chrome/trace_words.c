/* Texts by their first byte, then one comparison for each word that is left. */
#include "chrome/trace_words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/number.h"

void fsl_trace_words_init(struct fsl_trace_words *words, const struct fsl_trace_word *items,
			  size_t n_items)
{
	FSL_ASSERT(n_items <= FSL_TRACE_WORDS_MAX);
	*words = (struct fsl_trace_words){.items = items};
	for (size_t i = 0; i < n_items; i++) {
		uint32_t bit = UINT32_C(1) << i;
		size_t n_text = strlen(items[i].text),
		       n_tail = items[i].tail != NULL ? strlen(items[i].tail) : 0;
		FSL_ASSERT(items[i].kind > 0 && n_text > 0 && n_text <= UINT8_MAX &&
			   n_tail <= UINT8_MAX);
		words->n_text[i] = (uint8_t)n_text;
		words->n_tail[i] = (uint8_t)n_tail;
		unsigned char first = (unsigned char)items[i].text[0];
		words->by_first[first] |= bit;
		if (items[i].spelling == FSL_TRACE_WHOLE_ANY_CASE) {
			words->by_first[tolower(first)] |= bit;
			words->by_first[toupper(first)] |= bit;
		}
		for (size_t b = 0; b < 256 && items[i].spelling == FSL_TRACE_ANYWHERE; b++) {
			words->by_first[b] |= bit;
		}
	}
}

/* In any case; the letter in the middle of the word is looked for first, as the first one is more
 * often met by chance. */
static bool is_anywhere(const char *text, size_t length, const char *word, size_t n_word)
{
	size_t middle = (n_word - 1) / 2;
	char wanted = (char)(word[middle] | 0x20);
	for (size_t i = 0; i + n_word <= length; i++) {
		if ((text[i + middle] | 0x20) == wanted &&
		    strncasecmp(text + i, word, n_word) == 0) {
			return true;
		}
	}
	return false;
}

/* Digits up to the end of the text. */
static int64_t number_behind(const char *text, size_t length)
{
	int64_t number = -1;
	bool is_number = length > 0 && text[0] >= '0' && text[0] <= '9' &&
			 fsl_parse_i64(text, length, &number);
	return is_number ? number : -1;
}

static bool is_word(const struct fsl_trace_words *words, size_t i, const char *text, size_t length)
{
	const struct fsl_trace_word *word = &words->items[i];
	size_t n_text = words->n_text[i], n_tail = words->n_tail[i];
	switch (word->spelling) {
	case FSL_TRACE_WHOLE:
		return length == n_text && memcmp(text, word->text, n_text) == 0;
	case FSL_TRACE_WHOLE_ANY_CASE:
		return length == n_text && strncasecmp(text, word->text, n_text) == 0;
	case FSL_TRACE_HEAD:
	case FSL_TRACE_HEAD_NUMBER:
		return length >= n_text && memcmp(text, word->text, n_text) == 0;
	case FSL_TRACE_HEAD_AND_TAIL:
		return length >= n_text + n_tail && memcmp(text, word->text, n_text) == 0 &&
		       memcmp(text + length - n_tail, word->tail, n_tail) == 0;
	case FSL_TRACE_ANYWHERE:
		return is_anywhere(text, length, word->text, n_text);
	}
	return false;
}

int fsl_trace_words_find(const struct fsl_trace_words *words, const char *text, size_t length,
			 int64_t *number)
{
	uint32_t left = length > 0 ? words->by_first[(unsigned char)text[0]] : 0;
	for (; left != 0; left &= left - 1) {
		size_t i = (size_t)__builtin_ctz(left);
		if (!is_word(words, i, text, length)) {
			continue;
		}
		if (words->items[i].spelling == FSL_TRACE_HEAD_NUMBER) {
			*number = number_behind(text + words->n_text[i], length - words->n_text[i]);
		}
		return words->items[i].kind;
	}
	return 0;
}
