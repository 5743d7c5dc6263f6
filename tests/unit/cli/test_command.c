/* Commands and exit codes; tests/cli checks their output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/command.h"
#include "cli/command_output.h"

static void every_failure_has_its_exit_code(void **state)
{
	(void)state;
	static const struct {
		enum fsl_status status;
		int exit_code;
	} cases[] = {
		{FSL_OK, FSL_EXIT_DONE},
		{FSL_ERR_USAGE, FSL_EXIT_USAGE},
		{FSL_ERR_CONFIG, FSL_EXIT_USAGE},
		{FSL_ERR_PLUGIN, FSL_EXIT_USAGE}, /* the configuration names it */
		{FSL_ERR_INPUT, FSL_EXIT_INPUT},
		{FSL_ERR_FORMAT, FSL_EXIT_INPUT},
		{FSL_ERR_LIMIT, FSL_EXIT_INPUT},
		{FSL_ERR_IO, FSL_EXIT_INPUT},
		{FSL_ERR_MEMORY, FSL_EXIT_INTERNAL},
		{FSL_ERR_INTERNAL, FSL_EXIT_INTERNAL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fsl_exit_code(cases[i].status), cases[i].exit_code);
	}
}

static void commands_have_unique_names_and_a_summary(void **state)
{
	(void)state;
	size_t n_commands = 0;
	for (; fsl_commands[n_commands].name != NULL; n_commands++) {
		assert_true(strlen(fsl_commands[n_commands].summary) > 0);
		assert_non_null(fsl_commands[n_commands].run);
		for (size_t i = 0; i < n_commands; i++) {
			assert_string_not_equal(fsl_commands[i].name,
						fsl_commands[n_commands].name);
		}
	}
	assert_true(n_commands >= 4);
}

static int run(int argc, const char *const *words)
{
	char text[8][64];
	char *argv[9] = {NULL};
	assert_true(argc <= 8);
	for (int i = 0; i < argc; i++) {
		assert_true(strlen(words[i]) < sizeof(text[i]));
		argv[i] = strcpy(text[i], words[i]);
	}
	return fsl_command_line(argc, argv);
}

static void wrong_command_lines_exit_with_two(void **state)
{
	(void)state;
	assert_int_equal(run(2, (const char *const[]){"failslow", "frobnicate"}), FSL_EXIT_USAGE);
	assert_int_equal(run(2, (const char *const[]){"failslow", "--frobnicate"}), FSL_EXIT_USAGE);
	assert_int_equal(run(3, (const char *const[]){"failslow", "help", "frobnicate"}),
			 FSL_EXIT_USAGE);
	assert_int_equal(run(2, (const char *const[]){"failslow", ""}), FSL_EXIT_USAGE);
}

static void help_and_version_exit_with_zero(void **state)
{
	(void)state;
	assert_int_equal(run(2, (const char *const[]){"failslow", "--help"}), FSL_EXIT_DONE);
	assert_int_equal(run(2, (const char *const[]){"failslow", "-V"}), FSL_EXIT_DONE);
	assert_int_equal(run(3, (const char *const[]){"failslow", "help", "config"}),
			 FSL_EXIT_DONE);
}

static void operands_are_counted(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	assert_int_equal(fsl_check_operands(1, 1, 2, "FILE", &err), FSL_OK);
	assert_int_equal(fsl_check_operands(0, 1, 2, "FILE", &err), FSL_ERR_USAGE);
	assert_non_null(strstr(fsl_error_root(&err), "too few operands: given=0"));
	fsl_error_clear(&err);
	assert_int_equal(fsl_check_operands(3, 1, 2, "FILE", &err), FSL_ERR_USAGE);
	assert_non_null(strstr(fsl_error_root(&err), "too many operands: given=3"));
}

static void json_that_could_not_be_built_is_out_of_memory(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	assert_int_equal(fsl_print_json(NULL, &err), FSL_ERR_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failure_has_its_exit_code),
		cmocka_unit_test(commands_have_unique_names_and_a_summary),
		cmocka_unit_test(wrong_command_lines_exit_with_two),
		cmocka_unit_test(help_and_version_exit_with_zero),
		cmocka_unit_test(operands_are_counted),
		cmocka_unit_test(json_that_could_not_be_built_is_out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
