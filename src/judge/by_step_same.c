/* What a finding is about, whatever its words. */
#include "judge/by_step_parts.h"

#include <string.h>

#include "base/sort.h"

/* Who tells them. */
static const fsl_profile_judge judges[] = {
	[FSL_FAMILY_HOST] = fsl_profile_judge_dispatch,
	[FSL_FAMILY_PREPARING] = fsl_profile_judge_dispatch,
	[FSL_FAMILY_KERNELS] = fsl_profile_judge_compute,
	[FSL_FAMILY_RANK] = fsl_profile_judge_slow_rank,
	[FSL_FAMILY_STAGE] = fsl_profile_judge_stage_imbalance,
	[FSL_FAMILY_BUBBLE] = fsl_profile_judge_stage_imbalance,
	[FSL_FAMILY_LINK] = fsl_profile_judge_slow_link,
	[FSL_FAMILY_NONE] = NULL,
};

/* What single steps may be asked about, and what they may tell by themselves. */
static const struct {
	const char *code;
	enum fsl_step_family family;
	bool is_news;
} codes[] = {
	{"host_bound", FSL_FAMILY_HOST, true},
	{"late_first_task", FSL_FAMILY_PREPARING, true},
	{"slow_kernels", FSL_FAMILY_KERNELS, true},
	{"slow_rank_compute", FSL_FAMILY_RANK, true},
	{"slow_rank_host", FSL_FAMILY_RANK, true},
	{"slow_rank_unexplained", FSL_FAMILY_RANK, true},
	{"more_work", FSL_FAMILY_RANK, true},
	{"consistently_late", FSL_FAMILY_RANK, false},
	{"late_victim", FSL_FAMILY_RANK, false},
	{"stage_imbalance", FSL_FAMILY_STAGE, true},
	{"pipeline_bubble", FSL_FAMILY_BUBBLE, false},
	{"slow_rank_network", FSL_FAMILY_LINK, true},
	{"slow_links", FSL_FAMILY_LINK, true},
	{"slow_link", FSL_FAMILY_LINK, true},
};

enum fsl_step_family fsl_by_step_family(const struct fsl_profile_finding *finding, bool *is_news)
{
	for (size_t k = 0; k < sizeof(codes) / sizeof(codes[0]); k++) {
		if (strcmp(codes[k].code, finding->code) == 0) {
			*is_news = codes[k].is_news;
			return codes[k].family;
		}
	}
	*is_news = false;
	return FSL_FAMILY_NONE;
}

fsl_profile_judge fsl_by_step_judge_of(enum fsl_step_family family)
{
	return judges[family];
}

bool fsl_by_step_is_same(const struct fsl_profile_finding *a, const struct fsl_profile_finding *b)
{
	bool is_news = false;
	enum fsl_step_family family = fsl_by_step_family(a, &is_news);
	if (family == FSL_FAMILY_NONE || family != fsl_by_step_family(b, &is_news)) {
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
	bool is_news = false;
	int order = FSL_ORDER(fsl_by_step_family(a, &is_news), fsl_by_step_family(b, &is_news));
	order = order != 0 ? order : FSL_ORDER(a->rank, b->rank);
	return order != 0 ? order : FSL_ORDER(a->peer, b->peer);
}
