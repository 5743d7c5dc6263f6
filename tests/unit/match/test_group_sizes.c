/* Sizes of groups with members without data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/group_sizes.h"

enum { RANKS_MAX = 40, GROUPS_MAX = 40 };

/* Ranks in tensor-parallel groups of neighbours, crossed by data-parallel groups. */
struct grid {
	struct fsl_rank ranks[RANKS_MAX];
	int32_t members[GROUPS_MAX][RANKS_MAX];
	struct fsl_group groups[GROUPS_MAX];
	struct fsl_run run;
	struct fsl_topology topology;
};

static void add_group(struct grid *grid, enum fsl_group_kind kind, int32_t first, int32_t stride,
		      int32_t n_ranks)
{
	struct fsl_group *group = &grid->groups[grid->topology.n_groups];
	int32_t *members = grid->members[grid->topology.n_groups];
	*group = (struct fsl_group){.kind = kind, .ranks = members};
	for (int32_t i = 0; i < n_ranks; i++) {
		if (grid->ranks[first + i * stride].n_ops > 0) {
			members[group->n_ranks++] = first + i * stride;
		}
	}
	/* Who uses a communicator alone shows nothing of its kind. */
	group->kind = group->n_ranks > 1 ? kind : FSL_GROUP_UNKNOWN;
	grid->topology.n_groups += group->n_ranks > 0;
}

/* Ranks of @is_lost are named by no file or by one without data. */
static void set_grid(struct grid *grid, int32_t tp, int32_t dp, const bool is_lost[RANKS_MAX])
{
	*grid = (struct grid){
		.run = {.ranks = grid->ranks, .n_ranks = (size_t)(tp * dp)},
		.topology = {.groups = grid->groups, .n_expected_ranks = (size_t)(tp * dp)}};
	for (int32_t r = 0; r < tp * dp; r++) {
		grid->ranks[r] = (struct fsl_rank){.rank = r, .n_ops = is_lost[r] ? 0 : 1};
	}
	for (int32_t i = 0; i < dp && tp > 1; i++) {
		add_group(grid, FSL_GROUP_TP, i * tp, 1, tp);
	}
	for (int32_t i = 0; i < tp && dp > 1; i++) {
		add_group(grid, FSL_GROUP_DP, i, tp, dp);
	}
}

static void expect_sizes(const struct grid *grid, size_t tp, size_t dp)
{
	struct fsl_group_sizes sizes;
	fsl_group_sizes_find(&sizes, &grid->run, &grid->topology);
	assert_int_equal(sizes.n_ranks[FSL_GROUP_TP], tp);
	assert_int_equal(sizes.n_ranks[FSL_GROUP_DP], dp);
}

static void where_nobody_is_missing_no_group_misses_members(void **state)
{
	(void)state;
	static const bool nobody[RANKS_MAX] = {false};
	struct grid grid;
	set_grid(&grid, 4, 2, nobody);
	expect_sizes(&grid, 0, 0);
	for (size_t g = 0; g < grid.topology.n_groups; g++) {
		struct fsl_group_sizes sizes;
		fsl_group_sizes_find(&sizes, &grid.run, &grid.topology);
		assert_false(fsl_group_misses_members(&sizes, &grid.groups[g]));
	}
}

static void the_only_group_of_its_kind_has_all_ranks_of_the_job(void **state)
{
	(void)state;
	struct grid grid;
	static const bool lost[RANKS_MAX] = {[3] = true};
	set_grid(&grid, 8, 1, lost);
	expect_sizes(&grid, 8, 0);
	struct fsl_group_sizes sizes;
	fsl_group_sizes_find(&sizes, &grid.run, &grid.topology);
	assert_true(fsl_group_misses_members(&sizes, &grid.groups[0]));
	assert_int_equal(fsl_group_n_unseen(&sizes, &grid.groups[0]), 1);
	set_grid(&grid, 1, 16, lost);
	expect_sizes(&grid, 0, 16);
}

static void a_group_that_was_seen_whole_tells_the_size_of_the_others(void **state)
{
	(void)state;
	struct grid grid;
	static const bool lost[RANKS_MAX] = {[3] = true};
	set_grid(&grid, 4, 4, lost);
	expect_sizes(&grid, 4, 4);
}

static void where_every_group_misses_one_the_number_of_ranks_tells_it(void **state)
{
	(void)state;
	struct grid grid;
	static const bool lost[RANKS_MAX] = {[3] = true, [10] = true};
	set_grid(&grid, 8, 2, lost);
	expect_sizes(&grid, 8, 2);
}

/* Data-parallel groups of four would divide 40 ranks, too, but not tensor-parallel groups of 8. */
static void a_host_without_data_is_a_member_of_every_group_that_crosses_it(void **state)
{
	(void)state;
	struct grid grid;
	bool lost[RANKS_MAX] = {false};
	for (size_t r = 16; r < 24; r++) {
		lost[r] = true;
	}
	set_grid(&grid, 8, 5, lost);
	expect_sizes(&grid, 8, 5);
}

/* Neighbouring stages have a communicator each: no two of these share out the ranks. */
static void groups_that_overlap_are_as_large_as_the_largest(void **state)
{
	(void)state;
	struct grid grid;
	static const bool lost[RANKS_MAX] = {[6] = true};
	set_grid(&grid, 1, 1, lost);
	grid.run.n_ranks = grid.topology.n_expected_ranks = 8;
	for (int32_t r = 0; r < 8; r++) {
		grid.ranks[r] = (struct fsl_rank){.rank = r, .n_ops = r == 6 ? 0 : 1};
	}
	for (int32_t r = 0; r + 1 < 8; r++) {
		add_group(&grid, FSL_GROUP_PP, r, 1, 2);
	}
	struct fsl_group_sizes sizes;
	fsl_group_sizes_find(&sizes, &grid.run, &grid.topology);
	assert_int_equal(sizes.n_ranks[FSL_GROUP_PP], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_nobody_is_missing_no_group_misses_members),
		cmocka_unit_test(the_only_group_of_its_kind_has_all_ranks_of_the_job),
		cmocka_unit_test(a_group_that_was_seen_whole_tells_the_size_of_the_others),
		cmocka_unit_test(where_every_group_misses_one_the_number_of_ranks_tells_it),
		cmocka_unit_test(a_host_without_data_is_a_member_of_every_group_that_crosses_it),
		cmocka_unit_test(groups_that_overlap_are_as_large_as_the_largest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
