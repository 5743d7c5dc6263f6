/* op_statistic.csv, api_statistic.csv and operator_details.csv. */
#include "one_reading.h"

static void types_of_operators_are_read_with_and_without_a_device(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_op_statistic,
		     "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg "
		     "Time(us),Max Time(us),Ratio(%)\n"
		     "0,MatMulV3,AI_CORE,280,48000.78,76.66,171.431,292.52,20.753\n");
	reading_text(&reading, fsl_profile_read_op_statistic,
		     "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max "
		     "Time(us),Ratio(%)\nCast,AI_VECTOR_CORE,1,2,N/A,2,2,1\n");
	assert_int_equal(reading.rank.n_op_statistics, 2);
	const struct fsl_profile_statistic *rows = reading.rank.op_statistics;
	assert_string_equal(reading_name(&reading, rows[0].name_id), "MatMulV3");
	assert_string_equal(reading_name(&reading, rows[0].kind_id), "AI_CORE");
	assert_int_equal(rows[0].count, 280);
	assert_int_equal(rows[0].total_ns, 48000780);
	assert_int_equal(rows[0].min_ns, 76660);
	assert_int_equal(rows[0].mean_ns, 171431);
	assert_int_equal(rows[0].max_ns, 292520);
	assert_int_equal(rows[1].min_ns, FSL_NS_ABSENT);
}

static void calls_of_the_host_are_read_with_their_level(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_api_statistic,
		     "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
		     "host,acl,ApplyAdamWV2_Tiling,666.3,114,5.845,0.25,29.17,34.995\n"
		     "host,runtime,ContextGetCurrent,N/A,19,0.341,0.25,0.52,0.004\n");
	assert_int_equal(reading.rank.n_api_statistics, 1);
	const struct fsl_profile_statistic *row = reading.rank.api_statistics;
	assert_string_equal(reading_name(&reading, row->name_id), "ApplyAdamWV2_Tiling");
	assert_string_equal(reading_name(&reading, row->kind_id), "acl");
	assert_int_equal(row->count, 114);
	assert_int_equal(row->total_ns, 666300);
	assert_int_equal(row->max_ns, 29170);
	assert_string_equal(reading.file.message,
			    "line 3: the count or the time is missing or no number; parse the "
			    "capture again");
}

static void operators_are_summed_by_name_behind_their_stacks(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_operator_details,
		     "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total "
		     "Duration(us),Device Self Duration(us),Device Total Duration(us),Device Self "
		     "Duration With AICore(us),Device Total Duration With AICore(us)\n"
		     "aten::empty,\";\n;\n\",\"a.py(1): f;\nb.py(2): g\",1.5,2,0,0,N/A,0\n"
		     "aten::mm,\"1,2;\",,10,20,30,40,50,60\n"
		     "aten::empty,,,2.25,2,1,0,,0\n,,,1,1,1,1,1,1\n");
	assert_int_equal(reading.rank.n_operators, 2);
	const struct fsl_profile_operator *sums = reading.rank.operators;
	assert_string_equal(reading_name(&reading, sums[0].name_id), "aten::empty");
	assert_int_equal(sums[0].count, 2);
	assert_int_equal(sums[0].host_self_ns, 3750);
	assert_int_equal(sums[0].device_self_ns, 1000);
	assert_int_equal(sums[0].device_core_ns, FSL_NS_ABSENT);
	assert_string_equal(reading_name(&reading, sums[1].name_id), "aten::mm");
	assert_int_equal(sums[1].device_core_ns, 50000);
	assert_string_equal(reading.file.message,
			    "line 8: an operator without a name; parse the capture again");
}

static void want_of_memory_is_told_at_every_place(void **state)
{
	(void)state;
	reading_survives_text(fsl_profile_read_op_statistic,
			      "OP Type,Core Type,Count,Total Time(us)\nCast,AI_CORE,1,2\n");
	reading_survives_text(fsl_profile_read_operator_details,
			      "Name,Host Self Duration(us)\naten::mm,1\naten::mm,2\n,3\n");
}

static void real_operators_are_all_counted(void **state)
{
	(void)state;
	reading_shared(&reading, fsl_profile_read_operator_details,
		       "insight-2rank-text/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/"
		       "operator_details.csv");
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	int64_t count = 0;
	for (size_t i = 0; i < reading.rank.n_operators; i++) {
		count += reading.rank.operators[i].count;
	}
	assert_int_equal(count, reading.file.n_records);
	assert_int_equal(count, 859);
}

static void real_statistics_add_up_to_the_kernels(void **state)
{
	(void)state;
	const char *folder = "insight-4rank-level2/rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT";
	char path[256];
	(void)snprintf(path, sizeof(path), "%s/op_statistic.csv", folder);
	reading_shared(&reading, fsl_profile_read_op_statistic, path);
	(void)snprintf(path, sizeof(path), "%s/kernel_details.csv", folder);
	reading_shared(&reading, fsl_profile_read_kernel_details, path);
	const struct fsl_profile_rank *rank = &reading.rank;
	assert_int_equal(rank->n_op_statistics, 35);
	for (size_t i = 0; i < rank->n_op_statistics; i++) {
		const struct fsl_profile_statistic *row = &rank->op_statistics[i];
		int64_t count = 0, total_ns = 0;
		for (size_t k = 0; k < rank->n_kernels; k++) {
			const struct fsl_profile_kernels *kernels = &rank->kernels[k];
			bool is_same = kernels->type_id == row->name_id &&
				       kernels->core_id == row->kind_id;
			count += is_same ? kernels->count : 0;
			total_ns += is_same ? kernels->total_ns : 0;
		}
		assert_int_equal(count, row->count);
		assert_int_equal(total_ns, row->total_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			types_of_operators_are_read_with_and_without_a_device, reading_setup,
			reading_teardown),
		cmocka_unit_test_setup_teardown(calls_of_the_host_are_read_with_their_level,
						reading_setup, reading_teardown),
		cmocka_unit_test_setup_teardown(operators_are_summed_by_name_behind_their_stacks,
						reading_setup, reading_teardown),
		cmocka_unit_test_setup_teardown(want_of_memory_is_told_at_every_place,
						reading_setup, reading_teardown),
		cmocka_unit_test_setup_teardown(real_operators_are_all_counted, reading_setup,
						reading_teardown),
		cmocka_unit_test_setup_teardown(real_statistics_add_up_to_the_kernels,
						reading_setup, reading_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
