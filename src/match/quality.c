/*
 * How well each channel is matched: what belongs together ends together, so a disagreement of the
 * ends shows a wrong match (or a transport that buffers), and such a channel tells nothing.
 */
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"
#include "match/offset.h"

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

void fsl_channel_measure(struct fsl_channel *channel, const struct fsl_match *match,
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
