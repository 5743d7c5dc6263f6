/* Exact numbers and times from text. Time never passes through a double. */
#ifndef FSL_BASE_NUMBER_H
#define FSL_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FSL_NS_PER_US = 1000, FSL_NS_PER_MS = 1000000, FSL_NS_PER_S = 1000000000 };
#define FSL_NS_ABSENT INT64_C(-1) /* a time that was not recorded */

/* The whole text must be a decimal integer with an optional sign; blanks and tabs at both ends are
 * allowed. False otherwise or on overflow. All functions here write *out on success only. */
bool fsl_parse_i64(const char *text, size_t length, int64_t *out);
bool fsl_parse_u64(const char *text, size_t length, uint64_t *out);
/* The double nearest to a decimal number (sign, fraction, exponent) that is the whole text. Other
 * forms that strtod() reads are refused: hexadecimal numbers, infinity. */
bool fsl_parse_real(const char *text, double *out);
/*
 * Decimal number (sign, fraction, exponent) times @scale, exactly, rounded half away from zero to
 * an integer: fsl_parse_scaled("1743675836123456.789", 1000) is 1743675836123456789 (us to ns).
 * 0 < @scale <= FSL_SCALE_MAX.
 */
#define FSL_SCALE_MAX (INT64_MAX / 10)
bool fsl_parse_scaled(const char *text, size_t length, int64_t scale, int64_t *out);

/* a + b, limited to the range of int64: sums of values from files may overflow. */
int64_t fsl_sum_i64(int64_t a, int64_t b);

/*
 * TIME of the command line: ISO 8601 (date, or date and time with optional fraction and Z or
 * +hh:mm; local time without a zone) or an integer epoch in s, ms, us or ns, told by its size:
 * below 1e11 s, below 1e14 ms, below 1e17 us, else ns. Result: ns since 1970.
 */
bool fsl_parse_time(const char *text, int64_t *out_ns);
/* "2025-06-15 15:07:20" local time; @buffer of at least 32 bytes. Returns @buffer. */
const char *fsl_format_local(int64_t time_ns, char *buffer, size_t size);
/* "2025-06-15T15:07:20.123Z" UTC; @buffer of at least 40 bytes. Returns @buffer. */
const char *fsl_format_utc(int64_t time_ns, char *buffer, size_t size);
/* Wall clock, ns since 1970. Only src/cli calls it; every other folder takes `now` as a value. */
int64_t fsl_now_ns(void);

#endif
