/* The tree of texts between values: learning it, and walking along it. */
#include "chrome/trace_shapes.h"

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
};

/* The value behind a text. */
enum slot {
	SLOT_NONE, /* the text goes on in another node */
	SLOT_STRING,
	SLOT_NUMBER,
	SLOT_LIST,
	SLOT_END, /* the event ends with the text */
};

struct node {
	uint8_t slot; /* enum slot */
	uint8_t key;  /* enum fsl_trace_key of the value; FSL_TRACE_KEY_ARGS: a member of them */
	uint8_t arg;  /* of the vocabulary */
	bool is_asked, has_phase, has_category;
	uint8_t n_text, n_newlines; /* of the text */
	char phase;                 /* that stands in the text */
	int category;               /* the same */
	uint16_t first, next;       /* child and brother, longest text first; 0: none */
	uint16_t recent;            /* the child that came last; of SLOT_END the next event's */
	char text[TEXT_BYTES_MAX];
};

struct fsl_trace_shapes {
	size_t n_nodes;   /* the first one has no text; its children begin an event */
	uint16_t last;    /* end of the event before; 0: none */
	size_t n_lessons; /* events from which was learnt, or tried to */
	struct node nodes[NODES_MAX];
};

struct fsl_trace_shapes *fsl_trace_shapes_create(void)
{
	struct fsl_trace_shapes *shapes = fsl_calloc(1, sizeof(*shapes));
	if (shapes != NULL) {
		shapes->n_nodes = 1;
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
	       (node->slot != SLOT_NUMBER || is_digit(at[n]) || at[n] == '-');
}

/* The child of @parent whose text stands at @at; NULL if there is none. *recent: the one to be
 * tried first. */
static inline const struct node *find_child(const struct fsl_trace_shapes *shapes,
					    const struct node *parent, uint16_t *recent,
					    const char *at)
{
	if (*recent != 0 && fits(&shapes->nodes[*recent], at)) {
		return &shapes->nodes[*recent];
	}
	for (uint16_t i = parent->first; i != 0; i = shapes->nodes[i].next) {
		if (fits(&shapes->nodes[i], at)) {
			*recent = i;
			return &shapes->nodes[i];
		}
	}
	return NULL;
}

/* A number without sign and exponent. */
struct plain {
	const char *text;
	unsigned n_whole, n_decimals;
};

/* Length of the plain number at @at; 0 if it is none, or one that JSON does not allow. What follows
 * it is told from more of a number by the text of the next node. */
static inline size_t plain_length(const char *at, struct plain *plain)
{
	uint32_t others = ~fsl_scan_digit_marks(at) | UINT32_C(1) << 31;
	unsigned n_whole = (unsigned)__builtin_ctz(others);
	*plain = (struct plain){at, n_whole, 0};
	if (n_whole == 0 || n_whole > 24 || (at[0] == '0' && n_whole > 1)) {
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

/* us to ns; false for numbers that are left to fsl_trace_event_take(). */
static inline bool plain_time(const struct plain *plain, int64_t max_ns, int64_t *ns)
{
	static const uint64_t scales[DECIMALS_MAX + 1] = {1000, 100, 10, 1};
	uint64_t whole = 0, decimals = 0;
	unsigned n = plain->n_decimals;
	if (plain->n_whole > WHOLE_DIGITS_MAX || n > DECIMALS_MAX ||
	    !fsl_digits_parse_spare(plain->text, plain->n_whole, &whole) ||
	    (n > 0 && !fsl_digits_word(plain->text + plain->n_whole + 1, n, &decimals))) {
		return false;
	}
	whole = whole * 1000 + decimals * scales[n];
	*ns = whole <= (uint64_t)max_ns ? (int64_t)whole : FSL_NS_ABSENT;
	return true;
}

static inline bool plain_id(const struct plain *plain, uint64_t *id)
{
	return plain->n_decimals == 0 && fsl_digits_parse_spare(plain->text, plain->n_whole, id);
}

/* Takes a plain number; false if that is left to fsl_trace_event_take(). */
static inline bool take_plain(const struct fsl_trace_vocabulary *vocabulary,
			      struct fsl_trace_event *event, const struct node *node,
			      const struct plain *plain)
{
	uint64_t number = 0;
	switch ((enum fsl_trace_key)node->key) {
	case FSL_TRACE_KEY_TS:
		return plain_time(plain, FSL_JSON_TIME_MAX_NS, &event->ts_ns);
	case FSL_TRACE_KEY_DUR:
		return plain_time(plain, FSL_JSON_FIGURE_MAX, &event->dur_ns);
	case FSL_TRACE_KEY_PID:
		return plain_id(plain, &event->pid);
	case FSL_TRACE_KEY_TID:
		return plain_id(plain, &event->tid);
	case FSL_TRACE_KEY_ID:
		event->has_id = plain_id(plain, &event->id);
		return event->has_id;
	case FSL_TRACE_KEY_ARGS:
		if (vocabulary->args[node->arg].kind != FSL_TRACE_ARG_NUMBER ||
		    vocabulary->args[node->arg].words != NULL ||
		    plain->n_whole > WHOLE_DIGITS_MAX || !plain_id(plain, &number)) {
			return false;
		}
		event->args[node->arg] =
			(int64_t)number <= vocabulary->args[node->arg].max ? (int64_t)number : -1;
		event->args_set |= UINT32_C(1) << node->arg;
		return true;
	case FSL_TRACE_KEY_PHASE:
	case FSL_TRACE_KEY_NAME:
	case FSL_TRACE_KEY_CATEGORY:
	case FSL_TRACE_KEY_OTHER:
		break;
	}
	return false;
}

static void take(const struct fsl_trace_vocabulary *vocabulary, struct fsl_trace_event *event,
		 const struct node *node, const struct fsl_json_value *value)
{
	if (node->key == FSL_TRACE_KEY_ARGS) {
		fsl_trace_event_take_arg(vocabulary, event, node->arg, value);
	} else {
		fsl_trace_event_take(vocabulary, event, (enum fsl_trace_key)node->key, value);
	}
}

static inline bool scan_number(struct fsl_trace_cursor *cursor, const struct node *node,
			       const struct fsl_trace_vocabulary *vocabulary,
			       struct fsl_trace_event *event)
{
	struct plain plain;
	struct fsl_json_value value;
	size_t length = plain_length(cursor->at, &plain);
	if (length > 0) {
		cursor->at += length;
		if (!node->is_asked || take_plain(vocabulary, event, node, &plain)) {
			return true;
		}
		value = (struct fsl_json_value){FSL_JSON_NUMBER, plain.text, length};
	} else if (!fsl_trace_cursor_number(cursor, &value)) {
		return false;
	}
	if (node->is_asked) {
		take(vocabulary, event, node, &value);
	}
	return true;
}

/* Most times are numbers, and some writers put quotes around them. */
static inline bool take_quoted_time(struct fsl_trace_event *event, const struct node *node,
				    const struct fsl_json_value *value)
{
	struct plain plain;
	bool is_ts = node->key == FSL_TRACE_KEY_TS, is_dur = node->key == FSL_TRACE_KEY_DUR;
	return (is_ts || is_dur) && plain_length(value->text, &plain) == value->length &&
	       plain_time(&plain, is_ts ? FSL_JSON_TIME_MAX_NS : FSL_JSON_FIGURE_MAX,
			  is_ts ? &event->ts_ns : &event->dur_ns);
}

static inline bool scan_string(struct fsl_trace_cursor *cursor, const struct node *node,
			       const struct fsl_trace_vocabulary *vocabulary,
			       struct fsl_trace_event *event)
{
	struct fsl_json_value value;
	bool has_escapes = false;
	if (!fsl_trace_cursor_string(cursor, &value, &has_escapes) ||
	    (has_escapes && node->is_asked)) {
		return false;
	}
	cursor->at--; /* the next text begins with the quote */
	if (node->is_asked && !take_quoted_time(event, node, &value)) {
		take(vocabulary, event, node, &value);
	}
	return true;
}

/* Three numbers as "132, 1, 1]", the cursor at the first one. False if it is not spelt like this;
 * the cursor stays. */
static inline bool scan_three(struct fsl_trace_cursor *cursor, int64_t sizes[3])
{
	const char *at = cursor->at;
	for (size_t i = 0; i < 3; i++) {
		uint64_t number = 0;
		unsigned n = fsl_scan_digits(at);
		if (n == 0 || n == 8 || (at[0] == '0' && n > 1)) {
			return false;
		}
		(void)fsl_digits_word(at, n, &number);
		sizes[i] = (int64_t)number;
		at += n;
		if (i < 2 ? at[0] != ',' || at[1] != ' ' : at[0] != ']') {
			return false;
		}
		at += i < 2 ? 2 : 1;
	}
	cursor->at = at;
	return true;
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
static bool skip_list(struct fsl_trace_cursor *cursor)
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

static bool scan_list(struct fsl_trace_cursor *cursor, const struct node *node,
		      const struct fsl_trace_vocabulary *vocabulary, struct fsl_trace_event *event)
{
	int64_t sizes[3] = {-1, -1, -1};
	size_t n = 3;
	bool has_sizes = node->is_asked && vocabulary->args[node->arg].kind == FSL_TRACE_ARG_SIZES;
	bool is_done = has_sizes ? scan_three(cursor, sizes) : skip_list(cursor);
	if (!is_done && !(has_sizes && fsl_trace_cursor_list(cursor, sizes, &n, 0))) {
		return false;
	}
	if (has_sizes) {
		fsl_trace_event_take_sizes(event, node->arg, sizes, n);
	} else if (node->is_asked) {
		const struct fsl_json_value none = {FSL_JSON_NULL, "", 0};
		fsl_trace_event_take_arg(vocabulary, event, node->arg, &none);
	}
	return true;
}

static inline bool scan_slot(struct fsl_trace_cursor *cursor, const struct node *node,
			     const struct fsl_trace_vocabulary *vocabulary,
			     struct fsl_trace_event *event)
{
	switch ((enum slot)node->slot) {
	case SLOT_NUMBER:
		return scan_number(cursor, node, vocabulary, event);
	case SLOT_STRING:
		return scan_string(cursor, node, vocabulary, event);
	case SLOT_LIST:
		return scan_list(cursor, node, vocabulary, event);
	case SLOT_NONE:
	case SLOT_END:
		break;
	}
	return true;
}

size_t fsl_trace_shapes_scan(struct fsl_trace_shapes *shapes, const char *text, size_t n_bytes,
			     const struct fsl_trace_vocabulary *vocabulary,
			     struct fsl_trace_event *event, uint64_t *n_newlines)
{
	if (n_bytes < READ_BYTES) {
		return 0;
	}
	struct fsl_trace_cursor cursor = {text, text + n_bytes - READ_BYTES, 0};
	const struct node *node = &shapes->nodes[0];
	uint16_t *recent = &shapes->nodes[shapes->last].recent;
	fsl_trace_event_clear_set(vocabulary, event);
	do {
		if (cursor.at > cursor.limit) {
			return 0;
		}
		node = find_child(shapes, node, recent, cursor.at);
		if (node == NULL) {
			return 0;
		}
		cursor.at += node->n_text;
		cursor.n_newlines += node->n_newlines;
		if (node->has_phase) {
			event->phase = node->phase;
		}
		if (node->has_category) {
			event->category = node->category;
		}
		if (!scan_slot(&cursor, node, vocabulary, event)) {
			return 0;
		}
		recent = &shapes->nodes[node - shapes->nodes].recent;
	} while (node->slot != SLOT_END);
	shapes->last = (uint16_t)(node - shapes->nodes);
	fsl_trace_event_end(vocabulary, event);
	*n_newlines = cursor.n_newlines;
	return (size_t)(cursor.at - text);
}

/* A walk along an event of which the tree is to know the way. */
struct lesson {
	struct fsl_trace_shapes *shapes;
	const struct fsl_trace_vocabulary *vocabulary;
	struct fsl_trace_cursor cursor;
	const char *begin; /* of the text since the last value */
	uint16_t parent;   /* node of the text before */
	bool has_args;
	struct node next; /* what is known of the node to come */
};

static uint16_t find_alike(const struct lesson *lesson, const struct node *wanted)
{
	const struct node *nodes = lesson->shapes->nodes;
	uint16_t i = nodes[lesson->parent].first;
	while (i != 0 && (nodes[i].n_text != wanted->n_text || nodes[i].slot != wanted->slot ||
			  memcmp(nodes[i].text, wanted->text, wanted->n_text) != 0)) {
		i = nodes[i].next;
	}
	return i;
}

/* Goes to the node of @n_bytes from lesson->begin on, which is made if there is none; false if the
 * tree is full. */
static bool add_piece(struct lesson *lesson, enum slot slot, size_t n_bytes)
{
	struct fsl_trace_shapes *shapes = lesson->shapes;
	struct node *node = &lesson->next;
	node->slot = (uint8_t)slot;
	node->n_text = (uint8_t)n_bytes;
	for (size_t i = 0; i < n_bytes; i++) {
		node->text[i] = lesson->begin[i];
		node->n_newlines = (uint8_t)(node->n_newlines + (lesson->begin[i] == '\n'));
	}
	uint16_t at = find_alike(lesson, node);
	if (at == 0) {
		if (shapes->n_nodes == NODES_MAX) {
			return false;
		}
		at = (uint16_t)shapes->n_nodes++;
		uint16_t *place = &shapes->nodes[lesson->parent].first;
		while (*place != 0 && shapes->nodes[*place].n_text >= node->n_text) {
			place = &shapes->nodes[*place].next;
		}
		node->next = *place;
		shapes->nodes[at] = *node;
		*place = at;
	}
	lesson->parent = at;
	lesson->begin += n_bytes;
	return true;
}

/* Ends the text at the cursor, with a value of @slot behind it. */
static bool add_text(struct lesson *lesson, enum slot slot)
{
	for (;;) {
		size_t n_left = (size_t)(lesson->cursor.at - lesson->begin);
		bool is_last = n_left <= TEXT_BYTES_MAX;
		struct node rest = lesson->next;
		if (!is_last) {
			lesson->next = (struct node){.slot = SLOT_NONE};
		}
		if (!add_piece(lesson, is_last ? slot : SLOT_NONE,
			       is_last ? n_left : TEXT_BYTES_MAX)) {
			return false;
		}
		lesson->next = is_last ? (struct node){0} : rest;
		if (is_last) {
			return true;
		}
	}
}

/* The phase, or the category: part of the text. */
static bool learn_word(struct lesson *lesson, enum fsl_trace_key key)
{
	struct fsl_json_value value;
	struct node *next = &lesson->next;
	bool has_escapes = false;
	lesson->cursor.at++;
	if (!fsl_trace_cursor_string(&lesson->cursor, &value, &has_escapes) || has_escapes) {
		return false;
	}
	if (key == FSL_TRACE_KEY_PHASE) {
		next->has_phase = true;
		next->phase = value.length == 1 ? value.text[0] : '\0';
	} else {
		int64_t number = -1;
		next->has_category = true;
		next->category = fsl_trace_words_find(&lesson->vocabulary->categories, value.text,
						      value.length, &number);
	}
	return true;
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
		return !lesson->next.is_asked && fsl_trace_cursor_word(cursor, &value);
	}
	cursor->at += c == '"' || c == '[' ? 1 : 0; /* is part of the text before it */
	enum slot slot = c == '"' ? SLOT_STRING : c == '[' ? SLOT_LIST : SLOT_NUMBER;
	if (!add_text(lesson, slot)) {
		return false;
	}
	if (slot == SLOT_STRING) {
		is_good = fsl_trace_cursor_string(cursor, &value, &has_escapes);
	} else if (slot == SLOT_LIST) {
		is_good = fsl_trace_cursor_list(cursor, NULL, &n, 0);
	} else {
		is_good = fsl_trace_cursor_number(cursor, &value);
	}
	lesson->begin = cursor->at - (slot == SLOT_STRING ? 1 : 0); /* the quote */
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
		lesson->next.is_asked = arg < lesson->vocabulary->n_args;
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
	lesson->next.is_asked = key != FSL_TRACE_KEY_OTHER;
	return c != '[' && c != '{' && learn_value(lesson);
}

void fsl_trace_shapes_learn(struct fsl_trace_shapes *shapes, const char *text, size_t n_bytes,
			    const struct fsl_trace_vocabulary *vocabulary)
{
	char end = ',';
	struct lesson lesson = {.shapes = shapes, .vocabulary = vocabulary, .begin = text};
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
		(void)add_text(&lesson, SLOT_END);
	}
}
