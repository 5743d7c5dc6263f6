/* Log lines to stderr: "failslow: warning: ingest: sentence: name=value". Thread-safe line by line.
 */
#ifndef FSL_BASE_LOG_H
#define FSL_BASE_LOG_H

#include <stdio.h>

#include <failslow/error.h>

enum fsl_log_level {
	FSL_LOG_ERROR,   /* cannot continue */
	FSL_LOG_WARNING, /* the user should act */
	FSL_LOG_INFO,    /* one line for each part of the work; -v */
	FSL_LOG_DEBUG,   /* -vv */
};

void fsl_log_set_level(enum fsl_log_level level); /* default: WARNING */
enum fsl_log_level fsl_log_level_get(void);

/* Writes one line. @tag: folder or file name of the caller ("ingest", "mspti_csv"). */
void fsl_log(enum fsl_log_level level, const char *tag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints a whole chain: "failslow: error: <top>" then "  because: <cause> (file:line)". Only main
 * calls it. */
void fsl_error_print(FILE *stream, const struct fsl_error *err);

/*
 * Checks a promise inside failslow: message and abort if it is broken; stays on in release builds.
 */
#define FSL_ASSERT(cond)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fsl_assert_failed(#cond, __FILE__, __LINE__);                              \
		}                                                                                  \
	} while (0)
_Noreturn void fsl_assert_failed(const char *condition, const char *file, int line);

#endif
