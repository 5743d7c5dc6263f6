/* Log lines to stderr: "failslow: warning: ingest: sentence: name=value". Thread-safe line by line.
 */
#ifndef FSL_BASE_LOG_H
#define FSL_BASE_LOG_H

#include <stdio.h>

#include <failslow/error.h>

struct fsl_told; /* base/language.h */

enum fsl_log_level {
	FSL_LOG_ERROR,   /* cannot continue */
	FSL_LOG_WARNING, /* the user should act */
	FSL_LOG_INFO,    /* one line for each part of the work; -v */
	FSL_LOG_DEBUG,   /* -vv */
};

/* Forms of a line. */
enum fsl_log_form {
	FSL_LOG_TEXT,   /* for people: as above */
	FSL_LOG_LOGFMT, /* time=2026-11-27T02:41:00.123Z level=warning area=ingest msg="..." */
	FSL_LOG_JSON,   /* an object with time, level, area and message */
};
extern const char *const fsl_log_forms[]; /* their names, in this order; ends with NULL */

void fsl_log_set_form(enum fsl_log_form form); /* default: TEXT */
/* Finds out whether stderr leads to journald: lines then begin with their priority, as <4>. */
void fsl_log_look_at_stream(void);

void fsl_log_set_level(enum fsl_log_level level); /* default: WARNING */
enum fsl_log_level fsl_log_level_get(void);

/* Writes one line. @tag: folder or file name of the caller ("ingest", "mspti_csv"). */
void fsl_log(enum fsl_log_level level, const char *tag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Replaces control characters and broken bytes: a message stays one line and moves no cursor. */
void fsl_log_make_plain(char *text);
/* @english in the language of who reads the log: programs read English. @english itself, or
 * @room->text. */
const char *fsl_log_tell(const char *english, struct fsl_told *room);
/* Writes an error line that was made plain, from a signal handler. The caller has @word for "error"
 * and @message from fsl_log_tell() before it installs the handler. */
void fsl_log_from_handler(const char *tag, const char *word, const char *message);

/* Prints a whole chain: "failslow: error: <top>" then "  because: <cause> (file:line)"; in other
 * forms than text, one line. Only main calls it. */
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
