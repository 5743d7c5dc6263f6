/*
 * Chrome trace events without the tokenizer: written by programs, they are spelt alike, one
 * blank behind ":" and "," or none, args of scalars. Everything else, and all that may be an error,
 * is left to the tokenizer.
 */
#include <string.h>

#include "base/block_scan.h"
#include "chrome/trace_event.h"

/* A walk through bytes in memory. From @limit on there are less than a block of them. */
struct cursor {
	const char *at, *limit;
};

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
	cursor->at += cursor->at <= cursor->limit && *cursor->at == ' ';
	return cursor->at <= cursor->limit;
}

/* Behind a value: ',' with the cursor at the next key, '}' with it behind, else 0. */
static inline char scan_end(struct cursor *cursor)
{
	if (cursor->at > cursor->limit || (*cursor->at != ',' && *cursor->at != '}')) {
		return '\0';
	}
	char end = *cursor->at++;
	cursor->at += end == ',' && cursor->at <= cursor->limit && *cursor->at == ' ';
	return end;
}

/* The scalar of a key. An escape makes it the tokenizer's, unless nobody asks for it. */
static inline bool take_scalar(struct cursor *cursor, struct fsl_json_value *value, bool is_asked)
{
	bool has_escapes = false;
	return scan_scalar(cursor, value, &has_escapes) && !(has_escapes && is_asked);
}

/* Members up to the "}" of the args, the cursor behind their "{". */
static bool scan_args(struct cursor *cursor, const struct fsl_trace_vocabulary *vocabulary,
		      struct fsl_trace_event *event)
{
	char end = ',';
	fsl_trace_event_clear_args(vocabulary, event);
	while (end == ',') {
		struct fsl_json_value key, value;
		if (!scan_key(cursor, &key)) {
			return false;
		}
		size_t arg = fsl_trace_arg_find(vocabulary, key.text, key.length);
		bool is_asked = arg < vocabulary->n_args;
		if (!take_scalar(cursor, &value, is_asked)) {
			return false;
		}
		if (is_asked) {
			fsl_trace_event_take_arg(vocabulary, event, arg, &value);
		}
		end = scan_end(cursor);
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
			    struct fsl_trace_event *event)
{
	char end = ',';
	if (n_bytes < FSL_SCAN_JSON_BYTES + 1 || text[0] != '{') {
		return 0;
	}
	struct cursor cursor = {text + 1, text + n_bytes - FSL_SCAN_JSON_BYTES};
	fsl_trace_event_clear(vocabulary, event);
	while (end == ',') {
		struct fsl_json_value key;
		if (!scan_key(&cursor, &key) ||
		    !scan_value(&cursor, fsl_trace_key_find(key.text, key.length), vocabulary,
				event)) {
			return 0;
		}
		end = scan_end(&cursor);
	}
	return end == '}' ? (size_t)(cursor.at - text) : 0;
}
