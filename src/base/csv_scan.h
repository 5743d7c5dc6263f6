/*
 * Fast row scanner for comma-separated marker files: RFC 4180 quotes, \n and \r\n, no final newline
 * needed, header-driven columns, NUL bytes kept, a UTF-8 byte order mark skipped. A quote inside an
 * unquoted field is an ordinary byte. A row that breaks the rules is reported by itself. Scanning
 * goes on behind the first line end after the row's first byte, so that one stray quote costs one
 * line and not everything up to the next quote.
 */
#ifndef FSL_BASE_CSV_SCAN_H
#define FSL_BASE_CSV_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

enum { FSL_CSV_FIELDS_MAX = 64 };

struct fsl_csv_field {
	const char *text; /* unquoted; borrowed until the next row */
	size_t length;
};

enum fsl_csv_row_state {
	FSL_CSV_ROW,     /* a row: fields[0 .. n_fields) */
	FSL_CSV_BAD_ROW, /* a row that breaks the rules (reason set); scanning can go on */
	FSL_CSV_CUT_ROW, /* the file ends inside a quoted field */
	FSL_CSV_END,
};

struct fsl_csv_row {
	enum fsl_csv_row_state state;
	const char *reason; /* static text for BAD and CUT */
	uint64_t line;      /* number of the row's first line, from 1; 0 after a jump */
	uint64_t offset;    /* decompressed byte offset of the row's first byte */
	bool has_newline;   /* false: the file ends without newline after this row (may be cut) */
	size_t n_fields;
	struct fsl_csv_field fields[FSL_CSV_FIELDS_MAX];
};

struct fsl_csv; /* opaque; reads from a reader that it does not own */

struct fsl_csv *fsl_csv_create(struct fsl_reader *reader); /* NULL when out of memory */
/* Frees @csv. The reader then stands behind the last row that was returned. */
void fsl_csv_destroy(struct fsl_csv *csv);

/* Goes on at @offset, the begin of a row that is not the first. @line: number of its line, 0:
 * unknown. The reader must be able to seek. */
enum fsl_status fsl_csv_jump(struct fsl_csv *csv, uint64_t offset, uint64_t line,
			     struct fsl_error *err);
/* Makes a new scanner go on where the reader stands, at the begin of a row of that line (0: not
 * known). */
void fsl_csv_go_on(struct fsl_csv *csv, uint64_t line);
/* The same over text in memory, for plain rows alone: offset 0 is its first byte. @text: borrowed.
 */
struct fsl_csv *fsl_csv_create_over(const char *text, size_t n_bytes);
/* Sets a fence: from FSL_CSV_PLAIN_REACH_BYTES before @offset on no row is read as a plain row, so
 * that a reader of plain rows does not pass the fence unnoticed. UINT64_MAX: no fence. */
void fsl_csv_set_fence(struct fsl_csv *csv, uint64_t offset);
/* Byte offset of the next row, and the number of its line (0 after a jump). */
uint64_t fsl_csv_offset(const struct fsl_csv *csv);
uint64_t fsl_csv_line(const struct fsl_csv *csv);

/* Reads the next row; empty lines are skipped. Fails only if the reader fails or memory is short,
 * after all rows before the failure were returned. BAD, CUT and END have no fields. */
enum fsl_status fsl_csv_next(struct fsl_csv *csv, struct fsl_csv_row *row, struct fsl_error *err);

/* A plain row is the usual row, which readers get fast: it has no quote, is not empty, has at most
 * FSL_CSV_PLAIN_BYTES_MAX bytes and does not end near the end of the bytes in memory. */
enum {
	FSL_CSV_PLAIN_BYTES_MAX = 256,
	FSL_CSV_PLAIN_SPARE_BYTES = 8, /* readable bytes from the first byte of any field on */
	/* Bytes that must be in memory from the first byte of a plain row on. */
	FSL_CSV_PLAIN_REACH_BYTES = FSL_CSV_PLAIN_BYTES_MAX + FSL_CSV_PLAIN_SPARE_BYTES,
};
struct fsl_csv_plain {
	const char *text; /* borrowed until the next row */
	uint32_t n_bytes; /* length, with the line end */
	size_t n_fields;
	/* Index in the text of the begin of field i; at[n_fields] is where one more would begin. */
	uint32_t at[FSL_CSV_PLAIN_BYTES_MAX + 1];
};

static inline struct fsl_csv_field fsl_csv_plain_field(const struct fsl_csv_plain *row, size_t idx)
{
	return (struct fsl_csv_field){row->text + row->at[idx],
				      row->at[idx + 1] - row->at[idx] - 1};
}

/* Reads the next row if it is plain. Otherwise false, and fsl_csv_next() reads it. */
bool fsl_csv_next_plain(struct fsl_csv *csv, struct fsl_csv_plain *row);
/*
 * Takes the last row back, so that fsl_csv_next() reads it again and reports what is wrong with it.
 */
void fsl_csv_put_back(struct fsl_csv *csv, const struct fsl_csv_plain *row);

/* Index of the column @name in a header row, SIZE_MAX if absent. */
size_t fsl_csv_column(const struct fsl_csv_row *header, const char *name);

#endif
