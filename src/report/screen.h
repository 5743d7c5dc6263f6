/* The terminal: a headline, labelled fields wrapped to its width, an aligned table. */
#ifndef FSL_REPORT_SCREEN_H
#define FSL_REPORT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
	FSL_SCREEN_WIDTH_MIN = 60,
	FSL_SCREEN_WIDTH_MAX = 120, /* longer lines are hard to read */
	FSL_SCREEN_WIDTH_UNKNOWN = 80,
	FSL_TABLE_COLUMNS_MAX = 8,
	FSL_TABLE_ROWS_MAX = 12,
	FSL_TABLE_CELL_MAX = 64,
	FSL_SCREEN_FIELD_LINES_MAX = 3, /* on a short screen */
	FSL_SCREEN_EXTRA_LINES_MAX = 2,
	FSL_SCREEN_LINES_MAX = 24,   /* of a short screen */
	FSL_SCREEN_BESIDE_LINES = 6, /* of them for captures beside a job: a title and a headline */
};

/* Lines of a short screen. */
struct fsl_screen_budget {
	int n_left;       /* lines that may still be printed */
	size_t n_dropped; /* extras that did not fit, and texts that were cut */
};

struct fsl_screen {
	FILE *stream;
	int width; /* between WIDTH_MIN and WIDTH_MAX */
	bool colours;
	bool has_blocks;                  /* shows blocks of UTF-8; false: pictures are in ASCII */
	struct fsl_screen_budget *budget; /* NULL: as many lines as there is to say */
};

enum fsl_colour {
	FSL_COLOUR_NONE,
	FSL_COLOUR_BOLD, /* labels and titles */
	FSL_COLOUR_GREEN,
	FSL_COLOUR_YELLOW,
	FSL_COLOUR_RED,
	FSL_COLOUR_RED_ROW, /* not bold, as the rest of its table */
};

/* Row 0 holds the titles; a column in which every other cell is "" is left out. */
struct fsl_table {
	size_t n_columns, n_rows;
	bool is_right_aligned[FSL_TABLE_COLUMNS_MAX];
	size_t shrinkable;          /* the column that is cut when the table is too wide */
	enum fsl_colour row_colour; /* of all rows but the titles */
	char cells[FSL_TABLE_ROWS_MAX][FSL_TABLE_COLUMNS_MAX][FSL_TABLE_CELL_MAX];
};

/* Describes the terminal behind @stream (borrowed), without blocks and with all the lines that
 * there are. @width: columns; 0: unknown. */
struct fsl_screen fsl_screen_of(FILE *stream, int width, bool colours);
/* Prints @text as the headline. All functions here print control characters and broken UTF-8 as
 * "?", and wrap at blanks. A word that is longer than a line (a path) is never cut. */
void fsl_screen_headline(const struct fsl_screen *screen, enum fsl_colour colour, const char *text);
/* Prints @label ("": none) and @text; nothing if @text is "". A short screen cuts it after
 * FIELD_LINES_MAX lines. */
void fsl_screen_field(const struct fsl_screen *screen, const char *label, const char *text);
/* The same for what need not be told: a short screen cuts it after EXTRA_LINES_MAX lines, or leaves
 * it out if not even these fit. False if it was left out. */
bool fsl_screen_extra(const struct fsl_screen *screen, const char *label, const char *text);
/* True if @n_lines more fit; otherwise something is left out, and is counted. */
bool fsl_screen_has_room(const struct fsl_screen *screen, size_t n_lines);
void fsl_screen_line(const struct fsl_screen *screen, const char *text);
void fsl_screen_table(const struct fsl_screen *screen, const struct fsl_table *table);

/* A line of a picture: it begins with @label ("": none), goes on at the column of texts with pieces
 * that are not translated, and ends. The caller lets no piece end with a blank, and keeps all of
 * them within fsl_screen_room() columns. */
void fsl_screen_begin(const struct fsl_screen *screen, const char *label);
void fsl_screen_put(const struct fsl_screen *screen, enum fsl_colour colour, const char *text);
void fsl_screen_end(const struct fsl_screen *screen);
int fsl_screen_room(const struct fsl_screen *screen);

#endif
