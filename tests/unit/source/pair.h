/* The same bytes as a plain file, which can be entered in the middle, and as a compressed one,
 * which is always read from the start. */
#ifndef FSL_TESTS_UNIT_INGEST_PAIR_H
#define FSL_TESTS_UNIT_INGEST_PAIR_H

#include <zlib.h>

#include "tree.h"

struct pair {
	const char *plain, *packed; /* names in the tree */
	unsigned long sum;          /* checksum of what was written last */
	size_t n_bytes;             /* likewise; 0: nothing yet */
};

/* Compressing takes longer than all else in these tests: files that hold the bytes already stay. */
static inline void pair_write(struct pair *pair, const struct tree *tree, const char *plain,
			      const char *packed, const void *bytes, size_t n_bytes)
{
	unsigned long sum = crc32(0, bytes, (unsigned)n_bytes);
	if (pair->n_bytes == n_bytes && pair->sum == sum && pair->plain == plain &&
	    pair->packed == packed) {
		return;
	}
	*pair = (struct pair){plain, packed, sum, n_bytes};
	char path[512];
	tree_write_bytes(tree, plain, bytes, n_bytes);
	tree_path(tree, packed, path, sizeof(path));
	gzFile file = gzopen(path, "wb1");
	assert_non_null(file);
	assert_int_equal(gzwrite(file, bytes, (unsigned)n_bytes), (int)n_bytes);
	assert_int_equal(gzclose(file), Z_OK);
}

#endif
