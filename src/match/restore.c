/* Lost operators are put back at the end of the other members of their instance. */
#include "match/restore.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"
#include "match/limits.h"
#include "match/own_spans.h"

/* One operator to be put back; times on the clock of its rank. */
struct lost_op {
	uint32_t rank_idx, channel, member;
	size_t instance;
	int64_t end_ns;
	int64_t waited_ns;        /* shortest duration of the others */
	int64_t transfer_ns;      /* what is usual */
	int64_t transfer_high_ns; /* what chance makes of it */
	int64_t gap_ns;           /* usual work before it */
	int64_t dur_ns;           /* usual duration */
	/* Begins of the uses before and behind it. */
	int64_t after_ns, before_ns;
	uint32_t like; /* operator of the rank at the same place of another step */
	int64_t tolerance_ns;
	const struct fsl_op *remnant; /* what is left of its record; NULL: nothing */
	bool is_async;
	bool is_placed;
	uint32_t op_idx; /* its index in the rank's operators */
	struct fsl_op op;
};

/* True when an operator of a rank with device times lost its own: its host times say nothing about
 * when it ran. */
static bool lacks_device(const struct fsl_op *op, bool has_device)
{
	return has_device && op->dev_begin_ns == FSL_NS_ABSENT;
}

/* Places a lost operator by what is left of its record, by its neighbours and by what is usual. */

/* Latest end by @time_ns of the operators before @op_idx; @time_ns when none ended by then. */
static int64_t ended_before(const struct fsl_rank *rank, size_t op_idx, int64_t time_ns)
{
	int64_t latest_ns = INT64_MIN;
	bool has_device = rank->ops[op_idx].dev_begin_ns != FSL_NS_ABSENT;
	for (size_t k = op_idx, n = 0; k-- > 0 && n < FSL_LOST_LOOK_BACK_OPS; n++) {
		if (lacks_device(&rank->ops[k], has_device)) {
			continue;
		}
		int64_t end_ns = fsl_op_end_ns(&rank->ops[k]);
		latest_ns = end_ns <= time_ns && end_ns > latest_ns ? end_ns : latest_ns;
	}
	return latest_ns == INT64_MIN ? time_ns : latest_ns;
}

/* First remnant at or after @time_ns. */
static size_t remnant_at(const struct fsl_rank *rank, int64_t time_ns)
{
	size_t low = 0;
	FSL_BISECT(low, rank->n_remnants, mid, fsl_remnant_ns(&rank->remnants[mid]) < time_ns);
	return low;
}

static bool is_same(const struct fsl_op *a, const struct fsl_op *b)
{
	return a->op_id == b->op_id && a->group_id == b->group_id;
}

/*
 * The remnant of a lost operator: an end at the end of its instance, under its name or without one;
 * else the latest begin under its name that has no end. @is_taken: per remnant.
 */
static size_t find_remnant(const struct lost_op *lost, const struct fsl_rank *rank,
			   const bool *is_taken)
{
	size_t best = SIZE_MAX, behind = remnant_at(rank, lost->end_ns + lost->tolerance_ns + 1);
	for (size_t i = behind; i-- > 0;) {
		const struct fsl_op *remnant = &rank->remnants[i];
		bool is_unnamed = remnant->op_id == FSL_STR_NONE;
		if (fsl_remnant_ns(remnant) < lost->end_ns - lost->tolerance_ns) {
			break;
		}
		if (!is_taken[i] && remnant->dev_end_ns != FSL_NS_ABSENT &&
		    (is_same(remnant, &lost->op) || (is_unnamed && best == SIZE_MAX))) {
			best = i;
		}
	}
	for (size_t i = behind, n = 0; i-- > 0 && n < FSL_LOST_REMNANTS && best == SIZE_MAX; n++) {
		const struct fsl_op *remnant = &rank->remnants[i];
		if (!is_taken[i] && remnant->dev_end_ns == FSL_NS_ABSENT &&
		    is_same(remnant, &lost->op) && remnant->dev_begin_ns > lost->after_ns &&
		    remnant->dev_begin_ns < lost->before_ns) {
			best = i;
		}
	}
	return best;
}

/* Finds what is left of the records of one rank's lost operators, sorted by end. */
static enum fsl_status find_remnants(const struct fsl_rank *rank, struct lost_op *items, size_t n,
				     struct fsl_error *err)
{
	bool *is_taken = fsl_calloc(rank->n_remnants + 1, sizeof(*is_taken));
	if (is_taken == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: remnants=%zu",
				rank->n_remnants);
	}
	for (size_t i = 0; i < n; i++) {
		size_t k = find_remnant(&items[i], rank, is_taken);
		if (k != SIZE_MAX) {
			items[i].remnant = &rank->remnants[k];
			is_taken[k] = true;
		}
	}
	fsl_free(is_taken);
	return FSL_OK;
}

/* Begin of a synchronous operator that the rank could begin from @free_ns on. INT64_MIN: nothing
 * near it is known to have ended before, so it began when its transfer did. */
static int64_t begin_of(const struct lost_op *lost, int64_t free_ns)
{
	int64_t last_ns = lost->end_ns - lost->transfer_ns;
	if (free_ns == INT64_MIN) {
		return last_ns;
	}
	int64_t usual_ns = free_ns + lost->gap_ns;
	int64_t waited_ns = lost->waited_ns - lost->transfer_high_ns;
	bool is_awaited =
		waited_ns > FSL_END_JITTER_NS &&
		(double)waited_ns >= FSL_LOST_WAITED_SHARE_MIN * (double)(last_ns - usual_ns);
	int64_t begin_ns = is_awaited || last_ns < usual_ns ? last_ns : usual_ns;
	return begin_ns > free_ns ? begin_ns : free_ns;
}

static void set_times(struct fsl_op *op, int64_t begin_ns, int64_t end_ns)
{
	bool has_device = op->dev_begin_ns != FSL_NS_ABSENT;
	FSL_ASSERT(begin_ns <= end_ns);
	op->host_begin_ns = has_device ? FSL_NS_ABSENT : begin_ns;
	op->host_end_ns = has_device ? FSL_NS_ABSENT : end_ns;
	op->dev_begin_ns = has_device ? begin_ns : FSL_NS_ABSENT;
	op->dev_end_ns = has_device ? end_ns : FSL_NS_ABSENT;
	op->id = FSL_OP_ID_RESTORED;
	op->step = -1;
}

/* Latest end before a lost operator, and its own end, cut to the time that the rank's other
 * operators leave it; false if it would end inside a synchronous one. @k: the next operator. */
static bool find_gap(struct lost_op *lost, const struct fsl_rank *rank, size_t k, int64_t *free_ns)
{
	int64_t next_ns = fsl_op_begin_ns(&rank->ops[k]);
	int64_t end_ns = lost->end_ns < next_ns ? lost->end_ns : next_ns;
	bool has_device = lost->op.dev_begin_ns != FSL_NS_ABSENT;
	for (size_t i = k, n = 0; i-- > 0 && n < FSL_LOST_LOOK_BACK_OPS; n++) {
		if (lacks_device(&rank->ops[i], has_device)) {
			continue;
		}
		int64_t other_ns = fsl_op_end_ns(&rank->ops[i]);
		bool holds_next =
			i + 1 < rank->n_ops && fsl_op_begin_ns(&rank->ops[i + 1]) < other_ns;
		if (other_ns > end_ns + lost->tolerance_ns && !holds_next) {
			return false;
		}
		if (other_ns <= end_ns + lost->tolerance_ns && other_ns > *free_ns) {
			*free_ns = other_ns;
		}
	}
	lost->end_ns = end_ns;
	return true;
}

/*
 * Begin of an asynchronous operator, which need not be long before its end: between the two
 * operators that are its neighbours in another step; if these are not found, its usual duration
 * before its end.
 */
static int64_t async_begin(const struct lost_op *lost, const struct fsl_rank *rank)
{
	size_t k = fsl_first_op_at(rank, lost->end_ns);
	for (size_t n = 0; n < FSL_LOST_NEIGHBOURS_OPS && k > 0 && lost->like > 0 &&
			   lost->like + 1 < rank->n_ops && k < rank->n_ops;
	     n++, k--) {
		int64_t begin_ns = fsl_op_begin_ns(&rank->ops[k]);
		if (begin_ns < lost->after_ns) {
			break;
		}
		if (is_same(&rank->ops[k], &rank->ops[lost->like + 1]) &&
		    is_same(&rank->ops[k - 1], &rank->ops[lost->like - 1])) {
			int64_t usual_ns = ended_before(rank, k, begin_ns) + lost->gap_ns;
			return usual_ns < begin_ns ? usual_ns : begin_ns;
		}
	}
	return lost->end_ns - lost->dur_ns;
}

/*
 * Places a lost operator between those of its rank. @restored_ns: end of the one put back before.
 * One that would end inside a synchronous operator is not the rank's, or clocks are wrong: it stays
 * lost.
 */
static void place_lost(struct lost_op *lost, const struct fsl_rank *rank, int64_t restored_ns)
{
	int64_t free_ns = restored_ns;
	bool has_end = lost->remnant != NULL && lost->remnant->dev_end_ns != FSL_NS_ABSENT;
	bool has_begin = lost->remnant != NULL && lost->remnant->dev_begin_ns != FSL_NS_ABSENT;
	lost->end_ns = has_end ? lost->remnant->dev_end_ns : lost->end_ns;
	size_t k = fsl_first_op_at(rank, lost->end_ns - lost->tolerance_ns);
	while (k < rank->n_ops &&
	       lacks_device(&rank->ops[k], lost->op.dev_begin_ns != FSL_NS_ABSENT)) {
		k++;
	}
	if (k == 0 || k == rank->n_ops) {
		return; /* before the capture of this rank or behind it */
	}
	lost->is_placed = find_gap(lost, rank, k, &free_ns) || has_begin || lost->is_async;
	if (!lost->is_placed) {
		return;
	}
	int64_t begin_ns = lost->is_async ? async_begin(lost, rank) : begin_of(lost, free_ns);
	begin_ns = has_begin ? lost->remnant->dev_begin_ns : begin_ns;
	set_times(&lost->op, begin_ns, lost->end_ns > begin_ns ? lost->end_ns : begin_ns);
}

struct restorer {
	struct fsl_run *run;
	struct fsl_match *match;
	struct lost_op *items;
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
static bool set_usual(struct lost_op *lost, const struct restorer *job, size_t per_step)
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
		gaps_ns[n_gaps++] = begin_ns - ended_before(rank, k, begin_ns);
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
static void set_end(struct lost_op *lost, const struct restorer *job)
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
static void set_bounds(struct lost_op *lost, const struct restorer *job)
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
			struct lost_op *lost = &job->items[job->n];
			*lost = (struct lost_op){.rank_idx = channel->members[m],
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
	const struct lost_op *x = left, *y = right;
	int order = FSL_ORDER(x->rank_idx, y->rank_idx);
	order = order != 0 ? order : FSL_ORDER(x->end_ns, y->end_ns);
	order = order != 0 ? order : FSL_ORDER(x->channel, y->channel);
	return order != 0 ? order : FSL_ORDER(x->instance, y->instance);
}

static int compare_placed(const void *left, const void *right)
{
	const struct lost_op *x = left, *y = right;
	int order = FSL_ORDER(y->is_placed, x->is_placed);
	int64_t x_ns = fsl_op_begin_ns(&x->op), y_ns = fsl_op_begin_ns(&y->op);
	order = order != 0 ? order : FSL_ORDER(x_ns, y_ns);
	return order != 0 ? order : compare_lost(left, right);
}

/* Merges the placed operators of one rank, sorted by begin, into its list and leaves remnants out;
 * @moved_to gets the new place of each old one. */
static enum fsl_status merge(struct fsl_rank *rank, struct lost_op *items, size_t n,
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
		bool is_left_out = lacks_device(&rank->ops[old], has_device);
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
static enum fsl_status restore_rank(struct fsl_run *run, struct lost_op *items, size_t n,
				    uint32_t *moved_to, struct fsl_error *err)
{
	struct fsl_rank *rank = &run->ranks[items[0].rank_idx];
	int64_t restored_ns = INT64_MIN;
	size_t n_placed = 0;
	FSL_TRY(find_remnants(rank, items, n, err));
	for (size_t i = 0; i < n; i++) {
		place_lost(&items[i], rank, restored_ns);
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
		const struct lost_op *lost = &job->items[i];
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
	enum fsl_status status =
		FSL_ARENA_NEW(moved_to, &scratch, job->run->n_ranks, "moved_to", err);
	qsort(job->items, job->n, sizeof(*job->items), compare_lost);
	for (size_t begin = 0, end = 0; begin < job->n && status == FSL_OK; begin = end) {
		uint32_t r = job->items[begin].rank_idx;
		for (end = begin; end < job->n && job->items[end].rank_idx == r;) {
			end++;
		}
		status = FSL_ARENA_NEW(moved_to[r], &scratch, job->run->ranks[r].n_ops, "r", err);
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
