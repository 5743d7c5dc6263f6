/* Walking JSON of known structure. */
#include "text/json_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { BYTES_PER_MB = 1000000 };
enum { NUMBER_BYTES_MAX = 64 }; /* Python writes at most 25 bytes; a longer text is no figure */
#define PS_PER_MS INT64_C(1000000000)

/* Skips the rest of an object or array that was begun at @depth. */
static enum fsl_status skip_rest(struct fsl_json *json, size_t depth, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && fsl_json_depth(json) > depth) {
		struct fsl_json_value value;
		status = fsl_json_next(json, &value, err);
	}
	return status;
}

enum fsl_status fsl_json_take_scalar(struct fsl_json *json, struct fsl_json_value *value,
				     struct fsl_error *err)
{
	size_t depth = fsl_json_depth(json);
	enum fsl_status status = fsl_json_next(json, value, err);
	if (status == FSL_OK && fsl_json_depth(json) > depth) {
		*value = (struct fsl_json_value){FSL_JSON_NULL, "", 0};
		status = skip_rest(json, depth, err);
	}
	return status;
}

static enum fsl_status enter(struct fsl_json *json, enum fsl_json_token token, bool *is_entered,
			     struct fsl_error *err)
{
	size_t depth = fsl_json_depth(json);
	struct fsl_json_value value;
	*is_entered = false;
	enum fsl_status status = fsl_json_next(json, &value, err);
	if (status == FSL_OK) {
		*is_entered = value.token == token;
		status = *is_entered ? FSL_OK : skip_rest(json, depth, err);
	}
	return status;
}

enum fsl_status fsl_json_enter_object(struct fsl_json *json, bool *is_entered,
				      struct fsl_error *err)
{
	return enter(json, FSL_JSON_OBJECT_BEGIN, is_entered, err);
}

enum fsl_status fsl_json_enter_array(struct fsl_json *json, bool *is_entered, struct fsl_error *err)
{
	return enter(json, FSL_JSON_ARRAY_BEGIN, is_entered, err);
}

enum fsl_status fsl_json_next_key(struct fsl_json *json, struct fsl_json_value *key, bool *has_key,
				  struct fsl_error *err)
{
	*has_key = false;
	enum fsl_status status = fsl_json_next(json, key, err);
	*has_key = status == FSL_OK && key->token == FSL_JSON_KEY;
	return status;
}

bool fsl_json_is(const struct fsl_json_value *value, const char *text)
{
	return strlen(text) == value->length && memcmp(text, value->text, value->length) == 0;
}

static bool is_text(const struct fsl_json_value *value)
{
	return value->token == FSL_JSON_NUMBER || value->token == FSL_JSON_STRING ||
	       value->token == FSL_JSON_KEY;
}

bool fsl_json_scaled(const struct fsl_json_value *value, int64_t scale, int64_t max, int64_t *out)
{
	int64_t figure = -1;
	bool is_good = is_text(value) &&
		       fsl_parse_scaled(value->text, value->length, scale, &figure) &&
		       figure >= 0 && figure <= max;
	*out = is_good ? figure : *out;
	return is_good;
}

bool fsl_json_duration(const struct fsl_json_value *value, int64_t *ns, int16_t *ps)
{
	int64_t whole_ns = 0, whole_ps = 0;
	bool is_good = fsl_json_scaled(value, FSL_NS_PER_MS, FSL_JSON_FIGURE_MAX, &whole_ns) &&
		       fsl_json_scaled(value, PS_PER_MS, INT64_MAX, &whole_ps);
	if (is_good) {
		*ns = whole_ns;
		*ps = (int16_t)(whole_ps - whole_ns * 1000);
	}
	return is_good;
}

bool fsl_json_bytes(const struct fsl_json_value *value, int64_t *n_bytes)
{
	return fsl_json_scaled(value, BYTES_PER_MB, FSL_JSON_FIGURE_MAX, n_bytes);
}

double fsl_json_real(const struct fsl_json_value *value)
{
	char text[NUMBER_BYTES_MAX + 1];
	char *end = NULL;
	if (!is_text(value) || value->length == 0 || value->length > NUMBER_BYTES_MAX) {
		return NAN;
	}
	memcpy(text, value->text, value->length);
	text[value->length] = '\0';
	double real = strtod(text, &end);
	return end == text + value->length && isfinite(real) ? real : NAN;
}
