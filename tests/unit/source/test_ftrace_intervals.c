/* Intervals of a kernel trace: who held CPUs, states of threads, interrupts, who woke whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/ftrace/intervals.h"

#define US INT64_C(1000)

static char path[64];

/* Lines behind "[cpu] flags time: ". */
static void write_trace(const char *text)
{
	(void)snprintf(path, sizeof(path), "/tmp/intervals-XXXXXX");
	int file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	assert_int_equal(close(file), 0);
}

static enum fsl_status read_intervals(struct fsl_ftrace_intervals *out, int64_t from_ns,
				      int64_t to_ns)
{
	static struct fsl_ftrace_ranks ranks;
	struct fsl_sched sched;
	struct fsl_ftrace_loaded loaded;
	const char *const paths[] = {path};
	fsl_sched_init(&sched, INT64_MIN, INT64_MAX);
	assert_int_equal(fsl_ftrace_load(&sched, &ranks, paths, 1, &loaded, NULL), FSL_OK);
	*out = (struct fsl_ftrace_intervals){.from_ns = from_ns, .to_ns = to_ns};
	enum fsl_status status = fsl_ftrace_intervals_read(out, &ranks, paths, 1, &loaded,
							   INT64_MIN, INT64_MAX, NULL);
	fsl_sched_fini(&sched);
	assert_int_equal(unlink(path), 0);
	return status;
}

static void assert_interval(const struct fsl_ftrace_intervals *all,
			    const struct fsl_ftrace_list *list, size_t i, int64_t begin_us,
			    int64_t end_us, int32_t cpu, const char *name)
{
	const struct fsl_ftrace_interval *interval = &list->items[i];
	assert_true(i < list->n_items);
	assert_int_equal(interval->begin_ns, begin_us * US);
	assert_int_equal(interval->end_ns, end_us * US);
	assert_int_equal(interval->cpu, cpu);
	if (name != NULL) {
		assert_string_equal(fsl_strpool_text(all->names, interval->name_id), name);
	}
}

/* Rank 4711 on CPU 1: woken by CPU 0 at 110, runs from 130 to 200, loses the CPU to the hog, comes
 * back at 350. */
static const char two_cpus[] =
	"          <idle>-0       [001] d..2.     0.000100: sched_switch: prev_comm=swapper/1 "
	"prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=hog next_pid=9 next_prio=120\n"
	"            main-5       [000] d..2.     0.000101: sched_switch: prev_comm=swapper/0 "
	"prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=main next_pid=5 next_prio=120\n"
	"            main-5       [000] d..2.     0.000108: sched_waking: comm=rank pid=4711 prio=120 "
	"target_cpu=001\n"
	"             hog-9       [001] dNh2.     0.000110: sched_wakeup: comm=rank pid=4711 prio=120 "
	"target_cpu=001\n"
	"             hog-9       [001] d..2.     0.000130: sched_switch: prev_comm=hog prev_pid=9 "
	"prev_prio=120 prev_state=R ==> next_comm=rank next_pid=4711 next_prio=120\n"
	"            rank-4711    [001] d.h..     0.000150: irq_handler_entry: irq=24 name=virtio0\n"
	"            rank-4711    [001] d.h..     0.000155: irq_handler_exit: irq=24 ret=handled\n"
	"            rank-4711    [001] ..s..     0.000156: softirq_entry: vec=9 [action=RCU]\n"
	"            rank-4711    [001] ..s..     0.000158: softirq_exit: vec=9 [action=RCU]\n"
	"            rank-4711    [001] d..2.     0.000200: sched_switch: prev_comm=rank prev_pid=4711 "
	"prev_prio=120 prev_state=R ==> next_comm=hog next_pid=9 next_prio=120\n"
	"             hog-9       [001] d..2.     0.000350: sched_switch: prev_comm=hog prev_pid=9 "
	"prev_prio=120 prev_state=S ==> next_comm=rank next_pid=4711 next_prio=120\n"
	"            main-5       [000] d..2.     0.000400: sched_switch: prev_comm=main prev_pid=5 "
	"prev_prio=120 prev_state=D ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";

static void cpus_are_held_and_idle_times_left_out(void **state)
{
	struct fsl_ftrace_intervals all;
	(void)state;
	write_trace(two_cpus);
	assert_int_equal(read_intervals(&all, INT64_MIN, INT64_MAX), FSL_OK);
	assert_int_equal(all.held.n_items, 5);
	assert_interval(&all, &all.held, 0, 100, 130, 1, "hog");
	assert_interval(&all, &all.held, 1, 130, 200, 1, "rank");
	assert_interval(&all, &all.held, 2, 200, 350, 1, "hog");
	assert_interval(&all, &all.held, 3, 101, 400, 0, "main");
	assert_interval(&all, &all.held, 4, 350, 400, 1, "rank");
	assert_int_equal(all.interrupts.n_items, 2);
	assert_interval(&all, &all.interrupts, 0, 150, 155, 1, "irq 24 virtio0");
	assert_interval(&all, &all.interrupts, 1, 156, 158, 1, "softirq 9 RCU");
	fsl_ftrace_intervals_fini(&all);
}

static void states_of_a_thread_follow_each_other(void **state)
{
	static const struct {
		int64_t begin_us, end_us;
		int state;
		uint32_t wake;
	} wanted[] = {
		{110, 130, FSL_SCHED_RQ_WAKE, 1},
		{130, 200, FSL_SCHED_RUN, 0},
		{200, 350, FSL_SCHED_RQ_PREEMPT, 0},
		{350, 400, FSL_SCHED_RUN, 0},
	};
	struct fsl_ftrace_intervals all;
	size_t n = 0;
	(void)state;
	write_trace(two_cpus);
	assert_int_equal(read_intervals(&all, INT64_MIN, INT64_MAX), FSL_OK);
	for (size_t i = 0; i < all.states.n_items; i++) {
		const struct fsl_ftrace_interval *interval = &all.states.items[i];
		if (all.sched.threads[interval->thread].tid != 4711 ||
		    interval->state == FSL_SCHED_UNKNOWN) {
			continue;
		}
		assert_true(n < 4);
		assert_interval(&all, &all.states, i, wanted[n].begin_us, wanted[n].end_us, 1,
				NULL);
		assert_int_equal(interval->state, wanted[n].state);
		assert_int_equal(interval->wake, wanted[n].wake);
		n++;
	}
	assert_int_equal(n, 4);
	/* From the begin on the CPU of the waker to the end on that of the woken thread. */
	assert_int_equal(all.wakes.n_items, 1);
	assert_interval(&all, &all.wakes, 0, 108, 110, 0, "rank");
	fsl_ftrace_intervals_fini(&all);
}

static void a_range_leaves_other_intervals_out(void **state)
{
	struct fsl_ftrace_intervals all;
	(void)state;
	write_trace(two_cpus);
	assert_int_equal(read_intervals(&all, 140 * US, 300 * US), FSL_OK);
	assert_int_equal(all.held.n_items, 1);
	assert_interval(&all, &all.held, 0, 130, 200, 1, "rank");
	assert_int_equal(all.interrupts.n_items, 2);
	assert_int_equal(all.wakes.n_items, 0);
	for (size_t i = 0; i < all.states.n_items; i++) {
		assert_int_equal(all.states.items[i].wake, 0);
	}
	fsl_ftrace_intervals_fini(&all);
}

/* An interrupt whose begin was lost, and one that never ends. */
static void halves_of_interrupts_are_left_out(void **state)
{
	struct fsl_ftrace_intervals all;
	(void)state;
	write_trace("  a-7    [002] d.h..  1.000001: irq_handler_exit: irq=3 ret=handled\n"
		    "  a-7    [002] d.h..  1.000002: irq_handler_entry: irq=5 name=x\n"
		    "  a-7    [002] d.h..  1.000003: irq_handler_exit: irq=6 ret=handled\n"
		    "  a-7    [002] ..s..  1.000004: softirq_entry: vec=1 [action=TIMER]\n"
		    "  a-7    [002] d.h..  1.000005: irq_handler_entry: irq=5 name=x\n"
		    "  a-7    [002] d.h..  1.000007: irq_handler_exit: irq=5 ret=handled\n"
		    "  a-7    [002] ..s..  1.000009: softirq_exit: vec=1 [action=TIMER]\n"
		    "  a-7    [002] ..s..  1.000010: softirq_entry: vec=1 [action=TIMER]\n");
	assert_int_equal(read_intervals(&all, INT64_MIN, INT64_MAX), FSL_OK);
	assert_int_equal(all.interrupts.n_items, 2);
	assert_interval(&all, &all.interrupts, 0, 1000005, 1000007, 2, "irq 5 x");
	assert_interval(&all, &all.interrupts, 1, 1000004, 1000009, 2, "softirq 1 TIMER");
	fsl_ftrace_intervals_fini(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_are_held_and_idle_times_left_out),
		cmocka_unit_test(states_of_a_thread_follow_each_other),
		cmocka_unit_test(a_range_leaves_other_intervals_out),
		cmocka_unit_test(halves_of_interrupts_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
