/*
 * Runner of golden tests: every case of one file, from the reference folder (FSL_GOLDEN_DIR, else
 * FSL_GOLDEN_DIR_DEFAULT) or, with --own, from tests/golden/own. A test defines GOLDEN_FILE and
 * check_case(), and calls golden_main().
 */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { GOLDEN_SKIP = 77, GOLDEN_BYTES_MAX = 64 * 1024 * 1024 };

/* Relative agreement that is asked of every number. */
#define GOLDEN_TOLERANCE 1e-9

/* True when the case agrees; says on stdout what differs otherwise. */
typedef bool golden_check(const cJSON *golden);

static inline bool golden_close(double expected, double actual)
{
	if (isnan(expected) || isnan(actual)) {
		return isnan(expected) && isnan(actual);
	}
	double size = fabs(expected) > fabs(actual) ? fabs(expected) : fabs(actual);
	return fabs(expected - actual) <= GOLDEN_TOLERANCE * size;
}

/* null reads as NaN. */
static inline double golden_real(const cJSON *item)
{
	return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static inline const cJSON *golden_item(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	if (item == NULL) {
		printf("golden has no \"%s\"\n", key);
		exit(1);
	}
	return item;
}

static inline double golden_number(const cJSON *object, const char *key)
{
	return golden_real(golden_item(object, key));
}

static inline int64_t golden_integer(const cJSON *object, const char *key)
{
	return (int64_t)golden_number(object, key);
}

/* Array of numbers; free() it. */
static inline double *golden_reals(const cJSON *array, size_t *n)
{
	*n = (size_t)cJSON_GetArraySize(array);
	double *values = calloc(*n + 1, sizeof(*values));
	size_t i = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, array)
	{
		values[i++] = golden_real(item);
	}
	return values;
}

/* Compares labels with an array of numbers; prints the first difference. */
static inline bool golden_same_labels(const char *what, const cJSON *expected,
				      const uint8_t *labels, size_t n)
{
	size_t i = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, expected)
	{
		if (i >= n || item->valueint != (int)labels[i]) {
			printf("%s[%zu]: expected %d, got %d\n", what, i, item->valueint,
			       i < n ? (int)labels[i] : -1);
			return false;
		}
		i++;
	}
	return i == n;
}

static inline bool golden_same_reals(const char *what, const cJSON *expected, const double *values,
				     size_t n)
{
	size_t i = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, expected)
	{
		if (i >= n || !golden_close(golden_real(item), values[i])) {
			printf("%s[%zu]: expected %.17g, got %.17g\n", what, i, golden_real(item),
			       i < n ? values[i] : (double)NAN);
			return false;
		}
		i++;
	}
	return i == n;
}

static inline bool golden_same_real(const char *what, double expected, double actual)
{
	if (!golden_close(expected, actual)) {
		printf("%s: expected %.17g, got %.17g\n", what, expected, actual);
		return false;
	}
	return true;
}

/* Parsed file, NULL when it cannot be opened. */
static inline cJSON *golden_read(const char *directory, const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *stream = fopen(path, "rb");
	if (stream == NULL) {
		printf("no such file: path=\"%s\"\n", path);
		return NULL;
	}
	char *text = calloc(GOLDEN_BYTES_MAX, 1);
	size_t n_bytes = fread(text, 1, GOLDEN_BYTES_MAX - 1, stream);
	fclose(stream);
	cJSON *document = cJSON_ParseWithLength(text, n_bytes);
	free(text);
	if (document == NULL) {
		printf("no JSON: path=\"%s\"\n", path);
		exit(1);
	}
	return document;
}

static inline int golden_main(const char *name, golden_check *check, int argc, char **argv)
{
	bool is_own = argc > 1 && strcmp(argv[1], "--own") == 0;
	const char *asked = getenv("FSL_GOLDEN_DIR");
	const char *directory = asked != NULL ? asked : FSL_GOLDEN_DIR_DEFAULT;
	cJSON *document =
		golden_read(is_own ? FSL_SOURCE_DIR "/tests/golden/own" : directory, name);
	if (document == NULL) {
		return is_own ? 1 : GOLDEN_SKIP;
	}
	const cJSON *cases = golden_item(document, "cases");
	int n_cases = 0;
	int n_failed = 0;
	const cJSON *golden = NULL;
	cJSON_ArrayForEach(golden, cases)
	{
		if (!check(golden)) {
			printf("%s: case %d differs\n", name, n_cases);
			n_failed++;
		}
		n_cases++;
	}
	cJSON_Delete(document);
	printf("%s: cases=%d, failed=%d\n", name, n_cases, n_failed);
	return n_cases > 0 && n_failed == 0 ? 0 : 1;
}

#endif
