/* Who is charged with a slice of a CPU: pictures and sums ask the same question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/hostbound.h"

enum { RANK, HOG, KERNEL, GENTLE, OTHER_RANK, N_THREADS };
enum { UNKNOWN = FSL_SCHED_HOLDER_UNKNOWN, IDLE = FSL_SCHED_HOLDER_IDLE };

/* The hog loses the CPU more often than it gives it away; the gentle one never does. */
static struct fsl_sched_thread threads[N_THREADS] = {
	[RANK] = {.process = RANK, .rank = 0, .comm = "train", .n_involuntary = 9},
	[HOG] = {.process = HOG, .rank = -1, .comm = "hog", .n_involuntary = 9},
	[KERNEL] = {.process = KERNEL, .rank = -1, .comm = "kworker", .is_kernel = true},
	[GENTLE] = {.process = GENTLE, .rank = -1, .comm = "hog", .n_voluntary = 9},
	[OTHER_RANK] = {.process = OTHER_RANK, .rank = 1, .comm = "hog", .n_voluntary = 9},
};
static struct fsl_sched_rank ranks[] = {{.rank = 4}, {.rank = 7}};

static struct fsl_sched sched_with(uint64_t n_breaks)
{
	return (struct fsl_sched){.threads = threads,
				  .n_threads = N_THREADS,
				  .ranks = ranks,
				  .n_ranks = 2,
				  .n_switches = 100,
				  .n_breaks = n_breaks};
}

static void a_gap_counts_for_the_task_that_wants_the_cpu(void **state)
{
	static const struct {
		struct fsl_hostbound_slice slice;
		int32_t holder;
		bool is_likely;
	} cases[] = {
		{{HOG, UNKNOWN, UNKNOWN}, HOG, false},
		{{IDLE, UNKNOWN, UNKNOWN}, IDLE, false},
		{{UNKNOWN, UNKNOWN, UNKNOWN}, UNKNOWN, false},
		{{UNKNOWN, GENTLE, HOG}, HOG, true},
		{{UNKNOWN, HOG, KERNEL}, HOG, true},
		{{UNKNOWN, IDLE, RANK}, UNKNOWN, false},
		{{UNKNOWN, IDLE, GENTLE}, UNKNOWN, false},
	};
	const struct fsl_sched sched = sched_with(1);
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_likely = !cases[i].is_likely;
		assert_int_equal(fsl_hostbound_holder_of(&sched, 0, &cases[i].slice, &is_likely),
				 cases[i].holder);
		assert_int_equal(is_likely, cases[i].is_likely);
	}
}

static void a_trace_without_all_switches_is_believed_of_greedy_tasks_alone(void **state)
{
	static const struct fsl_hostbound_slice gentle = {GENTLE, UNKNOWN, UNKNOWN};
	static const struct fsl_hostbound_slice hog = {HOG, UNKNOWN, UNKNOWN};
	const struct fsl_sched whole = sched_with(2), cut = sched_with(60);
	bool is_likely = false;
	(void)state;
	assert_int_equal(fsl_hostbound_holder_of(&whole, 0, &gentle, &is_likely), GENTLE);
	assert_int_equal(fsl_hostbound_holder_of(&cut, 0, &gentle, &is_likely), UNKNOWN);
	assert_int_equal(fsl_hostbound_holder_of(&cut, 0, &hog, &is_likely), HOG);
}

static void a_holder_is_told_by_kind_and_name(void **state)
{
	static const struct fsl_hostbound_holder process = {
		.kind = FSL_HOLDER_PROCESS, .rank = -1, .name = "hog"};
	static const struct fsl_hostbound_holder rank = {
		.kind = FSL_HOLDER_RANK, .rank = 7, .name = "hog"};
	static const struct fsl_hostbound_holder own = {
		.kind = FSL_HOLDER_OWN, .rank = -1, .name = "loader"};
	const struct fsl_sched sched = sched_with(0);
	(void)state;
	assert_true(fsl_hostbound_holds(&own, &sched, 0, RANK)); /* whatever its name */
	assert_false(fsl_hostbound_holds(&own, &sched, 0, HOG));
	assert_true(fsl_hostbound_holds(&process, &sched, 0, HOG));
	assert_true(fsl_hostbound_holds(&process, &sched, 0, GENTLE));
	assert_false(fsl_hostbound_holds(&process, &sched, 0, KERNEL));
	assert_false(fsl_hostbound_holds(&process, &sched, 0, OTHER_RANK));
	assert_true(fsl_hostbound_holds(&rank, &sched, 0, OTHER_RANK));
	assert_false(fsl_hostbound_holds(&rank, &sched, 0, HOG));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_counts_for_the_task_that_wants_the_cpu),
		cmocka_unit_test(a_trace_without_all_switches_is_believed_of_greedy_tasks_alone),
		cmocka_unit_test(a_holder_is_told_by_kind_and_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
