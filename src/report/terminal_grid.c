/* A mark for each rank, hosts as lines; of many hosts a mark for each, and lines of the named. */
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/language.h"
#include "base/mem.h"
#include "base/strpool.h"
#include "base/try.h"
#include "capture/capture.h"
#include "judge/finding.h"
#include "model/matrices.h"
#include "model/run.h"
#include "model/verdict.h"
#include "report/pictures.h"
#include "report/terminal.h"
#include "text/phrase.h"

enum {
	LINES_SHORT = 4, /* of a short screen, without the legend */
	LINES_LONG = 64,
	MAP_LINES_SHORT = 2,   /* of them for marks of hosts */
	RANKS_OF_UNIT = 8,     /* a mark of ranks whose hosts are not known stands for so many */
	HOST_COLUMNS_MAX = 15, /* the end of a longer name tells hosts apart */
};

/* Marks from the least to the most telling one: a mark for several ranks is the most telling. */
static const char marks_rising[] = "?.+v#";

/* A rank of the job or of a capture, by its number. */
struct seat {
	int32_t rank;
	const char *host; /* "": unknown */
};

/* A rank in the order of the grid. */
struct cell {
	uint32_t host; /* number of its host, rising by the first rank; UINT32_MAX: unknown */
	size_t seat;
	char mark;
};

/* Cells from begin to end: a host, or a part of the ranks if no host is known. */
struct unit {
	size_t begin, end;
	char mark; /* the most telling of its cells */
};

struct grid {
	const struct fsl_report *report;
	struct seat *seats; /* [n_cells] */
	struct cell *cells; /* [n_cells], by host and rank */
	size_t n_cells;
	struct unit *units; /* hosts */
	size_t n_units, widest;
	size_t name_columns, range_columns; /* of the begin of lines */
};

bool fsl_terminal_is_named(const struct fsl_report *report, int32_t rank)
{
	const struct fsl_localisation *verdict = report->localisation;
	const struct fsl_perception *perception = report->perception;
	for (size_t i = 0; verdict != NULL && i < verdict->n_culprits; i++) {
		if (verdict->culprits[i].rank == rank || verdict->culprits[i].peer == rank) {
			return true;
		}
	}
	bool is_hang = perception != NULL && perception->kind == FSL_VERDICT_HANG;
	for (size_t i = 0; is_hang && i < perception->n_stopped_first; i++) {
		if (perception->stopped_first[i] == rank) {
			return true;
		}
	}
	return false;
}

/* Number of ranks of the capture, or of the job. */
static size_t count_ranks(const struct fsl_report *report)
{
	return report->profile != NULL ? report->profile->n_ranks
	       : report->run != NULL   ? report->run->n_ranks
				       : 0;
}

static struct seat seat_of(const struct fsl_report *report, size_t r)
{
	if (report->profile != NULL) {
		const struct fsl_profile_rank *rank = &report->profile->ranks[r];
		const char *name = fsl_text_or_empty(rank->info.host_name);
		return (struct seat){rank->rank,
				     *name != '\0' ? name : fsl_text_or_empty(rank->info.host_uid)};
	}
	return (struct seat){report->run->ranks[r].rank,
			     fsl_text_or_empty(report->run->ranks[r].server_ip)};
}

bool fsl_terminal_names_anyone(const struct fsl_report *report)
{
	for (size_t r = 0; r < count_ranks(report); r++) {
		if (fsl_terminal_is_named(report, seat_of(report, r).rank)) {
			return true;
		}
	}
	return false;
}

static int by_host(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	if (x->host != y->host) {
		return x->host < y->host ? -1 : 1;
	}
	return (x->seat > y->seat) - (x->seat < y->seat);
}

static char more_telling(char a, char b)
{
	return strchr(marks_rising, a) > strchr(marks_rising, b) ? a : b;
}

static enum fsl_status number_hosts(struct grid *grid)
{
	struct fsl_strpool *pool = fsl_strpool_create();
	enum fsl_status status = pool != NULL ? FSL_OK : FSL_ERR_MEMORY;
	for (size_t r = 0; r < grid->n_cells && status == FSL_OK; r++) {
		const char *host = grid->seats[r].host;
		grid->cells[r] = (struct cell){UINT32_MAX, r, '?'};
		if (*host != '\0') {
			status = fsl_strpool_intern(pool, host, strlen(host), &grid->cells[r].host,
						    NULL);
		}
	}
	fsl_strpool_destroy(pool);
	return status;
}

static int by_rank(const void *key, const void *seat)
{
	int32_t rank = *(const int32_t *)key, other = ((const struct seat *)seat)->rank;
	return (rank > other) - (rank < other);
}

static void mark_one(struct grid *grid, int32_t rank, char mark)
{
	const struct seat *found =
		bsearch(&rank, grid->seats, grid->n_cells, sizeof(*grid->seats), by_rank);
	if (found != NULL) {
		char *old = &grid->cells[found - grid->seats].mark;
		*old = more_telling(*old, mark);
	}
}

static bool has_costs(const struct fsl_report *report)
{
	return report->profile != NULL
		       ? report->findings != NULL && report->findings->rank_costs_ms != NULL
		       : fsl_pictures_have_blame(report);
}

static enum fsl_status find_costs(double *cost_ms, const struct fsl_report *report, size_t n)
{
	if (report->profile != NULL) {
		memcpy(cost_ms, report->findings->rank_costs_ms, n * sizeof(*cost_ms));
		return FSL_OK;
	}
	struct fsl_stretch stretch = fsl_pictures_stretch(report);
	return fsl_pictures_costs(cost_ms, report, &stretch, NULL);
}

/* Marks ranks while cells are in the order of the seats. */
static enum fsl_status mark_ranks(struct grid *grid)
{
	const struct fsl_report *report = grid->report;
	const struct fsl_localisation *verdict = report->localisation;
	if (has_costs(report)) {
		double *cost_ms = NULL;
		FSL_TRY(FSL_NEW(cost_ms, grid->n_cells, "costs", NULL));
		enum fsl_status status = find_costs(cost_ms, report, grid->n_cells);
		for (size_t r = 0; r < grid->n_cells && status == FSL_OK; r++) {
			int class = fsl_cost_class(cost_ms[r] / verdict->step_ms);
			bool is_known = cost_ms[r] >= 0.0;
			grid->cells[r].mark = !is_known ? '?' : class > 0 ? '+' : '.';
		}
		fsl_free(cost_ms);
		FSL_TRY(status);
	}
	for (size_t i = 0; i < verdict->n_victims; i++) {
		mark_one(grid, verdict->victims[i].rank, 'v');
	}
	for (size_t r = 0; r < grid->n_cells; r++) {
		if (fsl_terminal_is_named(report, grid->seats[r].rank)) {
			grid->cells[r].mark = '#';
		}
	}
	return FSL_OK;
}

static const char *host_of(const struct grid *grid, size_t cell)
{
	return grid->seats[grid->cells[cell].seat].host;
}

/* Begin of what is shown of a host's name. */
static const char *shown_name(const char *host)
{
	size_t length = strlen(host);
	const char *shown = length > HOST_COLUMNS_MAX ? host + length - HOST_COLUMNS_MAX : host;
	while (((unsigned char)*shown & 0xc0) == 0x80) {
		shown++; /* inside a character */
	}
	return shown;
}

/* "0-7", "5", or "0.." if ranks between are elsewhere. */
static void add_range(struct fsl_phrase *phrase, const struct grid *grid, size_t begin, size_t end)
{
	int32_t first = grid->seats[grid->cells[begin].seat].rank;
	int32_t last = grid->seats[grid->cells[end - 1].seat].rank;
	if (first == last) {
		fsl_phrase_add(phrase, "%d", first);
	} else if ((size_t)(last - first) == end - 1 - begin) {
		fsl_phrase_add(phrase, "%d-%d", first, last);
	} else {
		fsl_phrase_add(phrase, "%d..", first);
	}
}

/* How wide the begin of lines is. */
static void measure(struct grid *grid)
{
	grid->name_columns = 0;
	grid->range_columns = 0;
	for (size_t u = 0; u < grid->n_units; u++) {
		struct fsl_phrase range = {0};
		const char *name = shown_name(host_of(grid, grid->units[u].begin));
		size_t n = (size_t)fsl_columns(name, strlen(name));
		add_range(&range, grid, grid->units[u].begin, grid->units[u].end);
		grid->name_columns = n > grid->name_columns ? n : grid->name_columns;
		grid->range_columns =
			range.length > grid->range_columns ? range.length : grid->range_columns;
	}
}

/* Groups sorted cells by host. */
static void make_units(struct grid *grid)
{
	for (size_t i = 0; i < grid->n_cells; i++) {
		if (i == 0 || grid->cells[i].host != grid->cells[i - 1].host) {
			grid->units[grid->n_units++] = (struct unit){i, i, '?'};
		}
		struct unit *unit = &grid->units[grid->n_units - 1];
		unit->mark = more_telling(unit->mark, grid->cells[i].mark);
		unit->end++;
		size_t n = unit->end - unit->begin;
		grid->widest = n > grid->widest ? n : grid->widest;
	}
	measure(grid);
}

static enum fsl_status make(struct grid *grid, const struct fsl_report *report)
{
	size_t n = count_ranks(report);
	*grid = (struct grid){.report = report, .n_cells = n};
	FSL_TRY(FSL_NEW(grid->seats, n, "ranks", NULL));
	for (size_t r = 0; r < n; r++) {
		grid->seats[r] = seat_of(report, r);
	}
	FSL_TRY(FSL_NEW(grid->cells, n, "cells", NULL));
	FSL_TRY(FSL_NEW(grid->units, n, "units", NULL));
	FSL_TRY(number_hosts(grid));
	FSL_TRY(mark_ranks(grid));
	qsort(grid->cells, n, sizeof(*grid->cells), by_host);
	make_units(grid);
	return FSL_OK;
}

/* How many marks a line holds behind the name of its host. *has_gaps: with a blank after each. */
static size_t marks_of_line(const struct grid *grid, const struct fsl_screen *screen,
			    bool *has_gaps)
{
	size_t names = grid->name_columns + (grid->name_columns > 0 ? 2 : 0);
	size_t room = (size_t)fsl_screen_room(screen) - names - grid->range_columns - 2;
	*has_gaps = 2 * grid->widest <= room;
	return *has_gaps || grid->widest <= room ? grid->widest : room / 8 * 8;
}

static size_t lines_of(const struct unit *unit, size_t n_marks)
{
	size_t n = unit->end - unit->begin;
	return n / n_marks + (n % n_marks != 0);
}

static void put_mark(const struct fsl_screen *screen, char mark)
{
	const char text[] = {mark, '\0'};
	fsl_screen_put(screen,
		       mark == '#'   ? FSL_COLOUR_RED
		       : mark == '+' ? FSL_COLOUR_YELLOW
				     : FSL_COLOUR_NONE,
		       text);
}

/* Lines of one host. @label: of the first one. */
static void print_unit(const struct fsl_screen *screen, const struct grid *grid,
		       const struct unit *unit, const char *label)
{
	bool has_gaps = false;
	size_t n_marks = marks_of_line(grid, screen, &has_gaps);
	for (size_t begin = unit->begin; begin < unit->end; begin += n_marks) {
		size_t end = begin + n_marks < unit->end ? begin + n_marks : unit->end;
		struct fsl_phrase head = {0}, range = {0};
		const char *name = begin == unit->begin ? shown_name(host_of(grid, begin)) : "";
		add_range(&range, grid, begin, end);
		if (grid->name_columns > 0) {
			int n_blanks = (int)grid->name_columns - fsl_columns(name, strlen(name));
			fsl_phrase_add(&head, "%s%*s", name, n_blanks + 2, "");
		}
		fsl_phrase_add(&head, "%-*s  ", (int)grid->range_columns, range.text);
		fsl_screen_begin(screen, begin == unit->begin ? label : "");
		fsl_screen_put(screen, FSL_COLOUR_NONE, head.text);
		for (size_t i = begin; i < end; i++) {
			put_mark(screen, grid->cells[i].mark);
			fsl_screen_put(screen, FSL_COLOUR_NONE, has_gaps && i + 1 < end ? " " : "");
		}
		fsl_screen_end(screen);
	}
}

/* Explains the marks that are there. @words: what a mark of several ranks stands for; "". */
static void print_legend(const struct fsl_screen *screen, const struct grid *grid,
			 const char *words)
{
	bool is_capture = grid->report->profile != NULL;
	const struct {
		char mark;
		const char *text;
	} meanings[] = {
		{'#', N_("culprit")},
		{'v', N_("victim")},
		{'+', is_capture ? "costs 3 % of a step or more"
				 : "works 3 % of a step or more beyond its peers"},
		{'.', "in line with its peers"},
		{'?', "not compared"},
	};
	struct fsl_phrase phrase = {0};
	bool is_hang = grid->report->perception != NULL &&
		       grid->report->perception->kind == FSL_VERDICT_HANG;
	for (size_t m = 0; m < sizeof(meanings) / sizeof(meanings[0]); m++) {
		bool is_there = false;
		for (size_t i = 0; i < grid->n_cells && !is_there; i++) {
			is_there = grid->cells[i].mark == meanings[m].mark;
		}
		if (is_there) {
			bool is_stopped = is_hang && meanings[m].mark == '#';
			fsl_phrase_add(&phrase, "%s%c %s", phrase.length > 0 ? "; " : "",
				       meanings[m].mark,
				       is_stopped ? "stopped first" : meanings[m].text);
		}
	}
	fsl_phrase_add(&phrase, "%s%s", *words != '\0' ? "; " : "", words);
	(void)fsl_screen_extra(screen, "", phrase.text);
}

/* Cuts the ranks of a single host, or of none, into units. */
static void cut_units(struct grid *grid)
{
	grid->n_units = 0;
	for (size_t i = 0; i < grid->n_cells; i++) {
		if (i % RANKS_OF_UNIT == 0) {
			grid->units[grid->n_units++] = (struct unit){i, i, '?'};
		}
		struct unit *unit = &grid->units[grid->n_units - 1];
		unit->mark = more_telling(unit->mark, grid->cells[i].mark);
		unit->end++;
	}
	grid->widest = RANKS_OF_UNIT;
	measure(grid);
}

/* Prints a mark for each of the units, or for several if they do not fit. Returns how many. */
static size_t print_map(const struct fsl_screen *screen, const struct grid *grid, size_t n_lines)
{
	size_t n_of_line = (size_t)fsl_screen_room(screen) / 8 * 8;
	size_t n_together = (grid->n_units + n_of_line * n_lines - 1) / (n_of_line * n_lines);
	for (size_t u = 0; u < grid->n_units;) {
		fsl_screen_begin(screen, u == 0 ? "ranks" : "");
		for (size_t m = 0; m < n_of_line && u < grid->n_units; m++) {
			char mark = '?';
			for (size_t k = 0; k < n_together && u < grid->n_units; k++) {
				mark = more_telling(mark, grid->units[u++].mark);
			}
			put_mark(screen, mark);
		}
		fsl_screen_end(screen);
	}
	return n_together;
}

static void print_folded(const struct fsl_screen *screen, struct grid *grid, size_t n_lines)
{
	struct fsl_phrase words = {0};
	bool has_hosts = grid->n_units > 1, has_gaps = false;
	if (!has_hosts) {
		cut_units(grid);
	}
	size_t n_map = n_lines < LINES_LONG ? MAP_LINES_SHORT : LINES_LONG / 2;
	size_t n_together = print_map(screen, grid, n_map);
	size_t n_marks = marks_of_line(grid, screen, &has_gaps), n_left = n_lines - n_map;
	for (size_t u = 0; u < grid->n_units; u++) {
		const struct unit *unit = &grid->units[u];
		if (unit->mark == '#' && lines_of(unit, n_marks) <= n_left) {
			print_unit(screen, grid, unit, "");
			n_left -= lines_of(unit, n_marks);
		}
	}
	if (has_hosts && n_together == 1) {
		fsl_phrase_add(&words, "each mark is a host");
	} else if (has_hosts) {
		fsl_phrase_add(&words, "each mark is %zu hosts", n_together);
	} else {
		fsl_phrase_add(&words, "each mark is %zu ranks", n_together * RANKS_OF_UNIT);
	}
	print_legend(screen, grid, words.text);
}

static void print_grid(const struct fsl_screen *screen, struct grid *grid)
{
	bool has_gaps = false;
	size_t n_marks = marks_of_line(grid, screen, &has_gaps), n_lines = 0;
	size_t n_most = screen->budget != NULL ? LINES_SHORT : LINES_LONG;
	for (size_t u = 0; u < grid->n_units; u++) {
		n_lines += lines_of(&grid->units[u], n_marks);
	}
	if (!fsl_screen_has_room(screen, 1 + (n_lines < n_most ? n_lines : n_most))) {
		return;
	}
	if (n_lines > n_most) {
		print_folded(screen, grid, n_most);
		return;
	}
	for (size_t u = 0; u < grid->n_units; u++) {
		print_unit(screen, grid, &grid->units[u], u == 0 ? "ranks" : "");
	}
	print_legend(screen, grid, "");
}

static bool is_telling(const struct grid *grid)
{
	char most = '?';
	for (size_t u = 0; u < grid->n_units; u++) {
		most = more_telling(most, grid->units[u].mark);
	}
	return most != '?';
}

void fsl_terminal_grid(const struct fsl_screen *screen, const struct fsl_report *report)
{
	struct grid grid;
	bool is_judged = report->localisation != NULL &&
			 !fsl_localisation_has_failed(report->localisation) &&
			 (report->profile != NULL || report->perception != NULL);
	if (!is_judged || count_ranks(report) < 2 ||
	    (!fsl_terminal_names_anyone(report) && !has_costs(report))) {
		return;
	}
	if (make(&grid, report) == FSL_OK && is_telling(&grid)) {
		print_grid(screen, &grid);
	}
	fsl_free(grid.units);
	fsl_free(grid.cells);
	fsl_free(grid.seats);
}
