/* Small steps through the bytes of a line. Inline, because readers of traces spend most time here.
 */
#ifndef FSL_SOURCE_FTRACE_SCAN_H
#define FSL_SOURCE_FTRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A place in a line, and its end. */
struct fsl_ftrace_scan {
	const char *at, *end;
};

static inline bool fsl_ftrace_is_digit(char c)
{
	return (unsigned)(unsigned char)c - '0' <= 9;
}

static inline void fsl_ftrace_skip_blanks(struct fsl_ftrace_scan *scan)
{
	const char *at = scan->at, *end = scan->end;
	while (at < end && (*at == ' ' || *at == '\t')) {
		at++;
	}
	scan->at = at;
}

/* Takes one byte if it is @c. */
static inline bool fsl_ftrace_take(struct fsl_ftrace_scan *scan, char c)
{
	if (scan->at < scan->end && *scan->at == c) {
		scan->at++;
		return true;
	}
	return false;
}

/* Takes @text if it stands here. */
static inline bool fsl_ftrace_take_text(struct fsl_ftrace_scan *scan, const char *text,
					size_t length)
{
	if ((size_t)(scan->end - scan->at) >= length && memcmp(scan->at, text, length) == 0) {
		scan->at += length;
		return true;
	}
	return false;
}
#define FSL_FTRACE_TAKE(scan, text) fsl_ftrace_take_text((scan), (text), sizeof(text) - 1)

/* Takes 1 to 18 digits; more are no number of a trace. */
static inline bool fsl_ftrace_take_number(struct fsl_ftrace_scan *scan, int64_t *out)
{
	const char *at = scan->at, *end = scan->end - at > 18 ? at + 18 : scan->end;
	uint64_t value = 0;
	while (at < end && fsl_ftrace_is_digit(*at)) {
		value = value * 10 + (uint64_t)(unsigned char)*at++ - '0';
	}
	if (at == scan->at || (at < scan->end && fsl_ftrace_is_digit(*at))) {
		return false;
	}
	scan->at = at;
	*out = (int64_t)value;
	return true;
}

/* The same for a number of 31 bits: ids of tasks and CPUs. */
static inline bool fsl_ftrace_take_id(struct fsl_ftrace_scan *scan, int32_t *out)
{
	int64_t value = 0;
	if (!fsl_ftrace_take_number(scan, &value) || value > INT32_MAX) {
		return false;
	}
	*out = (int32_t)value;
	return true;
}

#endif
