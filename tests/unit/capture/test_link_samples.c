/* Counters by their names, and their level while a function runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "capture/link_samples.h"

static void names_tell_what_is_counted_and_in_which_unit(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum fsl_sampled counter;
		bool is_percent;
	} names[] = {
		{"gpu_sm_util", FSL_SAMPLED_CORES, true},
		{"SMs Active [Throughput %]", FSL_SAMPLED_CORES, true},
		{"gpu_pcie_transmit", FSL_SAMPLED_PCIE_SEND, false},
		{"gpu_pcie_receive", FSL_SAMPLED_PCIE_RECEIVE, false},
		{"gpu_link_receive", FSL_SAMPLED_NVLINK_RECEIVE, false},
		{"NVLink TX Bandwidth [Throughput %]", FSL_SAMPLED_NVLINK_SEND, true},
		{"net_tx_rate", FSL_SAMPLED_NIC_SEND, false},
		{"net_rx_rate", FSL_SAMPLED_NIC_RECEIVE, false},
		{"gpu_link", FSL_SAMPLED_N, false}, /* in which direction? */
		{"process_cpu_usage_17", FSL_SAMPLED_N, false},
		{"", FSL_SAMPLED_N, false},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool is_percent = false;
		assert_int_equal(fsl_sampled_of(names[i].name, strlen(names[i].name), &is_percent),
				 names[i].counter);
		if (names[i].counter != FSL_SAMPLED_N) {
			assert_int_equal(is_percent, names[i].is_percent);
		}
	}
}

/* A counter that takes these values at 0, 10, 20... */
static void fill(struct fsl_link_counters *counters, const double *values, size_t n)
{
	for (size_t i = n; i-- > 0;) { /* in any order */
		const struct fsl_link_sample sample = {10 * (int64_t)i, values[i], -1};
		assert_int_equal(
			fsl_link_counters_add(counters, FSL_SAMPLED_NIC_SEND, false, &sample, NULL),
			FSL_OK);
	}
	fsl_link_counters_settle(counters, 0);
}

static void expect(const struct fsl_link_counters *counters, int64_t begin_ns, int64_t end_ns,
		   double wanted_mean, double wanted_std)
{
	double mean = 0.0, std = 0.0;
	assert_true(fsl_link_samples_over(&counters->of[FSL_SAMPLED_NIC_SEND], begin_ns, end_ns,
					  &mean, &std));
	assert_true(fabs(mean - wanted_mean) < 1e-12);
	assert_true(fabs(std - wanted_std) < 1e-12);
}

static void three_samples_of_a_run_tell_its_level_and_of_fewer_its_ends(void **state)
{
	(void)state;
	static const double values[] = {4.0, 8.0, 6.0, 10.0, 2.0};
	struct fsl_link_counters counters = {0};
	double mean = 0.0, std = 0.0;
	fill(&counters, values, 5);
	const struct fsl_link_samples *samples = &counters.of[FSL_SAMPLED_NIC_SEND];
	assert_true(fabs(samples->max - 10.0) < 1e-12);
	expect(&counters, 10, 30, 8.0, sqrt(8.0 / 3.0)); /* both ends count */
	expect(&counters, 5, 35, 8.0, sqrt(8.0 / 3.0));
	expect(&counters, 11, 30, (7.8 + 10.0) / 2.0, 1.1);
	expect(&counters, 32, 36, (8.4 + 5.2) / 2.0, 1.6);
	expect(&counters, 20, 20, 6.0, 0.0);
	assert_false(fsl_link_samples_over(samples, 38, 44, &mean, &std));
	assert_false(fsl_link_samples_over(samples, -5, 5, &mean, &std));
	fsl_link_counters_fini(&counters);
}

static void runs_count_by_their_duration(void **state)
{
	(void)state;
	struct fsl_link_level level = {0};
	assert_true(isnan(fsl_link_level_mean(&level)) && isnan(fsl_link_level_std(&level)));
	fsl_link_level_add(&level, 10.0, 0.0, 300);
	fsl_link_level_add(&level, 50.0, 4.0, 100);
	assert_true(fabs(fsl_link_level_mean(&level) - 20.0) < 1e-12);
	assert_true(fabs(fsl_link_level_std(&level) - 2.0) < 1e-12);
}

static void samples_of_other_devices_are_left_out(void **state)
{
	(void)state;
	struct fsl_link_counters counters = {0};
	for (int32_t device = -1; device < 3; device++) {
		const struct fsl_link_sample sample = {device, 5.0 + device, device};
		assert_int_equal(
			fsl_link_counters_add(&counters, FSL_SAMPLED_CORES, true, &sample, NULL),
			FSL_OK);
	}
	fsl_link_counters_settle(&counters, 1);
	const struct fsl_link_samples *samples = &counters.of[FSL_SAMPLED_CORES];
	assert_int_equal(samples->n_items, 2);
	assert_int_equal(samples->items[0].device, -1);
	assert_int_equal(samples->items[1].device, 1);
	assert_true(samples->is_percent && fabs(samples->max - 6.0) < 1e-12);
	fsl_link_counters_fini(&counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_what_is_counted_and_in_which_unit),
		cmocka_unit_test(three_samples_of_a_run_tell_its_level_and_of_fewer_its_ends),
		cmocka_unit_test(runs_count_by_their_duration),
		cmocka_unit_test(samples_of_other_devices_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
