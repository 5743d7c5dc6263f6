/* The parts of fusion; private to src/blame. */
#ifndef FSL_BLAME_FUSE_PARTS_H
#define FSL_BLAME_FUSE_PARTS_H

#include "blame/fuse.h"

/* Names the culprits: ranks by their charges, links by their transfer. Charges that are not enough
 * are unconfirmed. */
enum fsl_status fsl_fuse_culprits(struct fsl_localisation *out, const struct fsl_case *job,
				  struct fsl_error *err);

/* Lists victims and unconfirmed suspects: what ArrivalLateness and the classical points say of
 * ranks not named. */
enum fsl_status fsl_fuse_suspects(struct fsl_localisation *out, const struct fsl_case *job,
				  struct fsl_error *err);

/* sysTrace's part: abnormalDetail, normalDetail, LACK, resultCode, flags. */
enum fsl_status fsl_fuse_details(struct fsl_localisation *out, const struct fsl_case *job,
				 struct fsl_error *err);

/* The culprit entry of a rank; NULL when it is not named. */
const struct fsl_culprit *fsl_fuse_named(const struct fsl_localisation *out, int32_t rank);

/* Least loss per step that counts, ms, for steps of @step_ms (slow_ratio_min). */
double fsl_fuse_least_ms(const struct fsl_config *config, double step_ms);

#endif
