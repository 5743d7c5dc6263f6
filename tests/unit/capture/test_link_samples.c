/* Counters by their names, and their level while a function runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
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
		{"sm__throughput.avg.pct_of_peak_sustained_elapsed", FSL_SAMPLED_CORES, true},
		{"sm__cycles_active.avg", FSL_SAMPLED_CORES, false},
		{"nvltx__bytes.sum.per_second", FSL_SAMPLED_NVLINK_SEND, false},
		{"nvlrx__bytes.avg.pct_of_peak_sustained_elapsed", FSL_SAMPLED_NVLINK_RECEIVE,
		 true},
		{"pcie__read_bytes.sum.per_second", FSL_SAMPLED_PCIE_RECEIVE, false},
		{"pcie__write_bytes.sum", FSL_SAMPLED_PCIE_SEND, false},
		{"dram__bytes_read.sum", FSL_SAMPLED_N, false},
		{"gpu_link", FSL_SAMPLED_N, false}, /* in which direction? */
		{"process_cpu_usage_17", FSL_SAMPLED_N, false},
		{"", FSL_SAMPLED_N, false},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct fsl_link_source source = {0};
		assert_int_equal(fsl_sampled_of(names[i].name, strlen(names[i].name), &source),
				 names[i].counter);
		if (names[i].counter != FSL_SAMPLED_N) {
			assert_int_equal(source.is_percent, names[i].is_percent);
		}
	}
}

/* A counter that takes these values at 0, 10, 20... */
static void fill(struct fsl_link_counters *counters, const double *values, size_t n)
{
	for (size_t i = n; i-- > 0;) { /* in any order */
		const struct fsl_link_source source = {.name_hash = 1};
		const struct fsl_link_sample sample = {10 * (int64_t)i, values[i], -1, 0};
		assert_int_equal(fsl_link_counters_add(counters, FSL_SAMPLED_NIC_SEND, &source,
						       &sample, NULL),
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
		const struct fsl_link_source source = {.name_hash = 1, .is_percent = true};
		const struct fsl_link_sample sample = {device, 5.0 + device, device, 0};
		assert_int_equal(
			fsl_link_counters_add(&counters, FSL_SAMPLED_CORES, &source, &sample, NULL),
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

/* Adds a sample under a name. */
static void add(struct fsl_link_counters *counters, const char *name, double value, int32_t device)
{
	struct fsl_link_source source = {0};
	const struct fsl_link_sample sample = {.time_ns = 7, .value = value, .device = device};
	enum fsl_sampled counter = fsl_sampled_of(name, strlen(name), &source);
	assert_true(counter < FSL_SAMPLED_N);
	assert_int_equal(fsl_link_counters_add(counters, counter, &source, &sample, NULL), FSL_OK);
}

/* Two names of a counter have two units: one of them counts, on each rank the same. */
static void of_several_names_of_a_counter_one_counts(void **state)
{
	static const char *const names[] = {"nic_0 tx", "nic_1 tx", "nic_2 tx"};
	(void)state;
	for (int is_back = 0; is_back < 2; is_back++) {
		struct fsl_link_counters counters = {0};
		const struct fsl_link_samples *cores = &counters.of[FSL_SAMPLED_CORES];
		const struct fsl_link_samples *nics = &counters.of[FSL_SAMPLED_NIC_SEND];
		add(&counters, is_back ? "gpu_sm_util" : "sm__cycles_active.avg", 50.0, 0);
		add(&counters, is_back ? "sm__cycles_active.avg" : "gpu_sm_util", 50.0, 0);
		add(&counters, "sm__throughput.avg.pct", 99.0, 0);
		for (size_t i = 0; i < 3; i++) {
			size_t k = is_back ? 2 - i : i;
			add(&counters, names[k], k == 1 ? 8e9 : 2e9, -1);
		}
		fsl_link_counters_settle(&counters, 0);
		assert_int_equal(cores->n_items, 1);
		assert_true(cores->is_percent && fabs(cores->max - 50.0) < 1e-12);
		assert_int_equal(nics->n_items, 1);
		assert_true(!nics->is_percent && fabs(nics->max - 8e9) < 1.0);
		fsl_link_counters_fini(&counters);
	}
}

/* A better name of another device is none; names without end are left out. */
static void only_names_of_the_device_compete_and_they_are_bounded(void **state)
{
	(void)state;
	struct fsl_link_counters counters = {0};
	add(&counters, "gpu_sm_util", 50.0, 1);
	add(&counters, "sm__cycles_active.avg", 7.0, 0);
	for (int i = 0; i < FSL_LINK_SOURCES_MAX + 5; i++) {
		char name[32];
		(void)snprintf(name, sizeof(name), "nic_%d rx", i);
		add(&counters, name, i, -1);
	}
	fsl_link_counters_settle(&counters, 0);
	assert_int_equal(counters.of[FSL_SAMPLED_CORES].n_items, 1);
	assert_false(counters.of[FSL_SAMPLED_CORES].is_percent);
	assert_true(fabs(counters.of[FSL_SAMPLED_CORES].max - 7.0) < 1e-12);
	assert_true(fabs(counters.of[FSL_SAMPLED_NIC_RECEIVE].max - (FSL_LINK_SOURCES_MAX - 1)) <
		    1e-12);
	fsl_link_counters_fini(&counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_what_is_counted_and_in_which_unit),
		cmocka_unit_test(three_samples_of_a_run_tell_its_level_and_of_fewer_its_ends),
		cmocka_unit_test(runs_count_by_their_duration),
		cmocka_unit_test(samples_of_other_devices_are_left_out),
		cmocka_unit_test(of_several_names_of_a_counter_one_counts),
		cmocka_unit_test(only_names_of_the_device_compete_and_they_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
