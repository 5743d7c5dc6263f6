/* The matrix of links: who hands over to whom, and how much longer than links like it; beside it
 * the costliest links with their figures. */
#include "report/page/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	NODES_MAX = 32, /* rows; more are too small to be told apart */
	SIZE = 224,     /* of the matrix, units */
	TOP = 18,
	CELL_MOST = 44,
	FIGURE_LEAST = 26, /* of a cell that holds its figure */
	LISTED_MAX = 6,
	LINE = 36,
	TOLD_MAX = 60, /* rows of the table */
	NAMED_MAX = 4, /* ranks of a group that are listed */
};

/* A pair of rows: transfer of all links between them; among hosts, of the costliest link. */
struct pair {
	double ms, usual_ms; /* 0: no link */
	bool is_named;
};

struct matrix {
	const struct fsl_html *page;
	size_t nodes[NODES_MAX]; /* indices of ranks, or of hosts */
	size_t n;
	bool is_folded;     /* rows are hosts */
	struct pair *pairs; /* [n * n], sender first */
	double left, cell;
};

/* Calls @visit for both ends of each pair of a link. */
typedef void visit_pair(void *data, const struct fsl_html_link *link, size_t a, size_t b);

static void each_pair(const struct fsl_html *page, visit_pair *visit, void *data)
{
	for (size_t i = 0; i < page->n_links; i++) {
		const struct fsl_html_link *link = &page->links[i];
		for (size_t a = 0; a < link->n_ranks; a++) {
			size_t x = fsl_html_find(page, link->ranks[a]);
			for (size_t b = a + 1; b < link->n_ranks && x != SIZE_MAX; b++) {
				size_t y = fsl_html_find(page, link->ranks[b]);
				if (y != SIZE_MAX) {
					visit(data, link, x, y);
				}
			}
		}
	}
}

static size_t node_of(const struct matrix *matrix, size_t rank_idx)
{
	size_t wanted = matrix->is_folded ? (size_t)matrix->page->ranks[rank_idx].host : rank_idx;
	for (size_t i = 0; i < matrix->n; i++) {
		if (matrix->nodes[i] == wanted) {
			return i;
		}
	}
	return SIZE_MAX;
}

/* The costliest links come first, so that these have their rows if there are too many. */
static void add_nodes(void *data, const struct fsl_html_link *link, size_t a, size_t b)
{
	struct matrix *matrix = data;
	size_t ends[2] = {a, b};
	(void)link;
	for (size_t i = 0; i < 2; i++) {
		int64_t host = matrix->page->ranks[ends[i]].host;
		if (node_of(matrix, ends[i]) == SIZE_MAX && matrix->n < NODES_MAX &&
		    (!matrix->is_folded || host >= 0)) {
			matrix->nodes[matrix->n++] = matrix->is_folded ? (size_t)host : ends[i];
		}
	}
}

static void mark_used(void *data, const struct fsl_html_link *link, size_t a, size_t b)
{
	bool *is_used = data;
	(void)link;
	is_used[a] = is_used[b] = true;
}

static void add_to(const struct matrix *matrix, size_t from, size_t to,
		   const struct fsl_html_link *link)
{
	struct pair *pair = &matrix->pairs[from * matrix->n + to];
	if (!matrix->is_folded) {
		pair->ms += link->ms;
		pair->usual_ms += link->usual_ms;
	} else if (pair->usual_ms <= 0.0 || link->ms - link->usual_ms > pair->ms - pair->usual_ms) {
		pair->ms = link->ms;
		pair->usual_ms = link->usual_ms;
	}
}

static void add_pair(void *data, const struct fsl_html_link *link, size_t a, size_t b)
{
	const struct matrix *matrix = data;
	size_t x = node_of(matrix, a), y = node_of(matrix, b);
	if (x == SIZE_MAX || y == SIZE_MAX) {
		return;
	}
	add_to(matrix, x, y, link);
	if (!link->is_directed && x != y) {
		add_to(matrix, y, x, link);
	}
}

static int by_index(const void *a, const void *b)
{
	const size_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* True for the ends of a link that the verdict names. */
static bool is_named(const struct fsl_html *page, int64_t rank, int64_t peer, bool is_directed)
{
	const cJSON *culprit = NULL;
	cJSON_ArrayForEach(culprit, fsl_html_at(page->root, "culprits"))
	{
		int64_t from = fsl_html_index(culprit, "rank");
		int64_t to = fsl_html_index(culprit, "peer");
		if ((from == rank && to == peer) || (!is_directed && from == peer && to == rank)) {
			return true;
		}
	}
	return false;
}

static void mark_named(void *data, const struct fsl_html_link *link, size_t a, size_t b)
{
	const struct matrix *matrix = data;
	const struct fsl_html_rank *ranks = matrix->page->ranks;
	size_t x = node_of(matrix, a), y = node_of(matrix, b);
	if (x != SIZE_MAX && y != SIZE_MAX &&
	    is_named(matrix->page, ranks[a].rank, ranks[b].rank, link->is_directed)) {
		matrix->pairs[x * matrix->n + y].is_named = true;
		matrix->pairs[y * matrix->n + x].is_named |= !link->is_directed;
	}
}

static bool make(struct matrix *out, const struct fsl_html *page)
{
	bool *is_used = fsl_calloc(page->n_ranks + 1, sizeof(*is_used));
	size_t n_used = 0;
	*out = (struct matrix){.page = page};
	if (is_used == NULL) {
		return false;
	}
	each_pair(page, mark_used, is_used);
	for (size_t r = 0; r < page->n_ranks; r++) {
		n_used += is_used[r];
	}
	fsl_free(is_used);
	out->is_folded = n_used > NODES_MAX && page->n_hosts > 1;
	each_pair(page, add_nodes, out);
	qsort(out->nodes, out->n, sizeof(out->nodes[0]), by_index);
	out->pairs = fsl_calloc(out->n * out->n + 1, sizeof(*out->pairs));
	if (out->pairs == NULL) {
		return false;
	}
	each_pair(page, add_pair, out);
	each_pair(page, mark_named, out);
	out->left = out->is_folded ? 96.0 : 34.0;
	out->cell = fmin(SIZE / (double)(out->n > 0 ? out->n : 1), CELL_MOST);
	return true;
}

static void put_node(struct fsl_markup *markup, const struct matrix *matrix, size_t i)
{
	const struct fsl_html *page = matrix->page;
	size_t node = matrix->nodes[i];
	if (matrix->is_folded) {
		fsl_chart_put_end(markup, page->hosts[node], 12);
	} else {
		fsl_markup_integer(markup, page->ranks[node].rank);
	}
}

static void put_names(struct fsl_markup *markup, const struct matrix *matrix)
{
	size_t every = (size_t)ceil(13.0 / matrix->cell);
	for (size_t i = 0; i < matrix->n; i += every) {
		double at = ((double)i + 0.5) * matrix->cell;
		fsl_markup_put(markup, "<text class=\"e m\" x=\"%f\" y=\"%f\">", matrix->left - 6.0,
			       TOP + at + 4.0);
		put_node(markup, matrix, i);
		fsl_markup_raw(markup, "</text>");
		if (!matrix->is_folded && (matrix->cell >= 20.0 || i % (2 * every) == 0)) {
			fsl_markup_put(markup, "<text class=\"n0\" x=\"%f\" y=\"%d\">",
				       matrix->left + at, (int64_t)TOP - 5);
			put_node(markup, matrix, i);
			fsl_markup_raw(markup, "</text>");
		}
	}
}

static void put_title(struct fsl_markup *markup, const struct matrix *matrix, size_t i, size_t k)
{
	const struct pair *pair = &matrix->pairs[i * matrix->n + k];
	fsl_markup_put(markup, "<title>%h", matrix->is_folded ? "" : "rank ");
	put_node(markup, matrix, i);
	fsl_markup_raw(markup, " → ");
	put_node(markup, matrix, k);
	fsl_markup_put(markup, ": %g ms ", pair->ms);
	fsl_html_say(markup, "span", FSL_PAGE_PER_STEP);
	fsl_markup_raw(markup, "; ");
	fsl_html_say(markup, "span", FSL_PAGE_USUAL);
	fsl_markup_put(markup, " %g ms", pair->usual_ms);
	if (pair->is_named) {
		fsl_markup_raw(markup, "; ");
		fsl_html_say(markup, "span", FSL_PAGE_CULPRIT);
	}
	fsl_markup_raw(markup, "</title>");
}

/* A factor with one decimal below 10: a cell has room for three characters. */
static double rounded(double factor)
{
	return factor < 9.95 ? round(10.0 * factor) / 10.0 : round(factor);
}

static void put_cell(struct fsl_markup *markup, const struct matrix *matrix, size_t i, size_t k)
{
	const struct pair *pair = &matrix->pairs[i * matrix->n + k];
	double x = matrix->left + (double)k * matrix->cell, y = TOP + (double)i * matrix->cell;
	double size = matrix->cell - (matrix->cell > 8.0 ? 2.0 : 0.6);
	int64_t class = fsl_html_class(matrix->page, pair->ms - pair->usual_ms);
	if (!(pair->usual_ms > 0.0)) {
		return;
	}
	fsl_markup_put(markup,
		       "<g class=\"cell\"><rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" "
		       "rx=\"%f\" class=\"k%d\">",
		       x, y, size, size, fmin(3.0, size / 6.0), class);
	put_title(markup, matrix, i, k);
	fsl_markup_raw(markup, "</rect>");
	if (size >= FIGURE_LEAST) {
		fsl_markup_put(markup, "<text x=\"%f\" y=\"%f\" class=\"n%d%h\">×%g</text>",
			       x + size / 2.0, y + size / 2.0 + 4.0, class,
			       pair->is_named ? " b" : "", rounded(pair->ms / pair->usual_ms));
	}
	fsl_markup_raw(markup, "</g>");
}

/* Dots in place of links that there are not, in one path: a matrix is mostly these. */
static void put_dots(struct fsl_markup *markup, const struct matrix *matrix)
{
	fsl_markup_raw(markup, "<path class=\"none\" d=\"");
	for (size_t i = 0; i < matrix->n * matrix->n; i++) {
		if (!(matrix->pairs[i].usual_ms > 0.0)) {
			fsl_markup_put(markup, "M%f %fh0",
				       matrix->left +
					       ((double)(i % matrix->n) + 0.45) * matrix->cell,
				       TOP + ((double)(i / matrix->n) + 0.45) * matrix->cell);
		}
	}
	fsl_markup_raw(markup, "\"/>");
}

/* Rings stand above all cells. */
static void put_rings(struct fsl_markup *markup, const struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->n * matrix->n; i++) {
		double x = matrix->left + (double)(i % matrix->n) * matrix->cell - 1.0;
		double y = TOP + (double)(i / matrix->n) * matrix->cell - 1.0;
		double size = matrix->cell - (matrix->cell > 8.0 ? 2.0 : 0.6) + 2.0;
		if (matrix->pairs[i].is_named) {
			fsl_markup_put(markup,
				       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" "
				       "rx=\"%f\" class=\"ring\"/>",
				       x, y, size, size, fmin(4.0, size / 5.0));
		}
	}
}

void fsl_chart_put_ends(struct fsl_markup *markup, const struct fsl_html_link *link)
{
	const char *between = link->is_directed ? " → " : link->n_ranks == 2 ? " ↔ " : ", ";
	fsl_markup_raw(markup, "rank ");
	for (size_t i = 0; i < link->n_ranks && i < NAMED_MAX; i++) {
		fsl_markup_put(markup, "%h%d", i > 0 ? between : "", link->ranks[i]);
	}
	fsl_markup_raw(markup, link->n_ranks > NAMED_MAX ? ", …" : "");
}

bool fsl_chart_is_named(const struct fsl_html *page, const struct fsl_html_link *link)
{
	for (size_t a = 0; a < link->n_ranks; a++) {
		for (size_t b = a + 1; b < link->n_ranks; b++) {
			if (is_named(page, link->ranks[a], link->ranks[b], link->is_directed)) {
				return true;
			}
		}
	}
	return false;
}

/* The costliest links: a bar for the usual transfer, hatched for what is beyond it. */
static void put_costliest(struct fsl_markup *markup, const struct matrix *matrix)
{
	const struct fsl_html *page = matrix->page;
	double left = matrix->left + (double)matrix->n * matrix->cell + 26.0;
	double most = 0.0, width = FSL_CHART_WIDTH - 4.0 - left;
	for (size_t i = 0; i < page->n_links && i < LISTED_MAX; i++) {
		most = fmax(most, fmax(page->links[i].ms, page->links[i].usual_ms));
	}
	for (size_t i = 0; i < page->n_links && i < LISTED_MAX; i++) {
		const struct fsl_html_link *link = &page->links[i];
		double y = 2.0 + (double)i * LINE, usual = link->usual_ms / most * width;
		double excess = (link->ms - link->usual_ms) / most * width;
		bool is_told = fsl_chart_is_named(page, link);
		fsl_markup_put(markup, "<text x=\"%f\" y=\"%f\"%h>", left, y + 12.0,
			       is_told ? " class=\"b\"" : "");
		fsl_chart_put_ends(markup, link);
		fsl_markup_put(markup, "</text><text class=\"e m\" x=\"%d\" y=\"%f\">%g ms / %g ms",
			       (int64_t)FSL_CHART_WIDTH - 4, y + 12.0, link->ms, link->usual_ms);
		fsl_markup_put(markup,
			       "</text><rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"8\" class=\"a "
			       "usual\"><title>%s</title></rect>",
			       left, y + 18.0, fmax(usual + fmin(excess, 0.0), 1.0),
			       link->operation);
		if (excess >= 1.0) {
			fsl_markup_put(markup,
				       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"8\" "
				       "class=\"a lost\"/>",
				       left + usual, y + 18.0, excess);
		}
	}
}

static bool has(const struct fsl_html *page)
{
	return page->n_links > 0 && page->n_ranks > 1;
}

static void draw(struct fsl_markup *markup, const struct fsl_html *page)
{
	struct matrix matrix;
	if (!make(&matrix, page)) {
		markup->pack.is_failed = true;
		return;
	}
	size_t n_listed = page->n_links < LISTED_MAX ? page->n_links : LISTED_MAX;
	double height = fmax(TOP + (double)matrix.n * matrix.cell, 4.0 + (double)n_listed * LINE);
	fsl_chart_open(markup, "matrix", height + 2.0, "transfer between ranks");
	put_names(markup, &matrix);
	for (size_t i = 0; i < matrix.n; i++) {
		for (size_t k = 0; k < matrix.n; k++) {
			put_cell(markup, &matrix, i, k);
		}
	}
	put_dots(markup, &matrix);
	put_rings(markup, &matrix);
	put_costliest(markup, &matrix);
	fsl_chart_close(markup);
	fsl_chart_put_scale(markup);
	fsl_markup_raw(markup, "</span><span><i class=\"a usual\"></i>");
	fsl_html_say(markup, "span", FSL_PAGE_USUAL);
	fsl_markup_raw(markup, "</span><span><i class=\"a lost\"></i>");
	fsl_html_say(markup, "span", FSL_PAGE_BEYOND);
	fsl_markup_raw(markup, "</span></p>");
	fsl_free(matrix.pairs);
}

static void tell(struct fsl_markup *markup, const struct fsl_html *page)
{
	fsl_markup_raw(markup, "<thead><tr>");
	fsl_html_say(markup, "th", FSL_PAGE_LINK);
	fsl_html_say(markup, "th", FSL_PAGE_OPERATION);
	fsl_html_say(markup, "th class=\"n\"", FSL_PAGE_PER_STEP);
	fsl_html_say(markup, "th class=\"n\"", FSL_PAGE_USUAL);
	fsl_markup_raw(markup, "</tr></thead><tbody>");
	for (size_t i = 0; i < page->n_links && i < TOLD_MAX; i++) {
		const struct fsl_html_link *link = &page->links[i];
		fsl_markup_put(markup, "<tr%h><td>",
			       fsl_chart_is_named(page, link) ? " class=\"hit\"" : "");
		fsl_chart_put_ends(markup, link);
		fsl_markup_put(markup, "<td>%s<td class=\"n\">%g ms<td class=\"n\">%g ms",
			       link->operation, link->ms, link->usual_ms);
	}
	fsl_markup_raw(markup, "</tbody>");
}

const struct fsl_chart fsl_chart_links = {
	.name = "links",
	.title = FSL_PAGE_LINKS,
	.note = FSL_PAGE_LINKS_NOTE,
	.empty = FSL_PAGE_LINKS_EMPTY,
	.has = has,
	.draw = draw,
	.tell = tell,
};
