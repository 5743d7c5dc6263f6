/* step_trace_time.csv: all headers that writers have used, whole ns, missing values. */
#include "one_reading.h"

#define V1                                                                                         \
	"Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"        \
	"Bubble,Communication(Not Overlapped and Exclude Receive)"

static const struct fsl_profile_step *read_text(const char *text)
{
	reading_text(&reading, fsl_profile_read_step_trace_time, text);
	return reading.rank.steps;
}

static void the_first_version_has_no_device_and_no_preparing(void **state)
{
	(void)state;
	const struct fsl_profile_step *row =
		read_text(V1 "\n2,75422.22,151303.54,7129.459999999992,158433.0,67860.80000000012,"
			     "294586.5,0,151303.54\n");
	assert_int_equal(reading.rank.n_steps, 1);
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	assert_int_equal(row->step, 2);
	assert_int_equal(row->device_id, -1);
	assert_int_equal(row->computing_ns, 75422220);
	assert_int_equal(row->exposed_ns, 151303540);
	assert_int_equal(row->overlapped_ns, 7129460);
	assert_int_equal(row->communication_ns, 158433000);
	assert_int_equal(row->free_ns, 67860800);
	assert_int_equal(row->stage_ns, 294586500);
	assert_int_equal(row->bubble_ns, 0);
	assert_int_equal(row->exposed_not_receive_ns, 151303540);
	assert_int_equal(row->preparing_ns, FSL_NS_ABSENT);
}

static void the_second_version_ends_lines_with_cr_lf(void **state)
{
	(void)state;
	const struct fsl_profile_step *row =
		read_text("\xef\xbb\xbf" V1 ",Preparing\r\n50,8873.756000000001,101963.203,"
			  "4028.6750000000175,105991.87800000001,25744.050000000003,136581.0,0,"
			  "101963.203,17902.5\r\n");
	assert_int_equal(reading.rank.n_steps, 1);
	assert_int_equal(row->step, 50);
	assert_int_equal(row->computing_ns, 8873756);
	assert_int_equal(row->overlapped_ns, 4028675);
	assert_int_equal(row->preparing_ns, 17902500);
}

static void of_several_devices_the_first_is_used(void **state)
{
	(void)state;
	const struct fsl_profile_step *row =
		read_text("Device_id," V1 ",Preparing\n0,13,231290.09999999995,420174.2600000001,"
			  "0.0,420174.2600000001,158558.00000000032,810022.25,0,420174.2600000001,"
			  "206.25\n1,13,2,3,4,5,6,7,8,9,10\n0,14,2,3,4,5,6,7,8,9,10\n");
	assert_int_equal(reading.rank.n_steps, 2);
	assert_int_equal(reading.rank.n_steps_captured, 2);
	assert_int_equal(row[0].device_id, 0);
	assert_int_equal(row[0].step, 13);
	assert_int_equal(row[0].computing_ns, 231290100);
	assert_int_equal(row[0].free_ns, 158558000);
	assert_int_equal(row[1].step, 14);
	assert_int_equal(row[1].bubble_ns, 8000);
	assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
	assert_non_null(strstr(reading.file.message, "a second device"));
}

static void a_step_without_a_number_is_absent(void **state)
{
	(void)state;
	const struct fsl_profile_step *row = read_text(V1 "\n,1,2,3,4,5,6,7,8\n");
	assert_int_equal(reading.rank.n_steps, 1);
	assert_int_equal(row->step, FSL_STEP_ABSENT);
	assert_int_equal(reading.file.state, FSL_FILE_READ);
}

static void noise_below_zero_is_zero(void **state)
{
	(void)state;
	const struct fsl_profile_step *row =
		read_text(V1 "\n1,9.000000001,2,-1.4551915228366852e-11,4,5,-6.5,7,N/A\n");
	assert_int_equal(row->computing_ns, 9000);
	assert_int_equal(row->overlapped_ns, 0);
	assert_int_equal(row->stage_ns, FSL_NS_ABSENT);
	assert_int_equal(row->exposed_not_receive_ns, FSL_NS_ABSENT);
}

static void mindspore_does_not_measure_preparing(void **state)
{
	(void)state;
	reading.rank.folder.writer = FSL_PROFILE_MINDSPORE;
	const struct fsl_profile_step *row = read_text(V1 ",Preparing\n0,1,2,3,4,5,6,7,8,0\n");
	assert_int_equal(row->step, 0);
	assert_int_equal(row->preparing_ns, FSL_NS_ABSENT);
}

static void only_the_wanted_steps_are_kept(void **state)
{
	(void)state;
	const int64_t steps[] = {12};
	reading.steps = steps;
	reading.n_steps = 1;
	const struct fsl_profile_step *row =
		read_text(V1 "\n11,1,2,3,4,5,6,7,8\n12,1,2,3,4,5,6,7,8\n");
	assert_int_equal(reading.rank.n_steps, 1);
	assert_int_equal(row->step, 12);
}

static void a_row_without_its_times_is_dropped_and_told(void **state)
{
	(void)state;
	(void)read_text(V1 "\n1,1,2,3,4,5,6,7,8\n2,N/A,2,3,4,5,6,7,8\n3,x,2,3,4,5,6,7,8\n");
	assert_int_equal(reading.rank.n_steps, 1);
	assert_int_equal(reading.file.n_records, 3);
	assert_int_equal(reading.file.n_dropped[FSL_DROP_MALFORMED], 2);
	assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
	assert_string_equal(reading.file.message,
			    "line 3: a time is missing or no number; parse the capture again");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_first_version_has_no_device_and_no_preparing,
						reading_setup, reading_teardown),
		cmocka_unit_test_setup_teardown(the_second_version_ends_lines_with_cr_lf,
						reading_setup, reading_teardown),
		cmocka_unit_test_setup_teardown(of_several_devices_the_first_is_used, reading_setup,
						reading_teardown),
		cmocka_unit_test_setup_teardown(a_step_without_a_number_is_absent, reading_setup,
						reading_teardown),
		cmocka_unit_test_setup_teardown(noise_below_zero_is_zero, reading_setup,
						reading_teardown),
		cmocka_unit_test_setup_teardown(mindspore_does_not_measure_preparing, reading_setup,
						reading_teardown),
		cmocka_unit_test_setup_teardown(only_the_wanted_steps_are_kept, reading_setup,
						reading_teardown),
		cmocka_unit_test_setup_teardown(a_row_without_its_times_is_dropped_and_told,
						reading_setup, reading_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
