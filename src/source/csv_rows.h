/* What the CSV readers of operators share: columns by name, one text column with stray commas. */
#ifndef FSL_SOURCE_CSV_ROWS_H
#define FSL_SOURCE_CSV_ROWS_H

#include "base/csv_scan.h"
#include "source/entry.h"

enum { FSL_CSV_COLUMNS_MAX = 8 };

/* One column that a format knows. Its index in the format's table is its number. */
struct fsl_csv_column_spec {
	const char *name;
	bool is_needed;
};

/* Where the columns of one file are. */
struct fsl_csv_layout {
	size_t at[FSL_CSV_COLUMNS_MAX]; /* SIZE_MAX: absent */
	size_t n_fields;                /* of the header */
	size_t text;                    /* field that may hold commas nobody quoted */
};

/* True when the first line of the head holds @name as a whole field. */
bool fsl_csv_head_has(const struct fsl_probe *probe, const char *name);

/* False, and an unusable file, if a needed column is missing. @text_column: number of the text
 * column. @kind: what the file should be, with its article, for the message. */
bool fsl_csv_layout_find(struct fsl_csv_layout *layout, const struct fsl_csv_row *header,
			 const struct fsl_csv_column_spec *columns, size_t text_column,
			 const char *kind, struct fsl_sink *sink);

/* The row's field of a column; empty when the file has no such column. */
struct fsl_csv_field fsl_csv_layout_field(const struct fsl_csv_layout *layout,
					  const struct fsl_csv_row *row, size_t column);

/* The text column, its commas put back in @buffer (FSL_NAME_BYTES_MAX bytes) when the scanner split
 * it. False when it is too long or holds a NUL. */
bool fsl_csv_layout_text(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row,
			 char *buffer, struct fsl_csv_field *text);

/*
 * Behind the header: goes on where rows that matter for the range of the sink may begin. @column:
 * that of the time, in ns. Bytes left out are noted in the sink's file.
 */
enum fsl_status fsl_csv_enter(struct fsl_csv *csv, const struct fsl_reader *reader,
			      const struct fsl_csv_layout *layout, size_t column,
			      struct fsl_sink *sink, struct fsl_error *err);
/* The same in front of @most, from rows of @enter_ns on; nothing is noted. */
enum fsl_status fsl_csv_enter_at(struct fsl_csv *csv, const struct fsl_reader *reader,
				 const struct fsl_csv_layout *layout, size_t column,
				 int64_t enter_ns, uint64_t most, struct fsl_error *err);
/* What may be left out behind that range, from the next row on. */
enum fsl_status fsl_csv_find_gap(const struct fsl_csv *csv, const struct fsl_reader *reader,
				 const struct fsl_csv_layout *layout, size_t column,
				 const struct fsl_sink *sink, struct fsl_entry_gap *gap,
				 struct fsl_error *err);

/* True for the header again, as a restarted collector appends it. */
bool fsl_csv_layout_is_header(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row,
			      const struct fsl_csv_column_spec *columns, size_t column);

/* Counts a row that could not be used; @reason static, NULL: take the scanner's. */
void fsl_csv_bad_row(struct fsl_sink *sink, const struct fsl_csv_row *row, enum fsl_drop why,
		     const char *reason);
/* Why the scanner's own verdict on a row (state BAD or CUT) drops it. */
enum fsl_drop fsl_csv_row_drop(const struct fsl_csv_row *row);

#endif
