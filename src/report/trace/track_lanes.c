/* The first lane on which a slice fits. */
#include "report/trace/track_lanes.h"

struct fsl_lane {
	size_t depth;
	int64_t last_begin_ns;              /* a slice that came late has no place in front of it */
	int64_t end_ns[FSL_LANE_DEPTH_MAX]; /* [depth], the innermost last */
};

static bool fits(struct fsl_lane *lane, int64_t begin_ns, int64_t end_ns)
{
	if (begin_ns < lane->last_begin_ns) {
		return false;
	}
	while (lane->depth > 0 && lane->end_ns[lane->depth - 1] <= begin_ns) {
		lane->depth--;
	}
	return lane->depth == 0 ||
	       (end_ns <= lane->end_ns[lane->depth - 1] && lane->depth < FSL_LANE_DEPTH_MAX);
}

enum fsl_status fsl_lanes_place(struct fsl_lanes *lanes, int64_t begin_ns, int64_t end_ns,
				uint8_t *lane, struct fsl_error *err)
{
	size_t at = 0;
	while (at < lanes->n_items && !fits(&lanes->items[at], begin_ns, end_ns)) {
		at++;
	}
	if (at == FSL_LANES_MAX) {
		*lane = FSL_LANE_NONE;
		return FSL_OK;
	}
	if (at == lanes->n_items) {
		FSL_TRY(FSL_GROW(lanes->items, lanes->items_capacity, at + 1, err));
		struct fsl_lane *added = &lanes->items[lanes->n_items++];
		added->depth = 0;
		added->last_begin_ns = INT64_MIN;
	}
	struct fsl_lane *taken = &lanes->items[at];
	taken->last_begin_ns = begin_ns;
	if (end_ns > begin_ns) { /* instants take no room */
		taken->end_ns[taken->depth++] = end_ns;
	}
	*lane = (uint8_t)at;
	return FSL_OK;
}

void fsl_lanes_fini(struct fsl_lanes *lanes)
{
	fsl_free(lanes->items);
	*lanes = (struct fsl_lanes){0};
}
