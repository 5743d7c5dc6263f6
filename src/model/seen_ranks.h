/* How many ranks earlier runs saw of a job, so that a later run misses a rank whose files are gone.
 */
#ifndef FSL_MODEL_SEEN_RANKS_H
#define FSL_MODEL_SEEN_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fsl_seen_ranks {
	size_t n;         /* most ranks that left data since the job was started; 0: unknown */
	int64_t until_ns; /* newest time of data in which so many did */
};

/*
 * True if data from @begin_ns to @end_ns belong to the same start of the job. A job that was
 * started again later, with fewer ranks, begins behind @seen->until_ns. Ranks that were last seen
 * more than @forget_hours before the end of the data are forgotten. FSL_NS_ABSENT as begin or end:
 * false.
 */
bool fsl_seen_ranks_hold(const struct fsl_seen_ranks *seen, int64_t begin_ns, int64_t end_ns,
			 double forget_hours);

/* Returns the knowledge of @seen and of a run that saw @now in data from @begin_ns to
 * now->until_ns. */
struct fsl_seen_ranks fsl_seen_ranks_with(const struct fsl_seen_ranks *seen,
					  const struct fsl_seen_ranks *now, int64_t begin_ns,
					  double forget_hours);

#endif
