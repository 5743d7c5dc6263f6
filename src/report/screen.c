/* Wrapping and alignment, by columns; colours only when asked for. */
#include "report/screen.h"

#include <limits.h>
#include <string.h>

#include "base/columns.h"
#include "base/language.h"
#include "base/utf8.h"

enum {
	HEADLINE_INDENT = 2, /* of the lines after the first */
	LABEL_COLUMN = 2,
	TEXT_COLUMN = 15,
	COLUMN_GAP = 2,
	SHRUNK_MIN = 7, /* a host name is never cut below this */
};

static const char *const colour_codes[] = {
	[FSL_COLOUR_BOLD] = "\033[1m",      [FSL_COLOUR_GREEN] = "\033[1;32m",
	[FSL_COLOUR_YELLOW] = "\033[1;33m", [FSL_COLOUR_RED] = "\033[1;31m",
	[FSL_COLOUR_RED_ROW] = "\033[31m",
};

struct fsl_screen fsl_screen_of(FILE *stream, int width, bool colours)
{
	if (width <= 0) {
		width = FSL_SCREEN_WIDTH_UNKNOWN;
	} else if (width < FSL_SCREEN_WIDTH_MIN) {
		width = FSL_SCREEN_WIDTH_MIN;
	} else if (width > FSL_SCREEN_WIDTH_MAX) {
		width = FSL_SCREEN_WIDTH_MAX;
	}
	return (struct fsl_screen){stream, width, colours, false, NULL};
}

static void begin_colour(const struct fsl_screen *screen, enum fsl_colour colour)
{
	if (screen->colours && colour != FSL_COLOUR_NONE) {
		(void)fputs(colour_codes[colour], screen->stream);
	}
}

static void end_colour(const struct fsl_screen *screen, enum fsl_colour colour)
{
	if (screen->colours && colour != FSL_COLOUR_NONE) {
		(void)fputs("\033[0m", screen->stream);
	}
}

static void put_blanks(const struct fsl_screen *screen, int n)
{
	(void)fprintf(screen->stream, "%*s", n > 0 ? n : 0, "");
}

/* Bytes of the next printed character; 1 for one that is printed as "?". *is_clean: as it is. */
static size_t next_character(const char *text, bool *is_clean)
{
	size_t n_bytes = fsl_utf8_sequence(text);
	*is_clean = n_bytes > 0 && !fsl_utf8_is_control(text);
	return n_bytes > 0 ? n_bytes : 1;
}

/* Characters of @text[0 .. length) that fit into @n_max columns; returns the columns taken. */
static int put_clean(const struct fsl_screen *screen, const char *text, size_t length, int n_max)
{
	int n = 0;
	for (const char *c = text; c < text + length;) {
		bool is_clean = false;
		size_t n_bytes = next_character(c, &is_clean);
		int n_columns = fsl_columns(c, n_bytes);
		if (n + n_columns > n_max) {
			break;
		}
		(void)fwrite(is_clean ? c : "?", 1, is_clean ? n_bytes : 1, screen->stream);
		c += n_bytes;
		n += n_columns;
	}
	return n;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* True for a blank that belongs inside: "195 ms", "20 %", "2025-06-15 15:07:20". */
static bool is_glue(const char *text, const char *blank)
{
	static const char *const units[] = {"ms", "s", "%", "x", "minutes", NULL};
	if (blank == text || !is_digit(blank[-1])) {
		return false;
	}
	for (size_t i = 0; units[i] != NULL; i++) {
		size_t length = strlen(units[i]);
		const char *end = blank + 1 + length;
		if (strncmp(blank + 1, units[i], length) == 0 &&
		    (*end == '\0' || strchr(" ,;:)", *end) != NULL)) {
			return true;
		}
	}
	return blank - text >= 3 && blank[-3] == '-' && is_digit(blank[1]) && is_digit(blank[2]) &&
	       blank[3] == ':';
}

/* Bytes up to the next place at which a line may end. */
static size_t word_length(const char *text)
{
	size_t length = fsl_unbroken(text);
	while (text[length] == ' ' && is_glue(text, text + length)) {
		length += 1 + fsl_unbroken(text + length + 1);
	}
	return length;
}

static void end_line(const struct fsl_screen *screen)
{
	(void)fputc('\n', screen->stream);
	if (screen->budget != NULL) {
		screen->budget->n_left--;
	}
}

/* Lines of @text from column @indent on. */
static int count_lines(const struct fsl_screen *screen, const char *text, int indent)
{
	int n_lines = 1, column = indent, gap = 0;
	while (*text != '\0') {
		size_t length = word_length(text);
		int n = fsl_columns(text, length);
		if (column > indent && column + gap + n > screen->width) {
			n_lines++;
			column = indent;
			gap = 0;
		}
		column += n + gap;
		text += length;
		gap = *text == ' ';
		text += strspn(text, " ");
	}
	return n_lines;
}

/* Columns of a line that begins with @text at @column: the last of @n_lines lines keeps room for
 * " ..." unless the rest of the text fits. */
static int room_of(const struct fsl_screen *screen, const char *text, int column, int n_lines)
{
	enum { DOTS = 4 };
	bool is_cut = n_lines == 1 && count_lines(screen, text, column) > 1;
	return screen->width - (is_cut ? DOTS : 0);
}

/* Prints at most @n_lines lines of @text from column @column on; lines after the first begin at
 * @indent. */
static void put_wrapped(const struct fsl_screen *screen, const char *text, int column, int indent,
			int n_lines)
{
	bool is_line_empty = true;
	int room = room_of(screen, text, column, n_lines), gap = 0;
	while (*text != '\0') {
		size_t length = word_length(text);
		int n = fsl_columns(text, length);
		if (!is_line_empty && column + gap + n > room) {
			if (n_lines == 1) {
				(void)fputs(" ...", screen->stream);
				screen->budget->n_dropped++;
				break;
			}
			end_line(screen);
			put_blanks(screen, indent);
			column = indent;
			gap = 0;
			n_lines--;
			room = room_of(screen, text, column, n_lines);
		}
		put_blanks(screen, gap);
		column += gap + put_clean(screen, text, length, n);
		is_line_empty = false;
		text += length;
		gap = *text == ' ';
		text += strspn(text, " ");
	}
	end_line(screen);
}

void fsl_screen_headline(const struct fsl_screen *screen, enum fsl_colour colour, const char *text)
{
	struct fsl_told told;
	begin_colour(screen, colour);
	put_wrapped(screen, fsl_tell(text, &told), 0, HEADLINE_INDENT, INT_MAX);
	end_colour(screen, colour);
}

void fsl_screen_begin(const struct fsl_screen *screen, const char *label)
{
	struct fsl_told told;
	int column = 0;
	if (*label != '\0') {
		const char *text = fsl_tell(label, &told);
		put_blanks(screen, LABEL_COLUMN);
		begin_colour(screen, FSL_COLOUR_BOLD);
		column = LABEL_COLUMN + put_clean(screen, text, strlen(text), TEXT_COLUMN);
		end_colour(screen, FSL_COLOUR_BOLD);
	}
	put_blanks(screen, TEXT_COLUMN - column);
}

void fsl_screen_put(const struct fsl_screen *screen, enum fsl_colour colour, const char *text)
{
	begin_colour(screen, colour);
	(void)put_clean(screen, text, strlen(text), INT_MAX);
	end_colour(screen, colour);
}

void fsl_screen_end(const struct fsl_screen *screen)
{
	end_line(screen);
}

int fsl_screen_room(const struct fsl_screen *screen)
{
	return screen->width - TEXT_COLUMN;
}

static void put_field(const struct fsl_screen *screen, const char *label, const char *text,
		      int n_lines)
{
	fsl_screen_begin(screen, label);
	put_wrapped(screen, text, TEXT_COLUMN, TEXT_COLUMN, n_lines);
}

void fsl_screen_field(const struct fsl_screen *screen, const char *label, const char *text)
{
	struct fsl_told told;
	if (*text != '\0') {
		put_field(screen, label, fsl_tell(text, &told),
			  screen->budget != NULL ? FSL_SCREEN_FIELD_LINES_MAX : INT_MAX);
	}
}

bool fsl_screen_has_room(const struct fsl_screen *screen, size_t n_lines)
{
	if (screen->budget == NULL || (int)n_lines <= screen->budget->n_left) {
		return true;
	}
	screen->budget->n_dropped++;
	return false;
}

bool fsl_screen_extra(const struct fsl_screen *screen, const char *label, const char *english)
{
	struct fsl_told told;
	const char *text = fsl_tell(english, &told);
	int n_lines = count_lines(screen, text, TEXT_COLUMN), n_most = INT_MAX;
	if (screen->budget != NULL) {
		n_most = FSL_SCREEN_EXTRA_LINES_MAX;
	}
	if (*text == '\0') {
		return true;
	}
	if (!fsl_screen_has_room(screen, (size_t)(n_lines < n_most ? n_lines : n_most))) {
		return false;
	}
	put_field(screen, label, text, n_most);
	return true;
}

void fsl_screen_line(const struct fsl_screen *screen, const char *text)
{
	(void)fsl_tell_print(screen->stream, "%s", text);
	end_line(screen);
}

static int columns_of(const char *text)
{
	return fsl_columns(text, strlen(text));
}

/* Width of each column, 0 for a column without content. */
static void measure(const struct fsl_table *table, int *widths)
{
	for (size_t column = 0; column < table->n_columns; column++) {
		int width = 0;
		for (size_t row = 1; row < table->n_rows; row++) {
			int n = columns_of(table->cells[row][column]);
			width = n > width ? n : width;
		}
		int title = columns_of(table->cells[0][column]);
		widths[column] = width > 0 && title > width ? title : width;
	}
}

static void shrink(const struct fsl_screen *screen, const struct fsl_table *table, int *widths)
{
	int total = LABEL_COLUMN - COLUMN_GAP;
	for (size_t column = 0; column < table->n_columns; column++) {
		total += widths[column] > 0 ? widths[column] + COLUMN_GAP : 0;
	}
	int *victim = &widths[table->shrinkable];
	if (total > screen->width && *victim > SHRUNK_MIN) {
		int rest = *victim - (total - screen->width);
		*victim = rest > SHRUNK_MIN ? rest : SHRUNK_MIN;
	}
}

/* @is_right: its blanks stand in front of it. */
static void put_cell(const struct fsl_screen *screen, const char *text, int width, bool is_right,
		     bool is_last)
{
	text = *text != '\0' ? text : "-";
	size_t length = strlen(text);
	int n = fsl_columns(text, length);
	if (n > width) {
		(void)put_clean(screen, text, length, width - 3);
		(void)fputs("...", screen->stream);
		return;
	}
	put_blanks(screen, is_right ? width - n : 0);
	(void)put_clean(screen, text, length, n);
	put_blanks(screen, is_right || is_last ? 0 : width - n);
}

void fsl_screen_table(const struct fsl_screen *screen, const struct fsl_table *table)
{
	int widths[FSL_TABLE_COLUMNS_MAX] = {0};
	size_t last = 0;
	measure(table, widths);
	shrink(screen, table, widths);
	for (size_t column = 0; column < table->n_columns; column++) {
		last = widths[column] > 0 ? column : last;
	}
	for (size_t row = 0; row < table->n_rows; row++) {
		enum fsl_colour colour = row == 0 ? FSL_COLOUR_BOLD : table->row_colour;
		begin_colour(screen, colour);
		int gap = LABEL_COLUMN;
		for (size_t column = 0; column < table->n_columns; column++) {
			if (widths[column] == 0) {
				continue;
			}
			put_blanks(screen, gap);
			put_cell(screen, table->cells[row][column], widths[column],
				 table->is_right_aligned[column], column == last);
			gap = COLUMN_GAP;
		}
		end_colour(screen, colour);
		end_line(screen);
	}
}
