/* Pull tokenizer over the reader's own buffer. A token is scanned in place; only strings with
 * escapes are copied. The state is one byte, and one bit per open object or array; no recursion. */
#include "base/json_stream.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/block_scan.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/try.h"

/* The tokens that may come next. */
enum expect {
	/* Up to EXPECT_TOP a token is next, up to EXPECT_ITEM it is required. */
	EXPECT_FIRST_KEY,  /* key or "}" */
	EXPECT_KEY,        /* key */
	EXPECT_FIRST_ITEM, /* value or "]" */
	EXPECT_ITEM,       /* value */
	EXPECT_TOP,        /* a value or the end of the file */
	EXPECT_COLON,      /* ":" and then a value */
	EXPECT_NEXT,       /* "," or the end of the object or array */
	EXPECT_NOTHING,    /* reading has failed */
};

struct fsl_json {
	struct fsl_reader *reader;
	const char *data; /* window: the reader's unread bytes; borrowed until the next refill */
	size_t n_data;
	size_t at;              /* index of the next byte */
	uint64_t window_offset; /* file offset of data[0] */
	uint64_t line;          /* line of the next byte; told only if it is known */
	uint64_t token_offset, token_line;
	bool has_no_line; /* reading began in the middle of the file */
	bool is_begun;    /* the byte order mark has been checked */
	bool is_last;     /* no input follows this window */
	enum expect expect;
	size_t depth;
	uint64_t objects;  /* bit i: level i is an object, else an array */
	bool is_in_object; /* the innermost level is an object */
	char *scratch;     /* the string last decoded */
	size_t scratch_capacity;
};

_Static_assert(FSL_JSON_DEPTH_MAX == 64, "one bit of fsl_json.objects per level");

/* Result of scanning a token. */
enum outcome {
	OUTCOME_DONE,
	OUTCOME_MORE, /* the window ends inside the token */
	OUTCOME_BAD,
};

struct fsl_json *fsl_json_create(struct fsl_reader *reader)
{
	struct fsl_json *json = fsl_calloc(1, sizeof(*json));
	if (json != NULL) {
		json->reader = reader;
		json->line = 1;
		json->token_line = 1;
		json->expect = EXPECT_TOP;
	}
	return json;
}

void fsl_json_destroy(struct fsl_json *json)
{
	if (json == NULL) {
		return;
	}
	fsl_reader_skip(json->reader, json->at);
	fsl_free(json->scratch);
	fsl_free(json);
}

size_t fsl_json_depth(const struct fsl_json *json)
{
	return json->depth;
}

uint64_t fsl_json_offset(const struct fsl_json *json)
{
	return json->token_offset;
}

uint64_t fsl_json_line(const struct fsl_json *json)
{
	return json->has_no_line ? 0 : json->token_line;
}

enum { LINE_BYTES = 32 };

/* "line=7, " or nothing. */
static const char *line_text(const struct fsl_json *json, char text[LINE_BYTES])
{
	text[0] = '\0';
	if (!json->has_no_line) {
		(void)snprintf(text, LINE_BYTES, "line=%llu, ", (unsigned long long)json->line);
	}
	return text;
}

/* A syntax error at byte @pos of the window. */
static enum fsl_status fail_syntax(struct fsl_json *json, size_t pos, const char *what,
				   struct fsl_error *err)
{
	char line[LINE_BYTES];
	json->expect = EXPECT_NOTHING;
	return FSL_FAIL(err, FSL_ERR_FORMAT, "%s: path=\"%s\", %soffset=%llu", what,
			fsl_reader_path(json->reader), line_text(json, line),
			(unsigned long long)(json->window_offset + pos));
}

static enum fsl_status fail_limit(struct fsl_json *json, const char *what, long max,
				  struct fsl_error *err)
{
	char line[LINE_BYTES];
	json->expect = EXPECT_NOTHING;
	return FSL_FAIL(err, FSL_ERR_LIMIT, "%s: path=\"%s\", %soffset=%llu, max=%ld", what,
			fsl_reader_path(json->reader), line_text(json, line),
			(unsigned long long)(json->window_offset + json->at), max);
}

static enum fsl_status fail_cut(struct fsl_json *json, struct fsl_error *err)
{
	return fail_syntax(json, json->n_data, "JSON is cut, the file ends inside a value", err);
}

/* Makes the window hold at least @want bytes from json->at on. */
static enum fsl_status refill(struct fsl_json *json, size_t want, struct fsl_error *err)
{
	fsl_reader_skip(json->reader, json->at);
	json->window_offset += json->at;
	json->at = 0;
	json->n_data = 0;
	enum fsl_status status =
		fsl_reader_peek(json->reader, want, &json->data, &json->n_data, err);
	if (status != FSL_OK) {
		json->n_data = 0;
		return status;
	}
	json->is_last = json->n_data < want;
	return FSL_OK;
}

/* Doubles the window for a token that ends outside of it. */
static enum fsl_status widen(struct fsl_json *json, struct fsl_error *err)
{
	size_t n_known = json->n_data - json->at;
	if (json->is_last) {
		/* A failed read is reported here; its message says more than "cut". */
		fsl_reader_skip(json->reader, json->n_data);
		json->window_offset += json->n_data;
		json->at = 0;
		json->n_data = 0;
		enum fsl_status status =
			fsl_reader_peek(json->reader, 1, &json->data, &json->n_data, err);
		if (status != FSL_OK) {
			json->expect = EXPECT_NOTHING;
			return status;
		}
		return fail_cut(json, err);
	}
	if (n_known >= FSL_LINE_BYTES_MAX) {
		return fail_limit(json, "JSON string or number is too long", FSL_LINE_BYTES_MAX,
				  err);
	}
	return refill(json, n_known < FSL_LINE_BYTES_MAX / 2 ? n_known * 2 : FSL_LINE_BYTES_MAX,
		      err);
}

/* Skips white space that is in memory. */
static void skip_spaces_here(struct fsl_json *json)
{
	const char *data = json->data;
	size_t n_data = json->n_data;
	size_t at = json->at;
	while (at < n_data &&
	       (data[at] == ' ' || data[at] == '\n' || data[at] == '\r' || data[at] == '\t')) {
		json->line += data[at] == '\n';
		at++;
	}
	json->at = at;
}

static enum fsl_status skip_spaces(struct fsl_json *json, struct fsl_error *err)
{
	for (;;) {
		skip_spaces_here(json);
		if (json->at < json->n_data) {
			return FSL_OK;
		}
		enum fsl_status status = refill(json, 1, err);
		if (status != FSL_OK || json->n_data == 0) {
			return status;
		}
	}
}

/* Moves to the next byte that is no white space; json->at == json->n_data at the end of the file.
 */
static inline enum fsl_status skip_space(struct fsl_json *json, struct fsl_error *err)
{
	bool is_there = json->at < json->n_data && (unsigned char)json->data[json->at] > ' ';
	return is_there ? FSL_OK : skip_spaces(json, err);
}

/*
 * Index of the first byte from @pos on that needs attention: quote, backslash, control, non-ASCII.
 */
static inline size_t next_special(const char *data, size_t n_data, size_t pos)
{
	while (n_data - pos >= FSL_SCAN_JSON_BYTES) {
		uint32_t bits = fsl_scan_json(data + pos);
		if (bits != 0) {
			return pos + (size_t)__builtin_ctz(bits);
		}
		pos += FSL_SCAN_JSON_BYTES;
	}
	for (; pos < n_data; pos++) {
		unsigned char c = (unsigned char)data[pos];
		if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') {
			break;
		}
	}
	return pos;
}

/* A string under scan: raw bytes from behind the opening quote to *pos. */
struct string_scan {
	size_t pos; /* relative to json->at, so that it survives a refill */
	bool has_escapes;
	const char *why; /* set for OUTCOME_BAD */
};

/* Scans on to the closing quote; on success scan->pos is its index. */
static enum outcome scan_string(const struct fsl_json *json, struct string_scan *scan)
{
	const char *data = json->data + json->at;
	size_t n_data = json->n_data - json->at;
	size_t pos = scan->pos;
	for (;;) {
		pos = next_special(data, n_data, pos);
		scan->pos = pos;
		if (pos >= n_data) {
			return OUTCOME_MORE;
		}
		unsigned char c = (unsigned char)data[pos];
		if (c == '"') {
			return OUTCOME_DONE;
		}
		if (c == '\\') {
			scan->has_escapes = true;
			if (n_data - pos < 2) {
				return OUTCOME_MORE;
			}
			pos += data[pos + 1] == '"' || data[pos + 1] == '\\' ? 2 : 1;
			continue;
		}
		if (c < 0x20) {
			scan->why = "control character in a JSON string";
			return OUTCOME_BAD;
		}
		int length = fsl_utf8_length((const unsigned char *)data + pos, n_data - pos);
		if (length <= 0) {
			scan->why = "JSON string is not UTF-8";
			return length < 0 ? OUTCOME_MORE : OUTCOME_BAD;
		}
		pos += (size_t)length;
	}
}

/* Takes a string with escapes or non-ASCII bytes, or one that ends outside the window. Bytes up to
 * @pos are plain. */
static enum fsl_status take_long_string(struct fsl_json *json, size_t pos,
					struct fsl_json_value *value, struct fsl_error *err)
{
	struct string_scan scan = {.pos = pos};
	enum outcome outcome = scan_string(json, &scan);
	while (outcome == OUTCOME_MORE) {
		FSL_TRY(widen(json, err));
		outcome = scan_string(json, &scan);
	}
	if (outcome == OUTCOME_BAD) {
		return fail_syntax(json, json->at + scan.pos, scan.why, err);
	}
	value->text = json->data + json->at + 1;
	value->length = scan.pos - 1;
	if (scan.has_escapes) {
		size_t n_decoded = 0;
		FSL_TRY(FSL_GROW(json->scratch, json->scratch_capacity, value->length, err));
		if (!fsl_json_unescape(value->text, value->length, json->scratch, &n_decoded)) {
			return fail_syntax(json, json->at, "wrong escape in a JSON string", err);
		}
		value->text = json->scratch;
		value->length = n_decoded;
	}
	json->at += scan.pos + 1;
	return FSL_OK;
}

/* Takes the string whose opening quote is at json->at. */
static inline enum fsl_status take_string(struct fsl_json *json, struct fsl_json_value *value,
					  struct fsl_error *err)
{
	const char *data = json->data + json->at;
	size_t n_data = json->n_data - json->at;
	size_t pos = next_special(data, n_data, 1);
	if (pos >= n_data || data[pos] != '"') {
		return take_long_string(json, pos, value, err);
	}
	value->text = data + 1;
	value->length = pos - 1;
	json->at += pos + 1;
	return FSL_OK;
}

static inline size_t skip_digits(const char *data, size_t n_data, size_t pos)
{
	while (n_data - pos >= 8) {
		unsigned n = fsl_scan_digits(data + pos);
		pos += n;
		if (n < 8) {
			return pos;
		}
	}
	while (pos < n_data && data[pos] >= '0' && data[pos] <= '9') {
		pos++;
	}
	return pos;
}

/* RFC 8259 section 6: *length bytes of @data are a number, unless it goes on behind @n_data. */
static enum outcome scan_number(const char *data, size_t n_data, size_t *length)
{
	size_t pos = data[0] == '-' ? 1 : 0;
	size_t begin = pos;
	pos = skip_digits(data, n_data, pos);
	if ((pos == begin && pos < n_data) || (pos > begin + 1 && data[begin] == '0')) {
		return OUTCOME_BAD; /* no digit, or 01 */
	}
	if (pos < n_data && data[pos] == '.') {
		begin = ++pos;
		pos = skip_digits(data, n_data, pos);
		if (pos == begin && pos < n_data) {
			return OUTCOME_BAD;
		}
	}
	if (pos < n_data && pos > begin && (data[pos] == 'e' || data[pos] == 'E')) {
		pos++;
		pos += pos < n_data && (data[pos] == '+' || data[pos] == '-');
		begin = pos;
		pos = skip_digits(data, n_data, pos);
		if (pos == begin && pos < n_data) {
			return OUTCOME_BAD;
		}
	}
	*length = pos;
	if (pos == n_data) {
		return OUTCOME_MORE;
	}
	return OUTCOME_DONE;
}

/* True if a number or word may end before @c. */
static inline bool is_delimiter(char c)
{
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' ||
	       c == '\t' || c == '[' || c == '{' || c == '"' || c == ':';
}

/* Takes a number that may end outside the window. */
static enum fsl_status take_any_number(struct fsl_json *json, struct fsl_json_value *value,
				       struct fsl_error *err)
{
	size_t length = 0;
	enum outcome outcome = OUTCOME_MORE;
	while (outcome == OUTCOME_MORE) {
		const char *data = json->data + json->at;
		size_t n_data = json->n_data - json->at;
		outcome = scan_number(data, n_data, &length);
		if (outcome == OUTCOME_MORE) {
			char last = data[n_data - 1];
			if (json->is_last && last >= '0' && last <= '9') {
				outcome = OUTCOME_DONE; /* a number may end with the file */
				break;
			}
			FSL_TRY(widen(json, err));
		}
	}
	size_t end = json->at + length;
	if (outcome == OUTCOME_BAD || (end < json->n_data && !is_delimiter(json->data[end]))) {
		return fail_syntax(json, json->at, "wrong JSON number", err);
	}
	*value = (struct fsl_json_value){FSL_JSON_NUMBER, json->data + json->at, length};
	json->at = end;
	return FSL_OK;
}

/* The number at json->at; most are plain integers inside the window. */
static inline enum fsl_status take_number(struct fsl_json *json, struct fsl_json_value *value,
					  struct fsl_error *err)
{
	const char *data = json->data + json->at;
	size_t n_data = json->n_data - json->at;
	size_t length = skip_digits(data, n_data, 0);
	bool is_plain = length > 0 && length < n_data && data[0] != '0' &&
			(data[length] == ',' || data[length] == '}' || data[length] == ']');
	if (!is_plain) {
		return take_any_number(json, value, err);
	}
	*value = (struct fsl_json_value){FSL_JSON_NUMBER, data, length};
	json->at += length;
	return FSL_OK;
}

const struct fsl_json_word fsl_json_words[FSL_JSON_WORDS_N] = {
	{"true", 4, FSL_JSON_TRUE},
	{"false", 5, FSL_JSON_FALSE},
	{"null", 4, FSL_JSON_NULL},
};

static enum fsl_status take_word(struct fsl_json *json, struct fsl_json_value *value,
				 struct fsl_error *err)
{
	while (json->n_data - json->at < 6 && !json->is_last) {
		FSL_TRY(refill(json, 6, err));
	}
	const char *data = json->data + json->at;
	size_t n_left = json->n_data - json->at;
	for (size_t i = 0; i < FSL_JSON_WORDS_N; i++) {
		size_t length = fsl_json_words[i].length;
		if (n_left >= length && memcmp(data, fsl_json_words[i].text, length) == 0 &&
		    (n_left == length || is_delimiter(data[length]))) {
			*value = (struct fsl_json_value){fsl_json_words[i].token, data, length};
			json->at += length;
			return FSL_OK;
		}
		if (n_left < length && memcmp(data, fsl_json_words[i].text, n_left) == 0) {
			return widen(json, err);
		}
	}
	return fail_syntax(json, json->at, "JSON value expected", err);
}

static enum fsl_status open_level(struct fsl_json *json, bool is_object,
				  struct fsl_json_value *value, struct fsl_error *err)
{
	if (json->depth == FSL_JSON_DEPTH_MAX) {
		return fail_limit(json, "JSON is nested too deep", FSL_JSON_DEPTH_MAX, err);
	}
	uint64_t bit = UINT64_C(1) << json->depth++;
	json->objects = is_object ? json->objects | bit : json->objects & ~bit;
	json->is_in_object = is_object;
	*value = (struct fsl_json_value){is_object ? FSL_JSON_OBJECT_BEGIN : FSL_JSON_ARRAY_BEGIN,
					 "", 0};
	json->expect = is_object ? EXPECT_FIRST_KEY : EXPECT_FIRST_ITEM;
	json->at++;
	return FSL_OK;
}

/* Sets the state behind a value. Takes a comma at once, which saves a round of find_token. */
static inline void after_value(struct fsl_json *json)
{
	if (json->depth == 0) {
		json->expect = EXPECT_TOP;
	} else if (json->at < json->n_data && json->data[json->at] == ',') {
		json->at++;
		json->expect = json->is_in_object ? EXPECT_KEY : EXPECT_ITEM;
	} else {
		json->expect = EXPECT_NEXT;
	}
}

static void close_level(struct fsl_json *json, struct fsl_json_value *value)
{
	*value = (struct fsl_json_value){
		json->is_in_object ? FSL_JSON_OBJECT_END : FSL_JSON_ARRAY_END, "", 0};
	json->depth--;
	json->at++;
	json->is_in_object = json->depth > 0 && (json->objects >> (json->depth - 1) & 1) != 0;
	after_value(json);
}

/* Takes a key or a string; json->at is at its quote. */
static inline enum fsl_status take_text(struct fsl_json *json, struct fsl_json_value *value,
					struct fsl_error *err)
{
	bool is_key = json->expect == EXPECT_FIRST_KEY || json->expect == EXPECT_KEY;
	FSL_TRY(take_string(json, value, err));
	value->token = is_key ? FSL_JSON_KEY : FSL_JSON_STRING;
	if (!is_key) {
		after_value(json);
	} else if (json->at < json->n_data && json->data[json->at] == ':') {
		json->at++; /* takes it at once, as after_value does with a comma */
		json->expect = EXPECT_ITEM;
	} else {
		json->expect = EXPECT_COLON;
	}
	return FSL_OK;
}

/* Takes any token but a key or a string; json->at is at its first byte. */
static enum fsl_status take_token(struct fsl_json *json, struct fsl_json_value *value,
				  struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	char c = json->data[json->at];
	if ((c == '}' && json->expect == EXPECT_FIRST_KEY) ||
	    (c == ']' && json->expect == EXPECT_FIRST_ITEM) || json->expect == EXPECT_NEXT) {
		close_level(json, value);
		return FSL_OK;
	}
	if (json->expect == EXPECT_FIRST_KEY || json->expect == EXPECT_KEY) {
		return fail_syntax(json, json->at, "JSON key expected", err);
	}
	if (c == '{' || c == '[') {
		return open_level(json, c == '{', value, err);
	}
	if (c == '-' || (c >= '0' && c <= '9')) {
		status = take_number(json, value, err);
	} else {
		status = take_word(json, value, err);
	}
	if (status == FSL_OK) {
		after_value(json);
	}
	return status;
}

/* Takes punctuation between tokens: ":", "," or the end of a level. json->at is then at a token. */
static enum fsl_status take_punctuation(struct fsl_json *json, struct fsl_error *err)
{
	char c = json->data[json->at];
	if (json->expect == EXPECT_COLON) {
		if (c != ':') {
			return fail_syntax(json, json->at, "\":\" expected in JSON", err);
		}
		json->expect = EXPECT_ITEM;
	} else {
		if (c != ',') {
			return fail_syntax(json, json->at, "\",\" or an end expected in JSON", err);
		}
		json->expect = json->is_in_object ? EXPECT_KEY : EXPECT_ITEM;
	}
	json->at++;
	return skip_space(json, err);
}

static enum fsl_status begin(struct fsl_json *json, struct fsl_error *err)
{
	json->window_offset = fsl_reader_offset(json->reader);
	enum fsl_status status = refill(json, 3, err);
	if (status == FSL_OK) {
		json->is_begun = true;
		if (json->n_data >= 3 && memcmp(json->data, "\xef\xbb\xbf", 3) == 0) {
			json->at = 3;
		}
	}
	return status;
}

/* Skips white space and punctuation before the next token; *is_end at the end of the file. */
static enum fsl_status find_token(struct fsl_json *json, bool *is_end, struct fsl_error *err)
{
	if (json->expect == EXPECT_NOTHING) {
		return FSL_FAIL(err, FSL_ERR_FORMAT,
				"JSON reading has failed before: path=\"%s\", offset=%llu",
				fsl_reader_path(json->reader),
				(unsigned long long)json->token_offset);
	}
	enum fsl_status status = json->is_begun ? FSL_OK : begin(json, err);
	FSL_THEN(status, skip_space(json, err));
	if (status == FSL_OK && json->at < json->n_data) {
		char close = json->is_in_object ? '}' : ']';
		bool is_between = json->expect == EXPECT_COLON ||
				  (json->expect == EXPECT_NEXT && json->data[json->at] != close);
		if (is_between) {
			status = take_punctuation(json, err);
		}
	}
	if (status == FSL_OK && json->at == json->n_data) {
		*is_end = json->expect == EXPECT_TOP;
		return *is_end ? FSL_OK : fail_cut(json, err);
	}
	return status;
}

/* True if the next token begins at json->at and its first byte is in memory. */
static inline bool is_at_token(struct fsl_json *json)
{
	if (json->expect > EXPECT_ITEM || json->at >= json->n_data) {
		return false;
	}
	if (json->data[json->at] == ' ' && json->n_data - json->at > 1) {
		json->at++; /* most writers put at most one blank behind ":" and "," */
	}
	return (unsigned char)json->data[json->at] > ' ';
}

enum fsl_status fsl_json_next(struct fsl_json *json, struct fsl_json_value *value,
			      struct fsl_error *err)
{
	bool is_end = false;
	enum fsl_status status = is_at_token(json) ? FSL_OK : find_token(json, &is_end, err);
	json->token_offset = json->window_offset + json->at;
	json->token_line = json->line;
	if (status != FSL_OK) {
		return status;
	}
	if (is_end) {
		*value = (struct fsl_json_value){FSL_JSON_END, "", 0};
		return FSL_OK;
	}
	bool is_text = json->expect <= EXPECT_TOP && json->data[json->at] == '"';
	return is_text ? take_text(json, value, err) : take_token(json, value, err);
}

bool fsl_json_peek_object(struct fsl_json *json, const char **text, size_t *n_bytes)
{
	bool is_item = json->expect == EXPECT_FIRST_ITEM || json->expect == EXPECT_ITEM ||
		       json->expect == EXPECT_TOP;
	if (!is_item || json->is_in_object || json->n_data == 0) {
		return false;
	}
	skip_spaces_here(json);
	*text = json->data + json->at;
	*n_bytes = json->n_data - json->at;
	return *n_bytes > 0 && **text == '{';
}

void fsl_json_take_object(struct fsl_json *json, size_t n_bytes, uint64_t n_newlines)
{
	json->at += n_bytes;
	json->line += n_newlines;
	after_value(json);
}

uint64_t fsl_json_next_offset(const struct fsl_json *json)
{
	return json->window_offset + json->at;
}

enum fsl_status fsl_json_take_objects(struct fsl_json *json, uint64_t n_bytes, uint64_t n_newlines,
				      struct fsl_error *err)
{
	if (n_bytes <= json->n_data - json->at) {
		fsl_json_take_object(json, (size_t)n_bytes, n_newlines);
		return FSL_OK;
	}
	uint64_t offset = fsl_json_next_offset(json) + n_bytes;
	json->n_data = json->at = 0; /* the window is lost in any case */
	FSL_TRY(fsl_reader_seek(json->reader, offset, err));
	json->window_offset = offset;
	/* A failure is kept by the reader, and told when the next token is read. */
	(void)refill(json, 1, NULL);
	fsl_json_take_object(json, 0, n_newlines);
	return FSL_OK;
}

static const enum expect place_expects[FSL_JSON_PLACES_N] = {
	[FSL_JSON_AT_TOP] = EXPECT_TOP,
	[FSL_JSON_AT_FIRST_ITEM] = EXPECT_FIRST_ITEM,
	[FSL_JSON_AT_ITEM] = EXPECT_ITEM,
	[FSL_JSON_AT_NEXT] = EXPECT_NEXT,
};

bool fsl_json_place(const struct fsl_json *json, struct fsl_json_place *place)
{
	if (json->depth > 1 || json->is_in_object) {
		return false;
	}
	for (unsigned i = 0; i < FSL_JSON_PLACES_N; i++) {
		if (place_expects[i] == json->expect) {
			*place = (struct fsl_json_place){
				.offset = json->is_begun ? json->window_offset + json->at
							 : fsl_reader_offset(json->reader),
				.line = json->has_no_line ? 0 : json->line,
				.state = (enum fsl_json_place_state)i,
			};
			return true;
		}
	}
	return false;
}

void fsl_json_go_on(struct fsl_json *json, const struct fsl_json_place *place)
{
	FSL_REQUIRE((unsigned)place->state < FSL_JSON_PLACES_N && !json->is_begun);
	json->window_offset = place->offset;
	json->line = place->line;
	json->has_no_line = place->line == 0;
	json->expect = place_expects[place->state];
	json->depth = place->state == FSL_JSON_AT_TOP ? 0 : 1;
	json->is_begun = place->offset > 0;
}

enum fsl_status fsl_json_go(struct fsl_json *json, const struct fsl_json_place *place,
			    struct fsl_error *err)
{
	fsl_json_go_on(json, place);
	return fsl_reader_seek(json->reader, place->offset, err);
}

enum fsl_status fsl_json_skip(struct fsl_json *json, struct fsl_error *err)
{
	size_t depth = json->depth;
	struct fsl_json_value value = {FSL_JSON_END, "", 0};
	enum fsl_status status = fsl_json_next(json, &value, err);
	if (status == FSL_OK && value.token == FSL_JSON_KEY) {
		status = fsl_json_next(json, &value, err);
	}
	if (status == FSL_OK && (json->depth < depth || value.token == FSL_JSON_END)) {
		return FSL_FAIL(err, FSL_ERR_INTERNAL, "no JSON value to skip: path=\"%s\"",
				fsl_reader_path(json->reader));
	}
	while (status == FSL_OK && json->depth > depth) {
		status = fsl_json_next(json, &value, err);
	}
	return status;
}
