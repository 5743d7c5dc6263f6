/* Small JSON documents. */
#include "profile/small_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"

enum fsl_status fsl_small_json_read(const char *path, cJSON **root, char *fault,
				    struct fsl_error *err)
{
	char *text = NULL;
	size_t length = 0;
	struct stat facts;
	struct fsl_error own = {0};
	*root = NULL;
	if (stat(path, &facts) == 0 && facts.st_size > FSL_SMALL_JSON_BYTES_MAX) {
		(void)snprintf(fault, FSL_SMALL_JSON_FAULT_BYTES, "larger than %d bytes",
			       FSL_SMALL_JSON_BYTES_MAX);
		return FSL_OK;
	}
	enum fsl_status status = fsl_file_read_text(path, &text, &length, &own);
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, status, "out of memory: path=\"%s\"", path);
	}
	if (status != FSL_OK) {
		/* The reason stands last, and the path is known to whoever asks. */
		const char *reason = strstr(fsl_error_root(&own), "reason=");
		(void)snprintf(fault, FSL_SMALL_JSON_FAULT_BYTES, "cannot be read: %.100s",
			       reason != NULL ? reason : fsl_status_text(status));
		return FSL_OK;
	}
	cJSON *parsed = cJSON_ParseWithLength(text, length);
	fsl_free(text);
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

bool fsl_small_json_i64(const cJSON *item, int64_t *out)
{
	if (cJSON_IsString(item)) {
		return fsl_parse_i64(item->valuestring, strlen(item->valuestring), out);
	}
	/* Doubles hold integers up to 2^53. */
	if (!cJSON_IsNumber(item) || item->valuedouble != floor(item->valuedouble) ||
	    fabs(item->valuedouble) > 9007199254740992.0) {
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
