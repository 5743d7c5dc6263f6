/* Tells groups of which some members were not captured, and how long the engine found the others to
 * wait for these. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/outside.h"
#include "capture/source_words.h"
#include "judge/finding.h"

enum { TEXT_MAX = 1024 };

static const char *name_of(const struct fsl_profile_group *group)
{
	return *group->name != '\0' ? group->name : group->hash;
}

/* "member 5 of the group (rank 13)" */
static void write_member(char *text, size_t size, const struct fsl_outside_member *waited)
{
	int length = snprintf(text, size, "member %d of the group", (int)waited->place);
	if (waited->rank >= 0 && length > 0 && (size_t)length < size) {
		(void)snprintf(text + length, size - (size_t)length, " (rank %d)",
			       (int)waited->rank);
	}
}

/* Words for the members that were not seen: they were not <words>. A member may be in the set and
 * have no operators. */
static const char *lacking_text(const struct fsl_profile_case *facts,
				const struct fsl_profile_group *group)
{
	size_t n_there = 0;
	for (size_t i = 0; i < group->n_ranks; i++) {
		n_there += fsl_profile_rank_of(facts->profile, group->ranks[i]) != NULL ? 1 : 0;
	}
	return n_there > group->n_seen ? "captured with its operators"
				       : fsl_profile_seen_text(facts->profile);
}

static const char *advise_capture(const struct fsl_profile_case *facts,
				  const struct fsl_profile_group *group, const char *otherwise)
{
	if (facts->profile->has_choice) {
		return "look at all ranks of the group: --ranks leaves some out";
	}
	bool is_level =
		strcmp(lacking_text(facts, group), fsl_profile_seen_text(facts->profile)) != 0;
	return is_level ? fsl_profile_source_words(facts->profile)->capture_comms : otherwise;
}

static struct fsl_profile_finding begin_outside(const struct fsl_profile_case *facts,
						const struct fsl_profile_group *group,
						const struct fsl_outside_member *waited)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_CAUSE_OUTSIDE);
	finding.advice = advise_capture(
		facts, group, "capture all ranks of the group; those that were are victims");
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_SEEN, (double)group->n_seen);
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_MEMBERS, (double)group->size);
	if (waited->place >= 0) {
		(void)fsl_profile_finding_add_fact(&finding, "waited_for_member",
						   (double)waited->place, "count");
		(void)fsl_profile_finding_add_fact(&finding, "waited_for", waited->ms, "ms");
		(void)fsl_profile_finding_add_fact(&finding, "waited_for", waited->share, "share");
	}
	return finding;
}

/* " (rank 1 starts it 5.608 ms later, which explains no more)" */
static void tell_later(char *text, size_t size, struct fsl_profile_finding *finding,
		       const struct fsl_outside_wait *worst)
{
	double lateness_ms = (double)worst->lateness_ns / FSL_NS_PER_MS;
	double later_ms = (double)worst->later_ns / FSL_NS_PER_MS;
	(void)fsl_profile_finding_add_fact(finding, "starts_later", later_ms, "ms");
	(void)fsl_profile_finding_add_fact(finding, "lateness", lateness_ms, "ms");
	(void)fsl_profile_finding_add_fact(finding, "last_rank", (double)worst->last_rank, "count");
	if (worst->later_ns >= FSL_NS_PER_US) {
		(void)snprintf(text, size,
			       " (rank %d starts it %.3f ms later, which explains no more)",
			       (int)worst->last_rank, later_ms);
	}
}

/* All captured ranks wait in a collective, by what the profiler tells of its operators. */
static enum fsl_status add_idle(struct fsl_profile_findings *findings,
				const struct fsl_profile_case *facts,
				const struct fsl_profile_group *group,
				const struct fsl_outside *outside, struct fsl_error *err)
{
	const struct fsl_outside_wait *worst = &outside->longest;
	const struct fsl_outside_member *waited = &outside->member;
	const char *seen = fsl_profile_seen_text(facts->profile);
	char who[64], later[256] = "", of_it[160] = "", member[64], what[TEXT_MAX];
	double wait_ms = (double)worst->wait_ns / FSL_NS_PER_MS;
	struct fsl_profile_finding finding = begin_outside(facts, group, waited);
	(void)fsl_profile_finding_add_fact(&finding, "waiting", wait_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "waiting_in_all", outside->cost_ms, "ms");
	if (worst->n_members > 1) {
		tell_later(later, sizeof(later), &finding, worst);
		(void)snprintf(who, sizeof(who), "all %zu %s ranks wait", worst->n_members, seen);
	} else {
		(void)snprintf(who, sizeof(who), "the %s rank waits", seen);
	}
	if (waited->place >= 0) {
		write_member(member, sizeof(member), waited);
		(void)snprintf(of_it, sizeof(of_it),
			       "; %.0f %% of the waits for signals, %.1f ms a step, are for %s",
			       100.0 * waited->share, waited->ms, member);
	}
	(void)snprintf(
		what, sizeof(what),
		"the cause lies outside: %s for %.1f ms in %s%s, for a member of group %s that "
		"was not %s (%zu of %zu were not); %.1f ms a step in all its collectives%s",
		who, wait_ms, worst->name, later, name_of(group), lacking_text(facts, group),
		group->size - group->n_seen, group->size, outside->cost_ms, of_it);
	finding.gain_ms = outside->cost_ms;
	finding.what = what;
	return fsl_profile_findings_add(findings, &finding, err);
}

/* The same by the signals alone, where operators are told with their durations only. */
static enum fsl_status add_signals(struct fsl_profile_findings *findings,
				   const struct fsl_profile_case *facts,
				   const struct fsl_profile_group *group,
				   const struct fsl_outside *outside, struct fsl_error *err)
{
	const struct fsl_outside_member *waited = &outside->member;
	const char *seen = fsl_profile_seen_text(facts->profile);
	char member[64], what[TEXT_MAX];
	struct fsl_profile_finding finding = begin_outside(facts, group, waited);
	write_member(member, sizeof(member), waited);
	(void)snprintf(
		what, sizeof(what),
		"the cause lies outside: of what the %s ranks of group %s wait for signals, "
		"%.0f %%, %.1f ms a step, are for %s, which was not %s (%zu of %zu were not)",
		seen, name_of(group), 100.0 * waited->share, waited->ms, member, seen,
		group->size - group->n_seen, group->size);
	finding.gain_ms = outside->cost_ms;
	finding.what = what;
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status judge_group(struct fsl_profile_findings *findings,
				   const struct fsl_profile_case *facts,
				   const struct fsl_profile_group *group, struct fsl_error *err)
{
	char what[TEXT_MAX];
	bool is_least = group->size > group->n_ranks; /* numbers of links prove no more */
	(void)snprintf(
		what, sizeof(what),
		"group %s is incomplete: %zu of %zu ranks%s were %s; who is slow can only be "
		"told among these",
		name_of(group), group->n_seen, group->size, is_least ? " or more" : "",
		lacking_text(facts, group));
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_GROUP_INCOMPLETE);
	finding.what = what;
	finding.advice = advise_capture(facts, group, "capture the other ranks in the same steps");
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_SEEN, (double)group->n_seen);
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_MEMBERS, (double)group->size);
	FSL_TRY(fsl_profile_findings_add(findings, &finding, err));
	struct fsl_outside outside;
	FSL_TRY(fsl_outside_find(&outside, facts->profile, facts->meetings, group, err));
	if (isnan(outside.cost_ms)) {
		return FSL_OK;
	}
	return outside.is_by_signals ? add_signals(findings, facts, group, &outside, err)
				     : add_idle(findings, facts, group, &outside, err);
}

enum fsl_status fsl_profile_judge_incomplete(struct fsl_profile_findings *findings,
					     const struct fsl_profile_case *facts,
					     struct fsl_error *err)
{
	enum { GROUPS_TOLD_MAX = 8 };
	size_t n_told = 0, n_incomplete = 0;
	enum fsl_status status = FSL_OK;
	for (size_t g = 0; g < facts->cluster->n_groups && status == FSL_OK; g++) {
		const struct fsl_profile_group *group = &facts->cluster->groups[g];
		bool is_incomplete = !group->is_p2p && group->n_seen < group->size;
		n_incomplete += is_incomplete ? 1 : 0;
		if (is_incomplete && n_told < GROUPS_TOLD_MAX) {
			n_told++;
			status = judge_group(findings, facts, group, err);
		}
	}
	if (status == FSL_OK && n_incomplete > n_told) {
		status = fsl_profile_findings_miss(findings, err,
						   "%zu more groups lack members that were not "
						   "captured",
						   n_incomplete - n_told);
	}
	return status;
}
