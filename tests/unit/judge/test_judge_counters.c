/* Counters of devices beside those of other ranks. */
#include "unit/ascend/small_capture.h"

static void set(struct small_capture *small, enum fsl_profile_counter counter, size_t r,
		double value)
{
	small->profile.ranks[r].counters[counter] = (struct fsl_profile_reading){value, 1};
}

static void set_all(struct small_capture *small, enum fsl_profile_counter counter, double value)
{
	for (size_t r = 0; r < small->profile.n_ranks; r++) {
		set(small, counter, r, value);
	}
}

/* As another judge found it. */
static void find(struct small_capture *small, enum fsl_code code, int32_t rank)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(code);
	finding.rank = rank;
	finding.what = "it is slow";
	assert_int_equal(fsl_profile_findings_add(&small->findings, &finding, NULL), FSL_OK);
}

static void losses_of_a_named_rank_support_a_slow_network(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	find(&small, FSL_CODE_SLOW_RANK_NETWORK, 2);
	set_all(&small, FSL_COUNTER_ROCE_DROPS, 0.0);
	set(&small, FSL_COUNTER_ROCE_DROPS, 2, 0.012);
	small_judge(&small, fsl_profile_judge_counters);
	assert_int_equal(small.findings.n_items, 1);
	assert_string_equal(small.findings.items[0].what,
			    "it is slow; lost packets at the RoCE port 1.2 %, of its peers 0 %");
	assert_near(small_fact(&small.findings.items[0], "roce_drops"), 0.012, 1e-12);
	small_end(&small);
}

static void a_finding_of_another_cause_or_rank_is_not_supported(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	find(&small, FSL_CODE_SLOW_RANK_COMPUTE, 1);
	find(&small, FSL_CODE_SLOW_RANK_NETWORK, 0);
	set_all(&small, FSL_COUNTER_NIC_ERRORS, 0.0);
	set(&small, FSL_COUNTER_NIC_ERRORS, 1, 0.03);
	small_judge(&small, fsl_profile_judge_counters);
	assert_int_equal(small.findings.n_items, 3);
	const struct fsl_profile_finding *alone = small_finding(&small.findings, "port_faults", 1);
	assert_non_null(alone);
	assert_string_equal(alone->what,
			    "rank 1: broken packets at the NIC port 3 %, of its peers 0 %");
	assert_true(isnan(alone->gain_ms));
	small_end(&small);
}

static void both_ends_of_a_link_are_supported_by_name(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	find(&small, FSL_CODE_SLOW_LINK, 0);
	small.findings.items[0].peer = 3;
	set_all(&small, FSL_COUNTER_HCCS_PEAK, 18.0);
	set(&small, FSL_COUNTER_HCCS_PEAK, 3, 9.0);
	small_judge(&small, fsl_profile_judge_counters);
	assert_int_equal(small.findings.n_items, 1);
	assert_string_equal(
		small.findings.items[0].what,
		"it is slow; rank 3: fastest traffic over HCCS 9 GB/s, of its peers 18 GB/s");
	small_end(&small);
}

static void fewer_hits_in_the_cache_support_slow_computing_by_the_same_kernels(void **state)
{
	(void)state;
	for (uint64_t other = 0; other < 2; other++) {
		struct small_capture small;
		small_begin(&small, 5);
		find(&small, FSL_CODE_SLOW_RANK_COMPUTE, 4);
		set_all(&small, FSL_COUNTER_CACHE_HITS, 0.83);
		set(&small, FSL_COUNTER_CACHE_HITS, 4, 0.41);
		small.profile.ranks[4].cached_kernels = other; /* others ran */
		small_judge(&small, fsl_profile_judge_counters);
		assert_int_equal(small.findings.n_items, 1);
		assert_string_equal(small.findings.items[0].what,
				    other != 0 ? "it is slow"
					       : "it is slow; hits of kernels in the L2 cache 41 "
						 "%, of its peers 83 %");
		small_end(&small);
	}
}

static void of_two_ranks_nobody_is_unusual_unless_packets_are_lost(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	set_all(&small, FSL_COUNTER_CACHE_HITS, 0.9);
	set(&small, FSL_COUNTER_CACHE_HITS, 0, 0.5);
	set(&small, FSL_COUNTER_ROCE_DROPS, 1, 0.02);
	small_judge(&small, fsl_profile_judge_counters);
	assert_int_equal(small.findings.n_items, 1);
	assert_non_null(small_finding(&small.findings, "port_faults", 1));
	small_end(&small);
}

static void traffic_alone_tells_nothing(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	set_all(&small, FSL_COUNTER_HCCS_PEAK, 18.0);
	set(&small, FSL_COUNTER_HCCS_PEAK, 0, 4.0);
	set_all(&small, FSL_COUNTER_PCIE_LATENCY, 0.001);
	set(&small, FSL_COUNTER_PCIE_LATENCY, 1, 0.01);
	set_all(&small, FSL_COUNTER_ROCE_USED, 0.4);
	set(&small, FSL_COUNTER_ROCE_USED, 2, 0.97);
	set_all(&small, FSL_COUNTER_NIC_DROPS, 0.0005);
	set_all(&small, FSL_COUNTER_CACHE_HITS, 0.8);
	set(&small, FSL_COUNTER_CACHE_HITS, 3, 0.75);
	small_judge(&small, fsl_profile_judge_counters);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void want_of_memory_costs_the_judgement_alone(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	set_all(&small, FSL_COUNTER_CACHE_HITS, 0.8);
	set(&small, FSL_COUNTER_CACHE_HITS, 1, 0.2);
	small_judge_short_of_memory(&small, fsl_profile_judge_counters);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_of_a_named_rank_support_a_slow_network),
		cmocka_unit_test(a_finding_of_another_cause_or_rank_is_not_supported),
		cmocka_unit_test(both_ends_of_a_link_are_supported_by_name),
		cmocka_unit_test(
			fewer_hits_in_the_cache_support_slow_computing_by_the_same_kernels),
		cmocka_unit_test(of_two_ranks_nobody_is_unusual_unless_packets_are_lost),
		cmocka_unit_test(traffic_alone_tells_nothing),
		cmocka_unit_test(want_of_memory_costs_the_judgement_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
