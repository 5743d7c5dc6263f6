/* One row of a file of communication markers, whatever its form. */
#ifndef FSL_SOURCE_MARKER_H
#define FSL_SOURCE_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FSL_MARKER_OP_BYTES = 224
}; /* bytes of a file for one operator: four rows of about 56 bytes */

/* Columns of one marker record. */
struct fsl_marker {
	uint64_t id;
	int64_t time_ns;
	uint32_t flag;    /* 2, 16: start; 4, 32: end */
	bool is_device;   /* SourceKind 1 */
	const char *name; /* "comm:HcclAllGather!tp0!bfp16!4096"; need not end with NUL */
	size_t n_name;    /* 0 on all rows but the host start */
};

#endif
