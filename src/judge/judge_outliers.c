/* Tells the collectives and the steps that the engine found far longer than those like them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/try.h"
#include "blame/long_events.h"
#include "judge/finding.h"

enum { TOLD_MAX = 8, TEXT_MAX = 640 };

static enum fsl_status add_collective(struct fsl_profile_findings *findings,
				      const struct fsl_long_collective *item, struct fsl_error *err)
{
	char what[TEXT_MAX];
	struct fsl_profile_finding finding =
		fsl_profile_finding_of(FSL_CODE_SINGLE_LONG_COLLECTIVE);
	(void)snprintf(
		what, sizeof(what),
		"%s of group %s takes %.1f ms, also for the last of the %zu members seen; half "
		"of the %zu like it take %.2f ms or less",
		item->name, item->group, item->ms, item->n_members, item->n_like, item->usual_ms);
	finding.rank = item->n_members == 1 ? item->rank : -1;
	finding.step = item->step;
	finding.gain_ms = item->cost_ms;
	finding.what = what;
	finding.advice =
		"look at what is different about this one: its size, a retransmission, the "
		"first use of a buffer, or a member that was not captured";
	(void)fsl_profile_finding_add_fact(&finding, "took", item->ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "usual", item->usual_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "like_it", (double)item->n_like, "count");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status add_step(struct fsl_profile_findings *findings,
				const struct fsl_long_step *item, struct fsl_error *err)
{
	char what[TEXT_MAX], why[TEXT_MAX / 2];
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_LONG_STEP);
	bool is_own = item->rank >= 0;
	if (is_own) {
		(void)snprintf(why, sizeof(why),
			       "computing and free time grew most on rank %d, by %.1f ms",
			       (int)item->rank, item->grown_ms);
	} else {
		(void)snprintf(why, sizeof(why),
			       "computing and free time grew by %.1f ms and less, so that "
			       "communication took the rest",
			       item->grown_ms);
	}
	(void)snprintf(what, sizeof(what),
		       "step %" PRId64 " takes %.1f ms, the %zu others %.1f ms; %s", item->step,
		       item->ms, item->n_others, item->usual_ms, why);
	finding.step = item->step;
	finding.gain_ms = item->cost_ms;
	finding.what = what;
	finding.advice = is_own ? "leave the first step of a capture out, else look at what that "
				  "rank did in this one"
				: "look at the longest collectives of this step";
	(void)fsl_profile_finding_add_fact(&finding, "took", item->ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "usual", item->usual_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "own_grew", item->grown_ms, "ms");
	if (is_own) {
		(void)fsl_profile_finding_add_fact(&finding, "grew_on_rank", (double)item->rank,
						   "count");
	}
	return fsl_profile_findings_add(findings, &finding, err);
}

enum fsl_status fsl_profile_judge_outliers(struct fsl_profile_findings *findings,
					   const struct fsl_profile_case *facts,
					   struct fsl_error *err)
{
	struct fsl_long_events events;
	FSL_TRY(fsl_long_events_find(&events, facts->profile, facts->meetings, err));
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < events.n_collectives && i < TOLD_MAX; i++) {
		FSL_THEN(status, add_collective(findings, &events.collectives[i], err));
	}
	for (size_t i = 0; i < events.n_steps && i < TOLD_MAX; i++) {
		FSL_THEN(status, add_step(findings, &events.steps[i], err));
	}
	fsl_long_events_fini(&events);
	return status;
}
