/* Records of times off a CPU: states sum to the window, charges sum to the waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sched/records.h"

#define MS INT64_C(1000000)

static struct fsl_sched_task task(const char *name, int32_t tid)
{
	return (struct fsl_sched_task){.comm = {name, strlen(name)}, .tid = tid};
}

static void put(struct fsl_sched *sched, int32_t tid, int64_t begin_ms, int64_t end_ms,
		int64_t queue_ms, struct fsl_sched_task next)
{
	const struct fsl_sched_away away = {.task = task("python3", tid),
					    .tgid = 4711,
					    .begin_ns = begin_ms * MS,
					    .end_ns = end_ms * MS,
					    .queue_ns = queue_ms < 0 ? -1 : queue_ms * MS,
					    .next = next};
	assert_int_equal(fsl_sched_add_away(sched, &away, NULL), FSL_OK);
}

/* Times in ms by the order of the states. */
static void assert_states(const struct fsl_sched *sched, int32_t tid, int64_t run, int64_t queue,
			  int64_t sleep, int64_t unknown)
{
	const struct fsl_sched_thread *thread = fsl_sched_find(sched, tid);
	int64_t sum_ns = 0;
	assert_non_null(thread);
	assert_int_equal(thread->in_ns[FSL_SCHED_RUN], run * MS);
	assert_int_equal(thread->in_ns[FSL_SCHED_RQ_WAKE], queue * MS);
	assert_int_equal(thread->in_ns[FSL_SCHED_SLEEP], sleep * MS);
	assert_int_equal(thread->in_ns[FSL_SCHED_UNKNOWN], unknown * MS);
	for (size_t i = 0; i < FSL_SCHED_STATES_N; i++) {
		sum_ns += thread->in_ns[i];
	}
	assert_int_equal(sum_ns, fsl_sched_lived_ns(sched, thread));
}

static int64_t charged_ns(const struct fsl_sched_pairs *pairs, int32_t holder)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; i < pairs->n_items; i++) {
		sum_ns += pairs->items[i].holder == holder ? pairs->items[i].ns : 0;
	}
	return sum_ns;
}

static void waits_lie_at_the_ends_and_are_charged(void **state)
{
	static const struct fsl_sched_step steps[] = {{7, 0, 50 * MS}, {8, 50 * MS, 200 * MS}};
	struct fsl_sched sched;
	(void)state;
	fsl_sched_init(&sched, INT64_MIN, INT64_MAX);
	assert_int_equal(fsl_sched_add_rank(&sched, 2, 4711, steps, 2, NULL), FSL_OK);
	put(&sched, 4711, 10, 60, 30, task("hog", 9));
	put(&sched, 4720, 20, 40, 5, task("swapper/0", 0));
	put(&sched, 4711, 70, 80, 0, task("other", 11));
	put(&sched, 4711, 100, 140, 15, task("hog", 9));
	put(&sched, 4711, 150, 160, -1, task("swapper/0", 0));
	assert_int_equal(fsl_sched_finish(&sched, NULL), FSL_OK);
	assert_states(&sched, 4711, 10 + 20 + 10, 45, 20 + 10 + 25, 10);
	assert_states(&sched, 4720, 0, 5, 15, 120);
	const struct fsl_sched_thread *hog = fsl_sched_find(&sched, 9);
	assert_non_null(hog);
	assert_int_equal(charged_ns(&sched.pairs, (int32_t)(hog - sched.threads)), 45 * MS);
	assert_int_equal(charged_ns(&sched.pairs, FSL_SCHED_HOLDER_UNKNOWN), 5 * MS);
	assert_int_equal(charged_ns(&sched.pairs, FSL_SCHED_HOLDER_IDLE), 0);
	/* 30 to 60 ms and 125 to 140 ms of the main thread, 35 to 40 ms of the other one. */
	assert_int_equal(sched.ranks[0].cells[0].main_ns[FSL_SCHED_RQ_WAKE], 20 * MS);
	assert_int_equal(sched.ranks[0].cells[0].in_ns[FSL_SCHED_RQ_WAKE], 25 * MS);
	assert_int_equal(sched.ranks[0].cells[1].in_ns[FSL_SCHED_RQ_WAKE], 25 * MS);
	assert_int_equal(sched.ranks[0].cells[1].longest_wait_ns, 25 * MS);
	fsl_sched_fini(&sched);
}

static void a_gap_between_records_is_no_time_of_running(void **state)
{
	struct fsl_sched sched;
	(void)state;
	fsl_sched_init(&sched, INT64_MIN, INT64_MAX);
	put(&sched, 5, 0, 10, 1, task("a", 6));
	put(&sched, 5, 1010, 1020, 2, task("a", 6));
	put(&sched, 5, 2021, 2030, 3, task("b", 7));
	put(&sched, 5, 2025, 2040, 4, task("b", 7)); /* overlaps: dropped */
	assert_int_equal(fsl_sched_finish(&sched, NULL), FSL_OK);
	assert_states(&sched, 5, 1000, 6, 9 + 8 + 6, 1001);
	assert_int_equal(fsl_sched_find(&sched, 5)->rank, -1);
	fsl_sched_fini(&sched);
}

static void without_records_there_is_no_window(void **state)
{
	struct fsl_sched sched;
	(void)state;
	fsl_sched_init(&sched, INT64_MIN, INT64_MAX);
	assert_int_equal(fsl_sched_finish(&sched, NULL), FSL_OK);
	assert_int_equal(sched.end_ns - sched.begin_ns, 0);
	fsl_sched_fini(&sched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_lie_at_the_ends_and_are_charged),
		cmocka_unit_test(a_gap_between_records_is_no_time_of_running),
		cmocka_unit_test(without_records_there_is_no_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
