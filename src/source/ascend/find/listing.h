/* Names in a folder, and facts that a name tells. */
#ifndef FSL_SOURCE_ASCEND_FIND_LISTING_H
#define FSL_SOURCE_ASCEND_FIND_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

struct fsl_listing {
	const char *path; /* borrowed */
	char **names;     /* sorted by bytes; free with fsl_free */
	size_t n_names;
};

/* Lists a folder. FSL_ERR_IO if it cannot be listed. */
enum fsl_status fsl_listing_read(struct fsl_listing *listing, const char *path,
				 struct fsl_error *err);
/* Keeps one name only, if it is there; NULL: keeps all. */
void fsl_listing_keep(struct fsl_listing *listing, const char *name);
bool fsl_listing_has(const struct fsl_listing *listing, const char *name);
/* True also for a link to a folder. */
bool fsl_listing_has_folder(const struct fsl_listing *listing, const char *name);
/* Index of the first name that begins with @begin, else of the first name after it; further names
 * with that beginning follow. */
size_t fsl_listing_first(const struct fsl_listing *listing, const char *begin);
/* True if some name begins with @begin and ends with @end. */
bool fsl_listing_has_any(const struct fsl_listing *listing, const char *begin, const char *end);

bool fsl_text_begins(const char *text, const char *begin);
bool fsl_text_ends(const char *text, const char *end);
/* The number between @begin and @end, if all else is digits; INT64_MAX if it is too large. */
bool fsl_name_number(const char *name, const char *begin, const char *end, int64_t *out);
/* YYYYMMDDhhmmssmmm: the last run of exactly 17 digits in a name, or of 14 (older writers have no
 * milliseconds); 0 if there is none. */
int64_t fsl_name_stamp(const char *name);

#endif
