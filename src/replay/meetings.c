/* Meetings: the matched instances of the replayed steps. */
#include "base/number.h"
#include "replay/graph.h"

/* A sender that ended so long before the receiver came did not wait for it: longer than clocks are
 * off after correction. */
static const int64_t EAGER_NS_MIN = FSL_NS_PER_MS;

/* Members that wait for each other end together; where they do not, by more than this and more than
 * this share of the longest of them, the match is wrong. */
static const int64_t APART_NS_MAX = 10 * FSL_NS_PER_MS;
static const double APART_SHARE_MAX = 0.05;

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

/*
 * Lists the members of an instance, lost ones from event @lost on; 0 when one of them lies outside
 * the window or is taken.
 */
static uint32_t list_members(const struct fsl_replay *out, struct fsl_replay_graph *graph,
			     const struct fsl_channel *channel, size_t instance, uint32_t lost)
{
	uint32_t n = 0, w = graph->window_of[channel->step_idx[instance]];
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m], event = lost;
		if (op_idx != FSL_NO_OP) {
			event = event_of(out, graph, channel->members[m], op_idx, w);
		} else if (fsl_replay_is_lost(graph, channel, instance, m)) {
			lost++;
		} else {
			continue;
		}
		if (event == FSL_NO_NODE || graph->events[event].meeting != FSL_NO_NODE) {
			return 0;
		}
		graph->members[graph->n_members + n++] = (struct fsl_member){event, true};
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
	meeting->level_ns = meeting->transfer_ns;
	for (uint32_t m = 0; m < meeting->n_members && is_p2p; m++) {
		const struct fsl_event *event = &graph->events[members[m].event];
		members[m].is_waiting = event->end_ns >= last_ns - EAGER_NS_MIN;
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
	return apart_ns <= APART_NS_MAX || (double)apart_ns <= APART_SHARE_MAX * (double)longest_ns;
}

/* @lost: event of the first lost operator that is not a member yet; moves on. */
static enum fsl_status add_instance(struct fsl_replay *out, struct fsl_replay_graph *graph,
				    size_t channel_idx, size_t instance, uint32_t *lost,
				    struct fsl_error *err)
{
	const struct fsl_channel *channel = &graph->job->match->channels[channel_idx];
	uint32_t step = channel->step_idx[instance];
	if (step >= graph->job->cuts->n_steps || graph->window_of[step] == FSL_NO_NODE) {
		return FSL_OK;
	}
	enum fsl_status status = FSL_GROW(graph->members, graph->members_capacity,
					  graph->n_members + channel->n_members, err);
	if (status == FSL_OK) {
		status = FSL_GROW(graph->meetings, graph->meetings_capacity, graph->n_meetings + 1,
				  err);
	}
	if (status != FSL_OK) {
		return status;
	}
	uint32_t n = list_members(out, graph, channel, instance, *lost);
	for (size_t m = 0; m < channel->n_members; m++) {
		*lost += fsl_replay_is_lost(graph, channel, instance, m);
	}
	if (n >= 2) {
		struct fsl_meeting *meeting = &graph->meetings[graph->n_meetings];
		*meeting = (struct fsl_meeting){.member_begin = graph->n_members,
						.n_members = n,
						.channel_idx = (uint32_t)channel_idx,
						.step = graph->step_of[step]};
		set_meeting(graph, meeting, channel->is_p2p);
		if (!ends_together(graph, meeting)) {
			out->n_odd++;
			return FSL_OK;
		}
		for (uint32_t m = 0; m < n; m++) {
			const struct fsl_member *member = &graph->members[graph->n_members + m];
			graph->events[member->event].meeting = (uint32_t)graph->n_meetings;
		}
		graph->n_members += n;
		graph->n_meetings++;
	}
	return FSL_OK;
}

enum fsl_status fsl_replay_add_meetings(struct fsl_replay *out, struct fsl_replay_graph *graph,
					struct fsl_error *err)
{
	const struct fsl_match *match = graph->job->match;
	enum fsl_status status = FSL_OK;
	uint32_t lost = (uint32_t)graph->n_ops;
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		size_t n_instances = channel->disagrees ? 0 : channel->n_instances;
		for (size_t i = 0; i < n_instances && status == FSL_OK; i++) {
			status = add_instance(out, graph, c, i, &lost, err);
		}
	}
	return status;
}
