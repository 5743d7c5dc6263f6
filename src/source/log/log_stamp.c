/* Time stamps of the common loggers. */
#include "source/log/log_stamp.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/number.h"

enum {
	LOOK_BYTES = 160,   /* a stamp stands at the begin of a line */
	DAYLESS_BYTES = 24, /* one without a date stands there alone */
	CLOCK_BYTES = 8,    /* hh:mm:ss */
	FRACTION_DIGITS_MAX = 9,
};

static const int64_t DAY_NS = INT64_C(86400) * FSL_NS_PER_S;

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* True if @text looks like @shape, where 0 stands for any digit. */
static bool has_shape(const char *text, const char *shape)
{
	for (; *shape != '\0'; text++, shape++) {
		if (*shape == '0' ? !is_digit(*text) : *text != *shape) {
			return false;
		}
	}
	return true;
}

static int two(const char *text)
{
	return 10 * (text[0] - '0') + (text[1] - '0');
}

/* A date as text, "" if there is none; year 0: not told. */
struct date {
	int year, month, day;
};

static int month_of(const char *name)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	for (int month = 0; month < 12; month++) {
		if (memcmp(name, names + (size_t)3 * (size_t)month, 3) == 0) {
			return month + 1;
		}
	}
	return 0;
}

/* The date that ends at @end, of the @n bytes before it; false: none. */
static bool date_before(const char *end, size_t n, struct date *out)
{
	*out = (struct date){0};
	if (n >= 10 && (has_shape(end - 10, "0000-00-00") || has_shape(end - 10, "0000/00/00"))) {
		*out = (struct date){100 * two(end - 10) + two(end - 8), two(end - 5),
				     two(end - 2)};
	} else if (n >= 10 && has_shape(end - 10, "00/00/0000")) {
		*out = (struct date){100 * two(end - 4) + two(end - 2), two(end - 10),
				     two(end - 7)};
	} else if (n >= 5 && has_shape(end - 5, "00/00")) {
		*out = (struct date){0, two(end - 5), two(end - 2)};
	} else if (n >= 5 && has_shape(end - 4, "0000") && strchr("IWEFD", end[-5]) != NULL) {
		*out = (struct date){0, two(end - 4), two(end - 2)};
	} else if (n >= 6 && has_shape(end - 3, " 00")) {
		*out = (struct date){0, month_of(end - 6), two(end - 2)};
	} else if (n >= 6 && has_shape(end - 3, "  0")) {
		*out = (struct date){0, month_of(end - 6), end[-1] - '0'};
	}
	return out->month >= 1 && out->month <= 12 && out->day >= 1 && out->day <= 31;
}

/* Begin of a minute; @zone: "" for local time. */
static bool minute_of(const struct date *date, const char *clock, const char *zone,
		      int64_t *minute_ns)
{
	char text[64];
	(void)snprintf(text, sizeof(text), "%04d-%02d-%02dT%.5s:00%s", date->year, date->month,
		       date->day, clock, zone);
	return fsl_parse_time(text, minute_ns);
}

/* Gives a date its year, so that it lies just before the last write to the file. */
static bool minute_of_year(struct date *date, const char *clock, int64_t written_ns,
			   int64_t *minute_ns)
{
	time_t written = (time_t)(written_ns / FSL_NS_PER_S);
	struct tm when = {0};
	if (localtime_r(&written, &when) == NULL) {
		return false;
	}
	date->year = when.tm_year + 1900;
	if (!minute_of(date, clock, "", minute_ns)) {
		return false;
	}
	if (*minute_ns > written_ns + DAY_NS) {
		date->year--;
		return minute_of(date, clock, "", minute_ns);
	}
	return true;
}

/* Reads the fraction of a second and the zone behind it. */
static void read_rest(const char *at, const char *end, int64_t *fraction_ns, int64_t *step_ns,
		      char zone[8])
{
	*fraction_ns = 0;
	*step_ns = FSL_NS_PER_S;
	if (end - at >= 2 && strchr(".,", *at) != NULL && *at != '\0' && is_digit(at[1])) {
		int n = 0;
		for (at++; at < end && is_digit(*at); at++) {
			if (n++ < FRACTION_DIGITS_MAX) {
				*step_ns /= 10;
				*fraction_ns += (*at - '0') * *step_ns;
			}
		}
	}
	zone[0] = '\0';
	if (at < end && *at == 'Z') {
		memcpy(zone, "Z", 2);
	} else if (end - at >= 6 && (has_shape(at, "+00:00") || has_shape(at, "-00:00"))) {
		memcpy(zone, at, 6);
		zone[6] = '\0';
	}
}

/* A stamp of the day alone: days are counted from the first stamp on. */
static void time_in_day(struct fsl_log_clock *clock, const char *text, int64_t *time_ns)
{
	int64_t in_day_ns =
		(INT64_C(3600) * two(text) + INT64_C(60) * two(text + 3)) * FSL_NS_PER_S;
	if (clock->has_days && in_day_ns < clock->last_in_day_ns - DAY_NS / 2) {
		clock->days_ns += DAY_NS;
	}
	clock->has_days = true;
	clock->last_in_day_ns = in_day_ns;
	*time_ns = clock->days_ns + in_day_ns;
}

/* Time of the minute of a stamp whose clock stands at @at. */
static bool find_minute(struct fsl_log_clock *clock, const char *line, const char *at,
			const char *zone, int64_t *minute_ns)
{
	size_t n = (size_t)(at - line), n_date = n < 13 ? n : 13;
	const char *begin = at - n_date;
	size_t n_minute = n_date + 5, n_zone = strlen(zone);
	struct date date = {0};
	if (memcmp(clock->minute, begin, n_minute) == 0 &&
	    memcmp(clock->minute + n_minute, zone, n_zone + 1) == 0 && n > 0) {
		*minute_ns = clock->minute_ns;
		return true;
	}
	if (n == 0 || strchr(" T-_", at[-1]) == NULL || !date_before(at - 1, n - 1, &date)) {
		return false;
	}
	bool is_good = date.year > 0 ? minute_of(&date, at, zone, minute_ns)
				     : minute_of_year(&date, at, clock->written_ns, minute_ns);
	if (is_good) {
		memcpy(clock->minute, begin, n_minute);
		memcpy(clock->minute + n_minute, zone, n_zone + 1);
		clock->minute_ns = *minute_ns;
	}
	return is_good;
}

bool fsl_log_stamp(struct fsl_log_clock *clock, const char *line, size_t length, int64_t *time_ns,
		   int64_t *step_ns)
{
	const char *end = line + length, *colon = line;
	size_t n_look = length < LOOK_BYTES ? length : LOOK_BYTES;
	const char *dayless = NULL;
	for (;; colon++) {
		colon = memchr(colon, ':', (size_t)(line + n_look - colon));
		if (colon == NULL) {
			break;
		}
		const char *at = colon - 2;
		if (colon - line < 2 || end - at < CLOCK_BYTES || !has_shape(at, "00:00:00") ||
		    (at > line && is_digit(at[-1]))) {
			continue;
		}
		char zone[8];
		int64_t fraction_ns = 0, minute_ns = 0;
		read_rest(at + CLOCK_BYTES, end, &fraction_ns, step_ns, zone);
		if (find_minute(clock, line, at, zone, &minute_ns)) {
			*time_ns = minute_ns + two(at + 6) * (int64_t)FSL_NS_PER_S + fraction_ns;
			return true;
		}
		dayless = dayless == NULL && at - line < DAYLESS_BYTES ? at : dayless;
	}
	if (dayless == NULL || clock->minute_ns != 0) {
		return false;
	}
	char zone[8];
	int64_t fraction_ns = 0;
	read_rest(dayless + CLOCK_BYTES, end, &fraction_ns, step_ns, zone);
	time_in_day(clock, dayless, time_ns);
	*time_ns += two(dayless + 6) * (int64_t)FSL_NS_PER_S + fraction_ns;
	return true;
}
