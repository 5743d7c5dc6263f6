/* Threads of a host with their processes and their numbers in containers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/pid_map.h"

static char proc[64];

/* A thread with the lines of its status that count. */
static void put(int tgid, int tid, const char *name, const char *spaces)
{
	char path[256];
	(void)snprintf(path, sizeof(path), "mkdir -p %s/%d/task/%d", proc, tgid, tid);
	assert_int_equal(system(path), 0);
	(void)snprintf(path, sizeof(path), "%s/%d/task/%d/status", proc, tgid, tid);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	(void)fprintf(file,
		      "Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t%d\nNgid:\t0\n"
		      "Pid:\t%d\nPPid:\t1\nTracerPid:\t0\nNSpid:\t%s\nNSsid:\t1\n",
		      name, tgid, tid, spaces);
	assert_int_equal(fclose(file), 0);
}

static int make_proc(void **state)
{
	(void)state;
	(void)snprintf(proc, sizeof(proc), "/tmp/pid-map-XXXXXX");
	assert_non_null(mkdtemp(proc));
	return 0;
}

static int remove_proc(void **state)
{
	char command[128];
	(void)state;
	(void)snprintf(command, sizeof(command), "rm -r %s", proc);
	return system(command);
}

static void assert_written(const struct fsl_pid_map *map, const char *wanted)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	fsl_pid_map_write(map, stream);
	assert_int_equal(fclose(stream), 0);
	assert_string_equal(text, wanted);
	free(text);
}

static void threads_have_the_number_of_their_innermost_container(void **state)
{
	struct fsl_pid_map map = {0};
	(void)state;
	put(4711, 4711, "python3", "4711\t17\t3");
	put(4711, 4720, "pt_main: \"0\"", "4720\t26\t12");
	put(9, 9, "kworker/u8:2-events_unbound", "9");
	assert_int_equal(fsl_pid_map_add_present(&map, proc, NULL), FSL_OK);
	assert_written(&map,
		       "{\"9\": {\"NSpid\": \"9\", \"name\": \"kworker/u8:2-events_unbound\", "
		       "\"Tgid\": \"9\", \"PPid\": \"1\"}, "
		       "\"4711\": {\"NSpid\": \"3\", \"name\": \"python3\", \"Tgid\": \"4711\", "
		       "\"PPid\": \"1\"}, "
		       "\"4720\": {\"NSpid\": \"12\", \"name\": \"pt_main: \\\"0\\\"\", \"Tgid\": "
		       "\"4711\", \"PPid\": \"1\"}}\n");
	fsl_pid_map_fini(&map);
}

static void a_second_look_adds_threads_and_renames_them(void **state)
{
	struct fsl_pid_map map = {0};
	(void)state;
	put(50, 50, "bash", "50");
	put(70, 70, "gone", "70");
	assert_int_equal(fsl_pid_map_add_present(&map, proc, NULL), FSL_OK);
	put(50, 50, "python3", "50");
	put(60, 60, "new\xff", "60");
	assert_int_equal(remove_proc(NULL), 0);
	assert_int_equal(mkdir(proc, 0755), 0);
	put(50, 50, "python3", "50");
	put(60, 60, "new\xff", "60");
	assert_int_equal(fsl_pid_map_add_present(&map, proc, NULL), FSL_OK);
	assert_int_equal(map.n_rows, 3);
	assert_string_equal(map.rows[0].name, "python3");
	assert_string_equal(map.rows[1].name, "new?");
	assert_string_equal(map.rows[2].name, "gone");
	fsl_pid_map_fini(&map);
}

static void a_host_without_proc_is_an_error(void **state)
{
	struct fsl_pid_map map = {0};
	(void)state;
	assert_int_equal(fsl_pid_map_add_present(&map, "/dev/null/proc", NULL), FSL_ERR_IO);
	assert_int_equal(map.n_rows, 0);
	fsl_pid_map_fini(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			threads_have_the_number_of_their_innermost_container, make_proc,
			remove_proc),
		cmocka_unit_test_setup_teardown(a_second_look_adds_threads_and_renames_them,
						make_proc, remove_proc),
		cmocka_unit_test_setup_teardown(a_host_without_proc_is_an_error, make_proc,
						remove_proc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
