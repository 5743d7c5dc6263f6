/* States of threads, holders of CPUs, gaps in chains, losses, interrupts, latencies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/sched.h"

static struct fsl_sched g_sched;

static int setup(void **state)
{
	(void)state;
	fsl_sched_init(&g_sched, INT64_MIN, INT64_MAX);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fsl_sched_fini(&g_sched);
	return 0;
}

static struct fsl_sched_task task(int32_t tid)
{
	static char names[32][8];
	char *name = names[tid % 32];
	(void)snprintf(name, sizeof(names[0]), "t%d", (int)tid);
	return (struct fsl_sched_task){{name, strlen(name)}, tid};
}

static void feed(const struct fsl_sched_event *event)
{
	struct fsl_error err = {0};
	assert_int_equal(fsl_sched_feed(&g_sched, event, &err), FSL_OK);
}

static struct fsl_sched_event event_of(enum fsl_sched_kind kind, int64_t time_ns, int32_t cpu,
				       int32_t tid)
{
	return (struct fsl_sched_event){.kind = kind,
					.time_ns = time_ns,
					.cpu = cpu,
					.tid = tid,
					.tgid = FSL_SCHED_ID_NONE,
					.comm = task(tid).comm,
					.task = task(tid),
					.to_cpu = FSL_SCHED_ID_NONE,
					.value = 1,
					.text = {"", 0}};
}

/* @prev leaves the CPU for @next; 0: idle. */
static void switch_to(int64_t time_ns, int32_t cpu, int32_t prev, char state, int32_t next)
{
	struct fsl_sched_event event = event_of(FSL_SCHED_SWITCH, time_ns, cpu, prev);
	event.state = state;
	event.other = task(next);
	feed(&event);
}

static void wake_up(int64_t time_ns, int32_t by_cpu, int32_t by, int32_t tid, int32_t to_cpu)
{
	struct fsl_sched_event event = event_of(FSL_SCHED_WAKEUP, time_ns, by_cpu, by);
	event.task = task(tid);
	event.to_cpu = to_cpu;
	feed(&event);
}

static void finish(void)
{
	struct fsl_error err = {0};
	assert_int_equal(fsl_sched_finish(&g_sched, &err), FSL_OK);
}

/* An event at the end, so that the window ends there. */
static void end_at(int64_t time_ns, int32_t cpu, int32_t tid)
{
	struct fsl_sched_event event = event_of(FSL_SCHED_OTHER, time_ns, cpu, tid);
	feed(&event);
	finish();
}

static int64_t in_state(int32_t tid, enum fsl_sched_state state)
{
	const struct fsl_sched_thread *thread = fsl_sched_find(&g_sched, tid);
	assert_non_null(thread);
	return thread->in_ns[state];
}

/* Time that thread @victim waited while @holder had the CPU; a thread's id, or -1, -2. */
static int64_t held_by(int32_t victim, int32_t holder)
{
	const struct fsl_sched_thread *own = fsl_sched_find(&g_sched, victim);
	const struct fsl_sched_thread *other = holder > 0 ? fsl_sched_find(&g_sched, holder) : NULL;
	int32_t wanted = other != NULL ? (int32_t)(other - g_sched.threads) : holder;
	for (size_t i = 0; i < g_sched.pairs.n_items; i++) {
		if (g_sched.pairs.items[i].victim == own - g_sched.threads &&
		    g_sched.pairs.items[i].holder == wanted) {
			return g_sched.pairs.items[i].ns;
		}
	}
	return 0;
}

/* Invariants of every trace: states sum to the window, charges to the waits, CPUs hold one. */
static void check_sums(void)
{
	int64_t run_ns = 0, busy_ns = 0;
	int64_t *charged_ns = calloc(g_sched.n_threads + 1, sizeof(*charged_ns));
	assert_non_null(charged_ns);
	for (size_t i = 0; i < g_sched.pairs.n_items; i++) {
		charged_ns[g_sched.pairs.items[i].victim] += g_sched.pairs.items[i].ns;
	}
	for (size_t t = 0; t < g_sched.n_threads; t++) {
		const struct fsl_sched_thread *thread = &g_sched.threads[t];
		int64_t sum_ns = 0;
		for (size_t i = 0; i < FSL_SCHED_STATES_N; i++) {
			assert_true(thread->in_ns[i] >= 0);
			sum_ns += thread->in_ns[i];
		}
		assert_true(sum_ns == fsl_sched_lived_ns(&g_sched, thread));
		assert_true(charged_ns[t] == fsl_sched_waited_ns(thread->in_ns));
		run_ns += thread->in_ns[FSL_SCHED_RUN];
	}
	free(charged_ns);
	for (size_t c = 0; c < g_sched.n_cpus; c++) {
		const struct fsl_sched_cpu *cpu = &g_sched.cpus[c];
		int64_t begin_ns =
			cpu->first_ns > g_sched.begin_ns ? cpu->first_ns : g_sched.begin_ns;
		int64_t sum_ns = cpu->busy_ns + cpu->idle_ns + cpu->unknown_ns;
		busy_ns += cpu->busy_ns;
		assert_true(!cpu->is_seen || begin_ns > g_sched.end_ns ||
			    sum_ns == g_sched.end_ns - begin_ns);
	}
	assert_true(run_ns == busy_ns);
}

static void test_states_of_a_thread_follow_its_events(void **state)
{
	(void)state;
	switch_to(100, 0, 1, 'S', 2); /* 1 sleeps, 2 runs */
	wake_up(130, 0, 2, 1, 0);
	wake_up(140, 0, 2, 1, 0);     /* again: no new clock */
	switch_to(150, 0, 2, 'R', 1); /* 2 is preempted */
	switch_to(170, 0, 1, 'D', 2);
	end_at(200, 0, 2);
	assert_int_equal(in_state(1, FSL_SCHED_SLEEP), 30);
	assert_int_equal(in_state(1, FSL_SCHED_RQ_WAKE), 20);
	assert_int_equal(in_state(1, FSL_SCHED_RUN), 20);
	assert_int_equal(in_state(1, FSL_SCHED_DISK), 30);
	assert_int_equal(in_state(2, FSL_SCHED_RUN), 50 + 30);
	assert_int_equal(in_state(2, FSL_SCHED_RQ_PREEMPT), 20);
	assert_int_equal(fsl_sched_find(&g_sched, 1)->wake->max_ns, 20);
	assert_int_equal(fsl_sched_find(&g_sched, 2)->n_involuntary, 1);
	check_sums();
}

static void test_waits_are_charged_to_every_holder_by_overlap(void **state)
{
	(void)state;
	switch_to(100, 0, 9, 'S', 2);
	wake_up(110, 1, 5, 1, 0); /* 1 waits for CPU 0 */
	switch_to(125, 0, 2, 'S', 3);
	switch_to(160, 0, 3, 'S', 0); /* idle although 1 waits */
	switch_to(164, 0, 0, 'R', 1);
	end_at(200, 0, 1);
	assert_int_equal(held_by(1, 2), 15);
	assert_int_equal(held_by(1, 3), 35);
	assert_int_equal(held_by(1, FSL_SCHED_HOLDER_IDLE), 4);
	assert_int_equal(in_state(1, FSL_SCHED_RQ_WAKE), 54);
	check_sums();
}

static void test_a_migration_takes_the_wait_to_another_cpu(void **state)
{
	struct fsl_sched_event event = event_of(FSL_SCHED_MIGRATE, 120, 1, 5);
	(void)state;
	switch_to(100, 0, 9, 'S', 2);
	switch_to(100, 1, 9, 'S', 5);
	wake_up(110, 1, 5, 1, 0);
	event.task = task(1);
	event.to_cpu = 1;
	feed(&event);
	switch_to(150, 1, 5, 'S', 1);
	switch_to(190, 0, 2, 'S', 0);
	end_at(200, 1, 1);
	assert_int_equal(held_by(1, 2), 10);
	assert_int_equal(held_by(1, 5), 30);
	assert_int_equal(fsl_sched_find(&g_sched, 1)->n_migrations, 1);
	check_sums();
}

static void test_a_broken_chain_is_unknown_for_both_tasks(void **state)
{
	(void)state;
	switch_to(100, 0, 9, 'S', 2);
	wake_up(120, 1, 5, 1, 0);
	switch_to(160, 0, 3, 'S', 1); /* 2 came, 3 leaves */
	end_at(200, 0, 1);
	assert_int_equal(in_state(2, FSL_SCHED_RUN), 0);
	assert_int_equal(in_state(2, FSL_SCHED_UNKNOWN), 100);
	assert_int_equal(in_state(3, FSL_SCHED_UNKNOWN), 0); /* it was first seen at 160 */
	assert_int_equal(held_by(1, FSL_SCHED_HOLDER_UNKNOWN), 40);
	assert_int_equal(g_sched.n_breaks, 1);
	check_sums();
}

static void test_a_line_of_a_task_ends_idle_time_that_no_switch_ends(void **state)
{
	(void)state;
	switch_to(100, 0, 9, 'S', 0);
	wake_up(130, 0, 0, 1, 0); /* by an interrupt of the idle task */
	wake_up(135, 0, 1, 3, 0); /* 1 runs by then */
	switch_to(160, 0, 1, 'R', 3);
	switch_to(190, 0, 3, 'S', 1);
	end_at(200, 0, 1);
	assert_int_equal(in_state(1, FSL_SCHED_RQ_WAKE), 0); /* idle time gave way at once */
	assert_int_equal(in_state(1, FSL_SCHED_RUN), 40);
	assert_int_equal(in_state(1, FSL_SCHED_RQ_PREEMPT), 30);
	assert_int_equal(held_by(1, 3), 30);
	assert_int_equal(held_by(1, FSL_SCHED_HOLDER_UNKNOWN), 0);
	assert_int_equal(g_sched.cpus[0].idle_ns, 30);
	check_sums();
}

/* Moves a task that waits. */
static void move_to(int64_t time_ns, int32_t by_cpu, int32_t tid, int32_t to_cpu)
{
	struct fsl_sched_event event = event_of(FSL_SCHED_MIGRATE, time_ns, by_cpu, 0);
	event.task = task(tid);
	event.to_cpu = to_cpu;
	feed(&event);
}

static void test_a_task_that_joins_an_idle_cpu_runs_from_then_on(void **state)
{
	(void)state;
	switch_to(100, 0, 9, 'S', 0);
	switch_to(105, 1, 1, 'R', 3);
	move_to(120, 1, 1, 0); /* from CPU 1, on which 3 runs */
	switch_to(180, 0, 1, 'S', 0);
	end_at(200, 0, 0);
	assert_int_equal(in_state(1, FSL_SCHED_RQ_PREEMPT), 15);
	assert_int_equal(in_state(1, FSL_SCHED_RUN), 60);
	assert_int_equal(held_by(1, 3), 15);
	check_sums();
}

static void test_a_task_that_idle_time_does_not_take_came_with_its_line(void **state)
{
	(void)state;
	switch_to(90, 0, 9, 'S', 1);
	switch_to(100, 0, 1, 'R', 0); /* a quota took it */
	wake_up(160, 0, 1, 3, 1);     /* it runs again by then */
	end_at(200, 0, 1);
	assert_int_equal(in_state(1, FSL_SCHED_RQ_PREEMPT), 60);
	assert_int_equal(in_state(1, FSL_SCHED_RUN), 10 + 40);
	assert_int_equal(held_by(1, FSL_SCHED_HOLDER_QUOTA), 60);
	check_sums();
}

/* Feeds what sched_stat_runtime tells of the task that runs. */
static void ran_for(int64_t time_ns, int32_t cpu, int32_t tid, int64_t ns)
{
	struct fsl_sched_event event = event_of(FSL_SCHED_RUNTIME, time_ns, cpu, tid);
	event.value = ns;
	feed(&event);
}

static void test_runtime_tells_when_a_task_came_behind_idle_time(void **state)
{
	(void)state;
	switch_to(90, 0, 1, 'S', 0);
	ran_for(160, 0, 1, 45);
	switch_to(170, 0, 1, 'S', 0);
	end_at(200, 0, 0);
	assert_int_equal(in_state(1, FSL_SCHED_RUN), 55);
	assert_int_equal(in_state(1, FSL_SCHED_SLEEP), 25 + 30);
	assert_int_equal(g_sched.cpus[0].busy_ns, 55);
	check_sums();
}

static void test_runtime_from_before_the_last_line_of_a_cpu_counts_from_there(void **state)
{
	(void)state;
	switch_to(90, 0, 1, 'S', 0);
	wake_up(140, 0, 0, 7, 1); /* by the idle task, so that 1 did not run */
	ran_for(160, 0, 1, 45);
	end_at(200, 0, 1);
	assert_int_equal(in_state(1, FSL_SCHED_RUN), 60);
	assert_int_equal(in_state(1, FSL_SCHED_SLEEP), 50);
	check_sums();
}

static void test_a_switch_alone_tells_little_of_who_came_behind_idle_time(void **state)
{
	(void)state;
	switch_to(100, 0, 9, 'S', 0);
	switch_to(180, 0, 4, 'S', 5);
	end_at(200, 0, 5);
	assert_int_equal(in_state(4, FSL_SCHED_RUN), 0);
	assert_int_equal(in_state(5, FSL_SCHED_RUN), 20);
	assert_int_equal(g_sched.cpus[0].unknown_ns, 80);
	check_sums();
}

static void test_a_task_seen_elsewhere_ends_its_slice_as_unknown(void **state)
{
	(void)state;
	switch_to(100, 0, 9, 'S', 2);
	switch_to(110, 1, 8, 'S', 0);
	switch_to(150, 1, 0, 'R', 2); /* it left CPU 0 unseen */
	end_at(200, 1, 2);
	assert_int_equal(in_state(2, FSL_SCHED_UNKNOWN), 50);
	assert_int_equal(in_state(2, FSL_SCHED_RUN), 50);
	check_sums();
}

static void test_a_loss_is_unknown_from_the_last_event_of_the_cpu(void **state)
{
	struct fsl_sched_event lost = event_of(FSL_SCHED_LOST, 0, 0, 0);
	(void)state;
	switch_to(100, 0, 9, 'S', 2);
	wake_up(120, 0, 2, 1, 0);
	feed(&lost);
	switch_to(160, 0, 3, 'S', 1);
	end_at(200, 0, 1);
	assert_int_equal(in_state(2, FSL_SCHED_RUN), 20);
	assert_int_equal(in_state(2, FSL_SCHED_UNKNOWN), 80);
	assert_int_equal(in_state(1, FSL_SCHED_RQ_WAKE), 0);
	assert_int_equal(in_state(1, FSL_SCHED_UNKNOWN), 40);
	check_sums();
}

static void test_times_outside_the_window_do_not_count(void **state)
{
	(void)state;
	fsl_sched_init(&g_sched, 130, 180);
	switch_to(100, 0, 9, 'S', 2);
	wake_up(110, 0, 2, 1, 0);
	switch_to(150, 0, 2, 'S', 1);
	end_at(200, 0, 1);
	assert_int_equal(in_state(2, FSL_SCHED_RUN), 20);
	assert_int_equal(in_state(1, FSL_SCHED_RQ_WAKE), 20);
	assert_int_equal(in_state(1, FSL_SCHED_RUN), 30);
	assert_null(fsl_sched_find(&g_sched, 1)->wake); /* the window cuts the only one */
	check_sums();
}

static void test_threads_of_a_rank_come_with_forks_and_go_with_programs(void **state)
{
	struct fsl_error err = {0};
	struct fsl_sched_event event = event_of(FSL_SCHED_FORK, 110, 0, 7);
	(void)state;
	assert_int_equal(fsl_sched_add_rank(&g_sched, 3, 7, NULL, 0, &err), FSL_OK);
	switch_to(100, 0, 9, 'S', 7);
	event.other = task(8);
	feed(&event);
	event.other = task(10);
	feed(&event);
	event = event_of(FSL_SCHED_EXEC, 120, 0, 10);
	feed(&event);
	end_at(200, 0, 10);
	assert_true(fsl_sched_find(&g_sched, 7)->is_main);
	assert_int_equal(fsl_sched_find(&g_sched, 8)->rank, 0);
	assert_int_equal(fsl_sched_find(&g_sched, 10)->rank, -1);
	assert_int_equal(fsl_sched_find(&g_sched, 8)->process,
			 fsl_sched_find(&g_sched, 7) - g_sched.threads);
	check_sums();
}

static void test_waits_are_told_by_step(void **state)
{
	static const struct fsl_sched_step steps[] = {{5, 100, 140}, {6, 140, 200}};
	struct fsl_error err = {0};
	(void)state;
	assert_int_equal(fsl_sched_add_rank(&g_sched, 3, 1, steps, 2, &err), FSL_OK);
	switch_to(100, 0, 1, 'R', 2);
	switch_to(150, 0, 2, 'S', 1);
	end_at(200, 0, 1);
	const struct fsl_sched_rank *rank = &g_sched.ranks[0];
	assert_int_equal(fsl_sched_waited_ns(rank->cells[0].in_ns), 40);
	assert_int_equal(fsl_sched_waited_ns(rank->cells[1].main_ns), 10);
	assert_int_equal(rank->cells[1].longest_wait_ns, 10);
	assert_int_equal(rank->cells[1].in_ns[FSL_SCHED_RUN], 50);
	assert_int_equal(rank->cpu_ns[0], 50);
	assert_int_equal(g_sched.step_pairs.n_items, 2);
	check_sums();
}

static void test_interrupts_count_once_and_only_from_who_ran(void **state)
{
	struct fsl_sched_event event;
	(void)state;
	switch_to(100, 0, 9, 'S', 2);
	static const struct {
		enum fsl_sched_kind kind;
		int64_t time_ns, number;
	} events[] = {{FSL_SCHED_SOFTIRQ_EXIT, 105, 1},
		      {FSL_SCHED_SOFTIRQ_ENTRY, 110, 4},
		      {FSL_SCHED_IRQ_ENTRY, 120, 36},
		      {FSL_SCHED_IRQ_EXIT, 127, 36},
		      {FSL_SCHED_SOFTIRQ_EXIT, 140, 4}};
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		event = event_of(events[i].kind, events[i].time_ns, 0, 2);
		event.value = events[i].number;
		feed(&event);
	}
	end_at(200, 0, 2);
	assert_int_equal(fsl_sched_find(&g_sched, 2)->irq_ns, 7);
	assert_int_equal(fsl_sched_find(&g_sched, 2)->softirq_ns, 23);
	assert_int_equal(g_sched.n_interrupts, 2);
}

static const struct fsl_sched_topology *two_nodes(void)
{
	static struct fsl_sched_place places[] = {
		{0, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 0, 1}, {3, 1, 1, 2}};
	static const struct fsl_sched_topology topology = {.cpus = places, .n_cpus = 4};
	return &topology;
}

static void test_moves_are_counted_by_what_their_cpus_share(void **state)
{
	(void)state;
	g_sched.topology = two_nodes();
	switch_to(100, 0, 9, 'S', 1);
	switch_to(110, 0, 1, 'S', 0);
	for (int32_t cpu = 1; cpu <= 4; cpu++) { /* the last CPU is in no topology */
		switch_to(100 * cpu + 50, cpu, 0, 'R', 1);
		switch_to(100 * cpu + 60, cpu, 1, 'S', 0);
	}
	end_at(600, 0, 0);
	const struct fsl_sched_thread *thread = fsl_sched_find(&g_sched, 1);
	assert_int_equal(fsl_sched_moves(&g_sched, thread), 4);
	assert_int_equal(fsl_sched_far_moves(&g_sched, thread, FSL_SCHED_FAR_CACHE), 2);
	assert_int_equal(fsl_sched_far_moves(&g_sched, thread, FSL_SCHED_FAR_NODE), 1);
}

static void test_migrations_go_before_moves(void **state)
{
	struct fsl_sched_event event = event_of(FSL_SCHED_MIGRATE, 120, 0, 2);
	(void)state;
	g_sched.topology = two_nodes();
	switch_to(100, 0, 1, 'R', 2);
	event.task = task(1);
	event.to_cpu = 3;
	feed(&event);
	event.time_ns = 130;
	event.to_cpu = 2;
	feed(&event);
	end_at(200, 0, 2);
	const struct fsl_sched_thread *thread = fsl_sched_find(&g_sched, 1);
	assert_int_equal(fsl_sched_far_moves(&g_sched, thread, FSL_SCHED_FAR_NODE), 2);
	assert_int_equal(fsl_sched_far_moves(&g_sched, thread, FSL_SCHED_FAR_CACHE), 2);
}

#define MS INT64_C(1000000)

static void test_a_chain_goes_back_from_waker_to_waker(void **state)
{
	static const struct fsl_sched_step steps[] = {{7, 10 * MS, 20 * MS}, {8, 20 * MS, 60 * MS}};
	struct fsl_error err = {0};
	struct fsl_sched_event event;
	(void)state;
	assert_int_equal(fsl_sched_add_rank(&g_sched, 0, 1, steps, 2, &err), FSL_OK);
	switch_to(5 * MS, 0, 9, 'S', 1);
	switch_to(5 * MS, 1, 9, 'S', 2);
	switch_to(22 * MS, 0, 1, 'S', 0); /* the main thread, until 2 wakes it at 50 ms */
	switch_to(23 * MS, 1, 2, 'S', 0); /* 2, until an interrupt at 30 ms */
	event = event_of(FSL_SCHED_IRQ_ENTRY, 30 * MS, 1, 0);
	event.value = 36;
	feed(&event);
	wake_up(30 * MS, 1, 0, 2, 1);
	event.kind = FSL_SCHED_IRQ_EXIT;
	feed(&event);
	switch_to(30 * MS, 1, 0, 'R', 5); /* 5 has its CPU for 8 ms */
	switch_to(38 * MS, 1, 5, 'S', 2);
	wake_up(50 * MS, 1, 2, 1, 0);
	switch_to(50 * MS, 0, 0, 'R', 1);
	end_at(70 * MS, 0, 1);
	const struct fsl_sched_chain *chain = &g_sched.ranks[0].chain;
	assert_int_equal(chain->step, 1);
	assert_int_equal(chain->n_links, 3);
	assert_int_equal(g_sched.threads[chain->links[0].thread].tid, 1);
	assert_true(chain->links[0].awake_ns == 10 * MS && chain->links[0].slept_ns == 28 * MS);
	assert_int_equal(g_sched.threads[chain->links[1].thread].tid, 2);
	assert_true(chain->links[1].awake_ns == 20 * MS && chain->links[1].slept_ns == 7 * MS);
	assert_true(chain->links[1].queued_ns == 8 * MS);
	assert_int_equal(chain->links[1].waker, FSL_SCHED_WAKER_INTERRUPT);
	assert_int_equal(g_sched.interrupts[chain->links[1].interrupt].number, 36);
	assert_int_equal(chain->links[2].thread, chain->links[1].thread); /* before its sleep */
	assert_true(chain->links[2].awake_ns == 3 * MS && !chain->is_cut);
	assert_int_equal(chain->links[2].waker, FSL_SCHED_WAKER_NONE);
	assert_int_equal(g_sched.cpu_interrupts.n_items, 1);
}

static void test_who_began_to_wake_is_the_waker(void **state)
{
	static const struct fsl_sched_step steps[] = {{0, 10 * MS, 50 * MS}};
	struct fsl_error err = {0};
	(void)state;
	assert_int_equal(fsl_sched_add_rank(&g_sched, 0, 1, steps, 1, &err), FSL_OK);
	switch_to(5 * MS, 0, 9, 'S', 1);
	switch_to(5 * MS, 1, 9, 'S', 2);
	switch_to(12 * MS, 0, 1, 'D', 0);
	struct fsl_sched_event event = event_of(FSL_SCHED_WAKING, 40 * MS, 1, 2);
	event.task = task(1);
	feed(&event);
	wake_up(40 * MS + 1, 0, 0, 1, 0); /* written by the idle task of the other CPU */
	switch_to(40 * MS + 2, 0, 0, 'R', 1);
	end_at(60 * MS, 0, 1);
	const struct fsl_sched_chain *chain = &g_sched.ranks[0].chain;
	assert_int_equal(chain->n_links, 2);
	assert_int_equal(g_sched.threads[chain->links[1].thread].tid, 2);
	assert_true(chain->links[1].awake_ns == 30 * MS + 1);
	assert_int_equal(chain->links[1].waker, FSL_SCHED_WAKER_NONE);
}

static void test_a_step_that_is_awake_all_along_has_one_link(void **state)
{
	static const struct fsl_sched_step steps[] = {{0, 10 * MS, 20 * MS}, {1, 20 * MS, 29 * MS}};
	struct fsl_error err = {0};
	(void)state;
	assert_int_equal(fsl_sched_add_rank(&g_sched, 0, 1, steps, 2, &err), FSL_OK);
	switch_to(5 * MS, 0, 9, 'S', 1);
	switch_to(11 * MS, 0, 1, 'S', 0); /* shorter than a link */
	wake_up(11 * MS + 300000, 0, 0, 1, 0);
	switch_to(11 * MS + 300000, 0, 0, 'R', 1);
	end_at(60 * MS, 0, 1);
	const struct fsl_sched_chain *chain = &g_sched.ranks[0].chain;
	assert_int_equal(chain->step, 0);
	assert_int_equal(chain->n_links, 1);
	assert_true(chain->links[0].awake_ns == 10 * MS - 300000);
	assert_true(chain->links[0].slept_ns == 300000);
	assert_int_equal(chain->links[0].waker, FSL_SCHED_WAKER_NONE);
}

static void test_a_thread_id_that_is_used_again_is_another_thread(void **state)
{
	(void)state;
	switch_to(100, 0, 9, 'S', 2);
	switch_to(120, 0, 2, 'Z', 0);
	wake_up(150, 1, 5, 2, 0);
	switch_to(160, 0, 0, 'R', 2);
	end_at(200, 0, 2);
	assert_int_equal(in_state(2, FSL_SCHED_RQ_WAKE), 10);
	assert_int_equal(in_state(2, FSL_SCHED_RUN), 40);
	check_sums();
}

static uint32_t g_seed = 12345;

static int32_t random_below(uint32_t n)
{
	g_seed = g_seed * UINT32_C(1664525) + UINT32_C(1013904223);
	return (int32_t)((g_seed >> 8) % n);
}

static void test_sums_hold_for_any_events(void **state)
{
	static const char states[] = "RRSSDIZT";
	(void)state;
	for (int round = 0; round < 400 / FSL_TEST_COST; round++) {
		static const struct fsl_sched_step steps[] = {
			{0, 50, 300}, {1, 300, 420}, {2, 500, 900}};
		int64_t time_ns = 0;
		struct fsl_error err = {0};
		fsl_sched_init(&g_sched, round % 3 == 0 ? 200 : INT64_MIN,
			       round % 5 == 0 ? 700 : INT64_MAX);
		assert_int_equal(fsl_sched_add_rank(&g_sched, 0, 3, steps, 3, &err), FSL_OK);
		for (int i = 0; i < 200; i++) {
			int32_t cpu = random_below(3), tid = random_below(8);
			enum fsl_sched_kind kind =
				(enum fsl_sched_kind)random_below(FSL_SCHED_KINDS_N);
			time_ns += random_below(12);
			if (kind == FSL_SCHED_SWITCH || kind < FSL_SCHED_SWITCH) {
				switch_to(time_ns, cpu, tid, states[random_below(8)],
					  random_below(8));
				continue;
			}
			struct fsl_sched_event event = event_of(kind, time_ns, cpu, tid);
			event.task = task(random_below(8));
			event.other = task(random_below(8));
			event.to_cpu = random_below(4);
			event.value = random_below(3);
			feed(&event);
		}
		finish();
		check_sums();
		fsl_sched_fini(&g_sched);
	}
}

static void test_percentiles_are_near_and_the_greatest_is_exact(void **state)
{
	struct fsl_latency latency = {0}, sum = {0};
	(void)state;
	assert_int_equal(fsl_latency_quantile(&latency, 0.5), 0);
	for (int64_t i = 1; i <= 1000; i++) {
		fsl_latency_add(&latency, i * 10000);
	}
	fsl_latency_merge(&sum, &latency);
	int64_t p50 = fsl_latency_quantile(&sum, 0.5), p99 = fsl_latency_quantile(&sum, 0.99);
	assert_true(p50 >= 5000000 && p50 <= 5000000 * 9 / 8);
	assert_true(p99 >= 9900000 && p99 <= 10000000);
	assert_true(fsl_latency_quantile(&sum, 1.0) == 10000000);
	assert_int_equal(sum.n_over[0], 990);
	assert_int_equal(sum.n_over[1], 900);
	assert_int_equal(sum.n_over[2], 0);
	fsl_latency_add(&sum, INT64_MAX / 4);
	assert_true(fsl_latency_quantile(&sum, 1.0) == INT64_MAX / 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_states_of_a_thread_follow_its_events),
		TEST(test_waits_are_charged_to_every_holder_by_overlap),
		TEST(test_a_migration_takes_the_wait_to_another_cpu),
		TEST(test_a_broken_chain_is_unknown_for_both_tasks),
		TEST(test_a_line_of_a_task_ends_idle_time_that_no_switch_ends),
		TEST(test_a_task_that_joins_an_idle_cpu_runs_from_then_on),
		TEST(test_a_task_that_idle_time_does_not_take_came_with_its_line),
		TEST(test_runtime_tells_when_a_task_came_behind_idle_time),
		TEST(test_runtime_from_before_the_last_line_of_a_cpu_counts_from_there),
		TEST(test_a_switch_alone_tells_little_of_who_came_behind_idle_time),
		TEST(test_a_task_seen_elsewhere_ends_its_slice_as_unknown),
		TEST(test_a_loss_is_unknown_from_the_last_event_of_the_cpu),
		TEST(test_times_outside_the_window_do_not_count),
		TEST(test_threads_of_a_rank_come_with_forks_and_go_with_programs),
		TEST(test_waits_are_told_by_step),
		TEST(test_interrupts_count_once_and_only_from_who_ran),
		TEST(test_moves_are_counted_by_what_their_cpus_share),
		TEST(test_migrations_go_before_moves),
		TEST(test_a_chain_goes_back_from_waker_to_waker),
		TEST(test_who_began_to_wake_is_the_waker),
		TEST(test_a_step_that_is_awake_all_along_has_one_link),
		TEST(test_a_thread_id_that_is_used_again_is_another_thread),
		TEST(test_sums_hold_for_any_events),
		cmocka_unit_test(test_percentiles_are_near_and_the_greatest_is_exact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
