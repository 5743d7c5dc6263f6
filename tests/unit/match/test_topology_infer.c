/* Inference: the kind of a communicator, from its ranks and the frequency of its use. */
#include "topology_bench.h"

#define PARTITION(bench, n_ranks, ...)                                                             \
	bench_partition((bench), &(const struct bench_layout){__VA_ARGS__}, (n_ranks))

static void tp_and_dp_are_told_by_crossing(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "w", "HcclAllreduce", 1, RANKS(0, 8, 1));
	PARTITION(&bench, 8, "t", "HcclAllGather", 100, 4, 1);
	PARTITION(&bench, 8, "d", "HcclAllreduce", 5, 2, 4);
	bench_build(&bench);
	assert_kind(&bench, "t0", FSL_GROUP_TP);
	assert_kind(&bench, "t4", FSL_GROUP_TP);
	assert_kind(&bench, "d3", FSL_GROUP_DP);
	assert_kind(&bench, "w", FSL_GROUP_WORLD);
	assert_domain(&bench, FSL_GROUP_TP, "[0,1,2,3][4,5,6,7]");
	assert_domain(&bench, FSL_GROUP_DP, "[0,4][1,5][2,6][3,7]");
	assert_domain(&bench, FSL_GROUP_PP, "[0][1][2][3][4][5][6][7]");
	bench_fini(&bench);
}

static void tp_of_two_is_told_by_crossing(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 8, "t", "HcclAllGather", 100, 2, 1);
	PARTITION(&bench, 8, "d", "HcclAllreduce", 5, 4, 2);
	bench_build(&bench);
	assert_kind(&bench, "t6", FSL_GROUP_TP);
	assert_kind(&bench, "d1", FSL_GROUP_DP);
	bench_fini(&bench);
}

/* A sharded data-parallel group carries what a tensor-parallel one carries, and may be busier. */
static void operators_do_not_decide_between_tp_and_dp(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 16, "t", "HcclAllreduce", 100, 4, 1);
	PARTITION(&bench, 16, "d", "HcclReduceScatter", 120, 4, 4);
	PARTITION(&bench, 16, "d", "HcclAllGather", 120, 4, 4);
	bench_build(&bench);
	assert_kind(&bench, "t0", FSL_GROUP_TP);
	assert_kind(&bench, "d0", FSL_GROUP_DP);
	bench_fini(&bench);
}

static void pipelines_are_told_by_point_to_point_operators(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "w", "HcclAllreduce", 300, RANKS(0, 8, 1));
	PARTITION(&bench, 8, "t", "HcclAllGather", 100, 2, 1);
	PARTITION(&bench, 4, "da", "HcclAllreduce", 5, 2, 2);
	bench_comm(&bench, "db4", "HcclAllreduce", 5, RANKS(4, 2, 2));
	bench_comm(&bench, "db5", "HcclAllreduce", 5, RANKS(5, 2, 2));
	PARTITION(&bench, 8, "p", "HcclBatchSendRecv", 60, 2, 4);
	bench_build(&bench);
	assert_kind(&bench, "p1", FSL_GROUP_PP);
	assert_kind(&bench, "t2", FSL_GROUP_TP);
	assert_kind(&bench, "da1", FSL_GROUP_DP);
	assert_kind(&bench, "db5", FSL_GROUP_DP);
	assert_kind(&bench, "w", FSL_GROUP_WORLD);
	bench_fini(&bench);
}

/* Tensor-parallel ranks collapsed: neighbours are replicas, with a distributed optimizer. */
static void neighbours_are_dp_when_the_pipelines_are_far_busier(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 16, "dp_stage", "HcclAllGather", 20, 4, 1);
	PARTITION(&bench, 16, "dp_stage", "HcclReduceScatter", 20, 4, 1);
	PARTITION(&bench, 16, "pp_dp", "HcclSend", 640, 4, 4);
	PARTITION(&bench, 16, "pp_dp", "HcclReceive", 640, 4, 4);
	for (int32_t replica = 0; replica < 4; replica++) {
		char name[16];
		snprintf(name, sizeof(name), "emb_dp%d", replica);
		bench_comm(&bench, name, "HcclAllreduce", 20, RANKS(replica, 2, 12));
	}
	bench_build(&bench);
	assert_kind(&bench, "dp_stage4", FSL_GROUP_DP);
	assert_kind(&bench, "pp_dp0", FSL_GROUP_PP);
	assert_kind(&bench, "emb_dp3", FSL_GROUP_UNKNOWN);
	assert_domain(&bench, FSL_GROUP_DP, "[0,1,2,3][4,5,6,7][8,9,10,11][12,13,14,15]");
	bench_fini(&bench);
}

static void neighbours_are_tp_when_as_busy_as_the_pipelines(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 8, "t", "HcclAllGather", 100, 4, 1);
	PARTITION(&bench, 8, "p", "HcclBatchSendRecv", 50, 2, 4);
	bench_build(&bench);
	assert_kind(&bench, "t4", FSL_GROUP_TP);
	bench_fini(&bench);
}

static void one_group_without_steps_is_told_by_its_operators(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "d", "HcclAllreduce", 80, RANKS(0, 8, 1));
	bench_build(&bench);
	assert_kind(&bench, "d", FSL_GROUP_DP);
	bench_comm(&bench, "d", "HcclAllGather", 80, RANKS(0, 8, 1));
	bench_build(&bench);
	assert_kind(&bench, "d", FSL_GROUP_TP);
	bench_fini(&bench);
}

static void number_steps(struct bench *bench, int64_t n_steps)
{
	struct fsl_rank *rank = fsl_run_add_rank(&bench->run, 0, NULL);
	assert_non_null(rank);
	assert_int_equal(FSL_GROW(rank->stages, rank->stages_capacity, (size_t)n_steps, NULL),
			 FSL_OK);
	for (int64_t step = 0; step < n_steps; step++) {
		rank->stages[rank->n_stages++] =
			(struct fsl_stage){.begin_ns = 1500, .end_ns = 1600, .step = step};
	}
}

static void one_group_with_steps_is_told_by_calls_per_step(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "g", "HcclAllGather", 40, RANKS(0, 8, 1));
	bench_comm(&bench, "g", "HcclReduceScatter", 40, RANKS(0, 8, 1));
	number_steps(&bench, 40);
	bench_build(&bench);
	assert_kind(&bench, "g", FSL_GROUP_DP);
	bench_comm(&bench, "g", "HcclAllGather", 400, RANKS(0, 8, 1));
	bench_build(&bench);
	assert_kind(&bench, "g", FSL_GROUP_TP);
	bench_fini(&bench);
}

/* The first and the last operator, at the start and the end of the job, belong to no step. */
static void steps_are_counted_from_the_operators_that_number_them(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "g", "HcclAllGather", 82, RANKS(0, 8, 1));
	struct fsl_rank *rank = fsl_run_add_rank(&bench.run, 0, NULL);
	for (size_t i = 1; i + 1 < rank->n_ops; i++) {
		rank->ops[i].step = (int32_t)(100 + i / 2);
	}
	bench_build(&bench);
	assert_kind(&bench, "g", FSL_GROUP_DP);
	for (size_t i = 1; i + 1 < rank->n_ops; i++) {
		rank->ops[i].step = (int32_t)(100 + i / 20);
	}
	bench_build(&bench);
	assert_kind(&bench, "g", FSL_GROUP_TP);
	bench_fini(&bench);
}

/* Ranks of a job of tp x dp x pp, numbered rank -> rank * factor mod ranks. */
struct layout {
	int32_t tp, dp, pp, factor;
};

static int32_t rank_of(const struct layout *job, int32_t stage, int32_t replica, int32_t shard)
{
	int32_t rank = (stage * job->dp + replica) * job->tp + shard;
	return rank * job->factor % (job->tp * job->dp * job->pp);
}

static void use(struct bench *bench, int32_t rank, const char *op, size_t n_calls,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

static void use(struct bench *bench, int32_t rank, const char *op, size_t n_calls,
		const char *format, ...)
{
	char name[64];
	va_list args;
	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	bench_calls(bench, rank, name, op, n_calls);
}

/* 20 steps: 4 + 4 calls of tp, 1 of dp, 2 of pp in each, and a barrier at the start. */
static void add_job(struct bench *bench, const struct layout *job)
{
	for (int32_t stage = 0; stage < job->pp; stage++) {
		for (int32_t replica = 0; replica < job->dp; replica++) {
			for (int32_t shard = 0; shard < job->tp; shard++) {
				int32_t rank = rank_of(job, stage, replica, shard);
				use(bench, rank, "HcclAllreduce", 1, "w");
				use(bench, rank, "HcclAllGather", 80, "tp%d_%d", stage, replica);
				use(bench, rank, "HcclReduceScatter", 80, "tp%d_%d", stage,
				    replica);
				use(bench, rank, "HcclAllreduce", 20, "dp%d_%d", stage, shard);
				use(bench, rank, "HcclBatchSendRecv", 40, "pp%d_%d", replica,
				    shard);
			}
		}
	}
}

static size_t count_kind(const struct bench *bench, enum fsl_group_kind kind, const char *prefix)
{
	size_t n = 0;
	for (size_t g = 0; g < bench->topology.n_groups; g++) {
		const struct fsl_group *group = &bench->topology.groups[g];
		const char *name = fsl_strpool_text(bench->run.names, group->name_id);
		n += group->kind == kind && strncmp(name, prefix, strlen(prefix)) == 0 ? 1 : 0;
	}
	return n;
}

static void assert_job(const struct bench *bench, const struct layout *job)
{
	const struct {
		const char *prefix;
		enum fsl_group_kind kind;
		int32_t size, n;
	} wanted[] = {
		{"tp", FSL_GROUP_TP, job->tp, job->dp * job->pp},
		{"dp", FSL_GROUP_DP, job->dp, job->tp * job->pp},
		{"pp", FSL_GROUP_PP, job->pp, job->tp * job->dp},
		{"w", FSL_GROUP_WORLD, 2, 1},
	};
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		size_t n = count_kind(bench, wanted[i].kind, wanted[i].prefix);
		if (wanted[i].size > 1 && n != (size_t)wanted[i].n) {
			fail_msg("tp %d, dp %d, pp %d, factor %d: %zu of %d %s groups", job->tp,
				 job->dp, job->pp, job->factor, n, wanted[i].n, wanted[i].prefix);
		}
	}
}

/* Every layout, numbered in order and in three ways that leave no group in a row. */
static void numbering_of_ranks_changes_no_kind(void **state)
{
	(void)state;
	static const int32_t sizes[] = {1, 2, 4, 8};
	static const int32_t factors[] = {1, 3, 5, 7};
	for (size_t i = 0; i < 4 * 4 * 4 * 4; i++) {
		struct layout job = {sizes[i % 4], sizes[i / 4 % 4], sizes[i / 16 % 4],
				     factors[i / 64]};
		int32_t n_ranks = job.tp * job.dp * job.pp;
		if (n_ranks < 2 || n_ranks > 128) {
			continue;
		}
		struct bench bench;
		bench_init(&bench);
		add_job(&bench, &job);
		bench_build(&bench);
		assert_job(&bench, &job);
		bench_fini(&bench);
	}
}

static void one_group_over_servers_is_dp(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "g", "HcclAllGather", 400, RANKS(0, 16, 1));
	for (size_t r = 0; r < 16; r++) {
		bench.run.ranks[r].server_ip = r < 8 ? "10.0.0.1" : "10.0.0.2";
	}
	bench_build(&bench);
	assert_kind(&bench, "g", FSL_GROUP_DP);
	bench_fini(&bench);
}

static void both_of_two_communicators_with_the_same_ranks_are_kept(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 8, "t", "HcclAllGather", 100, 4, 1);
	PARTITION(&bench, 8, "u", "HcclReduceScatter", 90, 4, 1);
	PARTITION(&bench, 8, "d", "HcclAllreduce", 5, 2, 4);
	bench_build(&bench);
	assert_kind(&bench, "t0", FSL_GROUP_TP);
	assert_kind(&bench, "u0", FSL_GROUP_TP);
	assert_int_equal(bench.topology.n_groups, 8);
	assert_domain(&bench, FSL_GROUP_TP, "[0,1,2,3][4,5,6,7]");
	bench_fini(&bench);
}

/* The reference drops whatever group owns the first operator of the file. */
static void capture_may_begin_with_any_operator(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 8, "d", "HcclAllreduce", 1, 2, 4);
	PARTITION(&bench, 8, "t", "HcclAllGather", 100, 4, 1);
	PARTITION(&bench, 8, "t", "HcclReduceScatter", 100, 4, 1);
	PARTITION(&bench, 8, "d", "HcclAllreduce", 4, 2, 4);
	bench_build(&bench);
	assert_kind(&bench, "t0", FSL_GROUP_TP);
	assert_kind(&bench, "d0", FSL_GROUP_DP);
	bench.config.algorithm = FSL_ALGORITHM_SYSTRACE;
	bench_build(&bench);
	assert_domain(&bench, FSL_GROUP_DP, "[0,4][1,5][2,6][3,7]");
	bench_fini(&bench);
}

static void a_later_capture_of_the_tp_group_alone_keeps_it(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t", "HcclAllGather", 100, RANKS(0, 8, 1));
	bench_comm(&bench, "t", "HcclReduceScatter", 100, RANKS(0, 8, 1));
	bench.config.algorithm = FSL_ALGORITHM_SYSTRACE;
	bench_build(&bench);
	assert_kind(&bench, "t", FSL_GROUP_TP);
	assert_domain(&bench, FSL_GROUP_TP, "[0,1,2,3,4,5,6,7]");
	bench_fini(&bench);
}

static void names_in_other_spellings_mean_the_same(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum fsl_group_kind kind;
	} groups[] = {
		{"HcclSend", FSL_GROUP_PP},
		{"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", FSL_GROUP_PP},
		{"HcclAlltoAllV", FSL_GROUP_EP},
		{"all_to_all_single", FSL_GROUP_EP},
		{"ncclKernel_AllReduce_RING_LL_Sum_half", FSL_GROUP_DP},
		{"HcclAllReduce", FSL_GROUP_DP},
	};
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct bench bench;
		bench_init(&bench);
		bench_comm(&bench, "t", "HcclAllGather", 100, RANKS(0, 2, 1));
		bench_comm(&bench, "t2", "HcclAllGather", 100, RANKS(2, 2, 1));
		bench_comm(&bench, "g", groups[i].name, 30, RANKS(0, 2, 2));
		bench_comm(&bench, "h", groups[i].name, 30, RANKS(1, 2, 2));
		bench_build(&bench);
		assert_kind(&bench, "g", groups[i].kind);
		bench_fini(&bench);
	}
}

static void expert_groups_are_told_by_all_to_all(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 16, "e", "HcclAlltoAllV", 200, 4, 1);
	PARTITION(&bench, 16, "e", "HcclAllGather", 50, 4, 1);
	PARTITION(&bench, 16, "edp", "HcclReduceScatter", 10, 4, 4);
	bench_comm(&bench, "d", "HcclAllreduce", 12, RANKS(0, 16, 1));
	bench_build(&bench);
	assert_kind(&bench, "e4", FSL_GROUP_EP);
	assert_kind(&bench, "edp0", FSL_GROUP_DP);
	assert_kind(&bench, "d", FSL_GROUP_DP);
	bench_fini(&bench);
}

static void context_groups_lie_inside_dp_and_are_busier(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 16, "t", "HcclAllGather", 300, 2, 1);
	PARTITION(&bench, 16, "c", "HcclAllGather", 100, 2, 2);
	PARTITION(&bench, 16, "dc", "HcclReduceScatter", 5, 8, 2);
	PARTITION(&bench, 16, "d", "HcclAllreduce", 4, 4, 4);
	bench_build(&bench);
	assert_kind(&bench, "t0", FSL_GROUP_TP);
	assert_kind(&bench, "c0", FSL_GROUP_CP);
	assert_kind(&bench, "dc0", FSL_GROUP_DP);
	assert_kind(&bench, "d0", FSL_GROUP_DP);
	bench_fini(&bench);
}

static void rings_below_the_pipelines_are_context_groups(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 16, "t", "HcclAllGather", 300, 2, 1);
	PARTITION(&bench, 16, "ring", "HcclBatchSendRecv", 200, 2, 2);
	PARTITION(&bench, 16, "p", "HcclBatchSendRecv", 50, 2, 8);
	bench_build(&bench);
	assert_kind(&bench, "ring0", FSL_GROUP_CP);
	assert_kind(&bench, "p0", FSL_GROUP_PP);
	bench_fini(&bench);
}

/* Communicators per pair of stages, and the one that closes the ring of an interleaved schedule. */
static void pairs_of_stages_are_all_pipelines(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "a", "HcclSend", 50, RANKS(0, 2, 1));
	bench_comm(&bench, "b", "HcclSend", 50, RANKS(1, 2, 1));
	bench_comm(&bench, "c", "HcclSend", 50, RANKS(2, 2, 1));
	bench_comm(&bench, "back", "HcclSend", 50, RANKS(0, 2, 3));
	bench_comm(&bench, "emb", "HcclAllreduce", 5, RANKS(0, 2, 3));
	bench_build(&bench);
	assert_kind(&bench, "a", FSL_GROUP_PP);
	assert_kind(&bench, "back", FSL_GROUP_PP);
	assert_kind(&bench, "emb", FSL_GROUP_UNKNOWN);
	bench_fini(&bench);
}

static void point_to_point_over_all_ranks_is_the_world(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "w", "HcclBatchSendRecv", 50, RANKS(0, 8, 1));
	PARTITION(&bench, 8, "t", "HcclAllGather", 100, 4, 1);
	bench_build(&bench);
	assert_kind(&bench, "w", FSL_GROUP_WORLD);
	assert_kind(&bench, "t0", FSL_GROUP_TP);
	bench_fini(&bench);
}

static void groups_made_of_whole_tp_groups_stay_unknown(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 16, "t", "HcclAllGather", 100, 2, 1);
	PARTITION(&bench, 16, "d", "HcclAllreduce", 10, 2, 2);
	PARTITION(&bench, 16, "m", "HcclAllreduce", 10, 8, 1);
	bench_build(&bench);
	assert_kind(&bench, "t0", FSL_GROUP_TP);
	assert_kind(&bench, "d0", FSL_GROUP_DP);
	assert_kind(&bench, "m0", FSL_GROUP_UNKNOWN);
	assert_string_equal(bench_group(&bench, "m0")->why, "made of whole tp groups");
	bench_fini(&bench);
}

static void a_missing_rank_changes_no_kind(void **state)
{
	(void)state;
	/* 5 lies inside its tp group, 4 and 7 at its ends. */
	static const int32_t missing[] = {5, 4, 7, 0};
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		struct bench bench;
		bench_init(&bench);
		bench_comm(&bench, "w", "HcclAllreduce", 1, RANKS(0, 16, 1));
		PARTITION(&bench, 16, "t", "HcclAllGather", 100, 4, 1);
		PARTITION(&bench, 16, "d", "HcclAllreduce", 5, 4, 4);
		struct fsl_rank *rank = fsl_run_add_rank(&bench.run, missing[i], NULL);
		rank->n_ops = 0;
		bench_build(&bench);
		assert_kind(&bench, "t0", FSL_GROUP_TP);
		assert_kind(&bench, "t4", FSL_GROUP_TP);
		assert_kind(&bench, "d0", FSL_GROUP_DP);
		assert_kind(&bench, "d1", FSL_GROUP_DP);
		assert_kind(&bench, "w", FSL_GROUP_WORLD);
		assert_int_equal(bench.topology.n_expected_ranks, 16);
		bench_fini(&bench);
	}
}

/* Without 1 and 9, what is left of [0,2] and [8,10] looks like neighbours with a hole. */
static void a_hole_between_two_ranks_does_not_make_neighbours_of_them(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	PARTITION(&bench, 16, "t", "HcclAllGather", 100, 2, 1);
	for (int32_t stage = 0; stage < 16; stage += 4) {
		for (int32_t first = stage; first < stage + 2; first++) {
			char name[16];
			snprintf(name, sizeof(name), "d%d", first);
			bench_comm(&bench, name, "HcclAllreduce", 5, RANKS(first, 2, 2));
		}
	}
	PARTITION(&bench, 16, "p", "HcclBatchSendRecv", 60, 4, 4);
	fsl_run_add_rank(&bench.run, 1, NULL)->n_ops = 0;
	fsl_run_add_rank(&bench.run, 9, NULL)->n_ops = 0;
	bench_build(&bench);
	assert_kind(&bench, "t2", FSL_GROUP_TP);
	assert_kind(&bench, "d0", FSL_GROUP_DP);
	assert_kind(&bench, "d4", FSL_GROUP_DP);
	assert_kind(&bench, "d5", FSL_GROUP_DP);
	assert_kind(&bench, "d8", FSL_GROUP_DP);
	assert_kind(&bench, "d13", FSL_GROUP_DP);
	bench_fini(&bench);
}

static void operators_without_a_communicator_form_an_unknown_group(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, NULL, "AllReduce", 100, RANKS(0, 4, 1));
	bench_build(&bench);
	assert_int_equal(bench.topology.n_groups, 1);
	assert_int_equal(bench.topology.groups[0].kind, FSL_GROUP_UNKNOWN);
	assert_int_equal(bench.topology.groups[0].name_id, FSL_STR_NONE);
	assert_int_equal(bench.topology.groups[0].n_ranks, 4);
	bench_fini(&bench);
}

static void a_group_with_one_known_member_stays_unknown(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_calls(&bench, 3, "lonely", "HcclAllreduce", 10);
	bench_build(&bench);
	assert_kind(&bench, "lonely", FSL_GROUP_UNKNOWN);
	bench_fini(&bench);
}

static void a_run_without_operators_has_no_groups(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_build(&bench);
	assert_int_equal(bench.topology.n_groups, 0);
	assert_int_equal(bench.topology.n_expected_ranks, 0);
	assert_non_null(fsl_run_add_rank(&bench.run, 2, NULL));
	bench_build(&bench);
	assert_int_equal(bench.topology.n_groups, 0);
	assert_int_equal(bench.topology.n_expected_ranks, 3);
	bench_fini(&bench);
}

static void holes_in_the_rank_numbers_are_expected_ranks(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_calls(&bench, 1, "g", "HcclAllGather", 10);
	bench_calls(&bench, 4, "g", "HcclAllGather", 10);
	bench_build(&bench);
	assert_int_equal(bench.topology.n_expected_ranks, 5);
	for (int32_t i = 0; i < 5; i++) {
		assert_int_equal(bench.topology.expected_ranks[i], i);
	}
	bench_fini(&bench);
}

/* Ranks 0 to 2 of a job of 2 x 2, and of one whose groups have one member each. */
static void a_rank_without_its_partner_lacks_the_next_rank(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_calls(&bench, 0, "t0", "HcclAllGather", 10);
	bench_calls(&bench, 1, "t0", "HcclAllGather", 10);
	bench_calls(&bench, 2, "t1", "HcclAllGather", 10);
	bench_calls(&bench, 0, "d0", "HcclAllReduce", 10);
	bench_calls(&bench, 2, "d0", "HcclAllReduce", 10);
	bench_calls(&bench, 1, "d1", "HcclAllReduce", 10);
	bench_build(&bench);
	assert_int_equal(bench.topology.n_expected_ranks, 4);
	assert_int_equal(bench.topology.expected_ranks[3], 3);
	bench_calls(&bench, 0, "d2", "HcclAllReduce", 10);
	bench_build(&bench);
	assert_int_equal(bench.topology.n_expected_ranks, 3);
	bench_fini(&bench);
}

/* Three ranks of one communicator, which tell nothing of a fourth. */
static void ranks_that_an_earlier_run_saw_are_expected(void **state)
{
	(void)state;
	struct bench bench;
	for (size_t n_before = 0; n_before <= 6; n_before++) {
		bench_init(&bench);
		bench.config.seen_ranks.n = n_before;
		for (int32_t rank = 0; rank < 3; rank++) {
			bench_calls(&bench, rank, "t0", "HcclAllGather", 10);
		}
		bench_build(&bench);
		assert_int_equal(bench.topology.n_expected_ranks, n_before > 3 ? n_before : 3);
		for (size_t i = 0; i < bench.topology.n_expected_ranks; i++) {
			assert_int_equal(bench.topology.expected_ranks[i], i);
		}
		bench_fini(&bench);
	}
}

static void a_hole_is_the_partner_that_a_rank_lacks(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_calls(&bench, 0, "t0", "HcclAllGather", 10);
	bench_calls(&bench, 2, "t1", "HcclAllGather", 10);
	bench_calls(&bench, 3, "t1", "HcclAllGather", 10);
	bench_build(&bench);
	assert_int_equal(bench.topology.n_expected_ranks, 4);
	bench_fini(&bench);
}

static void a_sample_of_the_ranks_lacks_none(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_calls(&bench, 0, "g", "HcclAllGather", 10);
	bench_calls(&bench, 100000, "g", "HcclAllGather", 10);
	bench.config.seen_ranks.n = 3; /* nobody knows which one is gone */
	bench_build(&bench);
	assert_int_equal(bench.topology.n_expected_ranks, 2);
	assert_int_equal(bench.topology.expected_ranks[1], 100000);
	bench_fini(&bench);
}

/* Ids of names depend on which file was read first; the topology must not. */
static void order_of_names_changes_nothing(void **state)
{
	(void)state;
	struct bench forward, backward;
	bench_init(&forward);
	bench_init(&backward);
	bench_name(&backward, "d3");
	bench_name(&backward, "HcclAllreduce");
	bench_name(&backward, "t4");
	struct bench *benches[] = {&forward, &backward};
	for (size_t i = 0; i < 2; i++) {
		PARTITION(benches[i], 8, "t", "HcclAllGather", 100, 4, 1);
		PARTITION(benches[i], 8, "u", "HcclAllGather", 100, 4, 1);
		PARTITION(benches[i], 8, "d", "HcclAllreduce", 5, 2, 4);
		bench_build(benches[i]);
	}
	assert_int_equal(forward.topology.n_groups, backward.topology.n_groups);
	for (size_t g = 0; g < forward.topology.n_groups; g++) {
		const struct fsl_group *a = &forward.topology.groups[g];
		const struct fsl_group *b = &backward.topology.groups[g];
		assert_string_equal(fsl_strpool_text(forward.run.names, a->name_id),
				    fsl_strpool_text(backward.run.names, b->name_id));
		assert_int_equal(a->kind, b->kind);
		assert_string_equal(a->why, b->why);
	}
	bench_fini(&forward);
	bench_fini(&backward);
}

static void four_thousand_ranks_are_told_apart(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "w", "HcclAllreduce", 1, RANKS(0, 4096, 1));
	PARTITION(&bench, 4096, "t", "HcclAllGather", 40, 8, 1);
	PARTITION(&bench, 4096, "d", "HcclReduceScatter", 2, 64, 8);
	PARTITION(&bench, 4096, "p", "HcclBatchSendRecv", 20, 8, 512);
	for (int alg = 0; alg < 2; alg++) {
		bench.config.algorithm = alg == 0 ? FSL_ALGORITHM_FAILSLOW : FSL_ALGORITHM_SYSTRACE;
		bench_build(&bench);
		assert_int_equal(bench.topology.n_groups, 1 + 512 + 64 + 512);
		assert_kind(&bench, "t4088", FSL_GROUP_TP);
		assert_kind(&bench, "d3591", FSL_GROUP_DP);
		assert_kind(&bench, "p511", FSL_GROUP_PP);
		assert_int_equal(bench.topology.domains[FSL_GROUP_PP].n_lists, 512);
	}
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tp_and_dp_are_told_by_crossing),
		cmocka_unit_test(tp_of_two_is_told_by_crossing),
		cmocka_unit_test(operators_do_not_decide_between_tp_and_dp),
		cmocka_unit_test(pipelines_are_told_by_point_to_point_operators),
		cmocka_unit_test(neighbours_are_dp_when_the_pipelines_are_far_busier),
		cmocka_unit_test(neighbours_are_tp_when_as_busy_as_the_pipelines),
		cmocka_unit_test(one_group_without_steps_is_told_by_its_operators),
		cmocka_unit_test(one_group_with_steps_is_told_by_calls_per_step),
		cmocka_unit_test(steps_are_counted_from_the_operators_that_number_them),
		cmocka_unit_test(numbering_of_ranks_changes_no_kind),
		cmocka_unit_test(one_group_over_servers_is_dp),
		cmocka_unit_test(both_of_two_communicators_with_the_same_ranks_are_kept),
		cmocka_unit_test(capture_may_begin_with_any_operator),
		cmocka_unit_test(a_later_capture_of_the_tp_group_alone_keeps_it),
		cmocka_unit_test(names_in_other_spellings_mean_the_same),
		cmocka_unit_test(expert_groups_are_told_by_all_to_all),
		cmocka_unit_test(context_groups_lie_inside_dp_and_are_busier),
		cmocka_unit_test(rings_below_the_pipelines_are_context_groups),
		cmocka_unit_test(pairs_of_stages_are_all_pipelines),
		cmocka_unit_test(point_to_point_over_all_ranks_is_the_world),
		cmocka_unit_test(groups_made_of_whole_tp_groups_stay_unknown),
		cmocka_unit_test(a_missing_rank_changes_no_kind),
		cmocka_unit_test(a_hole_between_two_ranks_does_not_make_neighbours_of_them),
		cmocka_unit_test(operators_without_a_communicator_form_an_unknown_group),
		cmocka_unit_test(a_group_with_one_known_member_stays_unknown),
		cmocka_unit_test(a_run_without_operators_has_no_groups),
		cmocka_unit_test(holes_in_the_rank_numbers_are_expected_ranks),
		cmocka_unit_test(a_rank_without_its_partner_lacks_the_next_rank),
		cmocka_unit_test(ranks_that_an_earlier_run_saw_are_expected),
		cmocka_unit_test(a_hole_is_the_partner_that_a_rank_lacks),
		cmocka_unit_test(a_sample_of_the_ranks_lacks_none),
		cmocka_unit_test(order_of_names_changes_nothing),
		cmocka_unit_test(four_thousand_ranks_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
