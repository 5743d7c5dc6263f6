/* Time of single operators that no kernel hides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "capture/exposed.h"

enum { US = 1000, OPS_MAX = 4 };

struct made {
	struct fsl_profile_rank rank;
	struct fsl_profile_comm comms[OPS_MAX];
	struct fsl_spans kernels;
};

/* Operators and kernels by begin and end, us. */
static void make(struct made *made, const int64_t ops[][2], size_t n_ops,
		 const int64_t kernels[][2], size_t n_kernels)
{
	*made = (struct made){.rank = {.n_comms = n_ops}};
	made->rank.comms = made->comms;
	for (size_t i = 0; i < n_ops; i++) {
		made->comms[i].begin_ns = ops[i][0] * US;
		made->comms[i].elapse_ns = (ops[i][1] - ops[i][0]) * US;
	}
	for (size_t k = 0; k < n_kernels; k++) {
		assert_int_equal(fsl_exposed_add_kernel(&made->kernels, kernels[k][0] * US,
							kernels[k][1] * US, NULL),
				 0);
	}
	assert_int_equal(fsl_exposed_tell(&made->rank, &made->kernels, NULL), 0);
	assert_true(made->rank.tells_exposed);
	fsl_spans_fini(&made->kernels);
}

static void kernels_hide_an_operator(void **state)
{
	(void)state;
	struct made made;
	const int64_t ops[][2] = {{100, 900}, {1000, 1500}};
	const int64_t kernels[][2] = {{0, 700}, {900, 1200}, {1500, 1600}};
	make(&made, ops, 2, kernels, 3);
	assert_int_equal(made.comms[0].exposed_ns, 200 * US);
	assert_int_equal(made.comms[1].exposed_ns, 300 * US);
}

static void kernels_that_overlap_count_once(void **state)
{
	(void)state;
	struct made made;
	const int64_t ops[][2] = {{100, 900}};
	const int64_t kernels[][2] = {{0, 300}, {200, 600}, {250, 400}, {900, 950}};
	make(&made, ops, 1, kernels, 4);
	assert_int_equal(made.comms[0].exposed_ns, 300 * US);
}

/* Kernels wait for the gather; the scatter runs beside it, and ends sooner or goes on. */
static void a_stretch_is_of_the_operator_that_ends_it(void **state)
{
	(void)state;
	struct made made;
	const int64_t ops[][2] = {{100, 800}, {300, 600}, {400, 1300}};
	const int64_t kernels[][2] = {{0, 200}, {800, 1000}};
	make(&made, ops, 3, kernels, 2);
	assert_int_equal(made.comms[0].exposed_ns, 600 * US);
	assert_int_equal(made.comms[1].exposed_ns, 0);
	assert_int_equal(made.comms[2].exposed_ns, 300 * US);
}

/* The host launched the second kernel late: no operator had to end before. */
static void a_stretch_that_ends_alone_waited_for_nobody(void **state)
{
	(void)state;
	struct made made;
	const int64_t ops[][2] = {{100, 2000}};
	const int64_t kernels[][2] = {{0, 200}, {500, 2100}};
	make(&made, ops, 1, kernels, 2);
	assert_int_equal(made.comms[0].exposed_ns, 0);
}

static void an_end_may_be_told_some_us_late(void **state)
{
	(void)state;
	struct made made;
	const int64_t ops[][2] = {{100, 510}};
	const int64_t kernels[][2] = {{0, 200}, {500, 700}};
	make(&made, ops, 1, kernels, 2);
	assert_int_equal(made.comms[0].exposed_ns, 300 * US);
}

static void without_kernels_all_is_exposed(void **state)
{
	(void)state;
	struct made made;
	const int64_t ops[][2] = {{100, 500}, {600, 800}};
	make(&made, ops, 2, NULL, 0);
	assert_int_equal(made.comms[0].exposed_ns, 400 * US);
	assert_int_equal(made.comms[1].exposed_ns, 200 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_hide_an_operator),
		cmocka_unit_test(kernels_that_overlap_count_once),
		cmocka_unit_test(a_stretch_is_of_the_operator_that_ends_it),
		cmocka_unit_test(a_stretch_that_ends_alone_waited_for_nobody),
		cmocka_unit_test(an_end_may_be_told_some_us_late),
		cmocka_unit_test(without_kernels_all_is_exposed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
