/*
 * Groups of which some members were not captured. If all captured members wait in a collective
 * although the last of them has come, they wait for a member that was not captured.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "capture/step_rows.h"
#include "judge/finding.h"
#include "judge/limits.h"
#include "judge/waited_for.h"
#include "match/meetings.h"

enum { TEXT_MAX = 1024 };

/* The collective of a group in which those captured wait longest for others. */
struct worst {
	int64_t wait_ns; /* shortest wait of the members */
	int64_t sum_ns;  /* of all collectives of the group */
	const char *name;
	size_t n_members;
	/* How much later the last of them began than the first, by their clocks and by their
	 * durations; -1 with one member. */
	int64_t later_ns, lateness_ns;
	int32_t last_rank;
};

/* Longest that links of any kind were busy with the operator, ns. Links beside each other are
 * summed up in it. */
static int64_t traffic_ns(const struct fsl_profile_rank *rank, const struct fsl_profile_comm *comm)
{
	int64_t most_ns = comm->transit_ns > 0 ? comm->transit_ns : 0;
	for (uint32_t t = 0; t < comm->n_traffic; t++) {
		int64_t time_ns = rank->traffic[comm->traffic_begin + t].time_ns;
		most_ns = time_ns > most_ns ? time_ns : most_ns;
	}
	return most_ns;
}

/*
 * Time in which an operator moves nothing: waits and idle time. For some operators the profiler
 * calls all time idle although they move hundreds of MB. So if links are busy for more than half of
 * the time, only the rest counts; if nothing tells of transfers, only the time that the profiler
 * calls a wait counts.
 */
static int64_t waiting_ns(const struct fsl_profile_rank *rank, const struct fsl_profile_comm *comm)
{
	if (!fsl_profile_comm_is_timed(comm)) {
		return 0;
	}
	int64_t busy_ns = traffic_ns(rank, comm);
	int64_t waiting = comm->elapse_ns - (comm->transit_ns > 0 ? comm->transit_ns : 0);
	if (busy_ns == 0) {
		waiting = comm->wait_ns < comm->elapse_ns ? comm->wait_ns : comm->elapse_ns;
	} else if (busy_ns > comm->elapse_ns / 2) {
		waiting = comm->elapse_ns - busy_ns;
	}
	return waiting > 0 ? waiting : 0;
}

static void look_at(struct worst *worst, const struct fsl_profile_case *facts,
		    const struct fsl_channel *channel, size_t instance)
{
	struct worst here = {.wait_ns = INT64_MAX};
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, longest_ns = 0, shortest_ns = INT64_MAX;
	for (size_t m = 0; m < channel->n_members; m++) {
		const struct fsl_profile_comm *comm =
			fsl_meeting_comm(facts->meetings, facts->profile, channel, instance, m);
		if (comm == NULL) {
			continue;
		}
		const struct fsl_profile_rank *rank = &facts->profile->ranks[channel->members[m]];
		int64_t wait_ns = waiting_ns(rank, comm);
		here.wait_ns = wait_ns < here.wait_ns ? wait_ns : here.wait_ns;
		here.name = fsl_strpool_text(rank->names, comm->name_id);
		here.n_members++;
		first_ns = comm->begin_ns < first_ns ? comm->begin_ns : first_ns;
		last_ns = comm->begin_ns > last_ns ? comm->begin_ns : last_ns;
		longest_ns = comm->elapse_ns > longest_ns ? comm->elapse_ns : longest_ns;
		if (comm->elapse_ns < shortest_ns) {
			shortest_ns = comm->elapse_ns;
			here.last_rank = rank->rank;
		}
	}
	if (here.n_members == 0) {
		return;
	}
	here.later_ns = last_ns - first_ns;
	here.lateness_ns = longest_ns - shortest_ns;
	here.sum_ns = fsl_sum_i64(worst->sum_ns, here.wait_ns);
	if (here.wait_ns > worst->wait_ns) {
		*worst = here;
	}
	worst->sum_ns = here.sum_ns;
}

/* Channels lack groups with one captured member: its operators one by one. */
static void look_alone(struct worst *worst, const struct fsl_profile_rank *rank, const char *hash)
{
	uint32_t id = fsl_strpool_find(rank->names, hash, strlen(hash));
	for (size_t c = 0; id != FSL_STR_NONE && c < rank->n_comms; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		if (comm->group_id != id || comm->is_p2p) {
			continue;
		}
		int64_t wait_ns = waiting_ns(rank, comm);
		worst->sum_ns = fsl_sum_i64(worst->sum_ns, wait_ns);
		if (wait_ns > worst->wait_ns) {
			worst->wait_ns = wait_ns;
			worst->name = fsl_strpool_text(rank->names, comm->name_id);
			worst->n_members = 1;
			worst->later_ns = worst->lateness_ns = -1;
			worst->last_rank = rank->rank;
		}
	}
}

static struct worst find_worst(const struct fsl_profile_case *facts,
			       const struct fsl_profile_group *group)
{
	struct worst worst = {.name = ""};
	const struct fsl_profile_meetings *meetings = facts->meetings;
	for (size_t c = 0; c < meetings->match.n_channels; c++) {
		const struct fsl_channel *channel = &meetings->match.channels[c];
		uint32_t name_id = meetings->topology.groups[channel->group_idx].name_id;
		if (channel->is_p2p ||
		    strcmp(fsl_strpool_text(meetings->run.names, name_id), group->hash) != 0) {
			continue;
		}
		for (size_t i = 0; i < channel->n_instances; i++) {
			look_at(&worst, facts, channel, i);
		}
	}
	for (size_t r = 0; r < facts->profile->n_ranks && group->n_seen == 1; r++) {
		look_alone(&worst, &facts->profile->ranks[r], group->hash);
	}
	return worst;
}

static const char *name_of(const struct fsl_profile_group *group)
{
	return *group->name != '\0' ? group->name : group->hash;
}

/* "member 5 of the group (rank 13)" */
static void write_member(char *text, size_t size, const struct fsl_waited *waited)
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
	return is_level ? "capture all ranks at level 1 or higher: some tell no operators of "
			  "communication (communication.json)"
			: otherwise;
}

static struct fsl_profile_finding begin_outside(const struct fsl_profile_case *facts,
						const struct fsl_profile_group *group,
						const struct fsl_waited *waited)
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
		       const struct worst *worst)
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
				const struct fsl_profile_group *group, const struct worst *worst,
				const struct fsl_waited *waited, double sum_ms,
				struct fsl_error *err)
{
	const char *seen = fsl_profile_seen_text(facts->profile);
	char who[64], later[256] = "", of_it[160] = "", member[64], what[TEXT_MAX];
	double wait_ms = (double)worst->wait_ns / FSL_NS_PER_MS;
	struct fsl_profile_finding finding = begin_outside(facts, group, waited);
	(void)fsl_profile_finding_add_fact(&finding, "waiting", wait_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "waiting_in_all", sum_ms, "ms");
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
		group->size - group->n_seen, group->size, sum_ms, of_it);
	finding.gain_ms = sum_ms;
	finding.what = what;
	return fsl_profile_findings_add(findings, &finding, err);
}

/* The same by the signals alone, where operators are told with their durations only. */
static enum fsl_status add_signals(struct fsl_profile_findings *findings,
				   const struct fsl_profile_case *facts,
				   const struct fsl_profile_group *group,
				   const struct fsl_waited *waited, struct fsl_error *err)
{
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
	finding.gain_ms = waited->ms;
	finding.what = what;
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status add_outside(struct fsl_profile_findings *findings,
				   const struct fsl_profile_case *facts,
				   const struct fsl_profile_group *group, const struct worst *worst,
				   struct fsl_error *err)
{
	size_t n_steps = fsl_profile_most_steps(facts->profile);
	double least_ms = FSL_JUDGE_STALL_SHARE_MIN * fsl_profile_longest_step_ms(facts->profile);
	double sum_ms = (double)worst->sum_ns / FSL_NS_PER_MS / (double)n_steps;
	struct fsl_waited waited;
	FSL_TRY(fsl_waited_find(&waited, facts->profile, group, err));
	if (worst->wait_ns > 0 && !(sum_ms < least_ms)) {
		return add_idle(findings, facts, group, worst, &waited, sum_ms, err);
	}
	return waited.place >= 0 && !(waited.ms < least_ms)
		       ? add_signals(findings, facts, group, &waited, err)
		       : FSL_OK;
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
	struct worst worst = find_worst(facts, group);
	return add_outside(findings, facts, group, &worst, err);
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
