/*
 * A walk through bytes of JSON in memory, for the two ways of reading events without the tokenizer.
 * All that may be an error, and all that is not ASCII, is refused: the tokenizer reads it then.
 */
#ifndef FSL_CHROME_TRACE_CURSOR_H
#define FSL_CHROME_TRACE_CURSOR_H

#include <string.h>

#include "base/block_scan.h"
#include "base/json_stream.h"

/* From @limit on there are less than a block of bytes. */
struct fsl_trace_cursor {
	const char *at, *limit;
	uint64_t n_newlines;
};

/* Goes behind white space; false if less than a block is left. */
static inline bool fsl_trace_cursor_spaces(struct fsl_trace_cursor *cursor)
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
static inline bool fsl_trace_cursor_string(struct fsl_trace_cursor *cursor,
					   struct fsl_json_value *value, bool *has_escapes)
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

static inline const char *fsl_trace_cursor_digits(const char *at, const char *limit)
{
	while (at <= limit && *at >= '0' && *at <= '9') {
		at++;
	}
	return at;
}

/* -12, 0.5, 1e-05: RFC 8259 section 6; what may follow is for the caller to tell. */
static inline bool fsl_trace_cursor_number(struct fsl_trace_cursor *cursor,
					   struct fsl_json_value *value)
{
	const char *limit = cursor->limit;
	const char *begin = cursor->at + (*cursor->at == '-' ? 1 : 0);
	const char *at = fsl_trace_cursor_digits(begin, limit);
	bool is_good = at > begin && (*begin != '0' || at == begin + 1);
	if (is_good && at <= limit && *at == '.') {
		begin = at + 1;
		at = fsl_trace_cursor_digits(begin, limit);
		is_good = at > begin;
	}
	if (is_good && at <= limit && (*at == 'e' || *at == 'E')) {
		begin = at + (at[1] == '+' || at[1] == '-' ? 2 : 1);
		at = fsl_trace_cursor_digits(begin, limit);
		is_good = at > begin;
	}
	if (!is_good || at > limit) {
		return false;
	}
	*value = (struct fsl_json_value){FSL_JSON_NUMBER, cursor->at, (size_t)(at - cursor->at)};
	cursor->at = at;
	return true;
}

static inline bool fsl_trace_cursor_word(struct fsl_trace_cursor *cursor,
					 struct fsl_json_value *value)
{
	for (size_t i = 0; i < FSL_JSON_WORDS_N; i++) {
		if (memcmp(cursor->at, fsl_json_words[i].text, fsl_json_words[i].length) == 0) {
			*value = (struct fsl_json_value){fsl_json_words[i].token, cursor->at,
							 fsl_json_words[i].length};
			cursor->at += fsl_json_words[i].length;
			return true;
		}
	}
	return false;
}

static inline bool fsl_trace_cursor_scalar(struct fsl_trace_cursor *cursor,
					   struct fsl_json_value *value, bool *has_escapes)
{
	*has_escapes = false;
	if (*cursor->at == '"') {
		cursor->at++;
		return fsl_trace_cursor_string(cursor, value, has_escapes);
	}
	bool is_number = *cursor->at == '-' || (*cursor->at >= '0' && *cursor->at <= '9');
	return is_number ? fsl_trace_cursor_number(cursor, value)
			 : fsl_trace_cursor_word(cursor, value);
}

/* A key with its colon; cursor->at goes to the value, of which a block can be read. */
static inline bool fsl_trace_cursor_key(struct fsl_trace_cursor *cursor, struct fsl_json_value *key)
{
	bool has_escapes = false;
	if (cursor->at > cursor->limit || *cursor->at++ != '"' ||
	    !fsl_trace_cursor_string(cursor, key, &has_escapes) || has_escapes ||
	    cursor->at > cursor->limit || *cursor->at++ != ':') {
		return false;
	}
	return fsl_trace_cursor_spaces(cursor);
}

/* Behind a value: ',' with the cursor at the next key or item, @bracket with it behind, else 0. */
static inline char fsl_trace_cursor_end(struct fsl_trace_cursor *cursor, char bracket)
{
	if (!fsl_trace_cursor_spaces(cursor) || (*cursor->at != ',' && *cursor->at != bracket)) {
		return '\0';
	}
	char end = *cursor->at++;
	return end != ',' || fsl_trace_cursor_spaces(cursor) ? end : '\0';
}

/*
 * A list of scalars and lists, the cursor behind its "["; it goes behind the "]". The first numbers
 * go to @sizes[3], unless it is NULL, -1 for what is none; *n: items of the list. False for lists
 * that lie deep in each other.
 */
bool fsl_trace_cursor_list(struct fsl_trace_cursor *cursor, int64_t *sizes, size_t *n,
			   unsigned depth);

#endif
