/* Sizes and kinds of transfers. */
#include "unit/ascend/small_capture.h"

/* One operator of 40 ms that moves @n packets of @n_bytes each over @transport in @ms. */
static void begin(struct small_capture *small, enum fsl_profile_transport transport,
		  int64_t n_bytes, int64_t n, double ms)
{
	small_begin(small, 2);
	for (size_t r = 0; r < 2; r++) {
		struct fsl_profile_rank *rank = &small->profile.ranks[r];
		small_step(small, r, 3, 60.0, 30.0, 10.0);
		struct fsl_profile_comm *comm =
			small_comm(small, r, 3, "hcom_allReduce__483_0_1", "483", 0.0, 40.0);
		comm->transit_ns = small_ns(40.0);
		comm->n_traffic = 1;
		assert_int_equal(FSL_GROW(rank->traffic, rank->traffic_capacity, 1, NULL), FSL_OK);
		assert_int_equal(FSL_GROW(rank->packets, rank->packets_capacity, 1, NULL), FSL_OK);
		rank->traffic[rank->n_traffic++] =
			(struct fsl_profile_traffic){.transport = transport,
						     .n_bytes = n_bytes * n,
						     .time_ns = small_ns(ms),
						     .n_packets = 1};
		rank->packets[rank->n_packets++] = (struct fsl_profile_packets){
			.n_bytes = n_bytes, .count = n, .time_ns = small_ns(ms)};
	}
}

/* The only finding; NULL: there is none. */
static const char *only_code(struct small_capture *small)
{
	small_judge(small, fsl_profile_judge_traffic);
	assert_true(small->findings.n_items <= 1);
	return small->findings.n_items == 1 ? fsl_code_text(small->findings.items[0].code) : NULL;
}

static void small_packets_are_told_by_transport(void **state)
{
	(void)state;
	static const struct {
		enum fsl_profile_transport transport;
		int64_t n_bytes;
		const char *code;
	} cases[] = {
		{FSL_TRANSPORT_RDMA, 262144, "small_packets"},
		{FSL_TRANSPORT_RDMA, 2097152, NULL},
		{FSL_TRANSPORT_HCCS, 8388608, "small_packets"},
		{FSL_TRANSPORT_HCCS, 33554432, NULL},
		{FSL_TRANSPORT_SDMA, 8388608, NULL}, /* the sum of others */
		{FSL_TRANSPORT_HCCS, 33554433, "unaligned_packets"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		begin(&small, cases[i].transport, cases[i].n_bytes, 10, 1.0);
		const char *code = only_code(&small);
		assert_true((code == NULL) == (cases[i].code == NULL));
		if (code != NULL) {
			assert_string_equal(code, cases[i].code);
		}
		small_end(&small);
	}
}

static void cheap_transfers_are_not_told(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, FSL_TRANSPORT_HCCS, 8388608, 10, 1.0);
	small.profile.ranks[0].comms[0].transit_ns = small.profile.ranks[1].comms[0].transit_ns =
		small_ns(1.0);
	assert_null(only_code(&small));
	small_end(&small);
}

static void a_transfer_of_over_four_seconds_is_a_retransmission(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, FSL_TRANSPORT_RDMA, 2097152, 10, 3900.0);
	small.profile.ranks[1].traffic[0].time_ns = small_ns(4200.0);
	small_judge(&small, fsl_profile_judge_traffic);
	assert_int_equal(small.findings.n_items, 1);
	assert_non_null(small_finding(&small.findings, "rdma_retransmission", 1));
	small_end(&small);
}

static void slow_transfers_beside_kernels_may_be_contended(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct small_capture small;
		begin(&small, FSL_TRANSPORT_HCCS, 33554432, 10, i == 0 ? 33.0 : 17.0);
		small.profile.ranks[0].steps[0].overlapped_ns = small_ns(10.0);
		const char *code = only_code(&small);
		assert_true((code != NULL) == (i == 0));
		if (code != NULL) {
			assert_string_equal(code, "bandwidth_contention");
		}
		small_end(&small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_packets_are_told_by_transport),
		cmocka_unit_test(cheap_transfers_are_not_told),
		cmocka_unit_test(a_transfer_of_over_four_seconds_is_a_retransmission),
		cmocka_unit_test(slow_transfers_beside_kernels_may_be_contended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
