/* The parts of communication time. */
#include "unit/ascend/small_capture.h"

/* Three ranks whose collective takes 30, 20 and 10 ms, in steps of 60 ms computing, @exposed_ms of
 * communication and 10 ms of free time. */
static void begin(struct small_capture *small, double exposed_ms)
{
	small_begin(small, 3);
	small->profile.ranks[0].info.world_size = 3;
	for (size_t r = 0; r < 3; r++) {
		small_step(small, r, 3, 60.0, exposed_ms, 10.0);
		small_comm(small, r, 3, "hcom_allReduce__483_0_1", "483", 10.0 * (double)r,
			   30.0 - 10.0 * (double)r);
	}
}

static void judge(struct small_capture *small)
{
	assert_int_equal(fsl_profile_cluster_build(&small->cluster, &small->profile, NULL), FSL_OK);
	small_judge(small, fsl_profile_judge_communication);
}

static void waits_are_what_a_collective_takes_beyond_its_last_member(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 30.0);
	judge(&small);
	assert_int_equal(small.findings.n_items, 1);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "communication_split", -1);
	assert_non_null(finding);
	assert_near(small_fact(finding, "wait"), 10.0, 1e-9);
	assert_near(small_fact(finding, "transfer"), 10.0, 1e-9);
	assert_near(small_fact(finding, "communication"), 30.0, 1e-9);
	assert_true(finding->gain_ms != finding->gain_ms);
	assert_non_null(strstr(finding->what, "wait 10.0 ms (0.00 ms on rank 2 to 20.0 ms on rank "
					      "0) for the last member"));
	small_end(&small);
}

/* Two stages whose collectives and sends differ by far, and ranks that are alike. */
static void ranks_that_differ_by_far_are_told_beside_their_median(void **state)
{
	(void)state;
	const double send_ms[] = {6.0, 40.0};
	for (size_t i = 0; i < 2; i++) {
		struct small_capture small;
		small_begin(&small, 4);
		for (size_t r = 0; r < 4; r++) {
			small_step(&small, r, 3, 50.0, 40.0, 10.0);
			(void)small_comm(&small, r, 3, "hcom_send__483_0_1", "483", 0.0,
					 r < 2 ? send_ms[i] : 5.0);
		}
		judge(&small);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "communication_split", -1);
		assert_int_equal(
			strstr(finding->what, "(5.00 ms on rank 2 to 40.0 ms on rank 0)") != NULL,
			i == 1);
		small_end(&small);
	}
}

/* One rank of a broadcast of 309 of 517 ms, one of a reduction, and one whose operators are alike.
 */
static void an_operator_that_alone_takes_much_of_a_step_is_named(void **state)
{
	(void)state;
	const struct {
		const char *name;
		double first_ms, other_ms;
		const char *told;
	} cases[] = {
		{"hcom_broadcast__445_0_1", 309.0, 2.0,
		 "(hcom_broadcast__445_0_1 on rank 0 alone 309 ms)"},
		{"hcom_reduce__017_0_1", 6.0, 84.0,
		 "(hcom_allReduce__445_1_1 on rank 0 alone 84.0 ms)"},
		{"hcom_allGather__445_0_1", 30.0, 29.0, NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		small_begin(&small, 1);
		small_step(&small, 0, 3, 50.0, 345.0, 122.0);
		(void)small_comm(&small, 0, 3, cases[i].name, NULL, 0.0, cases[i].first_ms);
		(void)small_comm(&small, 0, 3, "hcom_allReduce__445_1_1", NULL, 320.0,
				 cases[i].other_ms);
		judge(&small);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "communication_split", -1);
		const char *told = cases[i].told != NULL ? cases[i].told : " alone ";
		assert_non_null(finding);
		assert_int_equal(strstr(finding->what, told) != NULL, cases[i].told != NULL);
		small_end(&small);
	}
}

static void little_communication_is_not_worth_telling(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 5.0);
	judge(&small);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void a_group_with_members_that_were_not_captured_tells_no_wait(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 30.0);
	small_link(&small, 0, 3, "allreduce-top1", "483", 0, 7, 1.0, 10.0);
	judge(&small);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "communication_split", -1);
	assert_non_null(finding);
	/* Communication, what runs beside kernels, and the longest operator. */
	assert_int_equal(finding->n_facts, 3);
	assert_non_null(strstr(finding->what, "no group is whole"));
	assert_non_null(strstr(finding->advice, "all ranks of a group"));
	small_end(&small);
}

static void ranks_of_torn_groups_do_not_lessen_the_waits_of_others(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 6);
	for (size_t r = 0; r < 6; r++) {
		const char *group = r < 2 ? "483" : "484"; /* of the latter one is missing */
		small_step(&small, r, 3, 60.0, 30.0, 10.0);
		small_comm(&small, r, 3,
			   r < 2 ? "hcom_allReduce__483_0_1" : "hcom_allReduce__484_0_1", group,
			   0.0, 30.0 - 10.0 * (double)(r % 2));
		small_link(&small, r, 3, "allreduce-top1", group, 0, r < 2 ? 1 : 7, 1.0, 10.0);
	}
	judge(&small);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "communication_split", -1);
	assert_non_null(finding);
	assert_near(small_fact(finding, "wait"), 5.0, 1e-9); /* of 10 and 0 ms */
	assert_near(small_fact(finding, "transfer"), 20.0, 1e-9);
	small_end(&small);
}

static void add_traffic(struct small_capture *small, enum fsl_profile_transport transport,
			int64_t n_bytes, double ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[0];
	assert_int_equal(FSL_GROW(rank->traffic, rank->traffic_capacity, rank->n_traffic + 1, NULL),
			 FSL_OK);
	assert_int_equal(FSL_GROW(rank->packets, rank->packets_capacity, rank->n_packets + 1, NULL),
			 FSL_OK);
	rank->traffic[rank->n_traffic++] =
		(struct fsl_profile_traffic){.transport = transport,
					     .n_bytes = n_bytes,
					     .time_ns = small_ns(ms),
					     .packets_begin = (uint32_t)rank->n_packets,
					     .n_packets = 1};
	rank->packets[rank->n_packets++] = (struct fsl_profile_packets){
		.n_bytes = n_bytes, .count = 1, .time_ns = small_ns(ms)};
}

static void links_are_told_by_kind_and_size_of_packets(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 5.0);
	add_traffic(&small, FSL_TRANSPORT_HCCS, 20000000, 1.0); /* 20 GB/s */
	add_traffic(&small, FSL_TRANSPORT_HCCS, 4000000, 1.0);  /* 4 GB/s */
	add_traffic(&small, FSL_TRANSPORT_SDMA, 24000000, 2.0); /* the sum of these */
	add_traffic(&small, FSL_TRANSPORT_RDMA, 500000, 1.0);   /* 0.5 GB/s */
	judge(&small);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "link_speeds", -1);
	assert_non_null(finding);
	assert_int_equal(finding->n_facts, 5);
	assert_near(small_fact(finding, "hccs"), 12.0, 1e-9);
	assert_near(small_fact(finding, "hccs_large"), 20.0, 1e-9);
	assert_near(small_fact(finding, "hccs_medium"), 4.0, 1e-9);
	assert_near(small_fact(finding, "rdma_small"), 0.5, 1e-9);
	assert_non_null(strstr(finding->what,
			       "RDMA 500 MB/s (below 1 MB 500 MB/s), HCCS 12 GB/s (1 to "
			       "16 MB 4 GB/s, 16 MB and more 20 GB/s)"));
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_are_what_a_collective_takes_beyond_its_last_member),
		cmocka_unit_test(ranks_that_differ_by_far_are_told_beside_their_median),
		cmocka_unit_test(an_operator_that_alone_takes_much_of_a_step_is_named),
		cmocka_unit_test(little_communication_is_not_worth_telling),
		cmocka_unit_test(a_group_with_members_that_were_not_captured_tells_no_wait),
		cmocka_unit_test(ranks_of_torn_groups_do_not_lessen_the_waits_of_others),
		cmocka_unit_test(links_are_told_by_kind_and_size_of_packets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
