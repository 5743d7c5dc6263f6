/* Log lines in the three forms. */
#include "base/log_line.h"

#include <string.h>

#define NS_PER_MS      INT64_C(1000000)
#define MS_PER_DAY     INT64_C(86400000)
#define DAYS_PER_CYCLE 146097 /* of 400 years */
/* The end of a line always fits behind a text that was cut. */
enum { ROOM_FOR_END = 8 };

struct line {
	char *text;
	size_t n;
};

static void put(struct line *line, const char *text)
{
	size_t length = strlen(text), room = FSL_LOG_LINE_BYTES - 1 - line->n;
	length = length < room ? length : room;
	memcpy(line->text + line->n, text, length);
	line->n += length;
}

/* Text inside quotes: '"' and '\' have a '\' before them. A text that is too long is cut. */
static void put_escaped(struct line *line, const char *text)
{
	for (; *text != '\0' && line->n + 2 < FSL_LOG_LINE_BYTES - ROOM_FOR_END; text++) {
		if (*text == '"' || *text == '\\') {
			line->text[line->n++] = '\\';
		}
		line->text[line->n++] = *text;
	}
}

static void put_digits(struct line *line, int64_t number, size_t n_digits)
{
	char digits[20];
	for (size_t i = n_digits; i-- > 0; number /= 10) {
		digits[i] = (char)('0' + number % 10);
	}
	digits[n_digits] = '\0';
	put(line, digits);
}

/*
 * "2026-11-27T02:41:00.123Z". Days become a date in years that begin in March, so that the leap day
 * is the last one of a year (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
 */
static void put_time(struct line *line, int64_t time_ns)
{
	int64_t ms = time_ns > 0 ? time_ns / NS_PER_MS : 0;
	int64_t day = ms / MS_PER_DAY + 719468; /* since 1 March of the year 0 */
	int64_t in_cycle = day % DAYS_PER_CYCLE;
	int64_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
	int64_t in_year = in_cycle - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * in_year + 2) / 153; /* 0: March */
	year += day / DAYS_PER_CYCLE * 400 + (month >= 10 ? 1 : 0);
	put_digits(line, year, 4);
	put(line, "-");
	put_digits(line, month < 10 ? month + 3 : month - 9, 2);
	put(line, "-");
	put_digits(line, in_year - (153 * month + 2) / 5 + 1, 2);
	const int64_t parts[] = {ms % MS_PER_DAY / 3600000, ms / 60000 % 60, ms / 1000 % 60};
	static const char *const marks[] = {"T", ":", ":"};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		put(line, marks[i]);
		put_digits(line, parts[i], 2);
	}
	put(line, ".");
	put_digits(line, ms % 1000, 3);
	put(line, "Z");
}

static void put_text(struct line *line, const struct fsl_log_entry *entry, const char *level)
{
	const char *const words[] = {"failslow: ", level, ": ", entry->tag, ": "};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		put(line, words[i]);
	}
	put(line, entry->message);
}

/* Each form has a text before the time, the level, the area and the message, and one behind it. */
static const char *const frames[][5] = {
	[FSL_LOG_LOGFMT] = {"time=", " level=", " area=", " msg=\"", "\""},
	[FSL_LOG_JSON] = {"{\"time\":\"", "\",\"level\":\"", "\",\"area\":\"", "\",\"message\":\"",
			  "\"}"},
};

static void put_fields(struct line *line, const struct fsl_log_entry *entry, const char *level)
{
	const char *const *frame = frames[entry->form];
	put(line, frame[0]);
	put_time(line, entry->time_ns);
	put(line, frame[1]);
	put(line, level);
	put(line, frame[2]);
	put(line, entry->tag);
	put(line, frame[3]);
	put_escaped(line, entry->message);
	put(line, frame[4]);
}

size_t fsl_log_line(char *out, const struct fsl_log_entry *entry)
{
	static const char *const names[] = {"error", "warning", "info", "debug"};
	static const char *const priorities[] = {"<3>", "<4>", "<6>", "<7>"};
	struct line line = {out, 0};
	if (entry->has_priority) {
		put(&line, priorities[entry->level]);
	}
	if (entry->form == FSL_LOG_TEXT) {
		put_text(&line, entry, entry->word != NULL ? entry->word : names[entry->level]);
	} else {
		put_fields(&line, entry, names[entry->level]);
	}
	out[line.n++] = '\n';
	return line.n;
}
