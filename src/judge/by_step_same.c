/* Compares the subjects of findings, whatever their words. */
#include "judge/by_step_parts.h"

#include "base/sort.h"

enum fsl_step_family fsl_by_step_family(const struct fsl_profile_finding *finding)
{
	return fsl_code_row(finding->code)->family;
}

bool fsl_by_step_is_news(const struct fsl_profile_finding *finding)
{
	return fsl_code_row(finding->code)->steps == FSL_STEPS_TELL;
}

bool fsl_by_step_is_same(const struct fsl_profile_finding *a, const struct fsl_profile_finding *b)
{
	enum fsl_step_family family = fsl_by_step_family(a);
	if (family == FSL_FAMILY_NONE || family != fsl_by_step_family(b)) {
		return false;
	}
	if (a->rank < 0 || b->rank < 0) {
		return true;
	}
	if (a->peer >= 0 && b->peer >= 0) {
		return a->rank == b->rank && a->peer == b->peer;
	}
	return a->rank == b->rank || (a->peer >= 0 && a->peer == b->rank) ||
	       (b->peer >= 0 && b->peer == a->rank);
}

int fsl_by_step_compare_subjects(const struct fsl_profile_finding *a,
				 const struct fsl_profile_finding *b)
{
	int order = FSL_ORDER(fsl_by_step_family(a), fsl_by_step_family(b));
	order = order != 0 ? order : FSL_ORDER(a->rank, b->rank);
	return order != 0 ? order : FSL_ORDER(a->peer, b->peer);
}
