/*
 * Joins start and end rows of communication markers to operators, in one pass: with a hash of the
 * operators that still lack a row, without an allocation per record. Shared by the CSV and the JSON
 * form.
 */
#ifndef FSL_SOURCE_SYSTRACE_MARKER_PAIRS_H
#define FSL_SOURCE_SYSTRACE_MARKER_PAIRS_H

#include "source/ingest.h"

/* Columns of one marker record. */
struct fsl_marker {
	uint64_t id;
	int64_t time_ns;
	uint32_t flag;    /* 2, 16: start; 4, 32: end */
	bool is_device;   /* SourceKind 1 */
	const char *name; /* "comm:HcclAllGather!tp0!bfp16!4096"; need not end with NUL */
	size_t n_name;    /* 0 on all rows but the host start */
};

struct fsl_marker_pairs; /* opaque; pushes into a sink that it does not own */

struct fsl_marker_pairs *fsl_marker_pairs_create(struct fsl_sink *sink); /* NULL: out of memory */
void fsl_marker_pairs_destroy(struct fsl_marker_pairs *pairs);

/* Next record in order of the file. Operators are pushed as soon as they are complete. */
enum fsl_status fsl_marker_pairs_add(struct fsl_marker_pairs *pairs,
				     const struct fsl_marker *marker, struct fsl_error *err);
/* Tells that rows are left out from here on: operators that lack a row will not get it, and are not
 * taken for operators in which the rank waits. */
enum fsl_status fsl_marker_pairs_skip(struct fsl_marker_pairs *pairs, struct fsl_error *err);
/* Settles operators that have no row at or after @before_ns: they get no more rows. Running ones
 * stay if the pieces of the sink say so. */
enum fsl_status fsl_marker_pairs_settle(struct fsl_marker_pairs *pairs, int64_t before_ns,
					struct fsl_error *err);
/* Tells that operators that have not ended so far may have ended in rows that were left out: if
 * they never end, the rank does not wait in them. */
void fsl_marker_pairs_doubt(struct fsl_marker_pairs *pairs);
/* Call it at the end of the file: pushes usable operators that lack rows, notes the operator in
 * which the rank waits, counts the dropped operators. */
enum fsl_status fsl_marker_pairs_finish(struct fsl_marker_pairs *pairs, struct fsl_error *err);

/* Parts of a name; borrowed from it. */
struct fsl_marker_name {
	const char *op, *group, *dtype;
	size_t n_op, n_group, n_dtype;
	uint64_t n_elements;
};
/*
 * `[prefix:]OP!group!dtype!count` or the same with commas, split from both ends: the group may hold
 * the separator. False when the text is nothing of the kind.
 */
bool fsl_marker_name_parse(struct fsl_marker_name *out, const char *text, size_t length);

#endif
