/* Uses single steps for the culprits of a verdict: confidence, onset and end. */
#include "judge/conclude.h"

#include "judge/limits.h"

double fsl_conclude_confidence(const struct fsl_profile_case *facts,
			       const struct fsl_profile_finding *finding)
{
	if (finding->n_steps == 0) {
		return facts->cluster->n_steps <= 1 ? FSL_JUDGE_CONFIDENCE_ONE_STEP
						    : FSL_JUDGE_CONFIDENCE_ALL_STEPS;
	}
	double share = (double)finding->n_seen_steps / (double)finding->n_steps;
	return FSL_JUDGE_CONFIDENCE_NO_STEP +
	       (FSL_JUDGE_CONFIDENCE_ALL_STEPS - FSL_JUDGE_CONFIDENCE_NO_STEP) * share;
}

/* True if the steps that show the finding are consecutive and not all steps. */
static bool is_episode(const struct fsl_profile_finding *finding)
{
	const int64_t *steps = finding->seen_steps;
	size_t n = finding->n_seen_steps;
	for (size_t i = 1; i < n; i++) {
		if (steps[i - 1] == INT64_MAX || steps[i] != steps[i - 1] + 1) {
			return false;
		}
	}
	return n > 0 && n < finding->n_steps;
}

void fsl_conclude_add_steps(struct fsl_culprit *culprit, const struct fsl_profile_finding *finding,
			    const struct fsl_profile_cluster *cluster)
{
	if (finding->n_steps == 0) {
		return;
	}
	(void)fsl_culprit_add_known(culprit, FSL_FACT_STEPS_SEEN, (double)finding->n_seen_steps);
	(void)fsl_culprit_add_known(culprit, FSL_FACT_STEPS_JUDGED, (double)finding->n_steps);
	if (is_episode(finding)) {
		int64_t last = finding->seen_steps[finding->n_seen_steps - 1];
		culprit->onset_step = finding->seen_steps[0];
		culprit->until_step = last < cluster->steps[cluster->n_steps - 1] ? last + 1 : -1;
	}
}
