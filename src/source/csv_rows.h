/* Shared by the CSV readers of operators: columns by name, one text column with stray commas. */
#ifndef FSL_SOURCE_CSV_ROWS_H
#define FSL_SOURCE_CSV_ROWS_H

#include "base/csv_scan.h"
#include "source/ingest.h"

enum { FSL_CSV_COLUMNS_MAX = 8 };

/* One column that a format knows. Its index in the format's table is its number. */
struct fsl_csv_column_spec {
	const char *name;
	bool is_needed;
};

/* Positions of the known columns in one file. */
struct fsl_csv_layout {
	size_t at[FSL_CSV_COLUMNS_MAX]; /* SIZE_MAX: absent */
	size_t n_fields;                /* of the header */
	size_t text;                    /* field that may hold commas without quotes */
};

/* True when the first line of the head holds @name as a whole field. */
bool fsl_csv_head_has(const struct fsl_probe *probe, const char *name);

/* Finds the columns in @header. False if a needed column is missing: the sink's file is then marked
 * unusable. @text_column: number of the column that may hold commas without quotes. */
bool fsl_csv_layout_find(struct fsl_csv_layout *layout, const struct fsl_csv_row *header,
			 const struct fsl_csv_column_spec *columns, size_t text_column,
			 const char *kind, struct fsl_sink *sink);

/* The row's field of a column; empty when the file has no such column. */
struct fsl_csv_field fsl_csv_layout_field(const struct fsl_csv_layout *layout,
					  const struct fsl_csv_row *row, size_t column);

/* Sets @text to the text column; borrowed from @row or @buffer. If the scanner split the column at
 * its commas, the parts are joined in @buffer (FSL_NAME_BYTES_MAX bytes). False if the text is too
 * long or holds a NUL. */
bool fsl_csv_layout_text(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row,
			 char *buffer, struct fsl_csv_field *text);

/* True if the row repeats the header, as a restarted collector appends it. */
bool fsl_csv_layout_is_header(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row,
			      const struct fsl_csv_column_spec *columns, size_t column);

/* Counts a row that could not be used. @reason: static text; NULL: the scanner's reason. */
void fsl_csv_bad_row(struct fsl_sink *sink, const struct fsl_csv_row *row, enum fsl_drop why,
		     const char *reason);
/* Reason for which a row of state BAD or CUT is dropped. */
enum fsl_drop fsl_csv_row_drop(const struct fsl_csv_row *row);

#endif
