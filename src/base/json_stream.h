/*
 * Streaming pull tokenizer for bulk JSON: several values in one file, numbers as exact text,
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

/* true, false, null: how they are spelt. */
enum { FSL_JSON_WORDS_N = 3 };
struct fsl_json_word {
	const char *text;
	size_t length;
	enum fsl_json_token token;
};
extern const struct fsl_json_word fsl_json_words[FSL_JSON_WORDS_N];

struct fsl_json; /* opaque; reads from a reader that it does not own */

struct fsl_json *fsl_json_create(struct fsl_reader *reader); /* NULL when out of memory */
/* Frees @json. The reader then stands behind the last token and a comma or colon after it. */
void fsl_json_destroy(struct fsl_json *json);

/*
 * Next token. Several top-level values may follow each other; white space between them is needed
 * only if two numbers or words would run together. A leading UTF-8 byte order mark is skipped.
 * FSL_ERR_FORMAT (syntax, or "JSON is cut": the file ends inside a value) and FSL_ERR_LIMIT (depth,
 * or a string or number over FSL_LINE_BYTES_MAX) name file, offset and line. After an error every
 * further call fails. Half a surrogate pair as an escape, which some writers make of undecodable
 * names, is read as U+FFFD. Bytes that are not UTF-8 are an error.
 */
enum fsl_status fsl_json_next(struct fsl_json *json, struct fsl_json_value *value,
			      struct fsl_error *err);
/*
 * Skips the value that begins with the next token, also a whole object or array. If the next token
 * is a key, skips the key and its value. Skipped text is checked like all other text.
 * FSL_ERR_INTERNAL at the end of an object, array or file, where no value is left.
 */
enum fsl_status fsl_json_skip(struct fsl_json *json, struct fsl_error *err);
/*
 * For readers that know the layout: the bytes in memory from the "{" of the next token on, if that
 * object stands at top level or in an array. False otherwise, or if the object is not in memory:
 * read it with fsl_json_next(). Borrowed until the next token.
 */
bool fsl_json_peek_object(struct fsl_json *json, const char **text, size_t *n_bytes);
/* Goes on behind the object that fsl_json_peek_object() found. The caller has checked its syntax
 * and its length: @n_bytes bytes with @n_newlines newlines. */
void fsl_json_take_object(struct fsl_json *json, size_t n_bytes, uint64_t n_newlines);
/* The same for objects behind each other in an array, of which not all need be in memory; the
 * reader must be able to seek. @n_bytes: from the first "{" to the last "}". FSL_ERR_IO. */
enum fsl_status fsl_json_take_objects(struct fsl_json *json, uint64_t n_bytes, uint64_t n_newlines,
				      struct fsl_error *err);
/* Offset of the next byte: behind fsl_json_peek_object() that of the "{". */
uint64_t fsl_json_next_offset(const struct fsl_json *json);
/* A place between two values, at top level or in an outermost array. */
enum fsl_json_place_state {
	FSL_JSON_AT_TOP,        /* at top level */
	FSL_JSON_AT_FIRST_ITEM, /* an item or "]" is next */
	FSL_JSON_AT_ITEM,       /* an item is next */
	FSL_JSON_AT_NEXT,       /* "," or "]" is next */
	FSL_JSON_PLACES_N
};
struct fsl_json_place {
	uint64_t offset, line; /* of the next byte; line 0: unknown */
	enum fsl_json_place_state state;
};
/* Present place of the tokenizer, behind the last token. False inside objects and inner arrays, and
 * after an error. */
bool fsl_json_place(const struct fsl_json *json, struct fsl_json_place *place);
/* Makes a new tokenizer go on at @place. The reader stands there already. */
void fsl_json_go_on(struct fsl_json *json, const struct fsl_json_place *place);
/* Goes on at @place from anywhere. The reader must be able to seek. */
enum fsl_status fsl_json_go(struct fsl_json *json, const struct fsl_json_place *place,
			    struct fsl_error *err);
/* Number of open objects and arrays. */
size_t fsl_json_depth(const struct fsl_json *json);
/* Start of the last token: decompressed byte offset, and line from 1 (0: unknown). */
uint64_t fsl_json_offset(const struct fsl_json *json);
uint64_t fsl_json_line(const struct fsl_json *json);

#endif
