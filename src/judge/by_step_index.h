/* Index of findings by their subjects, for fast search; private to by_step*.c. */
#ifndef FSL_JUDGE_BY_STEP_INDEX_H
#define FSL_JUDGE_BY_STEP_INDEX_H

#include "judge/by_step_parts.h"

/* One rank that a finding is about; -1: everybody. */
struct fsl_subject {
	enum fsl_step_family family;
	int32_t rank;
	uint32_t finding_idx;
};

/* An index, which owns its items; start as {0}. It does not hold findings that are added later. */
struct fsl_subjects {
	const struct fsl_profile_findings *findings; /* borrowed */
	struct fsl_subject *items;                   /* in order of their fields */
	size_t n_items;
};

/* Positions of the findings that are about the same as one finding, ascending. Owned; start as {0};
 * the memory is reused by each search. */
struct fsl_subject_hits {
	uint32_t *items;
	size_t n_items, capacity;
};

enum fsl_status fsl_subjects_init(struct fsl_subjects *out,
				  const struct fsl_profile_findings *findings,
				  struct fsl_error *err);
void fsl_subjects_fini(struct fsl_subjects *subjects);

/* Sets @hits to all findings that are about the same as @finding (fsl_by_step_is_same()). Fails
 * only when memory is short. */
enum fsl_status fsl_subjects_find(struct fsl_subject_hits *hits,
				  const struct fsl_subjects *subjects,
				  const struct fsl_profile_finding *finding, struct fsl_error *err);
/* True if there is such a finding. */
bool fsl_subjects_has(const struct fsl_subjects *subjects,
		      const struct fsl_profile_finding *finding);

#endif
