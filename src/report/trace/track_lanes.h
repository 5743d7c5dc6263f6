/* Puts slices on lanes so that those of one lane nest or are disjoint: viewers draw no others. */
#ifndef FSL_REPORT_TRACE_TRACK_LANES_H
#define FSL_REPORT_TRACE_TRACK_LANES_H

#include "base/mem.h"

enum {
	FSL_LANES_MAX = 250,      /* lanes of one kind; slices that find no place are left out */
	FSL_LANE_DEPTH_MAX = 512, /* slices inside each other on one lane */
	FSL_LANE_NONE = 255,      /* no place */
};

struct fsl_lane; /* ends of the slices that are open on a lane */

/* Start as {0}; end with fsl_lanes_fini(). */
struct fsl_lanes {
	struct fsl_lane *items;
	size_t n_items, items_capacity;
};

/*
 * Chooses the lane of the next slice: the first on which it fits. Call it in the order of begins,
 * of equal begins the longer slice first; a slice that comes late gets a lane on which no other
 * begins behind it. *lane: FSL_LANE_NONE if there is none. FSL_ERR_MEMORY.
 */
enum fsl_status fsl_lanes_place(struct fsl_lanes *lanes, int64_t begin_ns, int64_t end_ns,
				uint8_t *lane, struct fsl_error *err);
void fsl_lanes_fini(struct fsl_lanes *lanes);

#endif
