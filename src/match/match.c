/* Matches the uses of every communicator over its ranks. */
#include "match/match.h"

#include <math.h>
#include <omp.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"
#include "match/drift.h"
#include "match/offset.h"

/*
 * How well each channel is matched: what belongs together ends together, so a disagreement of the
 * ends shows a wrong match (or a transport that buffers), and such a channel tells nothing.
 */

/* Latest minus earliest end of an instance, ns; -1 below two members. *first_ns: the earliest. */
static int64_t gap_of(const struct fsl_match *match, const struct fsl_channel *channel,
		      const struct fsl_run *run, size_t instance, int64_t *first_ns)
{
	int64_t least_ns = INT64_MAX, greatest_ns = INT64_MIN;
	size_t n = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m];
		if (op_idx == FSL_NO_OP) {
			continue;
		}
		uint32_t rank_idx = channel->members[m];
		int64_t end_ns = fsl_op_end_ns(&run->ranks[rank_idx].ops[op_idx]) -
				 match->clock_ns[rank_idx];
		least_ns = end_ns < least_ns ? end_ns : least_ns;
		greatest_ns = end_ns > greatest_ns ? end_ns : greatest_ns;
		n++;
	}
	*first_ns = least_ns;
	return n < 2 ? -1 : greatest_ns - least_ns;
}

/* Pairs: the smaller number of uses that one of the two has alone, against those of both. */
static bool is_mostly_paired(const struct fsl_channel *channel)
{
	size_t n_alone[2] = {0, 0}, n_both = 0;
	for (size_t i = 0; i < channel->n_instances && channel->n_members == 2; i++) {
		bool has_a = channel->op_idx[2 * i] != FSL_NO_OP;
		bool has_b = channel->op_idx[2 * i + 1] != FSL_NO_OP;
		n_both += has_a && has_b;
		n_alone[has_a ? 0 : 1] += has_a != has_b;
	}
	size_t n_least = n_alone[0] < n_alone[1] ? n_alone[0] : n_alone[1];
	return (double)n_both >= FSL_PAIRED_SHARE_MIN * (double)(n_both + n_least);
}

/* Sets gap_median_ms, gap_p95_ms and disagrees of a matched channel. */
static void measure_channel(struct fsl_channel *channel, const struct fsl_match *match,
			    const struct fsl_run *run)
{
	int64_t gaps_ns[FSL_ENDS_COMPARED_MAX], times_ns[FSL_ENDS_COMPARED_MAX];
	size_t n_gaps = 0, n_times = 0, stride = channel->n_instances / FSL_ENDS_COMPARED_MAX + 1;
	int64_t last_ns = 0, first_ns = 0;
	for (size_t i = 0; i < channel->n_instances; i += stride) {
		int64_t gap_ns = gap_of(match, channel, run, i, &first_ns);
		if (gap_ns >= 0) {
			gaps_ns[n_gaps++] = gap_ns;
		}
		if (i > 0) {
			times_ns[n_times++] = (first_ns - last_ns) / (int64_t)stride;
		}
		last_ns = first_ns;
	}
	channel->gap_median_ms = channel->gap_p95_ms = NAN;
	channel->disagrees = !is_mostly_paired(channel);
	if (n_gaps == 0) {
		return;
	}
	int64_t median_ns = fsl_select_i64(gaps_ns, n_gaps, n_gaps / 2);
	FSL_ASSERT(median_ns >= 0 && n_gaps <= FSL_ENDS_COMPARED_MAX);
	size_t half = n_gaps / 2; /* behind it is nothing smaller */
	int64_t p95_ns = fsl_select_i64(gaps_ns + half, n_gaps - half, n_gaps * 95 / 100 - half);
	channel->gap_median_ms = (double)median_ns / FSL_NS_PER_MS;
	channel->gap_p95_ms = (double)p95_ns / FSL_NS_PER_MS;
	if (n_gaps >= FSL_QUALITY_INSTANCES_MIN) {
		int64_t interval_ns = fsl_select_i64(times_ns, n_times, n_times / 2);
		double interval_ms = (double)interval_ns / FSL_NS_PER_MS;
		channel->disagrees |=
			channel->gap_median_ms > FSL_END_APART_SHARE_MAX * interval_ms;
	}
}

/* Members present in an instance. */
static size_t count_present(const struct fsl_channel *channel, size_t instance)
{
	size_t n = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		n += channel->op_idx[instance * channel->n_members + m] != FSL_NO_OP;
	}
	return n;
}

/* Every operator of every instance is one of its member's. */
static bool is_in_range(const struct fsl_channel *channel, const struct fsl_run *run)
{
	for (size_t at = 0; at < channel->n_instances * channel->n_members; at++) {
		const struct fsl_rank *rank =
			&run->ranks[channel->members[at % channel->n_members]];
		if (channel->op_idx[at] != FSL_NO_OP && channel->op_idx[at] >= rank->n_ops) {
			return false;
		}
	}
	return channel->members[channel->n_members - 1] < run->n_ranks;
}

/* Counts what was matched; a group counts when one of its channels has complete instances. */
static void count_matched(struct fsl_match *match)
{
	size_t last_matched = SIZE_MAX, last_disagreeing = SIZE_MAX;
	for (size_t c = 0; c < match->n_channels; c++) {
		struct fsl_channel *channel = &match->channels[c];
		uint64_t n_complete = 0;
		size_t n_ops = channel->n_instances * channel->n_members;
#pragma omp parallel for schedule(static) reduction(+ : n_complete)                               \
	if (n_ops > FSL_OPS_WORTH_THREADS)
		for (size_t i = 0; i < channel->n_instances; i++) {
			n_complete += count_present(channel, i) == channel->n_members;
		}
		channel->is_complete = n_complete == channel->n_instances;
		match->n_instances += channel->n_instances;
		match->n_instances_matched += n_complete;
		match->n_p2p_matched += channel->is_p2p ? 2 * n_complete : 0;
		if (n_complete > 0 && channel->group_idx != last_matched) {
			match->n_groups_matched++;
			last_matched = channel->group_idx;
		}
		if (channel->disagrees) {
			match->disagree_max_ms =
				fmax(match->disagree_max_ms, channel->gap_median_ms);
		}
		if (channel->disagrees && channel->group_idx != last_disagreeing) {
			match->n_groups_disagreeing++;
			last_disagreeing = channel->group_idx;
		}
	}
}

/* Channels of pairs behind the other channels of their group. */
static enum fsl_status merge_channels(struct fsl_match *match, const struct fsl_channel_list *pairs,
				      struct fsl_error *err)
{
	size_t n = match->n_channels + pairs->n;
	if (pairs->n == 0) {
		return FSL_OK;
	}
	struct fsl_channel *merged = NULL;
	FSL_TRY(FSL_ARENA_NEW(merged, &match->arena, n, "merged", err));
	for (size_t i = 0, c = 0, p = 0; i < n; i++) {
		bool is_pair =
			c == match->n_channels ||
			(p < pairs->n && pairs->items[p].group_idx < match->channels[c].group_idx);
		merged[i] = is_pair ? pairs->items[p++] : match->channels[c++];
	}
	for (size_t i = 1; i < n; i++) {
		FSL_ASSERT(merged[i - 1].group_idx <= merged[i].group_idx);
	}
	match->channels = merged;
	match->n_channels = n;
	return FSL_OK;
}

bool fsl_match_has_many_channels(const struct fsl_match *match)
{
	return match->n_channels >= FSL_CHANNELS_PER_THREAD * (size_t)omp_get_max_threads();
}

/*
 * Many channels are matched side by side; of few, each is matched by all threads. That is no `if`
 * of one region: within a region, though it be of one thread, each inner one starts its threads
 * anew, beside those that wait for the outer one.
 */
static enum fsl_status match_channels(struct fsl_match *out, const struct fsl_listing *listing,
				      struct fsl_error *err)
{
	bool is_short = false;
	size_t n_alone = fsl_match_has_many_channels(out) ? 0 : out->n_channels;
	for (size_t c = 0; c < n_alone && !is_short; c++) {
		is_short = fsl_channel_match(out, &out->channels[c], &listing->uses[c], NULL) !=
			   FSL_OK;
	}
#pragma omp parallel for schedule(dynamic, 1) reduction(|| : is_short)
	for (size_t c = n_alone; c < out->n_channels; c++) {
		is_short = is_short || fsl_channel_match(out, &out->channels[c], &listing->uses[c],
							 NULL) != FSL_OK;
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: channels=%zu",
				   out->n_channels)
			: FSL_OK;
}

static enum fsl_status match_listed(struct fsl_match *out, struct fsl_channel_list *pairs,
				    struct fsl_listing *listing, const struct fsl_run *run,
				    struct fsl_error *err)
{
	struct fsl_clocks clocks = {0};
	FSL_TRY(fsl_clocks_init(&clocks, &listing->arena, run->n_ranks, err));
	FSL_TRY(fsl_clocks_measure(&clocks, out, listing, err));
	FSL_TRY(fsl_pairs_match(pairs, out, &clocks, listing, run, err));
	FSL_TRY(fsl_clocks_publish(out, &clocks, &listing->arena, err));
	FSL_TRY(match_channels(out, listing, err));
	return merge_channels(out, pairs, err);
}

static enum fsl_status match_all(struct fsl_match *out, struct fsl_listing *listing,
				 const struct fsl_run *run, struct fsl_error *err)
{
	struct fsl_channel_list pairs = {0};
	enum fsl_status status = match_listed(out, &pairs, listing, run, err);
	fsl_free(pairs.items);
	bool is_short = false;
	size_t n_channels = status == FSL_OK ? out->n_channels : 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(|| : is_short)
	for (size_t c = 0; c < n_channels; c++) {
		struct fsl_channel *channel = &out->channels[c];
		FSL_ASSERT(is_in_range(channel, run));
		measure_channel(channel, out, run);
		if (!is_short && channel->dur_ns == NULL) { /* of a pair */
			is_short = fsl_channel_measure_durations(channel, out, run, NULL) != FSL_OK;
		}
	}
	if (is_short) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: channels=%zu", n_channels);
	}
	if (status == FSL_OK) {
		count_matched(out);
	}
	return status;
}

static void init_match(struct fsl_match *out)
{
	*out = (struct fsl_match){.offset_max_ms = NAN, .residual_ms = NAN, .disagree_max_ms = NAN};
}

/* Releases what is needed no longer. */
static enum fsl_status finish(struct fsl_match *out, struct fsl_listing *listing,
			      enum fsl_status status)
{
	fsl_arena_fini(&listing->arena);
	if (status != FSL_OK) {
		fsl_match_fini(out);
	}
	return status;
}

enum fsl_status fsl_match_build(struct fsl_match *out, const struct fsl_run *run,
				const struct fsl_topology *topology, struct fsl_error *err)
{
	struct fsl_listing listing = {0};
	init_match(out);
	enum fsl_status status = fsl_channels_list(out, &listing, run, topology, err);
	if (status == FSL_OK) {
		status = match_all(out, &listing, run, err);
	}
	return finish(out, &listing, status);
}

enum fsl_status fsl_match_straightened(struct fsl_match *out, struct fsl_run *run,
				       const struct fsl_topology *topology, double *drift_max_ppm,
				       struct fsl_error *err)
{
	struct fsl_listing listing = {0};
	init_match(out);
	*drift_max_ppm = 0.0;
	enum fsl_status status = fsl_channels_list(out, &listing, run, topology, err);
	if (status == FSL_OK) {
		status = fsl_drift_remove(run, &listing, out->n_channels, drift_max_ppm, err);
	}
	if (status == FSL_OK && *drift_max_ppm > 0.0) {
		fsl_slots_read_times(&listing, run);
	}
	if (status == FSL_OK) {
		status = match_all(out, &listing, run, err);
	}
	return finish(out, &listing, status);
}

void fsl_match_fini(struct fsl_match *match)
{
	fsl_arena_fini(&match->arena);
	*match = (struct fsl_match){0};
}

static void assign_steps(struct fsl_channel *channel, const struct fsl_cuts *cuts)
{
	size_t step = SIZE_MAX;
#pragma omp parallel for schedule(static)                                                          \
	firstprivate(step) if (channel->n_instances > FSL_OPS_WORTH_THREADS)
	for (size_t i = 0; i < channel->n_instances; i++) {
		size_t m = 0;
		const uint32_t *row = channel->op_idx + i * channel->n_members;
		while (m + 1 < channel->n_members && row[m] == FSL_NO_OP) {
			m++;
		}
		step = fsl_cuts_step_after(cuts, channel->members[m], row[m], step);
		channel->step_idx[i] = step == SIZE_MAX ? UINT32_MAX : (uint32_t)step;
	}
}

void fsl_match_assign_steps(struct fsl_match *match, const struct fsl_cuts *cuts)
{
	size_t n_alone = fsl_match_has_many_channels(match) ? 0 : match->n_channels;
	for (size_t c = 0; c < n_alone; c++) {
		assign_steps(&match->channels[c], cuts);
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t c = n_alone; c < match->n_channels; c++) {
		assign_steps(&match->channels[c], cuts);
	}
}
