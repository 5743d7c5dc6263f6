/* A database lies where only root and the user can touch it. */
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "state/state_place.h"
#include "support/program.h"

enum { OTHER_USER = 12345 };

static struct {
	char folder[PATH_MAX];
	char own[PATH_MAX]; /* where databases lie instead */
	char *place;
	struct fsl_error err;
} fixture;

static int setup(void **state)
{
	(void)state;
	char made[] = "/tmp/fsl_place_XXXXXX";
	memset(&fixture, 0, sizeof(fixture));
	assert_non_null(mkdtemp(made));
	assert_non_null(realpath(made, fixture.folder));
	(void)snprintf(fixture.own, sizeof(fixture.own), "%s/state/failslow/", fixture.folder);
	char base[PATH_MAX];
	(void)snprintf(base, sizeof(base), "%s/state", fixture.folder);
	(void)setenv("XDG_STATE_HOME", base, 1);
	fsl_log_set_level(FSL_LOG_ERROR);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fsl_free(fixture.place);
	scratch_remove(fixture.folder);
	return 0;
}

static const char *below(const char *name)
{
	static char paths[4][PATH_MAX];
	static size_t next;
	char *path = paths[next++ % 4];
	(void)snprintf(path, PATH_MAX, "%s/%s", fixture.folder, name);
	return path;
}

static void make_folder(const char *name, mode_t mode)
{
	assert_int_equal(mkdir(below(name), 0700), 0);
	assert_int_equal(chmod(below(name), mode), 0); /* whatever the umask */
}

static void make_file(const char *name, mode_t mode)
{
	int fd = open(below(name), O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static const char *place_of(const char *name)
{
	fsl_free(fixture.place);
	fixture.place = NULL;
	assert_int_equal(
		fsl_state_place(&fixture.place, below(name), FSL_LOG_WARNING, &fixture.err),
		FSL_OK);
	return fixture.place;
}

static void check_stays(const char *name)
{
	assert_string_equal(place_of(name), below(name));
	assert_int_equal(access(below("state"), F_OK), -1);
}

static void check_moves(const char *name)
{
	const char *file = strrchr(name, '/') + 1;
	const char *place = place_of(name);
	size_t n_own = strlen(fixture.own);
	assert_memory_equal(place, fixture.own, n_own);
	assert_int_equal(strspn(place + n_own, "0123456789abcdef"), 16);
	assert_string_equal(place + n_own + 17, file);
	struct stat facts;
	assert_int_equal(lstat(fixture.own, &facts), 0);
	assert_int_equal(facts.st_mode & 07777, 0700);
}

static void a_database_stays_in_a_folder_that_the_user_alone_may_write(void **state)
{
	(void)state;
	make_folder("results", 0755);
	check_stays("results/state.db");
	make_file("results/state.db", 0644);
	make_file("results/state.db-journal", 0600);
	check_stays("results/state.db");
	make_folder("private", 0700);
	make_file("private/cache.db", 0600);
	check_stays("private/cache.db");
}

static void a_folder_that_others_may_write_holds_no_database(void **state)
{
	(void)state;
	make_folder("all", 0777);
	make_folder("sticky", 01777);
	make_folder("others", 0757);
	make_folder("others/below", 0755);
	check_moves("all/state.db");
	check_moves("sticky/cache.db");
	check_moves("others/state.db");
	check_moves("others/below/state.db"); /* they could give its folder another name */
}

static void in_a_sticky_folder_nobody_replaces_the_folder_of_another(void **state)
{
	(void)state;
	make_folder("sticky", 01777);
	make_folder("sticky/results", 0755);
	check_stays("sticky/results/state.db");
	make_folder("sticky/group", 03775);
	make_folder("sticky/group/mine", 0700);
	check_stays("sticky/group/mine/cache.db");
}

static void a_group_with_others_in_it_is_others(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("needs root: the group of others may be theirs alone\n");
		skip();
	}
	make_folder("team", 0770);
	check_moves("team/state.db");
	make_folder("alone", 0700);
	make_file("alone/cache.db", 0660);
	check_moves("alone/cache.db");
}

static void a_group_of_the_users_name_is_the_user(void **state)
{
	(void)state;
	const struct passwd *user = geteuid() == 0 ? getpwnam("daemon") : NULL;
	const struct group *group = user != NULL ? getgrgid(user->pw_gid) : NULL;
	if (group == NULL || strcmp(group->gr_name, "daemon") != 0 || group->gr_mem[0] != NULL) {
		print_message("needs root, and a user daemon with a group of its own\n");
		skip();
	}
	uid_t id = user->pw_uid;
	gid_t group_id = user->pw_gid;
	make_folder("results", 0775);
	make_folder("team", 0775);
	make_folder("state", 0700);
	assert_int_equal(chmod(fixture.folder, 0755), 0);
	assert_int_equal(chown(below("state"), id, group_id), 0);
	assert_int_equal(chown(below("results"), id, group_id), 0);
	assert_int_equal(chown(below("team"), id, 0), 0);
	assert_int_equal(seteuid(id), 0);
	char *results = NULL;
	char *team = NULL;
	enum fsl_status first =
		fsl_state_place(&results, below("results/state.db"), FSL_LOG_WARNING, &fixture.err);
	enum fsl_status next =
		fsl_state_place(&team, below("team/state.db"), FSL_LOG_WARNING, &fixture.err);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(first, FSL_OK);
	assert_int_equal(next, FSL_OK);
	assert_string_equal(results, below("results/state.db"));
	assert_memory_equal(team, fixture.own, strlen(fixture.own));
	fsl_free(results);
	fsl_free(team);
}

static void files_that_others_may_write_are_not_opened(void **state)
{
	(void)state;
	make_folder("results", 0755);
	make_file("results/a.db", 0666);
	make_file("results/b.db-journal", 0646);
	make_file("results/c.db-wal", 0606);
	check_moves("results/a.db");
	check_moves("results/b.db");
	check_moves("results/c.db");
	check_moves("results/a.db"); /* once more: its folder is there */
}

static void links_are_not_followed(void **state)
{
	(void)state;
	static const char *const names[] = {"results/a.db", "results/b.db-journal",
					    "results/c.db-wal", "results/d.db-shm"};
	make_folder("results", 0755);
	make_file("target", 0600);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(symlink(i % 2 == 0 ? "../target" : "../absent", below(names[i])),
				 0);
	}
	check_moves("results/a.db");
	check_moves("results/b.db");
	check_moves("results/c.db");
	check_moves("results/d.db");
	assert_int_equal(access(below("absent"), F_OK), -1);
}

static void files_with_several_names_are_not_opened(void **state)
{
	(void)state;
	make_folder("results", 0755);
	make_file("target", 0600);
	assert_int_equal(link(below("target"), below("results/a.db")), 0);
	assert_int_equal(link(below("target"), below("results/b.db-journal")), 0);
	check_moves("results/a.db");
	check_moves("results/b.db");
}

static void a_folder_may_be_reached_through_a_link(void **state)
{
	(void)state;
	make_folder("results", 0755);
	assert_int_equal(symlink("results", below("link")), 0);
	assert_string_equal(place_of("link/state.db"), below("results/state.db"));
	make_folder("all", 0777);
	make_folder("all/results", 0755);
	assert_int_equal(symlink("all/results", below("link_to_all")), 0);
	check_moves("link_to_all/state.db");
}

static void folders_and_files_of_another_user_are_not_used(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("needs root, who gives a folder away\n");
		skip();
	}
	make_folder("theirs", 0755);
	make_folder("theirs/mine", 0755);
	assert_int_equal(chown(below("theirs"), OTHER_USER, OTHER_USER), 0);
	check_moves("theirs/state.db");
	check_moves("theirs/mine/state.db");
	make_folder("results", 0755);
	make_file("results/state.db", 0644);
	make_file("results/cache.db-journal", 0644);
	assert_int_equal(chown(below("results/state.db"), OTHER_USER, 0), 0);
	assert_int_equal(chown(below("results/cache.db-journal"), OTHER_USER, 0), 0);
	check_moves("results/state.db");
	check_moves("results/cache.db");
}

static void databases_of_two_folders_do_not_mix(void **state)
{
	(void)state;
	char first[PATH_MAX];
	make_folder("a", 0777);
	make_folder("b", 0777);
	(void)snprintf(first, sizeof(first), "%s", place_of("a/state.db"));
	assert_string_not_equal(place_of("b/state.db"), first);
	assert_string_not_equal(place_of("a/cache.db"), first);
	assert_string_equal(place_of("b/../a/state.db"), first);
}

static void a_user_without_a_safe_folder_has_no_database(void **state)
{
	(void)state;
	if (geteuid() == 0) {
		print_message("needs another user than root, who has /var/lib\n");
		skip();
	}
	make_folder("all", 0777);
	(void)setenv("XDG_STATE_HOME", below("all"), 1);
	(void)setenv("HOME", below("all"), 1);
	assert_int_equal(fsl_state_place(&fixture.place, below("all/state.db"), FSL_LOG_WARNING,
					 &fixture.err),
			 FSL_ERR_IO);
	assert_null(fixture.place);
	(void)unsetenv("HOME");
	assert_int_equal(fsl_state_place(&fixture.place, below("all/cache.db"), FSL_LOG_WARNING,
					 &fixture.err),
			 FSL_ERR_IO);
}

static void a_user_without_XDG_STATE_HOME_has_a_folder_at_home(void **state)
{
	(void)state;
	if (geteuid() == 0) {
		print_message("needs another user than root, who has /var/lib\n");
		skip();
	}
	make_folder("all", 0777);
	(void)unsetenv("XDG_STATE_HOME");
	(void)setenv("HOME", fixture.folder, 1);
	(void)snprintf(fixture.own, sizeof(fixture.own), "%s/.local/state/failslow/",
		       fixture.folder);
	check_moves("all/state.db");
	check_moves("all/cache.db");
}

static void a_database_without_a_folder_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(fsl_state_place(&fixture.place, below("absent/state.db"), FSL_LOG_WARNING,
					 &fixture.err),
			 FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&fixture.err), "absent"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_database_stays_in_a_folder_that_the_user_alone_may_write),
		TEST(a_folder_that_others_may_write_holds_no_database),
		TEST(in_a_sticky_folder_nobody_replaces_the_folder_of_another),
		TEST(a_group_with_others_in_it_is_others),
		TEST(a_group_of_the_users_name_is_the_user),
		TEST(files_that_others_may_write_are_not_opened),
		TEST(links_are_not_followed),
		TEST(files_with_several_names_are_not_opened),
		TEST(a_folder_may_be_reached_through_a_link),
		TEST(folders_and_files_of_another_user_are_not_used),
		TEST(databases_of_two_folders_do_not_mix),
		TEST(a_user_without_a_safe_folder_has_no_database),
		TEST(a_user_without_XDG_STATE_HOME_has_a_folder_at_home),
		TEST(a_database_without_a_folder_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
