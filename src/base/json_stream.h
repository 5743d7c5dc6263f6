/*
 * Streaming pull tokenizer for bulk JSON: one value after the other in one file, exact number text,
 * escapes decoded, UTF-8 checked, depth and length limits, byte offset and line in every error,
 * bounded memory. Small documents (configuration) go through cJSON instead.
 */
#ifndef FSL_BASE_JSON_STREAM_H
#define FSL_BASE_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

enum { FSL_JSON_DEPTH_MAX = 64 };

enum fsl_json_token {
	FSL_JSON_OBJECT_BEGIN,
	FSL_JSON_OBJECT_END,
	FSL_JSON_ARRAY_BEGIN,
	FSL_JSON_ARRAY_END,
	FSL_JSON_KEY,    /* text = decoded key */
	FSL_JSON_STRING, /* text = decoded string (may hold NUL) */
	FSL_JSON_NUMBER, /* text = number as written */
	FSL_JSON_TRUE,
	FSL_JSON_FALSE,
	FSL_JSON_NULL,
	FSL_JSON_END, /* end of the file, outside every value */
};

struct fsl_json_value {
	enum fsl_json_token token;
	const char *text; /* borrowed until the next call; not NUL-terminated */
	size_t length;
};

struct fsl_json; /* opaque; reads from a reader that it does not own */

struct fsl_json *fsl_json_create(struct fsl_reader *reader); /* NULL when out of memory */
/* The reader then stands behind the last token, and a comma or colon that follows it. */
void fsl_json_destroy(struct fsl_json *json);

/*
 * Next token. Several top-level values may follow each other; white space between them is needed
 * only where two numbers or words would run together. A UTF-8 byte order mark in front is skipped.
 * FSL_ERR_FORMAT (syntax, or "JSON is cut": the file ends inside a value) and FSL_ERR_LIMIT (depth,
 * or a string or number over FSL_LINE_BYTES_MAX) name file, offset and line; after them every
 * further call fails. An escaped half of a surrogate pair without its other half, which some
 * writers make of undecodable names, is read as U+FFFD; bytes that are not UTF-8 are an error.
 */
enum fsl_status fsl_json_next(struct fsl_json *json, struct fsl_json_value *value,
			      struct fsl_error *err);
/*
 * Skips the value that begins with the next token (also whole objects and arrays); when the next
 * token is a key, the key and its value. What is skipped is checked like everything else. At the
 * end of an object, array or file there is nothing to skip: FSL_ERR_INTERNAL.
 */
enum fsl_status fsl_json_skip(struct fsl_json *json, struct fsl_error *err);
/*
 * For readers that know what to expect: the bytes in memory from the "{" of the next token on, when
 * that is an object of its own or an item of an outermost array. False when it is not, or not in
 * memory: fsl_json_next() tells. Borrowed until the next token.
 */
bool fsl_json_peek_object(struct fsl_json *json, const char **text, size_t *n_bytes);
/* Goes on behind that object; the caller knows that it is sound and has @n_bytes bytes and
 * @n_newlines newlines. */
void fsl_json_take_object(struct fsl_json *json, size_t n_bytes, uint64_t n_newlines);
/* A place between two values, outside of everything or in an outermost array. */
enum fsl_json_place_state {
	FSL_JSON_AT_TOP,        /* outside */
	FSL_JSON_AT_FIRST_ITEM, /* an item or "]" is next */
	FSL_JSON_AT_ITEM,       /* an item is next */
	FSL_JSON_AT_NEXT,       /* "," or "]" is next */
	FSL_JSON_PLACES_N
};
struct fsl_json_place {
	uint64_t offset, line; /* of the next byte; line 0: not known */
	enum fsl_json_place_state state;
};
/* Where the tokenizer stands, behind the last token. False inside of objects and inner arrays, and
 * when reading has failed. */
bool fsl_json_place(const struct fsl_json *json, struct fsl_json_place *place);
/* Makes a new tokenizer go on there, where the reader stands already. */
void fsl_json_go_on(struct fsl_json *json, const struct fsl_json_place *place);
/* The same from anywhere. The reader can seek. */
enum fsl_status fsl_json_go(struct fsl_json *json, const struct fsl_json_place *place,
			    struct fsl_error *err);
/* Open objects and arrays. */
size_t fsl_json_depth(const struct fsl_json *json);
/* Where the last token began: decompressed byte offset, and line from 1; 0 where it is not known.
 */
uint64_t fsl_json_offset(const struct fsl_json *json);
uint64_t fsl_json_line(const struct fsl_json *json);

#endif
