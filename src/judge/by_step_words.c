/* When something was seen, in words. */
#include <inttypes.h>

#include "blame/counts.h"
#include "judge/by_step.h"

enum { STEPS_TOLD_MAX = 6 };

/* " (4, 7)" */
static void add_steps(struct fsl_phrase *phrase, const struct fsl_profile_finding *finding)
{
	for (size_t i = 0; i < finding->n_seen_steps && i < STEPS_TOLD_MAX; i++) {
		fsl_phrase_add(phrase, "%s%" PRId64, i > 0 ? ", " : " (", finding->seen_steps[i]);
	}
	fsl_phrase_add(phrase, finding->n_seen_steps > STEPS_TOLD_MAX ? ", ...)" : ")");
}

void fsl_by_step_add_seen(struct fsl_phrase *phrase, const struct fsl_profile_finding *finding)
{
	if (finding->n_seen_steps == finding->n_steps) {
		fsl_phrase_add(phrase, "seen in each of the %zu steps", finding->n_steps);
	} else if (finding->n_seen_steps == 0) {
		fsl_phrase_add(phrase, "none of the %zu steps shows it alone", finding->n_steps);
	} else {
		fsl_phrase_add(phrase, "seen in %zu of %zu steps", finding->n_seen_steps,
			       finding->n_steps);
		add_steps(phrase, finding);
	}
}

void fsl_by_step_add_when(struct fsl_phrase *phrase, const struct fsl_profile_finding *finding)
{
	fsl_phrase_add(phrase, "in step %" PRId64, finding->step);
	if (finding->n_seen_steps == 1) {
		fsl_phrase_add(phrase, ", one of %zu", finding->n_steps);
	} else {
		fsl_phrase_add(phrase, ", the worst of %zu in %zu steps", finding->n_seen_steps,
			       finding->n_steps);
		add_steps(phrase, finding);
	}
}

bool fsl_by_step_is_passing(const struct fsl_profile_finding *finding)
{
	return fsl_is_passing(finding->step != FSL_STEP_ABSENT, finding->n_seen_steps,
			      finding->n_steps);
}

bool fsl_by_step_add_passing(struct fsl_phrase *phrase, const struct fsl_profile_findings *findings)
{
	const struct fsl_profile_finding *found = NULL;
	for (size_t i = 0; i < findings->n_items && found == NULL; i++) {
		const struct fsl_profile_finding *item = &findings->items[i];
		bool is_passing = item->n_seen_steps > 0 && fsl_by_step_is_passing(item);
		bool names_somebody = fsl_code_row(item->code)->names != FSL_NAMES_NOBODY;
		found = is_passing && names_somebody ? item : NULL;
	}
	if (found == NULL) {
		return false;
	}
	if (found->rank < 0) {
		fsl_phrase_add(phrase, "a stage computed longer than the others");
	} else if (found->peer >= 0) {
		fsl_phrase_add(phrase, "the link from rank %d to rank %d was slow",
			       (int)found->rank, (int)found->peer);
	} else {
		fsl_phrase_add(phrase, "rank %d was slow", (int)found->rank);
	}
	fsl_phrase_add(phrase, " in %zu of %zu steps", found->n_seen_steps, found->n_steps);
	add_steps(phrase, found);
	return true;
}
