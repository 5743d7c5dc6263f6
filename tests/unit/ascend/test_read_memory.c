/* memory_record.csv, npu_module_mem.csv and operator_memory.csv: peak amounts. */
#include "one_reading.h"

#include "capture/kept_rows.h"

#define OUTPUT_0 "insight-4rank-level2/rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT/"

static const struct fsl_profile_memory *component(const char *name, bool is_module)
{
	for (size_t i = 0; i < reading.rank.n_memory; i++) {
		const struct fsl_profile_memory *memory = &reading.rank.memory[i];
		if (memory->is_module == is_module &&
		    strcmp(reading_name(&reading, memory->component_id), name) == 0) {
			return memory;
		}
	}
	fail_msg("no such component: name=\"%s\"", name);
	return NULL;
}

static void the_most_of_each_component_is_kept(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_memory_record,
		     "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total "
		     "Active(MB),Stream Ptr,Device Type\r\n"
		     "APP,1764246877082702.440\t,,11925.015625,,,NPU:0\r\n"
		     "PTA,1.69512E+15,3,10,2.5,2,NPU:0\r\nPTA,2,4.5,9,2,2,NPU:0\r\n"
		     "PTA,3,1,1,N/A,2,NPU:0\r\n");
	assert_int_equal(reading.rank.n_memory, 2);
	const struct fsl_profile_memory *app = component("APP", false);
	const struct fsl_profile_memory *allocator = component("PTA", false);
	assert_int_equal(app->reserved_bytes, INT64_C(12504285184));
	assert_int_equal(app->allocated_bytes, -1);
	assert_int_equal(app->active_bytes, -1);
	assert_int_equal(allocator->allocated_bytes, 4718592);
	assert_int_equal(allocator->reserved_bytes, 10485760);
	assert_int_equal(allocator->active_bytes, 2621440);
	assert_int_equal(allocator->largest_bytes, -1);
}

static void modules_are_not_mixed_with_allocators(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_memory_record,
		     "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
		     "APP,1,,3,NPU:0\n");
	reading_text(&reading, fsl_profile_read_npu_module_mem,
		     "Device_id,Component,Timestamp(us),Total Reserved(MB),Device\n"
		     "0,APP,1,2,NPU:0\n0,SLOG,1,0.0,NPU:0\n");
	assert_int_equal(component("APP", false)->reserved_bytes, 3 << 20);
	assert_int_equal(component("APP", true)->reserved_bytes, 2 << 20);
	assert_int_equal(component("SLOG", true)->reserved_bytes, 0);
}

static void operators_tell_the_largest_and_what_their_allocator_held(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_operator_memory,
		     "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Allocation "
		     "Total Allocated(MB),Allocation Total Reserved(MB),Release Total "
		     "Allocated(MB),Release Total Reserved(MB),Device Type\n"
		     "aten::empty,0.5,1\t,2\t,1\t,3,10,2,9,NPU:0\n"
		     "aten::mm,32.5,1,,,4,10,,,NPU:0\n"
		     "cann::Graph_70,192,1,2,1,0.25,242.0,0.0625,242.0,NPU:0\n");
	assert_int_equal(reading.rank.n_memory, 2);
	const struct fsl_profile_memory *allocator = component("PTA", false);
	assert_int_equal(allocator->allocated_bytes, 4 << 20);
	assert_int_equal(allocator->reserved_bytes, 10 << 20);
	assert_int_equal(allocator->largest_bytes, 33280);
	assert_string_equal(reading_name(&reading, allocator->largest_name_id), "aten::mm");
	assert_int_equal(component("GE", false)->largest_bytes, 196608);
}

/* A timeline asks for levels over time; judges do with the most. */
static void levels_are_kept_if_they_are_wanted(void **state)
{
	(void)state;
	static const char records[] = "Component,Timestamp(us),Total Allocated(MB),Total "
				      "Reserved(MB),Device Type\n"
				      "APP,1764246877082702.440\t,,7,NPU:0\nPTA,2,4.5,9,NPU:0\n"
				      "PTA,N/A,1,1,NPU:0\n";
	static const char operators[] =
		"Name,Size(KB),Allocation Time(us),Release Time(us),"
		"Allocation Total Allocated(MB),Release Total "
		"Allocated(MB),Device Type\n"
		"aten::empty,0.5,5\t,6\t,3,2,NPU:0\naten::mm,1,7,,4,,NPU:0\n";
	reading_text(&reading, fsl_profile_read_memory_record, records);
	assert_null(reading.rank.kept);
	assert_int_equal(FSL_NEW(reading.rank.kept, 1, "rows", NULL), FSL_OK);
	reading_text(&reading, fsl_profile_read_memory_record, records);
	reading_text(&reading, fsl_profile_read_operator_memory, operators);
	const struct fsl_kept_level *levels = reading.rank.kept->levels;
	assert_int_equal(reading.rank.kept->n_levels, 5);
	assert_int_equal(levels[0].time_ns, INT64_C(1764246877082702440));
	assert_int_equal(levels[0].allocated_bytes, -1);
	assert_int_equal(levels[0].reserved_bytes, 7 << 20);
	assert_int_equal(levels[1].allocated_bytes, 4718592);
	assert_false(levels[1].is_of_operator);
	const int64_t expected_mb[] = {3, 2, 4};
	for (int i = 0; i < 3; i++) { /* two allocations, and one release between them */
		assert_int_equal(levels[2 + i].time_ns, 5000 + 1000 * i);
		assert_int_equal(levels[2 + i].allocated_bytes, expected_mb[i] << 20);
		assert_true(levels[2 + i].is_of_operator);
	}
}

static void a_row_without_a_component_is_dropped(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_npu_module_mem,
		     "Component,Total Reserved(MB)\nN/A,1\nTS,2\n");
	assert_int_equal(reading.rank.n_memory, 1);
	assert_int_equal(reading.file.n_dropped[FSL_DROP_MALFORMED], 1);
}

static void want_of_memory_is_told_at_every_place(void **state)
{
	(void)state;
	reading_survives_text(fsl_profile_read_operator_memory,
			      "Name,Size(KB),Allocation Total Allocated(MB)\naten::mm,32.5,4\n");
	reading_survives_text(fsl_profile_read_memory_record,
			      "Component,Total Reserved(MB)\nPTA,1\n");
}

static void real_files_agree_on_the_most(void **state)
{
	(void)state;
	reading_shared(&reading, fsl_profile_read_memory_record, OUTPUT_0 "memory_record.csv");
	const struct fsl_profile_memory told = *component("PTA", false);
	assert_int_equal(reading.rank.n_memory, 3);
	assert_int_equal(told.allocated_bytes, INT64_C(10782243840));
	assert_int_equal(told.reserved_bytes, INT64_C(10875830272));
	reading_shared(&reading, fsl_profile_read_operator_memory, OUTPUT_0 "operator_memory.csv");
	assert_int_equal(component("PTA", false)->allocated_bytes, told.allocated_bytes);
	assert_int_equal(component("PTA", false)->reserved_bytes, told.reserved_bytes);
	assert_int_equal(component("PTA", false)->largest_bytes, INT64_C(640564) * 1024);
	reading_shared(&reading, fsl_profile_read_npu_module_mem, OUTPUT_0 "npu_module_mem.csv");
	assert_int_equal(component("APP", true)->reserved_bytes, told.reserved_bytes);
	assert_int_equal(reading.rank.n_memory, 3 + 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_most_of_each_component_is_kept, reading_setup,
						reading_teardown),
		cmocka_unit_test_setup_teardown(modules_are_not_mixed_with_allocators,
						reading_setup, reading_teardown),
		cmocka_unit_test_setup_teardown(
			operators_tell_the_largest_and_what_their_allocator_held, reading_setup,
			reading_teardown),
		cmocka_unit_test_setup_teardown(levels_are_kept_if_they_are_wanted, reading_setup,
						reading_teardown),
		cmocka_unit_test_setup_teardown(a_row_without_a_component_is_dropped, reading_setup,
						reading_teardown),
		cmocka_unit_test_setup_teardown(want_of_memory_is_told_at_every_place,
						reading_setup, reading_teardown),
		cmocka_unit_test_setup_teardown(real_files_agree_on_the_most, reading_setup,
						reading_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
