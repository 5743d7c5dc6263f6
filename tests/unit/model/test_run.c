/* The run: ranks sorted and unique, kinds of stages, and the order that a rank promises. */
#include "model/run.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <string.h>

static void ranks_stay_sorted_and_unique_in_any_order(void **state)
{
	(void)state;
	struct fsl_run run;
	static const int32_t order[] = {5, 0, 9, 5, 3, 0, 1048575};
	assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct fsl_rank *rank = fsl_run_add_rank(&run, order[i], NULL);
		assert_non_null(rank);
		assert_int_equal(rank->rank, order[i]);
		assert_int_equal(rank->open_op_id, FSL_STR_NONE);
		assert_int_equal(rank->last_event_ns, FSL_NS_ABSENT);
		assert_string_equal(rank->server_ip, "localhost");
	}
	assert_int_equal(run.n_ranks, 5);
	for (size_t i = 1; i < run.n_ranks; i++) {
		assert_true(run.ranks[i - 1].rank < run.ranks[i].rank);
	}
	assert_int_equal(fsl_run_rank_idx(&run, 9), 3);
	assert_ptr_equal(fsl_run_rank(&run, 9), &run.ranks[3]);
	assert_null(fsl_run_rank(&run, 4));
	assert_int_equal(fsl_run_rank_idx(&run, 4), SIZE_MAX);
	fsl_run_fini(&run);
}

static void out_of_memory_leaves_the_run_as_it_was(void **state)
{
	(void)state;
	struct fsl_run run;
	fsl_mem_fail_at(1);
	assert_int_equal(fsl_run_init(&run, NULL), FSL_ERR_MEMORY);
	fsl_mem_fail_at(0);
	assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
	fsl_mem_fail_at(1);
	assert_null(fsl_run_add_rank(&run, 1, NULL));
	fsl_mem_fail_at(0);
	assert_int_equal(run.n_ranks, 0);
	fsl_run_fini(&run);
}

static void stage_kinds_are_told_from_their_type(void **state)
{
	(void)state;
	static const struct {
		const char *type;
		enum fsl_stage_kind kind;
	} types[] = {
		{"torch.utils.data.dataloader@_BaseDataLoaderIter@__next__", FSL_STAGE_DATALOADER},
		{"megatron.core.pipeline_parallel@schedules@forward_step", FSL_STAGE_FORWARD},
		{"megatron.core.pipeline_parallel@schedules@Backward_step", FSL_STAGE_BACKWARD},
		{"torch.utils.checkpoint@CheckpointFunction@backward", FSL_STAGE_BACKWARD},
		{"SaveCkpt", FSL_STAGE_CKPT},
		{"megatron.training@checkpointing@save_checkpoint", FSL_STAGE_CKPT},
		{"torch.optim@Optimizer@step", FSL_STAGE_OPTIMIZER},
		{"GC", FSL_STAGE_GC},
		{"python@gc@collect", FSL_STAGE_GC},
		{"logging@msgcount", FSL_STAGE_OTHER},
		{"torch_npu@npu@synchronize", FSL_STAGE_SYNC},
		{"", FSL_STAGE_OTHER},
		{"x", FSL_STAGE_OTHER},
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		assert_int_equal(fsl_stage_kind_from_text(types[i].type, strlen(types[i].type)),
				 types[i].kind);
	}
}

static void operators_are_sorted_by_begin_then_id_and_unique(void **state)
{
	(void)state;
	struct fsl_op ops[] = {
		{.id = 4, .dev_begin_ns = 300, .dev_end_ns = 310},
		{.id = 3, .dev_begin_ns = 100, .dev_end_ns = 110},
		{.id = 2, .dev_begin_ns = 100, .dev_end_ns = 120},
		{.id = 1,
		 .dev_begin_ns = FSL_NS_ABSENT,
		 .dev_end_ns = FSL_NS_ABSENT,
		 .host_begin_ns = 200,
		 .host_end_ns = 201},
		{.id = 3, .dev_begin_ns = 100, .dev_end_ns = 110},
		{.id = 3, .dev_begin_ns = 100, .dev_end_ns = 111},
	};
	static const uint64_t order[] = {2, 3, 3, 1, 4};
	struct fsl_rank rank = {.ops = ops, .n_ops = sizeof(ops) / sizeof(ops[0])};
	fsl_rank_normalise(&rank);
	assert_int_equal(rank.n_ops, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(ops[i].id, order[i]);
	}
}

/* One operator a millisecond, the host @ahead of them ahead; the one that began at 1,000 ms has no
 * end. */
static bool waits_after(size_t n_later, int64_t ahead, uint32_t group_id)
{
	enum { BEFORE = 1000, OPS_MAX = 2000 };
	static struct fsl_op ops[OPS_MAX];
	for (size_t i = 0; i < BEFORE + n_later; i++) {
		int64_t begin_ms = (int64_t)i + (i >= BEFORE);
		ops[i] = (struct fsl_op){
			.op_id = 7,
			.group_id = i < BEFORE ? 1 : group_id,
			.host_begin_ns = (begin_ms - ahead) * 1000000,
			.dev_begin_ns = begin_ms * 1000000,
			.dev_end_ns = begin_ms * 1000000 + 500000,
		};
	}
	struct fsl_rank rank = {.ops = ops,
				.n_ops = BEFORE + n_later,
				.open_op_id = 7,
				.open_group_id = 1,
				.open_begin_ns = (int64_t)BEFORE * 1000000};
	return fsl_rank_waits(&rank);
}

static void a_rank_waits_in_an_operator_that_no_later_one_outlived(void **state)
{
	(void)state;
	struct fsl_rank none = {.open_op_id = FSL_STR_NONE};
	assert_false(fsl_rank_waits(&none));
	assert_true(waits_after(0, 0, 1));
	assert_true(waits_after(63, 0, 1));
	assert_false(waits_after(64, 0, 1));
	assert_true(waits_after(500, 0, 2));   /* on another communicator */
	assert_true(waits_after(500, 600, 1)); /* launched before it began */
	assert_false(waits_after(500, 400, 1));
}

static void stages_are_sorted_by_begin_end_and_type_and_unique(void **state)
{
	(void)state;
	struct fsl_stage stages[] = {
		{.begin_ns = 20, .end_ns = 30, .type_id = 1},
		{.begin_ns = 10, .end_ns = 30, .type_id = 2},
		{.begin_ns = 10, .end_ns = 20, .type_id = 2},
		{.begin_ns = 10, .end_ns = 20, .type_id = 1},
		{.begin_ns = 20, .end_ns = 30, .type_id = 1},
	};
	struct fsl_rank rank = {.stages = stages, .n_stages = 5};
	fsl_rank_normalise(&rank);
	assert_int_equal(rank.n_stages, 4);
	assert_int_equal(stages[0].type_id, 1);
	assert_int_equal(stages[1].type_id, 2);
	assert_int_equal(stages[2].end_ns, 30);
	assert_int_equal(stages[3].begin_ns, 20);
}

static void stages_in_any_order_are_sorted(void **state)
{
	(void)state;
	enum { N = 256 };
	struct fsl_stage stages[N];
	for (size_t stride = 1; stride < N; stride += 2) {
		for (size_t i = 0; i < N; i++) {
			int64_t begin_ns = (int64_t)((i * stride % N) ^ 1);
			stages[i] = (struct fsl_stage){.begin_ns = begin_ns};
		}
		struct fsl_rank rank = {.stages = stages, .n_stages = N};
		fsl_rank_normalise(&rank);
		assert_int_equal(rank.n_stages, N);
		for (size_t i = 0; i < N; i++) {
			assert_int_equal(stages[i].begin_ns, i);
		}
	}
}

static void the_later_run_of_a_step_is_kept(void **state)
{
	(void)state;
	struct fsl_step_time steps[] = {
		{.step = 2, .begin_ns = 500, .dur_ns = 7},
		{.step = 1, .begin_ns = 100},
		{.step = 2, .begin_ns = 200},
		{.step = -1, .begin_ns = 60},
		{.step = -1, .begin_ns = 50},
		{.step = -1, .begin_ns = 60},
	};
	struct fsl_rank rank = {.steps = steps, .n_steps = 6};
	fsl_rank_normalise(&rank);
	assert_int_equal(rank.n_steps, 4);
	assert_int_equal(steps[0].begin_ns, 50);
	assert_int_equal(steps[1].begin_ns, 60);
	assert_int_equal(steps[2].step, 1);
	assert_int_equal(steps[3].begin_ns, 500);
	assert_int_equal(steps[3].dur_ns, 7);
}

static void an_empty_rank_is_normal(void **state)
{
	(void)state;
	struct fsl_rank rank = {.rank = 1};
	fsl_rank_normalise(&rank);
	assert_int_equal(rank.n_ops, 0);
}

static void every_drop_and_state_has_its_own_text(void **state)
{
	(void)state;
	for (int i = 0; i < FSL_DROPS_N; i++) {
		assert_string_not_equal(fsl_drop_text((enum fsl_drop)i), "unknown");
		for (int k = 0; k < i; k++) {
			assert_string_not_equal(fsl_drop_text((enum fsl_drop)i),
						fsl_drop_text((enum fsl_drop)k));
		}
	}
	for (int i = FSL_FILE_READ; i <= FSL_FILE_DUPLICATE; i++) {
		assert_string_not_equal(fsl_file_state_text((enum fsl_file_state)i), "unknown");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_stay_sorted_and_unique_in_any_order),
		cmocka_unit_test(out_of_memory_leaves_the_run_as_it_was),
		cmocka_unit_test(stage_kinds_are_told_from_their_type),
		cmocka_unit_test(operators_are_sorted_by_begin_then_id_and_unique),
		cmocka_unit_test(a_rank_waits_in_an_operator_that_no_later_one_outlived),
		cmocka_unit_test(stages_are_sorted_by_begin_end_and_type_and_unique),
		cmocka_unit_test(stages_in_any_order_are_sorted),
		cmocka_unit_test(the_later_run_of_a_step_is_kept),
		cmocka_unit_test(an_empty_rank_is_normal),
		cmocka_unit_test(every_drop_and_state_has_its_own_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
