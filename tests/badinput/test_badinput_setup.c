/* Wrong configuration, wrong paths, full disks: the message says what to do, and no verdict is
 * half-written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tree.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

enum {
	EXIT_USAGE = 2,
	EXIT_INPUT = 3,
	EXIT_INTERNAL = 4,
	SMALL_FILES = 20000 / FSL_TEST_COST,
	NOBODY = 65534
};

struct fixture {
	struct tree tree;
	char config[TREE_PATH_MAX];
	struct answer answer;
};

static int set_up(void **state)
{
	static struct fixture fixture;
	tree_create(&fixture.tree, "setup");
	(void)tree_path(&fixture.tree, "model_config.json", fixture.config);
	fixture.answer = (struct answer){.json = NULL};
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	answer_fini(&fixture->answer);
	tree_remove(&fixture->tree);
	return 0;
}

/* Runs with this configuration and expects a refusal that holds the words. */
static void check_config(struct fixture *f, const char *json, const char *const words[])
{
	file_write_text(f->config, json);
	tree_detect(&f->tree, &f->answer, NULL);
	assert_refused(&f->answer, EXIT_USAGE, words);
	answer_fini(&f->answer);
}

static void missing_configuration_is_named(void **state)
{
	struct fixture *f = *state;
	tree_detect(&f->tree, &f->answer, WORDS("--config", "/no/such/model_config.json"));
	assert_refused(&f->answer, EXIT_USAGE, WORDS("/no/such/model_config.json", "No such file"));
}

static void syntax_error_tells_its_line(void **state)
{
	struct fixture *f = *state;
	check_config(f, "{\n  \"root_path\": \"mspti\",\n  \"k_sigma\" 3\n}\n",
		     WORDS("model_config.json", "line=3"));
}

static void configuration_that_is_no_object_is_refused(void **state)
{
	struct fixture *f = *state;
	check_config(f, "[1, 2]\n", WORDS("model_config.json"));
	check_config(f, "", WORDS("model_config.json"));
}

static void wrong_types_name_key_and_value(void **state)
{
	struct fixture *f = *state;
	check_config(f, "{\"root_path\": 5}", WORDS("root_path"));
	check_config(f, "{\"root_path\": \"mspti\", \"k_sigma\": \"three\"}",
		     WORDS("k_sigma", "three"));
	check_config(f, "{\"root_path\": \"mspti\", \"with_fail_slow\": \"yes\"}",
		     WORDS("with_fail_slow", "yes"));
	check_config(f, "{\"root_path\": \"mspti\", \"enable_detect_type\": []}",
		     WORDS("enable_detect_type"));
	check_config(f, "{\"root_path\": \"mspti\", \"algorithm\": \"magic\"}",
		     WORDS("algorithm", "magic", "failslow", "systrace"));
}

static void value_out_of_range_tells_the_range(void **state)
{
	struct fixture *f = *state;
	check_config(f, "{\"root_path\": \"mspti\", \"trim_head_share\": 7}",
		     WORDS("trim_head_share", "7"));
}

static void unknown_key_is_a_warning_with_the_nearest_name(void **state)
{
	struct fixture *f = *state;
	file_write_text(f->config, "{\"root_path\": \"mspti\", \"training_log\": \"timeline\", "
				   "\"k_sgima\": 3}");
	tree_detect(&f->tree, &f->answer, NULL);
	assert_slow_rank_found(&f->answer);
	assert_refused(&f->answer, 0, WORDS("warning", "k_sgima", "k_sigma"));
}

static void unknown_option_names_the_nearest(void **state)
{
	struct fixture *f = *state;
	tree_detect(&f->tree, &f->answer, WORDS("--ouptut", "here"));
	assert_refused(&f->answer, EXIT_USAGE, WORDS("--ouptut", "--output"));
}

static void root_that_does_not_exist_is_unusable_input(void **state)
{
	struct fixture *f = *state;
	file_write_text(f->config, "{\"root_path\": \"nowhere\"}");
	tree_detect(&f->tree, &f->answer, NULL);
	assert_refused(&f->answer, EXIT_INPUT, WORDS("nowhere", "root_path"));
}

static void folder_without_any_input_is_unusable_input(void **state)
{
	struct fixture *f = *state;
	char empty[TREE_PATH_MAX];
	assert_int_equal(mkdir(tree_path(&f->tree, "empty", empty), 0755), 0);
	file_write_text(f->config, "{\"root_path\": \"empty\"}");
	tree_detect(&f->tree, &f->answer, NULL);
	assert_refused(&f->answer, EXIT_INPUT, WORDS("empty"));
}

static void output_below_a_file_is_refused(void **state)
{
	struct fixture *f = *state;
	char out[TREE_PATH_MAX];
	(void)tree_path(&f->tree, "model_config.json/out", out);
	tree_detect(&f->tree, &f->answer, WORDS("--output", out));
	assert_true(f->answer.run.exit_code >= EXIT_USAGE);
	assert_refused(&f->answer, f->answer.run.exit_code,
		       WORDS("model_config.json/out", "Not a directory"));
}

/* Runs @action in the child before the program; the limits go with it. */
static int in_child(struct fixture *f, void (*action)(struct fixture *f))
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		action(f);
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* No file may grow: what a full disk feels like, without one. */
static void run_without_space(struct fixture *f)
{
	(void)signal(SIGXFSZ, SIG_IGN);
	struct rlimit none = {0, 0};
	if (setrlimit(RLIMIT_FSIZE, &none) != 0) {
		_exit(99);
	}
	struct answer answer;
	tree_run(&f->tree, &answer, NULL);
	bool is_right = answer.run.exit_code >= EXIT_USAGE && answer.run.signal == 0 &&
			strstr(answer.run.err, "out") != NULL &&
			strstr(answer.run.err, "File too large") != NULL;
	if (!is_right) {
		print_message("exit code %d\n%s\n", answer.run.exit_code, answer.run.err);
	}
	_exit(is_right ? 0 : 1);
}

static void full_disk_leaves_no_half_verdict(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(in_child(f, run_without_space), 0);
	/* The next run must find whole files, which tree_detect checks. */
	tree_detect(&f->tree, &f->answer, NULL);
	assert_slow_rank_found(&f->answer);
}

static void verdict_that_cannot_be_printed_is_an_error(void **state)
{
	struct fixture *f = *state;
	char command[4 * TREE_PATH_MAX];
	char out[TREE_PATH_MAX];
	(void)snprintf(command, sizeof(command),
		       "exec '%s' --config '%s' --now %lld --output '%s' --format json >/dev/full",
		       FSL_PROGRAM, f->config, (long long)f->tree.now_ns,
		       tree_path(&f->tree, "out", out));
	char shell[] = "/bin/sh";
	char dash_c[] = "-c";
	char *argv[] = {shell, dash_c, command, NULL};
	assert_true(program_run(&f->answer.run, NULL, argv));
	assert_true(f->answer.run.exit_code >= EXIT_USAGE);
	assert_refused(&f->answer, f->answer.run.exit_code, WORDS("No space left"));
}

/* As somebody who may not read rank 2's file; root may read everything. */
static void run_as_nobody(struct fixture *f)
{
	if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
		_exit(77);
	}
	if (access(FSL_PROGRAM, X_OK) != 0 || access(f->config, R_OK) != 0) {
		_exit(77);
	}
	struct answer answer;
	tree_run(&f->tree, &answer, NULL);
	assert_slow_rank_found(&answer);
	assert_problem(&answer, "-.2.csv", "unusable", WORDS("Permission denied"));
	if (!is_missing_rank(&answer, 2)) {
		_exit(1);
	}
	_exit(0);
}

static void file_without_permission_is_named(void **state)
{
	struct fixture *f = *state;
	char path[TREE_PATH_MAX];
	assert_int_equal(chmod(tree_markers(&f->tree, 2, path), 0), 0);
	assert_int_equal(mkdir(tree_path(&f->tree, "out", path), 0777), 0);
	assert_int_equal(chmod(path, 0777), 0);
	int exit_code = in_child(f, run_as_nobody);
	if (exit_code == 77) {
		print_message("skipped: the program cannot be run by somebody else from here\n");
		skip();
	}
	assert_int_equal(exit_code, 0);
}

/* Marker files that hold their header alone, of ranks that follow those of the job. */
static void make_small_files(const struct tree *tree)
{
	char path[TREE_PATH_MAX];
	size_t n_bytes = 0;
	char *data = file_read(tree_markers(tree, 0, path), &n_bytes);
	size_t n_header = (size_t)(strchr(data, '\n') - data) + 1;
	for (int i = 0; i < SMALL_FILES; i++) {
		file_write(tree_markers(tree, TREE_RANKS + i, path), data, n_header);
	}
	free(data);
}

static void twenty_thousand_small_files_are_read_and_counted(void **state)
{
	struct fixture *f = *state;
	make_small_files(&f->tree);
	tree_run(&f->tree, &f->answer, NULL);
	assert_int_equal(f->answer.run.exit_code, 0);
	assert_int_equal((int)coverage_number(&f->answer, "ranksSeen"), TREE_RANKS);
	assert_int_equal((int)coverage_number(&f->answer, "ranksExpected"),
			 TREE_RANKS + SMALL_FILES);
	/* 8 of so many ranks are too few to accuse anybody, and the verdict says so. */
	assert_int_equal(n_culprits(&f->answer), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(missing_configuration_is_named),
		CASE(syntax_error_tells_its_line),
		CASE(configuration_that_is_no_object_is_refused),
		CASE(wrong_types_name_key_and_value),
		CASE(value_out_of_range_tells_the_range),
		CASE(unknown_key_is_a_warning_with_the_nearest_name),
		CASE(unknown_option_names_the_nearest),
		CASE(root_that_does_not_exist_is_unusable_input),
		CASE(folder_without_any_input_is_unusable_input),
		CASE(output_below_a_file_is_refused),
		CASE(full_disk_leaves_no_half_verdict),
		CASE(verdict_that_cannot_be_printed_is_an_error),
		CASE(file_without_permission_is_named),
		CASE(twenty_thousand_small_files_are_read_and_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
