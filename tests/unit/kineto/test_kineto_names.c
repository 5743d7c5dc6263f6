/* Names of traces of PyTorch's profiler: types of collectives, ranks in file names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "source/kineto/find.h"
#include "source/kineto/names.h"

static void assert_type(const char *name, const char *type)
{
	assert_string_equal(fsl_kineto_collective(name, strlen(name)), type);
}

static void every_spelling_of_a_collective_is_one_type(void **state)
{
	(void)state;
	assert_type("allreduce", "ncclAllReduce");
	assert_type("all_reduce", "ncclAllReduce");
	assert_type("nccl:all_reduce", "ncclAllReduce");
	assert_type("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		    "ncclAllReduce");
	assert_type("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclAllReduce");
	assert_type("_allgather_base", "ncclAllGather");
	assert_type("_reduce_scatter_base", "ncclReduceScatter");
	assert_type("reduce", "ncclReduce");
	assert_type("all_to_allv", "ncclAllToAll");
	assert_type("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclSendRecv");
	assert_type("send", "ncclSend");
	assert_type("recv", "ncclRecv");
}

static void arguments_of_a_kernel_tell_no_type(void **state)
{
	(void)state;
	assert_type("ncclDevKernel_Generic(allreduce)", "");
	assert_type("void gemm_kernel<float>(float*)", "");
	assert_type("", "");
}

static bool is_collective(const char *name)
{
	const struct fsl_trace_text text = {name, strlen(name)};
	return fsl_kineto_is_collective(&text);
}

static void collectives_are_told_from_other_kernels(void **state)
{
	(void)state;
	assert_true(is_collective("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(4096ul)"));
	assert_true(is_collective("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"));
	assert_true(is_collective("void (anonymous namespace)::NCCLdevKERNEL<4>(int)"));
	assert_true(is_collective("hcclAllReduce"));
	assert_true(is_collective("rccl"));
	assert_false(is_collective("ncc"));
	assert_false(is_collective("void kernel_nccl<float>(float*)"));
	assert_false(is_collective(""));
}

static void ranks_stand_in_names_as_users_write_them(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int64_t rank;
	} names[] = {
		{"rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 0},
		{"rank12.json", 12},
		{"trace_rank_7.json", 7},
		{"rank[12]_trace.json", 12},
		{"worker3.1623143089861.pt.trace.json.gz", 3},
		{"resnet50_nw0_worker0.1623143089861.pt.trace.json", 0},
		{"Rank5.json", 5},
		{"ranks.json", -1},
		{"frankfurt_4.json", -1},
		{"trace.json", -1},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(fsl_kineto_rank_of_name(names[i].name), names[i].rank);
	}
}

static void only_names_of_traces_are_opened(void **state)
{
	(void)state;
	assert_true(fsl_kineto_is_name("rank0.pt.trace.json"));
	assert_true(fsl_kineto_is_name("worker0.json.gz"));
	assert_true(fsl_kineto_is_name("my_kineto.json.zst"));
	assert_false(fsl_kineto_is_name("hccl_activity.3.json"));
	assert_false(fsl_kineto_is_name("trace.txt"));
	assert_false(fsl_kineto_is_name("rank0.csv"));
	assert_false(fsl_kineto_is_name(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_of_a_collective_is_one_type),
		cmocka_unit_test(arguments_of_a_kernel_tell_no_type),
		cmocka_unit_test(collectives_are_told_from_other_kernels),
		cmocka_unit_test(ranks_stand_in_names_as_users_write_them),
		cmocka_unit_test(only_names_of_traces_are_opened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
