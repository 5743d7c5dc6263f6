/* Learning a record's shape from its text, and comparing other records with it. */
#include "source/systrace/json_shape.h"

#include <string.h>

#include "base/block_scan.h"
#include "base/log.h"

/* A walk through a record that is known to be sound JSON. */
struct walk {
	const char *text;
	size_t length, at;
	size_t n_before; /* bytes since the last value */
	size_t depth;
	int32_t field; /* of the key that was read last */
	const char *const *keys;
	size_t n_keys;
	uint32_t keys_seen; /* bit i: keys[i] has its slot */
};

_Static_assert(FSL_JSON_SHAPE_FIELDS_MAX <= 32, "one bit of walk.keys_seen per key");

static bool add_text(struct fsl_json_shape *shape, struct walk *walk, size_t n_bytes)
{
	if (n_bytes > sizeof(shape->text) - shape->n_text || n_bytes > walk->length - walk->at) {
		return false;
	}
	for (size_t i = 0; i < n_bytes; i++) {
		char c = walk->text[walk->at++];
		shape->text[shape->n_text++] = c;
		shape->n_newlines += c == '\n';
	}
	walk->n_before += n_bytes;
	return true;
}

/* A slot for the value at walk->at, @length bytes; a key that is asked for may have one. */
static bool add_slot(struct fsl_json_shape *shape, struct walk *walk, size_t length, bool is_string)
{
	int32_t field = walk->depth == 1 ? walk->field : -1;
	if (shape->n_slots == FSL_JSON_SHAPE_SLOTS_MAX) {
		return false;
	}
	if (field >= 0) {
		uint32_t bit = UINT32_C(1) << field;
		if ((walk->keys_seen & bit) != 0) {
			return false;
		}
		walk->keys_seen |= bit;
	}
	shape->slots[shape->n_slots++] =
		(struct fsl_json_slot){(uint32_t)walk->n_before, field, is_string};
	walk->n_before = 0;
	walk->at += length;
	return true;
}

/* Index of the key, -1 when nobody asks for it. */
static int32_t find_key(const struct walk *walk, const char *text, size_t length)
{
	for (size_t i = 0; i < walk->n_keys; i++) {
		if (strlen(walk->keys[i]) == length && memcmp(walk->keys[i], text, length) == 0) {
			return (int32_t)i;
		}
	}
	return -1;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* A key or a string value; walk->at is at its quote. Escapes are not learnt. */
static bool learn_string(struct fsl_json_shape *shape, struct walk *walk)
{
	const char *begin = walk->text + walk->at + 1;
	size_t n_left = walk->length - walk->at - 1;
	const char *end = memchr(begin, '"', n_left);
	if (end == NULL || memchr(begin, '\\', (size_t)(end - begin)) != NULL) {
		return false;
	}
	size_t length = (size_t)(end - begin);
	size_t behind = walk->at + length + 2;
	while (behind < walk->length && is_space(walk->text[behind])) {
		behind++;
	}
	if (behind < walk->length && walk->text[behind] == ':') {
		walk->field = find_key(walk, begin, length);
		return add_text(shape, walk, length + 2);
	}
	return add_text(shape, walk, 1) && add_slot(shape, walk, length, true) &&
	       add_text(shape, walk, 1);
}

static bool is_number_byte(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static bool learn_number(struct fsl_json_shape *shape, struct walk *walk)
{
	size_t length = 0;
	while (length < walk->length - walk->at && is_number_byte(walk->text[walk->at + length])) {
		length++;
	}
	return add_slot(shape, walk, length, false);
}

/* Up to the end of the next value or the next byte of punctuation. */
static bool learn_next(struct fsl_json_shape *shape, struct walk *walk)
{
	char c = walk->text[walk->at];
	if (c == '"') {
		return learn_string(shape, walk);
	}
	if (c == '-' || (c >= '0' && c <= '9')) {
		return learn_number(shape, walk);
	}
	walk->depth += c == '{' || c == '[';
	walk->depth -= c == '}' || c == ']';
	return walk->depth <= FSL_JSON_SHAPE_DEPTH_MAX && add_text(shape, walk, 1);
}

bool fsl_json_shape_learn(struct fsl_json_shape *shape, const char *text, size_t length,
			  const char *const *keys, size_t n_keys)
{
	struct walk walk = {
		.text = text, .length = length, .field = -1, .keys = keys, .n_keys = n_keys};
	FSL_REQUIRE(n_keys <= FSL_JSON_SHAPE_FIELDS_MAX);
	*shape = (struct fsl_json_shape){0};
	bool is_sound = length > 0 && text[0] == '{';
	while (is_sound && walk.at < length) {
		is_sound = learn_next(shape, &walk);
	}
	if (!is_sound || walk.depth != 0 || walk.keys_seen != (UINT32_C(1) << n_keys) - 1) {
		shape->n_slots = 0;
		return false;
	}
	return true;
}

/* Length of the string at @text up to its quote; SIZE_MAX when it needs a closer look. */
static inline size_t string_length(const char *text, const char *limit)
{
	for (const char *at = text; limit - at >= FSL_SCAN_JSON_BYTES; at += FSL_SCAN_JSON_BYTES) {
		uint32_t marks = fsl_scan_json(at);
		if (marks != 0) {
			at += (unsigned)__builtin_ctz(marks);
			return *at == '"' ? (size_t)(at - text) : SIZE_MAX;
		}
	}
	return SIZE_MAX;
}

/* Length of the integer at @text; SIZE_MAX when there is none, or one that JSON does not allow. */
static inline size_t number_length(const char *text, const char *limit)
{
	const char *begin = text + (text < limit && *text == '-' ? 1 : 0);
	const char *at = begin;
	unsigned n_digits = 8;
	while (n_digits == 8) {
		if (limit - at < 8) {
			return SIZE_MAX;
		}
		n_digits = fsl_scan_digits(at);
		at += n_digits;
	}
	bool is_number = at > begin && (*begin != '0' || at == begin + 1);
	return is_number ? (size_t)(at - text) : SIZE_MAX;
}

size_t fsl_json_shape_match(const struct fsl_json_shape *shape, const char *text, size_t n_bytes,
			    struct fsl_json_span *values)
{
	const char *at = text, *limit = text + n_bytes;
	const char *known = shape->text, *known_end = shape->text + shape->n_text;
	for (size_t i = 0; i < shape->n_slots; i++) {
		const struct fsl_json_slot *slot = &shape->slots[i];
		if ((size_t)(limit - at) < slot->n_before ||
		    memcmp(at, known, slot->n_before) != 0) {
			return 0;
		}
		at += slot->n_before;
		known += slot->n_before;
		size_t length =
			slot->is_string ? string_length(at, limit) : number_length(at, limit);
		if (length == SIZE_MAX) {
			return 0;
		}
		if (slot->field >= 0) {
			values[slot->field] = (struct fsl_json_span){at, length};
		}
		at += length;
	}
	size_t n_rest = (size_t)(known_end - known);
	if (shape->n_slots == 0 || (size_t)(limit - at) < n_rest ||
	    memcmp(at, known, n_rest) != 0) {
		return 0;
	}
	return (size_t)(at - text) + n_rest;
}
