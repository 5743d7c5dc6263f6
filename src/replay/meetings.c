/* Meetings: the matched instances of the replayed steps. */
#include "base/log.h"
#include "base/number.h"
#include "replay/graph.h"

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
		} else if (fsl_replay_is_lost(graph, channel, candidate->instance, m)) {
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

static bool is_replayed(const struct fsl_replay_graph *graph, const struct fsl_channel *channel,
			size_t instance)
{
	uint32_t step = channel->step_idx[instance];
	return step < graph->job->cuts->n_steps && graph->window_of[step] != FSL_NO_NODE;
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
		*lost += fsl_replay_is_lost(graph, channel, instance, m);
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
			n += is_replayed(graph, channel, i);
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
			if (is_replayed(graph, channel, i)) {
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
