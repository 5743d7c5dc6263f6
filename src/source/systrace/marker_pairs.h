/*
 * Start and end rows of communication markers to operators, in one pass: a hash of the operators
 * that still lack a row, no allocation per record. Shared by the CSV and the JSON form.
 */
#ifndef FSL_SOURCE_SYSTRACE_MARKER_PAIRS_H
#define FSL_SOURCE_SYSTRACE_MARKER_PAIRS_H

#include "source/ingest.h"
#include "source/marker.h"

struct fsl_marker_pairs; /* opaque; pushes into a sink that it does not own */

struct fsl_marker_pairs *fsl_marker_pairs_create(struct fsl_sink *sink); /* NULL: out of memory */
void fsl_marker_pairs_destroy(struct fsl_marker_pairs *pairs);

/* Next record in order of the file. Operators are pushed as soon as they are complete. */
enum fsl_status fsl_marker_pairs_add(struct fsl_marker_pairs *pairs,
				     const struct fsl_marker *marker, struct fsl_error *err);
/* Rows are left out from here on: operators that lack some get none, and wait in nothing. */
enum fsl_status fsl_marker_pairs_skip(struct fsl_marker_pairs *pairs, struct fsl_error *err);
/* Operators of which no row is as late as @before_ns get no more rows. */
enum fsl_status fsl_marker_pairs_settle(struct fsl_marker_pairs *pairs, int64_t before_ns,
					struct fsl_error *err);
/* Operators that began and did not end so far may have ended in rows that were left out: when they
 * never end, nobody waits in them. */
void fsl_marker_pairs_doubt(struct fsl_marker_pairs *pairs);
/* At the end of the file: pushes what is usable of the rest, notes the open operator, counts. */
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
