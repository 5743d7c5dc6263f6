/* Who holds the ranks of a capture up, which links are slow, and what it costs. */
#ifndef FSL_BLAME_CAPTURE_PLACES_H
#define FSL_BLAME_CAPTURE_PLACES_H

#include "blame/bandwidth.h"
#include "blame/counts.h"
#include "capture/cluster.h"
#include "match/meetings.h"

/* The answer about a capture, by index in profile->ranks, with the question. */
struct fsl_capture_places {
	struct fsl_arena arena;
	struct fsl_places_job job;
	struct fsl_places places;
	struct fsl_link_table links;
	struct fsl_bandwidths bandwidths;
	double *idle_ms; /* per place in profile->ranks: idle time of a step, in its work or before
			    it */
};

/*
 * Idle time of a rank is its free time inside of the work, and what its step lacks beside the
 * longest one of the set: ranks keep step, and idle time before a rank's first kernel is in no row.
 * One step alone does not tell whether the ranks began it together, unless the framework recorded
 * its begin: then only what the step lacks beyond the difference of the begins counts.
 *
 * Fills @out (overwritten). Ranks of a stage are one class; ranks without a known stage are one
 * more class. Own time of other files is computing and idle time of a step; computing alone of
 * ranks without operators, as nothing tells their waits from free time. Even stages compute as long
 * as they do on average. @meetings: of @profile; has to outlive @out. FSL_ERR_MEMORY only.
 */
enum fsl_status
fsl_capture_places_find(struct fsl_capture_places *out, const struct fsl_profile *profile,
			const struct fsl_profile_cluster *cluster, const struct fsl_look *look,
			struct fsl_profile_meetings *meetings, struct fsl_error *err);
void fsl_capture_places_fini(struct fsl_capture_places *places);

#endif
