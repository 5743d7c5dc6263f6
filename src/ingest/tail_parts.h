/* Shared by tail.c and tails.c. */
#ifndef FSL_INGEST_TAIL_PARTS_H
#define FSL_INGEST_TAIL_PARTS_H

#include "ingest/tail.h"

/* Of a segment's events. */
uint64_t fsl_events_checksum(const struct fsl_op *ops, const struct fsl_op *remnants,
			     const struct fsl_stage *stages, struct fsl_event_counts n);

#endif
