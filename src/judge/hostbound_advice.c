/* Advice which task to move where, with the numbers that say so. */
#include <math.h>

#include "base/number.h"
#include "judge/hostbound_parts.h"
#include "judge/limits.h"

const char *const fsl_advice_kind_texts[FSL_ADVICE_KINDS_N] = {
	[FSL_ADVICE_MOVE_PROCESS] = "move_process",
	[FSL_ADVICE_PART_RANKS] = "part_ranks",
	[FSL_ADVICE_RAISE_QUOTA] = "raise_quota",
	[FSL_ADVICE_MOVE_INTERRUPT] = "move_interrupt",
	[FSL_ADVICE_USE_IDLE_CPUS] = "use_idle_cpus",
	[FSL_ADVICE_BIND_NODE] = "bind_node",
	[FSL_ADVICE_PART_CORES] = "part_cores",
};

void fsl_hostbound_add_advice(struct fsl_hostbound *out, struct fsl_hostbound_advice advice)
{
	if (out->n_advice < FSL_HOSTBOUND_ADVICE_MAX) {
		out->advice[out->n_advice++] = advice;
	}
}

struct fsl_hostbound_advice fsl_hostbound_advice_of(enum fsl_advice_kind kind, int32_t rank,
						    int32_t cpu)
{
	return (struct fsl_hostbound_advice){.kind = kind,
					     .rank = rank,
					     .other_rank = -1,
					     .cpu = cpu,
					     .ms_per_step = (double)NAN,
					     .first_cpu = -1,
					     .node = -1,
					     .other_cpu = -1,
					     .share = (double)NAN,
					     .other_share = (double)NAN};
}

/* The greatest holder of a named rank, or its quota. */
static void advise_rank(struct fsl_hostbound *out, const struct fsl_hostbound_rank *rank)
{
	if (rank->cause == FSL_HOSTBOUND_QUOTA) {
		struct fsl_hostbound_advice advice =
			fsl_hostbound_advice_of(FSL_ADVICE_RAISE_QUOTA, rank->rank, -1);
		advice.ms_per_step = rank->wait_ms - rank->usual_ms;
		fsl_hostbound_add_advice(out, advice);
		return;
	}
	for (size_t i = 0; i < rank->n_holders; i++) {
		const struct fsl_hostbound_holder *holder = &rank->holders[i];
		if (holder->kind != FSL_HOLDER_PROCESS) {
			continue;
		}
		struct fsl_hostbound_advice advice =
			fsl_hostbound_advice_of(FSL_ADVICE_MOVE_PROCESS, rank->rank, holder->cpu);
		advice.holder = holder;
		advice.ms_per_step = (double)(holder->seen_ns + holder->likely_ns) / FSL_NS_PER_MS /
				     (double)rank->n_high;
		fsl_hostbound_add_advice(out, advice);
		return;
	}
}

/* Time of the steps of a rank within the window, ns. */
static int64_t steps_ns(const struct fsl_sched_rank *rank)
{
	int64_t sum_ns = 0;
	for (size_t s = 0; s < rank->n_steps; s++) {
		sum_ns += rank->steps[s].end_ns - rank->steps[s].begin_ns;
	}
	return sum_ns;
}

/* Ranks that wait for each other on one CPU: @held_ns is [n_ranks * n_ranks], victim first. */
static void advise_parting(struct fsl_hostbound *out, const struct fsl_sched *sched,
			   const int64_t *held_ns, const int32_t *cpus)
{
	for (size_t a = 0; a < sched->n_ranks; a++) {
		for (size_t b = a + 1; b < sched->n_ranks; b++) {
			int64_t ab_ns = held_ns[a * sched->n_ranks + b];
			int64_t ba_ns = held_ns[b * sched->n_ranks + a];
			int64_t most_ns = ab_ns > ba_ns ? ab_ns : ba_ns;
			size_t victim = ab_ns > ba_ns ? a : b;
			const struct fsl_sched_rank *rank = &sched->ranks[victim];
			if (rank->n_steps == 0 ||
			    (double)most_ns <
				    FSL_JUDGE_SHARED_CPU_SHARE_MIN * (double)steps_ns(rank)) {
				continue;
			}
			struct fsl_hostbound_advice advice =
				fsl_hostbound_advice_of(FSL_ADVICE_PART_RANKS, sched->ranks[a].rank,
							cpus[a * sched->n_ranks + b]);
			advice.other_rank = sched->ranks[b].rank;
			advice.ms_per_step =
				(double)most_ns / FSL_NS_PER_MS / (double)rank->n_steps;
			fsl_hostbound_add_advice(out, advice);
		}
	}
}

static enum fsl_status advise_sharing(struct fsl_hostbound *out, const struct fsl_sched *sched,
				      struct fsl_error *err)
{
	size_t n = sched->n_ranks;
	int64_t *held_ns = NULL;
	int32_t *cpus = NULL;
	if (n < 2) {
		return FSL_OK;
	}
	enum fsl_status status = FSL_NEW(held_ns, n * n, "pairs of ranks", err);
	FSL_THEN(status, FSL_NEW(cpus, n * n, "pairs of ranks", err));
	for (size_t i = 0; status == FSL_OK && i < sched->step_pairs.n_items; i++) {
		const struct fsl_sched_pair *pair = &sched->step_pairs.items[i];
		int32_t victim = sched->threads[pair->victim].rank;
		int32_t holder = pair->holder >= 0 ? sched->threads[pair->holder].rank : -1;
		if (pair->step >= 0 && holder >= 0 && holder != victim &&
		    sched->threads[pair->victim].is_main) {
			size_t low = (size_t)(victim < holder ? victim : holder);
			size_t high = (size_t)(victim < holder ? holder : victim);
			held_ns[(size_t)victim * n + (size_t)holder] += pair->ns;
			cpus[low * n + high] = pair->cpu;
		}
	}
	if (status == FSL_OK) {
		advise_parting(out, sched, held_ns, cpus);
	}
	fsl_free(held_ns);
	fsl_free(cpus);
	return status;
}

/* Whether some rank runs on the CPU. */
static bool is_of_rank(const struct fsl_sched *sched, size_t cpu)
{
	for (size_t r = 0; r < sched->n_ranks; r++) {
		const struct fsl_sched_rank *rank = &sched->ranks[r];
		double run_ns = (double)rank->whole.in_ns[FSL_SCHED_RUN];
		if ((double)rank->cpu_ns[cpu] >= FSL_JUDGE_OWN_CPU_SHARE_MIN * run_ns &&
		    rank->cpu_ns[cpu] > 0) {
			return true;
		}
	}
	return false;
}

/* The least busy CPU on which no rank runs, on the node of @cpu if there is one; -1: none. */
static int32_t free_cpu(const struct fsl_sched *sched, int32_t cpu)
{
	int32_t best = -1;
	bool is_best_far = false;
	for (size_t c = 0; c < sched->n_cpus; c++) {
		bool is_far =
			fsl_sched_is_far(sched->topology, FSL_SCHED_FAR_NODE, cpu, (int32_t)c);
		bool is_better = best < 0 || (is_best_far && !is_far) ||
				 (is_best_far == is_far &&
				  sched->cpus[c].busy_ns < sched->cpus[best].busy_ns);
		if (sched->cpus[c].is_seen && is_better && !is_of_rank(sched, c)) {
			best = (int32_t)c;
			is_best_far = is_far;
		}
	}
	return best;
}

/* Interrupts that take much of a rank's time on one CPU. */
static enum fsl_status advise_interrupts(struct fsl_hostbound *out, const struct fsl_sched *sched,
					 struct fsl_error *err)
{
	struct fsl_sched_pairs sums = {0};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; status == FSL_OK && i < sched->rank_interrupts.n_items; i++) {
		struct fsl_sched_pair pair = sched->rank_interrupts.items[i];
		pair.step = pair.step >= 0 ? 0 : -1;
		status = pair.step >= 0 ? fsl_sched_pairs_add(&sums, &pair, err) : FSL_OK;
	}
	for (size_t i = 0; status == FSL_OK && i < sums.n_items; i++) {
		const struct fsl_sched_rank *rank = &sched->ranks[sums.items[i].victim];
		if ((double)sums.items[i].ns <
		    FSL_JUDGE_INTERRUPT_SHARE_MIN * (double)steps_ns(rank)) {
			continue;
		}
		struct fsl_hostbound_advice advice = fsl_hostbound_advice_of(
			FSL_ADVICE_MOVE_INTERRUPT, rank->rank, sums.items[i].cpu);
		advice.interrupt = &sched->interrupts[sums.items[i].holder];
		advice.first_cpu = free_cpu(sched, sums.items[i].cpu);
		advice.ms_per_step =
			(double)sums.items[i].ns / FSL_NS_PER_MS / (double)rank->n_steps;
		fsl_hostbound_add_advice(out, advice);
	}
	fsl_sched_pairs_fini(&sums);
	return status;
}

/* CPUs that nobody uses, if somebody waits. */
static void advise_idle(struct fsl_hostbound *out, const struct fsl_sched *sched)
{
	int64_t window_ns = sched->end_ns - sched->begin_ns;
	struct fsl_hostbound_advice advice =
		fsl_hostbound_advice_of(FSL_ADVICE_USE_IDLE_CPUS, -1, -1);
	for (size_t c = 0; c < sched->n_cpus; c++) {
		const struct fsl_sched_cpu *cpu = &sched->cpus[c];
		if (cpu->is_seen && (double)(cpu->busy_ns + cpu->unknown_ns) <
					    FSL_JUDGE_IDLE_CPU_SHARE_MAX * (double)window_ns) {
			advice.first_cpu = advice.n_cpus == 0 ? (int32_t)c : advice.first_cpu;
			advice.n_cpus++;
		}
	}
	if (advice.n_cpus > 0 && out->n_advice > 0) {
		fsl_hostbound_add_advice(out, advice);
	}
}

enum fsl_status fsl_hostbound_advise(struct fsl_hostbound *out, const struct fsl_sched *sched,
				     struct fsl_error *err)
{
	for (size_t r = 0; r < out->n_ranks; r++) {
		if (out->ranks[r].is_named) {
			advise_rank(out, &out->ranks[r]);
		}
	}
	FSL_TRY(advise_sharing(out, sched, err));
	FSL_TRY(advise_interrupts(out, sched, err));
	advise_idle(out, sched);
	fsl_hostbound_advise_places(out, sched);
	return FSL_OK;
}
