/* The clock of a trace that nothing tells: found by when ranks run, unless all steps are alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/ftrace/clock_fit.h"

#define OFFSET_NS INT64_C(1700000000123456789)

static char g_path[] = "/tmp/ftrace_clockXXXXXX";

/* A trace of 60 steps in which task 100 runs for 2 ms, and its calls in the middle of these. */
static struct fsl_clock_fit fit(bool is_regular)
{
	struct fsl_clock_fit out;
	struct fsl_error err = {0};
	struct fsl_ftrace_ranks ranks = {0};
	int64_t calls_ns[60], time_us = 5000000;
	uint32_t seed = 7;
	FILE *file = fopen(g_path, "w");
	assert_non_null(file);
	(void)fputs("# tracer: nop\n", file);
	for (int i = 0; i < 60; i++) {
		int end_us = (int)time_us + 2000;
		(void)fprintf(file,
			      "          <idle>-0       [000] d..2.  %d.%06d: sched_switch: "
			      "prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> "
			      "next_comm=a next_pid=100 next_prio=120\n",
			      (int)(time_us / 1000000), (int)(time_us % 1000000));
		(void)fprintf(
			file,
			"               a-100     [000] d..2.  %d.%06d: sched_switch: prev_comm=a "
			"prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=swapper/0 "
			"next_pid=0 next_prio=120\n",
			end_us / 1000000, end_us % 1000000);
		calls_ns[i] = (time_us + 1000) * 1000 + OFFSET_NS;
		seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
		time_us += is_regular ? 20000 : 12000 + (int64_t)(seed >> 18);
	}
	assert_int_equal(fclose(file), 0);
	struct fsl_ftrace_rank *rank = fsl_ftrace_ranks_get(&ranks, 0, 100, &err);
	assert_non_null(rank);
	rank->calls_ns = calls_ns;
	rank->n_calls = 60;
	const char *path = g_path;
	assert_int_equal(fsl_ftrace_fit_clock(&out, &path, 1, &ranks, &err), FSL_OK);
	rank->calls_ns = NULL;
	fsl_ftrace_ranks_fini(&ranks);
	return out;
}

static void test_uneven_steps_tell_the_clock(void **state)
{
	(void)state;
	struct fsl_clock_fit found = fit(false);
	assert_true(found.is_found);
	assert_true(found.score > 0.99 && found.second < 0.8);
	assert_true(llabs(found.offset_ns - OFFSET_NS) < 100000);
}

static void test_a_shift_by_one_even_step_is_no_clock(void **state)
{
	(void)state;
	struct fsl_clock_fit found = fit(true);
	assert_false(found.is_found);
	assert_true(found.second >= 0.8 * found.score);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uneven_steps_tell_the_clock),
		cmocka_unit_test(test_a_shift_by_one_even_step_is_no_clock),
	};
	int file = mkstemp(g_path);
	if (file < 0) {
		return 1;
	}
	(void)close(file);
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(g_path);
	return n_failed;
}
