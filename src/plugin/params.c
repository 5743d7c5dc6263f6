/* Reads the parameters of a detector from JSON and checks them against the detector's table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plugin/registry.h"

enum { KEY_LENGTH_MAX = 96, VALUE_TEXT_MAX = 80 };

static void describe_allowed(const struct fsl_param *param, char *text, size_t size)
{
	switch (param->type) {
	case FSL_PARAM_INT:
		(void)snprintf(text, size, "integer from %.15g to %.15g", param->min, param->max);
		return;
	case FSL_PARAM_REAL:
		(void)snprintf(text, size, "number from %g to %g%s", param->min, param->max,
			       param->nullable ? ", or null" : "");
		return;
	case FSL_PARAM_BOOL:
		(void)snprintf(text, size, "true or false");
		return;
	case FSL_PARAM_CHOICE:
		break;
	}
	size_t used = 0;
	for (int i = 0; param->choices[i] != NULL && used < size; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
					 param->choices[i]);
	}
}

static enum fsl_status reject(const struct fsl_param *param, const cJSON *value, const char *where,
			      struct fsl_error *err)
{
	char allowed[FSL_CAUSE_MESSAGE_MAX / 2];
	describe_allowed(param, allowed, sizeof(allowed));
	char *text = cJSON_PrintUnformatted(value);
	enum fsl_status status = FSL_FAIL(
		err, FSL_ERR_CONFIG,
		"value not allowed: where=\"%s\", key=\"%s\", value=%.*s, allowed=\"%s\"", where,
		param->key, (int)VALUE_TEXT_MAX, text != NULL ? text : "?", allowed);
	cJSON_free(text);
	return status;
}

/* Index of a choice's text, -1 if it is none of them. */
static int find_choice(const struct fsl_param *param, const cJSON *value)
{
	for (int i = 0; cJSON_IsString(value) && param->choices[i] != NULL; i++) {
		if (strcmp(param->choices[i], value->valuestring) == 0) {
			return i;
		}
	}
	return -1;
}

/* The value as a double (choices: their index); false if type or range is wrong. */
static bool read_value(const struct fsl_param *param, const cJSON *value, double *out)
{
	int choice = -1;
	switch (param->type) {
	case FSL_PARAM_REAL:
		if (param->nullable && cJSON_IsNull(value)) {
			*out = (double)NAN;
			return true;
		}
		break;
	case FSL_PARAM_INT:
		if (!cJSON_IsNumber(value) || floor(value->valuedouble) < value->valuedouble) {
			return false;
		}
		break;
	case FSL_PARAM_BOOL:
		*out = cJSON_IsTrue(value) ? 1.0 : 0.0;
		return cJSON_IsBool(value);
	case FSL_PARAM_CHOICE:
		choice = find_choice(param, value);
		*out = (double)choice;
		return choice >= 0;
	}
	*out = cJSON_IsNumber(value) ? value->valuedouble : (double)NAN;
	return *out >= param->min && *out <= param->max;
}

static void store_value(const struct fsl_param *param, double value, char *params)
{
	/*
	 * memcpy, because the table gives offsets in bytes and only the detector knows the struct.
	 */
	int64_t integer = 0;
	bool flag = false;
	int choice = 0;
	switch (param->type) {
	case FSL_PARAM_INT:
		integer = (int64_t)value;
		memcpy(params + param->offset, &integer, sizeof(integer));
		return;
	case FSL_PARAM_REAL:
		memcpy(params + param->offset, &value, sizeof(value));
		return;
	case FSL_PARAM_BOOL:
		flag = value > 0.0;
		memcpy(params + param->offset, &flag, sizeof(flag));
		return;
	case FSL_PARAM_CHOICE:
		choice = (int)value;
		memcpy(params + param->offset, &choice, sizeof(choice));
		return;
	}
}

/* Looks up a dotted key. *out is NULL if the value, or an object on the way to it, is absent. */
static enum fsl_status look_up(const cJSON *json, const struct fsl_param *param, const char *where,
			       const cJSON **out, struct fsl_error *err)
{
	const char *key = param->key;
	for (const char *dot = strchr(key, '.'); dot != NULL && json != NULL;
	     dot = strchr(key, '.')) {
		char name[KEY_LENGTH_MAX];
		(void)snprintf(name, sizeof(name), "%.*s", (int)(dot - key), key);
		json = cJSON_GetObjectItemCaseSensitive(json, name);
		if (json != NULL && !cJSON_IsObject(json)) {
			return FSL_FAIL(err, FSL_ERR_CONFIG,
					"value not allowed: where=\"%s\", key=\"%.*s\", "
					"allowed=\"object\"",
					where, (int)(dot - param->key), param->key);
		}
		key = dot + 1;
	}
	*out = json != NULL ? cJSON_GetObjectItemCaseSensitive(json, key) : NULL;
	return FSL_OK;
}

enum fsl_status fsl_registry_params(const struct fsl_detector *detector, const cJSON *json,
				    const char *where, struct fsl_arena *arena, const void **params,
				    struct fsl_error *err)
{
	if (json != NULL && !cJSON_IsObject(json)) {
		return FSL_FAIL(err, FSL_ERR_CONFIG,
				"parameters of a detector must be an object: where=\"%s\", "
				"detector=\"%s\"",
				where, detector->name);
	}
	char *made = fsl_arena_alloc(arena, detector->params_size > 0 ? detector->params_size : 1);
	if (made == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
	}
	for (const struct fsl_param *param = detector->params; param->key != NULL; param++) {
		const cJSON *value = NULL;
		double number = param->fallback;
		FSL_TRY(look_up(json, param, where, &value, err));
		if (value != NULL && !read_value(param, value, &number)) {
			return reject(param, value, where, err);
		}
		store_value(param, number, made);
	}
	*params = made;
	return FSL_OK;
}
