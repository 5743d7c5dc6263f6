/* Aligned tables and JSON documents on standard output. */
#include "cli/command_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/try.h"
#include "cli/command.h"

enum { COLUMNS_MAX = 8 };

const char *const fsl_output_formats[] = {"text", "json", NULL};
const char *const fsl_verdict_formats[] = {"text", "json", "line", NULL};
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

void fsl_print_table(const char *const *cells, size_t n_rows, size_t n_columns)
{
	size_t widths[COLUMNS_MAX] = {0};
	for (size_t i = 0; i < n_rows * n_columns; i++) {
		size_t width = strlen(cell_text(cells[i]));
		if (width > widths[i % n_columns]) {
			widths[i % n_columns] = width;
		}
	}
	for (size_t row = 0; row < n_rows; row++) {
		const char *const *texts = cells + row * n_columns;
		size_t n_shown = row_length(texts, n_columns);
		for (size_t column = 0; column + 1 < n_shown; column++) {
			printf("%-*s  ", (int)widths[column], cell_text(texts[column]));
		}
		printf("%s\n", n_shown > 0 ? cell_text(texts[n_shown - 1]) : "");
	}
}

enum fsl_status fsl_print_json(cJSON *tree, struct fsl_error *err)
{
	char *text = tree != NULL ? cJSON_Print(tree) : NULL;
	cJSON_Delete(tree);
	if (text == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the JSON output");
	}
	printf("%s\n", text);
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
	struct winsize size;
	bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40;
	return is_known ? size.ws_col : 80;
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

enum fsl_print fsl_print_as(int format, bool is_quiet)
{
	static const enum fsl_print prints[] = {[FSL_OUTPUT_TEXT] = FSL_PRINT_TEXT,
						[FSL_OUTPUT_JSON] = FSL_PRINT_JSON,
						[FSL_OUTPUT_LINE] = FSL_PRINT_LINE};
	return format == FSL_OUTPUT_TEXT && is_quiet ? FSL_PRINT_NOTHING : prints[format];
}
