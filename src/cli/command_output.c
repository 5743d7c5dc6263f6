/* Aligned tables and JSON documents on standard output. */
#include "cli/command_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/language.h"
#include "base/number.h"
#include "base/try.h"
#include "base/utf8.h"
#include "base/wrap.h"
#include "cli/command.h"
#include "report/case_json.h"

enum {
	COLUMNS_MAX = 8,
	COLUMN_GAP = 2,
	LAST_WIDTH_MIN = 24, /* a narrower column of sentences is hard to read */
	CUT_WIDTH_MIN = 8,
	BELOW_INDENT = 4,
	TERMINAL_WIDTH_MIN = 40, /* a smaller number is no width */
	TERMINAL_WIDTH_UNKNOWN = 80,
};

const char *const fsl_output_formats[] = {"text", "json", NULL};
const char *const fsl_verdict_formats[] = {"text", "json", "line", NULL};
const char *const fsl_exit_modes[] = {"new", "state", NULL};

int fsl_verdict_exit_code(int mode, const struct fsl_report *report, bool is_new)
{
	const struct fsl_outcome job = fsl_report_outcome(report);
	bool is_wrong = mode == FSL_EXIT_STATE ? fsl_outcome_state(&job) == FSL_STATE_ACTIVE
					       : mode == FSL_EXIT_NEW && is_new;
	return is_wrong ? FSL_EXIT_ANOMALY : FSL_EXIT_DONE;
}
const char *const fsl_color_choices[] = {"auto", "always", "never", NULL};

static const char *cell_text(const char *cell)
{
	return cell != NULL ? cell : "";
}

/* A row ends with its last cell that is not empty: no blanks at the end of a line. */
static size_t row_length(const char *const *row, size_t n_columns)
{
	while (n_columns > 0 && cell_text(row[n_columns - 1])[0] == '\0') {
		n_columns--;
	}
	return n_columns;
}

/* Columns of a table that fits the terminal. */
struct layout {
	int width; /* of the terminal */
	size_t n_columns;
	int widths[COLUMNS_MAX]; /* of all but the last column */
	bool is_stacked;         /* the last column stands below the others */
};

/* Columns that all but the last take, with the gaps behind them. */
static int taken(const struct layout *layout)
{
	int sum = 0;
	for (size_t i = 0; i + 1 < layout->n_columns; i++) {
		sum += layout->widths[i] + COLUMN_GAP;
	}
	return sum;
}

/* If the others leave the last column too little room, it goes below them. If they do not fit
 * themselves, the widest behind the first is cut. */
static struct layout layout_of(const char *const *cells, size_t n_rows, size_t n_columns,
			       int width_max)
{
	struct layout layout = {.width = width_max, .n_columns = n_columns};
	int last = 0, cut = 0;
	for (size_t i = 0; i < n_rows * n_columns; i++) {
		size_t column = i % n_columns;
		struct fsl_told told;
		const char *text = cell_text(cells[i]);
		text = i < n_columns ? fsl_tell(text, &told) : text;
		int width = fsl_columns(text, strlen(text));
		int *widest = column + 1 < n_columns ? &layout.widths[column] : &last;
		*widest = width > *widest ? width : *widest;
	}
	int room = layout.width - taken(&layout);
	layout.is_stacked = n_columns > 1 && last > room && room < LAST_WIDTH_MIN;
	for (size_t i = 1; layout.is_stacked && i + 1 < n_columns; i++) {
		cut = layout.widths[i] > layout.widths[cut] || cut == 0 ? (int)i : cut;
	}
	int excess = taken(&layout) - COLUMN_GAP - layout.width;
	if (cut > 0 && excess > 0 && layout.widths[cut] - excess >= CUT_WIDTH_MIN) {
		layout.widths[cut] -= excess;
	}
	return layout;
}

/* Prints a cell of another column than the last. @is_end: nothing follows in its line. */
static void print_cell(const char *cell, int width, bool is_end)
{
	static const char dots[] = "...";
	bool is_cut = (int)strlen(cell) > width;
	int n = fsl_columns(cell, strlen(cell));
	if (n < (int)strlen(cell) && n <= width) {
		printf("%s%*s", cell, is_end ? 0 : width - n + COLUMN_GAP, "");
		(void)fputs(is_end ? "\n" : "", stdout);
		return;
	}
	int n_shown = is_cut ? width - (int)strlen(dots) : width;
	printf("%-*.*s%s%s", is_end ? 0 : n_shown, n_shown, cell, is_cut ? dots : "",
	       is_end ? "\n" : "  ");
}

/* Lines below a row: cells that were cut, with their @titles, and the last cell. */
static void print_below(const struct layout *layout, const char *const *row,
			const char *const *titles)
{
	for (size_t i = 0; i + 1 < layout->n_columns; i++) {
		if ((int)strlen(cell_text(row[i])) > layout->widths[i]) {
			struct fsl_told told;
			printf("%*s%s: %s\n", BELOW_INDENT, "", fsl_tell(titles[i], &told), row[i]);
		}
	}
	const char *last = cell_text(row[layout->n_columns - 1]);
	if (*last != '\0') {
		struct fsl_told told;
		printf("%*s", BELOW_INDENT, "");
		fsl_wrap(stdout, fsl_tell(last, &told), BELOW_INDENT, BELOW_INDENT, layout->width);
	}
}

void fsl_print_table(const char *const *cells, size_t n_rows, size_t n_columns, int width)
{
	struct layout layout = layout_of(cells, n_rows, n_columns, width);
	int indent = taken(&layout);
	for (size_t r = 0; r < n_rows; r++) {
		const char *const *row = cells + r * n_columns;
		size_t n_shown = row_length(row, n_columns - layout.is_stacked);
		struct fsl_told told;
		for (size_t column = 0; column < n_shown && column + 1 < n_columns; column++) {
			const char *text = cell_text(row[column]);
			print_cell(r == 0 ? fsl_tell(text, &told) : text, layout.widths[column],
				   column + 1 == n_shown);
		}
		if (n_shown == n_columns) {
			fsl_wrap(stdout, fsl_tell(row[n_columns - 1], &told), indent, indent,
				 layout.width);
		} else if (n_shown == 0) {
			printf("\n");
		}
		if (layout.is_stacked) {
			print_below(&layout, row, cells);
		}
	}
}

/* Prints the line @text[0 .. length) in the user's language; false: it has none in it. */
static bool print_translated(const char *text, int indent, int length, int width)
{
	struct fsl_told line, told;
	int n = snprintf(line.text, sizeof(line.text), "%.*s", length - indent, text + indent);
	const char *shown = line.text;
	if (n > 0 && (size_t)n < sizeof(line.text)) {
		shown = fsl_tell(line.text, &told);
	}
	if (shown == line.text) {
		return false;
	}
	printf("%*s", indent, "");
	fsl_wrap(stdout, shown, indent, indent > 0 ? indent + COLUMN_GAP : 0, width);
	return true;
}

/* Prints the line @text[0 .. length). */
static void print_line(const char *text, int indent, int length, int width)
{
	static const char command[] = "  failslow ";
	if (fsl_columns(text, (size_t)length) <= width ||
	    strncmp(text, command, strlen(command)) == 0) {
		printf("%.*s\n", length, text);
		return;
	}
	printf("%*s", indent, "");
	fsl_wrap(stdout, text + indent, indent, indent > 0 ? indent + COLUMN_GAP : 0, width);
}

static void print_lines(const char *text, bool is_told)
{
	int width = fsl_terminal_width();
	while (*text != '\0') {
		int length = (int)strcspn(text, "\n"), indent = (int)strspn(text, " ");
		if (is_told || *fsl_language_name() == '\0' ||
		    !print_translated(text, indent, length, width)) {
			print_line(text, indent, length, width);
		}
		text += length + (text[length] == '\n');
	}
}

void fsl_print_fitted(const char *text)
{
	print_lines(text, false);
}

void fsl_print_told(const char *text)
{
	print_lines(text, true);
}

/* Prints JSON; controls in its strings that a terminal would obey become escapes. */
static void print_escaped(const char *json)
{
	const char *plain = json;
	while (*json != '\0') {
		size_t n_bytes = fsl_utf8_sequence(json);
		bool is_control = (unsigned char)*json >= 0x7f && n_bytes > 0 && n_bytes <= 3 &&
				  fsl_utf8_is_control(json);
		if (!is_control) {
			json += n_bytes > 0 ? n_bytes : 1;
			continue;
		}
		const unsigned char *bytes = (const unsigned char *)json;
		unsigned int code = bytes[0];
		for (size_t i = 1; i < n_bytes; i++) {
			code = (i == 1 ? code & (0x7fu >> n_bytes) : code) << 6 |
			       (bytes[i] & 0x3fu);
		}
		(void)fwrite(plain, 1, (size_t)(json - plain), stdout);
		printf("\\u%04x", code);
		plain = json += n_bytes;
	}
	(void)fputs(plain, stdout);
}

enum fsl_status fsl_print_json(cJSON *tree, struct fsl_error *err)
{
	char *text = tree != NULL ? cJSON_Print(tree) : NULL;
	cJSON_Delete(tree);
	if (text == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the JSON output");
	}
	print_escaped(text);
	(void)fputc('\n', stdout);
	cJSON_free(text);
	return FSL_OK;
}

enum fsl_status fsl_check_operands(int n_operands, int min, int max, const char *what,
				   struct fsl_error *err)
{
	if (n_operands >= min && n_operands <= max) {
		return FSL_OK;
	}
	return FSL_FAIL(err, FSL_ERR_USAGE, "%s operands: given=%d, wanted=\"%s\"",
			n_operands < min ? "too few" : "too many", n_operands, what);
}

enum fsl_status fsl_output_request_parse(struct fsl_output_request *out,
					 const struct fsl_output_command *command, int argc,
					 char **argv, struct fsl_error *err)
{
	int format = FSL_OUTPUT_TEXT, n_operands = 0;
	bool wants_help = false;
	const struct fsl_opt options[] = {
		{"format", 0, FSL_OPT_CHOICE, &format, 0, 0, fsl_output_formats, NULL,
		 command->format_help},
		{"help", 'h', FSL_OPT_FLAG, &wants_help, 0, 0, NULL, NULL, "Shows this help."},
		{0},
	};
	FSL_TRY(fsl_opt_parse(options, argc, argv, &n_operands, err));
	if (wants_help) {
		fsl_command_help(command->name, command->synopsis, command->text, options);
	} else {
		FSL_TRY(fsl_check_operands(n_operands, command->n_operands_min,
					   command->n_operands_max, command->operands, err));
	}
	*out = (struct fsl_output_request){(enum fsl_output_format)format, n_operands, wants_help};
	return FSL_OK;
}

int fsl_terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int64_t width = 0;
	if (columns == NULL || !fsl_parse_i64(columns, strlen(columns), &width)) {
		width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
	}
	bool is_known = width >= TERMINAL_WIDTH_MIN && width <= INT16_MAX;
	return is_known ? (int)width : TERMINAL_WIDTH_UNKNOWN;
}

bool fsl_terminal_has_colours(int color)
{
	enum { COLOR_AUTO, COLOR_ALWAYS };
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
	bool is_refused = no_color != NULL && *no_color != '\0';
	bool is_dumb = terminal != NULL && strcmp(terminal, "dumb") == 0;
	return color == COLOR_ALWAYS ||
	       (color == COLOR_AUTO && isatty(STDOUT_FILENO) && !is_refused && !is_dumb);
}

bool fsl_terminal_has_blocks(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *terminal = getenv("TERM"), *locale = NULL;
	if (terminal != NULL && (strcmp(terminal, "dumb") == 0 || strcmp(terminal, "linux") == 0)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		locale = locale == NULL || *locale == '\0' ? getenv(names[i]) : locale;
	}
	const char *charset = locale != NULL ? strchr(locale, '.') : NULL;
	return charset != NULL &&
	       (strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
}

enum fsl_print fsl_print_as(int format, bool is_quiet)
{
	static const enum fsl_print prints[] = {[FSL_OUTPUT_TEXT] = FSL_PRINT_TEXT,
						[FSL_OUTPUT_JSON] = FSL_PRINT_JSON,
						[FSL_OUTPUT_LINE] = FSL_PRINT_LINE};
	return format == FSL_OUTPUT_TEXT && is_quiet ? FSL_PRINT_NOTHING : prints[format];
}
