/*
 * Table-driven option parser. --help, completion and the man page's option list use the table, too.
 */
#ifndef FSL_BASE_OPT_H
#define FSL_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <failslow/error.h>

enum fsl_opt_type {
	FSL_OPT_FLAG,   /* bool * */
	FSL_OPT_COUNT,  /* int *: each use adds 1 */
	FSL_OPT_TEXT,   /* const char ** (borrowed from argv), never "" */
	FSL_OPT_TEXTS,  /* struct fsl_opt_texts *: each use adds one */
	FSL_OPT_INT,    /* int64_t *, with min and max */
	FSL_OPT_REAL,   /* double *, with min and max */
	FSL_OPT_TIME,   /* int64_t *, ns since 1970 (fsl_parse_time) */
	FSL_OPT_CHOICE, /* int *: index into choices */
	FSL_OPT_MODE,   /* the same; the first choice without a value, others as "--name=value" */
};

/* Values of an option that may be given several times. */
enum { FSL_OPT_TEXTS_MAX = 32 };
struct fsl_opt_texts {
	const char *items[FSL_OPT_TEXTS_MAX]; /* borrowed from argv, never "" */
	size_t n_items;
};

struct fsl_opt {
	const char *name; /* long name without dashes; NULL ends the table */
	char letter;      /* short name or 0 */
	enum fsl_opt_type type;
	void *target;
	int64_t min, max;           /* INT, REAL */
	const char *const *choices; /* CHOICE, MODE */
	const char *value_name;     /* "FILE"; NULL for flags */
	const char *help;           /* one sentence */
};

/*
 * Parses "--name value", "--name=value", "-x value", "-xvalue", bundled flags "-qv", and "--" (end
 * of options). @argv[0] is the program's or command's name and stays; operands ("-" is one) are
 * moved to @argv[1 .. *n_operands] in their order. An option given twice takes the last value,
 * but for FSL_OPT_TEXTS.
 * FSL_ERR_USAGE names the option and, for an unknown one, the nearest known option. Empty operands
 * and empty values are refused, too: nearly all are paths that come from unset shell variables.
 */
enum fsl_status fsl_opt_parse(const struct fsl_opt *options, int argc, char **argv, int *n_operands,
			      struct fsl_error *err);
/* Prints the aligned option list of --help, in lines of at most @width columns. */
void fsl_opt_print(FILE *stream, const struct fsl_opt *options, int width);

#endif
