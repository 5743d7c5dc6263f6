/* One value at a time: checks it against its row, writes it into the configuration, records it. */
#include "config/config_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/try.h"

enum {
	SHOWN_LENGTH = 60, /* bytes of a wrong value that a message shows */
	ALLOWED_BYTES = 256,
	NESTED_MAX = 8,   /* names joined by dots; no key has more */
	NAMES_SHOWN = 32, /* names that one message lists */
};
/* The greatest whole number up to which a double holds all exactly. */
#define EXACT_INTEGER_MAX 9007199254740992.0

/* Choices are written through an unsigned. */
_Static_assert(sizeof(enum fsl_algorithm) == sizeof(unsigned), "size of an enum");
_Static_assert(sizeof(enum fsl_schema) == sizeof(unsigned), "size of an enum");

enum fsl_status fsl_config_no_memory(struct fsl_config_loader *loader)
{
	return FSL_FAIL(loader->err, FSL_ERR_MEMORY, "out of memory for the configuration");
}

const char *fsl_config_path(struct fsl_config_loader *loader, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *path = fsl_arena_vprintf(&loader->config->arena, format, args);
	va_end(args);
	loader->is_short = loader->is_short || path == NULL;
	return path != NULL ? path : "";
}

enum fsl_status fsl_config_problem(struct fsl_config_loader *loader, enum fsl_log_level level,
				   const char *format, ...)
{
	char buffer[FSL_CAUSE_MESSAGE_MAX];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(buffer, sizeof(buffer), format, args);
	va_end(args);
	if (level == FSL_LOG_ERROR && loader->n_errors++ == 0) {
		loader->first_error = fsl_arena_strdup(&loader->config->arena, buffer);
		if (loader->first_error == NULL) {
			return fsl_config_no_memory(loader);
		}
	}
	if (loader->reporter != NULL) {
		loader->reporter->report(loader->reporter->context, level, buffer);
	} else if (level != FSL_LOG_ERROR) {
		fsl_log(level, "config", "%s", buffer);
	}
	return FSL_OK;
}

enum fsl_status fsl_config_wrong(struct fsl_config_loader *loader, const char *key,
				 const cJSON *value, const char *allowed)
{
	char *text = cJSON_PrintUnformatted(value);
	if (text == NULL) {
		return fsl_config_no_memory(loader);
	}
	const char *more = strlen(text) > SHOWN_LENGTH ? "..." : "";
	enum fsl_status status =
		fsl_config_problem(loader, FSL_LOG_ERROR,
				   "wrong value: file=\"%s\", key=\"%s\", value=%.*s%s, allowed=%s",
				   loader->file, key, SHOWN_LENGTH, text, more, allowed);
	cJSON_free(text);
	return status;
}

/* True if @name equals one of the names, or is an object that holds one. */
static bool begins_name(const char *name, size_t length, const char *const *known, size_t n_known)
{
	for (size_t i = 0; i < n_known; i++) {
		if (strncmp(known[i], name, length) == 0 &&
		    (known[i][length] == '\0' || known[i][length] == '.')) {
			return true;
		}
	}
	return false;
}

/*
 * The key that was meant by a name with dots; NULL: @name has no dots, or no key is near. Messages
 * and the manual write keys of inner objects with dots. Users copy that form into files, where
 * "replay.steps_max" is an ordinary unknown name.
 */
static const char *meant_with_dots(const char *name, const char *nearest, const char *const *known,
				   size_t n_known)
{
	size_t n_parts = 1;
	for (const char *c = name; *c != '\0'; c++) {
		n_parts += *c == '.';
	}
	if (n_parts == 1 || n_parts > NESTED_MAX) {
		return NULL;
	}
	if (begins_name(name, strcspn(name, "."), known, n_known)) {
		return name;
	}
	return nearest != NULL && strchr(nearest, '.') != NULL ? nearest : NULL;
}

/* {"replay": {"steps_max": ...}} */
static const char *nested_text(struct fsl_config_loader *loader, const char *path)
{
	const char *text = "...";
	size_t end = strlen(path);
	for (;;) {
		size_t begin = end;
		while (begin > 0 && path[begin - 1] != '.') {
			begin--;
		}
		text = fsl_config_path(loader, "{\"%.*s\": %s}", (int)(end - begin), path + begin,
				       text);
		if (begin == 0) {
			return text;
		}
		end = begin - 1;
	}
}

enum fsl_status fsl_config_unknown(struct fsl_config_loader *loader, const char *prefix,
				   const char *name, const char *const *known, size_t n_known)
{
	const char *nearest = fsl_nearest_name(name, strlen(name), known, n_known);
	const char *meant = meant_with_dots(name, nearest, known, n_known);
	if (meant != NULL) {
		return fsl_config_problem(
			loader, FSL_LOG_WARNING,
			"unknown key, write it nested: file=\"%s\", key=\"%s%s\", did_you_mean=%s",
			loader->file, prefix, name, nested_text(loader, meant));
	}
	if (nearest == NULL) {
		return fsl_config_problem(loader, FSL_LOG_WARNING,
					  "unknown key, `failslow config keys` shows all: "
					  "file=\"%s\", key=\"%s%s\"",
					  loader->file, prefix, name);
	}
	return fsl_config_problem(loader, FSL_LOG_WARNING,
				  "unknown key: file=\"%s\", key=\"%s%s\", did_you_mean=\"%s%s\"",
				  loader->file, prefix, name, prefix, nearest);
}

/* True if the list "a, b" has @name. */
static bool has_name(const char *list, const char *name)
{
	size_t length = strlen(name);
	while (list != NULL) {
		if (strncmp(list, name, length) == 0 &&
		    (list[length] == ',' || list[length] == '\0')) {
			return true;
		}
		list = strstr(list, ", ");
		list = list != NULL ? list + strlen(", ") : NULL;
	}
	return false;
}

void fsl_config_name(struct fsl_config_loader *loader, struct fsl_config_names *names,
		     const char *name)
{
	if (names->n_names == NAMES_SHOWN || has_name(names->text, name)) {
		return;
	}
	names->text = names->text == NULL ? fsl_config_path(loader, "%s", name)
					  : fsl_config_path(loader, "%s, %s", names->text, name);
	names->n_names++;
}

enum fsl_status fsl_config_tell_names(struct fsl_config_loader *loader)
{
	const struct fsl_config_names idle = loader->idle, missing = loader->missing;
	loader->idle = loader->missing = (struct fsl_config_names){0};
	if (missing.n_names > 0) {
		FSL_TRY(fsl_config_problem(
			loader, FSL_LOG_WARNING,
			"detectors of sysTrace that failslow does not have, choose another type "
			"(`failslow list detectors`) or null: file=\"%s\", keys=\"%s\"",
			loader->file, missing.text));
	}
	if (idle.n_names > 0) {
		return fsl_config_problem(
			loader, FSL_LOG_INFO,
			"keys without effect, they may be removed: file=\"%s\", keys=\"%s\"",
			loader->file, idle.text);
	}
	return FSL_OK;
}

enum fsl_status fsl_config_record(struct fsl_config_loader *loader, const char *key,
				  const char *value, bool is_default)
{
	struct fsl_config *config = loader->config;
	FSL_TRY(FSL_GROW(config->values, config->values_capacity, config->n_values + 1,
			 loader->err));
	struct fsl_config_value *row = &config->values[config->n_values];
	row->key = fsl_arena_strdup(&config->arena, key);
	row->value = fsl_arena_strdup(&config->arena, value);
	row->file = is_default ? "" : fsl_arena_strdup(&config->arena, loader->file);
	if (row->key == NULL || row->value == NULL || row->file == NULL) {
		return fsl_config_no_memory(loader);
	}
	config->n_values++;
	return FSL_OK;
}

enum fsl_status fsl_config_record_json(struct fsl_config_loader *loader, const char *key,
				       const cJSON *value, bool is_default)
{
	char *text = cJSON_PrintUnformatted(value);
	if (text == NULL) {
		return fsl_config_no_memory(loader);
	}
	enum fsl_status status = fsl_config_record(loader, key, text, is_default);
	cJSON_free(text);
	return status;
}

enum fsl_status fsl_config_amend(struct fsl_config_loader *loader, const char *key,
				 const char *path)
{
	struct fsl_config *config = loader->config;
	cJSON *shown = path != NULL ? cJSON_CreateString(path) : cJSON_CreateNull();
	char *text = shown != NULL ? cJSON_PrintUnformatted(shown) : NULL;
	const char *copy = text != NULL ? fsl_arena_strdup(&config->arena, text) : NULL;
	for (size_t i = 0; copy != NULL && i < config->n_values; i++) {
		if (strcmp(config->values[i].key, key) == 0) {
			config->values[i].value = copy;
		}
	}
	cJSON_free(text);
	cJSON_Delete(shown);
	return copy != NULL ? FSL_OK : fsl_config_no_memory(loader);
}

const char *fsl_config_resolve(struct fsl_config_loader *loader, const char *path)
{
	const char *plain = strncmp(path, "./", 2) == 0 && path[2] != '\0' ? path + 2 : path;
	if (strcmp(loader->directory, ".") == 0) {
		return fsl_arena_strdup(&loader->config->arena, plain);
	}
	char *joined = fsl_path_join(loader->directory, plain);
	const char *resolved =
		joined != NULL ? fsl_arena_strdup(&loader->config->arena, joined) : NULL;
	fsl_free(joined);
	return resolved;
}

const char *fsl_config_number_text(double value, char *buffer, size_t size)
{
	enum {
		DIGITS_MIN = 15,
		DIGITS_MAX = 17
	}; /* digits: a double keeps the first number,
	      needs the second */
	if (!isfinite(value)) {
		(void)snprintf(buffer, size, "null");
		return buffer;
	}
	for (int digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++) {
		(void)snprintf(buffer, size, "%.*g", digits, value);
		if (strtod(buffer, NULL) == value) {
			break;
		}
	}
	return buffer;
}

bool fsl_config_is_integer(const cJSON *item, double min, double max)
{
	return cJSON_IsNumber(item) && item->valuedouble == floor(item->valuedouble) &&
	       fabs(item->valuedouble) <= EXACT_INTEGER_MAX && item->valuedouble >= min &&
	       item->valuedouble <= max;
}

/* "number from 0 to 10", "true or false", "one of compute, network, storage". */
static const char *allowed_text(const struct fsl_config_key *row, char *buffer, size_t size)
{
	char min[32], max[32];
	size_t length = 0;
	switch (row->kind) {
	case FSL_KIND_BOOL:
		return "true or false";
	case FSL_KIND_INT:
	case FSL_KIND_REAL:
		(void)snprintf(buffer, size, "%s from %s to %s",
			       row->kind == FSL_KIND_INT ? "whole number" : "number",
			       fsl_config_number_text(row->min, min, sizeof(min)),
			       fsl_config_number_text(row->max, max, sizeof(max)));
		return buffer;
	case FSL_KIND_TEXT:
		return "text that is not empty";
	case FSL_KIND_PATH:
		return "path";
	case FSL_KIND_PATH_NULL:
		return "path or null";
	case FSL_KIND_CHOICE:
	case FSL_KIND_SWITCH:
	case FSL_KIND_WORD:
		for (size_t i = 0; row->choices[i] != NULL && length < size; i++) {
			int n = snprintf(buffer + length, size - length, "%s\"%s\"",
					 i == 0 ? "" : " or ", row->choices[i]);
			length += n > 0 ? (size_t)n : 0;
		}
		return buffer;
	case FSL_KIND_OTHER:
	case FSL_KIND_UNUSED:
		break;
	}
	return row->type;
}

/* Index of the text among the choices, SIZE_MAX if it is none of them. */
static size_t choice_idx(const struct fsl_config_key *row, const cJSON *item)
{
	if (row->choices == NULL || !cJSON_IsString(item)) {
		return SIZE_MAX;
	}
	for (size_t i = 0; row->choices[i] != NULL; i++) {
		if (strcmp(row->choices[i], item->valuestring) == 0) {
			return i;
		}
	}
	return SIZE_MAX;
}

static bool is_allowed(const struct fsl_config_key *row, const cJSON *item)
{
	bool has_text = cJSON_IsString(item) && item->valuestring[0] != '\0';
	switch (row->kind) {
	case FSL_KIND_BOOL:
		return cJSON_IsBool(item);
	case FSL_KIND_INT:
		return fsl_config_is_integer(item, row->min, row->max);
	case FSL_KIND_REAL:
		return cJSON_IsNumber(item) && item->valuedouble >= row->min &&
		       item->valuedouble <= row->max;
	case FSL_KIND_TEXT:
	case FSL_KIND_PATH:
		return has_text || (cJSON_IsNull(item) && strcmp(row->fallback, "null") == 0);
	case FSL_KIND_PATH_NULL:
		return cJSON_IsString(item) || cJSON_IsNull(item);
	case FSL_KIND_CHOICE:
	case FSL_KIND_SWITCH:
	case FSL_KIND_WORD:
		return choice_idx(row, item) != SIZE_MAX;
	case FSL_KIND_OTHER:
	case FSL_KIND_UNUSED:
		break;
	}
	return true;
}

/* Stores a text or a path in the arena; *out is NULL for null and "". */
static enum fsl_status store_text(struct fsl_config_loader *loader,
				  const struct fsl_config_key *row, const cJSON *item,
				  const char **out)
{
	*out = NULL;
	if (!cJSON_IsString(item) || item->valuestring[0] == '\0') {
		return FSL_OK;
	}
	*out = row->kind == FSL_KIND_TEXT
		       ? fsl_arena_strdup(&loader->config->arena, item->valuestring)
		       : fsl_config_resolve(loader, item->valuestring);
	return *out != NULL ? FSL_OK : fsl_config_no_memory(loader);
}

static enum fsl_status store_checked(struct fsl_config_loader *loader,
				     const struct fsl_config_key *row, const cJSON *item,
				     void *field)
{
	unsigned choice = (unsigned)choice_idx(row, item);
	switch (row->kind) {
	case FSL_KIND_BOOL:
		*(bool *)field = cJSON_IsTrue(item);
		break;
	case FSL_KIND_INT:
		*(int64_t *)field = (int64_t)item->valuedouble;
		break;
	case FSL_KIND_REAL:
		*(double *)field = item->valuedouble;
		break;
	case FSL_KIND_TEXT:
	case FSL_KIND_PATH:
	case FSL_KIND_PATH_NULL:
		return store_text(loader, row, item, field);
	case FSL_KIND_CHOICE:
		memcpy(field, &choice, sizeof(choice));
		break;
	case FSL_KIND_SWITCH:
		*(bool *)field = choice == 1;
		break;
	case FSL_KIND_WORD:
		*(const char **)field = row->choices[choice];
		break;
	case FSL_KIND_OTHER:
	case FSL_KIND_UNUSED:
		fsl_assert_failed(row->key, __FILE__, __LINE__); /* this kind has no field */
	}
	return FSL_OK;
}

/* Value for `failslow config explain`: paths as they are used, all other values as written. */
static enum fsl_status record_stored(struct fsl_config_loader *loader,
				     const struct fsl_config_key *row, const cJSON *item,
				     const char *key, const void *field, bool is_default)
{
	if (row->kind != FSL_KIND_PATH && row->kind != FSL_KIND_PATH_NULL) {
		return fsl_config_record_json(loader, key, item, is_default);
	}
	const char *path = *(const char *const *)field;
	cJSON *shown = path != NULL ? cJSON_CreateString(path) : cJSON_CreateNull();
	if (shown == NULL) {
		return fsl_config_no_memory(loader);
	}
	enum fsl_status status = fsl_config_record_json(loader, key, shown, is_default);
	cJSON_Delete(shown);
	return status;
}

enum fsl_status fsl_config_store(struct fsl_config_loader *loader, const struct fsl_config_key *row,
				 const cJSON *item, const char *key, void *base)
{
	char allowed[ALLOWED_BYTES];
	void *field = (char *)base + row->offset;
	enum fsl_status status = FSL_OK;
	if (item != NULL && !is_allowed(row, item)) {
		status = fsl_config_wrong(loader, key, item,
					  allowed_text(row, allowed, sizeof(allowed)));
		item = NULL;
	}
	cJSON *fallback = item == NULL ? cJSON_Parse(row->fallback) : NULL;
	const cJSON *value = item != NULL ? item : fallback;
	if (value == NULL) {
		return fsl_config_no_memory(loader);
	}
	FSL_THEN(status, store_checked(loader, row, value, field));
	FSL_THEN(status, record_stored(loader, row, value, key, field, item == NULL));
	cJSON_Delete(fallback);
	return status;
}

const struct fsl_config_key *fsl_config_row(const char *key)
{
	size_t n_keys = 0;
	const struct fsl_config_key *rows = fsl_config_keys(&n_keys);
	for (size_t i = 0; i < n_keys; i++) {
		if (strcmp(rows[i].key, key) == 0) {
			return &rows[i];
		}
	}
	fsl_assert_failed(key, __FILE__, __LINE__); /* the loader misspells a key */
}
