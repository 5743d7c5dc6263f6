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
	DRAWN_MAX = 300,     /* frames, the widest ones: 60 kB of a page */
	LABEL_MIN = 26,      /* width of a frame that has room for letters */
	CHARACTER = 7,       /* width of a letter, about */
	LABEL_BYTES_MAX = 110,
};
static const double WIDTH_MIN = 1.0;   /* narrower frames cannot be seen */
static const double SHARE_MAX = 1e3;   /* of a trace: threads run at the same time */
static const double EXCESS_MIN = 0.01; /* of the trace: what matters */

/* A frame below its callers. */
struct node {
	const char *name;                         /* borrowed from the document */
	size_t parent, first_child, next_sibling; /* SIZE_MAX: none */
	size_t function;                          /* of the page; SIZE_MAX: a caller alone */
	double share, usual; /* of the trace, with callees: of the told worker, of its peers */
	double x;
	size_t depth;
};

struct tree {
	int64_t rank;
	struct node *nodes; /* the first one is the root; callers stand before callees */
	size_t n_nodes;
	size_t top;     /* the first frame that is drawn: all paths share those above */
	size_t *sorted; /* room for the callees of a frame */
};

static double share_of(const cJSON *frame, const char *key)
{
	double share = fsl_html_number(frame, key);
	return share >= 0.0 && share <= SHARE_MAX ? share : (double)NAN;
}

/* Share of a frame that is drawn: 0 if it is unknown. */
static double known(double share)
{
	return isfinite(share) ? share : 0.0;
}

/* A frame of the document as a node, below its caller; false if there is no such caller. */
static bool add_frame(struct tree *tree, const cJSON *frame)
{
	int64_t parent = fsl_html_index(frame, "parent");
	if (parent >= (int64_t)tree->n_nodes - 1) {
		return false;
	}
	struct node *caller = &tree->nodes[parent + 1];
	tree->nodes[tree->n_nodes] = (struct node){.name = fsl_html_text(frame, "name"),
						   .parent = (size_t)(parent + 1),
						   .first_child = SIZE_MAX,
						   .next_sibling = caller->first_child,
						   .function = SIZE_MAX,
						   .share = known(share_of(frame, "ratio")),
						   .usual = share_of(frame, "peersRatio")};
	caller->first_child = tree->n_nodes++;
	if (parent < 0) {
		tree->nodes[0].share += tree->nodes[tree->n_nodes - 1].share;
		tree->nodes[0].usual += tree->nodes[tree->n_nodes - 1].usual;
	}
	return true;
}

/* The frame that a path ends in; SIZE_MAX: the tree lacks it. */
static size_t find_path(const struct tree *tree, const char *path)
{
	size_t node = 0;
	for (bool is_last = false; !is_last && node != SIZE_MAX;) {
		size_t length = strcspn(path, "|"), at = tree->nodes[node].first_child;
		while (at != SIZE_MAX && (strncmp(tree->nodes[at].name, path, length) != 0 ||
					  tree->nodes[at].name[length] != '\0')) {
			at = tree->nodes[at].next_sibling;
		}
		node = at;
		is_last = path[length] == '\0';
		path += length + 1;
	}
	return node;
}

/* Finds the functions of frames, and skips callers that all paths have. */
static void settle(struct tree *tree, const struct fsl_html_functions *page)
{
	for (size_t i = 0; i < page->n_items; i++) {
		bool is_path = page->items[i].section == FSL_HTML_PYTHON;
		size_t node = is_path ? find_path(tree, page->items[i].name) : SIZE_MAX;
		if (node != SIZE_MAX) {
			tree->nodes[node].function = i;
		}
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
	const cJSON *told = fsl_html_at(page->root, "callTree"), *frame = NULL;
	FSL_TRY(FSL_NEW(tree->nodes, NODES_MAX, "call paths", err));
	FSL_TRY(FSL_NEW(tree->sorted, NODES_MAX, "call paths", err));
	tree->rank = fsl_html_index(told, "rank");
	tree->nodes[0] = (struct node){.name = "",
				       .parent = SIZE_MAX,
				       .first_child = SIZE_MAX,
				       .next_sibling = SIZE_MAX,
				       .function = SIZE_MAX};
	tree->n_nodes = 1;
	cJSON_ArrayForEach(frame, fsl_html_at(told, "frames"))
	{
		if (tree->n_nodes == NODES_MAX || !add_frame(tree, frame)) {
			break;
		}
	}
	settle(tree, page);
	if (tree->nodes[tree->top].share > 0.0) {
		place(tree);
	}
	return FSL_OK;
}

static void put_frame_title(struct fsl_markup *markup, const struct node *node, int64_t rank)
{
	fsl_markup_raw(markup, "<title>");
	fsl_functions_put_begin(markup, node->name, LABEL_BYTES_MAX);
	fsl_markup_put(markup, ": rank %d ", rank);
	fsl_functions_put_share(markup, node->share);
	if (isfinite(node->usual)) {
		fsl_markup_raw(markup, ", ");
		fsl_html_say(markup, "span", FSL_PAGE_PEERS_TAKE);
		fsl_markup_raw(markup, " ");
		fsl_functions_put_share(markup, node->usual);
	}
	fsl_markup_raw(markup, "</title>");
}

/* The name of a frame as far as it fits: without its file, if it does not fit whole. */
static void put_label(struct fsl_markup *markup, const char *name, double width)
{
	size_t n_most = (size_t)fmin(width / CHARACTER + 1.0, LABEL_BYTES_MAX);
	const char *colon = strstr(name, ": ");
	bool is_whole = strlen(name) <= n_most || colon == NULL;
	fsl_functions_put_begin(markup, is_whole ? name : colon + 2, n_most);
}

static double width_of(const struct tree *tree, size_t i)
{
	return tree->nodes[i].share / tree->nodes[tree->top].share * WIDTH;
}

static size_t count_wide(const struct tree *tree, double least)
{
	size_t n = 0;
	for (size_t i = tree->top; i < tree->n_nodes; i++) {
		n += width_of(tree, i) >= least;
	}
	return n;
}

/* The least width of frames that are drawn. */
static double least_width(const struct tree *tree)
{
	double least = WIDTH_MIN;
	while (count_wide(tree, least) > DRAWN_MAX && least < WIDTH) {
		least *= 1.25;
	}
	return least;
}

/* A frame; its own drawing area cuts its label, whatever the font is. */
static void put_frame(struct fsl_markup *markup, const struct tree *tree, size_t i)
{
	const struct node *node = &tree->nodes[i];
	double width = width_of(tree, i);
	double y = (double)node->depth * ROW;
	bool is_hot = node->share - node->usual >= EXCESS_MIN;
	fsl_markup_put(markup, "<svg class=\"fr%h\" x=\"%f\" y=\"%f\" width=\"%f\" height=\"%d\"",
		       is_hot ? " hot" : "", node->x, y, fmax(width - 1.0, 0.3),
		       (int64_t)(ROW - 1));
	if (node->function != SIZE_MAX) {
		fsl_markup_put(markup, " data-f=\"%d\"", (int64_t)node->function);
	}
	fsl_markup_put(markup, ">");
	put_frame_title(markup, node, tree->rank);
	fsl_markup_raw(markup, "<rect width=\"100%\" height=\"100%\"/>");
	if (width >= LABEL_MIN && i != 0) {
		fsl_markup_raw(markup, "<text x=\"4\" y=\"13\">");
		put_label(markup, node->name, width);
		fsl_markup_raw(markup, "</text>");
	} else if (i == 0) {
		fsl_markup_put(markup, "<text x=\"4\" y=\"13\">rank %d: Python ", tree->rank);
		fsl_functions_put_share(markup, node->share);
		fsl_markup_raw(markup, "</text>");
	}
	fsl_markup_raw(markup, "</svg>");
}

static void put_picture(struct fsl_markup *markup, const struct tree *tree)
{
	double least = least_width(tree);
	size_t n_rows = 0;
	for (size_t i = tree->top; i < tree->n_nodes; i++) {
		size_t depth = tree->nodes[i].depth;
		bool is_drawn = depth < DEPTH_MAX && width_of(tree, i) >= least;
		n_rows = is_drawn && depth >= n_rows ? depth + 1 : n_rows;
	}
	fsl_markup_put(markup,
		       "<div class=\"scroll\"><svg class=\"c flame\" viewBox=\"0 0 %d %d\" "
		       "role=\"img\" aria-label=\"call paths\" "
		       "xmlns=\"http://www.w3.org/2000/svg\">",
		       (int64_t)WIDTH, (int64_t)(n_rows * ROW));
	for (size_t i = tree->top; i < tree->n_nodes; i++) {
		if (tree->nodes[i].depth < DEPTH_MAX && width_of(tree, i) >= least) {
			put_frame(markup, tree, i);
		}
	}
	fsl_markup_raw(markup, "</svg></div>");
}

void fsl_functions_put_flame(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	struct tree tree = {0};
	struct fsl_error err = {0};
	if (!cJSON_IsObject(fsl_html_at(page->root, "callTree"))) {
		return;
	}
	enum fsl_status status = grow(&tree, page, &err);
	markup->pack.is_failed |= status != FSL_OK;
	if (status == FSL_OK && tree.nodes[tree.top].share > 0.0) {
		size_t n_callers = 0;
		for (size_t at = tree.top; at != 0; at = tree.nodes[at].parent) {
			n_callers++;
		}
		fsl_markup_raw(markup, "<div id=\"flame\"><h3>");
		fsl_html_say(markup, "span", FSL_PAGE_FLAME);
		fsl_markup_put(markup, ", rank %d</h3>", tree.rank);
		fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_FLAME_NOTE);
		put_picture(markup, &tree);
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
