/* How a fault goes: at once or slowly, in all steps or in single ones again and again. */
#include <math.h>

#include "base/number.h"
#include "blame/fuse_parts.h"
#include "blame/limits.h"

static double fact_of(const struct fsl_culprit *culprit, enum fsl_fact_name name)
{
	return fsl_facts_value(culprit->evidence, culprit->n_evidence, name);
}

static enum fsl_shape shape_of(const struct fsl_culprit *culprit)
{
	double before = fact_of(culprit, FSL_FACT_BEFORE);
	if (fact_of(culprit, FSL_FACT_PERSISTENCE) < FSL_RECURRING_SHARE_MAX) {
		return FSL_SHAPE_RECURRING;
	}
	if (isnan(before)) {
		return FSL_SHAPE_UNKNOWN;
	}
	double at_onset = fact_of(culprit, FSL_FACT_AFTER) - before;
	double mean = fact_of(culprit, FSL_FACT_OWN_RATIO) - before;
	return mean > FSL_DRIFT_TIMES_MIN * at_onset ? FSL_SHAPE_DRIFT : FSL_SHAPE_STEP;
}

/* Steps from one long step to the next if nearly all are so far apart; else -1. The long steps cost
 * what the culprit costs in all. */
static int64_t period_of(const struct fsl_culprit *culprit, double step_ms,
			 const struct fsl_steps *steps)
{
	double normal_ms = step_ms - culprit->lost_ms_per_step;
	double long_ms = normal_ms +
			 0.5 * culprit->lost_ms_per_step / fact_of(culprit, FSL_FACT_PERSISTENCE);
	size_t counts[FSL_PERIOD_MAX] = {0}, n_gaps = 0, most = 0;
	int64_t last = -1;
	for (size_t s = 0; s < steps->n_items && isfinite(long_ms); s++) {
		const struct fsl_job_step *step = &steps->items[s];
		bool is_of_it = step->step >= culprit->onset_step &&
				(culprit->until_step < 0 || step->step < culprit->until_step);
		if (!is_of_it || (double)step->dur_ns < long_ms * FSL_NS_PER_MS) {
			continue;
		}
		size_t gap = last >= 0 ? (size_t)(step->step - last) : 0;
		last = step->step;
		if (gap > 0 && gap < FSL_PERIOD_MAX) {
			n_gaps++;
			most = ++counts[gap] > counts[most] ? gap : most;
		}
	}
	bool is_regular = n_gaps >= FSL_PERIOD_GAPS_MIN &&
			  (double)counts[most] >= FSL_PERIOD_ALIKE_SHARE_MIN * (double)n_gaps;
	return is_regular ? (int64_t)most : -1;
}

void fsl_fuse_tell_rhythm(struct fsl_localisation *out, const struct fsl_steps *steps)
{
	for (size_t i = 0; i < out->n_culprits; i++) {
		struct fsl_culprit *culprit = &out->culprits[i];
		culprit->shape = shape_of(culprit);
		culprit->every_steps = culprit->shape == FSL_SHAPE_RECURRING
					       ? period_of(culprit, out->step_ms, steps)
					       : -1;
	}
}
