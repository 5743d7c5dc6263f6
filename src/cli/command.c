/* From the words of the command line to one command, and from its outcome to an exit code. */
#include "cli/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/language.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/os_error.h"
#include "base/wrap.h"
#include "cli/command_output.h"
#include "config/config.h"
#include "source/share.h"
#include "team/team.h"

const struct fsl_command fsl_commands[] = {
#define COMMAND(name, summary) {#name, summary, fsl_cmd_##name},
#include "cli/commands.def"
#undef COMMAND
	{NULL, NULL, NULL},
};

enum { COMMANDS_MAX = 64, NAME_WIDTH = 10 };

static const char usage[] = "usage: failslow [COMMAND] [OPTION]... [OPERAND]...\n";

static void print_help(void)
{
	const int indent = NAME_WIDTH + 3;
	(void)fsl_tell_print(stdout, "%s\n", usage);
	fsl_print_fitted(
		"Reads what a training cluster left on disk and says whether a job slowed down, "
		"which rank did it, why, and what it costs.\n\n"
		"Without a command, `detect` runs: failslow --config model_config.json, "
		"failslow DIR.\n\n"
		"Commands:\n");
	for (const struct fsl_command *command = fsl_commands; command->name != NULL; command++) {
		printf("  %-*s ", NAME_WIDTH, command->name);
		struct fsl_told told;
		fsl_wrap(stdout, fsl_tell(command->summary, &told), indent, indent,
			 fsl_terminal_width());
	}
	fsl_print_fitted(
		"\nfailslow COMMAND --help shows the options of a command.\n" FSL_EXIT_CODES_TEXT);
}

void fsl_command_help(const char *name, const char *synopsis, const char *text,
		      const struct fsl_opt *options)
{
	const char *second = strchr(synopsis, '\n');
	struct fsl_told told;
	const char *lead = fsl_tell(N_("usage: failslow"), &told);
	const int indent = fsl_columns(lead, strlen(lead)) + 1;
	printf("%s ", lead);
	fsl_wrap(stdout, synopsis, indent, indent, fsl_terminal_width());
	printf("%s\n", second != NULL ? second + 1 : "");
	fsl_print_fitted(text);
	(void)fsl_tell_print(stdout, N_("\nOptions:\n"));
	fsl_opt_print(stdout, options, fsl_terminal_width());
	(void)fsl_tell_print(stdout, "\nManual: failslow-%s(1)\n", name);
}

int fsl_exit_code(enum fsl_status status)
{
	switch (status) {
	case FSL_OK:
		return FSL_EXIT_DONE;
	case FSL_ERR_USAGE:
	case FSL_ERR_CONFIG:
	case FSL_ERR_PLUGIN:
		return FSL_EXIT_USAGE;
	case FSL_ERR_INPUT:
	case FSL_ERR_FORMAT:
	case FSL_ERR_LIMIT:
	case FSL_ERR_IO:
		return FSL_EXIT_INPUT;
	case FSL_ERR_MEMORY:
	case FSL_ERR_INTERNAL:
		return FSL_EXIT_INTERNAL;
	}
	return FSL_EXIT_INTERNAL;
}

static const struct fsl_command *find_command(const char *name)
{
	for (const struct fsl_command *command = fsl_commands; command->name != NULL; command++) {
		if (strcmp(command->name, name) == 0) {
			return command;
		}
	}
	return NULL;
}

static enum fsl_status fail_unknown(const char *name, struct fsl_error *err)
{
	const char *names[COMMANDS_MAX];
	size_t n_names = 0;
	for (const struct fsl_command *command = fsl_commands; command->name != NULL; command++) {
		names[n_names++] = command->name;
	}
	const char *nearest = fsl_nearest_name(name, strlen(name), names, n_names);
	if (nearest != NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"no such command or folder: name=\"%s\", did_you_mean=\"%s\"", name,
				nearest);
	}
	return FSL_FAIL(err, FSL_ERR_USAGE,
			"no such command or folder, `failslow --help` lists the commands: "
			"name=\"%s\"",
			name);
}

static bool exists(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0;
}

/* failslow help [COMMAND] */
static enum fsl_status run_help(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	if (argc < 2) {
		print_help();
		return FSL_OK;
	}
	const struct fsl_command *command = find_command(argv[1]);
	if (command == NULL) {
		return fail_unknown(argv[1], err);
	}
	char help[] = "--help";
	char *help_argv[] = {argv[1], help, NULL};
	return command->run(2, help_argv, exit_code, err);
}

/* The program's name alone: runs over the installed configuration, if there is one. */
static enum fsl_status run_bare(char **argv, int *exit_code, struct fsl_error *err)
{
	struct fsl_config_place place;
	if (fsl_config_find_default(&place)) {
		return fsl_cmd_detect(1, argv, exit_code, err);
	}
	(void)fsl_tell_print(
		stderr,
		"%s"
		"Try: failslow DIR                          a folder with a job's data\n"
		"     failslow --config model_config.json   as configured\n"
		"     failslow --help\n",
		usage);
	*exit_code = FSL_EXIT_USAGE;
	return FSL_OK;
}

static enum fsl_status dispatch(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	if (argc < 2) {
		return run_bare(argv, exit_code, err);
	}
	const char *word = argv[1];
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		print_help();
		return FSL_OK;
	}
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		printf("failslow %s\n", FSL_VERSION);
		return FSL_OK;
	}
	if (strcmp(word, "help") == 0) {
		return run_help(argc - 1, argv + 1, exit_code, err);
	}
	const struct fsl_command *command = find_command(word);
	if (command != NULL) {
		return command->run(argc - 1, argv + 1, exit_code, err);
	}
	if (word[0] == '-' || exists(word)) {
		return fsl_cmd_detect(argc, argv, exit_code, err);
	}
	return fail_unknown(word, err);
}

/* True if these words may lead to `detect`. Only the words count: files differ between hosts, and
 * all processes have to agree. */
static bool may_detect(int argc, char **argv)
{
	static const char *const others[] = {"--help", "-h", "--version", "-V", "help"};
	if (argc < 2) {
		return true;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(argv[1], others[i]) == 0) {
			return false;
		}
	}
	const struct fsl_command *command = find_command(argv[1]);
	return command == NULL || command->run == fsl_cmd_detect;
}

/* Runs the command. If several processes were started together, the first one does the work; at
 * `detect` the other processes read files for it, at any other command they do nothing. */
static enum fsl_status run(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	bool is_shared = may_detect(argc, argv);
	FSL_TRY(is_shared ? fsl_team_join(err) : FSL_OK);
	if (fsl_team_place() == 0) {
		return dispatch(argc, argv, exit_code, err);
	}
	return fsl_team_size() > 1 ? fsl_share_serve(err) : FSL_OK;
}

/* True when standard output is a pipe or socket that nobody reads any more. */
static bool is_reader_gone(void)
{
	struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
	return poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

/*
 * Everything that was printed must have arrived. A reader that went away (failslow ... | head) has
 * seen what it wanted: no message, and the command's own exit code.
 */
static enum fsl_status finish_stdout(struct fsl_error *err)
{
	bool had_error = ferror(stdout) != 0;
	errno = 0;
	if (fflush(stdout) == 0 && !had_error) {
		return FSL_OK;
	}
	int code = errno;
	if (code == EPIPE || is_reader_gone()) {
		return FSL_OK;
	}
	return FSL_FAIL(err, FSL_ERR_IO, "cannot write standard output: reason=\"%s\"",
			code != 0 ? fsl_os_error(code).text : "an earlier write failed");
}

int fsl_command_line(int argc, char **argv)
{
	struct fsl_error err = {0};
	int exit_code = FSL_EXIT_DONE;
	/* A closed pipe must not end a run before its verdict files are written. */
	(void)signal(SIGPIPE, SIG_IGN);
	fsl_language_begin();
	fsl_log_look_at_stream();
	(void)signal(SIGXFSZ, SIG_IGN); /* nor one file that may not get so long: writes fail */
	enum fsl_status status = run(argc, argv, &exit_code, &err);
	if (status == FSL_OK) {
		status = finish_stdout(&err);
	} else {
		(void)fflush(stdout);
	}
	if (status != FSL_OK) {
		fsl_error_print(stderr, &err);
		exit_code = fsl_exit_code(status);
	}
	fsl_share_end();
	fsl_team_leave(exit_code);
	return exit_code;
}
