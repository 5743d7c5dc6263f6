/* The tree of texts between values: learning it, and walking along it. */
#include "chrome/trace_shapes.h"

#include <string.h>

#include "base/digits.h"
#include "base/mem.h"
#include "chrome/trace_cursor.h"
#include "text/json_walk.h"

enum {
	NODES_MAX = 1024,    /* traces have 100 to 300; bounds the memory of a hostile file */
	TEXT_BYTES_MAX = 64, /* of one node; longer texts take several */
	LESSONS_MAX = 4096,  /* a file that is spelt in more ways than this is not worth the time */
	READ_BYTES = 128,    /* from a text on: the text, and a number with what is behind it */
	WHOLE_DIGITS_MAX = 16,
	DECIMALS_MAX = 3, /* of a time in us */
	LISTS_MAX = 8,    /* in each other */
	CATEGORIES_MAX = 64,
	CATEGORY_BYTES_MAX = 48,
};

/* Treatment of the value behind a text. */
enum action {
	ACTION_NONE, /* there is none: the text goes on in another node */
	ACTION_SKIP_NUMBER,
	ACTION_SKIP_STRING,
	ACTION_SKIP_LIST,
	ACTION_TIME,
	ACTION_DURATION,
	ACTION_PROCESS,
	ACTION_THREAD,
	ACTION_ID,
	ACTION_INTEGER, /* a number of the args */
	ACTION_NUMBER,  /* any other number */
	ACTION_NAME,
	ACTION_STRING, /* any other string */
	ACTION_LIST,
	ACTION_END, /* there is none: the event ends with the text */
};

struct node {
	struct node *first, *next; /* child and brother, longest text first */
	struct node *recent;       /* the child that came last; of ACTION_END the next event's */
	uint8_t action;            /* enum action */
	bool is_number;            /* a number is behind the text */
	bool has_words;            /* a phase or a category stands in the text */
	bool has_phase, has_category;
	char phase;
	uint8_t key; /* enum fsl_trace_key of the value; FSL_TRACE_KEY_ARGS: a member of them */
	uint8_t arg; /* of the vocabulary */
	int category;
	uint8_t category_at; /* in the tree's categories */
	uint32_t n_newlines; /* in all texts up to this one */
	uint32_t n_text;
	char text[TEXT_BYTES_MAX];
};

/* The leading digits of the time of the last event. */
struct clock {
	unsigned n_digits; /* 0: none yet */
	uint64_t begin, end;
	uint64_t value;
};

/* The text of a category. */
struct category {
	size_t length;
	char text[CATEGORY_BYTES_MAX];
};

struct fsl_trace_shapes {
	size_t n_nodes;    /* the first one has no text; its children begin an event */
	struct node *last; /* end of the event before; at first the first node */
	size_t n_lessons;  /* events from which was learnt, or tried to */
	struct clock clock;
	size_t n_categories;
	struct category categories[CATEGORIES_MAX];
	struct node nodes[NODES_MAX];
};

/* A walk along the tree. */
struct scan {
	struct fsl_trace_shapes *shapes;
	const struct fsl_trace_vocabulary *vocabulary;
	struct fsl_trace_event *event;
	const char *limit;   /* up to here READ_BYTES can be read */
	uint64_t n_newlines; /* in lists */
};

struct fsl_trace_shapes *fsl_trace_shapes_create(void)
{
	struct fsl_trace_shapes *shapes = fsl_calloc(1, sizeof(*shapes));
	if (shapes != NULL) {
		shapes->n_nodes = 1;
		shapes->last = &shapes->nodes[0];
	}
	return shapes;
}

void fsl_trace_shapes_destroy(struct fsl_trace_shapes *shapes)
{
	fsl_free(shapes);
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* True if the text of @node stands at @at, with a value of its kind behind it. */
static inline bool fits(const struct node *node, const char *at)
{
	size_t n = node->n_text;
	const char *text = node->text;
	for (; n > 16; n -= 16, text += 16, at += 16) {
		if (!fsl_scan_is_alike(at, text, 16)) {
			return false;
		}
	}
	return fsl_scan_is_alike(at, text, n) &&
	       (!node->is_number || is_digit(at[n]) || at[n] == '-');
}

/* The child of @parent whose text stands at @at; NULL if there is none. @before->recent is tried
 * first. */
static inline struct node *find_child(const struct node *parent, struct node *before,
				      const char *at)
{
	struct node *node = before->recent;
	if (node != NULL && fits(node, at)) {
		return node;
	}
	for (node = parent->first; node != NULL && !fits(node, at); node = node->next) {
	}
	before->recent = node != NULL ? node : before->recent;
	return node;
}

/* A number without sign and exponent. */
struct plain {
	const char *text;
	unsigned n_whole, n_decimals;
};

/* Length of the plain number at @at; 0 if it is none, or one that JSON does not allow. The text of
 * the next node tells whether the number goes on. */
static inline size_t plain_length(const char *at, struct plain *plain)
{
	uint32_t others = ~fsl_scan_digit_marks(at) | UINT32_C(1) << 31;
	unsigned n_whole = (unsigned)__builtin_ctz(others);
	*plain = (struct plain){at, n_whole, 0};
	if (n_whole - 1 >= 24 || (at[0] == '0' && n_whole > 1)) {
		return 0;
	}
	if (at[n_whole] != '.') {
		return n_whole;
	}
	others >>= n_whole + 1;
	plain->n_decimals = (unsigned)__builtin_ctz(others);
	size_t length = n_whole + 1 + plain->n_decimals;
	return plain->n_decimals > 0 && length < FSL_SCAN_DIGITS_BYTES - 1 ? length : 0;
}

/* The number that @digits spell, the first one in the lowest byte; see fsl_digits_word(). */
static inline uint64_t eight_digits(uint64_t digits)
{
	digits -= UINT64_C(0x3030303030303030);
	digits = (digits * 10) + (digits >> 8);
	return (((digits & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
		(((digits >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
	       32;
}

/* The last @n of eight digits, 1 to 8; others become zeros. */
static inline uint64_t last_digits(uint64_t digits, unsigned n)
{
	uint64_t unused = n < 8 ? UINT64_MAX >> (8 * n) : 0;
	return eight_digits((digits & ~unused) | (UINT64_C(0x3030303030303030) & unused));
}

/* The first @n digits at @text, whose neighbour has mostly the same. */
static inline bool leading_digits(struct clock *clock, const char *text, unsigned n, uint64_t *out)
{
	enum { WORD = 8 };
	if (n < WORD) {
		return fsl_digits_parse_spare(text, n, out);
	}
	uint64_t begin = fsl_scan_load(text), end = fsl_scan_load(text + n - WORD);
	if (n != clock->n_digits || begin != clock->begin || end != clock->end) {
		uint64_t value = 0;
		if (!fsl_digits_parse_spare(text, n, &value)) {
			return false;
		}
		*clock = (struct clock){n, begin, end, value};
	}
	*out = clock->value;
	return true;
}

/*
 * us to ns; false for numbers that are left to fsl_trace_event_take(). In a number with three
 * decimals, the last four digits in front of the point and those behind it make one word; eight
 * bytes in front of a value can be read.
 */
static inline bool plain_time(struct clock *clock, const struct plain *plain, int64_t max_ns,
			      int64_t *ns)
{
	static const uint64_t scales[DECIMALS_MAX + 1] = {1000, 100, 10, 1};
	enum { IN_WORD = 4 };
	uint64_t whole = 0, decimals = 0;
	unsigned n = plain->n_decimals, n_whole = plain->n_whole;
	if (n_whole > WHOLE_DIGITS_MAX || n > DECIMALS_MAX) {
		return false;
	}
	if (n == DECIMALS_MAX) {
		uint64_t word = fsl_scan_load(plain->text + n_whole + 4 - 8);
		word = (word & UINT32_MAX) << 8 | (word & UINT64_C(0xffffff0000000000));
		unsigned n_in_word = n_whole < IN_WORD ? n_whole : IN_WORD;
		decimals = last_digits(word, n_in_word + DECIMALS_MAX);
		if (n_whole > IN_WORD &&
		    !leading_digits(clock, plain->text, n_whole - IN_WORD, &whole)) {
			return false;
		}
		whole = whole * 10000000 + decimals;
	} else if (!fsl_digits_parse_spare(plain->text, n_whole, &whole) ||
		   (n > 0 && !fsl_digits_word(plain->text + n_whole + 1, n, &decimals))) {
		return false;
	} else {
		whole = whole * 1000 + decimals * scales[n];
	}
	*ns = whole <= (uint64_t)max_ns ? (int64_t)whole : FSL_NS_ABSENT;
	return true;
}

/* A whole number of up to WHOLE_DIGITS_MAX digits. */
static inline bool plain_id(const struct plain *plain, uint64_t *id)
{
	unsigned n = plain->n_whole;
	if (plain->n_decimals > 0 || n > WHOLE_DIGITS_MAX) {
		return false;
	}
	if (n <= 8) {
		*id = last_digits(fsl_scan_load(plain->text + n - 8), n);
		return true;
	}
	uint64_t high = last_digits(fsl_scan_load(plain->text + n - 16), n - 8);
	*id = high * 100000000 + eight_digits(fsl_scan_load(plain->text + n - 8));
	return true;
}

static inline bool plain_arg(const struct scan *scan, const struct node *node,
			     const struct plain *plain)
{
	uint64_t number = 0;
	if (!plain_id(plain, &number)) {
		return false;
	}
	int64_t max = scan->vocabulary->args[node->arg].max;
	scan->event->args[node->arg] = (int64_t)number <= max ? (int64_t)number : -1;
	scan->event->args_set |= UINT32_C(1) << node->arg;
	return true;
}

/* Takes a plain number; false if that is left to fsl_trace_event_take(). */
static inline bool take_plain(const struct scan *scan, const struct node *node,
			      const struct plain *plain)
{
	struct fsl_trace_event *event = scan->event;
	struct clock *clock = &scan->shapes->clock;
	switch ((enum action)node->action) {
	case ACTION_TIME:
		return plain_time(clock, plain, FSL_JSON_TIME_MAX_NS, &event->ts_ns);
	case ACTION_DURATION:
		return plain_time(clock, plain, FSL_JSON_FIGURE_MAX, &event->dur_ns);
	case ACTION_PROCESS:
		return plain_id(plain, &event->pid);
	case ACTION_THREAD:
		return plain_id(plain, &event->tid);
	case ACTION_ID:
		event->has_id = plain_id(plain, &event->id);
		return event->has_id;
	case ACTION_INTEGER:
		return plain_arg(scan, node, plain);
	case ACTION_NONE:
	case ACTION_SKIP_NUMBER:
	case ACTION_SKIP_STRING:
	case ACTION_SKIP_LIST:
	case ACTION_NUMBER:
	case ACTION_NAME:
	case ACTION_STRING:
	case ACTION_LIST:
	case ACTION_END:
		break;
	}
	return false;
}

static void take(const struct scan *scan, const struct node *node,
		 const struct fsl_json_value *value)
{
	if (node->key == FSL_TRACE_KEY_ARGS) {
		fsl_trace_event_take_arg(scan->vocabulary, scan->event, node->arg, value);
	} else {
		fsl_trace_event_take(scan->vocabulary, scan->event, (enum fsl_trace_key)node->key,
				     value);
	}
}

/* For code that knows all spellings of a value. */
static inline struct fsl_trace_cursor cursor_at(const struct scan *scan, const char *at)
{
	return (struct fsl_trace_cursor){at, scan->limit, 0};
}

static const char *scan_any_number(const struct scan *scan, const struct node *node, const char *at)
{
	struct fsl_json_value value;
	struct fsl_trace_cursor cursor = cursor_at(scan, at);
	if (!fsl_trace_cursor_number(&cursor, &value)) {
		return NULL;
	}
	if (node->action != ACTION_SKIP_NUMBER) {
		take(scan, node, &value);
	}
	return cursor.at;
}

static inline const char *skip_number(const struct scan *scan, const struct node *node,
				      const char *at)
{
	struct plain plain;
	size_t length = plain_length(at, &plain);
	return length > 0 ? at + length : scan_any_number(scan, node, at);
}

static inline const char *take_number(const struct scan *scan, const struct node *node,
				      const char *at)
{
	struct plain plain;
	size_t length = plain_length(at, &plain);
	return length > 0 && take_plain(scan, node, &plain) ? at + length
							    : scan_any_number(scan, node, at);
}

/* The quote behind the string at @at; NULL if that needs a closer look. */
static inline const char *string_end(const struct scan *scan, const char *at)
{
	for (; at <= scan->limit; at += FSL_SCAN_JSON_BYTES) {
		uint32_t marks = fsl_scan_json(at);
		if (marks != 0) {
			at += (unsigned)__builtin_ctz(marks);
			return *at == '"' ? at : NULL;
		}
	}
	return NULL;
}

static const char *skip_any_string(const struct scan *scan, const char *at)
{
	struct fsl_json_value value;
	bool has_escapes = false;
	struct fsl_trace_cursor cursor = cursor_at(scan, at);
	return fsl_trace_cursor_string(&cursor, &value, &has_escapes) ? cursor.at - 1 : NULL;
}

static inline const char *skip_string(const struct scan *scan, const char *at)
{
	const char *end = string_end(scan, at);
	return end != NULL ? end : skip_any_string(scan, at);
}

static inline const char *take_name(const struct scan *scan, const char *at)
{
	const char *end = string_end(scan, at);
	if (end != NULL) {
		size_t length = (size_t)(end - at);
		scan->event->whole_name = (struct fsl_trace_text){
			at, length < FSL_TRACE_NAME_MAX ? length : FSL_TRACE_NAME_MAX};
	}
	return end;
}

/* Times are numbers; some writers put quotes around them. */
static bool take_quoted_time(const struct scan *scan, const struct node *node,
			     const struct fsl_json_value *value)
{
	struct plain plain;
	bool is_ts = node->key == FSL_TRACE_KEY_TS, is_dur = node->key == FSL_TRACE_KEY_DUR;
	return (is_ts || is_dur) && plain_length(value->text, &plain) == value->length &&
	       plain_time(&scan->shapes->clock, &plain,
			  is_ts ? FSL_JSON_TIME_MAX_NS : FSL_JSON_FIGURE_MAX,
			  is_ts ? &scan->event->ts_ns : &scan->event->dur_ns);
}

static const char *take_string(const struct scan *scan, const struct node *node, const char *at)
{
	const char *end = string_end(scan, at);
	if (end == NULL) {
		return NULL;
	}
	const struct fsl_json_value value = {FSL_JSON_STRING, at, (size_t)(end - at)};
	if (!take_quoted_time(scan, node, &value)) {
		take(scan, node, &value);
	}
	return end;
}

/* Three numbers as "132, 1, 1]". NULL if they are not spelt like this. */
static inline const char *scan_three(const char *at, int64_t sizes[3])
{
	for (size_t i = 0; i < 3; i++) {
		unsigned n = fsl_scan_digits(at);
		if (n == 0 || n == 8 || (at[0] == '0' && n > 1)) {
			return NULL;
		}
		sizes[i] = (int64_t)last_digits(fsl_scan_load(at + n - 8), n);
		at += n;
		if (i < 2 ? at[0] != ',' || at[1] != ' ' : at[0] != ']') {
			return NULL;
		}
		at += i < 2 ? 2 : 1;
	}
	return at;
}

static const char *take_list(struct scan *scan, const struct node *node, const char *at)
{
	int64_t sizes[3] = {-1, -1, -1};
	size_t n = 3;
	const char *end = scan_three(at, sizes);
	if (end == NULL) {
		struct fsl_trace_cursor cursor = cursor_at(scan, at);
		if (!fsl_trace_cursor_list(&cursor, sizes, &n, 0)) {
			return NULL;
		}
		scan->n_newlines += cursor.n_newlines;
		end = cursor.at;
	}
	if (scan->vocabulary->args[node->arg].kind == FSL_TRACE_ARG_SIZES) {
		fsl_trace_event_take_sizes(scan->event, node->arg, sizes, n);
	} else {
		const struct fsl_json_value none = {FSL_JSON_NULL, "", 0};
		fsl_trace_event_take_arg(scan->vocabulary, scan->event, node->arg, &none);
	}
	return end;
}

/* Goes behind one scalar in a list. */
static inline bool skip_scalar(struct fsl_trace_cursor *cursor)
{
	struct plain plain;
	struct fsl_json_value value;
	bool has_escapes = false;
	size_t length = is_digit(*cursor->at) ? plain_length(cursor->at, &plain) : 0;
	cursor->at += length;
	return length > 0 || fsl_trace_cursor_scalar(cursor, &value, &has_escapes);
}

/* Goes behind the "]" of lists and to the next value; *depth 0: that was the last one. */
static inline bool skip_ends(struct fsl_trace_cursor *cursor, unsigned *depth)
{
	while (cursor->at <= cursor->limit) {
		char c = *cursor->at;
		cursor->at++;
		if (c == ',') {
			cursor->at += *cursor->at == ' ' ? 1 : 0;
			return fsl_trace_cursor_spaces(cursor);
		}
		if (c == ']' && --*depth == 0) {
			return true;
		}
		if (c != ']' && c != ' ' && c != '\n') {
			return false;
		}
		cursor->n_newlines += c == '\n';
	}
	return false;
}

/* The list that nobody asks for, the cursor behind its "["; as fsl_trace_cursor_list(). */
static inline bool skip_lists(struct fsl_trace_cursor *cursor)
{
	unsigned depth = 1;
	bool may_end = true; /* the list may be empty */
	while (cursor->at <= cursor->limit) {
		if (*cursor->at == '[') {
			cursor->at++;
			may_end = true;
			if (++depth > LISTS_MAX || !fsl_trace_cursor_spaces(cursor)) {
				return false;
			}
			continue;
		}
		if (!(may_end && *cursor->at == ']') && !skip_scalar(cursor)) {
			return false;
		}
		may_end = false;
		if (!skip_ends(cursor, &depth)) {
			return false;
		}
		if (depth == 0) {
			return true;
		}
	}
	return false;
}

static const char *skip_list(struct scan *scan, const char *at)
{
	struct fsl_trace_cursor cursor = cursor_at(scan, at);
	if (!skip_lists(&cursor)) {
		return NULL;
	}
	scan->n_newlines += cursor.n_newlines;
	return cursor.at;
}

/* Goes behind the value at @at; NULL if only other code can read it. */
static inline const char *act(struct scan *scan, const struct node *node, const char *at)
{
	switch ((enum action)node->action) {
	case ACTION_SKIP_NUMBER:
		return skip_number(scan, node, at);
	case ACTION_TIME:
	case ACTION_DURATION:
	case ACTION_PROCESS:
	case ACTION_THREAD:
	case ACTION_ID:
	case ACTION_INTEGER:
		return take_number(scan, node, at);
	case ACTION_NUMBER:
		return scan_any_number(scan, node, at);
	case ACTION_SKIP_STRING:
		return skip_string(scan, at);
	case ACTION_NAME:
		return take_name(scan, at);
	case ACTION_STRING:
		return take_string(scan, node, at);
	case ACTION_SKIP_LIST:
		return skip_list(scan, at);
	case ACTION_LIST:
		return take_list(scan, node, at);
	case ACTION_NONE:
	case ACTION_END:
		break;
	}
	return at;
}

static inline void take_words(const struct scan *scan, const struct node *node)
{
	struct fsl_trace_event *event = scan->event;
	event->phase = node->has_phase ? node->phase : event->phase;
	if (node->has_category) {
		const struct category *category = &scan->shapes->categories[node->category_at];
		event->category = node->category;
		event->whole_category = (struct fsl_trace_text){category->text, category->length};
	}
}

size_t fsl_trace_shapes_scan(struct fsl_trace_shapes *shapes, const char *text, size_t n_bytes,
			     const struct fsl_trace_vocabulary *vocabulary,
			     struct fsl_trace_event *event, uint64_t *n_newlines)
{
	if (n_bytes < READ_BYTES) {
		return 0;
	}
	struct scan scan = {shapes, vocabulary, event, text + n_bytes - READ_BYTES, 0};
	struct node *node = &shapes->nodes[0], *before = shapes->last;
	const char *at = text;
	fsl_trace_event_clear_set(vocabulary, event);
	do {
		node = at <= scan.limit ? find_child(node, before, at) : NULL;
		if (node == NULL) {
			return 0;
		}
		if (node->has_words) {
			take_words(&scan, node);
		}
		at = act(&scan, node, at + node->n_text);
		if (at == NULL) {
			return 0;
		}
		before = node;
	} while (node->action != ACTION_END);
	shapes->last = node;
	fsl_trace_event_end(vocabulary, event);
	*n_newlines = scan.n_newlines + node->n_newlines;
	return (size_t)(at - text);
}

/* A walk along an event of which the tree is to know the way. */
struct lesson {
	struct fsl_trace_shapes *shapes;
	const struct fsl_trace_vocabulary *vocabulary;
	struct fsl_trace_cursor cursor;
	const char *begin;   /* of the text since the last value */
	struct node *parent; /* of the text before */
	bool has_args, is_asked;
	struct node next; /* what is known of the node to come */
};

static struct node *find_alike(const struct lesson *lesson)
{
	const struct node *wanted = &lesson->next;
	struct node *node = lesson->parent->first;
	while (node != NULL && (node->n_text != wanted->n_text || node->action != wanted->action ||
				memcmp(node->text, wanted->text, wanted->n_text) != 0)) {
		node = node->next;
	}
	return node;
}

/* Goes to the node of @n_bytes from lesson->begin on, which is made if there is none; false if the
 * tree is full. */
static bool add_piece(struct lesson *lesson, enum action action, size_t n_bytes)
{
	struct fsl_trace_shapes *shapes = lesson->shapes;
	struct node *next = &lesson->next;
	next->action = (uint8_t)action;
	next->n_text = (uint32_t)n_bytes;
	next->n_newlines = lesson->parent->n_newlines;
	for (size_t i = 0; i < n_bytes; i++) {
		next->text[i] = lesson->begin[i];
		next->n_newlines += lesson->begin[i] == '\n' ? 1 : 0;
	}
	struct node *node = find_alike(lesson);
	if (node == NULL) {
		if (shapes->n_nodes == NODES_MAX) {
			return false;
		}
		node = &shapes->nodes[shapes->n_nodes++];
		struct node **place = &lesson->parent->first;
		while (*place != NULL && (*place)->n_text >= next->n_text) {
			place = &(*place)->next;
		}
		next->next = *place;
		*node = *next;
		*place = node;
	}
	lesson->parent = node;
	lesson->begin += n_bytes;
	return true;
}

/* Ends the text at the cursor; @action is done with what is behind it. */
static bool add_text(struct lesson *lesson, enum action action)
{
	const struct node last = lesson->next, none = {.action = ACTION_NONE};
	while (lesson->cursor.at - lesson->begin > TEXT_BYTES_MAX) {
		lesson->next = none;
		if (!add_piece(lesson, ACTION_NONE, TEXT_BYTES_MAX)) {
			return false;
		}
	}
	lesson->next = last;
	bool is_added = add_piece(lesson, action, (size_t)(lesson->cursor.at - lesson->begin));
	lesson->next = none;
	return is_added;
}

/* Place of the text of a category, which is added if it is new; CATEGORIES_MAX: there is no room.
 */
static size_t category_place(struct fsl_trace_shapes *shapes, const struct fsl_json_value *value)
{
	size_t at = 0;
	while (at < shapes->n_categories &&
	       (shapes->categories[at].length != value->length ||
		memcmp(shapes->categories[at].text, value->text, value->length) != 0)) {
		at++;
	}
	if (at == CATEGORIES_MAX || value->length > CATEGORY_BYTES_MAX) {
		return CATEGORIES_MAX;
	}
	if (at == shapes->n_categories) {
		struct category *category = &shapes->categories[shapes->n_categories++];
		category->length = value->length;
		memcpy(category->text, value->text, value->length);
	}
	return at;
}

/* The phase, or the category: part of the text. */
static bool learn_word(struct lesson *lesson, enum fsl_trace_key key)
{
	struct fsl_json_value value;
	struct node *next = &lesson->next;
	bool has_escapes = false;
	next->has_words = true;
	lesson->cursor.at++;
	if (!fsl_trace_cursor_string(&lesson->cursor, &value, &has_escapes) || has_escapes) {
		return false;
	}
	if (key == FSL_TRACE_KEY_PHASE) {
		next->has_phase = true;
		next->phase = value.length == 1 ? value.text[0] : '\0';
	} else {
		int64_t number = -1;
		size_t at = category_place(lesson->shapes, &value);
		if (at == CATEGORIES_MAX) {
			return false;
		}
		next->has_category = true;
		next->category_at = (uint8_t)at;
		next->category = fsl_trace_words_find(&lesson->vocabulary->categories, value.text,
						      value.length, &number);
	}
	return true;
}

/* Treatment of a number that somebody asks for. */
static enum action number_action(const struct lesson *lesson)
{
	static const enum action actions[] = {
		[FSL_TRACE_KEY_PHASE] = ACTION_NUMBER,    [FSL_TRACE_KEY_NAME] = ACTION_NUMBER,
		[FSL_TRACE_KEY_PID] = ACTION_PROCESS,     [FSL_TRACE_KEY_TID] = ACTION_THREAD,
		[FSL_TRACE_KEY_TS] = ACTION_TIME,         [FSL_TRACE_KEY_DUR] = ACTION_DURATION,
		[FSL_TRACE_KEY_CATEGORY] = ACTION_NUMBER, [FSL_TRACE_KEY_ID] = ACTION_ID,
		[FSL_TRACE_KEY_ARGS] = ACTION_NUMBER,     [FSL_TRACE_KEY_OTHER] = ACTION_NUMBER,
	};
	if (lesson->next.key != FSL_TRACE_KEY_ARGS) {
		return actions[lesson->next.key];
	}
	const struct fsl_trace_arg *arg = &lesson->vocabulary->args[lesson->next.arg];
	return arg->kind == FSL_TRACE_ARG_NUMBER && arg->words == NULL ? ACTION_INTEGER
								       : ACTION_NUMBER;
}

/* Treatment of the value that begins with @c. */
static enum action action_of(const struct lesson *lesson, char c)
{
	if (c == '"') {
		return !lesson->is_asked                        ? ACTION_SKIP_STRING
		       : lesson->next.key == FSL_TRACE_KEY_NAME ? ACTION_NAME
								: ACTION_STRING;
	}
	if (c == '[') {
		return lesson->is_asked ? ACTION_LIST : ACTION_SKIP_LIST;
	}
	return lesson->is_asked ? number_action(lesson) : ACTION_SKIP_NUMBER;
}

/* The value at the cursor, of lesson->next. */
static bool learn_value(struct lesson *lesson)
{
	struct fsl_trace_cursor *cursor = &lesson->cursor;
	struct fsl_json_value value;
	bool has_escapes = false, is_good = false;
	size_t n = 0;
	char c = *cursor->at;
	if (c == 't' || c == 'f' || c == 'n') {
		return !lesson->is_asked && fsl_trace_cursor_word(cursor, &value);
	}
	cursor->at += c == '"' || c == '[' ? 1 : 0; /* is part of the text before it */
	lesson->next.is_number = c != '"' && c != '[';
	if (!add_text(lesson, action_of(lesson, c))) {
		return false;
	}
	if (c == '"') {
		is_good = fsl_trace_cursor_string(cursor, &value, &has_escapes);
	} else if (c == '[') {
		is_good = fsl_trace_cursor_list(cursor, NULL, &n, 0);
	} else {
		is_good = fsl_trace_cursor_number(cursor, &value);
	}
	lesson->begin = cursor->at - (c == '"' ? 1 : 0); /* the quote */
	return is_good;
}

/* Members up to the "}" of the args, the cursor behind their "{". */
static bool learn_args(struct lesson *lesson)
{
	char end = ',';
	if (!fsl_trace_cursor_spaces(&lesson->cursor)) {
		return false;
	}
	if (*lesson->cursor.at == '}') {
		lesson->cursor.at++;
		return true;
	}
	while (end == ',') {
		struct fsl_json_value key;
		if (!fsl_trace_cursor_key(&lesson->cursor, &key)) {
			return false;
		}
		size_t arg = fsl_trace_arg_find(lesson->vocabulary, key.text, key.length);
		lesson->next.key = FSL_TRACE_KEY_ARGS;
		lesson->next.arg = (uint8_t)arg;
		lesson->is_asked = arg < lesson->vocabulary->n_args;
		if (!learn_value(lesson)) {
			return false;
		}
		end = fsl_trace_cursor_end(&lesson->cursor, '}');
	}
	return end == '}';
}

static bool learn_member(struct lesson *lesson)
{
	struct fsl_json_value text;
	if (!fsl_trace_cursor_key(&lesson->cursor, &text)) {
		return false;
	}
	enum fsl_trace_key key = fsl_trace_key_find(text.text, text.length);
	char c = *lesson->cursor.at;
	if (key == FSL_TRACE_KEY_ARGS) {
		/* The values of a first "args" would have to be forgotten. */
		bool is_first = !lesson->has_args && c == '{';
		lesson->has_args = true;
		lesson->cursor.at++;
		return is_first && learn_args(lesson);
	}
	if (key == FSL_TRACE_KEY_PHASE || key == FSL_TRACE_KEY_CATEGORY) {
		return c == '"' && learn_word(lesson, key);
	}
	lesson->next.key = (uint8_t)key;
	lesson->is_asked = key != FSL_TRACE_KEY_OTHER;
	return c != '[' && c != '{' && learn_value(lesson);
}

void fsl_trace_shapes_learn(struct fsl_trace_shapes *shapes, const char *text, size_t n_bytes,
			    const struct fsl_trace_vocabulary *vocabulary)
{
	char end = ',';
	struct lesson lesson = {.shapes = shapes,
				.vocabulary = vocabulary,
				.begin = text,
				.parent = &shapes->nodes[0]};
	if (n_bytes <= READ_BYTES || shapes->n_lessons == LESSONS_MAX) {
		return;
	}
	shapes->n_lessons++;
	lesson.cursor =
		(struct fsl_trace_cursor){text + 1, text + n_bytes - FSL_SCAN_JSON_BYTES, 0};
	if (!fsl_trace_cursor_spaces(&lesson.cursor)) {
		return;
	}
	while (end == ',') {
		if (!learn_member(&lesson)) {
			return;
		}
		end = fsl_trace_cursor_end(&lesson.cursor, '}');
	}
	if (end == '}') {
		(void)add_text(&lesson, ACTION_END);
	}
}
