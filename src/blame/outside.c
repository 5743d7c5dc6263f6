/* Captured members of a group beside those that were not captured. */
#include "blame/outside.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/limits.h"
#include "capture/step_rows.h"

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

/* The profile and its collectives, in which waits are looked for. */
struct search {
	const struct fsl_profile *profile;
	const struct fsl_profile_meetings *meetings;
	struct fsl_outside_wait longest;
};

static void add_wait(struct fsl_outside_wait *longest, struct fsl_outside_wait here)
{
	here.sum_ns = fsl_sum_i64(longest->sum_ns, here.wait_ns);
	if (here.wait_ns > longest->wait_ns) {
		*longest = here;
	}
	longest->sum_ns = here.sum_ns;
}

static void look_at(struct search *search, const struct fsl_channel *channel, size_t instance)
{
	struct fsl_outside_wait here = {.wait_ns = INT64_MAX};
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, longest_ns = 0, shortest_ns = INT64_MAX;
	for (size_t m = 0; m < channel->n_members; m++) {
		const struct fsl_profile_comm *comm =
			fsl_meeting_comm(search->meetings, search->profile, channel, instance, m);
		if (comm == NULL) {
			continue;
		}
		const struct fsl_profile_rank *rank = &search->profile->ranks[channel->members[m]];
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
	if (here.n_members > 0) {
		here.later_ns = last_ns - first_ns;
		here.lateness_ns = longest_ns - shortest_ns;
		add_wait(&search->longest, here);
	}
}

/* Channels lack groups with one captured member: its operators one by one. */
static void look_alone(struct search *search, const struct fsl_profile_rank *rank, const char *hash)
{
	uint32_t id = fsl_strpool_find(rank->names, hash, strlen(hash));
	for (size_t c = 0; id != FSL_STR_NONE && c < rank->n_comms; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		if (comm->group_id == id && !comm->is_p2p) {
			add_wait(&search->longest,
				 (struct fsl_outside_wait){
					 .wait_ns = waiting_ns(rank, comm),
					 .name = fsl_strpool_text(rank->names, comm->name_id),
					 .n_members = 1,
					 .later_ns = -1,
					 .lateness_ns = -1,
					 .last_rank = rank->rank});
		}
	}
}

static void find_longest(struct search *search, const struct fsl_profile_group *group)
{
	const struct fsl_profile_meetings *meetings = search->meetings;
	for (size_t c = 0; c < meetings->match.n_channels; c++) {
		const struct fsl_channel *channel = &meetings->match.channels[c];
		uint32_t name_id = meetings->topology.groups[channel->group_idx].name_id;
		if (channel->is_p2p ||
		    strcmp(fsl_strpool_text(meetings->run.names, name_id), group->hash) != 0) {
			continue;
		}
		for (size_t i = 0; i < channel->n_instances; i++) {
			look_at(search, channel, i);
		}
	}
	for (size_t r = 0; r < search->profile->n_ranks && group->n_seen == 1; r++) {
		look_alone(search, &search->profile->ranks[r], group->hash);
	}
}

static const struct fsl_outside_member nobody = {.place = -1, .rank = -1, .share = NAN, .ms = NAN};

/* The longest wait of one rank, and the member that it waited for. */
struct most {
	int32_t place; /* -1: too few members to tell */
	double ms;     /* per step */
};

/* Adds what @rank waited for each member to @sums [group->size], ms per step. */
static struct most add_rank(double *sums, const struct fsl_profile_rank *rank,
			    const struct fsl_profile_group *group)
{
	uint32_t id = fsl_strpool_find(rank->names, group->hash, strlen(group->hash));
	double per_ms = (double)FSL_NS_PER_MS * (double)fsl_profile_n_steps(rank);
	struct most most = {.place = -1};
	size_t n = 0;
	for (size_t i = 0; id != FSL_STR_NONE && i < rank->n_waits; i++) {
		const struct fsl_profile_signal_wait *wait = &rank->waits[i];
		if (wait->group_id != id || (size_t)wait->place >= group->size) {
			continue;
		}
		double ms = (double)wait->wait_ns / per_ms;
		n++;
		sums[wait->place] += ms;
		if (ms > most.ms) {
			most = (struct most){wait->place, ms};
		}
	}
	return n >= FSL_OUTSIDE_MEMBERS_MIN ? most : (struct most){.place = -1};
}

/* @sums: [group->size], 0. */
static struct fsl_outside_member find_member(const struct fsl_profile *profile,
					     const struct fsl_profile_group *group, double *sums)
{
	struct fsl_outside_member waited = nobody;
	double sum_ms = 0.0;
	for (size_t i = 0; i < group->n_seen; i++) {
		const struct fsl_profile_rank *rank = fsl_profile_rank_of(profile, group->seen[i]);
		struct most most =
			rank != NULL ? add_rank(sums, rank, group) : (struct most){.place = -1};
		if (most.place < 0 || (i > 0 && most.place != waited.place)) {
			return nobody;
		}
		waited.place = most.place;
		waited.ms = fmin(waited.ms, most.ms); /* the number of the two, at first */
	}
	for (size_t k = 0; k < group->size; k++) {
		sum_ms += sums[k];
	}
	if (waited.place < 0 || !(sums[waited.place] >= FSL_OUTSIDE_MEMBER_SHARE_MIN * sum_ms)) {
		return nobody;
	}
	waited.share = sums[waited.place] / sum_ms;
	waited.rank = fsl_profile_group_rank(group, waited.place);
	bool is_captured = waited.rank >= 0 && fsl_profile_rank_of(profile, waited.rank) != NULL;
	return is_captured ? nobody : waited;
}

enum fsl_status fsl_outside_find(struct fsl_outside *out, const struct fsl_profile *profile,
				 const struct fsl_profile_meetings *meetings,
				 const struct fsl_profile_group *group, struct fsl_error *err)
{
	struct search search = {profile, meetings, {.name = ""}};
	double least_ms = FSL_ALL_WAIT_SHARE_MIN * fsl_profile_longest_step_ms(profile);
	double n_steps = (double)fsl_profile_most_steps(profile), *sums = NULL;
	FSL_TRY(FSL_NEW(sums, group->size + 1, "members", err));
	find_longest(&search, group);
	double sum_ms = (double)search.longest.sum_ns / FSL_NS_PER_MS / n_steps;
	*out = (struct fsl_outside){search.longest, find_member(profile, group, sums), NAN, false};
	if (search.longest.wait_ns > 0 && !(sum_ms < least_ms)) {
		out->cost_ms = sum_ms;
	} else if (out->member.place >= 0 && !(out->member.ms < least_ms)) {
		out->cost_ms = out->member.ms;
		out->is_by_signals = true;
	}
	fsl_free(sums);
	return FSL_OK;
}

/* In a collective all members end together. The member with the shortest operator waited for
 * nobody; every other member waited as much as its operator is longer. */
static void split_instance(struct fsl_waits *out, const double *n_steps,
			   const struct fsl_channel *channel, size_t instance)
{
	int64_t shortest_ns = INT64_MAX;
	size_t n = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		int64_t dur_ns = fsl_channel_duration_ns(channel, instance, m);
		shortest_ns = dur_ns >= 0 && dur_ns < shortest_ns ? dur_ns : shortest_ns;
		n += dur_ns >= 0 ? 1 : 0;
	}
	for (size_t m = 0; m < channel->n_members && n > 1; m++) {
		int64_t dur_ns = fsl_channel_duration_ns(channel, instance, m);
		size_t r = channel->members[m];
		if (dur_ns >= 0) {
			double per_ms = FSL_NS_PER_MS * n_steps[r];
			out->wait_ms[r] = isnan(out->wait_ms[r]) ? 0.0 : out->wait_ms[r];
			out->transfer_ms[r] =
				isnan(out->transfer_ms[r]) ? 0.0 : out->transfer_ms[r];
			out->wait_ms[r] += (double)(dur_ns - shortest_ns) / per_ms;
			out->transfer_ms[r] += (double)shortest_ns / per_ms;
		}
	}
}

/* With members that were not captured nobody knows who waited for nobody. */
static bool is_whole(const struct fsl_profile_cluster *cluster,
		     const struct fsl_profile_meetings *meetings, const struct fsl_channel *channel)
{
	uint32_t name_id = meetings->topology.groups[channel->group_idx].name_id;
	const char *hash = fsl_strpool_text(meetings->run.names, name_id);
	size_t g = fsl_profile_group_find(cluster, hash, false);
	const struct fsl_profile_group *group = g != SIZE_MAX ? &cluster->groups[g] : NULL;
	return group != NULL && group->is_size_known && group->n_seen >= group->size;
}

enum fsl_status fsl_waits_split(struct fsl_waits *out, const struct fsl_profile *profile,
				const struct fsl_profile_cluster *cluster,
				const struct fsl_profile_meetings *meetings, struct fsl_error *err)
{
	*out = (struct fsl_waits){0};
	size_t n = profile->n_ranks;
	double *n_steps = NULL;
	FSL_TRY(FSL_ARENA_NEW(n_steps, &out->arena, 3 * n, "ranks", err));
	out->wait_ms = n_steps + n;
	out->transfer_ms = n_steps + 2 * n;
	for (size_t r = 0; r < n; r++) {
		n_steps[r] = (double)fsl_profile_n_steps(&profile->ranks[r]);
		out->wait_ms[r] = out->transfer_ms[r] = NAN;
	}
	for (size_t c = 0; c < meetings->match.n_channels; c++) {
		const struct fsl_channel *channel = &meetings->match.channels[c];
		bool is_told = fsl_meeting_tells_lateness(meetings, channel) &&
			       is_whole(cluster, meetings, channel);
		for (size_t i = 0; is_told && i < channel->n_instances; i++) {
			split_instance(out, n_steps, channel, i);
		}
	}
	return FSL_OK;
}

void fsl_waits_fini(struct fsl_waits *waits)
{
	fsl_arena_fini(&waits->arena);
	*waits = (struct fsl_waits){0};
}
