/* Options of `failslow detect`, and how they change the configuration. */
#ifndef FSL_CLI_DETECT_OPTIONS_H
#define FSL_CLI_DETECT_OPTIONS_H

#include "config/config.h"

struct fsl_detect_options {
	const char *config_path; /* NULL: the default configuration, if there is one */
	const char *directory;   /* operand: a tree to look at; NULL: as configured */
	const char *output;      /* folder for the verdict files; NULL: as configured */
	int64_t from_ns, to_ns;  /* INT64_MIN / INT64_MAX: open */
	int64_t now_ns;          /* INT64_MIN: the clock */
	int64_t jobs;            /* -1: as configured */
	bool is_json;
	bool wants_exit_code;
	bool wants_help;
	int n_quiet, n_verbose;
};

/* Parses @argv; FSL_ERR_USAGE names what is wrong. */
enum fsl_status fsl_detect_options_parse(struct fsl_detect_options *out, int argc, char **argv,
					 struct fsl_error *err);

/* Options win over keys. Texts are borrowed from argv or live in config->arena. */
enum fsl_status fsl_detect_options_apply(const struct fsl_detect_options *options,
					 struct fsl_config *config, struct fsl_error *err);

void fsl_detect_options_help(void);

#endif
