/* Pipeline stages with ranks without data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "blame/peers.h"

enum { RANKS_MAX = 16, GROUPS_MAX = 32 };

/* Stages of @tp ranks; neighbouring stages have a communicator for each two ranks. */
struct pipeline {
	struct fsl_rank ranks[RANKS_MAX];
	int32_t members[GROUPS_MAX][RANKS_MAX];
	struct fsl_group groups[GROUPS_MAX];
	int32_t expected[RANKS_MAX];
	struct fsl_run run;
	struct fsl_topology topology;
};

/* Who uses a communicator alone shows nothing of its kind. */
static void add_group(struct pipeline *p, enum fsl_group_kind kind, const int32_t *ranks,
		      int32_t n_ranks)
{
	int32_t *members = p->members[p->topology.n_groups];
	struct fsl_group *group = &p->groups[p->topology.n_groups];
	*group = (struct fsl_group){.ranks = members};
	for (int32_t i = 0; i < n_ranks; i++) {
		if (p->ranks[ranks[i]].n_ops > 0) {
			members[group->n_ranks++] = ranks[i];
		}
	}
	group->kind = group->n_ranks > 1 ? kind : FSL_GROUP_UNKNOWN;
	p->topology.n_groups += group->n_ranks > 0;
}

static void set_pipeline(struct pipeline *p, int32_t tp, int32_t pp, uint32_t lost_ranks)
{
	size_t n = (size_t)(tp * pp);
	*p = (struct pipeline){.run = {.ranks = p->ranks, .n_ranks = n},
			       .topology = {.groups = p->groups,
					    .expected_ranks = p->expected,
					    .n_expected_ranks = n}};
	for (int32_t r = 0; r < tp * pp; r++) {
		p->ranks[r] = (struct fsl_rank){.rank = r, .n_ops = (~lost_ranks >> r) & 1};
		p->expected[r] = r;
	}
	for (int32_t stage = 0; stage < pp && tp > 1; stage++) {
		int32_t shards[RANKS_MAX];
		for (int32_t i = 0; i < tp; i++) {
			shards[i] = stage * tp + i;
		}
		add_group(p, FSL_GROUP_TP, shards, tp);
	}
	for (int32_t r = 0; r + tp < tp * pp; r++) {
		add_group(p, FSL_GROUP_PP, (int32_t[]){r, r + tp}, 2);
	}
}

/* Ranks that left no data have no stage. */
static void expect_usual_stages(const struct pipeline *p, int32_t tp)
{
	int32_t stage_of[RANKS_MAX] = {0};
	struct fsl_arena arena = {0};
	assert_int_equal(fsl_stages_find(stage_of, &arena, &p->run, &p->topology, NULL), FSL_OK);
	fsl_arena_fini(&arena);
	for (size_t r = 0; r < p->run.n_ranks; r++) {
		if (p->ranks[r].n_ops > 0) {
			assert_int_equal(stage_of[r], p->ranks[r].rank / tp);
		}
	}
}

static void stages_behind_one_without_data_go_on_counting(void **state)
{
	(void)state;
	struct pipeline p;
	for (int32_t lost = 0; lost < 8; lost++) {
		set_pipeline(&p, 1, 8, UINT32_C(1) << lost);
		expect_usual_stages(&p, 1);
		set_pipeline(&p, 2, 8, UINT32_C(3) << 2 * lost);
		expect_usual_stages(&p, 2);
	}
}

/* Two stages in a row are missing, and one further on. */
static void a_pipeline_may_be_cut_twice(void **state)
{
	(void)state;
	struct pipeline p;
	set_pipeline(&p, 1, 12, UINT32_C(1) << 2 | UINT32_C(1) << 3 | UINT32_C(1) << 8);
	expect_usual_stages(&p, 1);
}

/* One shard of a stage goes on from what the others hand over. */
static void a_stage_of_which_a_rank_was_seen_cuts_nothing(void **state)
{
	(void)state;
	struct pipeline p;
	set_pipeline(&p, 2, 4, UINT32_C(1) << 4);
	expect_usual_stages(&p, 2);
}

static void the_last_stage_that_hands_back_is_no_neighbour_of_the_first(void **state)
{
	(void)state;
	struct pipeline p;
	for (int32_t lost = 0; lost < 4; lost++) {
		set_pipeline(&p, 2, 4, UINT32_C(3) << 2 * lost);
		add_group(&p, FSL_GROUP_PP, (int32_t[]){0, 6}, 2);
		add_group(&p, FSL_GROUP_PP, (int32_t[]){1, 7}, 2);
		expect_usual_stages(&p, 2);
	}
}

/* One communicator for the pipeline: its members have places, that without data has none. */
static void a_stage_missing_from_all_pipelines_keeps_its_place(void **state)
{
	(void)state;
	struct pipeline p;
	set_pipeline(&p, 2, 4, UINT32_C(3) << 2);
	p.topology.n_groups = 0;
	for (int32_t stage = 0; stage < 4; stage++) {
		add_group(&p, FSL_GROUP_TP, (int32_t[]){2 * stage, 2 * stage + 1}, 2);
	}
	add_group(&p, FSL_GROUP_PP, (int32_t[]){0, 2, 4, 6}, 4);
	add_group(&p, FSL_GROUP_PP, (int32_t[]){1, 3, 5, 7}, 4);
	expect_usual_stages(&p, 2);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
	(void)state;
	struct pipeline p;
	enum fsl_status status = FSL_ERR_MEMORY;
	set_pipeline(&p, 2, 4, UINT32_C(3) << 2);
	for (uint64_t nth = 1; status != FSL_OK && nth < 50; nth++) {
		int32_t stage_of[RANKS_MAX] = {0};
		struct fsl_arena arena = {0};
		fsl_mem_fail_at(nth);
		status = fsl_stages_find(stage_of, &arena, &p.run, &p.topology, NULL);
		fsl_mem_fail_at(0);
		fsl_arena_fini(&arena);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_int_equal(status, FSL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_behind_one_without_data_go_on_counting),
		cmocka_unit_test(a_pipeline_may_be_cut_twice),
		cmocka_unit_test(a_stage_of_which_a_rank_was_seen_cuts_nothing),
		cmocka_unit_test(the_last_stage_that_hands_back_is_no_neighbour_of_the_first),
		cmocka_unit_test(a_stage_missing_from_all_pipelines_keeps_its_place),
		cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
