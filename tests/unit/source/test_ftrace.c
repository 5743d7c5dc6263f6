/* Lines of kernel traces in all forms, hostile names of tasks, losses, several files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/ftrace/find.h"
#include "source/ftrace/form.h"
#include "source/ftrace/merge.h"
#include "source/ftrace/payload.h"

static char g_folder[64];

static int setup(void **state)
{
	(void)state;
	strcpy(g_folder, "/tmp/ftraceXXXXXX");
	return mkdtemp(g_folder) == NULL;
}

static int teardown(void **state)
{
	char command[128];
	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", g_folder);
	return system(command);
}

/* Writes a file of the test's folder; the path is valid until the next but three calls. */
static const char *write_file(const char *name, const char *text)
{
	static char paths[4][128];
	static size_t n;
	char *path = paths[n++ % 4];
	(void)snprintf(path, sizeof(paths[0]), "%s/%s", g_folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return path;
}

static bool is(struct fsl_sched_text text, const char *expected)
{
	return text.length == strlen(expected) && memcmp(text.at, expected, text.length) == 0;
}

/* Reads one line as an event. */
static struct fsl_sched_event read_line(const char *line, struct fsl_ftrace_prefix *prefix)
{
	struct fsl_ftrace_scan rest;
	struct fsl_sched_event event = {0};
	assert_true(fsl_ftrace_read_prefix(line, strlen(line), prefix, &rest));
	assert_int_equal(fsl_ftrace_read_payload(rest, &event), FSL_FTRACE_READ);
	return event;
}

static void expect_switch(const char *line, int32_t prev, char state, int32_t next)
{
	struct fsl_ftrace_prefix prefix;
	struct fsl_sched_event event = read_line(line, &prefix);
	assert_int_equal(event.kind, FSL_SCHED_SWITCH);
	assert_int_equal(event.task.tid, prev);
	assert_int_equal(event.state, state);
	assert_int_equal(event.other.tid, next);
}

static void test_begins_of_lines_are_read_in_every_form(void **state)
{
	static const struct {
		const char *line;
		int32_t tid, tgid, cpu;
		int64_t time_ns;
		bool is_in_interrupt;
		enum fsl_ftrace_stamp stamp;
	} cases[] = {
		{"            bash-27252   [001] d.h..  1328.545317: x: y", 27252, -1, 1,
		 1328545317000, true, FSL_FTRACE_SECONDS},
		{"            bash-27252   [001] d..2. 1795220397.385988: x: y", 27252, -1, 1,
		 1795220397385988000, false, FSL_FTRACE_SECONDS},
		{"            bash-27252   [001]   1332.778108: x: y", 27252, -1, 1, 1332778108000,
		 false, FSL_FTRACE_SECONDS},
		{"            bash-27252   (  27250) [0012] ..s..  1.000001: x: y", 27252, 27250,
		 12, 1000001000, true, FSL_FTRACE_SECONDS},
		{"          <idle>-0       (-----) [003] d..2  7.5: x: y", 0, -1, 3, 7500000000,
		 false, FSL_FTRACE_SECONDS},
		{"         python3-27448 [000]  1336.642173202: x:        y", 27448, -1, 0,
		 1336642173202, false, FSL_FTRACE_SECONDS},
		{"    bash-27252     1d..2. 12264us!: x: y", 27252, -1, 1, 12264000, false,
		 FSL_FTRACE_RELATIVE},
		{"            bash   27252   0 9 00000000 00000000 [4f7f2b0d] 11.916ms (+0.004ms): x: y",
		 27252, -1, 0, 11916000, true, FSL_FTRACE_RELATIVE},
		{"            bash 27252 [001]  1274.073093: sched:x: y", 27252, -1, 1,
		 1274073093000, false, FSL_FTRACE_SECONDS},
		{"a b-1 c-77 [002] d... 12.000003: x: y", 77, -1, 2, 12000003000, false,
		 FSL_FTRACE_SECONDS},
		{"bash-27252 [001] ..... 132913: x: y", 27252, -1, 1, 132913, false,
		 FSL_FTRACE_COUNTS},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_ftrace_prefix prefix = {0};
		struct fsl_ftrace_scan rest;
		assert_true(fsl_ftrace_read_prefix(cases[i].line, strlen(cases[i].line), &prefix,
						   &rest));
		assert_int_equal(prefix.tid, cases[i].tid);
		assert_int_equal(prefix.tgid, cases[i].tgid);
		assert_int_equal(prefix.cpu, cases[i].cpu);
		assert_true(prefix.time_ns == cases[i].time_ns);
		assert_int_equal(prefix.is_in_interrupt, cases[i].is_in_interrupt);
		assert_int_equal(prefix.stamp, cases[i].stamp);
	}
}

static void test_other_lines_are_no_events(void **state)
{
	static const char *const lines[] = {
		"",
		"-",
		"cpus=2",
		"CPU:1 [LOST 94 EVENTS]",
		"hello-7 world",
		"a-1 [0",
		"            bash-27252   [001] d.h..  1328.545317 x",
		"            bash-27252   [9999] d.h..  1328.545317: x: y",
		"            bash-99999999999   [001] d.h..  1328.545317: x: y",
		"            bash-1   [001] d.h..  99999999999.545317: x: y",
		"            bash-1   [001] d.h..  13.5453171234: x: y",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct fsl_ftrace_prefix prefix;
		struct fsl_ftrace_scan rest;
		assert_false(fsl_ftrace_read_prefix(lines[i], strlen(lines[i]), &prefix, &rest));
	}
}

static void test_switches_are_alike_in_every_form(void **state)
{
	(void)state;
	expect_switch("     rcu_preempt-15      [000] d..2.  4.5: sched_switch: prev_comm=a "
		      "prev_pid=15 prev_prio=120 prev_state=I ==> next_comm=b next_pid=9 "
		      "next_prio=-1",
		      15, 'I', 9);
	expect_switch("     rcu_preempt-15      [000] d..2.  4.5: sched_switch: prev_comm=a "
		      "prev_pid=0xf (15) prev_prio=0x78 (120) prev_state=0x80 (128) next_comm=b "
		      "next_pid=0x9 (9) next_prio=0x78 (120)",
		      15, 'I', 9);
	expect_switch(
		"     rcu_preempt-15    [000]  4.5: sched_switch:         a:15 [120] W ==> b:9 "
		"[120]",
		15, 'I', 9);
	expect_switch("     rcu_preempt-15    [000]  4.5: sched_switch:          prev_comm=a "
		      "prev_pid=15 prev_prio=120 prev_state=128 next_comm=b next_pid=9 "
		      "next_prio=120",
		      15, 'I', 9);
	expect_switch("     rcu_preempt    15 [000]     4.5:       sched:sched_switch: prev_comm=a "
		      "prev_pid=15 prev_prio=120 prev_state=R+ ==> next_comm=b next_pid=9 "
		      "next_prio=120",
		      15, 'R', 9);
	expect_switch("     rcu_preempt-15      [000] d..2.  4.5: sched_switch: prev_comm=a "
		      "prev_pid=15 prev_prio=120 prev_state=D|K ==> next_comm=b next_pid=9 "
		      "next_prio=1 extra=4",
		      15, 'D', 9);
}

static void test_hostile_names_do_not_shift_fields(void **state)
{
	struct fsl_ftrace_prefix prefix;
	(void)state;
	struct fsl_sched_event event = read_line(
		" ==> next_comm=z-28348   [001] d..2.  4.5: sched_switch: prev_comm===> next_comm=z "
		"prev_pid=28348 prev_prio=120 prev_state=S ==> next_comm=pid=7 prio=0 "
		"next_pid=28357 next_prio=120",
		&prefix);
	assert_true(is(event.task.comm, "==> next_comm=z"));
	assert_true(is(event.other.comm, "pid=7 prio=0"));
	event = read_line("     w-123 [000]-28350   [001] d..2.  4.5: sched_wakeup: comm=a pid=4 "
			  "prio=1 pid=28349 prio=120 target_cpu=001",
			  &prefix);
	assert_int_equal(prefix.tid, 28350);
	assert_true(is(event.task.comm, "a pid=4 prio=1"));
	assert_int_equal(event.task.tid, 28349);
	event = read_line(
		"                -28351   [001] d..2.  4.5: sched_waking: comm= pid=28351 "
		"prio=120 target_cpu=001",
		&prefix);
	assert_true(is(event.task.comm, ""));
	event = read_line(
		"            bash-1 [001]  4.5: sched_switch:          lead:5 [120] S ==> "
		"Bad:12 [120] S:28359 [120]",
		&prefix);
	assert_true(is(event.task.comm, " lead"));
	assert_true(is(event.other.comm, "Bad:12 [120] S"));
	event = read_line("            bash-1 [001]  4.5: sched_process_exec: filename=/x pid=3 "
			  "old_pid=3 pid=8 old_pid=9",
			  &prefix);
	assert_int_equal(event.task.tid, 8);
}

static void test_other_events_have_their_fields(void **state)
{
	struct fsl_ftrace_prefix prefix;
	static const char begin[] = "            bash-1     [001] .....  4.5: ";
	char line[256];
	(void)state;
#define LINE(text) (snprintf(line, sizeof(line), "%s%s", begin, text), line)
	struct fsl_sched_event event = read_line(
		LINE("sched_wakeup: comm=a pid=7 prio=120 success=1 target_cpu=003"), &prefix);
	assert_int_equal(event.to_cpu, 3);
	event = read_line(LINE("sched_wakeup_new:     a:7 [120] CPU:012"), &prefix);
	assert_int_equal(event.task.tid, 7);
	assert_int_equal(event.to_cpu, 12);
	event = read_line(LINE("sched_migrate_task: comm=a pid=7 prio=120 orig_cpu=1 dest_cpu=0"),
			  &prefix);
	assert_int_equal(event.to_cpu, 0);
	event = read_line(LINE("sched_process_fork: comm=a pid=7 child_comm=b child_pid=9"),
			  &prefix);
	assert_int_equal(event.other.tid, 9);
	event = read_line(LINE("sched_stat_runtime: comm=a pid=7 runtime=2675007 [ns] vruntime=8 "
			       "[ns]"),
			  &prefix);
	assert_true(event.value == 2675007);
	event = read_line(LINE("irq_handler_entry: irq=36 name=virtio1-req.0"), &prefix);
	assert_true(event.value == 36 && is(event.text, "virtio1-req.0"));
	event = read_line(LINE("softirq_entry: vec=4 [action=BLOCK]"), &prefix);
	assert_true(event.value == 4 && is(event.text, "BLOCK"));
	event = read_line(LINE("tracing_mark_write: step 3: begin"), &prefix);
	assert_int_equal(event.kind, FSL_SCHED_MARK);
	assert_true(is(event.text, "step 3: begin"));
#undef LINE
}

/* Status of a whole file; its facts in *facts. */
static enum fsl_status read_all(const char *path, struct fsl_ftrace_facts *facts,
				struct fsl_error *err)
{
	struct fsl_ftrace_reader *reader = NULL;
	enum fsl_status status = fsl_ftrace_open(&reader, path, err);
	const struct fsl_sched_event *event = NULL;
	while (status == FSL_OK) {
		status = fsl_ftrace_next(reader, &event, err);
		if (status == FSL_OK && event == NULL) {
			break;
		}
	}
	if (reader != NULL) {
		*facts = *fsl_ftrace_facts(reader);
	}
	fsl_ftrace_close(reader);
	return status;
}

static void test_forms_that_cannot_be_read_are_named(void **state)
{
	static const struct {
		const char *text, *named;
	} cases[] = {
		{"# tracer: nop\n#\n27252 1 1334125974657 type: 366\n", "option raw"},
		{"# tracer: nop\n#\n00006a74 00000000 00000136b1b901e9 type: 366\n", "option hex"},
		{"# tracer: nop\n#\nsoftirq_raise: vec=9 [action=RCU]\n", "nocontext-info"},
		{"# tracer: nop\n#\n            bash-1   [000] .....     3: softirq_raise: vec=9 "
		 "[action=RCU]\n",
		 "counts events"},
		{"PERFILE2xxxxxxx", "perf sched script"},
		{"\x17\x08\x44tracing6", "trace-cmd report"},
		{"rank,step\n1,2\n", "not a kernel trace"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_error err = {0};
		struct fsl_ftrace_facts facts;
		assert_int_equal(read_all(write_file("t.txt", cases[i].text), &facts, &err),
				 FSL_ERR_FORMAT);
		assert_non_null(strstr(fsl_error_root(&err), cases[i].named));
	}
}

static void test_headers_and_losses_are_told(void **state)
{
	struct fsl_error err = {0};
	struct fsl_ftrace_facts facts = {0};
	(void)state;
	const char *path = write_file(
		"t.txt",
		"# tracer: nop\n#\n# entries-in-buffer/entries-written: 123/450910   #P:16\n#\n"
		"             cat-5   [000] .....  1.5: softirq_exit: vec=1 [action=TIMER]\n"
		"##### CPU 1 buffer started ####\n"
		"CPU:3 [LOST 94 EVENTS]\n"
		"      CPU:2 [EVENTS DROPPED]\n"
		"      CPU:2 [7 EVENTS DROPPED]\n"
		"what is this\n"
		"             cat-5   [000] .....  1.6: block_rq_issue: 254,0 W 0 () 1 + 8 [x]\n");
	assert_int_equal(read_all(path, &facts, &err), FSL_OK);
	assert_true(facts.n_kept == 123 && facts.n_written == 450910 && facts.n_cpus == 16);
	assert_int_equal(facts.n_events, 2);
	assert_int_equal(facts.n_ignored, 1);
	assert_int_equal(facts.n_started, 1);
	assert_int_equal(facts.n_losses, 3);
	assert_int_equal(facts.n_lost, 101);
	assert_int_equal(facts.n_broken, 1);
	assert_int_equal(facts.first_broken, 10);
}

/* @n lines of two bytes between two events. */
static void expect_between(size_t n, const char *line, enum fsl_status expected)
{
	static const char event[] = "x-1 [000] d..2. 1.000001: sched_waking: comm=a pid=2 prio=120 "
				    "target_cpu=000\n";
	const size_t n_event = sizeof(event) - 1;
	char *text = malloc(2 * n_event + 2 * n + 1);
	assert_non_null(text);
	memcpy(text, event, n_event);
	for (size_t i = 0; i < n; i++) {
		memcpy(text + n_event + 2 * i, line, 2);
	}
	memcpy(text + n_event + 2 * n, event, n_event + 1);
	struct fsl_ftrace_reader *reader = NULL;
	const struct fsl_sched_event *read = NULL;
	assert_int_equal(fsl_ftrace_open(&reader, write_file("between", text), NULL), FSL_OK);
	assert_int_equal(fsl_ftrace_next(reader, &read, NULL), FSL_OK);
	assert_int_equal(fsl_ftrace_next(reader, &read, NULL), expected);
	assert_true(expected != FSL_OK || read->time_ns == 1000001000);
	fsl_ftrace_close(reader);
	free(text);
}

static void test_a_million_lines_without_an_event_are_refused(void **state)
{
	(void)state;
	enum { N_MAX = 1 << 20 };
	expect_between(N_MAX - 1, "\n\n", FSL_ERR_FORMAT); /* two lines each */
	expect_between(N_MAX / 2 - 1, "\n\n", FSL_OK);
	expect_between(N_MAX - 1, "x\n", FSL_OK);
	expect_between(N_MAX, "#\n", FSL_ERR_FORMAT);
}

static void test_damaged_files_are_told_by_their_folder(void **state)
{
	char folder[128];
	struct fsl_ftrace_traces traces = {0};
	const char *const path = folder;
	(void)state;
	for (int i = 0; i < 2; i++) {
		const char *name = i == 0 ? "notes" : "ftrace_host1";
		char file[64];
		(void)snprintf(folder, sizeof(folder), "%s/%s", g_folder, name);
		assert_int_equal(mkdir(folder, 0700), 0);
		(void)snprintf(file, sizeof(file), "%s/a.txt", name);
		(void)write_file(file, "");
		(void)snprintf(file, sizeof(file), "%s/b.txt.zst", name);
		(void)write_file(file, "\x28\xb5\x2f\xfd wrong");
		(void)snprintf(file, sizeof(file), "%s/c.txt", name);
		(void)write_file(file, "A note of a user\n");
		assert_int_equal(fsl_ftrace_find(&traces, &path, 1, i == 0, NULL), FSL_OK);
		assert_int_equal(traces.n_items, i == 0 ? 0 : 2);
	}
	struct fsl_ftrace_reader *reader = NULL;
	assert_non_null(traces.items[0].refusal);
	assert_null(traces.items[1].refusal); /* opening it tells why */
	assert_int_equal(fsl_ftrace_open(&reader, traces.items[1].paths[0], NULL), FSL_ERR_FORMAT);
	fsl_ftrace_traces_fini(&traces);
}

/* Times of the events in us, as one text. */
static void read_times(const char *const *paths, size_t n_paths, bool sorts, char *text,
		       uint64_t *n_late)
{
	struct fsl_ftrace_merge *merge = NULL;
	struct fsl_error err = {0};
	const struct fsl_sched_event *event = NULL;
	*text = '\0';
	assert_int_equal(fsl_ftrace_merge_open(&merge, paths, n_paths, sorts, &err), FSL_OK);
	for (;;) {
		assert_int_equal(fsl_ftrace_merge_next(merge, &event, &err), FSL_OK);
		if (event == NULL) {
			break;
		}
		(void)sprintf(text + strlen(text), "%d:%d:%.*s ", (int)(event->time_ns / 1000),
			      (int)event->cpu, (int)event->task.comm.length, event->task.comm.at);
	}
	*n_late = fsl_ftrace_merge_late(merge);
	fsl_ftrace_merge_close(merge);
}

static void test_files_of_cpus_are_merged_by_time(void **state)
{
	char text[256];
	uint64_t n_late = 0;
	(void)state;
	const char *paths[2] = {
		write_file("cpu0", "a-1 [000] ..... 0.000001: sched_waking: comm=a pid=1 prio=1 "
				   "target_cpu=000\na-1 [000] ..... 0.000004: sched_waking: comm=b "
				   "pid=1 prio=1 target_cpu=000\n"),
		write_file("cpu1", "a-2 [001] ..... 0.000001: sched_waking: comm=c pid=1 prio=1 "
				   "target_cpu=000\na-2 [001] ..... 0.000003: sched_waking: comm=d "
				   "pid=1 prio=1 target_cpu=000\n"),
	};
	read_times(paths, 2, false, text, &n_late);
	assert_string_equal(text, "1:0:a 1:1:c 3:1:d 4:0:b ");
	assert_int_equal(n_late, 0);
}

static void test_late_events_are_sorted_if_asked(void **state)
{
	char text[256];
	uint64_t n_late = 0;
	(void)state;
	const char *path = write_file(
		"pipe",
		"a-1 [000] ..... 0.000002: sched_waking: comm=a pid=1 prio=1 target_cpu=0\n"
		"a-1 [000] ..... 0.000009: sched_waking: comm=b pid=1 prio=1 target_cpu=0\n"
		"a-1 [001] ..... 0.000003: sched_waking: comm=c pid=1 prio=1 target_cpu=0\n"
		"a-1 [001] ..... 0.000009: sched_waking: comm=d pid=1 prio=1 target_cpu=0\n");
	read_times(&path, 1, false, text, &n_late);
	assert_string_equal(text, "2:0:a 9:0:b 9:1:c 9:1:d ");
	assert_int_equal(n_late, 1);
	read_times(&path, 1, true, text, &n_late);
	assert_string_equal(text, "2:0:a 3:1:c 9:0:b 9:1:d ");
	assert_int_equal(n_late, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begins_of_lines_are_read_in_every_form),
		cmocka_unit_test(test_other_lines_are_no_events),
		cmocka_unit_test(test_switches_are_alike_in_every_form),
		cmocka_unit_test(test_hostile_names_do_not_shift_fields),
		cmocka_unit_test(test_other_events_have_their_fields),
		cmocka_unit_test(test_forms_that_cannot_be_read_are_named),
		cmocka_unit_test(test_headers_and_losses_are_told),
		cmocka_unit_test(test_a_million_lines_without_an_event_are_refused),
		cmocka_unit_test(test_damaged_files_are_told_by_their_folder),
		cmocka_unit_test(test_files_of_cpus_are_merged_by_time),
		cmocka_unit_test(test_late_events_are_sorted_if_asked),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
