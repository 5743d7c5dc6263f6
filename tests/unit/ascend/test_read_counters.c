/* l2_cache.csv, nic.csv, roce.csv, hccs.csv and pcie.csv. */
#include "one_reading.h"

#include <math.h>

#define PORT_HEADER                                                                                \
	"Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError "   \
	"rate(%),rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,txError "                 \
	"rate(%),txDropped rate(%),funcId\n"

static void assert_reading(enum fsl_profile_counter counter, int64_t n, double mean)
{
	const struct fsl_profile_reading *got = &reading.rank.counters[counter];
	assert_int_equal(got->n, n);
	assert_true(n == 0 || fabs(got->sum / (double)got->n - mean) < 1e-9);
}

static void a_port_tells_the_worse_direction_and_no_idle_samples(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_roce,
		     PORT_HEADER "0,1764246877000.500\t,25000,80,9,0.5,0,96,9,0,2,0\n"
				 "0,1764246877010.500\t,0,0,0,0,0,0,0,0,0,0\n"
				 "1,1764246877010.500\t,9,9,9,90,90,9,9,90,90,0\n");
	assert_reading(FSL_COUNTER_ROCE_ERRORS, 2, 0.0025);
	assert_reading(FSL_COUNTER_ROCE_DROPS, 2, 0.01);
	assert_reading(FSL_COUNTER_ROCE_USED, 1, 0.96);
	assert_int_equal(reading.rank.counters[FSL_COUNTER_NIC_DROPS].n, 0);
}

static void both_ports_are_told_apart_and_missing_values_are_not_zero(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_nic, PORT_HEADER "3,1,1,10,1,N/A,,20,1,,N/A,1\n");
	assert_reading(FSL_COUNTER_NIC_ERRORS, 0, 0.0);
	assert_reading(FSL_COUNTER_NIC_USED, 1, 0.2);
	assert_int_equal(reading.rank.counters[FSL_COUNTER_ROCE_USED].n, 0);
	assert_int_equal(reading.file.state, FSL_FILE_READ);
}

static void links_tell_their_greatest_speed_and_their_latency(void **state)
{
	(void)state;
	reading_text(&reading, fsl_profile_read_hccs,
		     "Device_id,Mode,Max,Min,Average\n0,Tx(MB/s),18200.5,0,310\n"
		     "0,Rx(MB/s),17000,0,290\n");
	assert_reading(FSL_COUNTER_HCCS_PEAK, 1, 18.2005);
	reading_text(&reading, fsl_profile_read_pcie,
		     "Device_id,Mode,Min,Max,Avg\n0,Tx_p_avg(MB/s),1,2,3\n"
		     "0,Tx_latency_avg(us),0.9,4.0,1.25\n");
	assert_reading(FSL_COUNTER_PCIE_LATENCY, 1, 0.00125);
}

static void kernels_tell_their_hits_and_which_they_are_in_any_order(void **state)
{
	(void)state;
	static const char header[] = "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n";
	char text[256];
	(void)snprintf(text, sizeof(text), "%s2,1,0.9,0.1,MatMul1\n2,2,N/A,0,Relu\n2,3,0.5,0,Add\n",
		       header);
	reading_text(&reading, fsl_profile_read_l2_cache, text);
	assert_reading(FSL_COUNTER_CACHE_HITS, 2, 0.7);
	uint64_t kernels = reading.rank.cached_kernels;
	reading.rank.cached_kernels = 0;
	(void)snprintf(text, sizeof(text), "%s2,3,0.1,0,Add\n2,1,0.2,0.1,MatMul1\n", header);
	reading_text(&reading, fsl_profile_read_l2_cache, text);
	assert_true(reading.rank.cached_kernels == kernels);
	reading.rank.cached_kernels = 0;
	(void)snprintf(text, sizeof(text), "%s2,3,0.1,0,Add\n2,1,0.2,0.1,MatMul2\n", header);
	reading_text(&reading, fsl_profile_read_l2_cache, text);
	assert_true(reading.rank.cached_kernels != kernels);
}

static void a_real_table_without_hits_is_known_and_tells_nothing(void **state)
{
	(void)state;
	reading_shared(&reading, fsl_profile_read_l2_cache,
		       "insight-2rank-text/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/"
		       "l2_cache.csv");
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	assert_int_equal(reading.file.n_records, 179);
	assert_reading(FSL_COUNTER_CACHE_HITS, 0, 0.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_port_tells_the_worse_direction_and_no_idle_samples, reading_setup,
			reading_teardown),
		cmocka_unit_test_setup_teardown(
			both_ports_are_told_apart_and_missing_values_are_not_zero, reading_setup,
			reading_teardown),
		cmocka_unit_test_setup_teardown(links_tell_their_greatest_speed_and_their_latency,
						reading_setup, reading_teardown),
		cmocka_unit_test_setup_teardown(
			kernels_tell_their_hits_and_which_they_are_in_any_order, reading_setup,
			reading_teardown),
		cmocka_unit_test_setup_teardown(
			a_real_table_without_hits_is_known_and_tells_nothing, reading_setup,
			reading_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
