/*
 * Chrome trace events without the tokenizer: written by programs, they are spelt alike, white space
 * behind ":", "," and brackets alone, args of scalars and lists. Everything else, and all that may
 * be an error, is left to the tokenizer.
 */
#include "chrome/trace_cursor.h"
#include "chrome/trace_event.h"
#include "text/json_walk.h"

enum { LISTS_MAX = 8 /* in each other; deeper ones are left to the tokenizer */ };

/* The scalar of a key. An escape makes it the tokenizer's, unless nobody asks for it. */
static inline bool take_scalar(struct fsl_trace_cursor *cursor, struct fsl_json_value *value,
			       bool is_asked)
{
	bool has_escapes = false;
	return fsl_trace_cursor_scalar(cursor, value, &has_escapes) && !(has_escapes && is_asked);
}

bool fsl_trace_cursor_list(struct fsl_trace_cursor *cursor, int64_t *sizes, size_t *n,
			   unsigned depth)
{
	char end = ',';
	*n = 0;
	if (depth == LISTS_MAX || !fsl_trace_cursor_spaces(cursor)) {
		return false;
	}
	if (*cursor->at == ']') {
		cursor->at++;
		return true;
	}
	while (end == ',') {
		struct fsl_json_value value = {FSL_JSON_NULL, "", 0};
		int64_t number = -1;
		size_t n_inner = 0;
		bool has_escapes = false, is_list = *cursor->at == '[';
		cursor->at += is_list ? 1 : 0;
		if (is_list ? !fsl_trace_cursor_list(cursor, NULL, &n_inner, depth + 1)
			    : !fsl_trace_cursor_scalar(cursor, &value, &has_escapes)) {
			return false;
		}
		if (sizes != NULL && *n < 3) {
			/* An escape makes no number of a text. */
			(void)(!has_escapes && fsl_json_scaled(&value, 1, INT32_MAX, &number));
			sizes[*n] = number;
		}
		++*n;
		end = fsl_trace_cursor_end(cursor, ']');
	}
	return end == ']';
}

/* The value of a member of the args, the cursor at its first byte. */
static inline bool scan_arg(struct fsl_trace_cursor *cursor,
			    const struct fsl_trace_vocabulary *vocabulary,
			    struct fsl_trace_event *event, const struct fsl_json_value *key)
{
	struct fsl_json_value value = {FSL_JSON_NULL, "", 0};
	size_t arg = fsl_trace_arg_find(vocabulary, key->text, key->length);
	bool is_asked = arg < vocabulary->n_args;
	bool has_sizes = is_asked && vocabulary->args[arg].kind == FSL_TRACE_ARG_SIZES;
	if (*cursor->at == '[') {
		int64_t sizes[3] = {-1, -1, -1};
		size_t n = 0;
		cursor->at++;
		if (!fsl_trace_cursor_list(cursor, has_sizes ? sizes : NULL, &n, 0)) {
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
	} else if (fsl_trace_event_has_counters(vocabulary, event)) {
		fsl_trace_event_take_counter(event, key, &value);
	}
	return true;
}

/* Members up to the "}" of the args, the cursor behind their "{". */
static bool scan_args(struct fsl_trace_cursor *cursor,
		      const struct fsl_trace_vocabulary *vocabulary, struct fsl_trace_event *event)
{
	char end = ',';
	fsl_trace_event_clear_args(vocabulary, event);
	if (!fsl_trace_cursor_spaces(cursor)) {
		return false;
	}
	if (*cursor->at == '}') {
		cursor->at++;
		return true;
	}
	while (end == ',') {
		struct fsl_json_value key;
		if (!fsl_trace_cursor_key(cursor, &key)) {
			return false;
		}
		if (!scan_arg(cursor, vocabulary, event, &key)) {
			return false;
		}
		end = fsl_trace_cursor_end(cursor, '}');
	}
	return end == '}';
}

/* The value of @key, the cursor at its first byte. */
static bool scan_value(struct fsl_trace_cursor *cursor, enum fsl_trace_key key,
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
	struct fsl_trace_cursor cursor = {text + 1, text + n_bytes - FSL_SCAN_JSON_BYTES, 0};
	fsl_trace_event_clear(vocabulary, event);
	if (!fsl_trace_cursor_spaces(&cursor)) {
		return 0;
	}
	while (end == ',') {
		struct fsl_json_value key;
		if (!fsl_trace_cursor_key(&cursor, &key) ||
		    !scan_value(&cursor, fsl_trace_key_find(key.text, key.length), vocabulary,
				event)) {
			return 0;
		}
		end = fsl_trace_cursor_end(&cursor, '}');
	}
	if (end != '}') {
		return 0;
	}
	fsl_trace_event_end(vocabulary, event);
	*n_newlines = cursor.n_newlines;
	return (size_t)(cursor.at - text);
}
