/* Threads are started for all regions, and may run wherever the program may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>
#include <sched.h>

#include "engine/threads.h"

enum { THREADS_MAX = 8 };

static void test_regions_have_as_many_threads_as_were_asked_for(void **state)
{
	(void)state;
	for (int n = THREADS_MAX; n >= 1; n /= 2) {
		int n_seen = 0;
		fsl_threads_start(n);
#pragma omp parallel reduction(+ : n_seen)
		n_seen += 1;
		assert_int_equal(n_seen, n);
	}
}

static void test_threads_may_use_the_processors_that_they_could_use_before(void **state)
{
	(void)state;
	cpu_set_t before;
	int n_same = 0;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	fsl_threads_start(THREADS_MAX);
#pragma omp parallel reduction(+ : n_same)
	{
		cpu_set_t now;
		CPU_ZERO(&now);
		(void)sched_getaffinity(0, sizeof(now), &now);
		n_same += CPU_EQUAL(&before, &now) ? 1 : 0;
	}
	assert_int_equal(n_same, THREADS_MAX);
}

static void test_a_program_bound_to_one_processor_keeps_its_threads_there(void **state)
{
	(void)state;
	cpu_set_t before, one;
	int n_there = 0, n_freed = 0, cpu = sched_getcpu();
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	fsl_threads_start(2);
#pragma omp parallel reduction(+ : n_there)
	n_there += sched_getcpu() == cpu ? 1 : 0;
	/* For each thread: those that stay for the tests that follow would stay where they are. */
#pragma omp parallel reduction(+ : n_freed)
	n_freed += sched_setaffinity(0, sizeof(before), &before) == 0 ? 1 : 0;
	assert_int_equal(n_there, 2);
	assert_int_equal(n_freed, 2);
}

static void test_little_input_is_worth_one_thread_and_much_all_of_them(void **state)
{
	(void)state;
	const uint64_t enough = UINT64_C(1) << 24;
	assert_int_equal(fsl_threads_worth(8, 0), 1);
	assert_int_equal(fsl_threads_worth(8, enough - 1), 1);
	assert_int_equal(fsl_threads_worth(8, enough), 2);
	assert_int_equal(fsl_threads_worth(8, 6 * enough), 7);
	assert_int_equal(fsl_threads_worth(8, 8 * enough), 8);
	assert_int_equal(fsl_threads_worth(8, UINT64_MAX), 8);
	assert_int_equal(fsl_threads_worth(1, UINT64_MAX), 1);
}

/* A run that finds that it has to read everything after all starts again. */
static void test_threads_grow_with_the_work(void **state)
{
	(void)state;
	fsl_threads_start(1);
	assert_int_equal(fsl_threads_most(), 1);
	fsl_threads_start(THREADS_MAX);
	assert_int_equal(fsl_threads_most(), THREADS_MAX);
	fsl_threads_start(0); /* as before */
	assert_int_equal(fsl_threads_most(), THREADS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* The first: a thread that is there already is not bound to the processor. */
		cmocka_unit_test(test_a_program_bound_to_one_processor_keeps_its_threads_there),
		cmocka_unit_test(test_threads_grow_with_the_work),
		cmocka_unit_test(test_little_input_is_worth_one_thread_and_much_all_of_them),
		cmocka_unit_test(test_regions_have_as_many_threads_as_were_asked_for),
		cmocka_unit_test(test_threads_may_use_the_processors_that_they_could_use_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
