/* Which operators the ranks use, counted by name. */
#include "match/op_sets.h"

#include "base/mem.h"
#include "match/limits.h"

/* splitmix64 finaliser (Steele, Lea, Flood 2014): spreads small ids over 64 bits. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t fsl_op_set_with(uint64_t set, uint32_t op_id)
{
	return set + mix(op_id);
}

/* Operators of one rank, counted by name; of one thread. */
struct census {
	size_t n_names;
	uint32_t *n_uses; /* per name; 0 between two ranks */
	uint32_t *seen;   /* names in order of first use */
};

static uint64_t count_rank(const struct fsl_rank *rank, struct census *census)
{
	uint64_t set = 0;
	size_t n_seen = 0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		fsl_op_fetch_ahead(&rank->ops[i]);
		uint32_t op_id = rank->ops[i].op_id;
		if (op_id < census->n_names && census->n_uses[op_id]++ == 0) {
			census->seen[n_seen++] = op_id;
		}
	}
	for (size_t k = 0; k < n_seen; k++) {
		uint32_t op_id = census->seen[k];
		if ((uint64_t)census->n_uses[op_id] * FSL_RARE_OP_SHARE >= rank->n_ops) {
			set = fsl_op_set_with(set, op_id);
		}
		census->n_uses[op_id] = 0;
	}
	return set;
}

enum fsl_status fsl_op_sets_count(uint64_t *sets, const struct fsl_run *run, struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(run->names);
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		struct fsl_arena scratch = {0};
		struct census census = {n_names,
					fsl_arena_alloc(&scratch, n_names * sizeof(uint32_t)),
					fsl_arena_alloc(&scratch, n_names * sizeof(uint32_t))};
		is_short = census.n_uses == NULL || census.seen == NULL;
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t r = 0; r < run->n_ranks; r++) {
			sets[r] = is_short ? 0 : count_rank(&run->ranks[r], &census);
		}
		fsl_arena_fini(&scratch);
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", n_names)
			: FSL_OK;
}
