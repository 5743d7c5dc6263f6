/*
 * Lost records. The gap that one leaves holds the wait for others, which would pass for work that
 * nothing can shorten; so the operator is put back at the end of the others of its instance.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/sort.h"
#include "replay/graph.h"

static bool is_replayed(const struct fsl_replay_graph *graph, uint32_t step)
{
	return step < graph->job->cuts->n_steps && graph->window_of[step] != FSL_NO_NODE;
}

bool fsl_replay_is_lost(const struct fsl_replay_graph *graph, const struct fsl_channel *channel,
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
				if (fsl_replay_is_lost(graph, channel, i, m)) {
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
