/* Selects the communicators that the classical detectors judge. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "detect/classical_parts.h"

enum { LABEL_RANKS_MAX = 16 };

enum fsl_group_kind fsl_targets_main_kind(const struct fsl_topology *topology)
{
	const struct fsl_domain *tp = &topology->domains[FSL_GROUP_TP];
	return tp->n_lists > 0 && tp->lists[0].n_ranks > 1 ? FSL_GROUP_TP : FSL_GROUP_DP;
}

/* Orders by ranks; of equal ranks by operators, then calls, the most first. */
static int compare_groups(const void *left, const void *right)
{
	const struct fsl_group *a = *(const struct fsl_group *const *)left;
	const struct fsl_group *b = *(const struct fsl_group *const *)right;
	int order = fsl_ranks_compare(a->ranks, a->n_ranks, b->ranks, b->n_ranks);
	if (order != 0) {
		return order;
	}
	FSL_ORDER_BY(b->n_op_kinds, a->n_op_kinds);
	FSL_ORDER_BY(b->n_calls, a->n_calls);
	return FSL_ORDER(a, b); /* topology->groups is sorted, so its order decides */
}

static bool has_data(const struct fsl_run *run, int32_t rank)
{
	const struct fsl_rank *seen = fsl_run_rank(run, rank);
	return seen != NULL && seen->n_ops > 0;
}

static bool is_consecutive(const struct fsl_run *run, const int32_t *ranks, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		for (int32_t between = ranks[i - 1] + 1; between < ranks[i]; between++) {
			if (has_data(run, between)) {
				return false;
			}
		}
	}
	return true;
}

/* "tp [0,1,2,3]", cut after LABEL_RANKS_MAX ranks. */
static const char *label_of(struct fsl_arena *arena, enum fsl_group_kind kind, const int32_t *ranks,
			    size_t n)
{
	char text[LABEL_RANKS_MAX * 12 + 32];
	size_t length = (size_t)snprintf(text, sizeof(text), "%s [", fsl_group_kind_text(kind));
	for (size_t i = 0; i < n && i < LABEL_RANKS_MAX; i++) {
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%d",
					   i > 0 ? "," : "", ranks[i]);
	}
	(void)snprintf(text + length, sizeof(text) - length, n > LABEL_RANKS_MAX ? ",...]" : "]");
	return fsl_arena_strdup(arena, text);
}

/* First communicator of @sorted with exactly these ranks; NULL: none. */
static const struct fsl_group *find_group(const struct fsl_group *const *sorted, size_t n_groups,
					  const int32_t *ranks, size_t n)
{
	size_t begin = 0;
	FSL_BISECT(begin, n_groups, middle,
		   fsl_ranks_compare(sorted[middle]->ranks, sorted[middle]->n_ranks, ranks, n) < 0);
	bool is_equal =
		begin < n_groups &&
		fsl_ranks_compare(sorted[begin]->ranks, sorted[begin]->n_ranks, ranks, n) == 0;
	return is_equal ? sorted[begin] : NULL;
}

/* Writes the ranks of the list that have data, sorted, to @ranks (room for list->n_ranks). */
static size_t present_ranks(const struct fsl_run *run, const struct fsl_rank_list *list,
			    int32_t *ranks)
{
	size_t n = 0;
	for (size_t i = 0; i < list->n_ranks; i++) {
		if (has_data(run, list->ranks[i])) {
			ranks[n++] = list->ranks[i];
		}
	}
	qsort(ranks, n, sizeof(*ranks), fsl_rank_compare);
	return n;
}

static enum fsl_status add_target(struct fsl_targets *out, const struct fsl_classical *classical,
				  const struct fsl_group *const *sorted, size_t n_groups,
				  const struct fsl_rank_list *list, struct fsl_error *err)
{
	int32_t *ranks = fsl_calloc(list->n_ranks, sizeof(*ranks));
	if (ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", list->n_ranks);
	}
	size_t n = present_ranks(classical->run, list, ranks);
	/* In a communicator of one rank nobody waits. */
	const struct fsl_group *group = n >= 2 ? find_group(sorted, n_groups, ranks, n) : NULL;
	enum fsl_status status = FSL_OK;
	if (group != NULL) {
		const char *label = label_of(&out->arena, out->kind, ranks, n);
		if (label == NULL) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
		} else {
			out->items[out->n_items++] = (struct fsl_target){
				.group = group,
				.label = label,
				.is_consecutive = is_consecutive(classical->run, ranks, n),
			};
		}
	}
	fsl_free(ranks);
	return status;
}

enum fsl_status fsl_targets_find(struct fsl_targets *out, const struct fsl_classical *classical,
				 enum fsl_group_kind kind, struct fsl_error *err)
{
	const struct fsl_topology *topology = classical->topology;
	const struct fsl_domain *domain = &topology->domains[kind];
	const struct fsl_group **sorted =
		fsl_calloc(topology->n_groups, sizeof(const struct fsl_group *));
	enum fsl_status status = FSL_OK;
	size_t n_groups = 0;
	out->kind = kind;
	out->items = fsl_arena_alloc(&out->arena, domain->n_lists * sizeof(*out->items));
	if (sorted == NULL || out->items == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=%zu",
				  topology->n_groups);
		goto out;
	}
	for (size_t g = 0; g < topology->n_groups; g++) {
		if (topology->groups[g].name_id != FSL_STR_NONE) {
			sorted[n_groups++] = &topology->groups[g];
		}
	}
	qsort(sorted, n_groups, sizeof(const struct fsl_group *), compare_groups);
	for (size_t i = 0; i < domain->n_lists && status == FSL_OK; i++) {
		status = add_target(out, classical, sorted, n_groups, &domain->lists[i], err);
	}
out:
	fsl_free(sorted);
	if (status != FSL_OK) {
		fsl_targets_fini(out);
	}
	return status;
}

void fsl_targets_fini(struct fsl_targets *targets)
{
	fsl_arena_fini(&targets->arena);
	*targets = (struct fsl_targets){0};
}
