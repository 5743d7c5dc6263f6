/* Cores, caches and nodes of CPUs as the kernel shows them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/cpu_places.h"

static char g_folder[64];

static void put(const char *path, const char *text)
{
	char command[512];
	(void)snprintf(command, sizeof(command), "mkdir -p $(dirname %s/%s) && echo %s > %s/%s",
		       g_folder, path, text, g_folder, path);
	assert_int_equal(system(command), 0);
}

static void assert_written(size_t n_wanted, const char *wanted)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	assert_int_equal(fsl_record_cpu_places_write(g_folder, stream), n_wanted);
	assert_int_equal(fclose(stream), 0);
	assert_string_equal(text, wanted);
	free(text);
}

static int make_folder(void **state)
{
	(void)state;
	(void)snprintf(g_folder, sizeof(g_folder), "/tmp/cpu-places-XXXXXX");
	assert_non_null(mkdtemp(g_folder));
	return 0;
}

static int remove_folder(void **state)
{
	char command[128];
	(void)state;
	(void)snprintf(command, sizeof(command), "rm -r %s", g_folder);
	return system(command);
}

static void the_last_cache_and_the_node_of_each_cpu_are_told(void **state)
{
	(void)state;
	put("cpu0/topology/core_id", "0");
	put("cpu0/topology/physical_package_id", "0");
	put("cpu0/cache/index0/level", "1");
	put("cpu0/cache/index0/shared_cpu_list", "0");
	put("cpu0/cache/index3/level", "3");
	put("cpu0/cache/index3/shared_cpu_list", "0-3,8-11");
	put("cpu0/node1/cpulist", "0-3");
	put("cpu10/topology/core_id", "2");
	put("cpu10/topology/physical_package_id", "1");
	put("cpu3/online", "0");
	assert_written(2, "# CPU,Core,Socket,Node,L3\n0,0,0,1,0\n10,2,1,,\n");
}

static void a_host_that_tells_nothing_leaves_the_file_empty(void **state)
{
	(void)state;
	put("cpu0/topology/core_id", "x");
	assert_written(0, "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		TEST(the_last_cache_and_the_node_of_each_cpu_are_told),
		TEST(a_host_that_tells_nothing_leaves_the_file_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
