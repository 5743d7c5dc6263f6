/* Which rank waits for CPUs, in which steps. */
#include "judge/hostbound.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "judge/hostbound_parts.h"
#include "judge/limits.h"

const char *const fsl_hostbound_cause_texts[FSL_HOSTBOUND_CAUSES_N] = {
	[FSL_HOSTBOUND_NOTHING] = "nothing",
	[FSL_HOSTBOUND_CPU] = "cpu",
	[FSL_HOSTBOUND_QUOTA] = "quota",
};

const char *const fsl_hostbound_verdict_texts[FSL_HOSTBOUND_VERDICTS_N] = {
	[FSL_HOSTBOUND_NORMAL] = "normal",
	[FSL_HOSTBOUND_FOUND] = "host_bound",
	[FSL_HOSTBOUND_NO_STEPS] = "no_steps",
	[FSL_HOSTBOUND_INSUFFICIENT] = "insufficient_evidence",
};

/* Room for the steps of one rank. */
struct work {
	int64_t *waits_ns; /* [n_steps] */
	int64_t *sorted;   /* [max(n_steps, n_ranks)] */
	bool *is_high;     /* [n_steps] */
};

static bool is_whole(const struct fsl_sched *sched, const struct fsl_sched_step *step)
{
	return step->begin_ns >= sched->begin_ns && step->end_ns <= sched->end_ns;
}

/* Index of the step with this number; SIZE_MAX: the rank has none. */
static size_t step_numbered(const struct fsl_sched_rank *rank, int64_t number, size_t guess)
{
	if (guess < rank->n_steps && rank->steps[guess].step == number) {
		return guess;
	}
	for (size_t i = 0; i < rank->n_steps; i++) {
		if (rank->steps[i].step == number) {
			return i;
		}
	}
	return SIZE_MAX;
}

/* Median wait of the other ranks in the same step; -1: there is none. */
static int64_t peers_wait_ns(const struct fsl_sched *sched, size_t r, size_t s, int64_t *sorted)
{
	size_t n = 0;
	for (size_t p = 0; p < sched->n_ranks; p++) {
		const struct fsl_sched_rank *peer = &sched->ranks[p];
		size_t at =
			p == r ? SIZE_MAX : step_numbered(peer, sched->ranks[r].steps[s].step, s);
		if (at != SIZE_MAX && is_whole(sched, &peer->steps[at])) {
			sorted[n++] = peer->cells[at].longest_wait_ns;
		}
	}
	return n >= 1 ? fsl_select_i64(sorted, n, (n - 1) / 2) : -1;
}

/* Waits, and the median length of steps; counts the steps that are judged. */
static void measure(struct fsl_hostbound_rank *out, const struct fsl_sched *sched,
		    struct work *work, int64_t *usual_ns)
{
	const struct fsl_sched_rank *rank = &sched->ranks[out->index];
	for (size_t s = 0; s < rank->n_steps; s++) {
		if (is_whole(sched, &rank->steps[s])) {
			work->sorted[out->n_steps++] =
				rank->steps[s].end_ns - rank->steps[s].begin_ns;
		}
	}
	if (out->n_steps == 0) {
		return;
	}
	out->step_ms = (double)fsl_select_i64(work->sorted, out->n_steps, (out->n_steps - 1) / 2) /
		       FSL_NS_PER_MS;
	size_t n = 0;
	for (size_t s = 0; s < rank->n_steps; s++) {
		work->waits_ns[s] = rank->cells[s].longest_wait_ns;
		if (is_whole(sched, &rank->steps[s])) {
			work->sorted[n++] = work->waits_ns[s];
		}
	}
	*usual_ns = fsl_select_i64(work->sorted, n,
				   (size_t)(FSL_JUDGE_WAIT_USUAL_QUANTILE * (double)(n - 1)));
}

/* Sums over the high steps. */
struct sums {
	int64_t excess_ns, most_ns, wait_ns, usual_ns, step_ns;
};

static void add_high(struct fsl_hostbound_rank *out, const struct fsl_sched_step *step,
		     int64_t wait_ns, int64_t usual_ns, struct sums *sums)
{
	int64_t excess_ns = wait_ns - usual_ns;
	out->n_high++;
	sums->excess_ns += excess_ns;
	sums->most_ns = excess_ns > sums->most_ns ? excess_ns : sums->most_ns;
	sums->wait_ns += wait_ns;
	sums->usual_ns += usual_ns;
	sums->step_ns += step->end_ns - step->begin_ns;
}

/* The stretch of steps in which high ones outnumber the others by most (Kadane), if most high steps
 * lie in it. */
static void find_stretch(struct fsl_hostbound_rank *out, const struct fsl_sched_rank *rank,
			 const bool *is_high)
{
	size_t begin = 0, best_begin = 0, best_end = 0, first = rank->n_steps, last = 0;
	int64_t sum = 0, best = 0;
	for (size_t s = 0; s < rank->n_steps; s++) {
		begin = sum <= 0 ? s : begin;
		sum = (sum > 0 ? sum : 0) + (is_high[s] ? 1 : -1);
		if (sum > best) {
			best = sum;
			best_begin = begin;
			best_end = s + 1;
		}
		first = is_high[s] && first == rank->n_steps ? s : first;
		last = is_high[s] ? s : last;
	}
	size_t n = 0;
	for (size_t s = best_begin; s < best_end; s++) {
		n += is_high[s];
	}
	out->is_stretch = n >= FSL_JUDGE_WAIT_STEPS_MIN &&
			  (double)n >= FSL_JUDGE_WAIT_STRETCH_SHARE_MIN * (double)out->n_high;
	if (!out->is_stretch) {
		best_begin = first;
		best_end = last + 1;
	}
	out->first_step = rank->steps[best_begin].step;
	out->last_step = rank->steps[best_end - 1].step;
	out->n_stretch = best_end - best_begin;
}

/* The steps in which the rank waits far longer than usual: than in its quieter steps, and than
 * other ranks in the same step. */
static void find_high_steps(struct fsl_hostbound_rank *out, const struct fsl_sched *sched,
			    struct work *work)
{
	const struct fsl_sched_rank *rank = &sched->ranks[out->index];
	struct sums sums = {0};
	int64_t own_usual_ns = 0;
	measure(out, sched, work, &own_usual_ns);
	double limit_ms = fmax(FSL_JUDGE_WAIT_MS_MIN, FSL_JUDGE_WAIT_SHARE_MIN * out->step_ms);
	for (size_t s = 0; s < rank->n_steps; s++) {
		work->is_high[s] = false;
		if (!is_whole(sched, &rank->steps[s])) {
			continue;
		}
		int64_t peers_ns = peers_wait_ns(sched, (size_t)out->index, s, work->sorted);
		int64_t usual_ns =
			peers_ns >= 0 && peers_ns < own_usual_ns ? peers_ns : own_usual_ns;
		if ((double)(work->waits_ns[s] - usual_ns) > limit_ms * FSL_NS_PER_MS) {
			work->is_high[s] = true;
			add_high(out, &rank->steps[s], work->waits_ns[s], usual_ns, &sums);
		}
	}
	if (out->n_high == 0) {
		return;
	}
	find_stretch(out, rank, work->is_high);
	double n = (double)out->n_high * FSL_NS_PER_MS;
	out->wait_ms = (double)sums.wait_ns / n;
	out->usual_ms = (double)sums.usual_ns / n;
	out->high_step_ms = (double)sums.step_ns / n;
	double cost =
		(double)sums.excess_ns / FSL_NS_PER_MS / (out->step_ms * (double)out->n_steps);
	double most = (double)sums.most_ns / FSL_NS_PER_MS / out->step_ms;
	out->is_named = out->n_high >= FSL_JUDGE_WAIT_STEPS_MIN
				? cost >= FSL_JUDGE_WAIT_COST_SHARE_MIN
				: most >= FSL_JUDGE_WAIT_ONE_STEP_SHARE_MIN;
}

/* The thread that waits longest in most of the high steps. */
static int32_t usual_waiter(const struct fsl_sched_rank *rank, const bool *is_high)
{
	int32_t best = -1;
	size_t n_best = 0;
	for (size_t s = 0; s < rank->n_steps; s++) {
		/* Majority by elimination (Boyer and Moore): right if there is a majority. */
		int32_t waiter = is_high[s] ? rank->cells[s].longest_waiter : -1;
		if (waiter < 0) {
			continue;
		}
		if (n_best == 0) {
			best = waiter;
		}
		n_best = waiter == best ? n_best + 1 : n_best - 1;
	}
	return best;
}

static double unknown_share(const struct fsl_sched_rank *rank)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; i < FSL_SCHED_STATES_N; i++) {
		sum_ns += rank->whole.main_ns[i];
	}
	return sum_ns > 0 ? (double)rank->whole.main_ns[FSL_SCHED_UNKNOWN] / (double)sum_ns : 0.0;
}

static void find_cause(struct fsl_hostbound_rank *out)
{
	int64_t quota_ns = 0;
	for (size_t i = 0; i < out->n_holders; i++) {
		if (out->holders[i].kind == FSL_HOLDER_QUOTA) {
			quota_ns = out->holders[i].seen_ns;
		}
	}
	bool is_quota = (double)quota_ns >= FSL_JUDGE_QUOTA_SHARE_MIN * (double)out->high_wait_ns;
	out->cause = !out->is_named             ? FSL_HOSTBOUND_NOTHING
		     : is_quota && quota_ns > 0 ? FSL_HOSTBOUND_QUOTA
						: FSL_HOSTBOUND_CPU;
}

static enum fsl_status judge_rank(struct fsl_hostbound_rank *out, const struct fsl_sched *sched,
				  size_t r, struct work *work, struct fsl_error *err)
{
	const struct fsl_sched_rank *rank = &sched->ranks[r];
	const struct fsl_sched_thread *leader = fsl_sched_find(sched, rank->pid);
	*out = (struct fsl_hostbound_rank){.index = (int32_t)r,
					   .rank = rank->rank,
					   .pid = rank->pid,
					   .name = leader != NULL ? leader->comm : "",
					   .first_step = -1,
					   .last_step = -1,
					   .waiter = -1};
	out->unknown_share = unknown_share(rank);
	find_high_steps(out, sched, work);
	if (out->n_high == 0) {
		return FSL_OK;
	}
	out->waiter = usual_waiter(rank, work->is_high);
	FSL_TRY(fsl_hostbound_find_holders(out, sched, work->is_high, err));
	find_cause(out);
	return FSL_OK;
}

/* Named ranks first, then by what they waited. */
static int compare_ranks(const void *left, const void *right)
{
	const struct fsl_hostbound_rank *a = left, *b = right;
	double a_ms = a->wait_ms * (double)a->n_high, b_ms = b->wait_ms * (double)b->n_high;
	FSL_ORDER_BY(b->is_named, a->is_named);
	FSL_ORDER_BY(b_ms, a_ms);
	return FSL_ORDER(a->rank, b->rank);
}

static enum fsl_status make_work(struct work *work, const struct fsl_sched *sched,
				 struct fsl_error *err)
{
	size_t n = sched->n_ranks + 1;
	for (size_t r = 0; r < sched->n_ranks; r++) {
		n = sched->ranks[r].n_steps > n ? sched->ranks[r].n_steps : n;
	}
	enum fsl_status status = FSL_NEW(work->waits_ns, n, "steps", err);
	FSL_THEN(status, FSL_NEW(work->sorted, n, "steps", err));
	FSL_THEN(status, FSL_NEW(work->is_high, n, "steps", err));
	return status;
}

static void set_verdict(struct fsl_hostbound *out, const struct fsl_sched *sched)
{
	size_t n_steps = 0;
	bool is_named = false;
	for (size_t r = 0; r < out->n_ranks; r++) {
		n_steps += out->ranks[r].n_steps;
		is_named |= out->ranks[r].is_named;
	}
	out->reason = "";
	if (sched->n_switches == 0) {
		out->verdict = FSL_HOSTBOUND_INSUFFICIENT;
		out->reason = "the trace has no sched_switch events";
	} else if (n_steps == 0) {
		out->verdict = FSL_HOSTBOUND_NO_STEPS;
	} else {
		out->verdict = is_named ? FSL_HOSTBOUND_FOUND : FSL_HOSTBOUND_NORMAL;
	}
}

enum fsl_status fsl_hostbound_judge(struct fsl_hostbound *out, const struct fsl_sched *sched,
				    struct fsl_error *err)
{
	struct work work = {0};
	*out = (struct fsl_hostbound){.reason = ""};
	enum fsl_status status = make_work(&work, sched, err);
	if (sched->n_ranks > 0) {
		FSL_THEN(status, FSL_NEW(out->ranks, sched->n_ranks, "ranks", err));
	}
	for (size_t r = 0; status == FSL_OK && r < sched->n_ranks; r++) {
		status = judge_rank(&out->ranks[out->n_ranks++], sched, r, &work, err);
	}
	if (out->n_ranks > 1) {
		qsort(out->ranks, out->n_ranks, sizeof(*out->ranks), compare_ranks);
	}
	set_verdict(out, sched);
	FSL_THEN(status, fsl_hostbound_find_interrupts(out, sched, err));
	FSL_THEN(status, fsl_hostbound_advise(out, sched, err));
	fsl_free(work.waits_ns);
	fsl_free(work.sorted);
	fsl_free(work.is_high);
	return status;
}

void fsl_hostbound_fini(struct fsl_hostbound *hostbound)
{
	fsl_free(hostbound->ranks);
	*hostbound = (struct fsl_hostbound){0};
}
