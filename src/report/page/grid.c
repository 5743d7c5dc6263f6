/* The grid: a cell for each rank, or above 512 ranks for each host; colour is what it costs. */
#include "report/page/charts.h"

#include <math.h>
#include <stdlib.h>

enum {
	CELLS_MAX = 512,  /* more cells are too small to be told apart */
	HEIGHT = 236,     /* units */
	LABEL_WIDTH = 92, /* of the names of rows */
	CELL_MOST = 66,
	NUMBER_LEAST = 22, /* of a cell that holds the number of its rank */
};

/* A cell: ranks order[begin] to order[end - 1]. */
struct cell {
	size_t begin, end;
	size_t row;
	size_t worst; /* index of its costliest rank */
	size_t n_named;
	bool is_culprit, is_victim;
};

struct grid {
	const struct fsl_html *page;
	size_t *order; /* rank indices, by row */
	struct cell *cells;
	size_t n_cells, n_rows, widest; /* widest: cells of a row */
	size_t n_side;                  /* rows beside each other */
	bool is_folded;                 /* cells are hosts */
	bool has_names;                 /* of rows */
	double cell, left;
};

/* Rows are hosts, unless a pipeline stage is to be seen. */
static bool has_host_rows(const struct fsl_html *page)
{
	return page->n_hosts > 1 && (!page->is_of_stage || page->n_ranks > CELLS_MAX);
}

static int64_t row_of(const struct fsl_html *page, size_t r)
{
	const struct fsl_html_rank *rank = &page->ranks[r];
	return has_host_rows(page) ? rank->host : page->has_stages ? rank->stage : 0;
}

struct key {
	int64_t row;
	size_t rank_idx;
};

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	if (x->row != y->row) {
		return x->row < y->row ? -1 : 1;
	}
	return (x->rank_idx > y->rank_idx) - (x->rank_idx < y->rank_idx);
}

static void add_to_cell(struct cell *cell, const struct fsl_html *page, size_t r)
{
	double most = page->ranks[cell->worst].cost_ms, cost = page->ranks[r].cost_ms;
	bool is_worse = cost > most || (isnan(most) && !isnan(cost));
	cell->worst = is_worse ? r : cell->worst;
	cell->is_culprit |= page->ranks[r].is_culprit || page->ranks[r].is_stopped;
	cell->n_named += page->ranks[r].is_named;
	cell->is_victim |= page->ranks[r].is_victim;
	cell->end++;
}

/* Hosts as cells in rows of one length; without hosts eight ranks each. */
static void fold(struct grid *grid, const struct key *keys)
{
	enum { RANKS_OF_CELL = 8 };
	const struct fsl_html *page = grid->page;
	size_t n_groups = page->n_hosts > 1 ? page->n_hosts : page->n_ranks / RANKS_OF_CELL + 1;
	size_t n_merged = n_groups / (2 * CELLS_MAX) + 1, n_in = 0;
	for (size_t i = 0; i < page->n_ranks; i++) {
		bool is_next = i == 0 || (page->n_hosts > 1 ? keys[i].row != keys[i - 1].row
							    : i % RANKS_OF_CELL == 0);
		n_in += is_next;
		if (i == 0 || (is_next && (n_in - 1) % n_merged == 0)) {
			grid->cells[grid->n_cells++] =
				(struct cell){i, i, 0, keys[i].rank_idx, 0, false, false};
		}
		add_to_cell(&grid->cells[grid->n_cells - 1], page, keys[i].rank_idx);
	}
	double wide = sqrt((double)grid->n_cells * FSL_CHART_WIDTH / HEIGHT);
	grid->widest = (size_t)ceil(wide);
	for (size_t i = 0; i < grid->n_cells; i++) {
		grid->cells[i].row = i / grid->widest;
	}
	grid->n_rows = (grid->n_cells + grid->widest - 1) / grid->widest;
	grid->n_side = 1;
}

/* Ranks as cells, hosts or stages as rows. A single row is cut to a block. */
static void spread(struct grid *grid, const struct key *keys)
{
	const struct fsl_html *page = grid->page;
	size_t n_in_row = 0, wrap = SIZE_MAX;
	bool is_single = page->n_ranks > 0 && keys[0].row == keys[page->n_ranks - 1].row;
	if (is_single && page->n_ranks > 8) {
		wrap = (size_t)ceil(sqrt((double)page->n_ranks * FSL_CHART_WIDTH / HEIGHT));
		wrap = (wrap + 7) / 8 * 8;
	}
	for (size_t i = 0; i < page->n_ranks; i++) {
		bool is_next = i > 0 && (keys[i].row != keys[i - 1].row || n_in_row == wrap);
		grid->n_rows += i == 0 || is_next;
		n_in_row = is_next ? 1 : n_in_row + 1;
		grid->widest = n_in_row > grid->widest ? n_in_row : grid->widest;
		struct cell *cell = &grid->cells[grid->n_cells++];
		*cell = (struct cell){i, i, grid->n_rows - 1, keys[i].rank_idx, 0, false, false};
		add_to_cell(cell, page, keys[i].rank_idx);
	}
	grid->has_names = !is_single && grid->n_rows <= 16;
}

/* The number of rows beside each other that gives the largest cells. */
static void fit(struct grid *grid)
{
	double best = 0.0;
	size_t n_side_max = grid->is_folded ? 1 : grid->n_rows;
	grid->left = grid->has_names ? LABEL_WIDTH : 1.0;
	for (size_t n = 1; n <= n_side_max; n++) {
		/* Each row has its name before it; without names a gap parts rows. */
		double names = grid->has_names ? (double)n * LABEL_WIDTH : 1.0;
		double gaps = grid->has_names ? 0.0 : 0.6 * (double)(n - 1);
		double across =
			(FSL_CHART_WIDTH - names - 2.0) / ((double)(n * grid->widest) + gaps);
		double down = (HEIGHT - 4.0) / (double)((grid->n_rows + n - 1) / n);
		double cell = fmin(fmin(across, down), CELL_MOST);
		if (cell > best) {
			best = cell;
			grid->n_side = n;
		}
	}
	grid->cell = best;
}

static bool make(struct grid *out, const struct fsl_html *page)
{
	size_t n = page->n_ranks;
	struct key *keys = fsl_calloc(n + 1, sizeof(*keys));
	*out = (struct grid){.page = page, .is_folded = n > CELLS_MAX};
	out->cells = fsl_calloc(n + 1, sizeof(*out->cells));
	out->order = fsl_calloc(n + 1, sizeof(*out->order));
	bool is_made = keys != NULL && out->cells != NULL && out->order != NULL;
	for (size_t r = 0; is_made && r < n; r++) {
		keys[r] = (struct key){row_of(page, r), r};
	}
	if (is_made) {
		qsort(keys, n, sizeof(*keys), by_key);
		for (size_t i = 0; i < n; i++) {
			out->order[i] = keys[i].rank_idx;
		}
		(out->is_folded ? fold : spread)(out, keys);
		fit(out);
	}
	fsl_free(keys);
	return is_made;
}

/* Ranks of a cell rise; if they are not neighbours, their number says more than their ends. */
static void put_range(struct fsl_markup *markup, const struct grid *grid, const struct cell *cell)
{
	size_t first = grid->order[cell->begin], last = grid->order[cell->end - 1];
	if (last - first == cell->end - 1 - cell->begin) {
		fsl_markup_put(markup, "rank %d – %d: ", grid->page->ranks[first].rank,
			       grid->page->ranks[last].rank);
	} else {
		fsl_markup_put(markup, "%d ", (int64_t)(cell->end - cell->begin));
		fsl_html_say(markup, "span", FSL_PAGE_RANKS_MOST);
	}
}

/* Indices of the ranks of a folded cell, which the script lists when the cell is opened. */
static void put_members(struct fsl_markup *markup, const struct grid *grid, const struct cell *cell)
{
	fsl_markup_raw(markup, " data-r=\"");
	for (size_t i = cell->begin; i < cell->end; i++) {
		fsl_markup_put(markup, "%h%d", i > cell->begin ? "," : "", (int64_t)grid->order[i]);
	}
	fsl_markup_raw(markup, "\"");
}

static void put_title(struct fsl_markup *markup, const struct grid *grid, const struct cell *cell)
{
	const struct fsl_html *page = grid->page;
	const struct fsl_html_rank *rank = &page->ranks[cell->worst];
	fsl_markup_raw(markup, "<title>");
	if (grid->is_folded) {
		put_range(markup, grid, cell);
	}
	fsl_markup_put(markup, "rank %d", rank->rank);
	if (*fsl_html_host(page, rank) != '\0') {
		fsl_markup_put(markup, " (%s)", fsl_html_host(page, rank));
	}
	if (page->has_stages && rank->stage >= 0) {
		fsl_markup_raw(markup, ", ");
		fsl_html_say(markup, "span", FSL_PAGE_STAGE_OF);
		fsl_markup_put(markup, " %d", rank->stage);
	}
	if (isfinite(rank->cost_ms)) {
		fsl_markup_put(markup, ": %g ms ", rank->cost_ms);
		fsl_html_say(markup, "span", FSL_PAGE_PER_STEP);
	}
	if (isfinite(rank->cost_ms / page->step_ms)) {
		fsl_markup_put(markup, ", %g % ", 100.0 * rank->cost_ms / page->step_ms);
		fsl_html_say(markup, "span", FSL_PAGE_OF_STEP);
	}
	if (cell->is_culprit || cell->n_named > 0 || cell->is_victim) {
		fsl_markup_raw(markup, "; ");
		fsl_html_say(markup, "span",
			     cell->is_culprit    ? FSL_PAGE_CULPRIT
			     : cell->n_named > 0 ? FSL_PAGE_NAMED
						 : FSL_PAGE_VICTIM);
	}
	fsl_markup_raw(markup, "</title>");
}

/* Upper left corner of a cell; returns the length of its sides. */
static double place(const struct grid *grid, const struct cell *cell, size_t column, double *x,
		    double *y)
{
	size_t side = cell->row % grid->n_side, line = cell->row / grid->n_side;
	double gap = grid->has_names ? LABEL_WIDTH : 0.6 * grid->cell;
	*x = grid->left + (double)(side * grid->widest + column) * grid->cell + (double)side * gap;
	*y = 2.0 + (double)line * grid->cell;
	return grid->cell - (grid->cell > 8.0 ? 2.0 : 0.6);
}

static void put_cell(struct fsl_markup *markup, const struct grid *grid, const struct cell *cell,
		     size_t column)
{
	const struct fsl_html_rank *rank = &grid->page->ranks[cell->worst];
	double x = 0.0, y = 0.0, size = place(grid, cell, column, &x, &y);
	fsl_markup_raw(markup, "<g class=\"cell\"");
	if (grid->is_folded) {
		put_members(markup, grid, cell);
	} else {
		fsl_markup_put(markup, " data-i=\"%d\"", (int64_t)cell->worst);
	}
	fsl_markup_raw(markup, ">");
	fsl_markup_put(markup,
		       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" rx=\"%f\" "
		       "class=\"k%d\">",
		       x, y, size, size, fmin(3.0, size / 6.0),
		       (int64_t)fsl_html_class(grid->page, rank->cost_ms));
	put_title(markup, grid, cell);
	fsl_markup_raw(markup, "</rect>");
	if (cell->is_victim && cell->n_named == 0) {
		fsl_markup_put(
			markup,
			"<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" class=\"hatch\"/>", x,
			y, size, size);
	}
	if (size >= NUMBER_LEAST && !grid->is_folded) {
		fsl_markup_put(markup, "<text x=\"%f\" y=\"%f\" class=\"n%d%h\">%d</text>",
			       x + size / 2.0, y + size / 2.0 + 4.0,
			       (int64_t)fsl_html_class(grid->page, rank->cost_ms),
			       cell->n_named > 0 ? " b" : "", rank->rank);
	}
	fsl_markup_raw(markup, "</g>");
}

/* Rings stand above all cells, with the number of the rank if the cell does not hold it. */
static void put_ring(struct fsl_markup *markup, const struct grid *grid, const struct cell *cell,
		     size_t column)
{
	const struct fsl_html_rank *rank = &grid->page->ranks[cell->worst];
	double x = 0.0, y = 0.0, size = place(grid, cell, column, &x, &y);
	fsl_markup_put(
		markup,
		"<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" rx=\"%f\" class=\"ring\"/>",
		x - 1.0, y - 1.0, size + 2.0, size + 2.0, fmin(4.0, size / 5.0));
	if (size < NUMBER_LEAST || grid->is_folded) {
		bool is_right = x < FSL_CHART_WIDTH * 0.75;
		const char *host = cell->n_named > 1 ? fsl_html_host(grid->page, rank) : "";
		fsl_markup_put(markup, "<text x=\"%f\" y=\"%f\" class=\"tag%h\">",
			       is_right ? x + size + 6.0 : x - 6.0,
			       fmax(y + size / 2.0 + 4.0, 12.0), is_right ? "" : " e");
		if (*host != '\0') {
			fsl_markup_put(markup, "%s</text>", host);
		} else {
			fsl_markup_put(markup, "rank %d</text>", rank->rank);
		}
	}
}

static void put_row_name(struct fsl_markup *markup, const struct grid *grid,
			 const struct cell *cell)
{
	const struct fsl_html *page = grid->page;
	const struct fsl_html_rank *rank = &page->ranks[grid->order[cell->begin]];
	double x = 0.0, y = 0.0;
	(void)place(grid, cell, 0, &x, &y);
	fsl_markup_put(markup, "<text x=\"%f\" y=\"%f\" class=\"e m\">", x - 8.0,
		       y + grid->cell / 2.0 + 3.0);
	if (has_host_rows(page)) {
		fsl_chart_put_end(markup, fsl_html_host(page, rank), 14);
	} else {
		fsl_html_say(markup, "tspan", FSL_PAGE_STAGE_OF);
		fsl_markup_put(markup, " %d", rank->stage);
	}
	fsl_markup_raw(markup, "</text>");
}

static bool has(const struct fsl_html *page)
{
	for (size_t r = 0; r < page->n_ranks; r++) {
		if (isfinite(page->ranks[r].cost_ms) || page->ranks[r].is_stopped) {
			return true;
		}
	}
	return false;
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	enum { RINGS_MAX = 64 };
	struct grid grid;
	size_t column = 0, n_rings = 0;
	if (!make(&grid, page)) {
		markup->pack.is_failed = true;
		goto out;
	}
	double height = 4.0 + grid.cell * (double)((grid.n_rows + grid.n_side - 1) / grid.n_side);
	fsl_chart_open(markup, "grid", fmax(height, 16.0), "cost of each rank");
	for (size_t i = 0; i < grid.n_cells; i++) {
		bool is_first = i == 0 || grid.cells[i].row != grid.cells[i - 1].row;
		column = is_first ? 0 : column + 1;
		if (is_first && grid.has_names) {
			put_row_name(markup, &grid, &grid.cells[i]);
		}
		put_cell(markup, &grid, &grid.cells[i], column);
	}
	for (size_t i = 0; i < grid.n_cells; i++) {
		bool is_first = i == 0 || grid.cells[i].row != grid.cells[i - 1].row;
		column = is_first ? 0 : column + 1;
		if (grid.cells[i].n_named > 0 && n_rings++ < RINGS_MAX) {
			put_ring(markup, &grid, &grid.cells[i], column);
		}
	}
	fsl_chart_close(markup);
out:
	fsl_free(grid.cells);
	fsl_free(grid.order);
}

const struct fsl_chart fsl_chart_grid = {
	.name = "grid",
	.title = FSL_PAGE_GRID,
	.note = FSL_PAGE_GRID_NOTE,
	.empty = FSL_PAGE_GRID_EMPTY,
	.has = has,
	.draw = draw,
};
