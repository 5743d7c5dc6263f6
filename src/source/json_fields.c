/* Picks the scalars of one JSON object; shared by the marker and timeline readers. */
#include "source/json_fields.h"

#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/try.h"

bool fsl_json_head_is(const struct fsl_probe *probe)
{
	const char *text = probe->head;
	const char *end = text + probe->n_head;
	if (end - text >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
		text += 3; /* byte order mark */
	}
	while (text < end && (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n')) {
		text++;
	}
	return text < end && (*text == '[' || *text == '{');
}

bool fsl_json_head_has(const struct fsl_probe *probe, const char *key)
{
	const char *text = probe->head;
	const char *end = text + probe->n_head;
	size_t n_key = strlen(key);
	while (text < end && (text = memmem(text, (size_t)(end - text), key, n_key)) != NULL) {
		if (text > probe->head && text[-1] == '"' && text + n_key < end &&
		    text[n_key] == '"') {
			return true;
		}
		text++;
	}
	return false;
}

void fsl_json_fields_init(struct fsl_json_fields *fields, const char *const *keys, size_t n_keys)
{
	FSL_REQUIRE(n_keys <= FSL_JSON_FIELDS_MAX);
	fields->n_fields = n_keys;
	for (size_t i = 0; i < n_keys; i++) {
		fields->fields[i].key = keys[i];
	}
	fsl_json_fields_clear(fields);
}

void fsl_json_fields_clear(struct fsl_json_fields *fields)
{
	for (size_t i = 0; i < fields->n_fields; i++) {
		fields->fields[i].is_seen = false;
		fields->fields[i].is_long = false;
		fields->fields[i].length = 0;
	}
}

static struct fsl_json_field *find_field(struct fsl_json_fields *fields,
					 const struct fsl_json_value *key)
{
	for (size_t i = 0; i < fields->n_fields; i++) {
		struct fsl_json_field *field = &fields->fields[i];
		if (strlen(field->key) == key->length &&
		    memcmp(field->key, key->text, key->length) == 0) {
			return field;
		}
	}
	return NULL;
}

void fsl_json_field_set(struct fsl_json_field *field, const struct fsl_json_value *value)
{
	if (value->token == FSL_JSON_STRING || value->token == FSL_JSON_NUMBER) {
		field->is_seen = true;
		field->is_long = value->length > sizeof(field->text);
		field->length = field->is_long ? sizeof(field->text) : value->length;
		memcpy(field->text, value->text, field->length);
	}
}

enum fsl_status fsl_json_fields_take(struct fsl_json_fields *fields, struct fsl_json *json,
				     const struct fsl_json_value *key, struct fsl_error *err)
{
	struct fsl_json_field *field = find_field(fields, key);
	if (field == NULL) {
		return fsl_json_skip(json, err);
	}
	size_t depth = fsl_json_depth(json);
	struct fsl_json_value value;
	FSL_TRY(fsl_json_next(json, &value, err));
	fsl_json_field_set(field, &value);
	/* An object where a scalar belongs leaves the field unseen. */
	while (fsl_json_depth(json) > depth) {
		FSL_TRY(fsl_json_next(json, &value, err));
	}
	return FSL_OK;
}

bool fsl_json_field_u64(const struct fsl_json_field *field, uint64_t *out)
{
	int64_t rounded = 0;
	if (!field->is_seen || field->is_long) {
		return false;
	}
	if (fsl_parse_u64(field->text, field->length, out)) {
		return true;
	}
	if (!fsl_parse_scaled(field->text, field->length, 1, &rounded) || rounded < 0) {
		return false;
	}
	*out = (uint64_t)rounded;
	return true;
}

enum fsl_status fsl_json_fault(struct fsl_sink *sink, enum fsl_status status, struct fsl_error *err)
{
	if (status != FSL_ERR_FORMAT && status != FSL_ERR_LIMIT) {
		return status;
	}
	bool is_cut = strstr(fsl_error_root(err), "is cut") != NULL;
	sink->file->n_records++;
	fsl_sink_bad_record(sink, is_cut ? FSL_DROP_CUT : FSL_DROP_MALFORMED,
			    "%s (still being written, the disk was full, or two writers)",
			    fsl_error_root(err));
	fsl_error_clear(err);
	return FSL_OK;
}
