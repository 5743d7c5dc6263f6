/* Findings by what they are about, so that few are looked at; private to by_step*.c. */
#ifndef FSL_JUDGE_BY_STEP_INDEX_H
#define FSL_JUDGE_BY_STEP_INDEX_H

#include "judge/by_step_parts.h"

/* One rank that a finding is about; -1: everybody. */
struct fsl_subject {
	enum fsl_step_family family;
	int32_t rank;
	uint32_t finding_idx;
};

/* Owned; start as {0}. Finds no findings that were added later. */
struct fsl_subjects {
	const struct fsl_profile_findings *findings; /* borrowed */
	struct fsl_subject *items;                   /* in order of their fields */
	size_t n_items;
};

/* What one finding is the same as: positions among the findings, ascending. Owned; start as {0};
 * used again and again. */
struct fsl_subject_hits {
	uint32_t *items;
	size_t n_items, capacity;
};

enum fsl_status fsl_subjects_init(struct fsl_subjects *out,
				  const struct fsl_profile_findings *findings,
				  struct fsl_error *err);
void fsl_subjects_fini(struct fsl_subjects *subjects);

/* All of the findings that fsl_by_step_is_same() as @finding. Fails only when memory is short. */
enum fsl_status fsl_subjects_find(struct fsl_subject_hits *hits,
				  const struct fsl_subjects *subjects,
				  const struct fsl_profile_finding *finding, struct fsl_error *err);
/* Whether there is one. */
bool fsl_subjects_has(const struct fsl_subjects *subjects,
		      const struct fsl_profile_finding *finding);

#endif
