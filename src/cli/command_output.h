/* How commands print their results: aligned text or JSON. */
#ifndef FSL_CLI_COMMAND_OUTPUT_H
#define FSL_CLI_COMMAND_OUTPUT_H

#include "report/reporter.h"
#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>
#include <failslow/error.h>

enum fsl_output_format { FSL_OUTPUT_TEXT, FSL_OUTPUT_JSON, FSL_OUTPUT_LINE };
/* Choices of --format, in the order of enum fsl_output_format; NULL-terminated. */
extern const char *const fsl_output_formats[];
/* The same of commands that tell a verdict: also "line", the headline alone. */
extern const char *const fsl_verdict_formats[];
/* Choices of --exit-code. */
enum fsl_exit_mode {
	FSL_EXIT_ALWAYS_DONE = -1, /* the option is not given */
	FSL_EXIT_NEW,              /* 1 if something new is wrong */
	FSL_EXIT_STATE,            /* 1 while something is wrong */
};
extern const char *const fsl_exit_modes[];
/* The exit code of a run that told @report. @is_new: what it told is wrong, and no earlier run
 * within look_back told the same. @mode: enum fsl_exit_mode. */
int fsl_verdict_exit_code(int mode, const struct fsl_report *report, bool is_new);

/* A command whose only options are --format and --help. */
struct fsl_output_command {
	const char *name;
	const char *synopsis;    /* behind "usage: failslow " */
	const char *text;        /* what it does */
	const char *format_help; /* one sentence on --format */
	int n_operands_min, n_operands_max;
	const char *operands; /* what is wanted, for messages */
};

/* The user's request to such a command. */
struct fsl_output_request {
	enum fsl_output_format format;
	int n_operands; /* argv[1 .. n_operands] */
	bool is_done;   /* --help was given and shown */
};

/* Parses @argv and shows the help; FSL_ERR_USAGE names what is wrong. */
enum fsl_status fsl_output_request_parse(struct fsl_output_request *out,
					 const struct fsl_output_command *command, int argc,
					 char **argv, struct fsl_error *err);

/*
 * Rows of @n_columns cells each, columns padded to their widest cell, two blanks between. The last
 * column is wrapped at @width; if it has too little room there, it stands below the others. The
 * first row is the heading. Cells may be NULL (printed as empty).
 */
void fsl_print_table(const char *const *cells, size_t n_rows, size_t n_columns, int width);

/* Prints @text, wrapped between words at the width of the terminal. Lines that begin with "
 * failslow" stay whole, to be copied. */
void fsl_print_fitted(const char *text);
/* The same for text that is in the user's language already. */
void fsl_print_told(const char *text);

/*
 * Prints @tree with indentation and deletes it. NULL stands for "out of memory while it was built".
 */
enum fsl_status fsl_print_json(cJSON *tree, struct fsl_error *err);

/* Between @min and @max operands, else FSL_ERR_USAGE that says @what is wanted. */
enum fsl_status fsl_check_operands(int n_operands, int min, int max, const char *what,
				   struct fsl_error *err);

/* Columns of the terminal: of COLUMNS, else of the terminal behind stdout; 80 if both are unknown.
 */
int fsl_terminal_width(void);
/* Choices of --color; the first is the default. NULL-terminated. */
extern const char *const fsl_color_choices[];
/* Whether text on stdout has colours. @color: index in fsl_color_choices. "auto": if stdout is a
 * terminal that is not dumb and NO_COLOR (https://no-color.org) is not set. */
bool fsl_terminal_has_colours(int color);
/* Whether pictures may use blocks of UTF-8: the locale (LC_ALL, LC_CTYPE, LANG) names UTF-8, and
 * TERM is neither "dumb" nor "linux", whose font lacks most of them. */
bool fsl_terminal_has_blocks(void);

/* The form in which reporters print for an enum fsl_output_format; @is_quiet: no text. */
enum fsl_print fsl_print_as(int format, bool is_quiet);

#endif
