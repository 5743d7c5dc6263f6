/* Unpacks a block of memory that zlib packed (RFC 1950) as a whole; gzip's form (RFC 1952), too. */
#ifndef FSL_CHROME_INFLATE_H
#define FSL_CHROME_INFLATE_H

#include <stddef.h>

#include <failslow/error.h>

/* The bytes; start as {0}. They are used again for the next block. */
struct fsl_inflated {
	char *data;
	size_t n_data, data_capacity;
};

/*
 * Unpacks @n_packed bytes; what the block had before is lost in any case. FSL_ERR_LIMIT: there are
 * more than @max bytes. FSL_ERR_FORMAT: the block is broken, is cut, or other bytes follow it.
 * FSL_ERR_MEMORY.
 */
enum fsl_status fsl_inflate(struct fsl_inflated *block, const char *packed, size_t n_packed,
			    size_t max, struct fsl_error *err);
void fsl_inflated_fini(struct fsl_inflated *block);

#endif
