/* The wire format of timelines: their fields, and stages in the middle of a file. */
#ifndef FSL_SOURCE_SYSTRACE_TIMELINE_WIRE_H
#define FSL_SOURCE_SYSTRACE_TIMELINE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/entry.h"

enum {
	FSL_WIRE_VARINT_BYTES_MAX = 10,
	FSL_WIRE_HEAD_BYTES_MAX = 2 * FSL_WIRE_VARINT_BYTES_MAX, /* tag, then value or length */
	FSL_WIRE_VARINT = 0,
	FSL_WIRE_FIXED64 = 1,
	FSL_WIRE_BYTES = 2,
	FSL_WIRE_FIXED32 = 5,
	/* Fields of a timeline: */
	FSL_FIELD_STAGES = 1,
	FSL_FIELD_RANK = 2,
	FSL_FIELD_COMM = 4,
};

/* Tag, then a number (varint) or a length (bytes). */
struct fsl_wire_field {
	uint64_t number;
	unsigned wire;
	uint64_t value;
	size_t n_head;   /* bytes of tag and value or length */
	uint64_t offset; /* in the file; the caller's */
};

/* Parses the head of the field at @data. False if the bytes are no field that a timeline can
 * have. */
bool fsl_wire_field_parse(struct fsl_wire_field *field, const char *data, size_t n_bytes);

/* True when a stage begins as stages do: fields 1 to 6 with their wire types. */
bool fsl_wire_is_stage_like(const char *data, size_t n_bytes);

/*
 * For struct fsl_entry_rows, without a context: finds the first stage within [text, end) that is
 * surely a stage. Nothing in a timeline marks the begin of a stage. But bytes that only look like a
 * stage are not followed by many whole stages, one right behind the other. The time of the row is
 * the end of the stage.
 */
bool fsl_wire_next_stage(const void *context, const char *text, const char *end,
			 struct fsl_entry_row *row);

#endif
