/* Limits that depend on how often one looks. */
#ifndef FSL_BLAME_LOOK_H
#define FSL_BLAME_LOOK_H

#include <stddef.h>

/* One look at a capture, or at a step of it; {0}: at the whole capture. */
struct fsl_look {
	enum {
		FSL_LOOK_CAPTURE, /* at all steps together */
		FSL_LOOK_STEP,    /* at one step, for what need not show in all steps together */
		FSL_LOOK_AGAIN,   /* at a step that may show what all steps proved already */
	} kind;
	size_t n_looks; /* FSL_LOOK_STEP: steps that are judged, one after the other */
};

/*
 * The greatest probability of a chance effect with which it is told; @most: the limit for one look.
 * In n looks a rare effect occurs by chance n times as often, so each look has the limit @most / n
 * (Bonferroni). Above 1 for FSL_LOOK_AGAIN: no proof is needed.
 */
double fsl_look_chance_max(const struct fsl_look *look, double most);
/*
 * The least effect (a share or an excess) that is told if its chance is not tested; @least: the
 * limit for all steps. Twice @least in one step of several, as the largest of n effects is always
 * larger than usual. Half of @least if all steps together showed it already, as steps scatter
 * around their mean.
 */
double fsl_look_effect_min(const struct fsl_look *look, double least);
/* The same for an effect whose chance is tested: one step of several has the same limit as all
 * steps. */
double fsl_look_tested_min(const struct fsl_look *look, double least);

#endif
