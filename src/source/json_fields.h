/* Flat JSON records from the streaming tokenizer: scalars of known keys, everything else skipped.
 */
#ifndef FSL_SOURCE_JSON_FIELDS_H
#define FSL_SOURCE_JSON_FIELDS_H

#include "base/json_stream.h"
#include "source/ingest.h"

enum { FSL_JSON_FIELDS_MAX = 8 };

/* One scalar of a record; the text is copied, because the tokenizer lends it for one call only. */
struct fsl_json_field {
	const char *key;
	bool is_seen; /* as a string or number */
	size_t length;
	char text[FSL_NAME_BYTES_MAX]; /* not NUL-terminated; longer texts are cut: see is_long */
	bool is_long;
};

struct fsl_json_fields {
	size_t n_fields;
	struct fsl_json_field fields[FSL_JSON_FIELDS_MAX];
};

/* True when the head is a JSON array or object; byte order mark and blanks may precede. */
bool fsl_json_head_is(const struct fsl_probe *probe);
/* True when the head holds "@key" as a quoted text. */
bool fsl_json_head_has(const struct fsl_probe *probe, const char *key);

/* Makes @fields a record with the keys @keys. */
void fsl_json_fields_init(struct fsl_json_fields *fields, const char *const *keys, size_t n_keys);
/* Forgets the values of the last record. */
void fsl_json_fields_clear(struct fsl_json_fields *fields);
/* Reads the value that follows the key @key: into its field, or skips it. */
enum fsl_status fsl_json_fields_take(struct fsl_json_fields *fields, struct fsl_json *json,
				     const struct fsl_json_value *key, struct fsl_error *err);
/* Sets @field to a string or number; any other @value leaves it as it is. */
void fsl_json_field_set(struct fsl_json_field *field, const struct fsl_json_value *value);
/* Value of @field as a whole number; a fraction is rounded. False if the field is absent or no such
 * number. */
bool fsl_json_field_u64(const struct fsl_json_field *field, uint64_t *out);

/*
 * After a failed call: counts the record in which the tokenizer stopped, cut or malformed, and
 * gives the file its message. Passes out of memory and failed reads on; FSL_OK does nothing.
 */
enum fsl_status fsl_json_fault(struct fsl_sink *sink, enum fsl_status status,
			       struct fsl_error *err);

#endif
