/* What the forms of a series file share. */
#ifndef FSL_SOURCE_SERIES_SERIES_PARTS_H
#define FSL_SOURCE_SERIES_SERIES_PARTS_H

#include "source/series/series_file.h"

/* Names of the columns of a file, in their order. */
struct fsl_series_columns {
	const char *names[FSL_SERIES_COLUMNS_MAX]; /* "" without header */
	size_t n;
	bool has_header;
	bool holds_times; /* one of the columns may be the time */
};

/* Which columns are read; SIZE_MAX: none. */
struct fsl_series_choice {
	size_t value, time;
};

/* Picks the columns, or fails with their names. */
enum fsl_status fsl_series_choose(struct fsl_series_choice *out,
				  const struct fsl_series_columns *columns, const char *wanted,
				  const char *path, struct fsl_error *err);
/* "12.5", "", "NaN": false when it is none of these. Missing values are NaN. */
bool fsl_series_parse(const char *text, size_t length, double *out);
enum fsl_status fsl_series_add(struct fsl_series_file *file, double value, struct fsl_error *err);
/* The time of the value added last, or to come; @times are read in their own order. */
enum fsl_status fsl_series_add_time(struct fsl_series_file *file, size_t *n_times, const char *text,
				    size_t length, struct fsl_error *err);

enum fsl_status fsl_series_read_csv(struct fsl_series_file *out, struct fsl_reader *reader,
				    const char *column, struct fsl_error *err);
enum fsl_status fsl_series_read_json(struct fsl_series_file *out, struct fsl_reader *reader,
				     const char *column, struct fsl_error *err);

#endif
