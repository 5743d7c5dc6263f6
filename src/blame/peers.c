/* Peers: ranks of the same pipeline stage that use the same operators. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sort.h"
#include "blame/blame.h"
#include "blame/stages.h"
#include "match/op_sets.h"

/* One rank's key while it is sorted into classes. */
struct key {
	int32_t stage;
	uint64_t ops; /* set of operators */
	uint32_t rank_idx;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	FSL_ORDER_BY(x->stage, y->stage);
	FSL_ORDER_BY(x->ops, y->ops);
	return FSL_ORDER(x->rank_idx, y->rank_idx);
}

static void number_classes(struct fsl_peers *out, const struct key *keys, size_t n_keys)
{
	for (size_t k = 0; k < n_keys; k++) {
		bool is_new = k == 0 || keys[k].stage != keys[k - 1].stage ||
			      keys[k].ops != keys[k - 1].ops;
		if (is_new) {
			out->begin[out->n_classes++] = k;
		}
		out->members[k] = keys[k].rank_idx;
		out->class_of[keys[k].rank_idx] = (uint32_t)(out->n_classes - 1);
	}
	FSL_ASSERT(out->n_classes <= n_keys);
	out->begin[out->n_classes] = n_keys;
}

/* Per rank index, in @arena if the topology does not know; NULL when out of memory. */
static const uint64_t *op_sets_of(struct fsl_arena *arena, const struct fsl_run *run,
				  const struct fsl_topology *topology)
{
	if (topology->op_sets != NULL) {
		return topology->op_sets;
	}
	uint64_t *op_sets = fsl_arena_alloc(arena, run->n_ranks * sizeof(*op_sets));
	return op_sets != NULL && fsl_op_sets_count(op_sets, run) ? op_sets : NULL;
}

enum fsl_status fsl_peers_build(struct fsl_peers *out, struct fsl_arena *arena,
				const struct fsl_run *run, const struct fsl_topology *topology,
				struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	size_t n_keys = 0, n = run->n_ranks;
	*out = (struct fsl_peers){0};
	out->class_of = fsl_arena_alloc(arena, n * sizeof(*out->class_of));
	out->members = fsl_arena_alloc(arena, n * sizeof(*out->members));
	out->begin = fsl_arena_alloc(arena, (n + 1) * sizeof(*out->begin));
	out->stage_of = fsl_arena_alloc(arena, n * sizeof(*out->stage_of));
	struct key *keys = fsl_arena_alloc(&scratch, n * sizeof(*keys));
	const uint64_t *op_sets = op_sets_of(&scratch, run, topology);
	if (out->class_of == NULL || out->members == NULL || out->begin == NULL ||
	    out->stage_of == NULL || keys == NULL || op_sets == NULL) {
		fsl_arena_fini(&scratch);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	enum fsl_status status = fsl_stages_find(out->stage_of, run, topology, err);
	if (status != FSL_OK) {
		fsl_arena_fini(&scratch);
		return status;
	}
	for (size_t r = 0; r < n; r++) {
		out->class_of[r] = FSL_NO_CLASS;
		if (run->ranks[r].n_ops > 0) {
			keys[n_keys++] = (struct key){out->stage_of[r], op_sets[r], (uint32_t)r};
		}
	}
	qsort(keys, n_keys, sizeof(*keys), compare_keys);
	number_classes(out, keys, n_keys);
	fsl_arena_fini(&scratch);
	return FSL_OK;
}
