/*
 * Clock drift: hosts' clocks run at different speeds, some parts in a million. Over a long capture
 * that moves the ends of one collective apart by more than the time between two collectives.
 * Private to src/match, see fsl_match_straightened().
 */
#ifndef FSL_MATCH_DRIFT_H
#define FSL_MATCH_DRIFT_H

#include "match/channel.h"

/*
 * Measures how much faster each rank's clock runs than that of the lowest rank that it communicates
 * with, from the ends of common collectives at the begin and at the end of the capture. If that
 * matters (FSL_DRIFT_MATTERS_MS over the capture), it rewrites the times of the run as if all
 * clocks ran alike. Constant offsets stay as they are. @listing keeps the old ends. *drift_max_ppm:
 * largest drift that was taken out; 0 if none was. Fails with FSL_ERR_MEMORY only; the run is then
 * unchanged.
 */
enum fsl_status fsl_drift_remove(struct fsl_run *run, const struct fsl_listing *listing,
				 size_t n_channels, double *drift_max_ppm, struct fsl_error *err);

#endif
