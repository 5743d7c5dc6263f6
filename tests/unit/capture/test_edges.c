/* Idle time outside of the work of a capture that is one step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "capture/edges.h"

enum { GAPS_MAX = 4 };

/* A rank with @busy of work, and gaps, in ms: {begin, length, work before it}. */
struct made {
	struct fsl_profile_rank rank;
	struct fsl_profile_step rebuilt[2], told;
	struct fsl_profile_gap gaps[GAPS_MAX];
};

static void make(struct made *made, int64_t busy, const int64_t gaps[][3], size_t n_gaps)
{
	const int64_t ms = 1000000;
	*made = (struct made){.rank = {.info = {.n_active_steps = -1}}};
	for (size_t g = 0; g < n_gaps; g++) {
		made->gaps[g] = (struct fsl_profile_gap){.step = 1,
							 .begin_ns = gaps[g][0] * ms,
							 .dur_ns = gaps[g][1] * ms,
							 .busy_ns = gaps[g][2] * ms};
		made->rebuilt[0].free_ns += gaps[g][1] * ms;
	}
	made->rebuilt[0].step = 1;
	made->rebuilt[0].computing_ns = busy * ms / 4;
	made->rebuilt[0].exposed_ns = busy * ms - busy * ms / 4;
	made->rank.rebuilt = made->rebuilt;
	made->rank.n_rebuilt = 1;
	made->rank.gaps = made->gaps;
	made->rank.n_gaps = n_gaps;
}

static void expect(const struct made *made, int64_t before, int64_t after)
{
	const struct fsl_profile_edges edges = fsl_profile_edges_of(&made->rank);
	assert_int_equal(edges.before_ns, before * 1000000);
	assert_int_equal(edges.after_ns, after * 1000000);
	assert_true(fabs(fsl_profile_edges_ms(&edges) - (double)(before + after)) < 1e-9);
}

static void gaps_with_nearly_all_work_on_one_side_are_edges(void **state)
{
	(void)state;
	struct made made;
	make(&made, 2700, (const int64_t[][3]){{10, 3571, 1}, {5000, 3, 900}, {6300, 2132, 2699}},
	     3);
	expect(&made, 3571, 2132);
	const struct fsl_profile_edges edges = fsl_profile_edges_of(&made.rank);
	assert_true(fsl_profile_is_edge(&edges, 10 * 1000000));
	assert_false(fsl_profile_is_edge(&edges, 5000 * 1000000LL));
	assert_true(fsl_profile_is_edge(&edges, 6300 * 1000000LL));
}

static void several_kernels_before_the_work_leave_several_edges(void **state)
{
	(void)state;
	struct made made;
	make(&made, 800, (const int64_t[][3]){{1, 400, 1}, {405, 90, 5}, {600, 44, 9}}, 3);
	expect(&made, 490, 0);
}

static void a_pause_in_the_middle_of_the_work_is_none(void **state)
{
	(void)state;
	struct made made;
	make(&made, 500, (const int64_t[][3]){{100, 4000, 30}, {4500, 100, 470}}, 2);
	expect(&made, 0, 0);
	const struct fsl_profile_edges edges = fsl_profile_edges_of(&made.rank);
	assert_false(fsl_profile_is_edge(&edges, 100 * 1000000));
}

static void short_edges_belong_to_the_work(void **state)
{
	(void)state;
	struct made made;
	make(&made, 960, (const int64_t[][3]){{1, 40, 0}}, 1);
	expect(&made, 0, 0);
	make(&made, 930, (const int64_t[][3]){{1, 70, 0}}, 1);
	expect(&made, 70, 0);
}

static void a_schedule_of_several_steps_has_no_edges(void **state)
{
	(void)state;
	struct made made;
	make(&made, 700, (const int64_t[][3]){{1, 600, 0}}, 1);
	expect(&made, 600, 0);
	made.rank.info.n_active_steps = 1;
	expect(&made, 600, 0);
	made.rank.info.n_active_steps = 3;
	expect(&made, 0, 0);
	made.rank.info.n_active_steps = -1;
	made.rebuilt[1] = (struct fsl_profile_step){.step = 2, .computing_ns = 5};
	made.rank.n_rebuilt = 2;
	expect(&made, 0, 0);
}

static void kernels_that_are_a_part_of_the_capture_tell_no_edges(void **state)
{
	(void)state;
	struct made made;
	make(&made, 700, (const int64_t[][3]){{1, 600, 0}}, 1);
	made.told = made.rebuilt[0];
	made.rank.steps = &made.told;
	made.rank.n_steps = 1;
	expect(&made, 600, 0);
	made.told.computing_ns *= 9;
	expect(&made, 0, 0);
}

static void a_rank_without_kernels_has_no_edges(void **state)
{
	(void)state;
	const struct made made = {.rank = {.info = {.n_active_steps = -1}}};
	expect(&made, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_with_nearly_all_work_on_one_side_are_edges),
		cmocka_unit_test(several_kernels_before_the_work_leave_several_edges),
		cmocka_unit_test(a_pause_in_the_middle_of_the_work_is_none),
		cmocka_unit_test(short_edges_belong_to_the_work),
		cmocka_unit_test(a_schedule_of_several_steps_has_no_edges),
		cmocka_unit_test(kernels_that_are_a_part_of_the_capture_tell_no_edges),
		cmocka_unit_test(a_rank_without_kernels_has_no_edges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
