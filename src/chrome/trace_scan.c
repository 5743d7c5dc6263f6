/*
 * Chrome trace events without the tokenizer: written by programs, they are spelt alike, white space
 * behind ":", "," and brackets alone, args of scalars and lists. Everything else, and all that may
 * be an error, is left to the tokenizer.
 */
#include <string.h>

#include "base/block_scan.h"
#include "chrome/trace_event.h"
#include "text/json_walk.h"

enum { LISTS_MAX = 8 /* in each other; deeper ones are left to the tokenizer */ };

/* A walk through bytes in memory. From @limit on there are less than a block of them. */
struct cursor {
	const char *at, *limit;
	uint64_t n_newlines;
};

/* Goes behind white space; false if less than a block is left. */
static inline bool skip_spaces(struct cursor *cursor)
{
	const char *at = cursor->at, *limit = cursor->limit;
	while (at <= limit && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
		cursor->n_newlines += *at == '\n';
		at++;
	}
	cursor->at = at;
	return at <= limit;
}

/*
 * The string behind the quote in front of cursor->at, of ASCII; cursor->at goes behind its end.
 * Escapes stay as they are, and are those of one letter.
 */
static inline bool scan_string(struct cursor *cursor, struct fsl_json_value *value,
			       bool *has_escapes)
{
	const char *at = cursor->at, *limit = cursor->limit;
	*has_escapes = false;
	while (at <= limit) {
		uint32_t marks = fsl_scan_json(at);
		if (marks == 0) {
			at += FSL_SCAN_JSON_BYTES;
			continue;
		}
		at += (unsigned)__builtin_ctz(marks);
		if (*at == '"') {
			value->token = FSL_JSON_STRING;
			value->text = cursor->at;
			value->length = (size_t)(at - cursor->at);
			cursor->at = at + 1;
			return true;
		}
		bool is_escape = *at == '\\' && at < limit && at[1] != '\0' &&
				 strchr("\"\\/bfnrt", at[1]) != NULL;
		if (!is_escape) {
			return false;
		}
		*has_escapes = true;
		at += 2;
	}
	return false;
}

static inline const char *skip_digits(const char *at, const char *limit)
{
	while (at <= limit && *at >= '0' && *at <= '9') {
		at++;
	}
	return at;
}

/* -12, 0.5, 1e-05: RFC 8259 section 6; what may follow is for the caller to tell. */
static inline bool scan_number(struct cursor *cursor, struct fsl_json_value *value)
{
	const char *limit = cursor->limit;
	const char *begin = cursor->at + (*cursor->at == '-' ? 1 : 0);
	const char *at = skip_digits(begin, limit);
	bool is_good = at > begin && (*begin != '0' || at == begin + 1);
	if (is_good && at <= limit && *at == '.') {
		begin = at + 1;
		at = skip_digits(begin, limit);
		is_good = at > begin;
	}
	if (is_good && at <= limit && (*at == 'e' || *at == 'E')) {
		begin = at + (at[1] == '+' || at[1] == '-' ? 2 : 1);
		at = skip_digits(begin, limit);
		is_good = at > begin;
	}
	if (!is_good || at > limit) {
		return false;
	}
	*value = (struct fsl_json_value){FSL_JSON_NUMBER, cursor->at, (size_t)(at - cursor->at)};
	cursor->at = at;
	return true;
}

static bool scan_word(struct cursor *cursor, struct fsl_json_value *value)
{
	static const struct {
		const char *text;
		size_t length;
		enum fsl_json_token token;
	} words[] = {
		{"true", 4, FSL_JSON_TRUE},
		{"false", 5, FSL_JSON_FALSE},
		{"null", 4, FSL_JSON_NULL},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (memcmp(cursor->at, words[i].text, words[i].length) == 0) {
			*value = (struct fsl_json_value){words[i].token, cursor->at,
							 words[i].length};
			cursor->at += words[i].length;
			return true;
		}
	}
	return false;
}

static inline bool scan_scalar(struct cursor *cursor, struct fsl_json_value *value,
			       bool *has_escapes)
{
	*has_escapes = false;
	if (*cursor->at == '"') {
		cursor->at++;
		return scan_string(cursor, value, has_escapes);
	}
	bool is_number = *cursor->at == '-' || (*cursor->at >= '0' && *cursor->at <= '9');
	return is_number ? scan_number(cursor, value) : scan_word(cursor, value);
}

/* A key with its colon; cursor->at goes to the value, of which a block can be read. */
static inline bool scan_key(struct cursor *cursor, struct fsl_json_value *key)
{
	bool has_escapes = false;
	if (cursor->at > cursor->limit || *cursor->at++ != '"' ||
	    !scan_string(cursor, key, &has_escapes) || has_escapes || cursor->at > cursor->limit ||
	    *cursor->at++ != ':') {
		return false;
	}
	return skip_spaces(cursor);
}

/* Behind a value: ',' with the cursor at the next key or item, @bracket with it behind, else 0. */
static inline char scan_end(struct cursor *cursor, char bracket)
{
	if (!skip_spaces(cursor) || (*cursor->at != ',' && *cursor->at != bracket)) {
		return '\0';
	}
	char end = *cursor->at++;
	return end != ',' || skip_spaces(cursor) ? end : '\0';
}

/* The scalar of a key. An escape makes it the tokenizer's, unless nobody asks for it. */
static inline bool take_scalar(struct cursor *cursor, struct fsl_json_value *value, bool is_asked)
{
	bool has_escapes = false;
	return scan_scalar(cursor, value, &has_escapes) && !(has_escapes && is_asked);
}

/* A list of scalars and lists, the cursor behind its "[". Its first numbers go to @sizes[3], -1 for
 * what is none; *n: its items. */
static bool scan_list(struct cursor *cursor, int64_t *sizes, size_t *n, unsigned depth)
{
	char end = ',';
	*n = 0;
	if (depth == LISTS_MAX || !skip_spaces(cursor)) {
		return false;
	}
	if (*cursor->at == ']') {
		cursor->at++;
		return true;
	}
	while (end == ',') {
		struct fsl_json_value value = {FSL_JSON_NULL, "", 0};
		int64_t inner[3], number = -1;
		size_t n_inner = 0;
		bool has_escapes = false, is_list = *cursor->at == '[';
		cursor->at += is_list ? 1 : 0;
		if (is_list ? !scan_list(cursor, inner, &n_inner, depth + 1)
			    : !scan_scalar(cursor, &value, &has_escapes)) {
			return false;
		}
		if (*n < 3) {
			/* An escape makes no number of a text. */
			(void)(!has_escapes && fsl_json_scaled(&value, 1, INT32_MAX, &number));
			sizes[*n] = number;
		}
		++*n;
		end = scan_end(cursor, ']');
	}
	return end == ']';
}

/* The value of a member of the args, the cursor at its first byte. */
static inline bool scan_arg(struct cursor *cursor, const struct fsl_trace_vocabulary *vocabulary,
			    struct fsl_trace_event *event, size_t arg)
{
	struct fsl_json_value value = {FSL_JSON_NULL, "", 0};
	bool is_asked = arg < vocabulary->n_args;
	bool has_sizes = is_asked && vocabulary->args[arg].kind == FSL_TRACE_ARG_SIZES;
	if (*cursor->at == '[') {
		int64_t sizes[3] = {-1, -1, -1};
		size_t n = 0;
		cursor->at++;
		if (!scan_list(cursor, sizes, &n, 0)) {
			return false;
		}
		if (has_sizes) {
			fsl_trace_event_take_sizes(event, arg, sizes, n);
			return true;
		}
	} else if (!take_scalar(cursor, &value, is_asked)) {
		return false;
	}
	if (is_asked) {
		fsl_trace_event_take_arg(vocabulary, event, arg, &value);
	}
	return true;
}

/* Members up to the "}" of the args, the cursor behind their "{". */
static bool scan_args(struct cursor *cursor, const struct fsl_trace_vocabulary *vocabulary,
		      struct fsl_trace_event *event)
{
	char end = ',';
	fsl_trace_event_clear_args(vocabulary, event);
	if (!skip_spaces(cursor)) {
		return false;
	}
	if (*cursor->at == '}') {
		cursor->at++;
		return true;
	}
	while (end == ',') {
		struct fsl_json_value key;
		if (!scan_key(cursor, &key)) {
			return false;
		}
		size_t arg = fsl_trace_arg_find(vocabulary, key.text, key.length);
		if (!scan_arg(cursor, vocabulary, event, arg)) {
			return false;
		}
		end = scan_end(cursor, '}');
	}
	return end == '}';
}

/* The value of @key, the cursor at its first byte. */
static bool scan_value(struct cursor *cursor, enum fsl_trace_key key,
		       const struct fsl_trace_vocabulary *vocabulary, struct fsl_trace_event *event)
{
	bool is_args = key == FSL_TRACE_KEY_ARGS;
	if (is_args != (*cursor->at == '{')) {
		return false;
	}
	if (is_args) {
		cursor->at++;
		return scan_args(cursor, vocabulary, event);
	}
	struct fsl_json_value value;
	bool is_asked = key != FSL_TRACE_KEY_OTHER;
	if (!take_scalar(cursor, &value, is_asked)) {
		return false;
	}
	if (is_asked) {
		fsl_trace_event_take(vocabulary, event, key, &value);
	}
	return true;
}

size_t fsl_trace_event_scan(const char *text, size_t n_bytes,
			    const struct fsl_trace_vocabulary *vocabulary,
			    struct fsl_trace_event *event, uint64_t *n_newlines)
{
	char end = ',';
	if (n_bytes < FSL_SCAN_JSON_BYTES + 1 || text[0] != '{') {
		return 0;
	}
	struct cursor cursor = {text + 1, text + n_bytes - FSL_SCAN_JSON_BYTES, 0};
	fsl_trace_event_clear(vocabulary, event);
	if (!skip_spaces(&cursor)) {
		return 0;
	}
	while (end == ',') {
		struct fsl_json_value key;
		if (!scan_key(&cursor, &key) ||
		    !scan_value(&cursor, fsl_trace_key_find(key.text, key.length), vocabulary,
				event)) {
			return 0;
		}
		end = scan_end(&cursor, '}');
	}
	*n_newlines = cursor.n_newlines;
	return end == '}' ? (size_t)(cursor.at - text) : 0;
}
