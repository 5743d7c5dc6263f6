/* Fused kernels meet by order; what they wait leaves computing. */
#include "source/ascend/settle_calls.h"

#include "capture/step_rows.h"
#include "small_capture.h"

/* A step of 100 ms, of which @computing_ms computing. */
static void add_step(struct small_capture *small, size_t r, int64_t step, double computing_ms)
{
	small_step(small, r, step, computing_ms, 10.0, 90.0 - computing_ms);
}

/* A call of a fused kernel; @alone_ms: without other kernels beside it. */
static void add_fused(struct small_capture *small, size_t r, int64_t step, const char *type,
		      double begin_ms, double elapse_ms, double alone_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->calls, rank->calls_capacity, rank->n_calls + 1, NULL),
			 FSL_OK);
	assert_int_equal(FSL_GROW(rank->kernels, rank->kernels_capacity, rank->n_kernels + 1, NULL),
			 FSL_OK);
	rank->calls[rank->n_calls++] =
		(struct fsl_profile_call){.step = step,
					  .begin_ns = SMALL_ORIGIN_NS + small_ns(begin_ms),
					  .elapse_ns = small_ns(elapse_ms),
					  .alone_ns = small_ns(alone_ms),
					  .type_id = small_name(rank, type),
					  .kernels_idx = (uint32_t)rank->n_kernels};
	rank->kernels[rank->n_kernels++] =
		(struct fsl_profile_kernels){.step = step,
					     .type_id = small_name(rank, type),
					     .count = 1,
					     .total_ns = small_ns(elapse_ms)};
}

static void settle(struct small_capture *small)
{
	assert_int_equal(fsl_profile_settle_calls(&small->profile, NULL), FSL_OK);
}

static void assert_step(const struct small_capture *small, size_t r, double computing_ms,
			double exposed_ms)
{
	const struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_near(fsl_profile_part_ms(rank, FSL_PART_COMPUTING), computing_ms, 1e-6);
	assert_near(fsl_profile_part_ms(rank, FSL_PART_EXPOSED), exposed_ms, 1e-6);
	assert_near(fsl_profile_part_ms(rank, FSL_PART_COMMUNICATION), exposed_ms, 1e-6);
	assert_near(fsl_profile_part_ms(rank, FSL_PART_OVERLAPPED), 0.0, 1e-6);
	assert_near(fsl_profile_step_ms(rank), 100.0, 1e-6);
}

static void what_a_call_takes_beyond_the_shortest_is_waiting(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	for (size_t r = 0; r < 3; r++) {
		add_step(&small, r, 7, r == 1 ? 20.0 : 60.0);
		add_fused(&small, r, 7, "MoeDistributeDispatchV2", 1.0, r == 1 ? 2.0 : 32.0, 50.0);
		add_fused(&small, r, 7, "MoeDistributeDispatchV2", 50.0, r == 2 ? 3.0 : 13.0, 50.0);
	}
	settle(&small);
	assert_step(&small, 0, 20.0, 50.0);
	assert_step(&small, 1, 10.0, 20.0);
	assert_step(&small, 2, 30.0, 40.0);
	assert_int_equal(small.profile.ranks[0].kernels[0].total_ns, small_ns(2.0));
	assert_int_equal(small.profile.ranks[0].kernels[1].total_ns, small_ns(3.0));
	assert_int_equal(small.profile.ranks[0].n_comms, 2);
	assert_true(small.profile.ranks[0].comms[0].is_kernel);
	assert_int_equal(small.profile.ranks[0].comms[0].elapse_ns, small_ns(32.0));
	/* The profiler's own row stays for what is written to files. */
	assert_int_equal(small.profile.ranks[0].steps[0].computing_ns, small_ns(60.0));
	small_end(&small);
}

static void a_wait_beside_other_kernels_stays_computing(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	for (size_t r = 0; r < 2; r++) {
		add_step(&small, r, 1, 70.0);
		add_fused(&small, r, 1, "AllGatherMatmul", 1.0, r == 0 ? 25.0 : 5.0, 8.0);
	}
	settle(&small);
	assert_step(&small, 0, 62.0, 18.0);
	assert_step(&small, 1, 70.0, 10.0);
	small_end(&small);
}

static void types_and_steps_meet_apart(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	for (size_t r = 0; r < 2; r++) {
		add_step(&small, r, 1, 40.0);
		add_step(&small, r, 2, 40.0);
		add_fused(&small, r, 1, "MatmulAllReduce", 1.0, r == 0 ? 4.0 : 9.0, 50.0);
		add_fused(&small, r, 1, "AllGatherMatmul", 10.0, r == 0 ? 8.0 : 7.0, 50.0);
		add_fused(&small, r, 2, "MatmulAllReduce", 101.0, 6.0, 50.0);
	}
	settle(&small);
	assert_int_equal(small.profile.ranks[0].steps[0].moved_ns, small_ns(1.0));
	assert_int_equal(small.profile.ranks[1].steps[0].moved_ns, small_ns(5.0));
	assert_int_equal(small.profile.ranks[1].steps[1].moved_ns, 0);
	small_end(&small);
}

static void ranks_with_other_numbers_of_calls_do_not_meet(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	add_step(&small, 0, 1, 60.0);
	add_step(&small, 1, 1, 60.0);
	add_fused(&small, 0, 1, "MatmulAllReduce", 1.0, 4.0, 4.0);
	add_fused(&small, 0, 1, "MatmulAllReduce", 11.0, 9.0, 9.0);
	add_fused(&small, 1, 1, "MatmulAllReduce", 11.0, 2.0, 2.0);
	settle(&small);
	assert_step(&small, 0, 60.0, 10.0);
	assert_int_equal(small.profile.ranks[0].n_comms, 2);
	small_end(&small);
}

/* @with: computing in the profiler's row counts communication on AI CPUs. */
static void make_on_cpus(struct small_capture *small, bool with)
{
	small_begin(small, 1);
	struct fsl_profile_rank *rank = &small->profile.ranks[0];
	small_step(small, 0, 4, with ? 45.0 : 15.0, with ? 5.0 : 35.0, 50.0);
	assert_int_equal(FSL_GROW(rank->rebuilt, rank->rebuilt_capacity, 1, NULL), FSL_OK);
	rank->rebuilt[rank->n_rebuilt++] =
		(struct fsl_profile_step){.step = 4,
					  .computing_ns = small_ns(45.0),
					  .exposed_ns = small_ns(5.0),
					  .communication_ns = small_ns(5.0),
					  .free_ns = small_ns(50.0),
					  .moved_ns = small_ns(30.0),
					  .found_ns = small_ns(30.0)};
	assert_int_equal(FSL_GROW(rank->calls, rank->calls_capacity, 1, NULL), FSL_OK);
	rank->calls[rank->n_calls++] =
		(struct fsl_profile_call){.step = 4,
					  .begin_ns = SMALL_ORIGIN_NS,
					  .elapse_ns = small_ns(30.0),
					  .type_id = small_name(rank, "allreduceAicpuKernel"),
					  .kernels_idx = FSL_STR_NONE};
}

static void communication_on_ai_cpus_is_none_of_the_computing(void **state)
{
	(void)state;
	for (int with = 0; with < 2; with++) {
		struct small_capture small;
		make_on_cpus(&small, with == 1);
		settle(&small);
		assert_step(&small, 0, 15.0, 35.0);
		small_end(&small);
	}
}

static void communication_on_ai_cpus_is_an_operator_if_no_better_file_tells(void **state)
{
	(void)state;
	struct small_capture small;
	make_on_cpus(&small, true);
	settle(&small);
	assert_int_equal(small.profile.ranks[0].n_comms, 1);
	assert_true(small.profile.ranks[0].comms[0].is_kernel);
	small_end(&small);
	make_on_cpus(&small, true);
	(void)small_comm(&small, 0, 4, "hcom_allReduce__612_0_1", "612", 0.0, 30.0);
	settle(&small);
	assert_int_equal(small.profile.ranks[0].n_comms, 1);
	assert_false(small.profile.ranks[0].comms[0].is_kernel);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_call_takes_beyond_the_shortest_is_waiting),
		cmocka_unit_test(a_wait_beside_other_kernels_stays_computing),
		cmocka_unit_test(types_and_steps_meet_apart),
		cmocka_unit_test(ranks_with_other_numbers_of_calls_do_not_meet),
		cmocka_unit_test(communication_on_ai_cpus_is_none_of_the_computing),
		cmocka_unit_test(communication_on_ai_cpus_is_an_operator_if_no_better_file_tells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
