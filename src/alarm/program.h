/* Runs another program, without a shell. */
#ifndef FSL_ALARM_PROGRAM_H
#define FSL_ALARM_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

struct fsl_program {
	const char *key;                /* of the configuration, for messages */
	const char *const *words;       /* program, found through PATH, and arguments; NULL ends
					   them */
	const char *const *environment; /* "NAME=value", added to ours; NULL ends them */
	const char *input;              /* its stdin; NULL: none */
	int64_t deadline_ns;            /* killed then, with its children */
	char *output;                   /* [n_output]: begin of its stdout, NUL-terminated */
	size_t n_output;                /* 0: stdout goes to stderr */
};

/* FSL_OK if it ended with 0. FSL_ERR_CONFIG: it cannot be run. FSL_ERR_IO: it failed or took too
 * long. */
enum fsl_status fsl_program_run(const struct fsl_program *program, struct fsl_error *err);

#endif
