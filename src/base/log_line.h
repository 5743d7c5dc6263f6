/*
 * Builds one log line. The functions need no memory, no lock and no locale, so that a signal
 * handler may call them.
 */
#ifndef FSL_BASE_LOG_LINE_H
#define FSL_BASE_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

enum { FSL_LOG_LINE_BYTES = 4096 }; /* room for a message of 1500 bytes that are all escaped */

struct fsl_log_entry {
	enum fsl_log_form form;
	bool has_priority; /* begins with <N>, syslog's number of the level, for journald */
	int64_t time_ns;   /* since 1970; not in text */
	enum fsl_log_level level;
	const char *word; /* for the level, in text; NULL: its name in English */
	const char *tag;
	const char *message; /* valid UTF-8 without control characters */
};

/* Writes the line with its "\n" to @out, of FSL_LOG_LINE_BYTES bytes. Returns its length. */
size_t fsl_log_line(char *out, const struct fsl_log_entry *entry);

#endif
