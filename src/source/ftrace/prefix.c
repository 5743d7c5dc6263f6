/* Begins of lines: by columns first, as the kernel prints them, else by the last place that fits.
 */
#include "source/ftrace/prefix.h"

#include <limits.h>

#include "base/number.h"

enum {
	COMM_COLUMNS = 16, /* the kernel, trace-cmd and perf align names to the right in so many */
	FLAGS_MAX = 12,    /* 5 today; letters and signs, no digit first */
	FRACTION_MAX = 9,  /* digits behind the seconds: 6, or 9 with trace-cmd report -t */
	/* Bits of the verbose latency format. */
	FLAG_BITS_INTERRUPT = 0x08 | 0x10,
};
static const int64_t SECONDS_MAX = 4102444800; /* the year 2100 */

/* Digits of a fraction as ns. */
static bool take_fraction(struct fsl_ftrace_scan *scan, int64_t *out)
{
	static const int64_t scales[FRACTION_MAX + 1] = {
		0, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
	const char *begin = scan->at;
	int64_t value = 0;
	if (!fsl_ftrace_take_number(scan, &value) || scan->at - begin > FRACTION_MAX) {
		return false;
	}
	*out = value * scales[scan->at - begin];
	return true;
}

/* "1336.642173:", "12610us#:", "132913:"; takes the colon. */
static bool take_stamp(struct fsl_ftrace_scan *scan, struct fsl_ftrace_prefix *out)
{
	int64_t whole = 0, fraction = 0;
	if (!fsl_ftrace_take_number(scan, &whole)) {
		return false;
	}
	if (fsl_ftrace_take(scan, '.')) {
		if (!take_fraction(scan, &fraction) || whole > SECONDS_MAX) {
			return false;
		}
		out->stamp = FSL_FTRACE_SECONDS;
		out->time_ns = whole * FSL_NS_PER_S + fraction;
		return fsl_ftrace_take(scan, ':');
	}
	if (FSL_FTRACE_TAKE(scan, "us")) {
		out->stamp = FSL_FTRACE_RELATIVE;
		if (whole > SECONDS_MAX * 1000) {
			return false;
		}
		out->time_ns = whole * FSL_NS_PER_US;
		scan->at += scan->at < scan->end && *scan->at != ':'; /* a mark of long delays */
		return fsl_ftrace_take(scan, ':');
	}
	out->stamp = FSL_FTRACE_COUNTS;
	out->time_ns = whole;
	return fsl_ftrace_take(scan, ':');
}

/* "(  27252)" or "(-----)". */
static bool take_process(struct fsl_ftrace_scan *scan, int32_t *tgid)
{
	fsl_ftrace_skip_blanks(scan);
	if (!fsl_ftrace_take_id(scan, tgid)) {
		*tgid = FSL_SCHED_ID_NONE;
		while (fsl_ftrace_take(scan, '-')) {
		}
	}
	return fsl_ftrace_take(scan, ')');
}

/* Flags end at a blank; h, H, s and Z say that an interrupt wrote the line. */
static bool take_flags(struct fsl_ftrace_scan *scan, bool *is_in_interrupt)
{
	static const bool of_interrupts[UCHAR_MAX + 1] = {
		['h'] = true, ['H'] = true, ['s'] = true, ['Z'] = true, ['z'] = true};
	const char *begin = scan->at, *at = begin, *end = scan->end;
	bool is_found = false;
	while (at < end && *at != ' ' && *at != ':') {
		is_found |= of_interrupts[(unsigned char)*at++];
	}
	scan->at = at;
	*is_in_interrupt |= is_found;
	return at - begin <= FLAGS_MAX && at < end && *at == ' ';
}

/* All behind the id of the task: process, CPU, flags, time. */
static bool take_context(struct fsl_ftrace_scan *scan, struct fsl_ftrace_prefix *out)
{
	out->tgid = FSL_SCHED_ID_NONE;
	out->is_in_interrupt = false;
	fsl_ftrace_skip_blanks(scan);
	if (fsl_ftrace_take(scan, '(') && !take_process(scan, &out->tgid)) {
		return false;
	}
	fsl_ftrace_skip_blanks(scan);
	bool has_bracket = fsl_ftrace_take(scan, '[');
	if (!fsl_ftrace_take_id(scan, &out->cpu) || out->cpu >= FSL_SCHED_CPUS_MAX ||
	    (has_bracket && !fsl_ftrace_take(scan, ']'))) {
		return false;
	}
	/* Latency formats write the flags behind the CPU, without a blank. */
	if (!has_bracket && (scan->at >= scan->end || *scan->at == ' ')) {
		return false;
	}
	fsl_ftrace_skip_blanks(scan);
	if (scan->at < scan->end && !fsl_ftrace_is_digit(*scan->at)) {
		if (!take_flags(scan, &out->is_in_interrupt)) {
			return false;
		}
		fsl_ftrace_skip_blanks(scan);
	}
	return take_stamp(scan, out);
}

/* "27252   0 9 00000000 00000001 [4f7f2b10] 11.920ms (+0.009ms):" of the verbose latency format. */
static bool take_verbose(struct fsl_ftrace_scan *scan, struct fsl_ftrace_prefix *out)
{
	int64_t bits = 0, ms = 0, fraction = 0;
	out->tgid = FSL_SCHED_ID_NONE;
	fsl_ftrace_skip_blanks(scan);
	if (!fsl_ftrace_take_id(scan, &out->cpu) || out->cpu >= FSL_SCHED_CPUS_MAX ||
	    !fsl_ftrace_take(scan, ' ') || !fsl_ftrace_take_number(scan, &bits) ||
	    !fsl_ftrace_take(scan, ' ')) {
		return false;
	}
	const char *bracket = memchr(scan->at, '[', (size_t)(scan->end - scan->at));
	const char *close =
		bracket != NULL ? memchr(bracket, ']', (size_t)(scan->end - bracket)) : NULL;
	if (close == NULL) {
		return false;
	}
	scan->at = close + 1;
	fsl_ftrace_skip_blanks(scan);
	if (!fsl_ftrace_take_number(scan, &ms) || ms > SECONDS_MAX * 1000 ||
	    !fsl_ftrace_take(scan, '.') || !take_fraction(scan, &fraction) ||
	    !FSL_FTRACE_TAKE(scan, "ms") || !fsl_ftrace_take(scan, ' ') ||
	    !fsl_ftrace_take(scan, '(')) {
		return false;
	}
	const char *end = memchr(scan->at, ')', (size_t)(scan->end - scan->at));
	if (end == NULL) {
		return false;
	}
	scan->at = end + 1;
	out->is_in_interrupt = (bits & FLAG_BITS_INTERRUPT) != 0;
	out->stamp = FSL_FTRACE_RELATIVE;
	out->time_ns = ms * FSL_NS_PER_MS + fraction / 1000;
	return fsl_ftrace_take(scan, ':');
}

/* The id of the task stands at @at, its name before it ends at @comm_end. */
static bool try_at(const char *line, const char *comm_end, const char *at, const char *end,
		   bool is_dashed, struct fsl_ftrace_prefix *out, struct fsl_ftrace_scan *rest)
{
	struct fsl_ftrace_scan scan = {at, end};
	if (!fsl_ftrace_take_id(&scan, &out->tid)) {
		return false;
	}
	if (!is_dashed && fsl_ftrace_take(&scan, '/') && !fsl_ftrace_take_id(&scan, &out->tid)) {
		return false; /* perf script -F pid,tid */
	}
	struct fsl_ftrace_scan again = scan;
	if (!take_context(&scan, out)) {
		scan = again;
		if (is_dashed || !take_verbose(&scan, out)) {
			return false;
		}
	}
	while (line < comm_end && *line == ' ') {
		line++;
	}
	size_t length = (size_t)(comm_end - line);
	out->comm = (struct fsl_sched_text){line, length};
	*rest = scan;
	return length <= COMM_COLUMNS;
}

/* Text whose blanks were joined: the last dash, or blank, that is followed by a whole begin. */
static bool search(const char *line, const char *end, struct fsl_ftrace_prefix *out,
		   struct fsl_ftrace_scan *rest)
{
	const char *begin = line;
	while (begin < end && *begin == ' ') {
		begin++;
	}
	const char *last = end - begin > COMM_COLUMNS + 1 ? begin + COMM_COLUMNS + 1 : end - 1;
	for (const char *at = last; at >= begin; at--) {
		if (*at == '-' && fsl_ftrace_is_digit(at[1]) &&
		    try_at(begin, at, at + 1, end, true, out, rest)) {
			return true;
		}
	}
	for (const char *at = last; at > begin; at--) {
		if (*at == ' ' && fsl_ftrace_is_digit(at[1]) &&
		    try_at(begin, at, at + 1, end, false, out, rest)) {
			return true;
		}
	}
	return false;
}

bool fsl_ftrace_read_prefix(const char *line, size_t length, struct fsl_ftrace_prefix *out,
			    struct fsl_ftrace_scan *rest)
{
	const char *end = line + length;
	bool is_read = false;
	if (length <= COMM_COLUMNS + 2) {
		is_read = length > 2 && search(line, end, out, rest);
	} else if (line[COMM_COLUMNS] == '-' && fsl_ftrace_is_digit(line[COMM_COLUMNS + 1]) &&
		   try_at(line, line + COMM_COLUMNS, line + COMM_COLUMNS + 1, end, true, out,
			  rest)) {
		is_read = true;
	} else {
		struct fsl_ftrace_scan id = {line + COMM_COLUMNS, end};
		fsl_ftrace_skip_blanks(&id);
		is_read = line[COMM_COLUMNS] == ' ' && id.at < end && fsl_ftrace_is_digit(*id.at) &&
			  line[COMM_COLUMNS - 1] != ' ' &&
			  try_at(line, line + COMM_COLUMNS, id.at, end, false, out, rest);
		is_read = is_read || search(line, end, out, rest);
	}
	if (is_read) {
		fsl_ftrace_skip_blanks(rest);
	}
	return is_read;
}
