/*
 * One series of numbers from a file: CSV (comma, semicolon or tab, header optional), JSON (an
 * array, an object of arrays, or the form of the Turing change point dataset), or a training log.
 * The first character tells the form, of a log its first lines or its name.
 */
#ifndef FSL_SOURCE_SERIES_SERIES_FILE_H
#define FSL_SOURCE_SERIES_SERIES_FILE_H

#include "base/file.h"
#include "base/mem.h"

/* Owned; start as {0}. */
struct fsl_series_file {
	double *values;     /* n; NaN: empty, null, NaN or infinite */
	const char **times; /* n, as written, "" if a value has none; NULL: no times */
	size_t n;
	size_t n_missing;
	const char *column;     /* name of the values, "" without a header */
	struct fsl_arena arena; /* holds the texts */
	size_t values_capacity, times_capacity;
};

enum {
	FSL_SERIES_COLUMNS_MAX = 256,    /* no table that a person wrote has more */
	FSL_SERIES_TEXT_BYTES_MAX = 256, /* longest name of a column or text of a time */
	FSL_SERIES_VALUES_MAX = 1 << 22, /* limit of base/shift.h */
};

/*
 * Reads all of @reader. @column: name of the value column, or its number from 1; NULL: "value",
 * else the only column besides the time. FSL_ERR_FORMAT for a text that is no number, with file,
 * line and remedy. FSL_ERR_INPUT if there are no values, or if the column is ambiguous. Release
 * @out with fsl_series_file_fini in any case.
 */
enum fsl_status fsl_series_file_read(struct fsl_series_file *out, struct fsl_reader *reader,
				     const char *column, struct fsl_error *err);
void fsl_series_file_fini(struct fsl_series_file *file);

#endif
