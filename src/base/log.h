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

/* Broken promises inside failslow: message and abort. FSL_REQUIRE stays on in all builds: memory
 * safety hangs on it (an index, a length), or a test. */
#define FSL_REQUIRE(cond)                                                                          \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fsl_assert_failed(#cond, __FILE__, __LINE__);                              \
		}                                                                                  \
	} while (0)
/* An invariant of the data ("sorted by time"): on in debug, sanitizer and fuzz builds. Others do
 * not evaluate it, so it may cost a pass over the data. */
#ifdef FSL_CHECKED
#define FSL_ASSERT(cond) FSL_REQUIRE(cond)
#else
#define FSL_ASSERT(cond) ((void)(0 && (cond)))
#endif
_Noreturn void fsl_assert_failed(const char *condition, const char *file, int line);

#endif
