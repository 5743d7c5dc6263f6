/* Shared by tail.c and tails.c. */
#ifndef FSL_SOURCE_TAIL_PARTS_H
#define FSL_SOURCE_TAIL_PARTS_H

#include "source/tail.h"

/* What stands, or goes, behind the first @n of some items; NULL where there is no array. */
#define FSL_BEHIND(items, n) ((items) != NULL ? (items) + (n) : NULL)

/* Of a segment's events. */
uint64_t fsl_events_checksum(const struct fsl_op *ops, const struct fsl_op *remnants,
			     const struct fsl_stage *stages, struct fsl_event_counts n);

#endif
