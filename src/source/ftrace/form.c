/* Forms of kernel traces, by their first lines. */
#include "source/ftrace/form.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/language.h"
#include "source/ftrace/prefix.h"
#include "source/ftrace/trace_dat.h"

enum { LINES_LOOKED_AT = 24 }; /* headers have 12 lines */

const char *fsl_ftrace_refusal(enum fsl_ftrace_form form)
{
	static const char *const texts[FSL_FTRACE_FORMS_N] = {
		[FSL_FTRACE_NO_TRACE] = N_("not a kernel trace in text form"),
		[FSL_FTRACE_DAMAGED] = N_("the file is empty or binary, copy it again"),
		[FSL_FTRACE_RAW] =
			N_("the trace has the option raw, which leaves out the fields of events: "
			   "record it with `echo 0 > options/raw`"),
		[FSL_FTRACE_HEX] =
			N_("the trace has the option hex, which leaves out the fields of events: "
			   "record it with `echo 0 > options/hex`"),
		[FSL_FTRACE_BIN] =
			N_("the trace has the option bin, which leaves out the fields of events: "
			   "record it with `echo 0 > options/bin`"),
		[FSL_FTRACE_NOCONTEXT] = N_(
			"the trace has the option nocontext-info, which leaves out times and CPUs: "
			"record it with `echo 1 > options/context-info`"),
		[FSL_FTRACE_DAT] = N_("trace.dat of trace-cmd is not read without libtracecmd: "
				      "install it, or write text with "
				      "`trace-cmd report -t -N trace.dat`"),
		[FSL_FTRACE_PERF_DATA] =
			N_("perf.data is not read: "
			   "write text with `perf sched script -i perf.data --ns`"),
	};
	return form == FSL_FTRACE_DAT && fsl_trace_dat_is_supported() ? NULL : texts[form];
}

static bool begins_with(const char *head, size_t length, const char *text)
{
	size_t n = strlen(text);
	return length >= n && memcmp(head, text, n) == 0;
}

/* "27252 1 1334125974657 type: 366" or three words of hexadecimal digits before "type:". */
static enum fsl_ftrace_form raw_form_of(const char *line, size_t length)
{
	static const char key[] = " type: ";
	const char *end = line + length, *at = line;
	size_t n_words = 0;
	bool is_hex = false;
	while (at < end && n_words < 3) {
		const char *begin = at;
		while (at < end && (fsl_ftrace_is_digit(*at) || (*at >= 'a' && *at <= 'f'))) {
			at++;
		}
		is_hex |= n_words == 0 && at - begin == 8;
		if (at == begin || at >= end || *at != ' ') {
			return FSL_FTRACE_NO_TRACE;
		}
		n_words++;
		at += n_words < 3;
	}
	if ((size_t)(end - at) < sizeof(key) - 1 || memcmp(at, key, sizeof(key) - 1) != 0) {
		return FSL_FTRACE_NO_TRACE;
	}
	return is_hex ? FSL_FTRACE_HEX : FSL_FTRACE_RAW;
}

/* "softirq_raise: vec=9 [action=RCU]" without a task before it. */
static bool is_bare_event(const char *line, size_t length)
{
	const char *end = line + length, *at = line;
	bool has_underscore = false;
	while (at < end && ((*at >= 'a' && *at <= 'z') || *at == '_' || fsl_ftrace_is_digit(*at))) {
		has_underscore |= *at++ == '_';
	}
	return has_underscore && end - at > 2 && at[0] == ':' && at[1] == ' ' &&
	       memchr(at, '=', (size_t)(end - at)) != NULL;
}

static enum fsl_ftrace_form line_form_of(const char *line, size_t length)
{
	struct fsl_ftrace_prefix prefix;
	struct fsl_ftrace_scan rest;
	if (fsl_ftrace_read_prefix(line, length, &prefix, &rest)) {
		return memchr(rest.at, ':', (size_t)(rest.end - rest.at)) != NULL
			       ? FSL_FTRACE_TEXT
			       : FSL_FTRACE_NO_TRACE;
	}
	return is_bare_event(line, length) ? FSL_FTRACE_NOCONTEXT : raw_form_of(line, length);
}

enum fsl_ftrace_form fsl_ftrace_form_of(const char *head, size_t length)
{
	const char *at = head, *end = head + length;
	if (begins_with(head, length, "\x17\x08\x44tracing")) {
		return FSL_FTRACE_DAT;
	}
	if (begins_with(head, length, "PERFILE2")) {
		return FSL_FTRACE_PERF_DATA;
	}
	bool has_header = begins_with(head, length, "# tracer: ");
	for (size_t n = 0; at < end && n < LINES_LOOKED_AT; n++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		if (stop == NULL && at != head) {
			break; /* the rest of the line is not here */
		}
		stop = stop != NULL ? stop : end;
		if (has_header && memchr(at, '\0', (size_t)(stop - at)) != NULL) {
			return FSL_FTRACE_BIN;
		}
		if (*at != '#' && stop > at) {
			enum fsl_ftrace_form form = line_form_of(at, (size_t)(stop - at));
			if (form != FSL_FTRACE_NO_TRACE) {
				return form;
			}
		}
		at = stop + (stop < end);
	}
	return has_header ? FSL_FTRACE_TEXT : FSL_FTRACE_NO_TRACE;
}
