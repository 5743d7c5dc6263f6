/* What is kept of a capture: found again by folder and rules, never changed, never half there. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "state/state.h"

static char folder[64], path[128];

static int setup(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/fsl_kept_XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/state.db", folder);
	return 0;
}

/* Nothing else may be left than what these folders of jobs have. */
static int teardown(void **state)
{
	(void)state;
	static const char *const roots[] = {"/a", "/b"};
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		char *kept = fsl_state_beside(path, FSL_BESIDE_KEPT, roots[i]);
		(void)unlink(kept);
		fsl_free(kept);
	}
	return rmdir(folder);
}

static void put(const char *root, const char *rules, const char *text)
{
	assert_int_equal(fsl_state_put_kept(path, root, rules, text, strlen(text), NULL), FSL_OK);
}

/* What is kept has to be @text; NULL: nothing. */
static void expect(const char *root, const char *rules, const char *text)
{
	void *bytes = NULL;
	size_t n = 0;
	assert_int_equal(fsl_state_get_kept(path, root, rules, &bytes, &n, NULL), FSL_OK);
	assert_int_equal(n, text != NULL ? strlen(text) : 0);
	assert_true((bytes != NULL) == (text != NULL));
	if (text != NULL) {
		assert_memory_equal(bytes, text, n);
	}
	fsl_free(bytes);
}

static void what_is_kept_is_found_by_folder_and_rules(void **state)
{
	(void)state;
	expect("/a", "1", NULL);
	put("/a", "1", "first");
	put("/b", "1", "other");
	expect("/a", "1", "first");
	expect("/b", "1", "other");
	expect("/a", "2", NULL);
	put("/a", "2", "second");
	expect("/a", "2", "second");
	expect("/a", "1", NULL);
}

/* Two folders whose names have the same digits must not take each other's. */
static void what_is_kept_of_another_folder_is_not_used(void **state)
{
	(void)state;
	char *a = fsl_state_beside(path, FSL_BESIDE_KEPT, "/a");
	char *b = fsl_state_beside(path, FSL_BESIDE_KEPT, "/b");
	put("/a", "1", "first");
	assert_int_equal(rename(a, b), 0);
	expect("/b", "1", NULL);
	fsl_free(a);
	fsl_free(b);
}

static size_t size_of(const char *file_path)
{
	struct stat facts;
	assert_int_equal(stat(file_path, &facts), 0);
	return (size_t)facts.st_size;
}

static void what_changed_on_disk_is_not_used(void **state)
{
	(void)state;
	char *kept = fsl_state_beside(path, FSL_BESIDE_KEPT, "/a");
	put("/a", "1", "first");
	for (size_t at = 0, size = size_of(kept); at < size; at++) {
		int fd = open(kept, O_RDWR);
		char byte = 0;
		assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		assert_int_equal(close(fd), 0);
		expect("/a", "1", NULL);
		put("/a", "1", "first");
		expect("/a", "1", "first");
	}
	for (size_t n = size_of(kept); n-- > 0;) {
		assert_int_equal(truncate(kept, (off_t)n), 0);
		expect("/a", "1", NULL);
	}
	put("/a", "1", "again");
	expect("/a", "1", "again");
	fsl_free(kept);
}

static void what_is_no_file_is_not_read(void **state)
{
	(void)state;
	char *a = fsl_state_beside(path, FSL_BESIDE_KEPT, "/a");
	char *b = fsl_state_beside(path, FSL_BESIDE_KEPT, "/b");
	put("/a", "1", "first");
	assert_int_equal(symlink(a, b), 0);
	expect("/b", "1", NULL);
	put("/b", "1", "second"); /* in the place of the link */
	expect("/b", "1", "second");
	expect("/a", "1", "first");
	assert_int_equal(unlink(a), 0);
	assert_int_equal(mkfifo(a, 0600), 0);
	expect("/a", "1", NULL);
	fsl_free(a);
	fsl_free(b);
}

/* A file that was written to so many days ago. */
static void write_file(const char *file_path, int days)
{
	const struct timespec then = {time(NULL) - days * 24 * 3600 - 60, 0};
	const struct timespec times[2] = {then, then};
	FILE *file = fopen(file_path, "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(utimensat(AT_FDCWD, file_path, times, 0), 0);
}

static void what_stands_beside_goes_when_it_is_old(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int days;
		bool is_gone;
	} files[] = {
		{"-tails-0123456789abcdef", 2, true},
		{"-tails-1123456789abcdef", 1, false},
		{"-kept-0123456789abcdef", 90, true},
		{"-kept-1123456789abcdef", 89, false},
		{"-tails-0123456789abcdeg", 100, false},
		{"-tails-01234567", 100, false},
		{"-kept-0123456789abcdef.old", 100, false},
		{"-journal", 100, false},
		/* Of runs that were killed. */
		{"/.failslow.123.0.tmp", 2, true},
		{"/.failslow.124.0.tmp", 1, false},
		{"/.failslow.x.0.tmp", 100, false},
		{"/.failslow.tmp", 100, false},
	};
	enum { FILES_N = sizeof(files) / sizeof(files[0]) };
	char names[FILES_N][192];
	for (size_t i = 0; i < FILES_N; i++) {
		bool is_beside = files[i].name[0] == '-';
		(void)snprintf(names[i], sizeof(names[i]), "%s%s", is_beside ? path : folder,
			       files[i].name);
		write_file(names[i], files[i].days);
	}
	put("/a", "1", "first"); /* looks around, as it is the first of its folder */
	for (size_t i = 0; i < FILES_N; i++) {
		assert_int_equal(unlink(names[i]), files[i].is_gone ? -1 : 0);
	}
	write_file(names[0], 100);
	put("/a", "1", "again"); /* not the first */
	assert_int_equal(unlink(names[0]), 0);
}

static void all_is_forgotten_and_nothing_else(void **state)
{
	(void)state;
	char other[192], tails[192];
	(void)snprintf(other, sizeof(other), "%s-wal", path);
	(void)snprintf(tails, sizeof(tails), "%s-tails-0123456789abcdef", path);
	put("/a", "1", "first");
	write_file(path, 0);
	write_file(tails, 0);
	write_file(other, 100);
	fsl_state_forget(path);
	expect("/a", "1", NULL);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(tails, F_OK), -1);
	assert_int_equal(unlink(other), 0);
}

static void the_folder_can_be_made(void **state)
{
	(void)state;
	char deep[160];
	(void)snprintf(deep, sizeof(deep), "%s/new/state.db", folder);
	char *kept = fsl_state_beside(deep, FSL_BESIDE_KEPT, "/a");
	assert_int_equal(fsl_state_prepare_folder(deep, NULL), FSL_OK);
	assert_int_equal(fsl_state_put_kept(deep, "/a", "1", "x", 1, NULL), FSL_OK);
	assert_int_equal(unlink(kept), 0);
	(void)snprintf(deep, sizeof(deep), "%s/new", folder);
	assert_int_equal(rmdir(deep), 0);
	fsl_free(kept);
}

static void a_failed_write_leaves_what_was_there(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	static char large[1 << 16];
	const struct rlimit little = {1 << 12, RLIM_INFINITY};
	struct rlimit before;
	put("/a", "1", "first");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	assert_int_equal(fsl_state_put_kept(path, "/a", "1", large, sizeof(large), &err),
			 FSL_ERR_IO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(fsl_error_root(&err), "-kept-"));
	expect("/a", "1", "first");
}

static void what_is_too_much_is_not_kept(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	put("/a", "1", "first");
	assert_int_equal(fsl_state_put_kept(path, "/a", "1", "x", 1 << 28, &err), FSL_ERR_LIMIT);
	expect("/a", "1", "first");
}

static void others_may_not_write_what_is_kept(void **state)
{
	(void)state;
	struct stat facts;
	char *kept = fsl_state_beside(path, FSL_BESIDE_KEPT, "/a");
	mode_t before = umask(0);
	put("/a", "1", "first");
	(void)umask(before);
	assert_int_equal(stat(kept, &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0644);
	fsl_free(kept);
}

static void nothing_is_kept_where_no_file_can_be(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	void *bytes = NULL;
	size_t n = 0;
	char below[192], long_name[512];
	char *kept = fsl_state_beside(path, FSL_BESIDE_KEPT, "/a");
	put("/a", "1", "first");
	(void)snprintf(below, sizeof(below), "%s/state.db", kept);
	assert_int_equal(fsl_state_get_kept(below, "/a", "1", &bytes, &n, NULL), FSL_OK);
	assert_null(bytes);
	(void)snprintf(long_name, sizeof(long_name), "%s/%0300d", folder, 1);
	assert_int_equal(fsl_state_get_kept(long_name, "/a", "1", &bytes, &n, NULL), FSL_OK);
	assert_null(bytes);
	assert_int_equal(unlink(kept), 0);
	assert_int_equal(mkdir(kept, 0700), 0);
	expect("/a", "1", NULL);
	assert_int_equal(fsl_state_put_kept(path, "/a", "1", "x", 1, &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "remove the folder"));
	assert_int_equal(rmdir(kept), 0);
	fsl_free(kept);
}

static void out_of_memory_is_told(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	void *bytes = NULL;
	size_t n = 0;
	put("/a", "1", "first");
	for (uint64_t nth = 1; nth < 3; nth++) {
		fsl_mem_fail_at(nth);
		assert_int_equal(fsl_state_get_kept(path, "/a", "1", &bytes, &n, &err),
				 FSL_ERR_MEMORY);
		fsl_error_clear(&err);
		fsl_mem_fail_at(nth);
		assert_int_equal(fsl_state_put_kept(path, "/a", "1", "x", 1, &err), FSL_ERR_MEMORY);
		fsl_error_clear(&err);
		fsl_mem_fail_at(0);
	}
	expect("/a", "1", "first");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
		CASE(what_is_kept_is_found_by_folder_and_rules),
		CASE(what_is_kept_of_another_folder_is_not_used),
		CASE(what_changed_on_disk_is_not_used),
		CASE(what_is_no_file_is_not_read),
		CASE(what_stands_beside_goes_when_it_is_old),
		CASE(all_is_forgotten_and_nothing_else),
		CASE(the_folder_can_be_made),
		CASE(a_failed_write_leaves_what_was_there),
		CASE(what_is_too_much_is_not_kept),
		CASE(others_may_not_write_what_is_kept),
		CASE(nothing_is_kept_where_no_file_can_be),
		CASE(out_of_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
