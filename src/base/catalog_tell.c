/*
 * Sentences read back against the messages that they were made from. Sentences of a verdict are
 * kept in English, in files and between runs, so that the language is a matter of the screen alone.
 */
#include <ctype.h>
#include <string.h>

#include "base/catalog.h"
#include "base/utf8.h"

enum {
	SPANS_MAX = 16,
	DEPTH_MAX = 6,     /* of sentences within sentences */
	TRIES_MAX = 20000, /* of one message: a text that nearly fits in many ways fits in none */
	WEIGHT_WHOLE_MIN = 3, /* "%s: %s" fits everything and says nothing */
	WEIGHT_REST_MIN = 20, /* a sentence, and not a label with any text behind it */
	BYTES_PER_WEIGHT = 8  /* of a text that begins with any text: "%s to %s" fits too many */
};

/* A part of a text: [begin, end). */
struct span {
	const char *begin, *end;
};

/* The text that each directive of a message stood for. */
struct match {
	struct span spans[SPANS_MAX];
	bool is_text[SPANS_MAX]; /* %s */
	size_t n_spans;
	int n_tries;
	bool is_whole;            /* up to the end of the text; otherwise up to the end of a word */
	const char *begin, *stop; /* of what fits */
};

/* Text under construction. */
struct out {
	char *text;
	size_t length, size;
	bool is_cut;
};

static bool is_word(unsigned char c)
{
	return isalnum(c) || c == '_' || c >= 0x80;
}

/* A piece ends at the end of a word. Names go on behind marks: "host-1", "host/a", "host.json". */
static bool is_boundary(const char *begin, const char *at, const char *end)
{
	if (at == end || at == begin || !is_word((unsigned char)at[-1])) {
		return true;
	}
	bool goes_on = strchr("/.-", *at) != NULL && at + 1 < end && is_word((unsigned char)at[1]);
	return !is_word((unsigned char)*at) && !goes_on;
}

static size_t directive_length(const char *format)
{
	size_t n = 1 + strspn(format + 1, "-+#0123456789.*hlzjtL$");
	return format[n] != '\0' ? n + 1 : n;
}

/* End of the number at @text; @text itself if there is none. */
static const char *number_end(const char *text, const char *end)
{
	static const char *const names[] = {"nan", "-nan", "inf", "-inf"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);
		if ((size_t)(end - text) >= length && strncmp(text, names[i], length) == 0) {
			return text + length;
		}
	}
	const char *c = text + (text < end && (*text == '+' || *text == '-'));
	const char *digits = c;
	while (c < end && (isdigit((unsigned char)*c) ||
			   (*c == '.' && c + 1 < end && isdigit((unsigned char)c[1])) ||
			   (*c == 'e' && c > digits && c + 1 < end && strchr("+-", c[1]) != NULL) ||
			   (c > digits && c[-1] == 'e' && strchr("+-", *c) != NULL))) {
		c++;
	}
	return c > digits ? c : text;
}

static bool fits(const char *format, const char *text, const char *end, struct match *match);

/* A text ends at the first place behind which the rest of the message fits. */
static bool fits_text(const char *rest, const char *text, const char *end, struct match *match)
{
	size_t n = match->n_spans;
	bool is_open = *rest == '\0' && !match->is_whole;
	match->is_text[n] = true;
	for (const char *stop = text; stop <= end; stop++) {
		if (is_open && stop < end && strchr(";,:)", *stop) == NULL) {
			continue;
		}
		match->spans[n] = (struct span){text, stop};
		match->n_spans = n + 1;
		if (fits(rest, stop, end, match)) {
			return true;
		}
		if (match->n_tries > TRIES_MAX) {
			break;
		}
	}
	match->n_spans = n;
	return false;
}

static bool fits_number(const char *rest, const char *text, const char *end, struct match *match)
{
	const char *stop = number_end(text, end);
	if (stop == text) {
		return false;
	}
	size_t n = match->n_spans;
	match->spans[n] = (struct span){text, stop};
	match->is_text[n] = false;
	match->n_spans = n + 1;
	if (fits(rest, stop, end, match)) {
		return true;
	}
	match->n_spans = n;
	return false;
}

static bool fits(const char *format, const char *text, const char *end, struct match *match)
{
	match->n_tries++;
	for (; *format != '\0'; format++, text++) {
		if (fsl_is_directive(format)) {
			size_t length = directive_length(format);
			bool is_text = strchr("sc", format[length - 1]) != NULL;
			if (match->n_spans == SPANS_MAX || match->n_tries > TRIES_MAX) {
				return false;
			}
			while (!is_text && text < end && *text == ' ') {
				text++; /* of a width */
			}
			return is_text ? fits_text(format + length, text, end, match)
				       : fits_number(format + length, text, end, match);
		}
		format += *format == '%' && format[1] == '%';
		if (text == end || *text != *format) {
			return false;
		}
	}
	match->stop = text;
	return match->is_whole ? text == end : is_boundary(match->begin, text, end);
}

static bool try_message(const struct fsl_message *message, struct span text, bool is_whole,
			struct match *match)
{
	const char *english = message->english;
	*match = (struct match){.is_whole = is_whole, .begin = text.begin};
	if (*english != '%' && (text.begin == text.end || *english != *text.begin)) {
		return false;
	}
	return fits(english, text.begin, text.end, match);
}

/* A message fits one of these parts of a text. */
enum extent {
	FITS_WHOLE, /* a sentence from begin to end */
	FITS_TITLE, /* likewise: a title, ": " and any text */
	FITS_REST,  /* the end of a sentence: not one that begins with any text */
	FITS_BEGIN  /* likewise, up to the end of a word */
};

static bool is_title(const char *english)
{
	size_t length = strlen(english);
	const char *directive = strchr(english, '%');
	return directive != NULL && directive > english && length >= 4 &&
	       strcmp(english + length - 4, ": %s") == 0 && directive == english + length - 2;
}

/* True if @message says enough for a text of @length bytes that it fits. */
static bool is_telling(const struct fsl_message *message, enum extent extent, size_t length)
{
	if (!message->has_directives) {
		return true;
	}
	if (extent == FITS_TITLE && !is_title(message->english)) {
		return false;
	}
	if (strncmp(message->english, "%s", 2) == 0) {
		return extent == FITS_WHOLE && message->weight >= WEIGHT_WHOLE_MIN &&
		       message->weight * BYTES_PER_WEIGHT >= length;
	}
	return message->weight >= (extent == FITS_REST ? WEIGHT_REST_MIN : WEIGHT_WHOLE_MIN);
}

/* The longest message that fits; NULL: none does. */
static const struct fsl_message *find(const struct fsl_catalog *catalog, struct span text,
				      enum extent extent, struct match *match)
{
	size_t length = (size_t)(text.end - text.begin);
	for (size_t i = 0; i < catalog->n_items; i++) {
		const struct fsl_message *message = &catalog->items[i];
		if (is_telling(message, extent, length) &&
		    try_message(message, text, extent != FITS_BEGIN, match)) {
			return message;
		}
	}
	return NULL;
}

static void put(struct out *out, struct span text)
{
	size_t n = (size_t)(text.end - text.begin);
	if (n >= out->size - out->length) {
		out->is_cut = true;
		return;
	}
	memcpy(out->text + out->length, text.begin, n);
	out->length += n;
	out->text[out->length] = '\0';
}

static void put_text(struct out *out, const char *text)
{
	put(out, (struct span){text, text + strlen(text)});
}

/* Puts a text that no message holds. Of a sentence that was cut ("no rank is ...") nothing can be
 * read back: the dots say enough. */
static void put_untold(struct out *out, struct span text)
{
	static const char dots[] = " ...";
	size_t n = (size_t)(text.end - text.begin), n_dots = sizeof(dots) - 1;
	bool is_cut = n > n_dots && memcmp(text.end - n_dots, dots, n_dots) == 0 &&
		      memchr(text.begin, ' ', n - n_dots) != NULL;
	put(out, is_cut ? (struct span){text.end - n_dots + 1, text.end} : text);
}

static bool tell(const struct fsl_catalog *catalog, struct span text, struct out *out, int depth);

/* Puts what directive @n of a message stood for. Texts in quotes are names. */
static void put_span(const struct fsl_catalog *catalog, const struct match *match, size_t n,
		     bool is_quoted, struct out *out, int depth)
{
	if (n >= match->n_spans) {
		return; /* a translation that asks for more than there is; the build refuses it */
	}
	struct out before = *out;
	if (!match->is_text[n] || is_quoted || !tell(catalog, match->spans[n], out, depth + 1)) {
		*out = before;
		put_untold(out, match->spans[n]);
	}
}

/* Puts the translation of @message: "%s" is the next directive, "%2$s" the second one. */
static void put_message(const struct fsl_catalog *catalog, const struct fsl_message *message,
			const struct match *match, struct out *out, int depth)
{
	size_t n_next = 0;
	for (const char *c = message->text; *c != '\0';) {
		if (!fsl_is_directive(c)) {
			put(out, (struct span){c, c + 1});
			c += 1 + (*c == '%' && c[1] == '%');
			continue;
		}
		size_t length = directive_length(c), n = n_next;
		if (isdigit((unsigned char)c[1]) && c[2] == '$') {
			n = (size_t)(c[1] - '1');
		} else {
			n_next++;
		}
		bool is_quoted = c > message->text && c[-1] == '"';
		put_span(catalog, match, n, is_quoted, out, depth);
		c += length;
	}
}

static bool is_wide_end(const struct out *out)
{
	return out->length > 0 && (unsigned char)out->text[out->length - 1] >= 0x80;
}

/* True behind 。，：； and the like, which bring their own room. */
static bool ends_in_mark(const struct out *out)
{
	static const char *const endings[] = {"，", "。", "；", "：", "（", "）", "、", "「", "」"};
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i]);
		if (out->length >= n && memcmp(out->text + out->length - n, endings[i], n) == 0) {
			return true;
		}
	}
	return false;
}

/* Takes out the blank at @at if wide characters or a mark stand beside it. */
static void close_gap(struct out *out, size_t at)
{
	struct out before = *out;
	before.length = at;
	const char *next = out->text + at + 1;
	bool is_wide = is_wide_end(&before) && (unsigned char)*next >= 0x80;
	bool is_mark = (unsigned char)next[0] == 0xef || (unsigned char)next[0] == 0xe3;
	if (at < out->length && (is_wide || is_mark || ends_in_mark(&before))) {
		memmove(out->text + at, out->text + at + 1, out->length - at);
		out->length--;
	}
}

/* Marks between clauses, and how they look between wide characters. */
static const struct mark {
	const char *english, *wide;
} marks[] = {{"; ", "；"}, {", ", "，"}, {": ", "："}};

/* A word that no message holds, with the mark behind it. @before: begin of the whole text. Commas
 * of a list of numbers stay as they are. */
static const char *put_word(const char *before, struct span text, struct out *out)
{
	const char *c = text.begin;
	while (c < text.end && *c != ' ' && strchr(";,()", *c) == NULL &&
	       !(*c == ':' && (c + 1 == text.end || c[1] == ' '))) {
		c++; /* "aten::empty" is one word */
	}
	if (c > text.begin) {
		put(out, (struct span){text.begin, c});
		return c;
	}
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		bool is_list = c > before && isdigit((unsigned char)c[-1]) && c + 2 < text.end &&
			       isdigit((unsigned char)c[2]) && *c == ',';
		if (text.end - c >= 2 && strncmp(c, marks[i].english, 2) == 0 && !is_list) {
			put_text(out, marks[i].wide);
			return c + 2;
		}
	}
	put(out, (struct span){c, c + 1});
	return c + 1;
}

/* True for a word of a sentence: names, numbers, paths and units hold other characters, or are
 * short. Half a sentence in each language is worse than one in English. */
static bool is_english(struct span word)
{
	static const char *const names[] = {"rank", "ranks", "step", "steps", "failslow",
					    "tp",   "dp",    "pp",   "ep",    "cp"};
	size_t length = (size_t)(word.end - word.begin);
	for (const char *c = word.begin; c < word.end; c++) {
		if (*c < 'a' || *c > 'z') {
			return false;
		}
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (length == strlen(names[i]) && strncmp(word.begin, names[i], length) == 0) {
			return false;
		}
	}
	return length > 2 || (length == 2 && strncmp(word.begin, "ms", 2) != 0);
}

static bool ends_in_text(const struct fsl_message *message)
{
	size_t length = strlen(message->english);
	return length >= 2 && strcmp(message->english + length - 2, "%s") == 0;
}

/* The message at the begin of @rest: of a rest behind other pieces one that fits to the end, if
 * there is one, else the longest. */
static const struct fsl_message *find_piece(const struct fsl_catalog *catalog, struct span rest,
					    bool is_behind, struct match *match)
{
	struct match of_rest;
	const struct fsl_message *begin = find(catalog, rest, FITS_BEGIN, match);
	const struct fsl_message *whole =
		is_behind ? find(catalog, rest, FITS_REST, &of_rest) : NULL;
	if (whole == NULL || (begin != NULL && begin->weight > whole->weight) ||
	    (begin == whole && !ends_in_text(whole))) {
		return begin;
	}
	*match = of_rest;
	return whole;
}

/* Messages one behind the other, and names between them. False if a word is in none of them. */
static bool tell_pieces(const struct fsl_catalog *catalog, struct span text, struct out *out,
			int depth)
{
	bool is_told = false;
	for (const char *c = text.begin; c < text.end;) {
		struct match match;
		struct span rest = {c, text.end};
		const struct fsl_message *message =
			is_boundary(text.begin, c, text.end)
				? find_piece(catalog, rest, c > text.begin, &match)
				: NULL;
		size_t at = out->length;
		bool is_behind_blank =
			at > 0 && c > text.begin && c[-1] == ' ' && out->text[at - 1] == ' ';
		if (message != NULL && match.stop > c) {
			put_message(catalog, message, &match, out, depth);
			c = match.stop;
			is_told = true;
		} else {
			c = put_word(text.begin, rest, out);
			if (is_english((struct span){rest.begin, c})) {
				return false;
			}
		}
		if (is_behind_blank && out->length > at) {
			close_gap(out, at - 1);
		}
	}
	return is_told;
}

/* The message that @text as a whole was made from; NULL: none. A title goes before a sentence that
 * begins with any text: "HANG: rank 3 waits for rank 5" is no sentence about "HANG: rank 3". */
static const struct fsl_message *find_whole(const struct fsl_catalog *catalog, struct span text,
					    struct match *match)
{
	struct match of_title;
	const struct fsl_message *whole = find(catalog, text, FITS_WHOLE, match);
	if (whole == NULL || strncmp(whole->english, "%s", 2) != 0) {
		return whole;
	}
	const struct fsl_message *title = find(catalog, text, FITS_TITLE, &of_title);
	if (title == NULL) {
		return whole;
	}
	*match = of_title;
	return title;
}

/* True if pieces say more than @whole, a label with any text behind it: "group %s". */
static bool has_heavier_begin(const struct fsl_catalog *catalog, struct span text,
			      const struct fsl_message *whole)
{
	struct match match;
	if (!whole->has_directives || whole->weight >= WEIGHT_REST_MIN) {
		return false;
	}
	const struct fsl_message *begin = find(catalog, text, FITS_BEGIN, &match);
	return begin != NULL && begin->weight > 2 * whole->weight;
}

static bool tell(const struct fsl_catalog *catalog, struct span text, struct out *out, int depth)
{
	struct match match;
	if (text.begin == text.end || depth > DEPTH_MAX) {
		return false;
	}
	struct out before = *out;
	const struct fsl_message *message = find_whole(catalog, text, &match);
	if ((message == NULL || has_heavier_begin(catalog, text, message)) &&
	    tell_pieces(catalog, text, out, depth)) {
		return true;
	}
	*out = before;
	if (message != NULL) {
		put_message(catalog, message, &match, out, depth);
	}
	return message != NULL;
}

/* Length of the name in "name=" at @text; 0 if none is there. */
static size_t name_length(const char *text, const char *end)
{
	size_t n = 0;
	while (text + n < end &&
	       (isalnum((unsigned char)text[n]) || (n > 0 && (text[n] == '_' || text[n] == '.')))) {
		n++;
	}
	bool is_name = n > 0 && !isdigit((unsigned char)text[0]) && text + n < end;
	return is_name && text[n] == '=' ? n : 0;
}

/* Begin of the facts behind a sentence: ": name=". */
static const char *facts_of(struct span text)
{
	for (const char *c = text.begin; c + 2 < text.end; c++) {
		if (c[0] == ':' && c[1] == ' ' && name_length(c + 2, text.end) > 0) {
			return c;
		}
	}
	return text.end;
}

/* True if a further fact follows at @at: ", name=" or ": name=". */
static bool is_next_fact(const char *at, const char *end)
{
	return at + 2 < end && (at[0] == ',' || at[0] == ':') && at[1] == ' ' &&
	       name_length(at + 2, end) > 0;
}

/* End of a fact's value: a further fact, or a sentence behind it. A text in quotes may hold what
 * looks like either. */
static const char *value_end(const char *value, const char *end)
{
	bool is_quoted = value < end && *value == '"';
	for (const char *c = value + is_quoted; c < end; c++) {
		bool is_end = c + 1 >= end || *c == ';' || is_next_fact(c, end);
		if (!is_quoted && is_end) {
			return c + 1 >= end ? end : c;
		}
		if (is_quoted && *c == '"' &&
		    (c + 1 == end || c[1] == ';' || is_next_fact(c + 1, end))) {
			return c + 1;
		}
	}
	return end;
}

/* True for a fact whose text is a sentence; other texts are names, which stay as they are. */
static bool is_sentence(struct span name, struct span value)
{
	static const char *const names[] = {"reason", "cause",   "why",  "wanted",
					    "remedy", "allowed", "first"};
	size_t length = (size_t)(name.end - name.begin);
	bool is_known = false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		is_known |=
			length == strlen(names[i]) && strncmp(name.begin, names[i], length) == 0;
	}
	size_t n = (size_t)(value.end - value.begin);
	return is_known && n > 2 && (value.begin[0] != '"' || memchr(value.begin, ' ', n) != NULL);
}

static bool tell_all(const struct fsl_catalog *catalog, struct span text, struct out *out,
		     int depth);

static void put_or_tell(const struct fsl_catalog *catalog, struct span text, struct out *out,
			int depth)
{
	struct out before = *out;
	if (!tell_all(catalog, text, out, depth + 1)) {
		*out = before;
		put_untold(out, text);
	}
}

/* Puts facts, ": name=value, name=value", and the sentence that may follow them. */
static void put_facts(const struct fsl_catalog *catalog, struct span facts, struct out *out,
		      int depth)
{
	const char *c = facts.begin;
	while (is_next_fact(c, facts.end)) {
		struct span name = {c + 2, c + 2 + name_length(c + 2, facts.end)};
		struct span value = {name.end + 1, value_end(name.end + 1, facts.end)};
		if (is_sentence(name, value)) {
			const char *first = value.begin + (*value.begin == '"');
			const char *last =
				value.end - (first > value.begin && value.end[-1] == '"');
			put(out, (struct span){c, first});
			put_or_tell(catalog, (struct span){first, last}, out, depth);
			put(out, (struct span){last, value.end});
		} else {
			put(out, (struct span){c, value.end});
		}
		c = value.end;
	}
	if (c < facts.end) {
		put_or_tell(catalog, (struct span){c, facts.end}, out, depth);
	}
}

/* A sentence with the facts behind it. */
static bool tell_all(const struct fsl_catalog *catalog, struct span text, struct out *out,
		     int depth)
{
	const char *facts = facts_of(text);
	bool is_told = tell(catalog, (struct span){text.begin, facts}, out, depth);
	if (is_told && facts < text.end) {
		put_facts(catalog, (struct span){facts, text.end}, out, depth);
	}
	return is_told;
}

bool fsl_catalog_tell(const struct fsl_catalog *catalog, const char *english, char *out,
		      size_t size)
{
	struct out told = {.text = out, .size = size};
	out[0] = '\0';
	bool is_told =
		tell_all(catalog, (struct span){english, english + strlen(english)}, &told, 0);
	return is_told && !told.is_cut;
}
