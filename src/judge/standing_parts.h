/* Parts of the standing of ranks; private to standing*.c. */
#ifndef FSL_JUDGE_STANDING_PARTS_H
#define FSL_JUDGE_STANDING_PARTS_H

#include "judge/standing.h"

/*
 * Asks detectors who was late among its peers, collective by collective, and pools what they found:
 * counts, lateness and chances of all ranks. Classes are filled before.
 */
enum fsl_status fsl_standing_hear_lateness(struct fsl_profile_standings *out,
					   const struct fsl_profile *profile,
					   const struct fsl_profile_meetings *meetings,
					   struct fsl_error *err);

#endif
