/* dataloader and ckpt: time per step in recorded stages, ranks against each other. */
#include "classical_bench.h"

/* Stages of @kind in every @every-th of 40 steps. */
static void add_stages(struct bench *bench, int32_t number, enum fsl_stage_kind kind, int64_t every,
		       bench_duration *duration_ms)
{
	struct fsl_rank *rank = bench_rank(bench, number);
	for (int64_t step = 0; step < 40; step += every) {
		assert_int_equal(
			FSL_GROW(rank->stages, rank->stages_capacity, rank->n_stages + 1, NULL),
			FSL_OK);
		int64_t begin_ns = BENCH_START_NS + step * FSL_NS_PER_S;
		rank->stages[rank->n_stages++] = (struct fsl_stage){
			.begin_ns = begin_ns,
			.end_ns = begin_ns +
				  (int64_t)(duration_ms(number, (size_t)step) * FSL_NS_PER_MS),
			.step = step,
			.kind = kind,
		};
	}
}

static double alike(int32_t rank, size_t step)
{
	return 20.0 + (double)((step * 7 + (size_t)rank * 5) % 11) * 0.2;
}

static double rank_2_is_slow(int32_t rank, size_t step)
{
	return alike(rank, step) + (rank == 2 ? 30.0 : 0.0);
}

static double rank_1_is_slow_once(int32_t rank, size_t step)
{
	return alike(rank, step) + (rank == 1 && step == 20 ? 500.0 : 0.0);
}

static double microseconds(int32_t rank, size_t step)
{
	return 0.001 * alike(rank, step) + (rank == 1 ? 0.2 : 0.0);
}

static void init_stages(struct bench *bench, int32_t n_ranks, enum fsl_stage_kind kind,
			int64_t every, bench_duration *duration_ms)
{
	bench_init(bench);
	for (int32_t rank = 0; rank < n_ranks; rank++) {
		add_stages(bench, rank, kind, every, duration_ms);
	}
	bench->config.enable_dataloader = kind == FSL_STAGE_DATALOADER;
	bench->config.enable_ckpt = kind == FSL_STAGE_CKPT;
}

static void a_slow_data_loader_is_named(void **state)
{
	(void)state;
	struct bench bench;
	init_stages(&bench, 4, FSL_STAGE_DATALOADER, 1, rank_2_is_slow);
	bench.config.record_kpi = true;
	bench_run(&bench);
	assert_abnormal(&bench, "2 Dataloader SPACE;");
	assert_true(bench.verdict.storage);
	assert_false(bench.verdict.compute || bench.verdict.network);
	assert_int_equal(bench.verdict.abnormal[0].n_rela_ranks, 3);
	assert_int_equal(bench.verdict.abnormal[0].n_kpi, 32);
	bench_fini(&bench);
}

static void a_slow_checkpoint_is_named(void **state)
{
	(void)state;
	struct bench bench;
	init_stages(&bench, 3, FSL_STAGE_CKPT, 5, rank_2_is_slow);
	bench_run(&bench);
	assert_abnormal(&bench, "2 SaveCkpt SPACE;");
	assert_true(bench.verdict.storage);
	bench_fini(&bench);
}

static void jitter_and_single_steps_are_normal(void **state)
{
	(void)state;
	static bench_duration *const healthy[] = {alike, rank_1_is_slow_once, microseconds};
	for (size_t i = 0; i < sizeof(healthy) / sizeof(healthy[0]); i++) {
		struct bench bench;
		init_stages(&bench, 8, FSL_STAGE_DATALOADER, 1, healthy[i]);
		bench_run(&bench);
		assert_abnormal(&bench, "");
		bench_fini(&bench);
	}
}

static void two_timelines_are_too_few(void **state)
{
	(void)state;
	struct bench bench;
	init_stages(&bench, 2, FSL_STAGE_DATALOADER, 1, rank_2_is_slow);
	bench.config.enable_ckpt = true;
	bench_run(&bench);
	assert_abnormal(&bench, "");
	assert_skipped(&bench, "Dataloader: 2 ranks with such stages in their timelines, needs 3");
	assert_skipped(&bench, "SaveCkpt: 0 ranks with such stages in their timelines, needs 3");
	bench_fini(&bench);
}

/* Step numbers far apart, as a damaged timeline gives them, must not ask for a window each. */
static void step_numbers_far_apart_are_survived(void **state)
{
	(void)state;
	struct bench bench;
	init_stages(&bench, 3, FSL_STAGE_DATALOADER, 1, alike);
	bench.run.ranks[1].stages[39].step = INT64_MAX;
	bench_run(&bench);
	assert_abnormal(&bench, "");
	bench_fini(&bench);
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct bench bench;
	init_stages(&bench, 4, FSL_STAGE_DATALOADER, 1, rank_2_is_slow);
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		fsl_mem_fail_at(nth);
		status = bench_try(&bench);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_data_loader_is_named),
		cmocka_unit_test(a_slow_checkpoint_is_named),
		cmocka_unit_test(jitter_and_single_steps_are_normal),
		cmocka_unit_test(two_timelines_are_too_few),
		cmocka_unit_test(step_numbers_far_apart_are_survived),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
