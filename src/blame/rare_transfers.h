/* Single long steps in which a group waits inside a transfer: lost packets and their time-outs. */
#ifndef FSL_BLAME_RARE_TRANSFERS_H
#define FSL_BLAME_RARE_TRANSFERS_H

#include "blame/case.h"

/*
 * Makes a verdict that names nobody a slowdown of the job by its network, if transfers explain its
 * long steps; else @out stays as it is. A step is long by the configured degree. A transfer
 * explains it if all members were in it, and it took longer than usual by half of what the step
 * did. Three such steps are needed, half of all long steps, and together they have to cost what
 * counts. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_rare_transfers_tell(struct fsl_localisation *out, const struct fsl_case *facts,
					struct fsl_error *err);

#endif
