/* Exact decimal arithmetic on text; time stamps from text and to text. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/digits.h"
#include "base/log.h"

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Takes blanks and tabs off both ends. */
static inline void trim(const char **text, size_t *length)
{
	while (*length > 0 && is_blank((*text)[*length - 1])) {
		--*length;
	}
	while (*length > 0 && is_blank(**text)) {
		++*text;
		--*length;
	}
}

/* Takes an optional sign off the front; true for a minus. */
static inline bool take_sign(const char **text, size_t *length)
{
	bool negative = *length > 0 && **text == '-';
	if (negative || (*length > 0 && **text == '+')) {
		++*text;
		--*length;
	}
	return negative;
}

/* One or more digits and nothing else; false on overflow. */
static bool parse_digits(const char *text, size_t length, uint64_t *out)
{
	if (length == 0) {
		return false;
	}
	uint64_t value = 0;
	size_t n_safe = length < FSL_DIGITS_MAX ? length : FSL_DIGITS_MAX;
	const char *safe_end = text + n_safe;
	const char *end = text + length;
	for (; safe_end - text >= 8; text += 8) {
		uint64_t eight = 0;
		if (!fsl_digits_word(text, 8, &eight)) {
			return false;
		}
		value = value * UINT64_C(100000000) + eight;
	}
	for (; text < safe_end; text++) {
		if (!is_digit(*text)) {
			return false;
		}
		value = value * 10 + (uint64_t)(*text - '0');
	}
	for (; text < end; text++) {
		if (!is_digit(*text) || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value)) {
			return false;
		}
	}
	*out = value;
	return true;
}

/* Joins sign and magnitude; false when the result does not fit. */
static bool to_signed(bool negative, uint64_t magnitude, int64_t *out)
{
	if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
		return false;
	}
	/* -1 - (magnitude - 1) reaches INT64_MIN without passing +2^63. */
	*out = negative && magnitude > 0 ? -1 - (int64_t)(magnitude - 1) : (int64_t)magnitude;
	return true;
}

bool fsl_parse_u64(const char *text, size_t length, uint64_t *out)
{
	trim(&text, &length);
	if (length > 0 && *text == '-') {
		return false;
	}
	(void)take_sign(&text, &length);
	return parse_digits(text, length, out);
}

bool fsl_parse_real(const char *text, double *out)
{
	char *end = NULL;
	size_t n_known = strspn(text, "0123456789+-.eE");
	double value = strtod(text, &end);
	if (end == text || text[n_known] != '\0' || *end != '\0' || !isfinite(value)) {
		return false;
	}
	*out = value;
	return true;
}

bool fsl_parse_i64(const char *text, size_t length, int64_t *out)
{
	trim(&text, &length);
	bool negative = take_sign(&text, &length);
	uint64_t magnitude = 0;
	return parse_digits(text, length, &magnitude) && to_signed(negative, magnitude, out);
}

/* A decimal number in parts: the digits before and after the point, and the place of the point. */
struct decimal {
	bool negative;
	const char *whole, *fraction; /* digits as written */
	size_t n_whole, n_fraction;
	int64_t point; /* decimal point after this many digits; the exponent is included */
};

static size_t count_digits(const char *text, size_t length)
{
	size_t n = 0;
	while (n < length && is_digit(text[n])) {
		n++;
	}
	return n;
}

/* "e+12" and nothing behind it. An exponent beyond the range of int64 is cut to a size with the
 * same effect: no text has enough digits to make up for it. */
static bool parse_exponent(const char *text, size_t length, int64_t *out)
{
	const int64_t exponent_max = INT64_MAX / 4;
	text++;
	length--;
	bool negative = take_sign(&text, &length);
	if (length == 0 || count_digits(text, length) != length) {
		return false;
	}
	uint64_t magnitude = 0;
	if (!parse_digits(text, length, &magnitude) || magnitude > (uint64_t)exponent_max) {
		magnitude = (uint64_t)exponent_max;
	}
	*out = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

static bool split_decimal(const char *text, size_t length, struct decimal *out)
{
	trim(&text, &length);
	*out = (struct decimal){.negative = take_sign(&text, &length)};
	out->whole = text;
	out->n_whole = count_digits(text, length);
	text += out->n_whole;
	length -= out->n_whole;
	if (length > 0 && *text == '.') {
		out->fraction = text + 1;
		out->n_fraction = count_digits(text + 1, length - 1);
		text += 1 + out->n_fraction;
		length -= 1 + out->n_fraction;
	}
	if (out->n_whole + out->n_fraction == 0) {
		return false;
	}
	int64_t exponent = 0;
	if (length > 0 &&
	    ((*text != 'e' && *text != 'E') || !parse_exponent(text, length, &exponent))) {
		return false;
	}
	out->point = (int64_t)out->n_whole + exponent;
	return true;
}

/* Digit @idx counted from the first one written; zeros follow the last. */
static uint64_t digit_at(const struct decimal *number, uint64_t idx)
{
	if (idx < number->n_whole) {
		return (uint64_t)(number->whole[idx] - '0');
	}
	idx -= number->n_whole;
	return idx < number->n_fraction ? (uint64_t)(number->fraction[idx] - '0') : 0;
}

/* The digits before the point as a number; false on overflow. */
static bool whole_part(const struct decimal *number, uint64_t *out)
{
	uint64_t n_digits = (uint64_t)number->n_whole + number->n_fraction;
	uint64_t point = number->point > 0 ? (uint64_t)number->point : 0;
	uint64_t value = 0;
	for (uint64_t i = 0; i < point; i++) {
		if (i >= n_digits && value == 0) {
			break; /* only zeros follow: 0e999999999 is 0 */
		}
		if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, digit_at(number, i), &value)) {
			return false;
		}
	}
	*out = value;
	return true;
}

/*
 * floor(0.f1 f2 f3... * scale), exactly, for any number of digits. Goes from the last digit to the
 * first: floor((digit * scale + rest) / 10). An inner floor does not change the outer one, because
 * digit * scale is an integer. @scale <= 2 * FSL_SCALE_MAX, so that 10 * scale fits 64 bits.
 */
static uint64_t fraction_part(const struct decimal *number, uint64_t scale)
{
	uint64_t i = (uint64_t)number->n_whole + number->n_fraction;
	uint64_t begin = number->point > 0 ? (uint64_t)number->point : 0;
	uint64_t rest = 0;
	while (i > begin) {
		i--;
		rest = (digit_at(number, i) * scale + rest) / 10;
	}
	/* Zeros between the point and the first digit. */
	for (int64_t zeros = number->point; zeros < 0 && rest > 0; zeros++) {
		rest /= 10;
	}
	return rest;
}

bool fsl_parse_scaled(const char *text, size_t length, int64_t scale, int64_t *out)
{
	FSL_REQUIRE(scale > 0 && scale <= FSL_SCALE_MAX);
	struct decimal number;
	uint64_t value = 0;
	if (!split_decimal(text, length, &number) || !whole_part(&number, &value) ||
	    __builtin_mul_overflow(value, (uint64_t)scale, &value)) {
		return false;
	}
	/* floor(x + 1/2) = floor((floor(2 x) + 1) / 2) rounds half away from zero, sign apart. */
	uint64_t rounded = (fraction_part(&number, (uint64_t)scale * 2) + 1) / 2;
	return !__builtin_add_overflow(value, rounded, &value) &&
	       to_signed(number.negative, value, out);
}

/* Reads an integer epoch whose size tells its unit. Seconds reach 5138; 1e11 ms is March 1973. */
static bool parse_epoch(const char *text, size_t length, int64_t *out_ns)
{
	static const struct {
		int64_t below, scale;
	} units[] = {
		{INT64_C(100000000000), FSL_NS_PER_S},
		{INT64_C(100000000000000), FSL_NS_PER_MS},
		{INT64_C(100000000000000000), FSL_NS_PER_US},
	};
	int64_t value = 0, time_ns = 0;
	int64_t scale = 1;
	if (!fsl_parse_i64(text, length, &value)) {
		return false;
	}
	for (size_t i = sizeof(units) / sizeof(units[0]); i-- > 0;) {
		if (value < units[i].below && value > -units[i].below) {
			scale = units[i].scale;
		}
	}
	if (__builtin_mul_overflow(value, scale, &time_ns)) {
		return false;
	}
	*out_ns = time_ns;
	return true;
}

/* Exactly @n_digits digits at *text; moves behind them. */
static bool take_number(const char **text, int n_digits, int *out)
{
	int value = 0;
	for (int i = 0; i < n_digits; i++) {
		if (!is_digit((*text)[i])) {
			return false;
		}
		value = value * 10 + ((*text)[i] - '0');
	}
	*text += n_digits;
	*out = value;
	return true;
}

static bool take_char(const char **text, char c)
{
	if (**text != c) {
		return false;
	}
	++*text;
	return true;
}

/* Reads the digits of a second behind the point; digits beyond 1 ns are dropped. */
static bool take_fraction(const char **text, int64_t *out_ns)
{
	int64_t unit_ns = FSL_NS_PER_S / 10;
	if (!is_digit(**text)) {
		return false;
	}
	*out_ns = 0;
	for (; is_digit(**text); ++*text) {
		*out_ns += (**text - '0') * unit_ns;
		unit_ns /= 10;
	}
	return true;
}

static bool take_date(const char **text, struct tm *when)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = 0, month = 0, day = 0;
	if (!take_number(text, 4, &year) || !take_char(text, '-') ||
	    !take_number(text, 2, &month) || !take_char(text, '-') || !take_number(text, 2, &day) ||
	    month < 1 || month > 12 || day < 1) {
		return false;
	}
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	if (day > days[month - 1] + (month == 2 && leap ? 1 : 0)) {
		return false;
	}
	when->tm_year = year - 1900;
	when->tm_mon = month - 1;
	when->tm_mday = day;
	return true;
}

/* "15:07", "15:07:20", "15:07:20.123". */
static bool take_clock(const char **text, struct tm *when, int64_t *fraction_ns)
{
	if (!take_number(text, 2, &when->tm_hour) || !take_char(text, ':') ||
	    !take_number(text, 2, &when->tm_min) || when->tm_hour > 23 || when->tm_min > 59) {
		return false;
	}
	if (!take_char(text, ':')) {
		return true;
	}
	/* 60 is a leap second. */
	if (!take_number(text, 2, &when->tm_sec) || when->tm_sec > 60) {
		return false;
	}
	if (take_char(text, '.') || take_char(text, ',')) {
		return take_fraction(text, fraction_ns);
	}
	return true;
}

/* "Z", "+08:00", "+0800", "+08" or nothing (local); *has_zone tells. */
static bool take_zone(const char **text, bool *has_zone, int *offset_s)
{
	*has_zone = false;
	*offset_s = 0;
	if (**text == '\0') {
		return true;
	}
	*has_zone = true;
	if (take_char(text, 'Z') || take_char(text, 'z')) {
		return true;
	}
	int sign = **text == '-' ? -1 : 1;
	int hours = 0, minutes = 0;
	if ((!take_char(text, '+') && !take_char(text, '-')) || !take_number(text, 2, &hours)) {
		return false;
	}
	bool colon = take_char(text, ':');
	if ((colon || is_digit(**text)) && !take_number(text, 2, &minutes)) {
		return false;
	}
	*offset_s = sign * (hours * 3600 + minutes * 60);
	return hours <= 23 && minutes <= 59;
}

static bool parse_iso(const char *text, int64_t *out_ns)
{
	struct tm when = {0};
	int64_t fraction_ns = 0;
	bool has_zone = false;
	int offset_s = 0;
	if (!take_date(&text, &when)) {
		return false;
	}
	if ((take_char(&text, 'T') || take_char(&text, 't') || take_char(&text, ' ')) &&
	    (!take_clock(&text, &when, &fraction_ns) || !take_zone(&text, &has_zone, &offset_s))) {
		return false;
	}
	if (*text != '\0') {
		return false;
	}
	when.tm_isdst = -1; /* mktime decides */
	int64_t seconds = has_zone ? (int64_t)timegm(&when) - offset_s : (int64_t)mktime(&when);
	int64_t time_ns = 0;
	if (__builtin_mul_overflow(seconds, (int64_t)FSL_NS_PER_S, &time_ns) ||
	    __builtin_add_overflow(time_ns, fraction_ns, &time_ns)) {
		return false;
	}
	*out_ns = time_ns;
	return true;
}

bool fsl_parse_time(const char *text, int64_t *out_ns)
{
	return parse_epoch(text, strlen(text), out_ns) || parse_iso(text, out_ns);
}

/* Whole seconds and the rest, 0 <= rest < 1 s, also before 1970. */
static time_t floor_seconds(int64_t time_ns, int *rest_ms)
{
	int64_t seconds = time_ns / FSL_NS_PER_S;
	int64_t rest_ns = time_ns % FSL_NS_PER_S;
	if (rest_ns < 0) {
		rest_ns += FSL_NS_PER_S;
		seconds--;
	}
	*rest_ms = (int)(rest_ns / FSL_NS_PER_MS);
	return (time_t)seconds;
}

const char *fsl_format_local(int64_t time_ns, char *buffer, size_t size)
{
	int rest_ms = 0;
	time_t seconds = floor_seconds(time_ns, &rest_ms);
	struct tm when = {0};
	if (localtime_r(&seconds, &when) == NULL ||
	    strftime(buffer, size, "%Y-%m-%d %H:%M:%S", &when) == 0) {
		(void)snprintf(buffer, size, "?");
	}
	return buffer;
}

const char *fsl_format_utc(int64_t time_ns, char *buffer, size_t size)
{
	int rest_ms = 0;
	time_t seconds = floor_seconds(time_ns, &rest_ms);
	struct tm when = {0};
	char clock[32];
	if (gmtime_r(&seconds, &when) == NULL ||
	    strftime(clock, sizeof(clock), "%Y-%m-%dT%H:%M:%S", &when) == 0) {
		(void)snprintf(buffer, size, "?");
	} else {
		(void)snprintf(buffer, size, "%s.%03dZ", clock, rest_ms);
	}
	return buffer;
}

int64_t fsl_now_ns(void)
{
	struct timespec now = {0};
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * FSL_NS_PER_S + now.tv_nsec;
}

int64_t fsl_sum_i64(int64_t a, int64_t b)
{
	int64_t sum = 0;
	return __builtin_add_overflow(a, b, &sum) ? (a > 0 ? INT64_MAX : INT64_MIN) : sum;
}
