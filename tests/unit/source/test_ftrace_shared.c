/* Recorded kernel traces: every clock and option, names that are hard to read, the same switches in
 * the forms of several tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/ftrace/load.h"

static const char *g_shared;

static const char *path_of(const char *name)
{
	static char path[512];
	(void)snprintf(path, sizeof(path), "%s/data/ftrace/%s", g_shared, name);
	return path;
}

static struct fsl_ftrace_reader *open_trace(const char *name)
{
	struct fsl_ftrace_reader *reader = NULL;
	struct fsl_error err = {0};
	assert_int_equal(fsl_ftrace_open(&reader, path_of(name), &err), FSL_OK);
	return reader;
}

/* Next event; NULL at the end. */
static const struct fsl_sched_event *next(struct fsl_ftrace_reader *reader)
{
	const struct fsl_sched_event *event = NULL;
	struct fsl_error err = {0};
	assert_int_equal(fsl_ftrace_next(reader, &event, &err), FSL_OK);
	return event;
}

static const struct fsl_sched_event *next_switch(struct fsl_ftrace_reader *reader)
{
	const struct fsl_sched_event *event = next(reader);
	while (event != NULL && event->kind != FSL_SCHED_SWITCH) {
		event = next(reader);
	}
	return event;
}

static void test_clocks_and_options_are_read_or_refused_by_name(void **state)
{
	static const struct {
		const char *name, *refused;
	} cases[] = {
		{"clock_boot", NULL},
		{"clock_counter", "counts events"},
		{"clock_global", NULL},
		{"clock_local", NULL},
		{"clock_mono", NULL},
		{"clock_mono_raw", NULL},
		{"clock_perf", NULL},
		{"clock_tai", NULL},
		{"clock_uptime", "counts events"},
		{"clock_x86-tsc", "counts events"},
		{"opt_fields", NULL},
		{"opt_hex", "option hex"},
		{"opt_latency-format", NULL},
		{"opt_latency_verbose", NULL},
		{"opt_nocontext", "nocontext-info"},
		{"opt_noirq-info", NULL},
		{"opt_raw", "option raw"},
		{"opt_record-tgid", NULL},
		{"opt_tgid_noirq", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[128];
		struct fsl_error err = {0};
		struct fsl_ftrace_reader *reader = NULL;
		const struct fsl_sched_event *event = NULL;
		(void)snprintf(name, sizeof(name), "clocks_and_options/%s.txt", cases[i].name);
		enum fsl_status status = fsl_ftrace_open(&reader, path_of(name), &err);
		if (status == FSL_OK) {
			status = fsl_ftrace_next(reader, &event, &err);
		}
		assert_int_equal(status, cases[i].refused != NULL ? FSL_ERR_FORMAT : FSL_OK);
		if (cases[i].refused != NULL) {
			assert_non_null(strstr(fsl_error_root(&err), cases[i].refused));
		} else {
			while (event != NULL) {
				event = next(reader);
			}
			assert_int_equal(fsl_ftrace_facts(reader)->n_broken, 0);
			assert_true(fsl_ftrace_facts(reader)->n_switches > 20);
		}
		fsl_ftrace_close(reader);
	}
}

/* names.c gave these names to threads 28344 and so on. */
static const char *const g_names[] = {"a b c",
				      "pool-1-thread-2",
				      "x: y",
				      "Thread-3 (call)",
				      "==> next_comm=z",
				      "pid=7 prio=0",
				      "w-123 [000]",
				      "",
				      "-",
				      "-0",
				      "a=b",
				      "tr\\nail ",
				      "训练-1",
				      "[kthr]",
				      "<...>",
				      "Bad:12 [120] S",
				      " lead",
				      "pt_data_worker ",
				      "comm=q",
				      "sched_switch: p"};
enum { NAMES_N = sizeof(g_names) / sizeof(g_names[0]), FIRST_TID = 28344 };

static void check_name(const struct fsl_sched_task *task, size_t *n_named)
{
	int32_t i = task->tid - FIRST_TID;
	if (i < 0 || i >= NAMES_N ||
	    (task->comm.length == 5 && memcmp(task->comm.at, "names", 5) == 0)) {
		return;
	}
	assert_int_equal(task->comm.length, strlen(g_names[i]));
	assert_memory_equal(task->comm.at, g_names[i], task->comm.length);
	n_named[i]++;
}

static void test_hostile_names_are_exact(void **state)
{
	static const char *const files[] = {"adversarial_comm/trace.txt",
					    "adversarial_comm/report_t.txt"};
	(void)state;
	for (size_t f = 0; f < 2; f++) {
		struct fsl_ftrace_reader *reader = open_trace(files[f]);
		size_t n_named[NAMES_N] = {0};
		for (const struct fsl_sched_event *event = next_switch(reader); event != NULL;
		     event = next_switch(reader)) {
			check_name(&event->task, n_named);
			check_name(&event->other, n_named);
			assert_int_equal(event->tid, event->task.tid);
		}
		for (size_t i = 0; i < NAMES_N; i++) {
			assert_true(n_named[i] > 0);
		}
		assert_int_equal(fsl_ftrace_facts(reader)->n_broken, 0);
		fsl_ftrace_close(reader);
	}
}

#define TRAINSIM "trainsim2_hog_tracefs_tracecmd_perf/"

static void test_all_forms_give_the_same_switches(void **state)
{
	static const char *const forms[] = {
		TRAINSIM "report_default.head4000.txt", TRAINSIM "report_t.head4000.txt",
		TRAINSIM "report_N.head4000.txt", TRAINSIM "report_R.head4000.txt",
		TRAINSIM "report_latency.head1000.txt"};
	(void)state;
	for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
		struct fsl_ftrace_reader *text = open_trace(TRAINSIM "trace.txt.gz");
		struct fsl_ftrace_reader *form = open_trace(forms[f]);
		size_t n = 0;
		for (const struct fsl_sched_event *b = next_switch(form); b != NULL;
		     b = next_switch(form)) {
			const struct fsl_sched_event *a = next_switch(text);
			assert_non_null(a);
			assert_true(llabs(a->time_ns - b->time_ns) <= 1000);
			assert_int_equal(a->cpu, b->cpu);
			assert_int_equal(a->task.tid, b->task.tid);
			assert_int_equal(a->other.tid, b->other.tid);
			assert_int_equal(a->state, b->state);
			assert_int_equal(a->task.comm.length, b->task.comm.length);
			assert_memory_equal(a->task.comm.at, b->task.comm.at, a->task.comm.length);
			n++;
		}
		assert_true(n >= 5);
		assert_int_equal(fsl_ftrace_facts(form)->n_broken, 0);
		fsl_ftrace_close(text);
		fsl_ftrace_close(form);
	}
}

static void test_every_line_of_long_files_is_read(void **state)
{
	static const struct {
		const char *name;
		uint64_t n_events, n_switches;
	} cases[] = {{TRAINSIM "trace.txt.gz", 374574, 2082},
		     {TRAINSIM "perf_script.txt.gz", 0, 656},
		     {"lost_events/overrun_trace.txt", 123, 0},
		     {"lost_events/trace_pipe.head3000.txt", 0, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_ftrace_reader *reader = open_trace(cases[i].name);
		while (next(reader) != NULL) {
		}
		const struct fsl_ftrace_facts *facts = fsl_ftrace_facts(reader);
		assert_int_equal(facts->n_broken, 0);
		assert_true(cases[i].n_events == 0 || facts->n_events == cases[i].n_events);
		assert_true(facts->n_switches >= cases[i].n_switches);
		fsl_ftrace_close(reader);
	}
}

/* CPU time by the sum of sched_stat_runtime, which perf sched latency tells, too. */
static void test_cpu_times_are_those_of_the_kernel(void **state)
{
	static const struct {
		int32_t tid;
		int64_t ran_us;
	} cases[] = {{26400, 320017}, {26397, 322803}, {26398, 54600}, {26399, 54612},
		     {26401, 53494},  {26402, 55507},  {26403, 61547}};
	struct fsl_sched sched = {0};
	struct fsl_ftrace_ranks ranks = {0};
	struct fsl_ftrace_loaded loaded;
	struct fsl_error err = {0};
	const char *path = path_of(TRAINSIM "trace.txt.gz");
	(void)state;
	assert_int_equal(fsl_ftrace_load(&sched, &ranks, &path, 1, &loaded, &err), FSL_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fsl_sched_thread *thread = fsl_sched_find(&sched, cases[i].tid);
		assert_true((fsl_sched_ran_ns(thread) + 500) / 1000 == cases[i].ran_us);
		/* Times of events have a resolution of 1 us: some of them for each switch. */
		int64_t run_ns = thread->in_ns[FSL_SCHED_RUN];
		assert_true(run_ns <= thread->runtime_ns + 400000);
		assert_true(run_ns + thread->in_ns[FSL_SCHED_UNKNOWN] >=
			    thread->runtime_ns - 400000);
	}
	/* The kernel does not tell that the idle task of CPU 1 leaves: lines of others do. */
	const struct fsl_sched_thread *rank1 = fsl_sched_find(&sched, 26400);
	assert_true(rank1->in_ns[FSL_SCHED_RUN] == 319532000);
	assert_true(rank1->in_ns[FSL_SCHED_UNKNOWN] < 2000000);
	assert_int_equal(ranks.n_items, 2);
	assert_int_equal(ranks.items[1].pid, 26400);
	assert_int_equal(ranks.items[1].n_steps, 59);
	fsl_sched_fini(&sched);
	fsl_ftrace_ranks_fini(&ranks);
}

/* Only what both CPUs have counts: [first of the later CPU, last of the earlier one]. */
static void test_an_overwritten_trace_counts_from_where_all_cpus_are(void **state)
{
	struct fsl_sched sched = {0};
	struct fsl_ftrace_ranks ranks = {0};
	struct fsl_ftrace_loaded loaded;
	struct fsl_error err = {0};
	const char *path = path_of("lost_events/overrun_trace.txt");
	(void)state;
	assert_int_equal(fsl_ftrace_load(&sched, &ranks, &path, 1, &loaded, &err), FSL_OK);
	assert_true(loaded.is_lossy && loaded.has_window);
	assert_true(loaded.facts.n_kept == 123 && loaded.facts.n_written == 450910);
	assert_true(sched.begin_ns == 1340006162000);
	assert_true(sched.end_ns == 1340028774000);
	fsl_sched_fini(&sched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks_and_options_are_read_or_refused_by_name),
		cmocka_unit_test(test_hostile_names_are_exact),
		cmocka_unit_test(test_all_forms_give_the_same_switches),
		cmocka_unit_test(test_every_line_of_long_files_is_read),
		cmocka_unit_test(test_cpu_times_are_those_of_the_kernel),
		cmocka_unit_test(test_an_overwritten_trace_counts_from_where_all_cpus_are),
	};
	g_shared = getenv("FSL_SHARED_DIR");
	g_shared = g_shared != NULL && g_shared[0] != '\0' ? g_shared : FSL_SHARED_DIR;
	if (access(path_of("adversarial_comm/trace.txt"), R_OK) != 0) {
		(void)fprintf(stderr, "no shared kernel traces: skipped\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
