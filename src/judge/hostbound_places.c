/* Advice where ranks should run: on one NUMA node, on cores of their own. */
#include <stddef.h>

#include "judge/hostbound_parts.h"
#include "judge/limits.h"

static double share_of(const struct fsl_sched_rank *rank, int64_t ns)
{
	int64_t run_ns = rank->whole.in_ns[FSL_SCHED_RUN];
	return run_ns > 0 ? (double)ns / (double)run_ns : 0.0;
}

/* CPU time of the rank on @node; the CPUs that no topology tells are on node -1. */
static int64_t time_on(const struct fsl_sched *sched, const struct fsl_sched_rank *rank,
		       int32_t node)
{
	int64_t sum_ns = 0;
	for (size_t c = 0; c < sched->n_cpus; c++) {
		if (fsl_sched_place_of(sched->topology, (int32_t)c).node == node) {
			sum_ns += rank->cpu_ns[c];
		}
	}
	return sum_ns;
}

/* The node on which the rank runs most; -1: none is told. */
static int32_t main_node(const struct fsl_sched *sched, const struct fsl_sched_rank *rank,
			 int64_t *most_ns)
{
	int32_t best = -1;
	*most_ns = 0;
	for (size_t c = 0; c < sched->n_cpus; c++) {
		int32_t node = fsl_sched_place_of(sched->topology, (int32_t)c).node;
		if (node < 0 || node == best || rank->cpu_ns[c] == 0) {
			continue;
		}
		int64_t ns = time_on(sched, rank, node);
		if (ns > *most_ns) {
			best = node;
			*most_ns = ns;
		}
	}
	return best;
}

static uint64_t node_moves(const struct fsl_sched *sched, int32_t rank)
{
	uint64_t n = 0;
	for (size_t t = 0; t < sched->n_threads; t++) {
		if (sched->threads[t].rank == rank) {
			n += fsl_sched_far_moves(sched, &sched->threads[t], FSL_SCHED_FAR_NODE);
		}
	}
	return n;
}

static void advise_node(struct fsl_hostbound *out, const struct fsl_sched *sched, size_t r)
{
	const struct fsl_sched_rank *rank = &sched->ranks[r];
	int64_t most_ns = 0;
	int32_t node = main_node(sched, rank, &most_ns);
	int64_t unknown_ns = time_on(sched, rank, -1);
	double far = share_of(rank, rank->whole.in_ns[FSL_SCHED_RUN] - most_ns - unknown_ns);
	if (node < 0 || far < FSL_JUDGE_FAR_NODE_SHARE_MIN) {
		return;
	}
	struct fsl_hostbound_advice advice =
		fsl_hostbound_advice_of(FSL_ADVICE_BIND_NODE, rank->rank, -1);
	advice.node = node;
	advice.share = far;
	advice.n_moves = node_moves(sched, (int32_t)r);
	fsl_hostbound_add_advice(out, advice);
}

struct own_cpus {
	int32_t cpus[FSL_JUDGE_OWN_CPUS_MAX];
	size_t n;
};

static struct own_cpus own_cpus_of(const struct fsl_sched *sched, const struct fsl_sched_rank *rank)
{
	struct own_cpus own = {.n = 0};
	for (size_t c = 0; c < sched->n_cpus && own.n < FSL_JUDGE_OWN_CPUS_MAX; c++) {
		if (share_of(rank, rank->cpu_ns[c]) >= FSL_JUDGE_OWN_CPU_SHARE_MIN) {
			own.cpus[own.n++] = (int32_t)c;
		}
	}
	return own;
}

static bool is_one_core(const struct fsl_sched *sched, int32_t cpu, int32_t other)
{
	struct fsl_sched_place a = fsl_sched_place_of(sched->topology, cpu);
	struct fsl_sched_place b = fsl_sched_place_of(sched->topology, other);
	return cpu != other && a.core >= 0 && a.core == b.core && a.socket == b.socket;
}

/* The first two CPUs of one core on which both ranks run. */
static void advise_cores(struct fsl_hostbound *out, const struct fsl_sched *sched, size_t a,
			 size_t b)
{
	const struct fsl_sched_rank *rank = &sched->ranks[a], *other = &sched->ranks[b];
	struct own_cpus own = own_cpus_of(sched, rank), others = own_cpus_of(sched, other);
	for (size_t i = 0; i < own.n; i++) {
		for (size_t k = 0; k < others.n; k++) {
			if (!is_one_core(sched, own.cpus[i], others.cpus[k])) {
				continue;
			}
			struct fsl_hostbound_advice advice = fsl_hostbound_advice_of(
				FSL_ADVICE_PART_CORES, rank->rank, own.cpus[i]);
			advice.other_rank = other->rank;
			advice.other_cpu = others.cpus[k];
			advice.share = share_of(rank, rank->cpu_ns[own.cpus[i]]);
			advice.other_share = share_of(other, other->cpu_ns[others.cpus[k]]);
			fsl_hostbound_add_advice(out, advice);
			return;
		}
	}
}

void fsl_hostbound_advise_places(struct fsl_hostbound *out, const struct fsl_sched *sched)
{
	if (sched->topology == NULL) {
		return;
	}
	for (size_t a = 0; a < sched->n_ranks && out->n_advice < FSL_HOSTBOUND_ADVICE_MAX; a++) {
		advise_node(out, sched, a);
		for (size_t b = a + 1;
		     b < sched->n_ranks && out->n_advice < FSL_HOSTBOUND_ADVICE_MAX; b++) {
			advise_cores(out, sched, a, b);
		}
	}
}
