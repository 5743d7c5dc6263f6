/* Builds cJSON values with one failure flag, fixed rounding and clean UTF-8. */
#include "report/document.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"

/* Above this, cJSON would write integers with an exponent or lose digits. */
#define EXACT_MAX INT64_C(999999999999999)

/* Hands @item over to @parent; a failure frees it. */
static cJSON *attach(struct fsl_document *document, cJSON *parent, const char *key, cJSON *item)
{
	bool is_attached = false;
	if (item != NULL && parent != NULL) {
		is_attached = key != NULL ? cJSON_AddItemToObject(parent, key, item)
					  : cJSON_AddItemToArray(parent, item);
	}
	if (!is_attached) {
		document->has_failed = true;
		cJSON_Delete(item);
		return NULL;
	}
	return item;
}

static cJSON *attach_container(struct fsl_document *document, cJSON *parent, const char *key,
			       cJSON *item)
{
	if (parent != NULL || key != NULL || document->has_failed) {
		return attach(document, parent, key, item);
	}
	document->has_failed = item == NULL;
	return item;
}

cJSON *fsl_document_object(struct fsl_document *document, cJSON *parent, const char *key)
{
	return attach_container(document, parent, key, cJSON_CreateObject());
}

cJSON *fsl_document_array(struct fsl_document *document, cJSON *parent, const char *key)
{
	return attach_container(document, parent, key, cJSON_CreateArray());
}

/* Copy of @text in which each broken byte is U+FFFD; NULL when out of memory. */
static char *clean_copy(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *copy = fsl_calloc(strlen(text) + 1, sizeof(replacement) - 1);
	if (copy == NULL) {
		return NULL;
	}
	char *end = copy;
	while (*text != '\0') {
		size_t n_bytes = fsl_utf8_sequence(text);
		if (n_bytes == 0) {
			memcpy(end, replacement, sizeof(replacement) - 1);
			end += sizeof(replacement) - 1;
			text++;
		} else {
			memcpy(end, text, n_bytes);
			end += n_bytes;
			text += n_bytes;
		}
	}
	return copy;
}

void fsl_document_item(struct fsl_document *document, cJSON *parent, const char *key, cJSON *item)
{
	(void)attach(document, parent, key, item);
}

void fsl_document_text(struct fsl_document *document, cJSON *parent, const char *key,
		       const char *text)
{
	if (text == NULL) {
		text = "";
	}
	if (fsl_utf8_is_valid(text)) {
		(void)attach(document, parent, key, cJSON_CreateString(text));
		return;
	}
	char *clean = clean_copy(text);
	cJSON *item = clean != NULL ? cJSON_CreateString(clean) : NULL;
	(void)attach(document, parent, key, item);
	fsl_free(clean);
}

void fsl_document_told(struct fsl_document *document, cJSON *parent, const char *key,
		       const char *text)
{
	if (text == NULL || *text == '\0') {
		fsl_document_null(document, parent, key);
	} else {
		fsl_document_text(document, parent, key, text);
	}
}

void fsl_document_bool(struct fsl_document *document, cJSON *parent, const char *key, bool value)
{
	(void)attach(document, parent, key, cJSON_CreateBool(value));
}

void fsl_document_null(struct fsl_document *document, cJSON *parent, const char *key)
{
	(void)attach(document, parent, key, cJSON_CreateNull());
}

void fsl_document_integer(struct fsl_document *document, cJSON *parent, const char *key,
			  int64_t value)
{
	if (value >= -EXACT_MAX && value <= EXACT_MAX) {
		(void)attach(document, parent, key, cJSON_CreateNumber((double)value));
		return;
	}
	char text[32];
	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	(void)attach(document, parent, key, cJSON_CreateRaw(text));
}

void fsl_document_index(struct fsl_document *document, cJSON *parent, const char *key,
			int64_t value)
{
	if (value < 0) {
		fsl_document_null(document, parent, key);
	} else {
		fsl_document_integer(document, parent, key, value);
	}
}

void fsl_document_count(struct fsl_document *document, cJSON *parent, const char *key,
			uint64_t value)
{
	fsl_document_integer(document, parent, key,
			     value <= INT64_MAX ? (int64_t)value : INT64_MAX);
}

/* Value of @text as a double. Rounding through text is exact, as round() of Python does it. */
static double reread(const char *text)
{
	double value = strtod(text, NULL);
	return value == 0.0 ? 0.0 : value; /* no -0 */
}

static void put_finite(struct fsl_document *document, cJSON *parent, const char *key,
		       const char *text)
{
	(void)attach(document, parent, key, cJSON_CreateNumber(reread(text)));
}

/*
 * Rounds @value as reread() does, but without text. False for large values, and for the rare values
 * near the middle between two decimal numbers, where the rounding of the product could decide. The
 * quotient of two whole numbers is the double next to the decimal number, as strtod() finds it.
 */
static bool round_quickly(double value, int decimals, double *rounded)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
	const double most = 1e9, nearly_half = 0.499;
	if (decimals < 0 || (size_t)decimals >= sizeof(powers) / sizeof(powers[0])) {
		return false;
	}
	double scaled = value * powers[decimals];
	double whole = nearbyint(scaled);
	*rounded = whole == 0.0 ? 0.0 : whole / powers[decimals]; /* no -0 */
	return fabs(scaled) < most && fabs(scaled - whole) < nearly_half;
}

void fsl_document_number(struct fsl_document *document, cJSON *parent, const char *key,
			 double value, int decimals)
{
	double rounded = 0.0;
	if (!isfinite(value)) {
		fsl_document_null(document, parent, key);
		return;
	}
	if (round_quickly(value, decimals, &rounded)) {
		(void)attach(document, parent, key, cJSON_CreateNumber(rounded));
		return;
	}
	char text[400]; /* the largest double has 309 digits */
	(void)snprintf(text, sizeof(text), "%.*f", decimals, value);
	put_finite(document, parent, key, text);
}

void fsl_document_significant(struct fsl_document *document, cJSON *parent, const char *key,
			      double value, int digits)
{
	if (!isfinite(value)) {
		fsl_document_null(document, parent, key);
		return;
	}
	char text[40];
	(void)snprintf(text, sizeof(text), "%.*g", digits, value);
	put_finite(document, parent, key, text);
}

void fsl_document_time(struct fsl_document *document, cJSON *parent, const char *key,
		       int64_t time_ns)
{
	if (time_ns == FSL_NS_ABSENT) {
		fsl_document_null(document, parent, key);
	} else {
		char text[40];
		fsl_document_text(document, parent, key,
				  fsl_format_utc(time_ns, text, sizeof(text)));
	}
}

void fsl_document_ranks(struct fsl_document *document, cJSON *parent, const char *key,
			const int32_t *ranks, size_t n_ranks)
{
	cJSON *list = fsl_document_array(document, parent, key);
	for (size_t i = 0; i < n_ranks && !document->has_failed; i++) {
		fsl_document_integer(document, list, NULL, ranks[i]);
	}
}

cJSON *fsl_document_finish(struct fsl_document *document, cJSON *root)
{
	if (document->has_failed) {
		cJSON_Delete(root);
		return NULL;
	}
	return root;
}
