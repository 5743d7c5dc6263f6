/* Meetings: the matched instances of the replayed steps. */
#include <stdlib.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "replay/graph.h"

/*
 * Lost records. The gap that one leaves holds the wait for others, which would pass for work that
 * nothing can shorten; so the operator is put back at the end of the others of its instance.
 */

static bool is_replayed(const struct fsl_replay_graph *graph, uint32_t step)
{
	return step < graph->job->cuts->n_steps && graph->window_of[step] != FSL_NO_NODE;
}

/* True when a member of an instance lost its record; both lists of them agree on this. */
static bool is_lost(const struct fsl_replay_graph *graph, const struct fsl_channel *channel,
		    size_t instance, size_t member)
{
	const struct fsl_cuts *cuts = graph->job->cuts;
	uint32_t step = channel->step_idx[instance], r = channel->members[member];
	return is_replayed(graph, step) && !channel->disagrees &&
	       channel->op_idx[instance * channel->n_members + member] == FSL_NO_OP &&
	       fsl_cuts_first(cuts, r, step) < fsl_cuts_first(cuts, r, (size_t)step + 1);
}

/* First instance of the channel in the step of an instance. */
static size_t first_in_step(const struct fsl_channel *channel, size_t instance)
{
	for (size_t n = 0; n < FSL_REPLAY_PLACES_MAX && instance > 0; n++) {
		if (channel->step_idx[instance - 1] != channel->step_idx[instance]) {
			break;
		}
		instance--;
	}
	return instance;
}

/* Gap before a member's operator; -1 when it has none or nothing came before it. */
static int64_t gap_before(const struct fsl_replay_graph *graph, const struct fsl_channel *channel,
			  size_t instance, size_t member)
{
	const struct fsl_rank *rank = &graph->job->run->ranks[channel->members[member]];
	uint32_t op_idx = channel->op_idx[instance * channel->n_members + member];
	if (op_idx == FSL_NO_OP || op_idx == 0) {
		return -1;
	}
	int64_t gap_ns =
		fsl_op_begin_ns(&rank->ops[op_idx]) - fsl_op_end_ns(&rank->ops[op_idx - 1]);
	return gap_ns > 0 ? gap_ns : 0;
}

/* Shortest duration in an instance; INT64_MAX when nobody is there. */
static int64_t transfer_of(const struct fsl_channel *channel, size_t instance)
{
	int64_t least_ns = INT64_MAX;
	for (size_t m = 0; m < channel->n_members; m++) {
		int64_t dur_ns = fsl_channel_duration_ns(channel, instance, m);
		least_ns = dur_ns >= 0 && dur_ns < least_ns ? dur_ns : least_ns;
	}
	return least_ns;
}

/* The same operator in the step before and the step after; SIZE_MAX: there is none. */
static void find_same(const struct fsl_channel *channel, size_t instance, size_t same[2])
{
	size_t first = first_in_step(channel, instance), place = instance - first, next = instance;
	same[0] = same[1] = SIZE_MAX;
	if (first > 0 && first_in_step(channel, first - 1) + place < first) {
		same[0] = first_in_step(channel, first - 1) + place;
	}
	while (next < channel->n_instances && next - first < FSL_REPLAY_PLACES_MAX &&
	       channel->step_idx[next] == channel->step_idx[instance]) {
		next++;
	}
	if (next + place < channel->n_instances &&
	    channel->step_idx[next + place] == channel->step_idx[next]) {
		same[1] = next + place;
	}
}

/*
 * Usual gap and transfer of the operator, from the steps beside: the shorter gap before it, as
 * another lost record can only make one longer; and the shorter transfer, as the lost operator may
 * be the one that came last here.
 */
static void set_usual(const struct fsl_replay_graph *graph, const struct fsl_channel *channel,
		      size_t instance, size_t member, struct fsl_lost *lost)
{
	size_t same[2];
	find_same(channel, instance, same);
	lost->usual_ns = -1;
	for (size_t k = 0; k < 2; k++) {
		if (same[k] == SIZE_MAX) {
			continue;
		}
		int64_t gap_ns = gap_before(graph, channel, same[k], member);
		int64_t transfer_ns = transfer_of(channel, same[k]);
		if (gap_ns >= 0 && (lost->usual_ns < 0 || gap_ns < lost->usual_ns)) {
			lost->usual_ns = gap_ns;
		}
		lost->dur_ns = transfer_ns < lost->dur_ns ? transfer_ns : lost->dur_ns;
	}
}

/* Fills end and duration from the members that are there; an instance has one at least. */
static void set_times(const struct fsl_replay_graph *graph, const struct fsl_channel *channel,
		      size_t instance, struct fsl_lost *lost)
{
	const struct fsl_replay_job *job = graph->job;
	bool has_any = false;
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m];
		if (op_idx == FSL_NO_OP) {
			continue;
		}
		const struct fsl_op *op = &job->run->ranks[channel->members[m]].ops[op_idx];
		int64_t end_ns = fsl_op_end_ns(op) - job->match->clock_ns[channel->members[m]] +
				 job->match->clock_ns[lost->rank_idx];
		int64_t dur_ns = fsl_op_end_ns(op) - fsl_op_begin_ns(op);
		lost->end_ns = !has_any || end_ns < lost->end_ns ? end_ns : lost->end_ns;
		lost->dur_ns = !has_any || dur_ns < lost->dur_ns ? dur_ns : lost->dur_ns;
		has_any = true;
	}
}

static int compare_lost(const void *a, const void *b)
{
	const struct fsl_lost *x = a, *y = b;
	FSL_ORDER_BY(x->rank_idx, y->rank_idx);
	FSL_ORDER_BY(x->window, y->window);
	FSL_ORDER_BY(x->end_ns, y->end_ns);
	return FSL_ORDER(x->event, y->event);
}

static enum fsl_status add_lost(struct fsl_replay_graph *graph, const struct fsl_channel *channel,
				size_t instance, size_t member, struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(graph->lost, graph->lost_capacity, graph->n_lost + 1, err));
	struct fsl_lost *lost = &graph->lost[graph->n_lost];
	uint32_t step = channel->step_idx[instance];
	*lost = (struct fsl_lost){.rank_idx = channel->members[member],
				  .window = graph->window_of[step],
				  .step = graph->step_of[step],
				  .event = (uint32_t)(graph->n_ops + graph->n_lost)};
	set_times(graph, channel, instance, lost);
	set_usual(graph, channel, instance, member, lost);
	FSL_ASSERT(lost->dur_ns >= 0);
	graph->n_lost++;
	return FSL_OK;
}

enum fsl_status fsl_replay_list_lost(struct fsl_replay *out, struct fsl_replay_graph *graph,
				     struct fsl_error *err)
{
	const struct fsl_match *match = graph->job->match;
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		size_t n_instances = channel->is_complete ? 0 : channel->n_instances;
		for (size_t i = 0; i < n_instances; i++) {
			size_t n_members =
				is_replayed(graph, channel->step_idx[i]) ? channel->n_members : 0;
			for (size_t m = 0; m < n_members; m++) {
				if (is_lost(graph, channel, i, m)) {
					FSL_TRY(add_lost(graph, channel, i, m, err));
				}
			}
		}
	}
	if (graph->n_lost > 0) {
		qsort(graph->lost, graph->n_lost, sizeof(*graph->lost), compare_lost);
	}
	out->n_lost = graph->n_lost;
	return FSL_OK;
}

size_t fsl_replay_first_lost(const struct fsl_replay_graph *graph, size_t rank_idx)
{
	size_t low = 0;
	FSL_BISECT(low, graph->n_lost, mid, graph->lost[mid].rank_idx < rank_idx);
	return low;
}

/* Event of an operator; FSL_NO_NODE outside the window. */
static uint32_t event_of(const struct fsl_replay *replay, const struct fsl_replay_graph *graph,
			 size_t rank_idx, size_t op_idx, uint32_t w)
{
	const struct fsl_cuts *cuts = graph->job->cuts;
	const struct fsl_window *window = &graph->windows[w];
	size_t first = fsl_cuts_first(cuts, rank_idx, replay->step_idx[window->begin]);
	size_t end = fsl_cuts_first(cuts, rank_idx, replay->step_idx[window->end - 1] + (size_t)1);
	if (op_idx < first || op_idx >= end) {
		return FSL_NO_NODE;
	}
	return (uint32_t)(graph->event_begin[rank_idx * graph->n_windows + w] + (op_idx - first));
}

/* An instance of the replayed steps. */
struct candidate {
	uint32_t channel_idx, lost; /* event of the first of its lost operators */
	size_t instance;
};

/*
 * Lists the members of an instance; 0 when one of them lies outside the window or is taken.
 */
static uint32_t list_members(const struct fsl_replay *out, const struct fsl_replay_graph *graph,
			     const struct candidate *candidate, struct fsl_member *members)
{
	const struct fsl_channel *channel = &graph->job->match->channels[candidate->channel_idx];
	const uint32_t *row = channel->op_idx + candidate->instance * channel->n_members;
	uint32_t n = 0, lost = candidate->lost;
	uint32_t w = graph->window_of[channel->step_idx[candidate->instance]];
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t event = lost;
		if (row[m] != FSL_NO_OP) {
			event = event_of(out, graph, channel->members[m], row[m], w);
		} else if (is_lost(graph, channel, candidate->instance, m)) {
			lost++;
		} else {
			continue;
		}
		if (event == FSL_NO_NODE || graph->events[event].meeting != FSL_NO_NODE) {
			return 0;
		}
		FSL_ASSERT(n == 0 || graph->events[members[n - 1].event].rank_idx !=
					     graph->events[event].rank_idx);
		members[n++] = (struct fsl_member){event, true};
	}
	return n;
}

/* Transfer, and who waits for whom. */
static void set_meeting(const struct fsl_replay_graph *graph, struct fsl_meeting *meeting,
			bool is_p2p)
{
	struct fsl_member *members = graph->members + meeting->member_begin;
	int64_t last_ns = INT64_MIN;
	meeting->transfer_ns = INT64_MAX;
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		const struct fsl_event *event = &graph->events[members[m].event];
		int64_t dur_ns = event->end_ns - event->begin_ns;
		meeting->transfer_ns =
			dur_ns < meeting->transfer_ns ? dur_ns : meeting->transfer_ns;
		last_ns = event->begin_ns > last_ns ? event->begin_ns : last_ns;
	}
	FSL_ASSERT(meeting->transfer_ns >= 0);
	meeting->level_ns = meeting->transfer_ns;
	for (uint32_t m = 0; m < meeting->n_members && is_p2p; m++) {
		const struct fsl_event *event = &graph->events[members[m].event];
		members[m].is_waiting = event->end_ns >= last_ns - FSL_REPLAY_CLOCK_NS;
	}
}

/* True when those who wait for each other end together. */
static bool ends_together(const struct fsl_replay_graph *graph, const struct fsl_meeting *meeting)
{
	const struct fsl_member *members = graph->members + meeting->member_begin;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, longest_ns = 0;
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		const struct fsl_event *event = &graph->events[members[m].event];
		int64_t dur_ns = event->end_ns - event->begin_ns;
		if (members[m].is_waiting) {
			first_ns = event->end_ns < first_ns ? event->end_ns : first_ns;
			last_ns = event->end_ns > last_ns ? event->end_ns : last_ns;
			longest_ns = dur_ns > longest_ns ? dur_ns : longest_ns;
		}
	}
	int64_t apart_ns = last_ns > first_ns ? last_ns - first_ns : 0;
	return apart_ns <= FSL_REPLAY_APART_NS_MAX ||
	       (double)apart_ns <= FSL_REPLAY_APART_SHARE_MAX * (double)longest_ns;
}

/* Lists an instance; *lost moves on by its lost operators. */
static void add_candidate(struct candidate *items, struct fsl_replay_graph *graph,
			  size_t channel_idx, size_t instance, uint32_t *lost)
{
	const struct fsl_channel *channel = &graph->job->match->channels[channel_idx];
	items[graph->n_meetings] = (struct candidate){(uint32_t)channel_idx, *lost, instance};
	graph->meetings[graph->n_meetings++] =
		(struct fsl_meeting){.member_begin = graph->n_members,
				     .channel_idx = (uint32_t)channel_idx,
				     .step = graph->step_of[channel->step_idx[instance]]};
	graph->n_members += channel->n_members;
	for (size_t m = 0; m < channel->n_members && !channel->is_complete; m++) {
		*lost += is_lost(graph, channel, instance, m);
	}
}

static size_t count_candidates(const struct fsl_replay_graph *graph)
{
	const struct fsl_match *match = graph->job->match;
	size_t n = 0;
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		size_t n_instances = channel->disagrees ? 0 : channel->n_instances;
		for (size_t i = 0; i < n_instances; i++) {
			n += is_replayed(graph, channel->step_idx[i]);
		}
	}
	return n;
}

/* The instances of the replayed steps, in order of channel and instance, with a meeting and room
 * for members each. They are counted first: arrays that grow are copied again and again. */
static enum fsl_status list_candidates(struct candidate **items, struct fsl_replay_graph *graph,
				       struct fsl_error *err)
{
	const struct fsl_match *match = graph->job->match;
	uint32_t lost = (uint32_t)graph->n_ops;
	size_t n = count_candidates(graph), capacity = 0;
	FSL_TRY(FSL_GROW(*items, capacity, n + 1, err));
	FSL_TRY(FSL_GROW(graph->meetings, graph->meetings_capacity, n + 1, err));
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		size_t n_instances = channel->disagrees ? 0 : channel->n_instances;
		for (size_t i = 0; i < n_instances; i++) {
			if (is_replayed(graph, channel->step_idx[i])) {
				add_candidate(*items, graph, c, i, &lost);
			}
		}
	}
	return FSL_GROW(graph->members, graph->members_capacity, graph->n_members, err);
}

/* Fills the meeting of an instance; it keeps no members if nobody meets. False: its members end
 * apart. */
static bool meet(const struct fsl_replay *out, struct fsl_replay_graph *graph,
		 const struct candidate *candidate, uint32_t meeting_idx)
{
	struct fsl_meeting *meeting = &graph->meetings[meeting_idx];
	struct fsl_member *members = graph->members + meeting->member_begin;
	const struct fsl_channel *channel = &graph->job->match->channels[candidate->channel_idx];
	meeting->n_members = list_members(out, graph, candidate, members);
	if (meeting->n_members < 2) {
		meeting->n_members = 0;
		return true;
	}
	set_meeting(graph, meeting, channel->is_p2p);
	if (!ends_together(graph, meeting)) {
		meeting->n_members = 0;
		return false;
	}
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		graph->events[members[m].event].meeting = meeting_idx;
	}
	return true;
}

/* Windows on threads: an instance lies in one of them. */
static enum fsl_status meet_all(struct fsl_replay *out, struct fsl_replay_graph *graph,
				const struct candidate *candidates, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct fsl_buckets windows;
	size_t n_odd = 0, n_meetings = 0;
	if (!fsl_replay_meetings_by_window(&windows, &scratch, out, graph)) {
		fsl_arena_fini(&scratch);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: meetings=%zu",
				graph->n_meetings);
	}
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : n_odd, n_meetings)
	for (size_t w = 0; w < graph->n_windows; w++) {
		for (size_t k = windows.begin[w]; k < windows.begin[w + 1]; k++) {
			uint32_t i = windows.list[k];
			n_odd += !meet(out, graph, &candidates[i], i);
			n_meetings += graph->meetings[i].n_members > 0;
		}
	}
	out->n_odd = n_odd;
	out->n_meetings = n_meetings;
	fsl_arena_fini(&scratch);
	return FSL_OK;
}

enum fsl_status fsl_replay_add_meetings(struct fsl_replay *out, struct fsl_replay_graph *graph,
					struct fsl_error *err)
{
	struct candidate *candidates = NULL;
	enum fsl_status status = list_candidates(&candidates, graph, err);
	if (status == FSL_OK) {
		status = meet_all(out, graph, candidates, err);
	}
	fsl_free(candidates);
	return status;
}
