/* Steps and processes of ranks from captures: names in both forms, times that are no UTC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/capture.h"
#include "engine/hostbound_parts.h"

#define UTC_NS INT64_C(1700000000000000000)

static struct fsl_profile_rank g_ranks[3];
static const struct fsl_profile g_capture = {.ranks = g_ranks, .n_ranks = 3};
static const char *g_paths[] = {"/job/ftrace/trace.txt"};
static const struct fsl_ftrace_trace g_files = {g_paths, 1, NULL};
static struct fsl_host_trace g_trace;

static int set_up(void **state)
{
	static struct fsl_profile_range ranges[] = {{4, UTC_NS + 100, UTC_NS + 200},
						    {5, UTC_NS + 150, UTC_NS + 300},
						    {6, UTC_NS + 200, UTC_NS + 260}};
	(void)state;
	for (int32_t r = 0; r < 3; r++) {
		g_ranks[r] = (struct fsl_profile_rank){.rank = r};
		g_ranks[r].trace.ranges = ranges;
		g_ranks[r].trace.n_ranges = 3;
	}
	g_ranks[0].folder.path = "/job/node-1.lan_4711_20250615150640123_ascend_pt";
	g_ranks[1].folder.path = "/job";
	g_ranks[1].folder.file = "node_1_4712.1700000000000.pt.trace.json.gz";
	g_ranks[2].folder.path = "/job/rank2_ascend_pt";
	g_paths[0] = "/job/ftrace/trace.txt";
	g_trace = (struct fsl_host_trace){
		.files = &g_files,
		.beside = {.has_offset = true, .offset_ns = UTC_NS - 1000, .clock = ""}};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fsl_ftrace_ranks_fini(&g_trace.ranks);
	return 0;
}

static void join(void)
{
	assert_int_equal(fsl_host_trace_join_capture(&g_trace, &g_capture, NULL), FSL_OK);
}

static void names_of_captures_tell_processes(void **state)
{
	(void)state;
	join();
	assert_int_equal(g_trace.ranks.n_items, 2); /* the name of the third tells none */
	assert_int_equal(g_trace.ranks.items[0].pid, 4711);
	assert_int_equal(g_trace.ranks.items[1].pid, 4712);
	assert_int_equal(g_trace.n_job_ranks, 2);
}

static void steps_are_carried_to_the_clock_of_the_trace(void **state)
{
	(void)state;
	assert_non_null(fsl_ftrace_ranks_get(&g_trace.ranks, 2, 99, NULL)); /* by ranks.json */
	join();
	assert_int_equal(g_trace.ranks.n_items, 3);
	const struct fsl_ftrace_rank *rank = &g_trace.ranks.items[2];
	assert_int_equal(rank->pid, 99);
	assert_int_equal(rank->n_steps, 2); /* the second lies in the first */
	assert_int_equal(rank->steps[0].begin_ns, 1100);
	assert_int_equal(rank->steps[1].step, 6);
	assert_int_equal(rank->n_calls, 2);
}

static void iterations_of_devices_and_other_clocks_are_no_steps(void **state)
{
	static struct fsl_profile_range early[] = {{4, 100, 200}};
	(void)state;
	g_ranks[0].trace.has_iterations = true;
	g_ranks[1].trace.ranges = early;
	g_ranks[1].trace.n_ranges = 1;
	join();
	assert_int_equal(g_trace.ranks.n_items, 0);
}

static void without_a_clock_nothing_is_carried(void **state)
{
	(void)state;
	g_trace.beside.has_offset = false;
	join();
	assert_true(g_trace.lacks_clock);
	assert_int_equal(g_trace.ranks.items[0].n_steps, 0);
}

static void captures_of_other_hosts_are_left_out_if_the_path_has_the_name(void **state)
{
	(void)state;
	g_paths[0] = "/job/ftrace/node_1.txt";
	g_ranks[0].folder.path = "/job/node-1.lan_4712_20250615150640123_ascend_pt";
	join();
	assert_int_equal(g_trace.ranks.n_items, 1);
	assert_int_equal(g_trace.ranks.items[0].rank, 1);
	assert_int_equal(g_trace.ranks.items[0].pid, 4712);
}

static void a_process_of_two_captures_is_no_rank(void **state)
{
	(void)state;
	g_ranks[1].folder.file = "node_1_4711.1700000000000.pt.trace.json.gz";
	g_ranks[2].folder.path = "/job/node-1.lan_4713_20250615150640123_ascend_pt";
	join();
	assert_int_equal(g_trace.ranks.n_items, 1);
	assert_int_equal(g_trace.ranks.items[0].rank, 2);
	assert_int_equal(g_trace.ranks.items[0].pid, 4713);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(names_of_captures_tell_processes),
		TEST(steps_are_carried_to_the_clock_of_the_trace),
		TEST(iterations_of_devices_and_other_clocks_are_no_steps),
		TEST(without_a_clock_nothing_is_carried),
		TEST(captures_of_other_hosts_are_left_out_if_the_path_has_the_name),
		TEST(a_process_of_two_captures_is_no_rank),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
