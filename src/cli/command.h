/* One command of the command line: cmd_<name>.c, one line in commands.def, one page in docs/man. */
#ifndef FSL_CLI_COMMAND_H
#define FSL_CLI_COMMAND_H

#include <failslow/error.h>

#include "base/opt.h"

enum {
	FSL_EXIT_DONE = 0,
	FSL_EXIT_ANOMALY = 1, /* only with --exit-code */
	FSL_EXIT_USAGE = 2,   /* usage or configuration */
	FSL_EXIT_INPUT = 3,   /* unusable input; unwritable output */
	FSL_EXIT_INTERNAL = 4,
};

/* For help. */
#define FSL_EXIT_CODES_TEXT                                                                        \
	"Exit codes: 0 done, 1 anomaly found (with --exit-code), 2 usage or configuration, "       \
	"3 unusable input or unwritable output, 4 out of memory or internal error.\n"

/* Bounds of --device-memory, which counts in GiB: no device has a tenth of the greatest. */
enum { FSL_DEVICE_GIB_MAX = 1 << 16 };
#define FSL_BYTES_PER_GIB (INT64_C(1) << 30)

struct fsl_command {
	const char *name;
	const char *summary; /* one line of --help */
	/* @argv[0] is the command's name. *exit_code is set on success; fsl_command_line()
	 * makes that of a failure. */
	enum fsl_status (*run)(int argc, char **argv, int *exit_code, struct fsl_error *err);
};

/* NULL-terminated table from commands.def. */
extern const struct fsl_command fsl_commands[];

/* fsl_cmd_<name> of every command. */
#define COMMAND(name, summary)                                                                     \
	enum fsl_status fsl_cmd_##name(int argc, char **argv, int *exit_code,                      \
				       struct fsl_error *err);
#include "cli/commands.def"
#undef COMMAND

/*
 * The whole program: finds the command, runs it, prints an error chain once on stderr, makes sure
 * that all of stdout was written. Returns the exit code.
 */
int fsl_command_line(int argc, char **argv);
/* FSL_EXIT_* of a failure. */
int fsl_exit_code(enum fsl_status status);

/* --help of one command: "usage: failslow @synopsis", what it does, its options, its manual page.
 * Its lines fit the terminal. */
void fsl_command_help(const char *name, const char *synopsis, const char *text,
		      const struct fsl_opt *options);

#endif
