/* Links compared with links of the same kind. */
#include "unit/ascend/small_capture.h"

/* All links of one group of all ranks, 100 MB each in a step of 100 ms; speed[src][dst] GB/s. */
static void begin(struct small_capture *small, size_t n_ranks, double (*speed)(size_t, size_t))
{
	small_begin(small, n_ranks);
	for (size_t r = 0; r < n_ranks; r++) {
		small_step(small, r, 1, 60.0, 30.0, 10.0);
		for (size_t d = 0; d < n_ranks; d++) {
			small_link(small, r, 1, "allreduce-total", "586", (int32_t)r, (int32_t)d,
				   100.0, d == r ? 300.0 : speed(r, d));
			small_link(small, r, 1, "allreduce-bottom1", "586", (int32_t)r, (int32_t)d,
				   1.0, 0.1); /* part of the total */
		}
	}
}

static double alike(size_t src, size_t dst)
{
	return 20.0 + 0.05 * (double)((src * 7 + dst * 3) % 5);
}

static double one_slow(size_t src, size_t dst)
{
	return src == 2 && dst == 5 ? 8.0 : alike(src, dst);
}

static double port_of_3_slow(size_t src, size_t dst)
{
	return src == 3 || dst == 3 ? 8.0 : alike(src, dst);
}

static void a_slow_link_is_told_with_both_ends_and_its_cost(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 8, one_slow);
	small_judge(&small, fsl_profile_judge_slow_link);
	assert_int_equal(small.findings.n_items, 1);
	const struct fsl_profile_finding *finding = small_finding(&small.findings, "slow_link", 2);
	assert_non_null(finding);
	assert_int_equal(finding->peer, 5);
	assert_near(finding->gain_ms, 100.0 / 8.0 - 100.0 / 20.1, 0.05);
	assert_near(small_fact(finding, "n_like_it"), 56.0, 0.0);
	small_end(&small);
}

static void a_rank_of_which_all_links_are_slow_is_told_as_one(void **state)
{
	(void)state;
	static const size_t sizes[] = {4, 8, 16};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct small_capture small;
		begin(&small, sizes[i], port_of_3_slow);
		small_judge(&small, fsl_profile_judge_slow_link);
		assert_int_equal(small.findings.n_items, 1);
		assert_non_null(small_finding(&small.findings, "slow_rank_network", 3));
		small_end(&small);
	}
}

static void alike_links_are_not_told(void **state)
{
	(void)state;
	static const size_t sizes[] = {1, 2, 3, 4, 16};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct small_capture small;
		begin(&small, sizes[i], alike);
		small_judge(&small, fsl_profile_judge_slow_link);
		assert_int_equal(small.findings.n_items, 0);
		assert_int_equal(small.findings.n_missing, sizes[i] == 1 ? 1 : 0);
		small_end(&small);
	}
}

static void links_of_other_kinds_and_sizes_are_not_compared(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 4, alike);
	small_link(&small, 0, 1, "allgather-total", "586", 0, 1, 100.0, 5.0);
	small_link(&small, 1, 1, "allreduce-total", "999", 0, 1, 3.0, 5.0);
	small.profile.ranks[2].links[0].transport = FSL_TRANSPORT_RDMA;
	small_judge(&small, fsl_profile_judge_slow_link);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void what_costs_next_to_nothing_is_not_told(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 8, one_slow);
	for (size_t r = 0; r < 8; r++) {
		struct fsl_profile_rank *rank = &small.profile.ranks[r];
		for (size_t l = 0; l < rank->n_links; l++) {
			rank->links[l].n_bytes /= 50;
			rank->links[l].time_ns /= 50;
		}
	}
	small_judge(&small, fsl_profile_judge_slow_link);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void numbers_inside_a_group_become_ranks(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_link_table table;
	struct fsl_error err = {0};
	small_begin(&small, 4);
	/* Group of ranks 1 and 3; of another only one member is there, all are told. */
	small_link(&small, 1, 1, "allreduce-total", "586", 0, 0, 10.0, 300.0);
	small_link(&small, 1, 1, "allreduce-total", "586", 0, 1, 10.0, 20.0);
	small_link(&small, 1, 2, "allreduce-total", "586", 0, 1, 10.0, 20.0); /* another step */
	small_link(&small, 3, 1, "allreduce-total", "586", 1, 1, 10.0, 300.0);
	small_link(&small, 0, 1, "hcom_allReduce__700_2", "700", 1, 0, 10.0, 20.0);
	small_group(&small, "700", "dp", false, 0, 2, 2)->ranks = small_ranks(&small, 64, 2, -64);
	small_link(&small, 2, 1, "allreduce-total", "800", 0, 5, 10.0, 20.0);
	assert_int_equal(fsl_link_table_build(&table, &small.profile, &small.cluster, &err),
			 FSL_OK);
	assert_int_equal(table.n_rows, 3);
	assert_string_equal(table.rows[0].group, "800");
	assert_int_equal(table.rows[0].dst, -1);
	assert_int_equal(table.rows[0].dst_number, 5);
	assert_string_equal(table.rows[1].group, "586");
	assert_int_equal(table.rows[1].dst, 3);
	assert_int_equal(table.rows[1].n_bytes, 20000000);
	assert_string_equal(table.rows[2].type, "hcom_allReduce");
	assert_int_equal(table.rows[2].dst, 64);
	fsl_link_table_fini(&table);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_link_is_told_with_both_ends_and_its_cost),
		cmocka_unit_test(a_rank_of_which_all_links_are_slow_is_told_as_one),
		cmocka_unit_test(alike_links_are_not_told),
		cmocka_unit_test(links_of_other_kinds_and_sizes_are_not_compared),
		cmocka_unit_test(what_costs_next_to_nothing_is_not_told),
		cmocka_unit_test(numbers_inside_a_group_become_ranks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
