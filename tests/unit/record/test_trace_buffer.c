/* A trace buffer is set as planned, and is as before at the end, however the recorder ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/trace_buffer.h"

static char root[64];

static void put(const char *name, const char *text)
{
	char path[256];
	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *c = path + strlen(root) + 1; (c = strchr(c, '/')) != NULL; c++) {
		*c = '\0';
		(void)mkdir(path, 0755);
		*c = '/';
	}
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *name, const char *wanted)
{
	char text[FSL_TRACEFS_TEXT_MAX];
	assert_int_equal(fsl_tracefs_read(root, name, text, NULL), FSL_OK);
	assert_string_equal(text, wanted);
}

/* A tracefs without instances, with CPUs 0, 1 and 40. */
static int make_root(void **state)
{
	(void)state;
	(void)snprintf(root, sizeof(root), "/tmp/trace-buffer-XXXXXX");
	assert_non_null(mkdtemp(root));
	put("events/sched/sched_switch/enable", "0\n");
	put("events/sched/sched_stat_runtime/enable", "0\n");
	put("events/irq/softirq_entry/enable", "0\n");
	put("events/sched/sched_switch/filter", "prev_pid == 7 || next_pid == 7\n");
	put("events/irq/softirq_entry/filter", "none\n");
	put("options/raw", "1\n");
	put("options/event-fork", "0\n");
	put("per_cpu/cpu0/buffer_size_kb", "7 (expanded: 1408)\n");
	put("per_cpu/cpu1/buffer_size_kb", "64\n");
	put("per_cpu/cpu40/buffer_size_kb", "96\n");
	put("per_cpu/cpu0/stats",
	    "entries: 3\noverrun: 11\ncommit overrun: 5\ndropped events: 2\n");
	put("per_cpu/cpu1/stats",
	    "entries: 3\noverrun: 100\ncommit overrun: 0\ndropped events: 0\n");
	put("buffer_size_kb", "X\n");
	put("trace_clock", "local [boot] mono_raw\n");
	put("tracing_cpumask", "ff,ffffffff\n");
	put("tracing_on", "1\n");
	put("current_tracer", "nop\n");
	put("set_event", "");
	put("set_event_pid", "");
	put("trace", "# entries-in-buffer/entries-written: 0/0   #P:3\n");
	return 0;
}

static int remove_root(void **state)
{
	char command[128];
	(void)state;
	(void)snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void assert_as_before(void)
{
	assert_holds("tracing_on", "1");
	assert_holds("events/sched/sched_switch/enable", "0");
	assert_holds("events/irq/softirq_entry/enable", "0");
	assert_holds("events/sched/sched_switch/filter", "prev_pid == 7 || next_pid == 7");
	assert_holds("events/irq/softirq_entry/filter", "none");
	assert_holds("options/raw", "1");
	assert_holds("options/event-fork", "0");
	assert_holds("trace_clock", "boot");
	assert_holds("per_cpu/cpu0/buffer_size_kb", "7");
	assert_holds("per_cpu/cpu1/buffer_size_kb", "64");
	assert_holds("per_cpu/cpu40/buffer_size_kb", "96");
	assert_holds("tracing_cpumask", "ff,ffffffff");
	assert_holds("set_event_pid", "");
}

static const int64_t two_cpus[] = {1, 40}, one_cpu[] = {0}, absent_cpu[] = {2};
static const int64_t pids[] = {4711, 12};
static const struct fsl_trace_plan plan_of_two = {.cpus = two_cpus,
						  .n_cpus = 2,
						  .pids = pids,
						  .n_pids = 2,
						  .buffer_kib = 2048,
						  .clock = "mono_raw"};

static void the_buffer_is_set_as_planned_and_put_back(void **state)
{
	struct fsl_trace_buffer buffer;
	(void)state;
	assert_int_equal(fsl_trace_buffer_open(&buffer, root, &plan_of_two, NULL), FSL_OK);
	assert_holds("tracing_on", "0");
	assert_holds("events/sched/sched_switch/enable", "1");
	assert_holds("events/sched/sched_stat_runtime/enable", "0");
	assert_holds("events/sched/sched_switch/filter", "0");
	assert_holds("events/irq/softirq_entry/filter", "none");
	assert_holds("options/raw", "0");
	assert_holds("options/event-fork", "1");
	assert_holds("trace_clock", "mono_raw");
	assert_holds("per_cpu/cpu1/buffer_size_kb", "2048");
	assert_holds("per_cpu/cpu40/buffer_size_kb", "2048");
	assert_holds("tracing_cpumask", "00000100,00000002");
	assert_holds("set_event_pid", "4711 12 ");
	assert_int_equal(fsl_trace_buffer_switch(&buffer, true, NULL), FSL_OK);
	assert_holds("tracing_on", "1");
	assert_int_equal(fsl_trace_buffer_n_lost(&buffer), 100); /* of CPU 1 alone */
	assert_int_equal(fsl_trace_buffer_close(&buffer, NULL), FSL_OK);
	assert_as_before();
}

static void another_plan_sets_other_values(void **state)
{
	struct fsl_trace_buffer buffer;
	const struct fsl_trace_plan plan = {
		.cpus = one_cpu, .n_cpus = 1, .buffer_kib = 4, .clock = "tai", .has_runtime = true};
	(void)state;
	assert_int_equal(fsl_trace_buffer_open(&buffer, root, &plan, NULL), FSL_OK);
	assert_holds("events/sched/sched_stat_runtime/enable", "1");
	assert_holds("options/event-fork", "0");
	assert_holds("per_cpu/cpu0/buffer_size_kb", "4");
	assert_holds("trace_clock", "tai");
	assert_holds("tracing_cpumask", "00000001");
	assert_int_equal(fsl_trace_buffer_n_lost(&buffer), 13);
	assert_int_equal(fsl_trace_buffer_close(&buffer, NULL), FSL_OK);
	assert_as_before();
}

/* The guard holds the lock of the buffer until it is done. */
static void wait_for_guard(void)
{
	int lock = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(lock >= 0);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(close(lock), 0);
}

static void a_recorder_that_is_killed_leaves_nothing_behind(void **state)
{
	int how = 0;
	(void)state;
	pid_t recorder = fork();
	if (recorder == 0) {
		struct fsl_trace_buffer buffer;
		if (fsl_trace_buffer_open(&buffer, root, &plan_of_two, NULL) == FSL_OK &&
		    fsl_trace_buffer_switch(&buffer, true, NULL) == FSL_OK) {
			(void)kill(getpid(), SIGKILL);
		}
		_exit(1);
	}
	assert_int_equal(waitpid(recorder, &how, 0), recorder);
	assert_true(WIFSIGNALED(how));
	wait_for_guard();
	assert_as_before();
}

static void one_recording_goes_on_at_a_time(void **state)
{
	struct fsl_trace_buffer buffer, second;
	struct fsl_error err = {0};
	(void)state;
	assert_int_equal(fsl_trace_buffer_open(&buffer, root, &plan_of_two, NULL), FSL_OK);
	assert_int_equal(fsl_trace_buffer_open(&second, root, &plan_of_two, &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "another recording goes on"));
	assert_holds("trace_clock", "mono_raw");
	assert_int_equal(fsl_trace_buffer_close(&buffer, NULL), FSL_OK);
}

static void a_plan_that_cannot_be_set_changes_nothing(void **state)
{
	struct fsl_trace_buffer buffer;
	const struct fsl_trace_plan plan = {
		.cpus = absent_cpu, .n_cpus = 1, .buffer_kib = 4, .clock = "mono"};
	char path[128];
	(void)state;
	assert_int_equal(fsl_trace_buffer_open(&buffer, root, &plan, NULL), FSL_ERR_USAGE);
	assert_as_before();
	put("trace_clock", "local [boot] mono_raw\n");
	(void)snprintf(path, sizeof(path), "%s/events/sched/sched_switch/enable", root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(fsl_trace_buffer_open(&buffer, root, &plan_of_two, NULL), FSL_ERR_IO);
	put("events/sched/sched_switch/enable", "0\n");
	assert_as_before();
}

/* An instance is removed with rmdir(2), which in a tracefs takes its files, too. */
static void the_instance_of_a_killed_guard_is_replaced(void **state)
{
	struct fsl_trace_buffer buffer;
	char path[128];
	(void)state;
	(void)snprintf(path, sizeof(path), "%s/instances", root);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/instances/failslow", root);
	assert_int_equal(mkdir(path, 0755), 0);
	/* A new instance has no files here, so it cannot be set. */
	assert_int_equal(fsl_trace_buffer_open(&buffer, root, &plan_of_two, NULL), FSL_ERR_IO);
	assert_int_equal(access(path, F_OK), -1);
	assert_holds("trace_clock", "local [boot] mono_raw");
	assert_holds("tracing_on", "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_buffer_is_set_as_planned_and_put_back,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(another_plan_sets_other_values, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_recorder_that_is_killed_leaves_nothing_behind,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(one_recording_goes_on_at_a_time, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_plan_that_cannot_be_set_changes_nothing,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(the_instance_of_a_killed_guard_is_replaced,
						make_root, remove_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
