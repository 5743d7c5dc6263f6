/* Small JSON documents. */
#include "text/small_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "text/json_tree.h"
#include "text/json_walk.h"

static const int64_t EXACT_MAX = INT64_C(1) << 53; /* a double holds integers up to this exactly */

static bool is_too_large(const char *path)
{
	struct stat facts;
	return stat(path, &facts) == 0 && facts.st_size > FSL_SMALL_JSON_BYTES_MAX;
}

enum fsl_status fsl_small_json_read(const char *path, cJSON **root, char *fault,
				    struct fsl_error *err)
{
	char *text = NULL;
	size_t length = 0;
	struct fsl_error own = {0};
	*root = NULL;
	if (is_too_large(path)) {
		(void)snprintf(fault, FSL_SMALL_JSON_FAULT_BYTES, "larger than %d bytes",
			       FSL_SMALL_JSON_BYTES_MAX);
		return FSL_OK;
	}
	enum fsl_status status = fsl_file_read_text(path, &text, &length, &own);
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, status, "out of memory: path=\"%s\"", path);
	}
	if (status != FSL_OK) {
		/* The reason is the end of the message, and the caller knows the path. */
		const char *reason = strstr(fsl_error_root(&own), "reason=");
		(void)snprintf(fault, FSL_SMALL_JSON_FAULT_BYTES, "cannot be read: %.100s",
			       reason != NULL ? reason : fsl_status_text(status));
		return FSL_OK;
	}
	bool is_short = false;
	cJSON *parsed = fsl_json_tree(text, length, NULL, &is_short);
	fsl_free(text);
	if (is_short) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	if (parsed == NULL || !cJSON_IsObject(parsed)) {
		(void)snprintf(fault, FSL_SMALL_JSON_FAULT_BYTES, "%s",
			       parsed == NULL ? "no JSON document, or cut short"
					      : "a JSON document, but no object");
		cJSON_Delete(parsed);
		return FSL_OK;
	}
	*root = parsed;
	return FSL_OK;
}

/* Walks the members of the object that the last token began, to the first that is called @key
 * (*is_found; its value comes next) or to the end. @key NULL: to the end. False: a fault. */
static bool find_member(struct fsl_json *json, const char *key, bool *is_found)
{
	struct fsl_json_value value;
	while (fsl_json_next(json, &value, NULL) == FSL_OK) {
		*is_found = key != NULL && value.token == FSL_JSON_KEY && fsl_json_is(&value, key);
		if (*is_found || value.token == FSL_JSON_OBJECT_END) {
			return true;
		}
		if (fsl_json_skip(json, NULL) != FSL_OK) {
			return false;
		}
	}
	return false;
}

/* Skips the rest of the object, which must be sound. */
static bool skip_members(struct fsl_json *json)
{
	bool is_found = false;
	return find_member(json, NULL, &is_found);
}

/* Enters the object that comes next and goes to the value of @key, as above. */
static bool enter_member(struct fsl_json *json, const char *key, bool *is_found)
{
	struct fsl_json_value value;
	return fsl_json_next(json, &value, NULL) == FSL_OK &&
	       value.token == FSL_JSON_OBJECT_BEGIN && find_member(json, key, is_found);
}

static bool read_i64(struct fsl_json *json, int64_t *out)
{
	struct fsl_json_value value;
	return fsl_json_next(json, &value, NULL) == FSL_OK && value.token == FSL_JSON_NUMBER &&
	       fsl_parse_i64(value.text, value.length, out) && *out >= -EXACT_MAX &&
	       *out <= EXACT_MAX;
}

/* Scans the whole object that comes next. */
static bool scan_object(struct fsl_json *json, const char *key, int64_t *out, bool *is_told)
{
	return enter_member(json, key, is_told) &&
	       (!*is_told || (read_i64(json, out) && skip_members(json)));
}

static bool scan(struct fsl_json *json, const char *outer, const char *inner, int64_t *out,
		 bool *is_told)
{
	struct fsl_json_value value;
	bool is_found = false;
	if (!enter_member(json, outer, &is_found) ||
	    (is_found && (!scan_object(json, inner, out, is_told) || !skip_members(json)))) {
		return false;
	}
	return fsl_json_next(json, &value, NULL) == FSL_OK && value.token == FSL_JSON_END;
}

bool fsl_small_json_scan(const char *path, const char *outer, const char *inner, int64_t *out,
			 bool *is_told)
{
	struct fsl_reader *reader = NULL;
	struct fsl_json *json = NULL;
	bool is_sound = false;
	*is_told = false;
	if (!is_too_large(path) && fsl_reader_open(&reader, path, NULL) == FSL_OK) {
		json = fsl_json_create(reader);
		is_sound = json != NULL && scan(json, outer, inner, out, is_told);
	}
	fsl_json_destroy(json);
	fsl_reader_close(reader);
	return is_sound;
}

bool fsl_small_json_i64(const cJSON *item, int64_t *out)
{
	if (cJSON_IsString(item)) {
		return fsl_parse_i64(item->valuestring, strlen(item->valuestring), out);
	}
	if (!cJSON_IsNumber(item) || item->valuedouble != floor(item->valuedouble) ||
	    fabs(item->valuedouble) > (double)EXACT_MAX) {
		return false;
	}
	*out = (int64_t)item->valuedouble;
	return true;
}

const char *fsl_small_json_text(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsString(item) ? item->valuestring : "";
}
