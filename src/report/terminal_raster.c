/* Ranks over time: own time beyond that of the peers, in shades. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "blame/blame.h"
#include "model/verdict.h"
#include "report/pictures.h"
#include "report/terminal.h"
#include "text/phrase.h"

enum {
	LINES_MAX = 32,
	NAMED_MAX = 16, /* lines of culprits */
};

/* Ranks begin to end - 1 of the run. */
struct line {
	size_t begin, end;
	bool is_named;
};

/* Culprits have their own lines; the ranks between are put together until all lines fit. */
static size_t make_lines(struct line lines[LINES_MAX], const struct fsl_report *report,
			 size_t n_together)
{
	size_t n = 0, n_named = 0;
	const struct fsl_run *run = report->run;
	for (size_t r = 0; r < run->n_ranks; r++) {
		bool is_named =
			n_named < NAMED_MAX && fsl_terminal_is_named(report, run->ranks[r].rank);
		n_named += is_named;
		bool is_next = n == 0 || is_named || lines[n - 1].is_named ||
			       lines[n - 1].end - lines[n - 1].begin == n_together;
		if (is_next && n == LINES_MAX) {
			return n + 1;
		}
		if (is_next) {
			lines[n++] = (struct line){r, r, is_named};
		}
		lines[n - 1].end++;
	}
	return n;
}

static void add_head(struct fsl_phrase *head, const struct fsl_run *run, const struct line *line)
{
	struct fsl_phrase range = {0};
	int32_t first = run->ranks[line->begin].rank, last = run->ranks[line->end - 1].rank;
	if (first == last) {
		fsl_phrase_add(&range, "%d", first);
	} else {
		fsl_phrase_add(&range, "%d-%d", first, last);
	}
	fsl_phrase_add(head, "%12s %c ", range.text, line->is_named ? '#' : ' ');
}

/* Most of the ranks in a column, as a class of costs; -1: nothing was seen. */
static int class_of(const struct fsl_matrices *matrices, const struct line *line, size_t column,
		    double step_ms)
{
	double most = NAN;
	for (size_t r = line->begin; r < line->end; r++) {
		double ms = (double)matrices->ms[FSL_MATRIX_LOSS][r * matrices->n_columns + column];
		most = isnan(most) || ms > most ? ms : most;
	}
	return isnan(most) ? -1 : fsl_cost_class(most / step_ms);
}

static void print_line(const struct fsl_screen *screen, const struct fsl_report *report,
		       const struct fsl_matrices *matrices, const struct line *line,
		       const char *const *shades)
{
	struct fsl_phrase head = {0}, cells = {0};
	int n_blanks = 0;
	add_head(&head, report->run, line);
	for (size_t c = 0; c < matrices->n_columns; c++) {
		int class = class_of(matrices, line, c, report->localisation->step_ms);
		if (class < 0) {
			n_blanks++;
			continue;
		}
		fsl_phrase_add(&cells, "%*s%s", n_blanks, "", shades[class]);
		n_blanks = 0;
	}
	if (cells.length == 0) {
		fsl_phrase_add(&cells, "?");
	}
	enum fsl_colour colour = line->is_named ? FSL_COLOUR_RED_ROW : FSL_COLOUR_NONE;
	fsl_screen_put(screen, colour, head.text);
	fsl_screen_put(screen, colour, cells.text);
	fsl_screen_end(screen);
}

void fsl_terminal_raster(const struct fsl_screen *screen, const struct fsl_report *report)
{
	static const char *const ascii[FSL_COST_CLASSES_N] = {".", "-", "+", "*", "#"};
	static const char *const blocks[FSL_COST_CLASSES_N] = {"·", "░", "▒", "▓", "█"};
	const char *const *shades = screen->has_blocks ? blocks : ascii;
	struct line lines[LINES_MAX];
	struct fsl_matrices matrices;
	struct fsl_phrase words = {0}, times = {0};
	size_t n_together = 1, n_lines = LINES_MAX + 1;
	if (report->profile != NULL || report->localisation == NULL ||
	    !fsl_pictures_have_blame(report) ||
	    fsl_pictures_matrices(&matrices, report, (size_t)fsl_screen_room(screen), NULL) !=
		    FSL_OK) {
		return;
	}
	while ((n_lines = make_lines(lines, report, n_together)) > LINES_MAX) {
		n_together *= 2;
	}
	fsl_phrase_add(&words,
		       "own time beyond that of the peers, as a share of a step: %s less than 3 "
		       "%%, %s 3 %%, %s 10 %%, %s 20 %%, %s 50 %% and more",
		       shades[0], shades[1], shades[2], shades[3], shades[4]);
	fsl_phrase_add_time(&times, matrices.begin_ns);
	fsl_phrase_add(&times, " to ");
	fsl_phrase_add_time(&times, matrices.end_ns);
	fsl_screen_field(screen, "over time", words.text);
	for (size_t i = 0; i < n_lines; i++) {
		print_line(screen, report, &matrices, &lines[i], shades);
	}
	fsl_screen_field(screen, "", times.text);
	fsl_matrices_fini(&matrices);
}
