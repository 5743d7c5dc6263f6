/*
 * Slow links: the shortest duration in an instance is free of waiting. If it grows against like
 * communicators, nobody is late: the transfer itself is slow.
 */
#include "blame/link.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "blame/blame.h"
#include "match/group_sizes.h"
#include "match/topology_parts.h"

/*
 * Ranks that left no data: whether they were late. Ranks that share a group with such a one, other
 * than the group in question, worked beside it; what held it up held them up too, and how late they
 * came to the same operator in groups of their own was seen.
 */
struct unseen {
	const struct fsl_case *facts; /* borrowed */
	uint32_t op_id;               /* late_ms is of this operator; FSL_STR_NONE: of none yet */
	double *late_ms;              /* [rank_idx * n_steps + step] */
	bool *is_seen;                /* [rank_idx]: uses it together with others */
};

/* A transfer above its reference that is to be explained. */
struct unseen_wait {
	const double *excess_ms; /* [step]; NaN: not seen */
	double threshold_ms;     /* a step is in question above this */
	double mean_ms;          /* of the steps in question */
	bool is_rise;            /* the reference is the channel's own past, not its like */
};

static enum fsl_status add_channel(struct unseen *unseen, const struct fsl_channel *channel,
				   struct fsl_error *err)
{
	struct fsl_windows late = {0};
	size_t n_steps = unseen->facts->blame->n_steps;
	enum fsl_status status = fsl_channel_lateness(&late, channel, unseen->facts->run, err);
	for (size_t m = 0; m < channel->n_members; m++) {
		unseen->is_seen[channel->members[m]] = true;
	}
	for (size_t i = 0; i < channel->n_instances && status == FSL_OK; i++) {
		for (size_t m = 0; m < channel->n_members && channel->step_idx[i] < n_steps; m++) {
			FSL_ASSERT(channel->members[m] < unseen->facts->blame->n_ranks);
			size_t at = channel->members[m] * n_steps + channel->step_idx[i];
			double ms = late.values[m * late.n_windows + i];
			unseen->late_ms[at] += isnan(ms) ? 0.0 : ms;
		}
	}
	fsl_windows_fini(&late);
	return status;
}

/* Lateness of all ranks in one operator. */
static enum fsl_status set_late(struct unseen *unseen, uint32_t op_id, struct fsl_error *err)
{
	const struct fsl_blame *blame = unseen->facts->blame;
	const struct fsl_match *match = unseen->facts->match;
	enum fsl_status status = FSL_OK;
	memset(unseen->late_ms, 0, blame->n_ranks * blame->n_steps * sizeof(*unseen->late_ms));
	memset(unseen->is_seen, 0, blame->n_ranks * sizeof(*unseen->is_seen));
	for (size_t c = 0; c < match->n_channels && status == FSL_OK; c++) {
		if (match->channels[c].op_id == op_id && !match->channels[c].disagrees) {
			status = add_channel(unseen, &match->channels[c], err);
		}
	}
	unseen->op_id = status == FSL_OK ? op_id : FSL_STR_NONE;
	return status;
}

/* How late the rank came in the steps that are to be explained, ms per step; more than in the
 * others when the transfer is compared with those. */
static double lateness_of(const struct unseen *unseen, size_t r, const struct unseen_wait *wait)
{
	size_t n_steps = unseen->facts->blame->n_steps, n_high = 0, n_rest = 0;
	double high_ms = 0.0, rest_ms = 0.0;
	for (size_t s = 0; s < n_steps; s++) {
		double late_ms = unseen->late_ms[r * n_steps + s];
		if (wait->excess_ms[s] > wait->threshold_ms) {
			high_ms += late_ms;
			n_high++;
		} else if (!isnan(wait->excess_ms[s])) {
			rest_ms += late_ms;
			n_rest++;
		}
	}
	return (n_high > 0 ? high_ms / (double)n_high : 0.0) -
	       (wait->is_rise && n_rest > 0 ? rest_ms / (double)n_rest : 0.0);
}

static bool shares_ranks(const struct fsl_group *a, const struct fsl_group *b)
{
	size_t i = 0, k = 0;
	while (i < a->n_ranks && k < b->n_ranks) {
		if (a->ranks[i] == b->ranks[k]) {
			return true;
		}
		a->ranks[i] < b->ranks[k] ? i++ : k++;
	}
	return false;
}

/* Point-to-point operators tie ranks of different stages, which do different work. */
static bool is_p2p(const struct fsl_run *run, const struct fsl_group *group)
{
	const struct fsl_rank *rank = fsl_run_rank(run, group->ranks[0]);
	for (size_t i = 0; rank != NULL && i < rank->n_ops; i++) {
		if (rank->ops[i].group_id == group->name_id) {
			const char *name = fsl_strpool_text(run->names, rank->ops[i].op_id);
			return fsl_op_class_from_name(name) == FSL_OP_P2P;
		}
	}
	return true;
}

/* Members of @group work beside a rank that left no data, which may be one of @asked: they wait for
 * it so often that it does not come to @asked later than they do to a group of theirs. */
static bool is_beside(const struct unseen *unseen, const struct fsl_group *group,
		      const struct fsl_group *asked)
{
	if (group->n_calls == 0 || asked->n_calls == 0 || shares_ranks(group, asked)) {
		return false;
	}
	double rate = (double)group->n_calls / (double)group->n_ranks;
	double asked_rate = (double)asked->n_calls / (double)asked->n_ranks;
	return rate >= FSL_RATE_RATIO * asked_rate && !is_p2p(unseen->facts->run, group);
}

/* True when some member was seen in the operator elsewhere and none of these came late. */
static bool came_in_time(const struct unseen *unseen, const struct fsl_group *group,
			 const struct unseen_wait *wait)
{
	bool is_seen = false;
	for (size_t m = 0; m < group->n_ranks; m++) {
		size_t r = fsl_run_rank_idx(unseen->facts->run, group->ranks[m]);
		if (r == SIZE_MAX || !unseen->is_seen[r]) {
			continue;
		}
		is_seen = true;
		if (lateness_of(unseen, r, wait) >= FSL_UNSEEN_LATE_SHARE * wait->mean_ms) {
			return false;
		}
	}
	return is_seen;
}

/*
 * True if the members of a channel's group that left no data came to it in time in the steps in
 * question, so that its transfer is no wait for them: every rank that meets a rank without data in
 * another group, and much more often, came in time to the same operator. False if nobody can tell.
 * @n_unseen_of: per group of the topology, its members that left no data.
 */
static enum fsl_status unseen_in_time(struct unseen *unseen, size_t channel_idx,
				      const size_t *n_unseen_of, const struct unseen_wait *wait,
				      bool *is_in_time, struct fsl_error *err)
{
	const struct fsl_case *facts = unseen->facts;
	const struct fsl_channel *channel = &facts->match->channels[channel_idx];
	const struct fsl_group *asked = &facts->topology->groups[channel->group_idx];
	size_t n_seen = fsl_ranks_seen(facts->run), n_beside = 0;
	if (unseen->op_id != channel->op_id) {
		FSL_TRY(set_late(unseen, channel->op_id, err));
	}
	*is_in_time = true;
	for (size_t g = 0; g < facts->topology->n_groups && *is_in_time; g++) {
		const struct fsl_group *group = &facts->topology->groups[g];
		if (n_unseen_of[g] > 0 && is_beside(unseen, group, asked)) {
			n_beside += n_unseen_of[g];
			*is_in_time = came_in_time(unseen, group, wait);
		}
	}
	*is_in_time &= n_beside > 0 && n_seen + n_beside >= facts->topology->n_expected_ranks;
	return FSL_OK;
}

/* Likeness of two channels: operator, kind and size of the group, messages, stages of the members.
 */
struct likeness {
	bool is_alone; /* like no other: how large the group should be is not known */
	uint32_t op_id;
	enum fsl_group_kind kind;
	int message;      /* size of its messages, in halves of powers of two */
	uint32_t n_uses;  /* in a usual step */
	size_t n_members; /* the unseen ones too */
	int32_t stage_min, stage_max;
	bool is_wait; /* with an unseen member; behind the others that are alike */
	size_t channel_idx;
};

static int compare_likeness(const void *a, const void *b)
{
	const struct likeness *x = a, *y = b;
	FSL_ORDER_BY(x->is_alone, y->is_alone);
	FSL_ORDER_BY(x->op_id, y->op_id);
	FSL_ORDER_BY(x->kind, y->kind);
	FSL_ORDER_BY(x->message, y->message);
	FSL_ORDER_BY(x->n_uses, y->n_uses);
	FSL_ORDER_BY(x->n_members, y->n_members);
	FSL_ORDER_BY(x->stage_min, y->stage_min);
	FSL_ORDER_BY(x->stage_max, y->stage_max);
	FSL_ORDER_BY(x->is_wait, y->is_wait);
	return FSL_ORDER(x->channel_idx, y->channel_idx);
}

static bool is_alike(const struct likeness *x, const struct likeness *y)
{
	return !x->is_alone && !y->is_alone && x->op_id == y->op_id && x->kind == y->kind &&
	       x->message == y->message && x->n_uses == y->n_uses && x->n_members == y->n_members &&
	       x->stage_min == y->stage_min && x->stage_max == y->stage_max;
}

/* Shortest duration of a complete instance, ms; NaN when a member is absent. */
static double transfer_ms(const struct fsl_channel *channel, size_t instance)
{
	int64_t shortest_ns = INT64_MAX;
	for (size_t m = 0; m < channel->n_members; m++) {
		int64_t dur_ns = fsl_channel_duration_ns(channel, instance, m);
		if (dur_ns < 0) {
			return NAN;
		}
		shortest_ns = dur_ns < shortest_ns ? dur_ns : shortest_ns;
	}
	return (double)shortest_ns / FSL_NS_PER_MS;
}

/* Complete instances of a channel in a usual step, from the steps that have any; 0: none. */
static uint32_t usual_uses(const struct fsl_channel *channel)
{
	uint32_t counts[FSL_LINK_USES_MAX + 1] = {0}, n = 0, usual = 0;
	for (size_t i = 0; i < channel->n_instances; i++) {
		n += isnan(transfer_ms(channel, i)) ? 0 : 1;
		bool is_last = i + 1 == channel->n_instances ||
			       channel->step_idx[i + 1] != channel->step_idx[i];
		if (is_last && channel->step_idx[i] != UINT32_MAX) {
			counts[n < FSL_LINK_USES_MAX ? n : FSL_LINK_USES_MAX] += n > 0;
		}
		n = is_last ? 0 : n;
	}
	for (uint32_t k = 1; k <= FSL_LINK_USES_MAX; k++) {
		usual = counts[k] > counts[usual] ? k : usual;
	}
	return usual;
}

/*
 * Transfer per step, as if it had as many uses as usual: an evaluation has more. NaN for steps in
 * which the channel has no complete instance.
 */
static void sum_transfer(double *row, const struct fsl_channel *channel, size_t n_usual,
			 size_t begin, size_t end)
{
	size_t n = 0, last = SIZE_MAX;
	for (size_t s = begin; s < end; s++) {
		row[s] = NAN;
	}
	for (size_t i = 0; i < channel->n_instances && !channel->disagrees; i++) {
		size_t step = channel->step_idx[i];
		double ms = step >= begin && step < end ? transfer_ms(channel, i) : (double)NAN;
		if (isnan(ms)) {
			continue;
		}
		if (step != last && last != SIZE_MAX && n_usual < FSL_LINK_USES_MAX) {
			row[last] *= (double)n_usual / (double)n;
		}
		n = step != last ? 1 : n + 1;
		last = step;
		row[step] = isnan(row[step]) ? ms : row[step] + ms;
	}
	if (last != SIZE_MAX && n_usual < FSL_LINK_USES_MAX) {
		row[last] *= (double)n_usual / (double)n;
	}
}

/* Each thread takes some steps of all channels, so that every sum is made in one order. @like: by
 * channel. */
static void sum_transfers(struct fsl_transfers *out, const struct fsl_match *match,
			  const struct likeness *like)
{
#pragma omp parallel
	{
		size_t n_steps = out->n_steps, thread = (size_t)omp_get_thread_num();
		size_t n_threads = (size_t)omp_get_num_threads();
		for (size_t c = 0; c < out->n_channels; c++) {
			sum_transfer(out->transfer_ms + c * n_steps, &match->channels[c],
				     like[c].n_uses, n_steps * thread / n_threads,
				     n_steps * (thread + 1) / n_threads);
		}
	}
}

/* Size of the messages of a channel: mean of its first instances, in halves of powers of two; 0:
 * not known. */
static int message_of(const struct fsl_channel *channel, const struct fsl_run *run)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t i = 0; i < channel->n_instances && n < FSL_LINK_USES_MAX; i++) {
		uint32_t op_idx = channel->op_idx[i * channel->n_members];
		if (op_idx != FSL_NO_OP) {
			sum += (double)run->ranks[channel->members[0]].ops[op_idx].n_elements;
			n++;
		}
	}
	return sum > 0.0 ? 1 + (int)lround(2.0 * log2(1.0 + sum / (double)n)) : 0;
}

static struct likeness likeness_of(const struct fsl_case *facts,
				   const struct fsl_group_sizes *sizes, size_t channel_idx)
{
	const struct fsl_channel *channel = &facts->match->channels[channel_idx];
	const struct fsl_group *group = &facts->topology->groups[channel->group_idx];
	struct likeness like = {.op_id = channel->op_id,
				.kind = group->kind,
				.message = message_of(channel, facts->run),
				.n_uses = usual_uses(channel),
				.n_members = channel->n_members,
				.stage_min = INT32_MAX,
				.stage_max = INT32_MIN,
				.is_wait = fsl_group_misses_members(sizes, group),
				.channel_idx = channel_idx};
	/* Messages from stage to stage are alike in all of a pipeline, if they are as large. */
	bool is_handed_on = channel->is_p2p && like.message > 0;
	for (size_t m = 0; m < channel->n_members && !is_handed_on; m++) {
		int32_t stage = facts->blame->peers.stage_of[channel->members[m]];
		like.stage_min = stage < like.stage_min ? stage : like.stage_min;
		like.stage_max = stage > like.stage_max ? stage : like.stage_max;
	}
	like.is_alone = like.is_wait && (channel->is_p2p || group->kind == FSL_GROUP_UNKNOWN);
	if (like.is_wait && !like.is_alone) {
		like.n_members = sizes->n_ranks[group->kind];
	}
	return like;
}

size_t fsl_links_count_unjudged(const struct fsl_case *facts)
{
	struct fsl_group_sizes sizes;
	size_t n = 0;
	fsl_group_sizes_find(&sizes, facts->run, facts->topology);
	for (size_t g = 0; g < facts->topology->n_groups; g++) {
		const struct fsl_group *group = &facts->topology->groups[g];
		n += group->n_calls > 0 && fsl_group_misses_members(&sizes, group);
	}
	return n;
}

enum fsl_status fsl_links_unseen(bool **is_unseen, struct fsl_arena *arena,
				 const struct fsl_case *facts, struct fsl_error *err)
{
	struct fsl_group_sizes sizes;
	fsl_group_sizes_find(&sizes, facts->run, facts->topology);
	FSL_TRY(FSL_ARENA_NEW(*is_unseen, arena, fsl_strpool_size(facts->run->names), "is_unseen",
			      err));
	for (size_t g = 0; g < facts->topology->n_groups; g++) {
		const struct fsl_group *group = &facts->topology->groups[g];
		if (group->name_id != FSL_STR_NONE) {
			(*is_unseen)[group->name_id] = fsl_group_misses_members(&sizes, group);
		}
	}
	return FSL_OK;
}

/* The search over all channels. */
struct search {
	const struct fsl_case *facts;
	const struct fsl_transfers *transfers;
	double *excess; /* [step] */
};

static double mean_over(const double *row, size_t begin, size_t end)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t s = begin; s < end; s++) {
		if (!isnan(row[s])) {
			sum += row[s];
			n++;
		}
	}
	return n > 0 ? sum / (double)n : NAN;
}

/* A channel that no like one is seen beside in most of its steps is compared with itself at its
 * best. */
static void refer_to_past(struct fsl_transfers *out, size_t channel_idx, double *work)
{
	const double *own = out->transfer_ms + channel_idx * out->n_steps;
	double *reference = out->reference_ms + channel_idx * out->n_steps;
	size_t n_seen = 0, n_beside = 0;
	for (size_t s = 0; s < out->n_steps; s++) {
		n_seen += isnan(own[s]) ? 0 : 1;
		n_beside += isnan(own[s]) || isnan(reference[s]) ? 0 : 1;
	}
	if ((double)n_beside >= FSL_LINK_BESIDE_SHARE_MIN * (double)n_seen) {
		return;
	}
	double level = fsl_best_level(own, out->n_steps, work);
	for (size_t s = 0; s < out->n_steps; s++) {
		reference[s] = level;
	}
	out->n_alike[channel_idx] = 1;
}

/* Channels whose members were all seen; they come first. */
static size_t count_whole(const struct likeness *like, size_t n_alike)
{
	size_t n_whole = 0;
	while (n_whole < n_alike && !like[n_whole].is_wait) {
		n_whole++;
	}
	return n_whole;
}

/*
 * Level of the other like channels in the steps of [begin, end). A channel whose members were not
 * all seen tells only an upper bound of the transfer, and serves if there is no other. @work: 3 *
 * channels.
 */
static void compare_alike(struct fsl_transfers *out, const struct likeness *like, size_t n_alike,
			  size_t begin, size_t end, double *work)
{
	size_t n_steps = out->n_steps, n_whole = count_whole(like, n_alike);
	size_t n_serving = n_whole == 1 ? n_alike : n_whole;
	double *levels = work + n_alike;
	for (size_t s = begin; s < end; s++) {
		for (size_t k = 0; k < n_serving; k++) {
			work[k] = out->transfer_ms[like[k].channel_idx * n_steps + s];
		}
		fsl_peer_levels(work, n_serving, levels, levels + n_alike);
		double whole_ms = fsl_peer_level(work, n_whole, levels + n_alike);
		for (size_t k = 0; k < n_alike; k++) {
			out->reference_ms[like[k].channel_idx * n_steps + s] =
				k < n_whole ? levels[k] : whole_ms;
		}
	}
}

/* The end of the channels like that at @begin. */
static size_t end_of_alike(const struct likeness *like, size_t n, size_t begin)
{
	size_t end = begin + 1;
	while (end < n && is_alike(&like[begin], &like[end])) {
		end++;
	}
	return end;
}

/* Each thread takes some steps; then the channels with too few like ones are compared with their
 * past. @like: in order; @work: steps. */
static enum fsl_status set_references(struct fsl_transfers *out, const struct likeness *like,
				      double *work, struct fsl_error *err)
{
	size_t n = out->n_channels;
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		double *levels = fsl_calloc(3 * n + 1, sizeof(*levels));
		size_t thread = (size_t)omp_get_thread_num();
		size_t n_threads = (size_t)omp_get_num_threads();
		is_short = levels == NULL;
		for (size_t begin = 0, end = 0; begin < n && !is_short; begin = end) {
			end = end_of_alike(like, n, begin);
			compare_alike(out, like + begin, end - begin,
				      out->n_steps * thread / n_threads,
				      out->n_steps * (thread + 1) / n_threads, levels);
		}
		fsl_free(levels);
	}
	if (is_short) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: channels=%zu", n);
	}
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		end = end_of_alike(like, n, begin);
		size_t n_whole = count_whole(like + begin, end - begin);
		size_t n_serving = n_whole == 1 ? end - begin : n_whole;
		for (size_t k = begin; k < end; k++) {
			size_t c = like[k].channel_idx;
			out->n_alike[c] = k - begin < n_whole ? n_serving : n_whole + 1;
			refer_to_past(out, c, work);
		}
	}
	return FSL_OK;
}

/* True and *link filled when transfer in the channel takes longer than the reference for good. */
static bool find_slow(const struct search *search, size_t channel_idx, struct fsl_link *link)
{
	const struct fsl_config *config = search->facts->config;
	const struct fsl_transfers *transfers = search->transfers;
	size_t n_steps = transfers->n_steps, n_alike = transfers->n_alike[channel_idx];
	const double *row = transfers->transfer_ms + channel_idx * n_steps;
	const double *reference = transfers->reference_ms + channel_idx * n_steps;
	for (size_t s = 0; s < n_steps; s++) {
		search->excess[s] = row[s] - reference[s];
	}
	double least_ms = fsl_least_loss_ms(config, search->facts->blame->step_ms);
	struct fsl_episode episode =
		fsl_episode_find(search->excess, n_steps, FSL_NOTED_LOSS_SHARE * least_ms);
	if (episode.n_high < FSL_LASTING_STEPS_MIN || episode.mean_ms < least_ms ||
	    episode.persistence < config->persistence_min) {
		return false;
	}
	/* Flows that share a card differ: one is first by chance, a few steps in a row. */
	size_t n_rest = n_steps - (episode.end - episode.begin);
	double n_chance = fsl_episode_by_chance(&episode, search->excess, n_steps,
						FSL_NOTED_LOSS_SHARE * least_ms) *
			  (double)transfers->n_channels;
	if (n_rest >= FSL_RISE_STEPS_MIN &&
	    (episode.n_high < FSL_LINK_STEPS_MIN || n_chance > FSL_CHANCE_MAX)) {
		return false;
	}
	if (n_alike == 1 && episode.begin < FSL_LASTING_STEPS_MIN) {
		return false; /* nothing to compare with: no like channel, no healthy past */
	}
	*link = (struct fsl_link){.channel_idx = channel_idx,
				  .group_idx =
					  search->facts->match->channels[channel_idx].group_idx,
				  .episode = episode,
				  .lost_ms_per_step = episode.mean_ms,
				  .n_peers = n_alike - 1};
	FSL_ASSERT(n_alike > 0 && episode.end <= n_steps);
	link->transfer_ms = mean_over(row, episode.begin, episode.end);
	link->peers_ms = mean_over(reference, episode.begin, episode.end);
	return link->transfer_ms >= FSL_LINK_RATIO_MIN * link->peers_ms;
}

/* True and *link filled when the channel is a slow link. */
static bool judge(const struct search *search, size_t channel_idx, struct fsl_link *link)
{
	/* Perhaps a wait for somebody unseen; or, in rings, for one that was paired with another.
	 */
	const struct fsl_match *match = search->facts->match;
	bool is_wait =
		search->transfers->is_wait[channel_idx] ||
		(match->channels[channel_idx].n_members == 2 && fsl_match_lacks_partners(match));
	return !is_wait && find_slow(search, channel_idx, link);
}

/* Same ranks of the same communicator: a pipeline's has a link between each two neighbours. */
bool fsl_link_has_channel(const struct fsl_link *link, const struct fsl_match *match,
			  size_t channel_idx)
{
	const struct fsl_channel *a = &match->channels[link->channel_idx];
	const struct fsl_channel *b = &match->channels[channel_idx];
	return a->group_idx == b->group_idx &&
	       (!a->is_p2p || !b->is_p2p ||
		(a->members[0] == b->members[0] && a->members[1] == b->members[1]));
}

/* Channels of one link: their losses add up, the costliest stands for all. */
static size_t merge_groups(struct fsl_link *links, size_t n_links, const struct fsl_match *match)
{
	size_t n_merged = 0;
	for (size_t i = 0; i < n_links; i++) {
		size_t k = 0;
		while (k < n_merged &&
		       !fsl_link_has_channel(&links[k], match, links[i].channel_idx)) {
			k++;
		}
		if (k == n_merged) {
			links[n_merged++] = links[i];
			continue;
		}
		double sum_ms = links[k].lost_ms_per_step + links[i].lost_ms_per_step;
		if (links[i].lost_ms_per_step > links[k].lost_ms_per_step) {
			links[k] = links[i];
		}
		links[k].lost_ms_per_step = sum_ms;
	}
	return n_merged;
}

static int compare_links(const void *a, const void *b)
{
	const struct fsl_link *x = a, *y = b;
	FSL_ORDER_BY(y->lost_ms_per_step, x->lost_ms_per_step);
	return FSL_ORDER(x->channel_idx, y->channel_idx);
}

/* Level above which a step of a channel is high, ms. */
static double threshold_ms(const struct fsl_case *facts)
{
	return FSL_NOTED_LOSS_SHARE * fsl_least_loss_ms(facts->config, facts->blame->step_ms);
}

/* Waits come and go: chance makes no episode that is as steady. */
static bool is_steady(const struct search *search, const struct fsl_episode *episode)
{
	return episode->persistence >= FSL_LINK_STEADY_SHARE_MIN &&
	       fsl_episode_by_chance(episode, search->excess, search->transfers->n_steps,
				     threshold_ms(search->facts)) <= FSL_CHANCE_MAX;
}

/*
 * A rise in a group with unseen members is no wait for them if they came in time. The group then is
 * a link like others. @steps: scratch.
 */
static enum fsl_status clear_waits(struct fsl_transfers *out, const struct fsl_case *facts,
				   const struct likeness *like, double *steps,
				   struct fsl_arena *scratch, struct fsl_error *err)
{
	const struct fsl_blame *blame = facts->blame;
	struct fsl_group_sizes sizes;
	struct unseen unseen = {.facts = facts, .op_id = FSL_STR_NONE};
	struct search search = {facts, out, steps};
	size_t *n_unseen_of = NULL;
	bool *in_time = NULL;
	FSL_TRY(FSL_ARENA_NEW(unseen.late_ms, scratch, blame->n_ranks * blame->n_steps, "late_ms",
			      err));
	FSL_TRY(FSL_ARENA_NEW(unseen.is_seen, scratch, blame->n_ranks, "is_seen", err));
	FSL_TRY(FSL_ARENA_NEW(n_unseen_of, scratch, facts->topology->n_groups, "n_unseen_of", err));
	FSL_TRY(FSL_ARENA_NEW(in_time, scratch, out->n_channels, "in_time", err));
	fsl_group_sizes_find(&sizes, facts->run, facts->topology);
	for (size_t g = 0; g < facts->topology->n_groups; g++) {
		n_unseen_of[g] = fsl_group_n_unseen(&sizes, &facts->topology->groups[g]);
	}
	for (size_t k = 0; k < out->n_channels; k++) {
		struct fsl_link link;
		size_t c = like[k].channel_idx;
		if (out->is_wait[c] && find_slow(&search, c, &link) &&
		    is_steady(&search, &link.episode)) {
			struct unseen_wait wait = {.excess_ms = steps,
						   .threshold_ms = threshold_ms(facts),
						   .mean_ms = link.episode.mean_ms,
						   .is_rise = out->n_alike[c] == 1};
			FSL_TRY(unseen_in_time(&unseen, c, n_unseen_of, &wait, &in_time[c], err));
		}
	}
	for (size_t c = 0; c < out->n_channels; c++) {
		struct fsl_link link = {.channel_idx = c};
		for (size_t k = 0; k < out->n_channels && in_time[c]; k++) {
			out->is_wait[k] &= !fsl_link_has_channel(&link, facts->match, k);
		}
	}
	return FSL_OK;
}

static enum fsl_status build(struct fsl_transfers *out, const struct fsl_case *facts,
			     struct fsl_arena *scratch, struct fsl_error *err)
{
	size_t n = out->n_channels, n_cells = 0;
	struct fsl_group_sizes sizes;
	struct likeness *like = NULL;
	double *work = NULL;
	fsl_group_sizes_find(&sizes, facts->run, facts->topology);
	n_cells = fsl_mul_size(n, out->n_steps, &n_cells) ? n_cells : SIZE_MAX;
	FSL_TRY(FSL_ARENA_NEW(like, scratch, n, "like", err));
	FSL_TRY(FSL_ARENA_NEW(work, scratch, 3 * n + out->n_steps + 1, "work", err));
	FSL_TRY(FSL_ARENA_NEW(out->transfer_ms, &out->arena, n_cells, "transfer_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->reference_ms, &out->arena, n_cells, "reference_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->n_alike, &out->arena, n, "n_alike", err));
	FSL_TRY(FSL_ARENA_NEW(out->is_wait, &out->arena, n, "is_wait", err));
	for (size_t c = 0; c < n; c++) {
		like[c] = likeness_of(facts, &sizes, c);
		out->is_wait[c] = like[c].is_wait;
	}
	sum_transfers(out, facts->match, like);
	qsort(like, n, sizeof(*like), compare_likeness);
	FSL_TRY(set_references(out, like, work, err));
	return sizes.n_ranks[FSL_GROUP_UNKNOWN] > 0
		       ? clear_waits(out, facts, like, work, scratch, err)
		       : FSL_OK;
}

enum fsl_status fsl_transfers_build(struct fsl_transfers *out, const struct fsl_case *facts,
				    struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	*out = (struct fsl_transfers){.n_channels = facts->match->n_channels,
				      .n_steps = facts->blame->n_steps};
	enum fsl_status status = build(out, facts, &scratch, err);
	fsl_arena_fini(&scratch);
	if (status != FSL_OK) {
		fsl_transfers_fini(out);
	}
	return status;
}

void fsl_transfers_fini(struct fsl_transfers *transfers)
{
	fsl_arena_fini(&transfers->arena);
	*transfers = (struct fsl_transfers){0};
}

enum fsl_status fsl_links_judge(struct fsl_link **links, size_t *n_links, struct fsl_arena *arena,
				const struct fsl_case *facts, const struct fsl_transfers *transfers,
				struct fsl_error *err)
{
	size_t n = transfers->n_channels, n_found = 0;
	struct search search = {facts, transfers, NULL};
	struct fsl_link *found = NULL;
	FSL_TRY(FSL_ARENA_NEW(search.excess, arena, transfers->n_steps, "excess", err));
	FSL_TRY(FSL_ARENA_NEW(found, arena, n, "found", err));
	for (size_t c = 0; c < n; c++) {
		n_found += judge(&search, c, &found[n_found]);
	}
	qsort(found, n_found, sizeof(*found), compare_links);
	n_found = merge_groups(found, n_found, facts->match);
	qsort(found, n_found, sizeof(*found), compare_links);
	*links = found;
	*n_links = n_found;
	return FSL_OK;
}

enum fsl_status fsl_links_find(struct fsl_link **links, size_t *n_links, struct fsl_arena *arena,
			       const struct fsl_case *facts, struct fsl_error *err)
{
	struct fsl_transfers transfers;
	enum fsl_status status = fsl_transfers_build(&transfers, facts, err);
	if (status == FSL_OK) {
		status = fsl_links_judge(links, n_links, arena, facts, &transfers, err);
	}
	fsl_transfers_fini(&transfers);
	return status;
}
