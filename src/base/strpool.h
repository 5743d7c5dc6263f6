/* Interned names: equal text, equal id. Ids count from 0 in order of first use. */
#ifndef FSL_BASE_STRPOOL_H
#define FSL_BASE_STRPOOL_H

#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#define FSL_STR_NONE UINT32_MAX

struct fsl_strpool; /* opaque; not shared between threads while it grows */

struct fsl_strpool *fsl_strpool_create(void); /* NULL when out of memory */
void fsl_strpool_destroy(struct fsl_strpool *pool);

/* Id of the text, which is added if it is new. FSL_ERR_LIMIT beyond FSL_STRPOOL_MAX names, so that
 * hostile input does not use up memory; FSL_ERR_MEMORY. */
enum { FSL_STRPOOL_MAX = 4 * 1000 * 1000 };
enum fsl_status fsl_strpool_intern(struct fsl_strpool *pool, const char *text, size_t length,
				   uint32_t *id, struct fsl_error *err);
/* Id of the text, or FSL_STR_NONE. */
uint32_t fsl_strpool_find(const struct fsl_strpool *pool, const char *text, size_t length);
/* NUL-terminated text, borrowed until destroy; "" for FSL_STR_NONE. */
const char *fsl_strpool_text(const struct fsl_strpool *pool, uint32_t id);
size_t fsl_strpool_size(const struct fsl_strpool *pool);
/* Slots that are looked at for the name that is found last: a few dozen, whatever the names. */
size_t fsl_strpool_longest_search(const struct fsl_strpool *pool);

#endif
