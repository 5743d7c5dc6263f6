/* Pages: growing text and aligned tables. */
#include "eval/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void fsl_page_init(struct fsl_page *page, bool is_markdown)
{
	*page = (struct fsl_page){.is_markdown = is_markdown};
	page->cells = fsl_calloc((FSL_PAGE_ROWS_MAX + 1) * (size_t)FSL_PAGE_COLUMNS_MAX,
				 sizeof(*page->cells));
	page->has_failed = page->cells == NULL;
}

void fsl_page_fini(struct fsl_page *page)
{
	fsl_free(page->text);
	fsl_free(page->cells);
	*page = (struct fsl_page){0};
}

static void put(struct fsl_page *page, const char *text, size_t length)
{
	size_t n_wanted = page->length + length + 1;
	if (page->has_failed || FSL_GROW(page->text, page->capacity, n_wanted, NULL) != FSL_OK) {
		page->has_failed = true;
		return;
	}
	memcpy(page->text + page->length, text, length);
	page->length += length;
	page->text[page->length] = '\0';
}

void fsl_page_printf(struct fsl_page *page, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	size_t n_wanted = n < 0 ? 0 : page->length + (size_t)n + 1;
	if (page->has_failed || n < 0 ||
	    FSL_GROW(page->text, page->capacity, n_wanted, NULL) != FSL_OK) {
		page->has_failed = true;
	} else {
		vsnprintf(page->text + page->length, (size_t)n + 1, format, again);
		page->length += (size_t)n;
	}
	va_end(again);
}

void fsl_page_heading(struct fsl_page *page, const char *text)
{
	fsl_page_printf(page, page->is_markdown ? "\n## %s\n\n" : "\n%s\n", text);
}

static char *cell_at(struct fsl_page *page, size_t row, size_t column)
{
	return page->cells[row * FSL_PAGE_COLUMNS_MAX + column];
}

void fsl_page_table(struct fsl_page *page, const char *const *headings, size_t n_columns)
{
	page->n_rows = 0;
	page->n_left_out = 0;
	page->n_columns = n_columns < FSL_PAGE_COLUMNS_MAX ? n_columns : FSL_PAGE_COLUMNS_MAX;
	page->n_cells = page->n_columns;
	for (size_t i = 0; i < page->n_columns; i++) {
		fsl_page_cell(page, "%s", headings[i]);
	}
}

void fsl_page_cell(struct fsl_page *page, const char *format, ...)
{
	va_list args;
	if (page->has_failed) {
		return;
	}
	if (page->n_cells == page->n_columns) {
		page->n_cells = 0;
		page->n_left_out += page->n_rows == FSL_PAGE_ROWS_MAX;
		page->n_rows += page->n_rows < FSL_PAGE_ROWS_MAX;
	}
	size_t row = page->n_left_out > 0 ? FSL_PAGE_ROWS_MAX : page->n_rows - 1;
	va_start(args, format);
	vsnprintf(cell_at(page, row, page->n_cells), FSL_PAGE_CELL_MAX, format, args);
	va_end(args);
	page->n_cells++;
}

void fsl_page_percent(struct fsl_page *page, double share)
{
	if (share != share) {
		fsl_page_cell(page, "-");
	} else {
		fsl_page_cell(page, "%.1f %%", 100.0 * share);
	}
}

static bool is_number(const char *text)
{
	return strspn(text, "0123456789.,-+ %/<>=") == strlen(text);
}

static void put_cell(struct fsl_page *page, const char *text, size_t width, bool is_last)
{
	size_t length = strlen(text);
	size_t n_blanks = width > length ? width - length : 0;
	if (is_number(text)) {
		fsl_page_printf(page, "%*s", (int)width, text);
	} else {
		put(page, text, length);
		for (size_t i = 0; i < n_blanks && !(is_last && !page->is_markdown); i++) {
			put(page, " ", 1);
		}
	}
}

/* Puts the first column and those from @begin to @end - 1. */
static void put_row(struct fsl_page *page, size_t row, const size_t *widths, size_t begin,
		    size_t end)
{
	for (size_t c = 0; c < end; c = c == 0 ? begin : c + 1) {
		if (page->is_markdown) {
			put(page, c == 0 ? "| " : " | ", c == 0 ? 2 : 3);
		} else {
			put(page, "  ", 2);
		}
		put_cell(page, cell_at(page, row, c), widths[c], c + 1 == end);
	}
	fsl_page_printf(page, page->is_markdown ? " |\n" : "\n");
}

static void measure(struct fsl_page *page, size_t widths[FSL_PAGE_COLUMNS_MAX])
{
	for (size_t row = 0; row < page->n_rows; row++) {
		for (size_t c = 0; c < page->n_columns; c++) {
			size_t length = strlen(cell_at(page, row, c));
			widths[c] = length > widths[c] ? length : widths[c];
		}
	}
}

/* The column behind those that fit beside the first column; at least one does. */
static size_t end_of_block(const struct fsl_page *page, const size_t *widths, size_t begin)
{
	enum { GAP = 2 };
	size_t end = begin, length = GAP + widths[0];
	do {
		length += GAP + widths[end++];
	} while (end < page->n_columns &&
		 (page->width == 0 || length + GAP + widths[end] <= (size_t)page->width));
	return end < page->n_columns ? end : page->n_columns;
}

void fsl_page_table_end(struct fsl_page *page)
{
	size_t widths[FSL_PAGE_COLUMNS_MAX] = {0};
	if (page->has_failed) {
		return;
	}
	measure(page, widths);
	for (size_t begin = 1, end = 0; end < page->n_columns; begin = end) {
		fsl_page_printf(page, begin > 1 ? "\n" : "");
		end = end_of_block(page, widths, begin);
		for (size_t row = 0; row < page->n_rows; row++) {
			put_row(page, row, widths, begin, end);
			for (size_t c = 0; row == 0 && page->is_markdown && c < end; c++) {
				fsl_page_printf(page, c + 1 < end ? "|---" : "|---|\n");
			}
		}
	}
	if (page->n_left_out > 0) {
		fsl_page_printf(page, "(%zu more)\n", page->n_left_out);
	}
}
