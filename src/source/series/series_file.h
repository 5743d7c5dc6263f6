/*
 * One series of numbers from a file that holds little else: CSV (comma, semicolon or tab, header
 * optional) or JSON (an array, an object of arrays, or the Turing change point dataset's form). The
 * form is told by the first character.
 */
#ifndef FSL_SOURCE_SERIES_SERIES_FILE_H
#define FSL_SOURCE_SERIES_SERIES_FILE_H

#include "base/file.h"
#include "base/mem.h"

/* Owned; start as {0}. */
struct fsl_series_file {
	double *values;     /* n; NaN: empty, null, NaN or infinite */
	const char **times; /* n, as they were written, "" where there was none; NULL: no times */
	size_t n;
	size_t n_missing;
	const char *column;     /* name of the values, "" without header */
	struct fsl_arena arena; /* holds the texts */
	size_t values_capacity, times_capacity;
};

enum {
	FSL_SERIES_COLUMNS_MAX = 256,    /* more are no table that a person wrote */
	FSL_SERIES_TEXT_BYTES_MAX = 256, /* of a column's name or a time */
	FSL_SERIES_VALUES_MAX = 1 << 22, /* what base/shift.h takes */
};

/*
 * Reads all of @reader. @column: name of the values, or their number from 1; NULL: "value", else
 * the only column beside the time. What is no number fails with file, line and remedy
 * (FSL_ERR_FORMAT); no values at all, or columns that leave a choice: FSL_ERR_INPUT. @out must be
 * released with fsl_series_file_fini in any case.
 */
enum fsl_status fsl_series_file_read(struct fsl_series_file *out, struct fsl_reader *reader,
				     const char *column, struct fsl_error *err);
void fsl_series_file_fini(struct fsl_series_file *file);

#endif
