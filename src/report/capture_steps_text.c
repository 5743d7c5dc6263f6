/* Prints how the time of a step is spent: a row per rank; with many ranks only those that stand
 * out. */
#include "report/capture_steps_text.h"

#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/language.h"
#include "base/mem.h"
#include "capture/cluster.h"
#include "capture/step_rows.h"
#include "model/verdict.h"
#include "report/reporter.h"
#include "text/phrase.h"

enum { ROWS_MAX = FSL_TABLE_ROWS_MAX - 1 /* below the titles */ };

enum {
	COLUMN_NAME, /* rank, or stage */
	COLUMN_OF,   /* stage of the rank, or ranks of the stage */
	COLUMN_STEP,
	COLUMN_COMPUTING,
	COLUMN_EXPOSED,
	COLUMN_OVERLAPPED,
	COLUMN_FREE,
	COLUMN_SHARE,
	COLUMNS_N
};
_Static_assert((int)COLUMNS_N <= (int)FSL_TABLE_COLUMNS_MAX, "the screen takes that many columns");

/* One row of either table, ms; NaN not told. */
struct row {
	double step_ms, computing_ms, exposed_ms, overlapped_ms, free_ms;
};

static struct row row_of(const struct fsl_profile_rank *rank)
{
	return (struct row){fsl_profile_step_ms(rank),
			    fsl_profile_part_ms(rank, FSL_PART_COMPUTING),
			    fsl_profile_part_ms(rank, FSL_PART_EXPOSED),
			    fsl_profile_part_ms(rank, FSL_PART_OVERLAPPED),
			    fsl_profile_part_ms(rank, FSL_PART_FREE)};
}

static double *field(struct row *row, size_t i)
{
	double *const fields[] = {&row->step_ms, &row->computing_ms, &row->exposed_ms,
				  &row->overlapped_ms, &row->free_ms};
	return fields[i];
}
enum { FIELDS_N = 5 };

static struct row median_of(struct row *rows, size_t n)
{
	struct row median = {NAN, NAN, NAN, NAN, NAN};
	double *values = fsl_calloc(2 * n + 1, sizeof(*values));
	for (size_t f = 0; values != NULL && f < FIELDS_N; f++) {
		for (size_t i = 0; i < n; i++) {
			values[i] = *field(&rows[i], f);
		}
		*field(&median, f) = fsl_median(values, n, values + n);
	}
	fsl_free(values);
	return median;
}

static void set_cell(struct fsl_table *table, size_t column, const char *text)
{
	(void)snprintf(table->cells[table->n_rows][column], FSL_TABLE_CELL_MAX, "%.*s",
		       FSL_TABLE_CELL_MAX - 1, text);
}

static void set_cell_ms(struct fsl_table *table, size_t column, double ms)
{
	struct fsl_phrase phrase = {0};
	if (isfinite(ms)) {
		fsl_phrase_add_ms(&phrase, ms);
		set_cell(table, column, phrase.text);
	}
}

static void add_row(struct fsl_table *table, const char *name, const char *of,
		    const struct row *row)
{
	set_cell(table, COLUMN_NAME, name);
	set_cell(table, COLUMN_OF, of);
	set_cell_ms(table, COLUMN_STEP, row->step_ms);
	set_cell_ms(table, COLUMN_COMPUTING, row->computing_ms);
	set_cell_ms(table, COLUMN_EXPOSED, row->exposed_ms);
	set_cell_ms(table, COLUMN_OVERLAPPED, row->overlapped_ms);
	set_cell_ms(table, COLUMN_FREE, row->free_ms);
	if (row->step_ms > 0.0 && isfinite(row->free_ms)) {
		struct fsl_phrase phrase = {0};
		fsl_phrase_add_percent(&phrase, row->free_ms / row->step_ms);
		set_cell(table, COLUMN_SHARE, phrase.text);
	}
	table->n_rows++;
}

static struct fsl_table table_of(const char *name, const char *of)
{
	const char *const titles[COLUMNS_N] = {name,          of,
					       N_("step"),    N_("computing"),
					       N_("exposed"), N_("overlapped"),
					       N_("free"),    N_("share")};
	struct fsl_table table = {.n_columns = COLUMNS_N, .shrinkable = COLUMN_OF};
	for (size_t column = 0; column < COLUMNS_N; column++) {
		table.is_right_aligned[column] = true;
		struct fsl_told told;
		set_cell(&table, column, fsl_tell(titles[column], &told));
	}
	table.n_rows = 1;
	return table;
}

static size_t position_of(const struct fsl_profile *profile, int32_t rank)
{
	const struct fsl_profile_rank *found = fsl_profile_rank_of(profile, rank);
	return found != NULL ? (size_t)(found - profile->ranks) : SIZE_MAX;
}

/* Marks one more rank while there is room. */
static void show(bool *is_shown, size_t n_max, size_t i, size_t *n_shown)
{
	if (i != SIZE_MAX && !is_shown[i] && *n_shown < n_max) {
		is_shown[i] = true;
		(*n_shown)++;
	}
}

/* The rank farthest above the others in one field among those not marked yet. */
static size_t largest(struct row *rows, size_t n, size_t f, const bool *is_shown)
{
	size_t found = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		double value = *field(&rows[i], f);
		if (!is_shown[i] && isfinite(value) &&
		    (found == SIZE_MAX || value > *field(&rows[found], f))) {
			found = i;
		}
	}
	return found;
}

/* All ranks when they fit; else those that the verdict names, then in turn those that compute
 * longest, are free longest and wait longest. */
static size_t choose(const struct fsl_report *report, struct row *rows, bool *is_shown)
{
	enum { COMPUTING = 1, EXPOSED = 2, FREE = 4, TURNS_N = 6 };
	static const size_t turns[] = {COMPUTING, FREE, EXPOSED};
	size_t n = report->profile->n_ranks, n_shown = 0;
	size_t n_max = n <= ROWS_MAX ? n : ROWS_MAX - 1;
	for (size_t i = 0; n <= ROWS_MAX && i < n; i++) {
		show(is_shown, n_max, i, &n_shown);
	}
	for (size_t i = 0; i < report->localisation->n_culprits; i++) {
		show(is_shown, n_max,
		     position_of(report->profile, report->localisation->culprits[i].rank),
		     &n_shown);
	}
	for (size_t t = 0; n_shown < n_max && t < TURNS_N; t++) {
		size_t i = largest(rows, n, turns[t % 3], is_shown);
		if (i == SIZE_MAX) {
			break;
		}
		show(is_shown, n_max, i, &n_shown);
	}
	return n_shown;
}

static void add_rank(struct fsl_table *table, const struct fsl_report *report, size_t i,
		     const struct row *row)
{
	struct fsl_phrase name = {0}, of = {0};
	int32_t rank = report->profile->ranks[i].rank;
	size_t stage = fsl_profile_stage_of(report->cluster, rank);
	fsl_phrase_add(&name, "%d", (int)rank);
	if (stage != SIZE_MAX) {
		fsl_phrase_add(&of, "%zu", stage);
	}
	add_row(table, name.text, of.text, row);
}

/* Prints a table with rows and the line below it, if they fit. */
static void print_table(const struct fsl_screen *screen, const struct fsl_table *table,
			const char *below)
{
	const size_t n_lines = table->n_rows + 2 + (*below != '\0');
	if (table->n_rows <= 1 || !fsl_screen_has_room(screen, n_lines)) {
		return;
	}
	fsl_screen_line(screen, "");
	fsl_screen_table(screen, table);
	if (*below != '\0') {
		fsl_screen_line(screen, below);
	}
	fsl_screen_line(screen, "");
}

void fsl_profile_steps_text(const struct fsl_screen *screen, const struct fsl_report *report)
{
	size_t n = report->profile->n_ranks;
	struct fsl_table table = table_of(N_("rank"), N_("stage"));
	struct fsl_phrase more = {0};
	struct row *rows = fsl_calloc(n, sizeof(*rows));
	bool *is_shown = fsl_calloc(n, sizeof(*is_shown));
	if (rows == NULL || is_shown == NULL) {
		goto out; /* the file tells */
	}
	for (size_t i = 0; i < n; i++) {
		rows[i] = row_of(&report->profile->ranks[i]);
	}
	size_t n_shown = choose(report, rows, is_shown);
	if (n_shown < n) {
		struct row median = median_of(rows, n);
		add_row(&table, "median", "", &median);
	}
	for (size_t i = 0; i < n; i++) {
		if (is_shown[i] && isfinite(rows[i].step_ms)) {
			add_rank(&table, report, i, &rows[i]);
		}
	}
	if (n_shown < n) {
		fsl_phrase_add(&more, "  and %zu more with --format json", n - n_shown);
	}
	print_table(screen, &table, more.text);
out:
	fsl_free(rows);
	fsl_free(is_shown);
}

static void add_stage(struct fsl_table *table, const struct fsl_profile *profile,
		      const struct fsl_profile_stage *stage, size_t number)
{
	struct row *rows = fsl_calloc(stage->n_ranks, sizeof(*rows));
	size_t n = 0;
	for (size_t i = 0; rows != NULL && i < stage->n_ranks; i++) {
		const struct fsl_profile_rank *rank = fsl_profile_rank_of(profile, stage->ranks[i]);
		if (rank != NULL) {
			rows[n++] = row_of(rank);
		}
	}
	if (n > 0) {
		struct fsl_phrase name = {0}, of = {0};
		struct row median = median_of(rows, n);
		fsl_phrase_add(&name, "%zu", number);
		fsl_phrase_add_ranks(&of, stage->ranks, stage->n_ranks, 2);
		/* "ranks 0, 1": the title has the word. */
		const char *blank = strchr(of.text, ' ');
		add_row(table, name.text, blank != NULL ? blank + 1 : of.text, &median);
	}
	fsl_free(rows);
}

void fsl_profile_stages_text(const struct fsl_screen *screen, const struct fsl_report *report)
{
	struct fsl_table table = table_of(N_("stage"), N_("ranks"));
	size_t n = report->cluster->n_stages;
	for (size_t s = 0; s < n && table.n_rows < FSL_TABLE_ROWS_MAX; s++) {
		add_stage(&table, report->profile, &report->cluster->stages[s], s);
	}
	print_table(screen, &table, "");
}
