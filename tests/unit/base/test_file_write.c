/* Files that appear whole or not at all, folders and paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* A folder of its own for every test, and the working directory meanwhile. */
static int enter_folder(void **state)
{
	char *folder = strdup("/tmp/failslow-test-XXXXXX");
	*state = folder;
	return folder != NULL && mkdtemp(folder) != NULL && chmod(folder, 0777) == 0 &&
			       chdir(folder) == 0
		       ? 0
		       : -1;
}

static int leave_folder(void **state)
{
	int code =
		chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1; /* fails when a test left files */
	free(*state);
	return code;
}

static void check_text(const char *path, const char *wanted)
{
	char *text = NULL;
	size_t length = 0;
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_OK);
	assert_string_equal(text, wanted);
	fsl_free(text);
}

/* The only name in the working directory is @wanted (NULL: none). */
static void check_only_name(const char *wanted)
{
	char **names = NULL;
	size_t n_names = 0;
	assert_int_equal(fsl_dir_list(".", &names, &n_names, NULL), FSL_OK);
	assert_int_equal(n_names, wanted != NULL ? 1 : 0);
	if (wanted != NULL) {
		assert_string_equal(names[0], wanted);
	}
	fsl_free(names);
}

static void write_replaces_the_whole_file(void **state)
{
	(void)state;
	assert_int_equal(fsl_file_write_atomic("a.json", "long text", 9, NULL), FSL_OK);
	check_text("a.json", "long text");
	assert_int_equal(fsl_file_write_atomic("./a.json", "new", 3, NULL), FSL_OK);
	check_text("a.json", "new");
	check_only_name("a.json");
	assert_int_equal(unlink("a.json"), 0);
}

static void write_obeys_the_umask(void **state)
{
	(void)state;
	struct stat info;
	mode_t kept = umask(027);
	assert_int_equal(fsl_file_write_atomic("a", "x", 1, NULL), FSL_OK);
	(void)umask(kept);
	assert_int_equal(stat("a", &info), 0);
	assert_int_equal(info.st_mode & 0777, 0640);
	assert_int_equal(unlink("a"), 0);
}

static void an_exclusive_write_keeps_the_old_file_and_says_so(void **state)
{
	(void)state;
	bool existed = true;
	assert_int_equal(fsl_file_write_new("a", "old", 3, &existed, NULL), FSL_OK);
	assert_false(existed);
	assert_int_equal(fsl_file_write_new("a", "new", 3, &existed, NULL), FSL_OK);
	assert_true(existed);
	check_text("a", "old");
	check_only_name("a");
	assert_int_equal(unlink("a"), 0);
}

static void syncing_a_folder_that_is_none_is_an_error(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	assert_int_equal(fsl_dir_sync(".", NULL), FSL_OK);
	assert_int_equal(fsl_dir_sync("absent", &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "path=\"absent\""));
}

static void a_left_over_temporary_file_is_no_obstacle(void **state)
{
	(void)state;
	char name[64];
	(void)snprintf(name, sizeof(name), ".failslow.%ld.0.tmp", (long)getpid());
	FILE *file = fopen(name, "w");
	assert_non_null(file);
	(void)fclose(file);
	assert_int_equal(fsl_file_write_atomic("a", "x", 1, NULL), FSL_OK);
	check_text("a", "x");
	assert_int_equal(unlink("a"), 0);
	check_only_name(name);
	assert_int_equal(unlink(name), 0);
}

/* Runs @body in a child, whose limits and rights do not matter afterwards. */
static void check_in_child(int (*body)(void))
{
	pid_t child = fork();
	int status = -1;
	assert_true(child >= 0);
	if (child == 0) {
		_exit(body());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Number of the first claim that does not hold, 0 when all do. */
static int write_to_a_full_disk(void)
{
	static const char text[5000] = "";
	struct rlimit limit = {1000, 1000};
	struct fsl_error err = {0};
	(void)signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
		return 1;
	}
	if (fsl_file_write_atomic("a", text, sizeof(text), &err) != FSL_ERR_IO) {
		return 2;
	}
	return strstr(fsl_error_root(&err), "free space there") != NULL ? 0 : 3;
}

static void a_full_disk_leaves_nothing_behind(void **state)
{
	(void)state;
	check_in_child(write_to_a_full_disk);
	check_only_name(NULL);
	assert_int_equal(fsl_file_write_atomic("a", "old", 3, NULL), FSL_OK);
	check_in_child(write_to_a_full_disk);
	check_text("a", "old");
	check_only_name("a");
	assert_int_equal(unlink("a"), 0);
}

static int write_without_permission(void)
{
	struct fsl_error err = {0};
	if (geteuid() == 0 && setuid(65534) != 0) {
		return 1;
	}
	if (fsl_file_write_atomic("closed/a", "x", 1, &err) != FSL_ERR_IO ||
	    strstr(fsl_error_root(&err), "path=\"closed/a\", reason=\"Permission denied\"") ==
		    NULL) {
		return 2;
	}
	if (fsl_dir_create("closed/b/c", NULL) != FSL_ERR_IO) {
		return 3;
	}
	return fsl_dir_list("closed", NULL, NULL, NULL) == FSL_ERR_IO ? 0 : 4;
}

static void a_closed_folder_is_an_error_with_its_path(void **state)
{
	(void)state;
	assert_int_equal(mkdir("closed", 0), 0);
	check_in_child(write_without_permission);
	assert_int_equal(rmdir("closed"), 0);
}

static void a_target_that_cannot_be_a_file_leaves_nothing_behind(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_int_equal(fsl_file_write_atomic("folder", "x", 1, &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "remedy="));
	assert_int_equal(fsl_file_write_atomic("absent/a", "x", 1, NULL), FSL_ERR_IO);
	check_only_name("folder");
	assert_int_equal(rmdir("folder"), 0);
}

/* Makes an empty file that is so old. */
static void make_old(const char *name, time_t age_s)
{
	const struct timespec then = {.tv_sec = time(NULL) - age_s};
	const struct timespec times[] = {then, then};
	assert_int_equal(fsl_file_write_atomic(name, "", 0, NULL), FSL_OK);
	assert_int_equal(utimensat(AT_FDCWD, name, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void a_sweep_removes_old_temporary_files_and_nothing_else(void **state)
{
	static const char *const kept[] = {
		".failslow.12.tmp", ".failslow.a.0.tmp", ".failslow.1.0.tmp.json",
		"failslow.1.0.tmp", ".failslow..0.tmp",  "result.json",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		make_old(kept[i], 40 * 86400);
	}
	make_old(".failslow.999.0.tmp", 7200);
	make_old(".failslow.4194303.12.tmp", 30 * 86400);
	make_old(".failslow.77.0.tmp", 60);
	assert_int_equal(symlink("result.json", ".failslow.5.0.tmp"), 0);
	assert_int_equal(fsl_dir_sweep("."), 2);
	assert_int_equal(fsl_dir_sweep("."), 0);
	assert_int_equal(fsl_dir_sweep("no such folder"), 0);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		assert_int_equal(unlink(kept[i]), 0);
	}
	assert_int_equal(unlink(".failslow.77.0.tmp"), 0);
	assert_int_equal(unlink(".failslow.5.0.tmp"), 0);
}

static void dir_create_makes_all_parents_once(void **state)
{
	(void)state;
	struct stat info;
	assert_int_equal(fsl_dir_create("a/b//c/", NULL), FSL_OK);
	assert_int_equal(fsl_dir_create("a/b/c", NULL), FSL_OK);
	assert_int_equal(stat("a/b/c", &info), 0);
	assert_true(S_ISDIR(info.st_mode));
	assert_int_equal(fsl_dir_create(".", NULL), FSL_OK);
	assert_int_equal(fsl_dir_create("/", NULL), FSL_OK);
	assert_int_equal(fsl_dir_create("", NULL), FSL_OK);
	assert_int_equal(fsl_dir_create(*state, NULL), FSL_OK); /* absolute */
	struct fsl_error err = {0};
	assert_int_equal(fsl_file_write_atomic("a/file", "x", 1, NULL), FSL_OK);
	assert_int_equal(fsl_dir_create("a/file", &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "Not a directory"));
	assert_int_equal(fsl_dir_create("a/file/b", NULL), FSL_ERR_IO);
	assert_int_equal(unlink("a/file"), 0);
	assert_int_equal(rmdir("a/b/c"), 0);
	assert_int_equal(rmdir("a/b"), 0);
	assert_int_equal(rmdir("a"), 0);
}

static void dir_list_is_sorted_and_complete(void **state)
{
	(void)state;
	enum { FILES_N = 3000 };
	char name[32];
	char **names = NULL;
	size_t n_names = 0;
	for (int i = 0; i < FILES_N; i++) {
		(void)snprintf(name, sizeof(name), "f%04d", i * 7 % FILES_N);
		FILE *file = fopen(name, "w");
		assert_non_null(file);
		(void)fclose(file);
	}
	assert_int_equal(fsl_dir_list(".", &names, &n_names, NULL), FSL_OK);
	assert_int_equal(n_names, FILES_N);
	assert_null(names[FILES_N]);
	for (int i = 0; i < FILES_N; i++) {
		(void)snprintf(name, sizeof(name), "f%04d", i);
		assert_string_equal(names[i], name);
		assert_int_equal(unlink(name), 0);
	}
	fsl_free(names);
	check_only_name(NULL);
	struct fsl_error err = {0};
	assert_int_equal(fsl_dir_list("absent", &names, &n_names, &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "path=\"absent\""));
}

static void check_join(const char *base, const char *path, const char *wanted)
{
	char *joined = fsl_path_join(base, path);
	assert_non_null(joined);
	assert_string_equal(joined, wanted);
	fsl_free(joined);
}

static void path_join_adds_one_slash_where_needed(void **state)
{
	(void)state;
	check_join("a", "b", "a/b");
	check_join("a/", "b", "a/b");
	check_join("/", "b", "/b");
	check_join("", "b", "b");
	check_join("a", "", "a");
	check_join("", "", "");
	check_join("a", "/b", "/b");
	check_join("a/b", "../c", "a/b/../c");
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	char **names = NULL;
	size_t n_names = 0;
	assert_int_equal(fsl_file_write_atomic("a", "x", 1, NULL), FSL_OK);
	for (uint64_t nth = 1; nth <= 2; nth++) {
		fsl_mem_fail_at(nth);
		assert_int_equal(fsl_file_write_atomic("b", "x", 1, NULL), FSL_ERR_MEMORY);
		fsl_mem_fail_at(nth);
		assert_int_equal(fsl_dir_list(".", &names, &n_names, NULL), FSL_ERR_MEMORY);
	}
	fsl_mem_fail_at(1);
	assert_int_equal(fsl_dir_create("b/c", NULL), FSL_ERR_MEMORY);
	assert_null(fsl_path_join("a", "b"));
	fsl_mem_fail_at(0);
	check_only_name("a");
	assert_int_equal(unlink("a"), 0);
}

static void draft_has_no_name_until_it_is_published(void **state)
{
	(void)state;
	struct fsl_draft *draft = NULL;
	assert_int_equal(fsl_draft_create(&draft, "a.json", NULL), FSL_OK);
	assert_true(fputs("text", fsl_draft_stream(draft)) >= 0);
	assert_int_not_equal(access("a.json", F_OK), 0);
	assert_int_equal(fsl_draft_publish(draft, NULL), FSL_OK);
	fsl_draft_destroy(draft);
	check_text("a.json", "text");
	check_only_name("a.json");
	assert_int_equal(unlink("a.json"), 0);
}

static void draft_that_is_not_published_leaves_nothing(void **state)
{
	(void)state;
	struct fsl_draft *draft = NULL;
	assert_int_equal(fsl_draft_create(&draft, "a.json", NULL), FSL_OK);
	assert_int_equal(access(fsl_draft_path(draft), F_OK), 0);
	fsl_draft_destroy(draft);
	fsl_draft_destroy(NULL);
	check_only_name(NULL);
}

static void draft_that_cannot_be_made_names_the_file(void **state)
{
	(void)state;
	struct fsl_draft *draft = NULL;
	struct fsl_error err = {0};
	assert_int_equal(fsl_draft_create(&draft, "missing/a.json", &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "path=\"missing/a.json\""));
	for (uint64_t nth = 1; draft == NULL; nth++) {
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_draft_create(&draft, "a.json", NULL);
		fsl_mem_fail_at(0);
		assert_int_equal(status, draft != NULL ? FSL_OK : FSL_ERR_MEMORY);
	}
	fsl_draft_destroy(draft);
	check_only_name(NULL);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(write_replaces_the_whole_file),
		IN_FOLDER(draft_has_no_name_until_it_is_published),
		IN_FOLDER(draft_that_is_not_published_leaves_nothing),
		IN_FOLDER(draft_that_cannot_be_made_names_the_file),
		IN_FOLDER(write_obeys_the_umask),
		IN_FOLDER(an_exclusive_write_keeps_the_old_file_and_says_so),
		IN_FOLDER(syncing_a_folder_that_is_none_is_an_error),
		IN_FOLDER(a_left_over_temporary_file_is_no_obstacle),
		IN_FOLDER(a_full_disk_leaves_nothing_behind),
		IN_FOLDER(a_closed_folder_is_an_error_with_its_path),
		IN_FOLDER(a_target_that_cannot_be_a_file_leaves_nothing_behind),
		IN_FOLDER(a_sweep_removes_old_temporary_files_and_nothing_else),
		IN_FOLDER(dir_create_makes_all_parents_once),
		IN_FOLDER(dir_list_is_sorted_and_complete),
		IN_FOLDER(path_join_adds_one_slash_where_needed),
		IN_FOLDER(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
