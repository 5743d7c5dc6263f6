/* Walking JSON files of known structure, and their faults. */
#include "profile/json_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { BYTES_PER_MB = 1000000 };
enum { NUMBER_BYTES_MAX = 64 }; /* Python writes at most 25; longer ones are no figures */
#define PS_PER_MS INT64_C(1000000000)

/* What is left of an object or array that was begun at @depth. */
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
	bool is_good = fsl_json_scaled(value, FSL_NS_PER_MS, FSL_PROFILE_FIGURE_MAX, &whole_ns) &&
		       fsl_json_scaled(value, PS_PER_MS, INT64_MAX, &whole_ps);
	if (is_good) {
		*ns = whole_ns;
		*ps = (int16_t)(whole_ps - whole_ns * 1000);
	}
	return is_good;
}

bool fsl_json_bytes(const struct fsl_json_value *value, int64_t *n_bytes)
{
	return fsl_json_scaled(value, BYTES_PER_MB, FSL_PROFILE_FIGURE_MAX, n_bytes);
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

/* The first message of a file stays. @text NULL: out of memory. */
static enum fsl_status tell(const struct fsl_profile_input *input, enum fsl_file_state state,
			    const char *text, struct fsl_error *err)
{
	struct fsl_file *file = input->file;
	if (text == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", input->path);
	}
	if (file->state == FSL_FILE_READ) {
		file->state = state;
	}
	if (file->message[0] == '\0') {
		file->message = text;
	}
	return FSL_OK;
}

enum fsl_status fsl_json_file_drop(struct fsl_profile_rank *rank,
				   const struct fsl_profile_input *input,
				   const struct fsl_json *json, const char *reason,
				   struct fsl_error *err)
{
	input->file->n_dropped[FSL_DROP_MALFORMED]++;
	if (input->file->message[0] != '\0') {
		return FSL_OK;
	}
	return tell(input, FSL_FILE_PARTIAL,
		    fsl_arena_printf(&rank->arena,
				     "records were left out, the first: offset=%" PRIu64
				     ", reason=\"%s\"",
				     fsl_json_offset(json), reason),
		    err);
}

enum fsl_status fsl_json_file_fault(struct fsl_profile_rank *rank,
				    const struct fsl_profile_input *input, enum fsl_status status,
				    const struct fsl_error *own, struct fsl_error *err)
{
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, status, "out of memory: path=\"%s\"", input->path);
	}
	bool is_cut = strstr(fsl_error_root(own), "is cut") != NULL;
	input->file->n_dropped[is_cut ? FSL_DROP_CUT : FSL_DROP_MALFORMED]++;
	input->file->n_records++;
	return tell(input, FSL_FILE_PARTIAL,
		    fsl_arena_printf(&rank->arena,
				     "%s; what could be read is used, copy the file or parse the "
				     "capture again",
				     fsl_error_root(own)),
		    err);
}

enum fsl_status fsl_json_file_end(struct fsl_profile_rank *rank,
				  const struct fsl_profile_input *input, enum fsl_status status,
				  const struct fsl_error *own, const char *remedy,
				  struct fsl_error *err)
{
	struct fsl_file *file = input->file;
	if (status != FSL_OK) {
		bool is_empty = file->n_records == 0;
		status = fsl_json_file_fault(rank, input, status, own, err);
		file->state = is_empty ? FSL_FILE_UNUSABLE : file->state;
		return status;
	}
	bool is_told = file->n_records == 0 && input->n_steps == 0; /* others may be left out */
	return is_told ? tell(input, FSL_FILE_EMPTY, remedy, err) : FSL_OK;
}
