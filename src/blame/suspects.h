/* Proposals of detectors. They see windows alone, of marker files and of captures alike. */
#ifndef FSL_BLAME_SUSPECTS_H
#define FSL_BLAME_SUSPECTS_H

#include "blame/peers.h"
#include "config/config.h"
#include "match/match.h"
#include "model/steps.h"
#include "model/verdict.h"

/* The detectors' word on one rank. */
struct fsl_proposal {
	const char *detector; /* who said it first; NULL: nobody */
	double effect_ms;     /* largest effect said */
};

/* Sources of windows; all borrowed. */
struct fsl_shown {
	const struct fsl_config *config;
	const struct fsl_run *run;
	const struct fsl_steps *steps;
	const struct fsl_match *match;
	const struct fsl_peers *peers;
	const double *own_ms; /* [rank_idx * steps->n_items + step]; NaN: not seen whole */
	const struct fsl_localisation *classical; /* what the classical points said; NULL: nothing
						   */
};

/*
 * Asks ArrivalLateness, the detectors that the configuration names, and the classical points.
 * *proposals: one per rank index, in the arena of @out. What cannot run goes to the coverage of
 * @out.
 */
enum fsl_status fsl_hear_detectors(struct fsl_proposal **proposals, struct fsl_localisation *out,
				   const struct fsl_shown *shown, struct fsl_error *err);

#endif
