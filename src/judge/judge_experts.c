/* Tells groups of ranks whose experts get uneven rows, as the engine found. */
#include <stdio.h>

#include "base/try.h"
#include "blame/capture_places.h"
#include "blame/experts.h"
#include "judge/finding.h"
#include "match/meetings.h"

enum { TEXT_MAX = 640 };

static enum fsl_status tell(struct fsl_profile_findings *findings, const struct fsl_experts *found,
			    const struct fsl_profile_group *group, struct fsl_error *err)
{
	char what[TEXT_MAX];
	double peak_to_mean = found->most / found->mean;
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_EXPERT_IMBALANCE);
	(void)snprintf(
		what, sizeof(what),
		"experts of rank %d get %.0f rows a step, those of the %zu ranks of group %s "
		"%.0f on average and %.0f at least: peak to mean %.2f",
		(int)found->busiest, found->most, found->n_ranks,
		*group->name != '\0' ? group->name : group->hash, found->mean, found->least,
		peak_to_mean);
	finding.rank = found->busiest;
	finding.gain_ms = found->cost_ms;
	finding.what = what;
	finding.advice = "balance the router (auxiliary loss, capacity factor) or move experts";
	(void)fsl_profile_finding_add_fact(&finding, "rows", found->most, "count");
	(void)fsl_profile_finding_add_fact(&finding, "mean", found->mean, "count");
	(void)fsl_profile_finding_add_fact(&finding, "peak_to_mean", peak_to_mean, "ratio");
	return fsl_profile_findings_add(findings, &finding, err);
}

enum fsl_status fsl_profile_judge_experts(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err)
{
	for (size_t g = 0; g < facts->cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &facts->cluster->groups[g];
		if (group->is_p2p || fsl_profile_group_kind(group->name) != FSL_GROUP_EP) {
			continue;
		}
		struct fsl_experts found;
		FSL_TRY(fsl_experts_compare(&found, facts->profile, group, &facts->places->job,
					    &facts->places->places, err));
		if (found.busiest >= 0) {
			FSL_TRY(tell(findings, &found, group, err));
		}
	}
	return FSL_OK;
}
