/* Shared by the forms of a series file. */
#ifndef FSL_SOURCE_SERIES_SERIES_PARTS_H
#define FSL_SOURCE_SERIES_SERIES_PARTS_H

#include "source/series/series_file.h"

/* Names of a file's columns, in their order. */
struct fsl_series_columns {
	const char *names[FSL_SERIES_COLUMNS_MAX]; /* "" without a header */
	size_t n;
	bool has_header;
	bool holds_times; /* one of the columns may hold times */
};

/* Columns to read; SIZE_MAX: none. */
struct fsl_series_choice {
	size_t value, time;
};

/* Picks the columns. FSL_ERR_INPUT with their names if the choice is ambiguous. */
enum fsl_status fsl_series_choose(struct fsl_series_choice *out,
				  const struct fsl_series_columns *columns, const char *wanted,
				  const char *path, struct fsl_error *err);
/* Parses "12.5", "" or "NaN"; false for any other text. Missing values are NaN. */
bool fsl_series_parse(const char *text, size_t length, double *out);
enum fsl_status fsl_series_add(struct fsl_series_file *file, double value, struct fsl_error *err);
/* Adds the time of the value at index *n_times, which may be added before or after its time. */
enum fsl_status fsl_series_add_time(struct fsl_series_file *file, size_t *n_times, const char *text,
				    size_t length, struct fsl_error *err);

enum fsl_status fsl_series_read_csv(struct fsl_series_file *out, struct fsl_reader *reader,
				    const char *column, struct fsl_error *err);
enum fsl_status fsl_series_read_json(struct fsl_series_file *out, struct fsl_reader *reader,
				     const char *column, struct fsl_error *err);

/* True for a training log. */
bool fsl_series_is_log(const struct fsl_reader *reader, const char *head, size_t n_head);
/* Step times (column step_ms) or loading of data (data_ms) of a training log; the times are the
 * numbers of the steps. */
enum fsl_status fsl_series_read_log(struct fsl_series_file *out, struct fsl_reader *reader,
				    const char *column, struct fsl_error *err);

#endif
