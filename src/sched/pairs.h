/* Sums of time by key, in a hash table that grows. */
#ifndef FSL_SCHED_PAIRS_H
#define FSL_SCHED_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

/* Pairs beyond so many are summed by the caller under another key: 160 MB. */
enum { FSL_SCHED_PAIRS_MAX = 4 << 20 };

struct fsl_sched_pair {
	int32_t victim; /* thread or rank, by the table */
	int32_t step;   /* index; -1: outside of steps, or not told apart */
	int32_t cpu;    /* -1: not told apart */
	int32_t holder;
	int64_t ns;
	int64_t last_ns; /* end of its last part */
	uint64_t n;      /* parts */
};

/* Start as {0}. */
struct fsl_sched_pairs {
	struct fsl_sched_pair *items; /* in order of their first use */
	size_t n_items, items_capacity;
	uint32_t *slots; /* index + 1; 0: unused */
	size_t n_slots;
};

/* Adds @key->ns to the pair with the same victim, step, CPU and holder. */
enum fsl_status fsl_sched_pairs_add(struct fsl_sched_pairs *pairs, const struct fsl_sched_pair *key,
				    struct fsl_error *err);
/* The time of the pair with the same victim, step, CPU and holder; 0: there is none. */
int64_t fsl_sched_pairs_ns(const struct fsl_sched_pairs *pairs, const struct fsl_sched_pair *key);
void fsl_sched_pairs_fini(struct fsl_sched_pairs *pairs);

#endif
