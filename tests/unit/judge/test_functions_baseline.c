/* Functions beside those of an earlier capture: which grew, on all ranks or on one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "judge/functions_baseline.h"

enum { RANKS = 8, STEPS = 4, ITEMS = 3 };
static const int64_t STEP_NS = 10000000;
static const double RATIO_MIN = 0.01;

/* Ranks of STEPS steps: a kernel of 4 calls a step, a collective, a function of Python. */
struct capture {
	struct fsl_profile profile;
	struct fsl_profile_rank ranks[RANKS];
	struct fsl_functions functions[RANKS];
	struct fsl_function items[RANKS][ITEMS];
	struct fsl_profile_kernels kernels[RANKS];
};
static struct capture now, then;
static struct fsl_functions_baseline found;

static void set(struct fsl_function *function, int64_t step_ns)
{
	function->total_ns = function->wall_ns = function->exclusive_ns = STEPS * step_ns;
	function->mean_ns = (double)function->total_ns / (double)function->count;
}

static void begin(struct capture *capture)
{
	static const struct fsl_function items[ITEMS] = {
		{.class = FSL_FUNCTION_COMPUTE, .name = "gemm", .shape = "8_1_1|256_1_1"},
		{.class = FSL_FUNCTION_COLLECTIVE, .name = "ncclAllReduce", .shape = ""},
		{.class = FSL_FUNCTION_PYTHON, .name = "a.py: step|b.py: next", .shape = ""},
	};
	memset(capture, 0, sizeof(*capture));
	capture->profile = (struct fsl_profile){.ranks = capture->ranks, .n_ranks = RANKS};
	for (size_t r = 0; r < RANKS; r++) {
		struct fsl_profile_rank *rank = &capture->ranks[r];
		rank->rank = (int32_t)r;
		rank->functions = &capture->functions[r];
		rank->trace.n_ranges = STEPS;
		capture->functions[r] = (struct fsl_functions){
			.window_ns = STEPS * STEP_NS, .items = capture->items[r], .n_items = ITEMS};
		for (size_t i = 0; i < ITEMS; i++) {
			capture->items[r][i] = items[i];
			capture->items[r][i].count = 4 * STEPS;
			set(&capture->items[r][i], i == 0 ? 6000000 : 1000000);
		}
		rank->names = fsl_strpool_create();
		assert_non_null(rank->names);
		capture->kernels[r] = (struct fsl_profile_kernels){
			.count = 4, .total_ns = 6000000, .shape_id = FSL_STR_NONE};
		assert_int_equal(fsl_strpool_intern(rank->names, "gemm", 4,
						    &capture->kernels[r].type_id, NULL),
				 FSL_OK);
		rank->kernels = &capture->kernels[r];
		rank->n_kernels = 1;
	}
}

static int set_up(void **state)
{
	(void)state;
	begin(&now);
	begin(&then);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		fsl_strpool_destroy(now.ranks[r].names);
		fsl_strpool_destroy(then.ranks[r].names);
	}
	return 0;
}

static void compare(void)
{
	assert_int_equal(fsl_functions_compare_baseline(&found, &now.profile, &then.profile,
							RATIO_MIN, NULL),
			 FSL_OK);
}

static void equal_captures_grow_in_nothing(void **state)
{
	(void)state;
	compare();
	assert_int_equal(found.n_items, 0);
	assert_int_equal(found.n_ranks, RANKS);
	assert_float_equal((float)found.window_now_ns, 1e7f, 1.0f);
}

static void a_function_that_takes_longer_on_all_ranks_grew(void **state)
{
	(void)state;
	for (int times = 2; times <= 3; times++) {
		for (size_t r = 0; r < RANKS; r++) {
			set(&now.items[r][2], times * 1000000);
		}
		compare();
		assert_int_equal(found.n_items, 1);
		assert_string_equal(found.items[0].name, "a.py: step|b.py: next");
		assert_float_equal((float)found.items[0].now_ns, (float)times * 1e6f, 1.0f);
		assert_float_equal((float)found.items[0].now_call_ns, (float)times * 2.5e5f, 1.0f);
		assert_false(found.items[0].is_of_one);
	}
}

static void steps_are_compared_whatever_their_number(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		then.ranks[r].trace.n_ranges = 2 * STEPS;
		then.functions[r].window_ns *= 2;
		for (size_t i = 0; i < ITEMS; i++) {
			then.items[r][i].exclusive_ns *= 2;
			then.items[r][i].total_ns *= 2;
			then.items[r][i].count *= 2;
		}
	}
	compare();
	assert_true(found.is_per_step);
	assert_int_equal(found.n_items, 0);
}

static void without_steps_traces_of_one_length_are_compared(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		then.ranks[r].trace.n_ranges = 0;
		then.functions[r].window_ns *= 3;
		for (size_t i = 0; i < ITEMS; i++) {
			then.items[r][i].exclusive_ns *= 3;
		}
		set(&now.items[r][0], 7000000);
	}
	compare();
	assert_false(found.is_per_step);
	assert_int_equal(found.n_items, 1);
	assert_string_equal(found.items[0].name, "gemm");
}

static void a_function_that_grew_on_one_rank_is_told_with_it(void **state)
{
	(void)state;
	set(&now.items[5][0], 6700000);
	compare();
	assert_int_equal(found.n_items, 1);
	assert_true(found.items[0].is_of_one);
	assert_int_equal(found.items[0].worst_rank, 5);
	set(&now.items[5][0], 6500000); /* less than a tenth of its own time */
	set(&now.items[5][2], 1400000); /* 4 % of a step are less than 5 */
	compare();
	assert_int_equal(found.n_items, 0);
}

static void waiting_for_a_rank_is_no_growth_of_the_collective(void **state)
{
	(void)state;
	set(&now.items[2][2], 4000000);
	for (size_t r = 0; r < RANKS; r++) {
		set(&now.items[r][1], r == 2 ? 1000000 : 4000000);
	}
	compare();
	assert_int_equal(found.n_items, 1);
	assert_int_equal(found.items[0].class, FSL_FUNCTION_PYTHON);
	for (size_t r = 0; r < RANKS; r++) {
		set(&now.items[r][1], 5000000);
	}
	compare();
	assert_int_equal(found.n_items, 2);
	assert_int_equal(found.items[0].class, FSL_FUNCTION_COLLECTIVE);
}

static void a_new_function_grew_from_nothing(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		then.functions[r].n_items = 2;
	}
	compare();
	assert_int_equal(found.n_items, 1);
	assert_true(found.items[0].then_calls <= 0.0);
}

static void another_model_is_refused(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		assert_int_equal(fsl_strpool_intern(now.ranks[r].names, "conv", 4,
						    &now.kernels[r].type_id, NULL),
				 FSL_OK);
		set(&now.items[r][2], 9000000);
	}
	compare();
	assert_true(found.is_other_model);
	assert_int_equal(found.n_items, 0);
}

static void ranks_of_one_capture_are_counted(void **state)
{
	(void)state;
	then.ranks[0].rank = 100;
	now.ranks[1].functions = NULL;
	compare();
	assert_int_equal(found.n_ranks, RANKS - 2);
	assert_int_equal(found.n_unpaired, 3);
	then.profile.n_ranks = 1;
	compare();
	assert_int_equal(found.n_ranks, 0);
	assert_int_equal(found.n_items, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(equal_captures_grow_in_nothing),
		CASE(a_function_that_takes_longer_on_all_ranks_grew),
		CASE(steps_are_compared_whatever_their_number),
		CASE(without_steps_traces_of_one_length_are_compared),
		CASE(a_function_that_grew_on_one_rank_is_told_with_it),
		CASE(waiting_for_a_rank_is_no_growth_of_the_collective),
		CASE(a_new_function_grew_from_nothing),
		CASE(another_model_is_refused),
		CASE(ranks_of_one_capture_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
