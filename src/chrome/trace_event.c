/* Chrome trace events from the tokenizer. */
#include "chrome/trace_event.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "text/json_walk.h"

/* Texts by their first byte, then one comparison for each word that is left. */

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

/* The letter in the middle of the word is looked for first, as the first one is more often met by
 * chance. */
bool fsl_trace_text_holds(const char *text, size_t length, const char *word, size_t n_word)
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
		return fsl_trace_text_holds(text, length, word->text, n_text);
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

/* 0 for what is no text. */
static int find_kind(const struct fsl_trace_words *words, const struct fsl_json_value *value,
		     int64_t *number)
{
	return value->token == FSL_JSON_STRING
		       ? fsl_trace_words_find(words, value->text, value->length, number)
		       : 0;
}

/* An id, a number or a string: decimal digits are their number, everything else a hash. */
static bool take_id(const struct fsl_json_value *value, uint64_t *id)
{
	if (value->token != FSL_JSON_STRING && value->token != FSL_JSON_NUMBER) {
		return false;
	}
	if (!fsl_parse_u64(value->text, value->length, id)) {
		*id = fsl_hash_bytes(FSL_HASH_START, value->text, value->length);
	}
	return true;
}

/* us with up to three decimals, as most times are, to ns; false for everything else. */
static bool parse_plain_us(const char *text, size_t length, int64_t *ns)
{
	static const uint64_t scales[] = {1000, 100, 10, 1};
	enum { DIGITS_MAX = 19 }; /* fit 64 bits */
	uint64_t value = 0;
	size_t i = 0, n_whole = 0;
	for (; i < length && i < DIGITS_MAX && text[i] >= '0' && text[i] <= '9'; i++) {
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	n_whole = i;
	if (n_whole == 0 || n_whole + 3 > DIGITS_MAX || (i < length && text[i++] != '.') ||
	    length - i > 3) {
		return false;
	}
	size_t n_decimals = length - i;
	for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	return i == length && !__builtin_mul_overflow(value, scales[n_decimals], ns);
}

/* us to ns. */
static int64_t take_time(const struct fsl_json_value *value, int64_t max_ns)
{
	int64_t ns = FSL_NS_ABSENT;
	bool is_text = value->token == FSL_JSON_NUMBER || value->token == FSL_JSON_STRING;
	if (is_text && parse_plain_us(value->text, value->length, &ns)) {
		return ns <= max_ns ? ns : FSL_NS_ABSENT;
	}
	ns = FSL_NS_ABSENT;
	(void)fsl_json_scaled(value, FSL_NS_PER_US, max_ns, &ns);
	return ns;
}

static bool is_text(const char *text, size_t length, const char *key, size_t n_key)
{
	return length == n_key && memcmp(text, key, n_key) == 0;
}
#define IS(key) is_text(text, length, "" key, sizeof(key) - 1)

enum fsl_trace_key fsl_trace_key_find(const char *text, size_t length)
{
	switch (length) {
	case 2:
		if (IS("ph")) {
			return FSL_TRACE_KEY_PHASE;
		}
		if (IS("ts")) {
			return FSL_TRACE_KEY_TS;
		}
		return IS("id") ? FSL_TRACE_KEY_ID : FSL_TRACE_KEY_OTHER;
	case 3:
		if (IS("pid")) {
			return FSL_TRACE_KEY_PID;
		}
		if (IS("tid")) {
			return FSL_TRACE_KEY_TID;
		}
		if (IS("dur")) {
			return FSL_TRACE_KEY_DUR;
		}
		return IS("cat") ? FSL_TRACE_KEY_CATEGORY : FSL_TRACE_KEY_OTHER;
	case 4:
		if (IS("name")) {
			return FSL_TRACE_KEY_NAME;
		}
		return IS("args") ? FSL_TRACE_KEY_ARGS : FSL_TRACE_KEY_OTHER;
	default:
		return FSL_TRACE_KEY_OTHER;
	}
}

size_t fsl_trace_arg_find(const struct fsl_trace_vocabulary *vocabulary, const char *text,
			  size_t length)
{
	size_t i = 0;
	for (; i < vocabulary->n_args; i++) {
		const char *key = vocabulary->args[i].key;
		if (length > 0 && key[0] == text[0] && strlen(key) == length &&
		    memcmp(key, text, length) == 0) {
			break;
		}
	}
	return i;
}

static inline void clear_counters(struct fsl_trace_event *event)
{
	event->has_counters = false;
	event->n_counters = event->n_key_bytes = 0;
}

/* All but the args. Not as a whole: the room has kilobytes. */
static inline void clear_members(struct fsl_trace_event *event)
{
	event->phase = '\0';
	event->name = event->category = 0;
	event->number = -1;
	event->has_id = event->has_nested_args = false;
	event->pid = event->tid = event->id = 0;
	event->ts_ns = event->dur_ns = FSL_NS_ABSENT;
	event->whole_name = event->whole_category = (struct fsl_trace_text){"", 0};
	event->n_room = 0;
	clear_counters(event);
}

static inline void clear_arg(const struct fsl_trace_vocabulary *vocabulary,
			     struct fsl_trace_event *event, size_t arg)
{
	event->args[arg] = vocabulary->args[arg].words != NULL ? 0 : -1;
	event->texts[arg] = (struct fsl_trace_text){"", 0};
}

void fsl_trace_event_clear(const struct fsl_trace_vocabulary *vocabulary,
			   struct fsl_trace_event *event)
{
	clear_members(event);
	fsl_trace_event_clear_args(vocabulary, event);
}

void fsl_trace_event_clear_set(const struct fsl_trace_vocabulary *vocabulary,
			       struct fsl_trace_event *event)
{
	clear_members(event);
	for (; event->args_set != 0; event->args_set &= event->args_set - 1) {
		clear_arg(vocabulary, event, (size_t)__builtin_ctz(event->args_set));
	}
}

void fsl_trace_event_clear_args(const struct fsl_trace_vocabulary *vocabulary,
				struct fsl_trace_event *event)
{
	for (size_t i = 0; i < vocabulary->n_args; i++) {
		clear_arg(vocabulary, event, i);
	}
	event->args_set = 0;
	clear_counters(event);
}

void fsl_trace_event_take_counter(struct fsl_trace_event *event, const struct fsl_json_value *key,
				  const struct fsl_json_value *value)
{
	int64_t millionths = -1;
	bool has_room = event->n_counters < FSL_TRACE_COUNTERS_MAX &&
			event->n_key_bytes + key->length <= FSL_TRACE_KEYS_MAX;
	event->has_counters |= value->token == FSL_JSON_NUMBER;
	if (value->token == FSL_JSON_NUMBER && has_room &&
	    fsl_json_scaled(value, 1000000, INT64_MAX, &millionths)) {
		event->counters[event->n_counters++] =
			(struct fsl_trace_counter){{key->text, key->length}, millionths};
		event->n_key_bytes += key->length;
	}
}

void fsl_trace_event_take_sizes(struct fsl_trace_event *event, size_t arg, const int64_t sizes[3],
				size_t n)
{
	event->args[arg] = n == 3 ? fsl_trace_sizes(sizes[0], sizes[1], sizes[2]) : -1;
	event->args_set |= UINT32_C(1) << arg;
}

/* A text of at most @max bytes; none for what is no text. */
static struct fsl_trace_text text_of(const struct fsl_json_value *value, size_t max)
{
	if (value->token != FSL_JSON_STRING) {
		return (struct fsl_trace_text){"", 0};
	}
	return (struct fsl_trace_text){value->text, value->length < max ? value->length : max};
}

void fsl_trace_event_take_arg(const struct fsl_trace_vocabulary *vocabulary,
			      struct fsl_trace_event *event, size_t arg,
			      const struct fsl_json_value *value)
{
	if (arg >= vocabulary->n_args) {
		return;
	}
	const struct fsl_trace_arg *asked = &vocabulary->args[arg];
	int64_t number = -1; /* of what is no number that fits, as 4294967295 for nobody */
	event->args_set |= UINT32_C(1) << arg;
	if (asked->kind == FSL_TRACE_ARG_TEXT) {
		event->texts[arg] = text_of(value, FSL_TRACE_TEXT_MAX);
	} else if (asked->kind == FSL_TRACE_ARG_SIZES || asked->kind == FSL_TRACE_ARG_NESTED) {
		event->args[arg] = -1;
	} else if (asked->words != NULL) {
		event->args[arg] = find_kind(asked->words, value, &number);
	} else {
		int64_t scale = asked->kind == FSL_TRACE_ARG_MILLIONTHS   ? 1000000
				: asked->kind == FSL_TRACE_ARG_BILLIONTHS ? 1000000000
									  : 1;
		(void)fsl_json_scaled(value, scale, asked->max, &number);
		event->args[arg] = number;
	}
}

void fsl_trace_event_take(const struct fsl_trace_vocabulary *vocabulary,
			  struct fsl_trace_event *event, enum fsl_trace_key key,
			  const struct fsl_json_value *value)
{
	switch (key) {
	case FSL_TRACE_KEY_PHASE:
		event->phase = '\0';
		if (value->token == FSL_JSON_STRING && value->length == 1) {
			event->phase = value->text[0];
		}
		break;
	case FSL_TRACE_KEY_NAME:
		event->whole_name = text_of(value, FSL_TRACE_NAME_MAX);
		break;
	case FSL_TRACE_KEY_PID:
		event->pid = 0;
		(void)take_id(value, &event->pid);
		break;
	case FSL_TRACE_KEY_TID:
		event->tid = 0;
		(void)take_id(value, &event->tid);
		break;
	case FSL_TRACE_KEY_TS:
		event->ts_ns = take_time(value, FSL_JSON_TIME_MAX_NS);
		break;
	case FSL_TRACE_KEY_DUR:
		event->dur_ns = take_time(value, FSL_JSON_FIGURE_MAX);
		break;
	case FSL_TRACE_KEY_CATEGORY:
		event->category = find_kind(&vocabulary->categories, value, &(int64_t){-1});
		event->whole_category = text_of(value, FSL_TRACE_TEXT_MAX);
		break;
	case FSL_TRACE_KEY_ID:
		event->has_id = take_id(value, &event->id);
		break;
	case FSL_TRACE_KEY_ARGS:
	case FSL_TRACE_KEY_OTHER:
		break;
	}
}

void fsl_trace_event_end(const struct fsl_trace_vocabulary *vocabulary,
			 struct fsl_trace_event *event)
{
	if ((vocabulary->nameless >> event->category & 1) == 0) {
		event->name = fsl_trace_words_find(&vocabulary->names, event->whole_name.text,
						   event->whole_name.length, &event->number);
	}
	if (event->phase != 'C') {
		clear_counters(event);
	}
}

const char *fsl_trace_event_fault(const struct fsl_trace_event *event)
{
	if (event->phase == '\0') {
		return "an event without a phase (ph)";
	}
	if (event->phase == 'X' &&
	    (event->ts_ns == FSL_NS_ABSENT || event->dur_ns == FSL_NS_ABSENT)) {
		return "an event without a begin or duration";
	}
	return NULL;
}

/* Copies a text of the tokenizer's, which the next token overwrites, into the room of the event. */
static void keep(struct fsl_trace_event *event, struct fsl_trace_text *text)
{
	if (text->length > sizeof(event->room) - event->n_room) {
		*text = (struct fsl_trace_text){"", 0}; /* a hostile file repeats keys */
		return;
	}
	char *to = event->room + event->n_room;
	memcpy(to, text->text, text->length);
	event->n_room += text->length;
	text->text = to;
}

/* A value under a key that nobody asks for by name. */
static enum fsl_status read_other(struct fsl_json *json,
				  const struct fsl_trace_vocabulary *vocabulary,
				  struct fsl_trace_event *event, const struct fsl_json_value *key,
				  struct fsl_error *err)
{
	struct fsl_json_value value;
	struct fsl_trace_text kept = {key->text, key->length};
	size_t n_room = event->n_room, n_counters = event->n_counters;
	if (fsl_trace_event_has_counters(vocabulary, event)) {
		keep(event, &kept);
		FSL_TRY(fsl_json_take_scalar(json, &value, err));
		const struct fsl_json_value name = {FSL_JSON_KEY, kept.text, kept.length};
		fsl_trace_event_take_counter(event, &name, &value);
		event->n_room = event->n_counters > n_counters ? event->n_room : n_room;
		return FSL_OK;
	}
	return fsl_json_take_scalar(json, &value, err);
}

/* Up to three numbers of a list, the tokenizer in front of it. */
static enum fsl_status read_sizes(struct fsl_json *json, struct fsl_trace_event *event, size_t arg,
				  struct fsl_error *err)
{
	int64_t sizes[3] = {-1, -1, -1};
	size_t n = 0;
	bool is_entered = false;
	FSL_TRY(fsl_json_enter_array(json, &is_entered, err));
	size_t depth = fsl_json_depth(json);
	while (is_entered) {
		struct fsl_json_value value;
		FSL_TRY(fsl_json_next(json, &value, err));
		if (fsl_json_depth(json) < depth) {
			break;
		}
		bool is_item = fsl_json_depth(json) == depth; /* of a list its end */
		if (is_item && n < 3) {
			(void)fsl_json_scaled(&value, 1, INT32_MAX, &sizes[n]);
		}
		n += is_item ? 1 : 0;
	}
	fsl_trace_event_take_sizes(event, arg, sizes, n);
	return FSL_OK;
}

/* Takes in the args that a text holds as JSON; a text that is none, or that is too long, tells
 * none. */
static void take_nested(const struct fsl_trace_vocabulary *vocabulary,
			struct fsl_trace_event *event, const struct fsl_json_value *value)
{
	static const char head[] = "{\"args\":";
	enum { NESTED_MAX = 8192, PADDING = 64 /* the scan reads blocks */ };
	char text[NESTED_MAX + sizeof(head) + 1 + PADDING];
	struct fsl_trace_event nested;
	uint64_t n_newlines = 0;
	size_t n_head = sizeof(head) - 1;
	if (value->token != FSL_JSON_STRING || value->length > NESTED_MAX) {
		return;
	}
	memcpy(text, head, n_head);
	memcpy(text + n_head, value->text, value->length);
	text[n_head + value->length] = '}';
	memset(text + n_head + value->length + 1, ' ', PADDING);
	size_t n_text = n_head + value->length + 1;
	if (fsl_trace_event_scan(text, n_text + PADDING, vocabulary, &nested, &n_newlines) !=
	    n_text) {
		return;
	}
	event->has_nested_args = true;
	event->args_set |= nested.args_set;
	for (size_t i = 0; i < vocabulary->n_args; i++) {
		if (nested.args[i] != (vocabulary->args[i].words != NULL ? 0 : -1)) {
			event->args[i] = nested.args[i];
		}
		if (nested.texts[i].length > 0) {
			event->texts[i] = nested.texts[i];
			keep(event, &event->texts[i]);
		}
	}
}

static enum fsl_status read_arg(struct fsl_json *json,
				const struct fsl_trace_vocabulary *vocabulary,
				struct fsl_trace_event *event, size_t arg, struct fsl_error *err)
{
	struct fsl_json_value value;
	if (vocabulary->args[arg].kind == FSL_TRACE_ARG_SIZES) {
		return read_sizes(json, event, arg, err);
	}
	FSL_TRY(fsl_json_take_scalar(json, &value, err));
	if (vocabulary->args[arg].kind == FSL_TRACE_ARG_NESTED) {
		take_nested(vocabulary, event, &value);
		return FSL_OK;
	}
	fsl_trace_event_take_arg(vocabulary, event, arg, &value);
	if (event->texts[arg].length > 0) {
		keep(event, &event->texts[arg]);
	}
	return FSL_OK;
}

static enum fsl_status read_args(struct fsl_json *json,
				 const struct fsl_trace_vocabulary *vocabulary,
				 struct fsl_trace_event *event, struct fsl_error *err)
{
	bool is_more = false;
	fsl_trace_event_clear_args(vocabulary, event);
	enum fsl_status status = fsl_json_enter_object(json, &is_more, err);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value value;
		status = fsl_json_next_key(json, &value, &is_more, err);
		if (status == FSL_OK && is_more) {
			size_t arg = fsl_trace_arg_find(vocabulary, value.text, value.length);
			status = arg < vocabulary->n_args
					 ? read_arg(json, vocabulary, event, arg, err)
					 : read_other(json, vocabulary, event, &value, err);
		}
	}
	return status;
}

enum fsl_status fsl_trace_event_read(struct fsl_json *json,
				     const struct fsl_trace_vocabulary *vocabulary,
				     struct fsl_trace_event *event, struct fsl_error *err)
{
	fsl_trace_event_clear(vocabulary, event);
	for (;;) {
		struct fsl_json_value value;
		bool has_key = false;
		enum fsl_status status = fsl_json_next_key(json, &value, &has_key, err);
		if (status == FSL_OK && !has_key) {
			fsl_trace_event_end(vocabulary, event);
		}
		if (status != FSL_OK || !has_key) {
			return status;
		}
		enum fsl_trace_key key = fsl_trace_key_find(value.text, value.length);
		if (key == FSL_TRACE_KEY_ARGS) {
			status = read_args(json, vocabulary, event, err);
		} else {
			status = fsl_json_take_scalar(json, &value, err);
			fsl_trace_event_take(vocabulary, event,
					     status == FSL_OK ? key : FSL_TRACE_KEY_OTHER, &value);
			if (status == FSL_OK && key == FSL_TRACE_KEY_NAME) {
				keep(event, &event->whole_name);
			} else if (status == FSL_OK && key == FSL_TRACE_KEY_CATEGORY) {
				keep(event, &event->whole_category);
			}
		}
		if (status != FSL_OK) {
			return status;
		}
	}
}
