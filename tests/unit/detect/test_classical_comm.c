/* comm: the vote on pipelines, and its requirements. */
#include "classical_bench.h"

#include "detect/classical_parts.h"

static double all_alike(int32_t rank, size_t i)
{
	return 100.0 + 0.01 * rank + 0.02 * (double)(i % 5);
}

/* The link between 1 and 5 becomes slow after 90 of 120 operators. */
static double link_1_5_becomes_slow(int32_t rank, size_t i)
{
	return all_alike(rank, i) * ((rank == 1 || rank == 5) && i >= 90 ? 4.0 : 1.0);
}

/* Only one end of a link is alarmed: no link, since a transfer takes as long at both ends. */
static double rank_6_alone_becomes_slow(int32_t rank, size_t i)
{
	return all_alike(rank, i) * (rank == 6 && i >= 90 ? 4.0 : 1.0);
}

/* tp 4, pp 2: two tp groups and four pipelines. */
static void init_pipelines(struct bench *bench, bench_duration *collective,
			   bench_duration *transfer)
{
	bench_init(bench);
	for (int32_t rank = 0; rank < 8; rank++) {
		char pipeline[8];
		snprintf(pipeline, sizeof(pipeline), "p%d", rank % 4);
		bench_ops(bench, rank, rank < 4 ? "t0" : "t4", "HcclAllGather", 120, collective);
		bench_ops(bench, rank, pipeline, "HcclBatchSendRecv", 120, transfer);
		if (rank < 4) {
			bench_group(bench, pipeline, FSL_GROUP_PP, RANKS(rank, 2, 4));
		}
	}
	bench_group(bench, "t0", FSL_GROUP_TP, RANKS(0, 4, 1));
	bench_group(bench, "t4", FSL_GROUP_TP, RANKS(4, 4, 1));
	bench->config.enable_comm = true;
}

static void both_ends_of_a_slow_link_are_named(void **state)
{
	(void)state;
	struct bench bench;
	init_pipelines(&bench, all_alike, link_1_5_becomes_slow);
	bench_run(&bench);
	assert_abnormal(&bench, "1 HcclBatchSendRecv TIME;5 HcclBatchSendRecv TIME;");
	assert_true(bench.verdict.network);
	assert_false(bench.verdict.compute || bench.verdict.storage);
	assert_int_equal(bench.verdict.abnormal[0].n_rela_ranks, 0);
	assert_int_equal(bench.verdict.n_normal, 0);
	bench_fini(&bench);
}

static void one_alarmed_end_is_no_link(void **state)
{
	(void)state;
	struct bench bench;
	init_pipelines(&bench, all_alike, rank_6_alone_becomes_slow);
	bench_run(&bench);
	assert_abnormal(&bench, "");
	bench_fini(&bench);
}

static void healthy_links_are_normal(void **state)
{
	(void)state;
	struct bench bench;
	init_pipelines(&bench, all_alike, all_alike);
	bench_run(&bench);
	assert_abnormal(&bench, "");
	assert_false(bench.verdict.network);
	bench_fini(&bench);
}

/* The second tp group becomes slow at the same time, so the end in it is the one to name. */
static double group_4_becomes_slow(int32_t rank, size_t i)
{
	return all_alike(rank, i) * (rank >= 4 && i >= 90 ? 4.0 : 1.0);
}

static void a_slow_group_narrows_the_vote(void **state)
{
	(void)state;
	struct bench bench;
	init_pipelines(&bench, group_4_becomes_slow, link_1_5_becomes_slow);
	bench_run(&bench);
	assert_abnormal(&bench, "5 HcclBatchSendRecv TIME;");
	bench_fini(&bench);
}

static void record_kpi_takes_the_first_function(void **state)
{
	(void)state;
	struct bench bench;
	init_pipelines(&bench, all_alike, link_1_5_becomes_slow);
	bench.config.record_kpi = true;
	bench_run(&bench);
	/* 96 operators stay, one a second, in windows of 5 s; the last begin earlier. */
	assert_int_equal(bench.verdict.abnormal[0].n_kpi, 19);
	assert_int_equal(bench.verdict.abnormal[0].kpi[0].abnormal, 0);
	assert_int_equal(bench.verdict.abnormal[0].kpi[18].abnormal, 1);
	bench_fini(&bench);
}

static void fewer_than_eight_rank_files_are_not_voted_on(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_ops(&bench, 0, "p", "HcclBatchSendRecv", 10, all_alike);
	bench_ops(&bench, 1, "p", "HcclBatchSendRecv", 10, all_alike);
	bench_group(&bench, "p", FSL_GROUP_PP, RANKS(0, 2, 1));
	bench.config.enable_comm = true;
	bench_run(&bench);
	assert_abnormal(&bench, "");
	assert_skipped(&bench, "HcclBatchSendRecv: 2 rank files, needs 8");
	bench_fini(&bench);
}

static void jobs_without_pipelines_say_so(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	for (int32_t rank = 0; rank < 8; rank++) {
		bench_ops(&bench, rank, "t", "HcclAllGather", 100, all_alike);
	}
	bench_group(&bench, "t", FSL_GROUP_TP, RANKS(0, 8, 1));
	bench.config.enable_comm = true;
	bench_run(&bench);
	assert_abnormal(&bench, "");
	assert_skipped(&bench,
		       "HcclBatchSendRecv: no pp communicator of two or more ranks with data");
	bench_fini(&bench);
}

static void a_sure_rank_needs_a_neighbour(void **state)
{
	(void)state;
	static const struct {
		double scores[4];
		bool is_slow[4], taken[4];
	} votes[] = {
		{{1, 0, 1, 0}, {0}, {0}},
		{{1, 0.5, 0, 0}, {0}, {1, 0, 0, 0}},
		{{0, 0.5, 1, 1}, {0}, {0, 0, 1, 1}},
		{{1, 0, 0, 1}, {0}, {0}}, /* no wrap */
		{{1, 1, 1, 0}, {0, 0, 1, 0}, {0, 0, 1, 0}},
		{{1, 1, 0, 0}, {0, 0, 1, 1}, {1, 1, 0, 0}}, /* nothing would be left */
	};
	for (size_t v = 0; v < sizeof(votes) / sizeof(votes[0]); v++) {
		bool taken[4];
		fsl_vote(votes[v].scores, votes[v].is_slow, 4, taken);
		assert_memory_equal(taken, votes[v].taken, sizeof(taken));
	}
	bool taken = true;
	fsl_vote((const double[]){1.0}, (const bool[]){true}, 1, &taken);
	assert_false(taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_of_a_slow_link_are_named),
		cmocka_unit_test(one_alarmed_end_is_no_link),
		cmocka_unit_test(healthy_links_are_normal),
		cmocka_unit_test(a_slow_group_narrows_the_vote),
		cmocka_unit_test(record_kpi_takes_the_first_function),
		cmocka_unit_test(fewer_than_eight_rank_files_are_not_voted_on),
		cmocka_unit_test(jobs_without_pipelines_say_so),
		cmocka_unit_test(a_sure_rank_needs_a_neighbour),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
