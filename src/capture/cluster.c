/* Groups, stages and places of a set of ranks. */
#include "capture/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sort.h"
#include "capture/cluster_parts.h"
#include "capture/step_rows.h"

/* Step numbers while they are collected. */
struct steps {
	int64_t *numbers;
	size_t n, capacity;
};

/* Neighbours in a file are often of one step: adds changes only. The rest is sorted at the end. */
static enum fsl_status add_step(struct steps *steps, int64_t number, struct fsl_error *err)
{
	if (steps->n > 0 && steps->numbers[steps->n - 1] == number) {
		return FSL_OK;
	}
	enum fsl_status status = FSL_GROW(steps->numbers, steps->capacity, steps->n + 1, err);
	if (status == FSL_OK) {
		steps->numbers[steps->n++] = number;
	}
	return status;
}

static enum fsl_status add_steps_of(struct steps *steps, const struct fsl_profile_rank *rank,
				    struct fsl_error *err)
{
	size_t n_rows = 0;
	const struct fsl_profile_step *rows = fsl_profile_step_rows(rank, &n_rows);
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n_rows && status == FSL_OK; i++) {
		status = add_step(steps, rows[i].step, err);
	}
	for (size_t i = 0; i < rank->n_comms && status == FSL_OK; i++) {
		status = add_step(steps, rank->comms[i].step, err);
	}
	return status;
}

/* Sorts ascending and unique. The absent number (the least) stays only if there is no other. */
static void tidy(struct steps *steps)
{
	size_t n = 0;
	if (steps->n > 0) {
		qsort(steps->numbers, steps->n, sizeof(*steps->numbers), fsl_compare_i64);
	}
	for (size_t i = 0; i < steps->n; i++) {
		if (n == 0 || steps->numbers[n - 1] != steps->numbers[i]) {
			steps->numbers[n++] = steps->numbers[i];
		}
	}
	if (n > 1 && steps->numbers[0] == FSL_STEP_ABSENT) {
		n--;
		memmove(steps->numbers, steps->numbers + 1, n * sizeof(*steps->numbers));
	}
	steps->n = n;
}

static enum fsl_status find_steps(struct fsl_profile_cluster *out,
				  const struct fsl_profile *profile, struct fsl_error *err)
{
	struct steps steps = {0};
	enum fsl_status status = FSL_OK;
	for (size_t r = 0; r < profile->n_ranks && status == FSL_OK; r++) {
		status = add_steps_of(&steps, &profile->ranks[r], err);
	}
	if (status == FSL_OK) {
		tidy(&steps);
		out->steps = fsl_arena_take(&out->arena, (steps.n + 1) * sizeof(*out->steps));
		if (out->steps == NULL) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", steps.n);
		}
	}
	if (status == FSL_OK && steps.n > 0) {
		memcpy(out->steps, steps.numbers, steps.n * sizeof(*out->steps));
		out->n_steps = steps.n;
	}
	fsl_free(steps.numbers);
	return status;
}

static void assert_ascending(const int32_t *ranks, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		FSL_ASSERT(ranks[i - 1] < ranks[i]);
	}
}

/* Asserts the order of these lists: bisection relies on it. */
static void assert_sound(const struct fsl_profile_cluster *cluster)
{
	for (size_t s = 1; s < cluster->n_steps; s++) {
		FSL_ASSERT(cluster->steps[s - 1] < cluster->steps[s]);
	}
	for (size_t g = 0; g < cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &cluster->groups[g];
		FSL_ASSERT(group->n_seen <= group->n_ranks && group->n_seen <= group->size);
		assert_ascending(group->ranks, group->n_ranks);
		assert_ascending(group->seen, group->n_seen);
	}
	for (size_t s = 0; s < cluster->n_stages; s++) {
		FSL_ASSERT(cluster->stages[s].n_ranks > 0);
		assert_ascending(cluster->stages[s].ranks, cluster->stages[s].n_ranks);
	}
}

enum fsl_status fsl_profile_cluster_build(struct fsl_profile_cluster *out,
					  const struct fsl_profile *profile, struct fsl_error *err)
{
	enum fsl_status status = find_steps(out, profile, err);
	if (status == FSL_OK) {
		status = fsl_cluster_find_groups(out, profile, err);
	}
	if (status == FSL_OK) {
		status = fsl_cluster_find_places(out, profile, err);
	}
	if (status == FSL_OK) {
		status = fsl_cluster_find_stages(out, profile, err);
	}
	if (status == FSL_OK) {
		assert_sound(out);
	} else {
		fsl_profile_cluster_fini(out);
	}
	return status;
}

void fsl_profile_cluster_fini(struct fsl_profile_cluster *cluster)
{
	fsl_strpool_destroy(cluster->hashes);
	fsl_arena_fini(&cluster->arena);
	*cluster = (struct fsl_profile_cluster){0};
}

/* Binary search: ranks of a stage ascend, there may be ten thousands, and look-ups are many. */
static bool has_rank(const struct fsl_profile_stage *stage, int32_t rank)
{
	size_t low = 0, high = stage->n_ranks;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (stage->ranks[middle] < rank) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < stage->n_ranks && stage->ranks[low] == rank;
}

size_t fsl_profile_stage_of(const struct fsl_profile_cluster *cluster, int32_t rank)
{
	for (size_t s = 0; s < cluster->n_stages; s++) {
		const struct fsl_profile_stage *stage = &cluster->stages[s];
		if (has_rank(stage, rank)) {
			return s;
		}
	}
	return SIZE_MAX;
}
