/*
 * The records of one file have the same keys in the same order; only the values differ. A shape is
 * the text of one record without its values. A record that has the text of the shape between its
 * values is read by comparing bytes, every other record by the tokenizer. Both ways give the same
 * result.
 */
#ifndef FSL_SOURCE_SYSTRACE_JSON_SHAPE_H
#define FSL_SOURCE_SYSTRACE_JSON_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FSL_JSON_SHAPE_BYTES_MAX = 1024, /* longest record that can be learnt */
	FSL_JSON_SHAPE_SLOTS_MAX = 32,   /* values in it */
	FSL_JSON_SHAPE_FIELDS_MAX = 8,   /* values of known keys in it */
	FSL_JSON_SHAPE_DEPTH_MAX = 4,    /* objects and arrays in it */
};

/* A value that is asked for: an integer as written, or the bytes of a string without escapes. */
struct fsl_json_span {
	const char *text; /* borrowed from the text that was compared */
	size_t length;
};

/* A value of any content in the record. */
struct fsl_json_slot {
	uint32_t n_before; /* bytes of the shape's text in front of it */
	int32_t field;     /* index of its key, -1: nobody asks for it */
	bool is_string;    /* between quotes; else an integer */
};

/* Start as {0}: nothing is learnt yet. */
struct fsl_json_shape {
	size_t n_slots; /* 0: nothing is learnt */
	struct fsl_json_slot slots[FSL_JSON_SHAPE_SLOTS_MAX];
	size_t n_text;
	char text[FSL_JSON_SHAPE_BYTES_MAX]; /* without the values */
	uint64_t n_newlines;                 /* in it */
};

/*
 * Learns the shape of @text, @length bytes: one object that the tokenizer has read without a fault.
 * False, and nothing is learnt, if a key of @keys is missing, occurs twice or has a value of
 * another kind, or if the object exceeds a limit above.
 */
bool fsl_json_shape_learn(struct fsl_json_shape *shape, const char *text, size_t length,
			  const char *const *keys, size_t n_keys);

/*
 * Compares the object at @text, of which @n_bytes are in memory, with the shape. Returns its length
 * and sets values[i] to the value of key i. Returns 0 if the object has another shape, or if it and
 * some bytes behind it are not in memory.
 */
size_t fsl_json_shape_match(const struct fsl_json_shape *shape, const char *text, size_t n_bytes,
			    struct fsl_json_span *values);

#endif
