/* Links that the engine finds slow, without a judge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "blame/bandwidth.h"

enum { RANKS = 8 };

/* Every rank sends 100 MB to every other one in a step of 100 ms; nothing is there to replay. */
static struct fsl_bandwidths judge(double (*speed)(size_t, size_t), double named_share_min)
{
	static struct fsl_link_row rows[RANKS * RANKS];
	struct fsl_link_table table = {.rows = rows};
	struct fsl_rank ranks[RANKS] = {{0}};
	const struct fsl_run run = {.ranks = ranks, .n_ranks = RANKS};
	struct fsl_match match = {0};
	const struct fsl_places_job capture = {.run = &run, .match = &match, .step_ms = 100.0};
	const struct fsl_bandwidth_job job = {&table, &capture, 0.004, 0.2, 0.005, named_share_min};
	struct fsl_bandwidths out;
	struct fsl_error err = {0};
	for (size_t i = 0; i < (size_t)RANKS * RANKS; i++) {
		size_t src = i / RANKS, dst = i % RANKS;
		rows[table.n_rows] =
			(struct fsl_link_row){.src = (int32_t)src,
					      .dst = (int32_t)dst,
					      .dst_number = (int32_t)dst,
					      .src_idx = src,
					      .dst_idx = dst,
					      .group = "586",
					      .type = "allreduce",
					      .n_bytes = 100000000,
					      .time_ns = (int64_t)(1e8 / speed(src, dst)),
					      .n_steps = 1};
		table.n_rows += src != dst;
	}
	assert_int_equal(fsl_bandwidths_judge(&out, &job, &err), FSL_OK);
	return out;
}

static double alike(size_t src, size_t dst)
{
	return 20.0 + 0.05 * (double)((src * 7 + dst * 3) % 5);
}

static double slow_both_ways(size_t src, size_t dst)
{
	return (src == 2 && dst == 5) || (src == 5 && dst == 2) ? 8.0 : alike(src, dst);
}

static double port_of_6_slow(size_t src, size_t dst)
{
	return src == 6 || dst == 6 ? 10.0 : alike(src, dst);
}

static void both_directions_of_a_slow_link_are_one(void **state)
{
	(void)state;
	struct fsl_bandwidths found = judge(slow_both_ways, 0.03);
	assert_int_equal(found.n_links, 1);
	assert_int_equal(found.n_ports, 0);
	assert_int_equal(found.links[0].n_rows, 2);
	assert_int_equal(found.links[0].row->src + found.links[0].row->dst, 7);
	assert_true(fabs(found.links[0].cost_ms - 2.0 * (100.0 / 8.0 - 100.0 / 20.1)) < 0.05);
	fsl_bandwidths_fini(&found);
}

static void a_slow_port_is_named_if_it_costs_enough(void **state)
{
	(void)state;
	const double least[] = {0.03, 0.2};
	for (size_t i = 0; i < 2; i++) {
		struct fsl_bandwidths found = judge(port_of_6_slow, least[i]);
		assert_int_equal(found.n_links, RANKS - 1);
		assert_true(found.links[RANKS - 2].is_of_port);
		assert_int_equal(found.n_ports, 1);
		assert_int_equal(found.ports[0].rank_idx, 6);
		assert_int_equal(found.ports[0].is_named, i == 0);
		fsl_bandwidths_fini(&found);
	}
}

static void links_alike_are_not_slow(void **state)
{
	(void)state;
	struct fsl_bandwidths found = judge(alike, 0.03);
	assert_int_equal(found.n_links + found.n_ports, 0);
	fsl_bandwidths_fini(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_directions_of_a_slow_link_are_one),
		cmocka_unit_test(a_slow_port_is_named_if_it_costs_enough),
		cmocka_unit_test(links_alike_are_not_slow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
