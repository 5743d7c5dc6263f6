/* When a rank was held by communication; private to src/match. */
#ifndef FSL_MATCH_OWN_SPANS_H
#define FSL_MATCH_OWN_SPANS_H

#include "series/run.h"

/* One half-open stretch of time in which an operator held its rank. */
struct fsl_op_span {
	int64_t begin_ns, end_ns;
	uint32_t op_idx;
};

/*
 * Spans of a rank's operators, sorted by begin; @spans has room for rank->n_ops. An operator
 * usually holds its rank from begin to end. One that runs beside others (its uses regularly contain
 * the begin of another operator) is asynchronous: the rank goes on working under it, so it holds
 * the rank only from the last end of another operator inside it.
 */
void fsl_op_spans(struct fsl_op_span *spans, const struct fsl_rank *rank);

#endif
