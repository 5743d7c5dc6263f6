/* Instances of a channel: the uses of all members that belong together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"

/* One use with its end on the common clock. */
struct end {
	int64_t end_ns, dur_ns;
	uint32_t member, op_idx;
};

static int compare_ends(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	FSL_ORDER_BY(x->end_ns, y->end_ns);
	return FSL_ORDER(x->member, y->member);
}

/* One block, those of eight bytes first: asking for memory touches a new large page behind it, on
 * one thread. */
static enum fsl_status alloc_instances(struct fsl_match *match, struct fsl_channel *channel,
				       size_t n_instances, struct fsl_error *err)
{
	size_t n = 0, n_bytes = 0, n_members = channel->n_members;
	size_t each = n_members * (sizeof(*channel->dur_ns) + sizeof(*channel->op_idx)) +
		      sizeof(*channel->step_idx);
	channel->n_instances = n_instances;
	if (fsl_mul_size(n_instances, n_members, &n) && fsl_mul_size(n_instances, each, &n_bytes)) {
#pragma omp critical(fsl_match_arena)
		channel->dur_ns = fsl_arena_take(&match->arena, n_bytes);
	}
	if (channel->dur_ns == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: instances=%zu", n_instances);
	}
	channel->op_idx = (uint32_t *)(channel->dur_ns + n);
	channel->step_idx = channel->op_idx + n;
	return FSL_OK;
}

/* The steps of instances are not known before the cuts are. */
static void clear_steps(struct fsl_channel *channel, size_t begin, size_t end)
{
	memset(channel->step_idx + begin, 0xff, (end - begin) * sizeof(*channel->step_idx));
}

/*
 * A few instances of all members at a time, so that what is written stays close together. A thread
 * that has to wait for memory takes fewer of them.
 */
static enum fsl_status match_by_order(struct fsl_match *match, struct fsl_channel *channel,
				      const struct fsl_uses *uses, struct fsl_error *err)
{
	enum { BLOCK = 64, BLOCKS = 64 };
	size_t n_members = channel->n_members, n = uses->of[0]->n;
	FSL_ASSERT(n_members == uses->n_members);
	enum fsl_status status = alloc_instances(match, channel, n, err);
	n = status == FSL_OK ? n : 0;
#pragma omp parallel for schedule(dynamic, BLOCKS) if (n * n_members > FSL_OPS_WORTH_THREADS)
	for (size_t begin = 0; begin < n; begin += BLOCK) {
		size_t end = begin + BLOCK < n ? begin + BLOCK : n;
		clear_steps(channel, begin, end);
		for (size_t m = 0; m < n_members; m++) {
			for (size_t i = begin; i < end; i++) {
				channel->op_idx[i * n_members + m] = uses->of[m]->op_idx[i];
				channel->dur_ns[i * n_members + m] = uses->of[m]->dur_ns[i];
			}
		}
	}
	return status;
}

/* Median time between two ends of a member, ns; INT64_MAX when it has none. */
static int64_t median_interval_ns(const struct fsl_slot *slot)
{
	int64_t work[FSL_ENDS_COMPARED_MAX];
	size_t n = 0, stride = slot->n / FSL_ENDS_COMPARED_MAX + 1;
	for (size_t i = 1; i < slot->n; i += stride) {
		work[n++] = slot->end_ns[i] - slot->end_ns[i - 1];
	}
	int64_t median_ns = n > 0 ? fsl_select_i64(work, n, n / 2) : 0;
	return median_ns != 0 ? median_ns : INT64_MAX;
}

/* The shortest of the members', 0 when no member has one. */
static int64_t usual_interval_ns(const struct fsl_uses *uses)
{
	int64_t best = INT64_MAX;
	bool is_large = uses->n_members * uses->of[0]->n > FSL_OPS_WORTH_THREADS;
#pragma omp parallel for schedule(dynamic, 1) reduction(min : best) if (is_large)
	for (size_t m = 0; m < uses->n_members; m++) {
		int64_t median_ns = median_interval_ns(uses->of[m]);
		best = median_ns < best ? median_ns : best;
	}
	return best < INT64_MAX ? best : 0;
}

/* Gives each end the number of its instance, in order; returns how many there are. */
static size_t cluster_ends(const struct end *ends, size_t n_ends, int64_t tolerance_ns,
			   uint32_t *instance_of, uint32_t *last_instance)
{
	size_t n_instances = 0;
	int64_t first_ns = 0;
	for (size_t i = 0; i < n_ends; i++) {
		bool is_new = n_instances == 0 || ends[i].end_ns - first_ns > tolerance_ns ||
			      last_instance[ends[i].member] == n_instances;
		if (is_new) {
			n_instances++;
			first_ns = ends[i].end_ns;
		}
		/* The ends of an instance agree, and it has each member once. */
		FSL_ASSERT(ends[i].end_ns - first_ns <= tolerance_ns || is_new);
		FSL_ASSERT(i == 0 || ends[i - 1].end_ns <= ends[i].end_ns);
		last_instance[ends[i].member] = (uint32_t)n_instances;
		instance_of[i] = (uint32_t)(n_instances - 1);
	}
	return n_instances;
}

/* Half of the instances with several members have their ends closer together; 0: none has.
 * @work: FSL_ENDS_COMPARED_MAX. */
static int64_t usual_gap_ns(const struct end *ends, size_t n_ends, const uint32_t *instance_of,
			    int64_t *work)
{
	size_t n = 0, stride = n_ends / FSL_ENDS_COMPARED_MAX + 1;
	for (size_t i = 0; i < n_ends; i += stride) {
		size_t last = i;
		while (last + 1 < n_ends && instance_of[last + 1] == instance_of[i]) {
			last++;
		}
		if (last > i) {
			work[n++] = ends[last].end_ns - ends[i].end_ns;
		}
	}
	return n > 0 ? fsl_select_i64(work, n, n / 2) : 0;
}

/* How far apart ends may lie once it is known how far apart they usually are. */
static int64_t closer_tolerance_ns(int64_t interval_ns, int64_t gap_ns)
{
	double usual_ns = (double)(gap_ns > FSL_END_JITTER_NS ? gap_ns : FSL_END_JITTER_NS);
	double limit_ns =
		fmax(FSL_STRANGER_RATIO * usual_ns, FSL_STRANGER_SHARE * (double)interval_ns);
	return (int64_t)fmin(limit_ns, FSL_END_TOLERANCE_SHARE * (double)interval_ns);
}

static enum fsl_status match_by_ends(struct fsl_match *match, struct fsl_channel *channel,
				     const struct fsl_uses *uses, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	size_t n_ends = 0, k = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		n_ends += uses->of[m]->n;
	}
	struct end *ends = fsl_arena_alloc(&scratch, n_ends * sizeof(*ends));
	uint32_t *instance_of = fsl_arena_alloc(&scratch, n_ends * sizeof(*instance_of));
	int64_t work[FSL_ENDS_COMPARED_MAX];
	uint32_t *last = fsl_arena_alloc(&scratch, channel->n_members * sizeof(*last));
	enum fsl_status status = FSL_OK;
	if (ends == NULL || instance_of == NULL || last == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: uses=%zu", n_ends);
		goto out;
	}
	for (size_t m = 0; m < channel->n_members; m++) {
		const struct fsl_slot *slot = uses->of[m];
		int64_t clock_ns = match->clock_ns[slot->rank_idx];
		for (size_t i = 0; i < slot->n; i++) {
			ends[k++] = (struct end){slot->end_ns[i] - clock_ns, slot->dur_ns[i],
						 (uint32_t)m, slot->op_idx[i]};
		}
	}
	qsort(ends, n_ends, sizeof(*ends), compare_ends);
	int64_t interval_ns = usual_interval_ns(uses);
	int64_t tolerance_ns = (int64_t)((double)interval_ns * FSL_END_TOLERANCE_SHARE);
	size_t n_instances = cluster_ends(ends, n_ends, tolerance_ns, instance_of, last);
	tolerance_ns =
		closer_tolerance_ns(interval_ns, usual_gap_ns(ends, n_ends, instance_of, work));
	memset(last, 0, channel->n_members * sizeof(*last));
	n_instances = cluster_ends(ends, n_ends, tolerance_ns, instance_of, last);
	status = alloc_instances(match, channel, n_instances, err);
	if (status == FSL_OK) {
		clear_steps(channel, 0, n_instances);
	}
	for (size_t at = 0; at < n_instances * channel->n_members && status == FSL_OK; at++) {
		channel->op_idx[at] = FSL_NO_OP;
		channel->dur_ns[at] = -1;
	}
	for (size_t i = 0; i < n_ends && status == FSL_OK; i++) {
		size_t at = instance_of[i] * channel->n_members + ends[i].member;
		FSL_ASSERT(instance_of[i] < n_instances && ends[i].member < channel->n_members);
		FSL_ASSERT(channel->op_idx[at] == FSL_NO_OP);
		channel->op_idx[at] = ends[i].op_idx;
		channel->dur_ns[at] = ends[i].dur_ns;
	}
out:
	fsl_arena_fini(&scratch);
	return status;
}

/* Median distance of the ends of two members with few uses; with more, the clocks know it. */
static int64_t median_apart_ns(const struct fsl_slot *first, const struct fsl_slot *other)
{
	int64_t work[FSL_ENDS_COMPARED_MAX];
	size_t n = 0, stride = first->n / FSL_ENDS_COMPARED_MAX + 1;
	for (size_t i = 0; i < first->n; i += stride) {
		work[n++] = other->end_ns[i] - first->end_ns[i];
	}
	return n > 0 ? fsl_select_i64(work, n, n / 2) : 0;
}

/*
 * True when equally many uses also are the same uses: two members that lost different records agree
 * in number but not in time in between. The difference of the ends is compared with its own median,
 * so no clock is needed.
 */
static bool is_aligned(const struct fsl_couple *couple, int64_t tolerance_ns)
{
	const struct fsl_slot *first = couple->first, *other = couple->other;
	size_t n = first->n, n_near = 0;
	int64_t apart_ns = couple->apart_ns != FSL_NS_ABSENT ? couple->apart_ns
							     : median_apart_ns(first, other);
	for (size_t i = 0; i < n; i++) {
		int64_t diff_ns = other->end_ns[i] - first->end_ns[i];
		n_near += llabs(diff_ns - apart_ns) <= tolerance_ns;
	}
	return (double)n_near >= FSL_ALIGNED_SHARE_MIN * (double)n;
}

static enum fsl_status match_equal_numbers(struct fsl_match *match, struct fsl_channel *channel,
					   const struct fsl_uses *uses, struct fsl_error *err)
{
	bool is_same = true;
	int64_t interval_ns = usual_interval_ns(uses);
	int64_t tolerance_ns = (int64_t)((double)interval_ns * FSL_END_TOLERANCE_SHARE);
	size_t n_members = interval_ns > 0 ? channel->n_members : 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : is_same)                             \
	if (n_members * uses->of[0]->n > FSL_OPS_WORTH_THREADS)
	for (size_t m = 1; m < n_members; m++) {
		is_same = is_same && is_aligned(&uses->couples[m - 1], tolerance_ns);
	}
	return is_same ? match_by_order(match, channel, uses, err)
		       : match_by_ends(match, channel, uses, err);
}

enum fsl_status fsl_channel_match(struct fsl_match *match, struct fsl_channel *channel,
				  const struct fsl_uses *uses, struct fsl_error *err)
{
	for (size_t m = 1; m < channel->n_members; m++) {
		if (uses->of[m]->n != uses->of[0]->n) {
			return match_by_ends(match, channel, uses, err);
		}
	}
	return match_equal_numbers(match, channel, uses, err);
}

enum fsl_status fsl_channel_measure_durations(struct fsl_channel *channel, struct fsl_match *match,
					      const struct fsl_run *run, struct fsl_error *err)
{
	size_t n = channel->n_instances * channel->n_members;
	if (channel->dur_ns == NULL) {
#pragma omp critical(fsl_match_arena)
		channel->dur_ns = fsl_arena_take(&match->arena, n * sizeof(*channel->dur_ns));
	}
	if (channel->dur_ns == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu", n);
	}
	for (size_t i = 0, at = 0; i < channel->n_instances; i++) {
		for (size_t m = 0; m < channel->n_members; m++, at++) {
			const struct fsl_op *ops = run->ranks[channel->members[m]].ops;
			uint32_t k = channel->op_idx[at];
			channel->dur_ns[at] =
				k == FSL_NO_OP ? -1
					       : fsl_op_end_ns(&ops[k]) - fsl_op_begin_ns(&ops[k]);
		}
	}
	return FSL_OK;
}

static int64_t look_up_begin_ns(const struct fsl_window_source *source, size_t member,
				size_t instance)
{
	const struct fsl_channel *channel = source->channel;
	const struct fsl_run *run = source->run;
	uint32_t op_idx = channel->op_idx[instance * channel->n_members + member];
	return op_idx != FSL_NO_OP
		       ? fsl_op_begin_ns(&run->ranks[channel->members[member]].ops[op_idx])
		       : FSL_NS_ABSENT;
}

enum fsl_status fsl_channel_lateness(struct fsl_windows *out, const struct fsl_channel *channel,
				     const struct fsl_run *run, struct fsl_error *err)
{
	enum fsl_status status =
		fsl_windows_init_values(out, FSL_METRIC_LATENESS, FSL_WINDOW_INSTANCE,
					channel->n_members, channel->n_instances, err);
	if (status != FSL_OK) {
		return status;
	}
	out->source = (struct fsl_window_source){look_up_begin_ns, channel, run};
	for (size_t m = 0; m < channel->n_members; m++) {
		out->ranks[m] = run->ranks[channel->members[m]].rank;
	}
	size_t n_members = channel->n_members;
#pragma omp parallel for schedule(static) if (channel->n_instances * n_members >                   \
					      FSL_OPS_WORTH_THREADS)
	for (size_t i = 0; i < channel->n_instances; i++) {
		const int64_t *dur_ns = channel->dur_ns + i * n_members;
		int64_t longest_ns = -1;
		for (size_t m = 0; m < n_members; m++) {
			longest_ns = dur_ns[m] > longest_ns ? dur_ns[m] : longest_ns;
		}
		for (size_t m = 0; m < n_members; m++) {
			out->values[m * channel->n_instances + i] =
				dur_ns[m] >= 0 ? (double)(longest_ns - dur_ns[m]) / FSL_NS_PER_MS
					       : (double)NAN;
		}
	}
	return FSL_OK;
}
