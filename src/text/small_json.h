/* Small JSON documents of the profiler, read as a whole; numbers also as text. */
#ifndef FSL_TEXT_SMALL_JSON_H
#define FSL_TEXT_SMALL_JSON_H

#include <cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include <failslow/error.h>

enum {
	/* The list of groups of a rank takes some MB in a job of 65536 ranks. */
	FSL_SMALL_JSON_BYTES_MAX = 16 << 20,
	FSL_SMALL_JSON_FAULT_BYTES = 160,
};

/*
 * Reads the file's object to *root; the caller frees it with cJSON_Delete. *root is NULL if the
 * file cannot be used, and @fault (FSL_SMALL_JSON_FAULT_BYTES) says why. FSL_ERR_MEMORY is the only
 * error.
 */
enum fsl_status fsl_small_json_read(const char *path, cJSON **root, char *fault,
				    struct fsl_error *err);

/*
 * Reads one integer, the member @inner of the member @outer, with the same result as a look-up in
 * the document (*is_told: there is one), but without building the document. False if only the
 * document can tell, because the file is damaged or unusual.
 */
bool fsl_small_json_scan(const char *path, const char *outer, const char *inner, int64_t *out,
			 bool *is_told);

/* Reads an integer, or a text that is one, because writers differ. @item may be NULL. */
bool fsl_small_json_i64(const cJSON *item, int64_t *out);
/* Text of the member, "" if it is no text. Borrowed from @object, which may be NULL. */
const char *fsl_small_json_text(const cJSON *object, const char *key);

#endif
