/* Fields of protobuf by hand: tags, varints and lengths. */
#include "source/systrace/timeline_wire.h"

#include <string.h>

#include "base/number.h"

enum {
	/* So many stages in a row, over so many bytes, occur neither by chance nor in a text that
	 * holds some stages. */
	STAGES_SURE = 4,
	BYTES_SURE = 2048,
	STAGE_TAG = FSL_FIELD_STAGES << 3 | FSL_WIRE_BYTES,
	/* Fields of a stage: */
	FIELD_STEP = 1,
	FIELD_TYPE = 2,
	FIELD_START = 3,
	FIELD_END = 4,
	FIELD_FRAMES = 5,
	FIELD_GC = 6,
	FIELDS_N = 7,
};

static const unsigned stage_wires[FIELDS_N] = {
	[FIELD_STEP] = FSL_WIRE_VARINT,  [FIELD_TYPE] = FSL_WIRE_BYTES,
	[FIELD_START] = FSL_WIRE_VARINT, [FIELD_END] = FSL_WIRE_VARINT,
	[FIELD_FRAMES] = FSL_WIRE_BYTES, [FIELD_GC] = FSL_WIRE_BYTES,
};

static bool is_stage_field(const struct fsl_wire_field *field)
{
	return field->number < FIELDS_N && field->wire == stage_wires[field->number];
}

/* Bytes of the varint at @data, 0 when it is cut or longer than 64 bits. */
static size_t parse_varint(const char *data, size_t n_bytes, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < n_bytes && i < FSL_WIRE_VARINT_BYTES_MAX; i++) {
		uint64_t byte = (unsigned char)data[i];
		if (i == FSL_WIRE_VARINT_BYTES_MAX - 1 && byte > 1) {
			return 0;
		}
		*value |= (byte & 0x7F) << (7 * i);
		if (byte < 0x80) {
			return i + 1;
		}
	}
	return 0;
}

bool fsl_wire_field_parse(struct fsl_wire_field *field, const char *data, size_t n_bytes)
{
	uint64_t tag = 0;
	size_t n_tag = parse_varint(data, n_bytes, &tag);
	*field = (struct fsl_wire_field){
		.number = tag >> 3, .wire = (unsigned)(tag & 7), .n_head = n_tag};
	if (n_tag == 0 || field->number == 0 || field->number > UINT32_MAX >> 3) {
		return false;
	}
	switch (field->wire) {
	case FSL_WIRE_VARINT:
	case FSL_WIRE_BYTES: {
		size_t n_value = parse_varint(data + n_tag, n_bytes - n_tag, &field->value);
		field->n_head += n_value;
		return n_value > 0;
	}
	case FSL_WIRE_FIXED64:
		field->n_head += 8;
		return n_bytes >= field->n_head;
	case FSL_WIRE_FIXED32:
		field->n_head += 4;
		return n_bytes >= field->n_head;
	default: /* groups and reserved types: no timeline has them */
		return false;
	}
}

/* Content of a stage, or of its begin. */
struct stage {
	uint64_t start_us, end_us; /* 0: absent */
	bool has_type;
	bool is_cut; /* it goes on behind the bytes */
};

/* False when the bytes are no stage, nor the begin of one. */
static bool parse_stage(struct stage *stage, const char *data, size_t n_bytes)
{
	struct fsl_wire_field field;
	*stage = (struct stage){0};
	for (size_t at = 0; at < n_bytes && !stage->is_cut;) {
		if (!fsl_wire_field_parse(&field, data + at, n_bytes - at) ||
		    !is_stage_field(&field)) {
			return false;
		}
		uint64_t n_body = field.wire == FSL_WIRE_BYTES ? field.value : 0;
		at += field.n_head;
		stage->is_cut = n_body > n_bytes - at;
		at += stage->is_cut ? 0 : (size_t)n_body;
		stage->has_type |= field.number == FIELD_TYPE;
		stage->start_us = field.number == FIELD_START ? field.value : stage->start_us;
		stage->end_us = field.number == FIELD_END ? field.value : stage->end_us;
	}
	return true;
}

bool fsl_wire_is_stage_like(const char *data, size_t n_bytes)
{
	struct stage stage;
	return parse_stage(&stage, data, n_bytes) && stage.has_type;
}

/* True for a whole stage. *time_us: its end, or its begin if it has no end. */
static bool is_stage(const char *data, size_t n_bytes, uint64_t *time_us)
{
	struct stage stage;
	if (!parse_stage(&stage, data, n_bytes) || stage.is_cut || !stage.has_type) {
		return false;
	}
	*time_us = stage.end_us > 0 ? stage.end_us : stage.start_us;
	return *time_us > 0 && *time_us <= (uint64_t)FSL_TIME_MAX_NS / FSL_NS_PER_US;
}

/* Parses the item at @data: a stage, or a field between stages. False if a timeline has no such
 * item, or if it is cut. */
static bool parse_item(const char *data, size_t n_bytes, struct fsl_wire_field *field,
		       uint64_t *time_us, size_t *n_item)
{
	if (!fsl_wire_field_parse(field, data, n_bytes) || field->number > FSL_FIELD_COMM ||
	    (field->wire != FSL_WIRE_BYTES && field->wire != FSL_WIRE_VARINT)) {
		return false;
	}
	uint64_t n_body = field->wire == FSL_WIRE_BYTES ? field->value : 0;
	if (n_body > n_bytes - field->n_head) {
		return false;
	}
	*n_item = field->n_head + (size_t)n_body;
	return field->number != FSL_FIELD_STAGES ||
	       (field->wire == FSL_WIRE_BYTES &&
		is_stage(data + field->n_head, (size_t)n_body, time_us));
}

/* The next whole stage at @text or behind other fields there; false: something else, or the end. */
static bool parse_row(const char *text, const char *end, struct fsl_entry_row *row)
{
	struct fsl_wire_field field = {.number = 0};
	uint64_t time_us = 0;
	size_t n_item = 0;
	for (const char *at = text; field.number != FSL_FIELD_STAGES; at += n_item) {
		if (!parse_item(at, (size_t)(end - at), &field, &time_us, &n_item)) {
			return false;
		}
		*row = (struct fsl_entry_row){at, at + n_item, (int64_t)time_us * FSL_NS_PER_US};
	}
	return true;
}

/* The first stage behind enough of them in a row. */
static bool find_sure(const char *text, const char *end, struct fsl_entry_row *row)
{
	const char *at = text;
	size_t n_stages = 0;
	while (parse_row(at, end, row)) {
		if (n_stages >= STAGES_SURE && row->begin - text >= BYTES_SURE) {
			return true;
		}
		n_stages++;
		at = row->end;
	}
	return false;
}

bool fsl_wire_next_stage(const void *context, const char *text, const char *end,
			 struct fsl_entry_row *row)
{
	(void)context;
	const char *at = text;
	if (parse_row(text, end, row)) { /* behind another one */
		return true;
	}
	while ((at = memchr(at, STAGE_TAG, (size_t)(end - at))) != NULL) {
		if (find_sure(at, end, row)) {
			return true;
		}
		at++;
	}
	return false;
}
