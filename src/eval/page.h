/* A page under construction: growing text, headings, and tables whose columns fit their cells, for
 * the terminal or as Markdown. After a failed allocation nothing more is added. */
#ifndef FSL_EVAL_PAGE_H
#define FSL_EVAL_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/language.h"

enum {
	FSL_PAGE_COLUMNS_MAX = 16,
	FSL_PAGE_ROWS_MAX = 128, /* of one table; further rows are left out and counted */
	FSL_PAGE_CELL_MAX = 96,
};

struct fsl_page {
	char *text; /* free with fsl_page_fini */
	size_t length, capacity;
	bool is_markdown;
	bool is_told; /* in the user's language: for a screen, not for a file */
	int width;    /* greatest length of a row of a table that is not Markdown; 0: any */
	bool has_failed;
	/* The open table; row 0 is the heading. */
	char (*cells)[FSL_PAGE_CELL_MAX]; /* [row * FSL_PAGE_COLUMNS_MAX + column] */
	size_t n_rows, n_columns, n_left_out;
	size_t n_cells; /* in the newest row */
};

void fsl_page_init(struct fsl_page *page, bool is_markdown);
void fsl_page_fini(struct fsl_page *page);

void fsl_page_printf(struct fsl_page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void fsl_page_heading(struct fsl_page *page, const char *text);

/* A label, as the page has it: for a cell or a heading that is no name. @text itself, or
 * @room->text. */
const char *fsl_page_tell(const struct fsl_page *page, const char *text, struct fsl_told *room);

/* Begins a table; its cells follow one by one. A row is complete with its last column. The headings
 * are names, which are the same in every language. */
void fsl_page_table(struct fsl_page *page, const char *const *headings, size_t n_columns);
/* The same with headings as one text that is told, "jobs|alarm|verdict". @first: a name before
 * them, NULL: none. */
void fsl_page_table_of(struct fsl_page *page, const char *first, const char *others);
void fsl_page_cell(struct fsl_page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* 0.987 as "98.7 %"; "-" for NaN. */
void fsl_page_percent(struct fsl_page *page, double share);
/* Ends the table and puts it on the page. Texts are aligned left, numbers right. If it is too wide,
 * columns that do not fit follow below, beside the first column again. */
void fsl_page_table_end(struct fsl_page *page);

#endif
