/* Call paths of the told worker as a flame graph, callers above. */
#include "report/page/functions_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"

enum {
	WIDTH = 720,
	ROW = 19,
	DEPTH_MAX = 40,      /* rows; deeper frames count for the last one */
	NODES_MAX = 1 << 15, /* frames; further paths are left out */
	LABEL_MIN = 26,      /* width of a frame that has room for letters */
	CHARACTER = 7,       /* width of a letter, about */
	LABEL_BYTES_MAX = 110,
};
static const double WIDTH_MIN = 0.3;   /* narrower frames cannot be seen */
static const double EXCESS_MIN = 0.01; /* of the trace: what matters */

/* A frame below its callers. */
struct node {
	const char *name; /* not terminated */
	size_t length;
	size_t parent, first_child, next_sibling; /* SIZE_MAX: none */
	size_t function;                          /* of the page; SIZE_MAX: a caller alone */
	double share, usual; /* of the trace, with callees: of the told worker, of others */
	double x;
	size_t depth;
};

struct tree {
	struct node *nodes; /* the first one is the root; callers stand before callees */
	size_t n_nodes;
	size_t top;     /* the frame that all paths share, and that is drawn first */
	size_t *sorted; /* room for the callees of a frame */
};

static size_t child_of(struct tree *tree, size_t parent, const char *name, size_t length)
{
	size_t at = tree->nodes[parent].first_child;
	while (at != SIZE_MAX && (tree->nodes[at].length != length ||
				  memcmp(tree->nodes[at].name, name, length) != 0)) {
		at = tree->nodes[at].next_sibling;
	}
	if (at != SIZE_MAX || tree->n_nodes == NODES_MAX) {
		return at;
	}
	at = tree->n_nodes++;
	tree->nodes[at] = (struct node){.name = name,
					.length = length,
					.parent = parent,
					.first_child = SIZE_MAX,
					.next_sibling = tree->nodes[parent].first_child,
					.function = SIZE_MAX};
	tree->nodes[parent].first_child = at;
	return at;
}

/* Adds the frames of a path, and its time to the last one. */
static void add_path(struct tree *tree, const struct fsl_html_functions *page, size_t function)
{
	const char *at = page->items[function].name;
	double share = page->items[function].cells[page->worst].ratio;
	double usual = page->items[function].usual_ratio;
	size_t node = 0;
	for (bool is_last = false; !is_last;) {
		size_t length = strcspn(at, "|");
		size_t child = child_of(tree, node, at, length);
		is_last = at[length] == '\0' || child == SIZE_MAX;
		at += length + 1;
		node = child != SIZE_MAX ? child : node;
	}
	tree->nodes[node].function = function;
	tree->nodes[node].share += isfinite(share) ? share : 0.0;
	tree->nodes[node].usual += isfinite(usual) ? usual : 0.0;
}

/* Adds the time of callees to callers, and skips callers that all paths have. */
static void settle(struct tree *tree)
{
	for (size_t i = tree->n_nodes; --i > 0;) {
		tree->nodes[tree->nodes[i].parent].share += tree->nodes[i].share;
		tree->nodes[tree->nodes[i].parent].usual += tree->nodes[i].usual;
	}
	size_t top = 0, child = tree->nodes[0].first_child;
	while (child != SIZE_MAX && tree->nodes[child].next_sibling == SIZE_MAX &&
	       tree->nodes[child].function == SIZE_MAX) {
		top = child;
		child = tree->nodes[child].first_child;
	}
	tree->top = top;
}

static int compare_nodes(const void *left, const void *right, void *context)
{
	const struct node *nodes = context;
	const struct node *a = &nodes[*(const size_t *)left], *b = &nodes[*(const size_t *)right];
	if (a->share > b->share || a->share < b->share) {
		return a->share > b->share ? -1 : 1;
	}
	return a < b ? -1 : a > b;
}

/* Places of all frames below the top: the widest callee stands left. */
static void place(struct tree *tree)
{
	double scale = WIDTH / tree->nodes[tree->top].share;
	tree->nodes[tree->top].x = 0.0;
	tree->nodes[tree->top].depth = 0;
	for (size_t i = tree->top; i < tree->n_nodes; i++) {
		struct node *node = &tree->nodes[i];
		double x = node->x;
		size_t n = 0;
		for (size_t c = node->first_child; c != SIZE_MAX; c = tree->nodes[c].next_sibling) {
			tree->sorted[n++] = c;
		}
		if (n > 1) {
			qsort_r(tree->sorted, n, sizeof(*tree->sorted), compare_nodes, tree->nodes);
		}
		for (size_t k = 0; k < n; k++) {
			struct node *child = &tree->nodes[tree->sorted[k]];
			child->x = x;
			child->depth = node->depth + 1;
			x += child->share * scale;
		}
	}
}

static enum fsl_status grow(struct tree *tree, const struct fsl_html_functions *page,
			    struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(tree->nodes, NODES_MAX, "call paths", err));
	FSL_TRY(FSL_NEW(tree->sorted, NODES_MAX, "call paths", err));
	tree->nodes[0] = (struct node){.name = "",
				       .parent = SIZE_MAX,
				       .first_child = SIZE_MAX,
				       .next_sibling = SIZE_MAX,
				       .function = SIZE_MAX};
	tree->n_nodes = 1;
	for (size_t i = 0; i < page->n_items; i++) {
		if (page->items[i].section == FSL_HTML_PYTHON) {
			add_path(tree, page, i);
		}
	}
	settle(tree);
	if (tree->nodes[tree->top].share > 0.0) {
		place(tree);
	}
	return FSL_OK;
}

static void put_frame_name(struct fsl_markup *markup, const struct node *node, size_t n_most)
{
	char name[LABEL_BYTES_MAX + 1];
	size_t n = node->length < LABEL_BYTES_MAX ? node->length : LABEL_BYTES_MAX;
	n = n < n_most ? n : n_most;
	while (n > 0 && n < node->length && ((unsigned char)node->name[n] & 0xc0) == 0x80) {
		n--;
	}
	memcpy(name, node->name, n);
	name[n] = '\0';
	fsl_markup_put(markup, "%s%h", name, n < node->length ? "…" : "");
}

static void put_frame_title(struct fsl_markup *markup, const struct node *node, int64_t rank)
{
	fsl_markup_raw(markup, "<title>");
	put_frame_name(markup, node, LABEL_BYTES_MAX);
	fsl_markup_put(markup, ": rank %d ", rank);
	fsl_functions_put_share(markup, node->share);
	fsl_markup_raw(markup, ", ");
	fsl_html_say(markup, "span", FSL_PAGE_PEERS_TAKE);
	fsl_markup_raw(markup, " ");
	fsl_functions_put_share(markup, node->usual);
	fsl_markup_raw(markup, "</title>");
}

/* A frame; its own drawing area cuts its label, whatever the font is. */
static void put_frame(struct fsl_markup *markup, const struct tree *tree, size_t i, int64_t rank)
{
	const struct node *node = &tree->nodes[i];
	double width = node->share / tree->nodes[tree->top].share * WIDTH;
	double y = (double)node->depth * ROW;
	bool is_hot = node->share - node->usual >= EXCESS_MIN;
	if (!(width >= WIDTH_MIN) || node->depth >= DEPTH_MAX) {
		return;
	}
	fsl_markup_put(markup, "<svg class=\"fr%h\" x=\"%f\" y=\"%f\" width=\"%f\" height=\"%d\"",
		       is_hot ? " hot" : "", node->x, y, fmax(width - 1.0, 0.3),
		       (int64_t)(ROW - 1));
	if (node->function != SIZE_MAX) {
		fsl_markup_put(markup, " data-f=\"%d\"", (int64_t)node->function);
	}
	fsl_markup_put(markup, ">");
	put_frame_title(markup, node, rank);
	fsl_markup_raw(markup, "<rect width=\"100%\" height=\"100%\"/>");
	if (width >= LABEL_MIN && i != 0) {
		fsl_markup_raw(markup, "<text x=\"4\" y=\"13\">");
		put_frame_name(markup, node, (size_t)(width / CHARACTER) + 1);
		fsl_markup_raw(markup, "</text>");
	} else if (i == 0) {
		fsl_markup_put(markup, "<text x=\"4\" y=\"13\">rank %d: Python ", rank);
		fsl_functions_put_share(markup, node->share);
		fsl_markup_raw(markup, "</text>");
	}
	fsl_markup_raw(markup, "</svg>");
}

static void put_picture(struct fsl_markup *markup, const struct tree *tree, int64_t rank)
{
	size_t n_rows = 0;
	for (size_t i = tree->top; i < tree->n_nodes; i++) {
		size_t depth = tree->nodes[i].depth;
		n_rows = depth >= n_rows && depth < DEPTH_MAX ? depth + 1 : n_rows;
	}
	fsl_markup_put(markup,
		       "<div class=\"scroll\"><svg class=\"c flame\" viewBox=\"0 0 %d %d\" "
		       "role=\"img\" aria-label=\"call paths\" "
		       "xmlns=\"http://www.w3.org/2000/svg\">",
		       (int64_t)WIDTH, (int64_t)(n_rows * ROW));
	for (size_t i = tree->top; i < tree->n_nodes; i++) {
		put_frame(markup, tree, i, rank);
	}
	fsl_markup_raw(markup, "</svg></div>");
}

void fsl_functions_put_flame(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	struct tree tree = {NULL, 0, 0, NULL};
	struct fsl_error err = {0};
	if (page->worst == SIZE_MAX) {
		return;
	}
	enum fsl_status status = grow(&tree, page, &err);
	markup->pack.is_failed |= status != FSL_OK;
	if (status == FSL_OK && tree.nodes[tree.top].share > 0.0) {
		int64_t rank = page->workers[page->worst].rank;
		size_t n_callers = 0;
		for (size_t at = tree.top; at != 0; at = tree.nodes[at].parent) {
			n_callers++;
		}
		fsl_markup_raw(markup, "<div id=\"flame\"><h3>");
		fsl_html_say(markup, "span", FSL_PAGE_FLAME);
		fsl_markup_put(markup, ", rank %d</h3>", rank);
		fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_FLAME_NOTE);
		put_picture(markup, &tree, rank);
		if (n_callers > 1) {
			fsl_markup_put(markup, "<p class=\"note\">%d ", (int64_t)n_callers - 1);
			fsl_html_say(markup, "span", FSL_PAGE_CALLERS);
			fsl_markup_raw(markup, "</p>");
		}
		fsl_markup_raw(markup, "</div>");
	}
	fsl_free(tree.nodes);
	fsl_free(tree.sorted);
}
