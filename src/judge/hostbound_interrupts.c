/* Interrupts on the CPUs of ranks. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "judge/hostbound_parts.h"
#include "judge/limits.h"

/* Time that interrupts took from ranks in steps: rank, CPU, interrupt. */
static enum fsl_status sum_taken(struct fsl_sched_pairs *sums, const struct fsl_sched *sched,
				 struct fsl_error *err)
{
	for (size_t i = 0; i < sched->rank_interrupts.n_items; i++) {
		struct fsl_sched_pair pair = sched->rank_interrupts.items[i];
		if (pair.step >= 0) {
			pair.step = -1;
			FSL_TRY(fsl_sched_pairs_add(sums, &pair, err));
		}
	}
	return FSL_OK;
}

static int compare_interrupts(const void *left, const void *right)
{
	const struct fsl_hostbound_interrupt *a = left, *b = right;
	FSL_ORDER_BY(b->taken_ns, a->taken_ns);
	FSL_ORDER_BY(b->cpu_ns, a->cpu_ns);
	FSL_ORDER_BY(a->cpu, b->cpu);
	FSL_ORDER_BY(a->interrupt->is_soft, b->interrupt->is_soft);
	return FSL_ORDER(a->interrupt->number, b->interrupt->number);
}

/* Keeps the greatest ones, in order. */
static void keep(struct fsl_hostbound_rank *out, struct fsl_hostbound_interrupt item)
{
	size_t at = out->n_interrupts;
	while (at > 0 && compare_interrupts(&item, &out->interrupts[at - 1]) < 0) {
		at--;
	}
	if (at == FSL_HOSTBOUND_INTERRUPTS_MAX) {
		return;
	}
	size_t n_kept = out->n_interrupts < FSL_HOSTBOUND_INTERRUPTS_MAX
				? out->n_interrupts
				: FSL_HOSTBOUND_INTERRUPTS_MAX - 1;
	memmove(&out->interrupts[at + 1], &out->interrupts[at],
		(n_kept - at) * sizeof(out->interrupts[0]));
	out->interrupts[at] = item;
	out->n_interrupts = n_kept + 1;
}

/* Interrupts that took time from the rank, and others on CPUs on which it mostly ran. */
static void fill(struct fsl_hostbound_rank *out, const struct fsl_sched *sched,
		 const struct fsl_sched_pairs *taken)
{
	const struct fsl_sched_rank *rank = &sched->ranks[out->index];
	int64_t run_ns = rank->whole.in_ns[FSL_SCHED_RUN];
	for (size_t i = 0; i < sched->cpu_interrupts.n_items; i++) {
		const struct fsl_sched_pair *pair = &sched->cpu_interrupts.items[i];
		struct fsl_sched_pair key = *pair;
		key.victim = out->index;
		const struct fsl_hostbound_interrupt item = {
			.interrupt = &sched->interrupts[pair->holder],
			.cpu = pair->cpu,
			.taken_ns = fsl_sched_pairs_ns(taken, &key),
			.cpu_ns = pair->ns};
		bool is_own = run_ns > 0 && (double)rank->cpu_ns[pair->cpu] >=
						    FSL_JUDGE_OWN_CPU_SHARE_MIN * (double)run_ns;
		if (item.taken_ns > 0 || (is_own && item.cpu_ns > 0)) {
			keep(out, item);
		}
	}
}

enum fsl_status fsl_hostbound_find_interrupts(struct fsl_hostbound *out,
					      const struct fsl_sched *sched, struct fsl_error *err)
{
	struct fsl_sched_pairs taken = {0};
	enum fsl_status status = sum_taken(&taken, sched, err);
	for (size_t r = 0; status == FSL_OK && r < out->n_ranks; r++) {
		fill(&out->ranks[r], sched, &taken);
	}
	fsl_sched_pairs_fini(&taken);
	return status;
}
