/* When a rank was held by communication; private to src/match. */
#ifndef FSL_MATCH_OWN_SPANS_H
#define FSL_MATCH_OWN_SPANS_H

#include "match/cut.h"
#include "match/launched.h"
#include "match/limits.h"
#include "model/run.h"

/* One half-open stretch of time in which an operator held its rank. */
struct fsl_op_span {
	int64_t begin_ns, end_ns;
	uint32_t op_idx;
	bool is_beside; /* runs beside others: held its rank at most from the last of their ends */
	bool is_free;   /* never held its rank: begin_ns == end_ns */
};

/*
 * Spans of a rank's operators, sorted by begin; @spans has room for rank->n_ops. An operator
 * usually holds its rank from begin to end. An asynchronous one does not: its uses regularly
 * contain the begin of another operator, or it is one of @launched, and the rank goes on working
 * beneath it. The next begin tells whether the rank waited for its end: the time from that end to
 * the next begin is then the same in every step. If instead the time from the last end inside the
 * operator to the next begin is the steadier one, the rank was working all along and the operator
 * held nobody; else it held the rank from that last end on. Judged for the n-th use of an operator
 * in a step over all steps of the rank. Uses in a row (fsl_op_is_in_row) hold it since the first of
 * them began. True if some operators are asynchronous.
 */
bool fsl_op_spans(struct fsl_op_span *spans, const struct fsl_rank *rank,
		  const struct fsl_cuts *cuts, size_t rank_idx,
		  const struct fsl_launched *launched);

#endif
