/* Available memory by the kernel and by control groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory_left.h"

static char root[64];

/* An empty folder that stands for "/". */
static int make_root(void **state)
{
	(void)state;
	(void)snprintf(root, sizeof(root), "/tmp/failslow-test-XXXXXX");
	return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[128];
	(void)state;
	(void)snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static void put(const char *folder, const char *name, const char *text)
{
	char path[512];
	(void)snprintf(path, sizeof(path), "%s%s", root, folder);
	assert_int_equal(fsl_dir_create(path, NULL), FSL_OK);
	(void)snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void put_available(const char *line)
{
	char text[256];
	(void)snprintf(text, sizeof(text), "MemTotal: 9 kB\nMemFree: 1 kB\n%sBuffers: 2 kB\n",
		       line);
	put("/proc", "meminfo", text);
}

static void nothing_told_is_no_limit(void **state)
{
	(void)state;
	assert_true(fsl_memory_left(root) == UINT64_MAX);
	put_available("");
	put("/proc/self", "cgroup", "0::/\n");
	assert_true(fsl_memory_left(root) == UINT64_MAX);
}

static void what_the_kernel_has_is_told_in_bytes(void **state)
{
	(void)state;
	put_available("MemAvailable:   24117248 kB\n");
	assert_true(fsl_memory_left(root) == UINT64_C(24117248) * 1024);
}

static void the_limit_of_a_group_around_this_one_counts(void **state)
{
	(void)state;
	put_available("MemAvailable: 24117248 kB\n");
	put("/proc/self", "cgroup", "0::/pods.slice/pod7/main\n");
	put("/sys/fs/cgroup/pods.slice/pod7/main", "memory.max", "max\n");
	put("/sys/fs/cgroup/pods.slice/pod7", "memory.max", "1073741824\n");
	put("/sys/fs/cgroup/pods.slice", "memory.max", "4294967296\n");
	assert_true(fsl_memory_left(root) == UINT64_C(1073741824));
}

static void a_container_that_sees_only_its_own_folder_has_its_limit(void **state)
{
	(void)state;
	put("/proc/self", "cgroup", "0::/kubepods/of/the/host\n");
	put("/sys/fs/cgroup", "memory.max", "536870912\n");
	assert_true(fsl_memory_left(root) == UINT64_C(536870912));
}

static void groups_of_version_one_are_read_too(void **state)
{
	(void)state;
	put("/proc/self", "cgroup", "9:cpu,cpuacct:/job\n4:memory:/job\n0::/job\n");
	put("/sys/fs/cgroup/memory/job", "memory.limit_in_bytes", "268435456\n");
	put("/sys/fs/cgroup/cpu/job", "memory.limit_in_bytes", "1\n");
	assert_true(fsl_memory_left(root) == UINT64_C(268435456));
}

static void broken_lines_are_no_limit(void **state)
{
	(void)state;
	put_available("MemAvailable: lots\n");
	put("/proc/self", "cgroup", "\n0\n0:\n:::::\n4:memory\n");
	assert_true(fsl_memory_left(root) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_told_is_no_limit, make_root, remove_root),
		cmocka_unit_test_setup_teardown(what_the_kernel_has_is_told_in_bytes, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(the_limit_of_a_group_around_this_one_counts,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(
			a_container_that_sees_only_its_own_folder_has_its_limit, make_root,
			remove_root),
		cmocka_unit_test_setup_teardown(groups_of_version_one_are_read_too, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(broken_lines_are_no_limit, make_root, remove_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
