/* Pages: growing text and aligned tables. */
#include "eval/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/columns.h"
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

static void put_text(struct fsl_page *page, const char *text)
{
	put(page, text, strlen(text));
}

const char *fsl_page_tell(const struct fsl_page *page, const char *text, struct fsl_told *room)
{
	return page->is_told ? fsl_tell(text, room) : text;
}

/* Puts a line without its end, told without its blanks. */
static void put_line(struct fsl_page *page, const char *line, size_t length)
{
	char text[FSL_TOLD_BYTES];
	struct fsl_told room;
	size_t n_blanks = strspn(line, " "), end = length;
	n_blanks = n_blanks < length ? n_blanks : length;
	while (end > n_blanks && line[end - 1] == ' ') {
		end--;
	}
	memcpy(text, line + n_blanks, end - n_blanks);
	text[end - n_blanks] = '\0';
	put(page, line, n_blanks);
	put_text(page, fsl_page_tell(page, text, &room));
	put(page, line + end, length - end);
}

/* False if the text is too long for a sentence. */
static bool put_told(struct fsl_page *page, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
static bool put_told(struct fsl_page *page, const char *format, va_list args)
{
	char text[FSL_TOLD_BYTES];
	int n = vsnprintf(text, sizeof(text), format, args);
	if (n < 0 || (size_t)n >= sizeof(text)) {
		return false;
	}
	for (const char *line = text; *line != '\0';) {
		size_t length = strcspn(line, "\n"), n_ends = line[length] == '\n';
		put_line(page, line, length);
		put(page, "\n", n_ends);
		line += length + n_ends;
	}
	return true;
}

void fsl_page_printf(struct fsl_page *page, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	bool is_put = page->is_told && put_told(page, format, args);
	va_end(args);
	if (is_put) {
		va_end(again);
		return;
	}
	va_copy(args, again);
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
	struct fsl_told room;
	put_text(page, page->is_markdown ? "\n## " : "\n");
	put_text(page, fsl_page_tell(page, text, &room));
	put_text(page, page->is_markdown ? "\n\n" : "\n");
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

static size_t count_parts(const char *text)
{
	size_t n = 1;
	for (; *text != '\0'; text++) {
		n += *text == '|';
	}
	return n;
}

void fsl_page_table_of(struct fsl_page *page, const char *first, const char *others)
{
	struct fsl_told room;
	char parts[FSL_PAGE_COLUMNS_MAX][FSL_PAGE_CELL_MAX];
	const char *headings[FSL_PAGE_COLUMNS_MAX] = {first};
	size_t n = count_parts(others), n_before = first != NULL;
	size_t n_columns = n < FSL_PAGE_COLUMNS_MAX ? n_before + n : 0;
	const char *rest = fsl_page_tell(page, others, &room);
	rest = count_parts(rest) == n ? rest : others;
	for (size_t i = n_before; i < n_columns; i++) {
		size_t length = strcspn(rest, "|");
		(void)snprintf(parts[i], sizeof(parts[i]), "%.*s", (int)length, rest);
		headings[i] = parts[i];
		rest += length + (rest[length] == '|');
	}
	fsl_page_table(page, headings, n_columns);
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

static size_t columns_of(const char *text)
{
	int n = fsl_columns(text, strlen(text));
	return n > 0 ? (size_t)n : 0;
}

static void put_cell(struct fsl_page *page, const char *text, size_t width, bool is_last)
{
	size_t length = columns_of(text), n_blanks = width > length ? width - length : 0;
	bool is_right = is_number(text), is_open = is_last && !page->is_markdown && !is_right;
	put_text(page, is_right ? "" : text);
	for (size_t i = 0; i < n_blanks && !is_open; i++) {
		put(page, " ", 1);
	}
	put_text(page, is_right ? text : "");
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
	put_text(page, page->is_markdown ? " |\n" : "\n");
}

static void measure(struct fsl_page *page, size_t widths[FSL_PAGE_COLUMNS_MAX])
{
	for (size_t row = 0; row < page->n_rows; row++) {
		for (size_t c = 0; c < page->n_columns; c++) {
			size_t length = columns_of(cell_at(page, row, c));
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
		put_text(page, begin > 1 ? "\n" : "");
		end = end_of_block(page, widths, begin);
		for (size_t row = 0; row < page->n_rows; row++) {
			put_row(page, row, widths, begin, end);
			for (size_t c = 0; row == 0 && page->is_markdown && c < end; c++) {
				put_text(page, c + 1 < end ? "|---" : "|---|\n");
			}
		}
	}
	if (page->n_left_out > 0) {
		fsl_page_printf(page, "(%zu more)\n", page->n_left_out);
	}
}
