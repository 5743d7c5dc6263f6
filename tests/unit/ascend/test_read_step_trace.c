/* step_trace.csv of msprof: iterations of a graph, and the kernels inside them. */
#include "one_reading.h"

#include "capture/step_rows.h"

#define HEAD                                                                                       \
	"Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),"     \
	"FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID,Reduce Start(us),"    \
	"Reduce Duration(us),Reduce Start(us),Reduce Duration(us)\n"
#define ROW(device, iteration, end, time, model)                                                   \
	device "," iteration ",1000.5\t,1001.5\t," end "\t," time ",1,0.5,N/A," model              \
	       ",1000.9\t,0.1,1001.1\t,0.1\n"
#define SUMMARY                                                                                    \
	"Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"              \
	"0,a,MatMul,AI_CORE,90\t,2\n"                                                              \
	"0,b,MatMul,AI_CORE,101\t,10\n"                                                            \
	"0,c,MatMul,AI_CORE,150\t,20\n"                                                            \
	"0,d,MatMul,AI_CORE,201\t,40\n"

static void read_steps(const char *text)
{
	reading_text(&reading, fsl_profile_read_step_trace, text);
}

static void assert_range(size_t at, int64_t step, int64_t begin_ns, int64_t end_ns)
{
	assert_true(at < reading.rank.trace.n_ranges);
	const struct fsl_profile_range *range = &reading.rank.trace.ranges[at];
	assert_int_equal(range->step, step);
	assert_int_equal(range->begin_ns, begin_ns);
	assert_int_equal(range->end_ns, end_ns);
}

static void iterations_are_steps(void **state)
{
	(void)state;
	read_steps(HEAD ROW("0", "1", "1764246877073569.640", "100.5", "1")
			   ROW("0", "2", "1764246877073680.640", "111", "1"));
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	assert_int_equal(reading.rank.trace.n_ranges, 2);
	assert_range(0, 1, 1764246877073469140, 1764246877073569640);
	assert_range(1, 2, 1764246877073569640, 1764246877073680640);
	assert_int_equal(reading.rank.n_steps_captured, 2);
}

static void the_graph_that_ran_longest_counts(void **state)
{
	(void)state;
	read_steps(HEAD ROW("0", "1", "100", "5", "7") ROW("0", "1", "200", "90", "8")
			   ROW("0", "2", "110", "5", "7") ROW("0", "3", "120", "5", "7"));
	assert_int_equal(reading.rank.trace.n_ranges, 1);
	assert_range(0, 1, 110000, 200000);
}

static void ranges_do_not_overlap(void **state)
{
	(void)state;
	read_steps(HEAD ROW("0", "2", "30", "15", "1") ROW("0", "1", "20", "10", "1")
			   ROW("0", "3", "25", "1", "1"));
	assert_int_equal(reading.rank.trace.n_ranges, 2);
	assert_range(0, 1, 10000, 20000);
	assert_range(1, 2, 20000, 30000);
}

static void rows_that_tell_no_time_are_dropped(void **state)
{
	(void)state;
	read_steps(HEAD ROW("0", "1", "N/A", "5", "1") ROW("0", "2", "20", "N/A", "1")
			   ROW("0", "x", "20", "10", "1") ROW("0", "3", "20", "0", "1")
				   ROW("0", "4", "5", "10", "1") ROW("0", "5", "40", "10", "1")
					   ROW("1", "6", "50", "10", "1"));
	assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
	assert_int_equal(reading.file.n_dropped[FSL_DROP_MALFORMED], 6);
	assert_int_equal(reading.rank.trace.n_ranges, 1);
	assert_range(0, 5, 30000, 40000);
}

static void steps_that_are_told_already_stay(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_step_trace_time,
		     "Step,Computing,Communication(Not Overlapped),Free\n7,1,2,3\n");
	read_steps(HEAD ROW("0", "1", "20", "10", "1"));
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	assert_int_equal(reading.rank.trace.n_ranges, 0);
	assert_int_equal(reading.rank.n_steps_captured, 1);
}

static void kernels_belong_to_the_iteration_in_which_they_begin(void **state)
{
	(void)state;
	read_steps(HEAD ROW("0", "1", "200", "100", "1") ROW("0", "2", "300", "100", "1"));
	reading_text(&reading, fsl_profile_read_kernel_details, SUMMARY);
	assert_int_equal(reading.rank.n_rebuilt, 2);
	assert_int_equal(reading.rank.rebuilt[0].step, 1);
	assert_int_equal(reading.rank.rebuilt[0].computing_ns, 30000);
	assert_int_equal(reading.rank.rebuilt[1].step, 2);
	assert_int_equal(reading.rank.rebuilt[1].computing_ns, 40000);
	/* Kernels before the first iteration belong to none. */
	assert_int_equal(reading.rank.n_kernels, 3);
	assert_int_equal(reading.rank.kernels[0].step, FSL_STEP_ABSENT);
}

static void what_lies_outside_of_all_iterations_is_no_further_step(void **state)
{
	(void)state;
	read_steps(HEAD ROW("0", "1", "200", "100", "1") ROW("0", "2", "300", "100", "1"));
	reading_text(&reading, fsl_profile_read_kernel_details,
		     SUMMARY "0,hcom_allReduce__586_0_1,hcom_allReduce_,HCCL,50\t,2\n"
			     "0,hcom_allReduce__586_1_1,hcom_allReduce_,HCCL,99.875\t,2\n");
	assert_int_equal(reading.rank.n_comms, 2);
	assert_int_equal(reading.rank.comms[0].step, FSL_STEP_ABSENT);
	assert_int_equal(reading.rank.comms[1].step, 1); /* begins 0.1 us before */
	assert_int_equal(fsl_profile_n_steps(&reading.rank), 2);
	assert_int_equal(fsl_profile_steps_captured(&reading.rank), 2);
}

static void communication_belongs_to_the_iteration_in_which_it_begins(void **state)
{
	(void)state;
	static const int64_t wanted[] = {2};
	static const char text[] = "{\"hcom_allReduce__586_0_1@1\": {\"Communication Time Info\": "
				   "{\"Start Timestamp(us)\": 150.5, \"Elapse Time(ms)\": 0.01}}, "
				   "\"hcom_allReduce__586_1_1@1\": {\"Communication Time Info\": "
				   "{\"Start Timestamp(us)\": 250.5, \"Elapse Time(ms)\": 0.02}}}";
	read_steps(HEAD ROW("0", "1", "200", "100", "1") ROW("0", "2", "300", "100", "1"));
	reading_text(&reading, fsl_profile_read_communication, text);
	assert_int_equal(reading.rank.n_comms, 2);
	assert_int_equal(reading.rank.comms[0].step, 1);
	assert_int_equal(reading.rank.comms[1].step, 2);
	reading.rank.n_comms = 0;
	reading.steps = wanted;
	reading.n_steps = 1;
	reading_text(&reading, fsl_profile_read_communication, text);
	assert_int_equal(reading.rank.n_comms, 1);
	assert_int_equal(reading.rank.comms[0].elapse_ns, 20000);
}

static void the_trace_is_cut_at_iterations_and_tells_no_preparing(void **state)
{
	(void)state;
	read_steps(HEAD ROW("0", "1", "200", "100", "1") ROW("0", "2", "300", "100", "1"));
	reading_text(
		&reading, fsl_profile_read_trace_view,
		"[{\"ph\":\"M\",\"pid\":5,\"name\":\"process_name\",\"args\":{\"name\":"
		"\"Overlap Analysis\"}},"
		"{\"ph\":\"M\",\"pid\":5,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":"
		"\"Computing\"}},"
		"{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"Python\"}},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"ProfilerStep#9\",\"ts\":\"90\","
		"\"dur\":300},"
		"{\"ph\":\"X\",\"pid\":5,\"tid\":1,\"name\":\"Computing\",\"ts\":\"110.5\","
		"\"dur\":20},"
		"{\"ph\":\"X\",\"pid\":5,\"tid\":1,\"name\":\"Computing\",\"ts\":\"210.5\","
		"\"dur\":30}]");
	assert_int_equal(reading.rank.trace.n_ranges, 2);
	assert_int_equal(reading.rank.n_rebuilt, 2);
	assert_int_equal(reading.rank.rebuilt[0].step, 1);
	assert_int_equal(reading.rank.rebuilt[0].computing_ns, 20000);
	assert_int_equal(reading.rank.rebuilt[1].computing_ns, 30000);
	assert_int_equal(reading.rank.rebuilt[1].preparing_ns, FSL_NS_ABSENT);
}

static void short_memory_is_an_error_and_nothing_is_lost(void **state)
{
	(void)state;
	reading_survives_text(fsl_profile_read_step_trace,
			      HEAD ROW("0", "1", "20", "10", "1") ROW("0", "2", "30", "10", "1"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reading_setup, reading_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(iterations_are_steps),
		TEST(the_graph_that_ran_longest_counts),
		TEST(ranges_do_not_overlap),
		TEST(rows_that_tell_no_time_are_dropped),
		TEST(steps_that_are_told_already_stay),
		TEST(kernels_belong_to_the_iteration_in_which_they_begin),
		TEST(what_lies_outside_of_all_iterations_is_no_further_step),
		TEST(communication_belongs_to_the_iteration_in_which_it_begins),
		TEST(the_trace_is_cut_at_iterations_and_tells_no_preparing),
		TEST(short_memory_is_an_error_and_nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
