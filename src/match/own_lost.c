/* Lost records: a wait that was not recorded looks like work, so the steps that hold one are not
 * seen whole. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sort.h"
#include "match/own.h"

/* End of an instance on the reference clock: the latest of its members that were recorded. */
static int64_t end_of_instance(const struct fsl_match *match, const struct fsl_channel *channel,
			       const struct fsl_run *run, size_t instance)
{
	int64_t end_ns = INT64_MIN;
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m];
		if (op_idx != FSL_NO_OP) {
			uint32_t rank_idx = channel->members[m];
			int64_t ns = fsl_op_end_ns(&run->ranks[rank_idx].ops[op_idx]) -
				     match->clock_ns[rank_idx];
			end_ns = ns > end_ns ? ns : end_ns;
		}
	}
	return end_ns;
}

static void mark_unseen(struct fsl_own *own, size_t rank_idx, size_t step)
{
	FSL_ASSERT(rank_idx < own->n_ranks && step < own->n_steps);
	for (size_t p = 0; p < FSL_OWN_PARTS_N; p++) {
		own->part_ms[(rank_idx * own->n_steps + step) * FSL_OWN_PARTS_N + p] = NAN;
	}
	own->idle_ms[rank_idx * own->n_steps + step] = NAN;
}

/*
 * The gap that holds the lost operator ends at the next one; there is none before the first
 * operator and behind the last. If the gap goes over the end of a step, the operator may have been
 * the last of that step, which then lacks the work before it.
 */
static void hide_step(struct fsl_own *own, const struct fsl_run *run, const struct fsl_cuts *cuts,
		      size_t rank_idx, int64_t time_ns)
{
	size_t k = fsl_first_op_at(&run->ranks[rank_idx], time_ns);
	size_t step = fsl_cuts_step_of(cuts, rank_idx, k);
	if (k == 0 || k == run->ranks[rank_idx].n_ops || step >= own->n_steps) {
		return;
	}
	mark_unseen(own, rank_idx, step);
	size_t before = fsl_cuts_step_of(cuts, rank_idx, k - 1);
	if (before < own->n_steps) {
		mark_unseen(own, rank_idx, before);
	}
}

/* Hides the steps of the members that lack an instance which others recorded. */
static void hide_instance(struct fsl_own *own, const struct fsl_run *run,
			  const struct fsl_match *match, const struct fsl_cuts *cuts,
			  const struct fsl_channel *channel, size_t instance)
{
	const uint32_t *row = channel->op_idx + instance * channel->n_members;
	int64_t end_ns = INT64_MIN;
	for (size_t m = 0; m < channel->n_members; m++) {
		if (row[m] != FSL_NO_OP) {
			continue;
		}
		if (end_ns == INT64_MIN) {
			end_ns = end_of_instance(match, channel, run, instance);
		}
		if (end_ns == INT64_MIN) {
			return; /* all members were left out of it: nobody recorded it */
		}
		uint32_t rank_idx = channel->members[m];
		hide_step(own, run, cuts, rank_idx, end_ns + match->clock_ns[rank_idx]);
	}
}

/* False also if a lost operator was put back. */
static bool is_recorded(const struct fsl_channel *channel, const struct fsl_run *run,
			size_t instance, bool has_restored)
{
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m];
		if (op_idx == FSL_NO_OP ||
		    (has_restored &&
		     run->ranks[channel->members[m]].ops[op_idx].id == FSL_OP_ID_RESTORED)) {
			return false;
		}
	}
	return true;
}

/*
 * Hides a step if a channel that loses records has fewer instances in it than usual: all members
 * lost the record of one. @counts, @sorted: steps.
 */
static void hide_short_steps(struct fsl_own *own, const struct fsl_run *run,
			     const struct fsl_channel *channel, bool has_restored, int64_t *counts,
			     int64_t *sorted)
{
	size_t n_lost = 0, n_usual = 0, n_steps = own->n_steps;
	memset(counts, 0, n_steps * sizeof(*counts));
	for (size_t i = 0; i < channel->n_instances; i++) {
		n_lost += !is_recorded(channel, run, i, has_restored);
		if (channel->step_idx[i] < n_steps) {
			counts[channel->step_idx[i]]++;
		}
	}
	if (n_lost == 0 || n_steps == 0) {
		return;
	}
	memcpy(sorted, counts, n_steps * sizeof(*counts));
	qsort(sorted, n_steps, sizeof(*sorted), fsl_compare_i64);
	int64_t usual = sorted[n_steps / 2];
	for (size_t s = 0; s < n_steps; s++) {
		n_usual += counts[s] == usual;
	}
	for (size_t s = 0; s < n_steps; s++) {
		bool is_short = counts[s] < usual &&
				(double)n_usual >= FSL_LOST_REGULAR_SHARE_MIN * (double)n_steps;
		for (size_t m = 0; m < channel->n_members && is_short; m++) {
			mark_unseen(own, channel->members[m], s);
		}
	}
}

/* Hides a step if more than half of its operators were put back. */
static void hide_restored(struct fsl_own *own, const struct fsl_run *run,
			  const struct fsl_cuts *cuts)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		for (size_t s = 0; s < own->n_steps; s++) {
			size_t begin = fsl_cuts_first(cuts, r, s),
			       end = fsl_cuts_first(cuts, r, s + 1), n_restored = 0;
			for (size_t k = begin; k < end; k++) {
				n_restored += run->ranks[r].ops[k].id == FSL_OP_ID_RESTORED;
			}
			if (2 * n_restored > end - begin) {
				mark_unseen(own, r, s);
			}
		}
	}
}

static bool is_near(int64_t left_ns, int64_t right_ns)
{
	return left_ns != FSL_NS_ABSENT && llabs(left_ns - right_ns) <= FSL_CLOCK_TOLERANCE_NS;
}

/* True when an operator was put back that begins or ends with @remnant. */
static bool is_put_back(const struct fsl_rank *rank, const struct fsl_op *remnant)
{
	size_t behind = fsl_first_op_at(rank, fsl_remnant_ns(remnant)) + 1;
	behind = behind < rank->n_ops ? behind : rank->n_ops;
	for (size_t k = behind, n = 0; k-- > 0 && n < FSL_LOST_LOOK_BACK_OPS; n++) {
		const struct fsl_op *op = &rank->ops[k];
		if (op->id == FSL_OP_ID_RESTORED &&
		    (is_near(remnant->dev_begin_ns, fsl_op_begin_ns(op)) ||
		     is_near(remnant->dev_end_ns, fsl_op_end_ns(op)))) {
			return true;
		}
	}
	return false;
}

static bool loses_many(const struct fsl_rank *rank)
{
	return (double)rank->n_remnants >= FSL_LOST_MANY_SHARE * (double)rank->n_ops;
}

/*
 * If a rank loses many operators, hides the steps that have a remnant of one that was not put back:
 * no other rank recorded it, or its instance is not known. With few losses, hidden steps would cost
 * more than the waits that pass for work.
 */
static void hide_remnants(struct fsl_own *own, const struct fsl_run *run,
			  const struct fsl_cuts *cuts)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		size_t n_remnants = loses_many(rank) ? rank->n_remnants : 0;
		for (size_t i = 0; i < n_remnants; i++) {
			if (!is_put_back(rank, &rank->remnants[i])) {
				hide_step(own, run, cuts, r, fsl_remnant_ns(&rank->remnants[i]));
			}
		}
	}
}

static size_t n_ops_in(const struct fsl_cuts *cuts, size_t rank_idx, size_t step)
{
	return fsl_cuts_first(cuts, rank_idx, step + 1) - fsl_cuts_first(cuts, rank_idx, step);
}

/* Some operators leave nothing at all: if a rank loses many, hides its steps that do not have as
 * many operators as most. Without a number that most steps have, it hides none. @counts: steps. */
static void hide_odd_steps(struct fsl_own *own, const struct fsl_run *run,
			   const struct fsl_cuts *cuts, int64_t *counts)
{
	for (size_t r = 0; r < run->n_ranks && own->n_steps > 0; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (!loses_many(rank)) {
			continue;
		}
		for (size_t s = 0; s < own->n_steps; s++) {
			counts[s] = (int64_t)n_ops_in(cuts, r, s);
		}
		qsort(counts, own->n_steps, sizeof(*counts), fsl_compare_i64);
		size_t usual = (size_t)counts[own->n_steps / 2], n_usual = 0;
		for (size_t s = 0; s < own->n_steps; s++) {
			n_usual += n_ops_in(cuts, r, s) == usual;
		}
		for (size_t s = 0; s < own->n_steps && 2 * n_usual > own->n_steps; s++) {
			if (n_ops_in(cuts, r, s) != usual) {
				mark_unseen(own, r, s);
			}
		}
	}
}

enum fsl_status fsl_own_hide_lost(struct fsl_own *own, const struct fsl_run *run,
				  const struct fsl_match *match, const struct fsl_cuts *cuts,
				  struct fsl_error *err)
{
	int64_t *counts = fsl_calloc(2 * own->n_steps + 1, sizeof(*counts));
	if (counts == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", own->n_steps);
	}
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		if (channel->disagrees || channel->is_complete) {
			continue;
		}
		for (size_t i = 0; i < channel->n_instances; i++) {
			hide_instance(own, run, match, cuts, channel, i);
		}
		hide_short_steps(own, run, channel, match->n_restored > 0, counts,
				 counts + own->n_steps);
	}
	if (match->n_restored > 0) {
		hide_restored(own, run, cuts);
	}
	hide_remnants(own, run, cuts);
	hide_odd_steps(own, run, cuts, counts);
	fsl_free(counts);
	return FSL_OK;
}
