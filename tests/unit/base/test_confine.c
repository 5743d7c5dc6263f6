/* Confinement by Landlock: what stays open and what does not, with each version of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/mem.h"

enum { STRANGER = 12345, SKIPPED = 77 };

/* A tree with inputs, another folder that is no input, and results. */
struct tree {
	char root[32];
	char path[PATH_MAX];
};

static const char *below(struct tree *tree, const char *name)
{
	(void)snprintf(tree->path, sizeof(tree->path), "%s/%s", tree->root, name);
	return tree->path;
}

static void write_file(struct tree *tree, const char *name)
{
	assert_int_equal(fsl_file_write_atomic(below(tree, name), "text\n", 5, NULL), FSL_OK);
}

static void make_tree(struct tree *tree)
{
	static const char *const folders[] = {"inputs", "inputs/mspti", "disk", "disk/mspti",
					      "results"};
	(void)snprintf(tree->root, sizeof(tree->root), "confine-XXXXXX");
	assert_non_null(mkdtemp(tree->root));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		assert_int_equal(fsl_dir_create(below(tree, folders[i]), NULL), FSL_OK);
	}
	write_file(tree, "inputs/mspti/0.csv");
	write_file(tree, "disk/mspti/1.csv");
	write_file(tree, "disk/secret");
}

static void link_to(struct tree *tree, const char *name, const char *target)
{
	assert_int_equal(symlink(target, below(tree, name)), 0);
}

static void remove_tree(struct tree *tree)
{
	char command[64];
	(void)snprintf(command, sizeof(command), "rm -r %s", tree->root);
	assert_int_equal(system(command), 0);
}

static int errno_of_reading(struct tree *tree, const char *name)
{
	int file = open(below(tree, name), O_RDONLY | O_CLOEXEC);
	int code = file < 0 ? errno : 0;
	if (file >= 0) {
		(void)close(file);
	}
	return code;
}

static int errno_of_writing(struct tree *tree, const char *name)
{
	struct fsl_error err = {0};
	enum fsl_status status = fsl_file_write_atomic(below(tree, name), "x", 1, &err);
	return status == FSL_OK ? 0 : EACCES;
}

/* Confinement lasts: each check has a process of its own, which returns the line that failed. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			_exit(__LINE__ % 200 + 1);                                                 \
		}                                                                                  \
	} while (0)

static void in_a_child(struct tree *tree, int abi, void (*check)(struct tree *tree, int abi))
{
	pid_t child = fork();
	if (child == 0) {
		check(tree, abi);
		_exit(0);
	}
	int status = 0;
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static struct fsl_confine *plan_of(struct tree *tree)
{
	struct fsl_confine *plan = fsl_confine_create();
	fsl_confine_allow(plan, FSL_CONFINE_INPUT, below(tree, "inputs"));
	fsl_confine_allow(plan, FSL_CONFINE_WRITE, below(tree, "results"));
	return plan;
}

static void begin(struct fsl_confine *plan, int abi)
{
	fsl_confine_begin(plan, abi);
	fsl_confine_destroy(plan);
}

static void check_inputs_and_results(struct tree *tree, int abi)
{
	begin(plan_of(tree), abi);
	EXPECT(fsl_confine_is_active());
	EXPECT(errno_of_reading(tree, "inputs/mspti/0.csv") == 0);
	EXPECT(errno_of_reading(tree, "disk/secret") == EACCES);
	EXPECT(errno_of_reading(tree, "disk") == EACCES);
	EXPECT(errno_of_writing(tree, "results/a") == 0);
	EXPECT(errno_of_writing(tree, "results/a") == 0);
	EXPECT(fsl_dir_create(below(tree, "results/b/c"), NULL) == FSL_OK);
	EXPECT(errno_of_writing(tree, "results/b/c/d") == 0);
	EXPECT(errno_of_writing(tree, "inputs/a") == EACCES);
	EXPECT(errno_of_writing(tree, "disk/a") == EACCES);
	EXPECT(unlink(below(tree, "inputs/mspti/0.csv")) != 0);
	EXPECT(fsl_confine_reason(below(tree, "disk/secret"), EACCES) != NULL);
	EXPECT(fsl_confine_reason(below(tree, "disk/absent"), EACCES) == NULL);
	EXPECT(fsl_confine_reason(below(tree, "disk/secret"), EIO) == NULL);
}

static void each_version_leaves_inputs_readable_and_results_writable(void **state)
{
	(void)state;
	int abi_max = fsl_confine_abi();
	if (abi_max == 0) {
		skip();
	}
	for (int abi = 1; abi <= abi_max; abi++) {
		struct tree tree;
		make_tree(&tree);
		in_a_child(&tree, abi, check_inputs_and_results);
		remove_tree(&tree);
	}
}

static void check_unconfined(struct tree *tree, int abi)
{
	begin(plan_of(tree), abi);
	EXPECT(!fsl_confine_is_active());
	EXPECT(errno_of_reading(tree, "disk/secret") == 0);
	EXPECT(errno_of_writing(tree, "disk/a") == 0);
	EXPECT(fsl_confine_reason(below(tree, "disk/secret"), EACCES) == NULL);
}

static void check_refused(struct tree *tree, int abi)
{
	struct fsl_confine *plan = plan_of(tree);
	fsl_confine_allow(plan, FSL_CONFINE_NOTHING, "a hook runs any program");
	begin(plan, abi);
	EXPECT(!fsl_confine_is_active());
	begin(NULL, abi);
	EXPECT(!fsl_confine_is_active());
	EXPECT(errno_of_reading(tree, "disk/secret") == 0);
}

static void check_short_memory(struct tree *tree, int abi)
{
	for (uint64_t k = 1; k < 8; k++) {
		fsl_mem_fail_at(k);
		struct fsl_confine *plan = plan_of(tree);
		fsl_mem_fail_at(0);
		begin(plan, abi);
		EXPECT(fsl_confine_is_active() ==
		       (errno_of_reading(tree, "disk/secret") == EACCES));
		EXPECT(errno_of_reading(tree, "inputs/mspti/0.csv") == 0);
		EXPECT(errno_of_writing(tree, "results/a") == 0);
	}
}

static void nothing_changes_without_landlock_or_if_it_must_not(void **state)
{
	struct tree tree;
	(void)state;
	make_tree(&tree);
	in_a_child(&tree, 0, check_unconfined);
	in_a_child(&tree, fsl_confine_abi(), check_refused);
	in_a_child(&tree, fsl_confine_abi(), check_short_memory);
	remove_tree(&tree);
}

static void check_links(struct tree *tree, int abi)
{
	begin(plan_of(tree), abi);
	EXPECT(fsl_confine_is_active());
	EXPECT(errno_of_reading(tree, "inputs/other/1.csv") == 0);
	EXPECT(errno_of_reading(tree, "inputs/other/on") == 0);
	EXPECT(errno_of_reading(tree, "disk/secret") == EACCES);
	EXPECT(errno_of_writing(tree, "disk/mspti/a") == EACCES);
}

static void links_to_another_disk_are_followed_and_circles_end(void **state)
{
	struct tree tree;
	(void)state;
	if (fsl_confine_abi() == 0) {
		skip();
	}
	make_tree(&tree);
	link_to(&tree, "inputs/other", "../disk/mspti");
	link_to(&tree, "disk/mspti/on", "../on");
	write_file(&tree, "disk/on");
	link_to(&tree, "disk/mspti/back", "../../inputs");
	link_to(&tree, "inputs/round", ".");
	in_a_child(&tree, fsl_confine_abi(), check_links);
	remove_tree(&tree);
}

static void check_links_of_strangers(struct tree *tree, int abi)
{
	begin(plan_of(tree), abi);
	EXPECT(errno_of_reading(tree, "inputs/planted") == EACCES);
	EXPECT(fsl_confine_reason(below(tree, "inputs/planted"), EACCES) != NULL);
	EXPECT(errno_of_reading(tree, "inputs/own") == 0);
}

static void a_link_of_a_stranger_leads_to_his_own_files_alone(void **state)
{
	struct tree tree;
	(void)state;
	if (fsl_confine_abi() == 0 || geteuid() != 0) {
		skip();
	}
	make_tree(&tree);
	write_file(&tree, "disk/own");
	link_to(&tree, "inputs/planted", "../disk/secret");
	link_to(&tree, "inputs/own", "../disk/own");
	assert_int_equal(lchown(below(&tree, "inputs/planted"), STRANGER, STRANGER), 0);
	assert_int_equal(lchown(below(&tree, "inputs/own"), STRANGER, STRANGER), 0);
	assert_int_equal(lchown(below(&tree, "disk/own"), STRANGER, STRANGER), 0);
	in_a_child(&tree, fsl_confine_abi(), check_links_of_strangers);
	remove_tree(&tree);
}

static void check_usual(struct tree *tree, int abi)
{
	struct fsl_confine *plan = plan_of(tree);
	fsl_confine_allow_usual(plan);
	begin(plan, abi);
	EXPECT(fsl_confine_is_active());
	int shared = shm_open("/fsl-test-confine", O_RDWR | O_CREAT, 0600);
	EXPECT(shared >= 0 && close(shared) == 0 && shm_unlink("/fsl-test-confine") == 0);
	FILE *limits = fopen("/proc/self/cgroup", "re");
	EXPECT(limits != NULL && fclose(limits) == 0);
	EXPECT(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0);
}

static void libraries_find_shared_memory_and_the_limits_of_the_process(void **state)
{
	struct tree tree;
	(void)state;
	if (fsl_confine_abi() == 0) {
		skip();
	}
	make_tree(&tree);
	in_a_child(&tree, fsl_confine_abi(), check_usual);
	remove_tree(&tree);
}

static void check_files_and_new_folders(struct tree *tree, int abi)
{
	struct fsl_confine *plan = fsl_confine_create();
	fsl_confine_allow(plan, FSL_CONFINE_INPUT, below(tree, "inputs/mspti/0.csv"));
	fsl_confine_allow(plan, FSL_CONFINE_READ, below(tree, "disk/secret"));
	fsl_confine_allow(plan, FSL_CONFINE_READ, below(tree, "absent"));
	fsl_confine_allow(plan, FSL_CONFINE_READ, "-");
	fsl_confine_allow(plan, FSL_CONFINE_READ, NULL);
	fsl_confine_allow(plan, FSL_CONFINE_WRITE, below(tree, "results/new/folder"));
	begin(plan, abi);
	EXPECT(fsl_confine_is_active());
	EXPECT(errno_of_reading(tree, "inputs/mspti/0.csv") == 0);
	EXPECT(errno_of_reading(tree, "inputs/mspti/beside.csv") == 0);
	EXPECT(errno_of_reading(tree, "inputs/mspti/linked.csv") == 0);
	EXPECT(errno_of_reading(tree, "inputs") == EACCES);
	EXPECT(errno_of_reading(tree, "disk/secret") == 0);
	EXPECT(errno_of_reading(tree, "disk/other") == EACCES);
	EXPECT(fsl_dir_create(below(tree, "results/new/folder"), NULL) == FSL_OK);
	EXPECT(errno_of_writing(tree, "results/new/folder/a") == 0);
	EXPECT(errno_of_writing(tree, "disk/a") == EACCES);
}

static void files_come_with_the_files_beside_them_and_new_folders_are_made(void **state)
{
	struct tree tree;
	(void)state;
	if (fsl_confine_abi() == 0) {
		skip();
	}
	make_tree(&tree);
	write_file(&tree, "inputs/mspti/beside.csv");
	link_to(&tree, "inputs/mspti/linked.csv", "../../disk/mspti/1.csv");
	write_file(&tree, "disk/other");
	in_a_child(&tree, fsl_confine_abi(), check_files_and_new_folders);
	remove_tree(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_version_leaves_inputs_readable_and_results_writable),
		cmocka_unit_test(nothing_changes_without_landlock_or_if_it_must_not),
		cmocka_unit_test(libraries_find_shared_memory_and_the_limits_of_the_process),
		cmocka_unit_test(links_to_another_disk_are_followed_and_circles_end),
		cmocka_unit_test(a_link_of_a_stranger_leads_to_his_own_files_alone),
		cmocka_unit_test(files_come_with_the_files_beside_them_and_new_folders_are_made),
	};
	/* Not in /tmp, which is always allowed. */
	return chdir(FSL_BUILD_DIR) == 0 ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
