/* The small JSON documents of the profiler: read as a whole, numbers also as text. */
#ifndef FSL_TEXT_SMALL_JSON_H
#define FSL_TEXT_SMALL_JSON_H

#include <cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include <failslow/error.h>

enum {
	/* Groups of a rank in a job of 65536 take some MB. */
	FSL_SMALL_JSON_BYTES_MAX = 16 << 20,
	FSL_SMALL_JSON_FAULT_BYTES = 160,
};

/*
 * *root: the object in the file, cJSON_Delete it; NULL when the file cannot be used, @fault (of
 * FSL_SMALL_JSON_FAULT_BYTES) then says why. Fails only when memory is short.
 */
enum fsl_status fsl_small_json_read(const char *path, cJSON **root, char *fault,
				    struct fsl_error *err);

/*
 * For a file of which one integer is wanted, the member @inner of its member @outer: what looking
 * it up in the document would say (*is_told: there is one), without making the document. False
 * where only the document can tell: the file is damaged, or unusual.
 */
bool fsl_small_json_scan(const char *path, const char *outer, const char *inner, int64_t *out,
			 bool *is_told);

/* An integer, or a text that is one: writers differ. @item may be NULL. */
bool fsl_small_json_i64(const cJSON *item, int64_t *out);
/* The member's text, "" when it is none. Borrowed from @object, which may be NULL. */
const char *fsl_small_json_text(const cJSON *object, const char *key);

#endif
