/* Tells the cause of a charge from the part of the step, and the clock, that have the excess. */
#include "blame/cause.h"

#include <math.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"

/* The charged rank and everything that its clues are read from. */
struct inquiry {
	const struct fsl_case *facts;
	const struct fsl_blame *blame;
	const struct fsl_charge *charge;
	size_t rank_idx;
	const struct fsl_run *run;
	const struct fsl_match *match;
	const struct fsl_cuts *cuts;
	const struct fsl_own *own;
	const uint32_t *members; /* of its class */
	size_t n_members;
	uint32_t steps[FSL_CAUSE_STEPS_MAX]; /* high steps */
	size_t n_steps;
	/* Steps of the rank before its class slowed down. They stand for the peers, if there are
	 * any such steps or no peers. */
	uint32_t past[FSL_CAUSE_STEPS_MAX];
	size_t n_past;
	bool uses_past;
	double work[2 * FSL_CAUSE_OPS_MAX]; /* at least 2 * FSL_PEERS_SAMPLED_MAX */
};

static void sample_high_steps(struct inquiry *q)
{
	size_t n_high = q->charge->episode.n_high, seen = 0;
	size_t stride = n_high / FSL_CAUSE_STEPS_MAX + 1;
	for (size_t s = q->charge->episode.begin; s < q->charge->episode.end; s++) {
		if (fsl_blame_excess_ms(q->blame, q->rank_idx, s) > q->charge->threshold_ms) {
			if (seen % stride == 0 && q->n_steps < FSL_CAUSE_STEPS_MAX) {
				q->steps[q->n_steps++] = (uint32_t)s;
			}
			seen++;
		}
	}
}

/* Steps outside the charge and outside what the whole class went through. */
static void sample_past(struct inquiry *q, const struct fsl_episode *shift)
{
	size_t n_steps = q->blame->n_steps, stride = n_steps / FSL_CAUSE_STEPS_MAX + 1;
	q->uses_past = q->n_members == 1 || shift->begin < shift->end;
	for (size_t s = 0; s < n_steps && q->uses_past; s += stride) {
		bool is_inside = s >= q->charge->episode.begin && s < q->charge->episode.end;
		bool is_high = is_inside && fsl_blame_excess_ms(q->blame, q->rank_idx, s) >
						    q->charge->threshold_ms;
		bool is_shifted = s >= shift->begin && s < shift->end;
		if (!is_high && !is_shifted && q->n_past < FSL_CAUSE_STEPS_MAX) {
			q->past[q->n_past++] = (uint32_t)s;
		}
	}
}

/* Median of one part over the rank's past. */
static double past_part(struct inquiry *q, enum fsl_own_part part)
{
	for (size_t i = 0; i < q->n_past; i++) {
		q->work[i] = fsl_own_part_ms(q->own, q->rank_idx, q->past[i], part);
	}
	return fsl_median(q->work, q->n_past, q->work + q->n_past);
}

/* Mean of one part of own time over the high steps, of the rank and at the level of its peers. */
static void compare_part(struct inquiry *q, enum fsl_own_part part, double *own_ms,
			 double *peers_ms)
{
	double own_sum = 0.0, peers_sum = 0.0;
	size_t stride = q->n_members / FSL_PEERS_SAMPLED_MAX + 1;
	for (size_t i = 0; i < q->n_steps; i++) {
		size_t s = q->steps[i], n = 0;
		own_sum += fsl_own_part_ms(q->own, q->rank_idx, s, part);
		for (size_t m = 0; m < q->n_members; m += stride) {
			q->work[n++] = fsl_own_part_ms(q->own, q->members[m], s, part);
		}
		peers_sum += fsl_peer_level(q->work, n, q->work + n);
	}
	*own_ms = q->n_steps > 0 ? own_sum / (double)q->n_steps : NAN;
	*peers_ms = q->n_steps > 0 ? peers_sum / (double)q->n_steps : NAN;
	if (q->uses_past) {
		*peers_ms = past_part(q, part);
	}
}

/* Time from an operator's launch to its begin; NaN if a clock is missing. */
static double launch_ms(const struct fsl_op *op)
{
	if (op->host_end_ns == FSL_NS_ABSENT || op->dev_begin_ns == FSL_NS_ABSENT) {
		return NAN;
	}
	return (double)(op->dev_begin_ns - op->host_end_ns) / FSL_NS_PER_MS;
}

static double host_call_ms(const struct fsl_op *op)
{
	if (op->host_end_ns == FSL_NS_ABSENT || op->host_begin_ns == FSL_NS_ABSENT) {
		return NAN;
	}
	return (double)(op->host_end_ns - op->host_begin_ns) / FSL_NS_PER_MS;
}

/* Median of @value over the operators of a rank in some steps. */
static double median_over_steps(const struct inquiry *q, size_t rank_idx, const uint32_t *steps,
				size_t n_steps, double (*value)(const struct fsl_op *))
{
	double values[2 * FSL_CAUSE_OPS_MAX];
	size_t n = 0;
	for (size_t i = 0; i < n_steps; i++) {
		size_t begin = fsl_cuts_first(q->cuts, rank_idx, steps[i]);
		size_t end = fsl_cuts_first(q->cuts, rank_idx, steps[i] + 1);
		for (size_t k = begin; k < end && n < FSL_CAUSE_OPS_MAX; k++) {
			values[n++] = value(&q->run->ranks[rank_idx].ops[k]);
		}
	}
	return fsl_median(values, n, values + FSL_CAUSE_OPS_MAX);
}

double fsl_cause_launch_ms(const struct fsl_case *facts, size_t rank_idx, size_t begin, size_t end)
{
	const struct inquiry q = {.run = facts->run, .cuts = facts->cuts};
	size_t stride = (end - begin) / FSL_CAUSE_STEPS_MAX + 1, n = 0;
	uint32_t steps[FSL_CAUSE_STEPS_MAX];
	for (size_t s = begin; s < end && n < FSL_CAUSE_STEPS_MAX; s += stride) {
		steps[n++] = (uint32_t)s;
	}
	return median_over_steps(&q, rank_idx, steps, n, launch_ms);
}

/* Likewise in the high steps. */
static double median_over_ops(const struct inquiry *q, size_t rank_idx,
			      double (*value)(const struct fsl_op *))
{
	return median_over_steps(q, rank_idx, q->steps, q->n_steps, value);
}

/* Median over at most FSL_PEERS_SAMPLED_MAX peers, the rank itself left out; or over its past. */
static double median_over_peers(const struct inquiry *q, double (*value)(const struct fsl_op *))
{
	if (q->uses_past) {
		return median_over_steps(q, q->rank_idx, q->past, q->n_past, value);
	}
	double medians[2 * FSL_PEERS_SAMPLED_MAX];
	size_t stride = q->n_members / FSL_PEERS_SAMPLED_MAX + 1;
	size_t n = (q->n_members + stride - 1) / stride;
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t k = 0; k < n; k++) { /* their operators are far apart: each is waited for */
		uint32_t peer = q->members[k * stride];
		medians[k] = peer != q->rank_idx ? median_over_ops(q, peer, value) : (double)NAN;
	}
	return fsl_median(medians, n, medians + FSL_PEERS_SAMPLED_MAX);
}

/* A stretch in which the rank was in no operator, on the reference clock. */
struct gap {
	int64_t begin_ns, end_ns;
	bool is_met; /* by a checkpoint */
};

/* The longest one of step @s. */
static bool longest_gap(const struct inquiry *q, size_t s, struct gap *gap)
{
	const struct fsl_rank *rank = &q->run->ranks[q->rank_idx];
	size_t first = fsl_cuts_first(q->cuts, q->rank_idx, s);
	size_t last = fsl_cuts_first(q->cuts, q->rank_idx, s + 1);
	if (first == 0 || first >= last) {
		return false;
	}
	int64_t busy_until_ns = fsl_op_end_ns(&rank->ops[first - 1]), longest_ns = 0;
	for (size_t i = first; i < last; i++) {
		int64_t gap_ns = fsl_op_begin_ns(&rank->ops[i]) - busy_until_ns;
		if (gap_ns > longest_ns) {
			longest_ns = gap_ns;
			gap->begin_ns = busy_until_ns - q->match->clock_ns[q->rank_idx];
			gap->end_ns = gap->begin_ns + gap_ns;
		}
		int64_t op_end_ns = fsl_op_end_ns(&rank->ops[i]);
		busy_until_ns = op_end_ns > busy_until_ns ? op_end_ns : busy_until_ns;
	}
	return longest_ns > 0;
}

/* Marks the gaps that overlap a recorded checkpoint of any rank. */
static void meet_checkpoints(const struct inquiry *q, struct gap *gaps, size_t n_gaps)
{
	for (size_t r = 0; r < q->run->n_ranks; r++) {
		const struct fsl_rank *rank = &q->run->ranks[r];
		for (size_t i = 0; i < rank->n_stages; i++) {
			if (rank->stages[i].kind != FSL_STAGE_CKPT) {
				continue;
			}
			int64_t begin_ns = rank->stages[i].begin_ns - q->match->clock_ns[r];
			int64_t end_ns = rank->stages[i].end_ns - q->match->clock_ns[r];
			for (size_t k = 0; k < n_gaps; k++) {
				gaps[k].is_met = gaps[k].is_met || (begin_ns < gaps[k].end_ns &&
								    end_ns > gaps[k].begin_ns);
			}
		}
	}
}

static double ckpt_share(const struct inquiry *q)
{
	struct gap gaps[FSL_CAUSE_STEPS_MAX];
	size_t n_gaps = 0, n_met = 0;
	for (size_t i = 0; i < q->n_steps; i++) {
		gaps[n_gaps].is_met = false;
		n_gaps += longest_gap(q, q->steps[i], &gaps[n_gaps]);
	}
	meet_checkpoints(q, gaps, n_gaps);
	for (size_t k = 0; k < n_gaps; k++) {
		n_met += gaps[k].is_met;
	}
	return n_gaps > 0 ? (double)n_met / (double)n_gaps : NAN;
}

/*
 * True if, in the high steps, the peers' own time is above that of the steps beside by more than it
 * usually is: all did something rare together, which holds this rank up for longer.
 */
static bool peers_are_long_too(const struct inquiry *q)
{
	size_t n_steps = q->blame->n_steps, n = 0;
	const double *reference = q->blame->reference_ms + q->rank_idx * n_steps;
	double *rises = fsl_calloc(3 * n_steps, sizeof(*rises));
	if (rises == NULL || n_steps < 3) {
		fsl_free(rises);
		return false;
	}
	double *scratch = rises + n_steps, *high = scratch + n_steps;
	rises[0] = rises[n_steps - 1] = NAN;
	for (size_t s = 1; s + 1 < n_steps; s++) {
		rises[s] = reference[s] - 0.5 * (reference[s - 1] + reference[s + 1]);
	}
	for (size_t i = 0; i < q->n_steps; i++) {
		high[n++] = rises[q->steps[i]];
	}
	double usual_ms = fsl_median(reference, n_steps, scratch);
	double sigma_ms = fsl_mad_sigma(rises, n_steps, 0.0, scratch);
	double rise_ms = fsl_median(high, n, scratch);
	fsl_free(rises);
	return rise_ms > fmax(FSL_CAUSE_COMMON_SIGMAS * sigma_ms,
			      (FSL_CAUSE_COMMON_RATIO_MIN - 1.0) * usual_ms);
}

/* Whether the host launched the rank's work late, as its arrival arcs tell. */
enum launched { LAUNCHED_UNTOLD, LAUNCHED_EARLY, LAUNCHED_LATE };

static enum launched how_launched(const struct inquiry *q, const struct fsl_cause_clues *clues)
{
	/* If nobody ever queues work, the device always begins as it is told. */
	bool has_queue = clues->launch_peers_ms > FSL_CAUSE_QUEUE_MS_MIN;
	if (!q->charge->is_certain || isnan(q->charge->arrival_host)) {
		return LAUNCHED_UNTOLD;
	}
	if (q->charge->arrival_host <= FSL_CAUSE_EARLY_SHARE_MAX) {
		return LAUNCHED_EARLY;
	}
	return has_queue && q->charge->arrival_host >= FSL_CAUSE_LATE_SHARE_MIN ? LAUNCHED_LATE
										: LAUNCHED_UNTOLD;
}

/* Whether the rank's host was further ahead before the charge. That of a slow device is as far
 * ahead as it was, or further. */
static bool has_queue_shrunk(const struct inquiry *q, const struct fsl_cause_clues *clues)
{
	size_t begin = q->charge->episode.begin;
	if (!q->charge->is_change || begin < FSL_LASTING_STEPS_MIN) {
		return false;
	}
	double before_ms = fsl_cause_launch_ms(q->facts, q->rank_idx, 0, begin);
	return before_ms > FSL_CAUSE_QUEUE_MS_MIN &&
	       clues->launch_ms < FSL_CAUSE_SHRUNK_SHARE * before_ms;
}

static bool is_host_bound(const struct inquiry *q, const struct fsl_cause_clues *clues)
{
	double excess_ms = q->charge->own_ms - q->charge->peers_ms;
	bool has_queue = clues->launch_peers_ms > FSL_CAUSE_QUEUE_MS_MIN;
	enum launched launched = how_launched(q, clues);
	if (launched != LAUNCHED_UNTOLD) {
		return launched == LAUNCHED_LATE;
	}
	if (has_queue && clues->launch_ms < FSL_CAUSE_DRAINED_SHARE * clues->launch_peers_ms) {
		return true; /* the device runs out of work that the host should have queued */
	}
	if (has_queue_shrunk(q, clues)) {
		return true;
	}
	double slow_ratio = q->charge->own_ms / q->charge->peers_ms;
	if (clues->launch_ms > FSL_CAUSE_QUEUE_MS_MIN &&
	    clues->launch_ms > FSL_CAUSE_GROWN_RATIO * slow_ratio * clues->launch_peers_ms) {
		return true; /* work reaches the device late */
	}
	size_t n_ops = 0;
	for (size_t i = 0; i < q->n_steps; i++) {
		n_ops += fsl_cuts_first(q->cuts, q->rank_idx, q->steps[i] + 1) -
			 fsl_cuts_first(q->cuts, q->rank_idx, q->steps[i]);
	}
	double calls_ms =
		median_over_ops(q, q->rank_idx, host_call_ms) - median_over_peers(q, host_call_ms);
	return q->n_steps > 0 && calls_ms * (double)n_ops / (double)q->n_steps >
					 FSL_CAUSE_HOST_CALL_SHARE_MIN * excess_ms;
}

/*
 * Single steps now and then. Steps in a row at either end of the capture are a lasting change that
 * the capture shows too little of.
 */
static bool is_now_and_then(const struct inquiry *q)
{
	const struct fsl_episode *episode = &q->charge->episode;
	bool is_row = episode->persistence >= FSL_ROW_SHARE_MIN &&
		      (episode->begin == 0 || episode->end == q->blame->n_steps);
	return q->charge->pattern == FSL_PATTERN_REPEATED && !is_row;
}

static enum fsl_cause cause_from_gaps(const struct inquiry *q, struct fsl_cause_clues *clues)
{
	double head_ms = clues->head_ms - clues->head_peers_ms;
	double body_ms = clues->body_ms - clues->body_peers_ms;
	double peers_ms = clues->head_peers_ms + clues->body_peers_ms;
	bool is_rare = is_now_and_then(q);
	if (is_rare && (clues->ckpt_share >= FSL_CAUSE_CKPT_SHARE_MIN || peers_are_long_too(q))) {
		return FSL_CAUSE_STORAGE;
	}
	bool is_head_only = body_ms < FSL_CAUSE_BODY_SHARE_MAX * (head_ms + body_ms);
	bool shows_device = clues->body_peers_ms > FSL_CAUSE_BODY_OWN_SHARE_MIN * peers_ms;
	bool is_loaded_late = how_launched(q, clues) == LAUNCHED_LATE &&
			      q->charge->arrival_head >= 1.0 - FSL_CAUSE_BODY_SHARE_MAX;
	if (!is_rare && shows_device && (is_head_only || is_loaded_late)) {
		return FSL_CAUSE_DATALOADER;
	}
	/* All work lies between the last operator and the next step's first: so does the loading.
	 */
	clues->other_cause = !is_rare && is_head_only ? FSL_CAUSE_DATALOADER : FSL_CAUSES_N;
	return is_rare || is_host_bound(q, clues) ? FSL_CAUSE_HOST : FSL_CAUSE_COMPUTE;
}

static enum fsl_cause cause_from_stages(struct inquiry *q, struct fsl_cause_clues *clues)
{
	static const struct {
		enum fsl_own_part part;
		enum fsl_cause cause;
	} table[] = {{FSL_OWN_COMPUTE, FSL_CAUSE_COMPUTE},
		     {FSL_OWN_DATALOADER, FSL_CAUSE_DATALOADER},
		     {FSL_OWN_CKPT, FSL_CAUSE_STORAGE},
		     {FSL_OWN_GC, FSL_CAUSE_HOST}};
	enum fsl_cause cause = FSL_CAUSE_COMPUTE;
	double most_ms = -INFINITY;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double own_ms = NAN, peers_ms = NAN;
		compare_part(q, table[i].part, &own_ms, &peers_ms);
		if (own_ms - peers_ms > most_ms) {
			most_ms = own_ms - peers_ms;
			cause = table[i].cause;
			clues->body_ms = own_ms;
			clues->body_peers_ms = peers_ms;
		}
	}
	/* A slow device is slow in all steps; single ones are pauses of the host. */
	bool is_host = is_now_and_then(q) || is_host_bound(q, clues);
	return cause == FSL_CAUSE_COMPUTE && is_host ? FSL_CAUSE_HOST : cause;
}

/* The stage that has most of the excess has half of it. */
static bool is_explained(const struct inquiry *q, const struct fsl_cause_clues *clues)
{
	double excess_ms = q->charge->own_ms - q->charge->peers_ms;
	return clues->body_ms - clues->body_peers_ms >= FSL_CAUSE_STAGE_SHARE_MIN * excess_ms;
}

struct fsl_cause_clues fsl_cause_find(const struct fsl_case *facts, size_t rank_idx,
				      const struct fsl_charge *charge)
{
	const struct fsl_blame *blame = facts->blame;
	uint32_t class_idx = blame->peers.class_of[rank_idx];
	size_t begin = blame->peers.begin[class_idx];
	struct inquiry q = {.facts = facts,
			    .blame = blame,
			    .charge = charge,
			    .rank_idx = rank_idx,
			    .run = facts->run,
			    .match = facts->match,
			    .cuts = facts->cuts,
			    .own = facts->own,
			    .members = blame->peers.members + begin,
			    .n_members = blame->peers.begin[class_idx + 1] - begin};
	struct fsl_cause_clues out = {.head_ms = NAN,
				      .head_peers_ms = NAN,
				      .ckpt_share = NAN,
				      .other_cause = FSL_CAUSES_N};
	FSL_ASSERT(charge->episode.end <= blame->n_steps && class_idx < blame->peers.n_classes);
	sample_high_steps(&q);
	sample_past(&q, &blame->shifts[class_idx]);
	out.launch_ms = median_over_ops(&q, rank_idx, launch_ms);
	out.launch_peers_ms = median_over_peers(&q, launch_ms);
	if (facts->own->has_stages) {
		out.cause = cause_from_stages(&q, &out);
		out.is_unrecorded = blame->counts_idle && !is_explained(&q, &out);
		out.cause = out.is_unrecorded ? FSL_CAUSE_HOST : out.cause;
	} else {
		compare_part(&q, FSL_OWN_HEAD, &out.head_ms, &out.head_peers_ms);
		compare_part(&q, FSL_OWN_BODY, &out.body_ms, &out.body_peers_ms);
		out.ckpt_share = ckpt_share(&q);
		out.cause = cause_from_gaps(&q, &out);
	}
	FSL_ASSERT(out.cause < FSL_CAUSES_N);
	return out;
}
