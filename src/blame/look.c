/* One step of several has other limits than all steps together. */
#include "blame/look.h"

#include <math.h>

#include "blame/limits.h"

double fsl_look_chance_max(const struct fsl_look *look, double most)
{
	return look->kind == FSL_LOOK_STEP    ? most / (double)look->n_looks
	       : look->kind == FSL_LOOK_AGAIN ? (double)INFINITY
					      : most;
}

double fsl_look_effect_min(const struct fsl_look *look, double least)
{
	static const double factors[] = {[FSL_LOOK_CAPTURE] = 1.0,
					 [FSL_LOOK_STEP] = FSL_LOOK_EFFECT_IN_STEP,
					 [FSL_LOOK_AGAIN] = FSL_LOOK_EFFECT_AGAIN};
	return factors[look->kind] * least;
}

double fsl_look_tested_min(const struct fsl_look *look, double least)
{
	return look->kind == FSL_LOOK_AGAIN ? fsl_look_effect_min(look, least) : least;
}
