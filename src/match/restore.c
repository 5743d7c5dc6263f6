/* Lost operators are put back at the end of the other members of their instance. */
#include "match/restore.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"
#include "match/own_spans.h"
#include "match/restore_place.h"

struct restorer {
	struct fsl_run *run;
	struct fsl_match *match;
	struct fsl_lost_op *items;
	size_t n, capacity;
	const struct fsl_steps *steps;
	int64_t steps_clock_ns; /* of the rank that tells the steps, as match->clock_ns */
	int64_t *counts;        /* [steps->n_items] */
};

static int64_t median_of(int64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), fsl_compare_i64);
	return values[n / 2];
}

static uint32_t op_of(const struct fsl_channel *channel, size_t instance, size_t member)
{
	return channel->op_idx[instance * channel->n_members + member];
}

/* Step in which the first member that was recorded began; SIZE_MAX: none. */
static size_t step_of(const struct restorer *job, const struct fsl_channel *channel,
		      size_t instance)
{
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t k = op_of(channel, instance, m), r = channel->members[m];
		if (k != FSL_NO_OP) {
			int64_t begin_ns = fsl_op_begin_ns(&job->run->ranks[r].ops[k]);
			return fsl_steps_find(job->steps, begin_ns - job->match->clock_ns[r] +
								  job->steps_clock_ns);
		}
	}
	return SIZE_MAX;
}

/* Instances of a channel in a usual step; 1 for those that are not in every step. */
static size_t usual_count(const struct restorer *job, const struct fsl_channel *channel)
{
	size_t n_steps = job->steps->n_items;
	memset(job->counts, 0, n_steps * sizeof(*job->counts));
	for (size_t i = 0; i < channel->n_instances; i++) {
		size_t step = step_of(job, channel, i);
		if (step != SIZE_MAX) {
			job->counts[step]++;
		}
	}
	int64_t usual = n_steps > 0 ? median_of(job->counts, n_steps) : 1;
	return usual > 0 ? (size_t)usual : 1;
}

static bool is_async(const struct fsl_channel *channel, const struct fsl_rank *rank, size_t member)
{
	size_t n = 0, n_containing = 0;
	for (size_t i = 0; i < channel->n_instances; i++) {
		uint32_t k = op_of(channel, i, member);
		if (k != FSL_NO_OP && k + 1 < rank->n_ops) {
			n++;
			n_containing +=
				fsl_op_begin_ns(&rank->ops[k + 1]) < fsl_op_end_ns(&rank->ops[k]);
		}
	}
	return (double)n_containing > FSL_ASYNC_SHARE_MIN * (double)n;
}

/* Shortest duration in an instance, of the members that were recorded; INT64_MAX: of none. */
static int64_t shortest_of(const struct fsl_channel *channel, size_t instance, bool *is_whole)
{
	int64_t least_ns = INT64_MAX;
	*is_whole = true;
	for (size_t m = 0; m < channel->n_members; m++) {
		int64_t dur_ns = fsl_channel_duration_ns(channel, instance, m);
		*is_whole &= dur_ns >= 0;
		least_ns = dur_ns >= 0 && dur_ns < least_ns ? dur_ns : least_ns;
	}
	return least_ns;
}

/* Fills what is usual from the same place of the steps beside; false: nothing is known. */
static bool set_usual(struct fsl_lost_op *lost, const struct restorer *job, size_t per_step)
{
	const struct fsl_channel *channel = &job->match->channels[lost->channel];
	const struct fsl_rank *rank = &job->run->ranks[lost->rank_idx];
	int64_t gaps_ns[2 * FSL_BESIDE_MAX], durations_ns[2 * FSL_BESIDE_MAX],
		transfers_ns[2 * FSL_BESIDE_MAX];
	size_t n_gaps = 0, n_transfers = 0;
	int64_t least_ns = lost->waited_ns;
	for (size_t b = 0; b < 2 * (size_t)FSL_BESIDE_MAX; b++) {
		size_t away = (b / 2 + 1) * per_step;
		size_t i = b % 2 == 0 ? lost->instance - away : lost->instance + away;
		if (i >= channel->n_instances) { /* below 0 wraps */
			continue;
		}
		bool is_whole = true;
		int64_t transfer_ns = shortest_of(channel, i, &is_whole);
		if (is_whole) {
			transfers_ns[n_transfers++] = transfer_ns;
		}
		uint32_t k = op_of(channel, i, lost->member);
		if (k == FSL_NO_OP || k == 0) {
			continue;
		}
		least_ns = transfer_ns < least_ns ? transfer_ns : least_ns;
		const struct fsl_op *op = &rank->ops[k];
		int64_t begin_ns = fsl_op_begin_ns(op);
		lost->like = n_gaps == 0 ? k : lost->like;
		durations_ns[n_gaps] = fsl_op_end_ns(op) - begin_ns;
		gaps_ns[n_gaps++] = begin_ns - fsl_ended_before(rank, k, begin_ns);
	}
	if (n_gaps == 0) {
		return false;
	}
	lost->op = rank->ops[lost->like];
	lost->gap_ns = median_of(gaps_ns, n_gaps);
	lost->dur_ns = median_of(durations_ns, n_gaps);
	/* No instance beside is whole: no longer than in one to which this member came. */
	lost->transfer_ns = least_ns;
	lost->transfer_high_ns = lost->waited_ns;
	if (n_transfers > 0) {
		int64_t usual_ns = median_of(transfers_ns, n_transfers);
		lost->transfer_ns = usual_ns < lost->waited_ns ? usual_ns : lost->waited_ns;
		lost->transfer_high_ns = transfers_ns[n_transfers * 3 / 4];
	}
	return true;
}

/* End on the clock of the rank and shortest wait, from the members that were recorded. */
static void set_end(struct fsl_lost_op *lost, const struct restorer *job)
{
	const struct fsl_channel *channel = &job->match->channels[lost->channel];
	const int64_t *clock_ns = job->match->clock_ns;
	lost->end_ns = lost->waited_ns = INT64_MAX;
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t k = op_of(channel, lost->instance, m), r = channel->members[m];
		if (k == FSL_NO_OP) {
			continue;
		}
		const struct fsl_op *op = &job->run->ranks[r].ops[k];
		int64_t end_ns = fsl_op_end_ns(op) - clock_ns[r] + clock_ns[lost->rank_idx];
		int64_t dur_ns = fsl_op_end_ns(op) - fsl_op_begin_ns(op);
		lost->end_ns = end_ns < lost->end_ns ? end_ns : lost->end_ns;
		lost->waited_ns = dur_ns < lost->waited_ns ? dur_ns : lost->waited_ns;
	}
}

/* Begins of the uses of the member around the lost one: nothing else of the channel is between. */
static void set_bounds(struct fsl_lost_op *lost, const struct restorer *job)
{
	const struct fsl_channel *channel = &job->match->channels[lost->channel];
	const struct fsl_op *ops = job->run->ranks[lost->rank_idx].ops;
	size_t before = lost->instance, behind = lost->instance + 1;
	while (before > 0 && op_of(channel, before - 1, lost->member) == FSL_NO_OP) {
		before--;
	}
	while (behind < channel->n_instances && op_of(channel, behind, lost->member) == FSL_NO_OP) {
		behind++;
	}
	lost->after_ns = INT64_MIN;
	lost->before_ns = INT64_MAX;
	if (before > 0) {
		lost->after_ns = fsl_op_begin_ns(&ops[op_of(channel, before - 1, lost->member)]);
	}
	if (behind < channel->n_instances) {
		lost->before_ns = fsl_op_begin_ns(&ops[op_of(channel, behind, lost->member)]);
	}
}

static enum fsl_status list_channel(struct restorer *job, size_t c, struct fsl_error *err)
{
	const struct fsl_channel *channel = &job->match->channels[c];
	size_t per_step = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		const struct fsl_rank *rank = &job->run->ranks[channel->members[m]];
		bool is_first = true, runs_beside = false;
		for (size_t i = 0; i < channel->n_instances; i++) {
			if (op_of(channel, i, m) != FSL_NO_OP) {
				continue;
			}
			if (is_first) {
				is_first = false;
				runs_beside = is_async(channel, rank, m);
				per_step = per_step > 0 ? per_step : usual_count(job, channel);
			}
			FSL_TRY(FSL_GROW(job->items, job->capacity, job->n + 1, err));
			struct fsl_lost_op *lost = &job->items[job->n];
			*lost = (struct fsl_lost_op){.rank_idx = channel->members[m],
						     .channel = (uint32_t)c,
						     .member = (uint32_t)m,
						     .instance = i,
						     .is_async = runs_beside,
						     .tolerance_ns = FSL_CLOCK_TOLERANCE_NS};
			set_end(lost, job);
			set_bounds(lost, job);
			job->n += set_usual(lost, job, per_step);
		}
	}
	return FSL_OK;
}

static int compare_lost(const void *left, const void *right)
{
	const struct fsl_lost_op *x = left, *y = right;
	int order = FSL_ORDER(x->rank_idx, y->rank_idx);
	order = order != 0 ? order : FSL_ORDER(x->end_ns, y->end_ns);
	order = order != 0 ? order : FSL_ORDER(x->channel, y->channel);
	return order != 0 ? order : FSL_ORDER(x->instance, y->instance);
}

static int compare_placed(const void *left, const void *right)
{
	const struct fsl_lost_op *x = left, *y = right;
	int order = FSL_ORDER(y->is_placed, x->is_placed);
	int64_t x_ns = fsl_op_begin_ns(&x->op), y_ns = fsl_op_begin_ns(&y->op);
	order = order != 0 ? order : FSL_ORDER(x_ns, y_ns);
	return order != 0 ? order : compare_lost(left, right);
}

/* Merges the placed operators of one rank, sorted by begin, into its list and leaves remnants out;
 * @moved_to gets the new place of each old one. */
static enum fsl_status merge(struct fsl_rank *rank, struct fsl_lost_op *items, size_t n,
			     uint32_t *moved_to, struct fsl_error *err)
{
	size_t n_old = rank->n_ops, to = 0;
	bool has_device = n > 0 && items[0].op.dev_begin_ns != FSL_NS_ABSENT;
	struct fsl_op *ops = NULL;
	size_t capacity = 0;
	FSL_TRY(FSL_GROW(ops, capacity, n_old + n, err));
	for (size_t old = 0, new = 0; old < n_old || new < n;) {
		bool is_new = new < n && (old == n_old || fsl_op_begin_ns(&items[new].op) <
								  fsl_op_begin_ns(&rank->ops[old]));
		if (is_new) {
			FSL_ASSERT(to < n_old + n && items[new].is_placed);
			items[new].op_idx = (uint32_t)to;
			ops[to++] = items[new ++].op;
			continue;
		}
		FSL_ASSERT(to == 0 ||
			   fsl_op_begin_ns(&ops[to - 1]) <= fsl_op_begin_ns(&rank->ops[old]));
		bool is_left_out = fsl_lacks_device(&rank->ops[old], has_device);
		moved_to[old] = is_left_out ? FSL_NO_OP : (uint32_t)to;
		ops[to] = rank->ops[old++];
		to += is_left_out ? 0 : 1;
	}
	fsl_free(rank->ops);
	rank->ops = ops;
	rank->ops_capacity = capacity;
	rank->n_ops = to;
	return FSL_OK;
}

/* Places and merges what one rank lost, sorted by end. */
static enum fsl_status restore_rank(struct fsl_run *run, struct fsl_lost_op *items, size_t n,
				    uint32_t *moved_to, struct fsl_error *err)
{
	struct fsl_rank *rank = &run->ranks[items[0].rank_idx];
	int64_t restored_ns = INT64_MIN;
	size_t n_placed = 0;
	FSL_TRY(fsl_find_remnants(rank, items, n, err));
	for (size_t i = 0; i < n; i++) {
		fsl_place_lost(&items[i], rank, restored_ns);
		n_placed += items[i].is_placed;
		if (items[i].is_placed && !items[i].is_async) {
			restored_ns = items[i].end_ns;
		}
	}
	qsort(items, n, sizeof(*items), compare_placed);
	return merge(rank, items, n_placed, moved_to, err);
}

/* Gives the channels the new places of all operators. */
static size_t renumber(struct restorer *job, uint32_t *const *moved_to)
{
	size_t n_restored = 0;
	for (size_t c = 0; c < job->match->n_channels; c++) {
		struct fsl_channel *channel = &job->match->channels[c];
		channel->is_complete = false; /* what was left out may be lacking now */
		for (size_t k = 0; k < channel->n_instances * channel->n_members; k++) {
			const uint32_t *moved = moved_to[channel->members[k % channel->n_members]];
			if (moved != NULL && channel->op_idx[k] != FSL_NO_OP) {
				channel->op_idx[k] = moved[channel->op_idx[k]];
			}
		}
	}
	for (size_t i = 0; i < job->n; i++) {
		const struct fsl_lost_op *lost = &job->items[i];
		struct fsl_channel *channel = &job->match->channels[lost->channel];
		if (lost->is_placed) {
			channel->op_idx[lost->instance * channel->n_members + lost->member] =
				lost->op_idx;
			n_restored++;
		}
	}
	return n_restored;
}

static enum fsl_status restore_all(struct restorer *job, size_t *n_restored, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	uint32_t **moved_to = NULL;
	enum fsl_status status = FSL_NEW(&scratch, moved_to, job->run->n_ranks, err);
	qsort(job->items, job->n, sizeof(*job->items), compare_lost);
	for (size_t begin = 0, end = 0; begin < job->n && status == FSL_OK; begin = end) {
		uint32_t r = job->items[begin].rank_idx;
		for (end = begin; end < job->n && job->items[end].rank_idx == r;) {
			end++;
		}
		status = FSL_NEW(&scratch, moved_to[r], job->run->ranks[r].n_ops, err);
		if (status == FSL_OK) {
			status = restore_rank(job->run, job->items + begin, end - begin,
					      moved_to[r], err);
		}
	}
	if (status == FSL_OK) {
		*n_restored = renumber(job, moved_to);
	}
	fsl_arena_fini(&scratch);
	return status;
}

enum fsl_status fsl_restore_lost(struct fsl_run *run, struct fsl_match *match,
				 const struct fsl_steps *steps, size_t *n_restored,
				 struct fsl_error *err)
{
	struct restorer job = {.run = run, .match = match, .steps = steps};
	size_t source = fsl_run_rank_idx(run, steps->source_rank);
	enum fsl_status status = FSL_OK;
	*n_restored = 0;
	job.steps_clock_ns = source != SIZE_MAX ? match->clock_ns[source] : 0;
	job.counts = fsl_calloc(steps->n_items + 1, sizeof(*job.counts));
	if (job.counts == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", steps->n_items);
	}
	for (size_t c = 0; c < match->n_channels && status == FSL_OK; c++) {
		if (!match->channels[c].disagrees && !match->channels[c].is_complete) {
			status = list_channel(&job, c, err);
		}
	}
	if (status == FSL_OK && job.n > 0) {
		status = restore_all(&job, n_restored, err);
	}
	match->n_restored = *n_restored;
	if (status == FSL_OK && job.n > 0) {
		for (size_t c = 0; c < match->n_channels && status == FSL_OK; c++) {
			status =
				fsl_channel_measure_durations(&match->channels[c], match, run, err);
		}
	}
	fsl_free(job.items);
	fsl_free(job.counts);
	return status;
}
