/* Finds the time stamp in a line of a log, local time unless it names a zone. */
#ifndef FSL_SOURCE_LOG_LOG_STAMP_H
#define FSL_SOURCE_LOG_LOG_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start it as {.written_ns = time at which the file was written last}. */
struct fsl_log_clock {
	int64_t written_ns; /* stamps without a year or a day are of the time before it */
	/* The minute of the last stamp: the next one is mostly of the same minute. */
	char minute[40];
	int64_t minute_ns;
	int64_t last_in_day_ns, days_ns; /* begun days since the first stamp without a day */
	bool has_days;                   /* stamps have no day: times count from a midnight */
};

/*
 * Finds the first stamp of a line: hh:mm:ss with or without a fraction, behind a date (2025-06-15,
 * 2025/06/15, 06/15/2025, 06/15, Jun 15, I0615) or, if nothing better is there, at the begin of the
 * line without one. *time_ns: ns since 1970, or since some midnight if clock->has_days. *step_ns:
 * what it is rounded to.
 */
bool fsl_log_stamp(struct fsl_log_clock *clock, const char *line, size_t length, int64_t *time_ns,
		   int64_t *step_ns);

#endif
