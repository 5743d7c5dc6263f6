/* Call paths of the slowest worker as a tree, beside those of its peers. */
#include <math.h>
#include <string.h>

#include "base/try.h"
#include "report/functions.h"

enum {
	PATHS_MAX = 4096,    /* the first of all workers: callees are looked up one by one */
	NODES_MAX = 1 << 16, /* further frames count for their callers */
	FRAMES_MAX = 1000,   /* that are told: more cannot be drawn */
	DECIMALS = 6,
};
static const double SHARE_MIN = 0.001; /* of the trace: shorter frames cannot be seen */

/* A frame below its callers. */
struct node {
	const char *name; /* not terminated */
	size_t length;
	size_t parent, first_child, next_sibling; /* SIZE_MAX: none */
	double share, peers; /* of the trace, with callees: of the told worker, mean of its peers */
	int64_t told;        /* its number among the frames of the document; -1: none */
};

struct tree {
	struct node *nodes; /* the first one is the root; callers stand before callees */
	size_t n_nodes;
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
					.told = -1};
	tree->nodes[parent].first_child = at;
	return at;
}

/* Mean over the peers that are no culprits; NaN: there are none. */
static double peers_share(const struct fsl_functions_view *view, const struct fsl_function_row *row,
			  const struct fsl_function_worker *told)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function_worker *worker = &view->workers[w];
		if (worker != told && !worker->is_culprit && worker->stage == told->stage) {
			sum += row->cells[w].ratio;
			n++;
		}
	}
	return n > 0 ? sum / (double)n : (double)NAN;
}

/* Adds the frames of a path, and its own time to the last one. */
static void add_path(struct tree *tree, const struct fsl_functions_view *view,
		     const struct fsl_function_row *row, const struct fsl_function_worker *told)
{
	const char *at = row->name;
	size_t node = 0;
	for (bool is_last = false; !is_last;) {
		size_t length = strcspn(at, "|");
		size_t child = child_of(tree, node, at, length);
		is_last = at[length] == '\0' || child == SIZE_MAX;
		at += length + 1;
		node = child != SIZE_MAX ? child : node;
	}
	tree->nodes[node].share += row->cells[told - view->workers].ratio;
	tree->nodes[node].peers += peers_share(view, row, told);
}

static void grow(struct tree *tree, const struct fsl_functions_view *view,
		 const struct fsl_function_worker *told)
{
	tree->nodes[0] = (struct node){.name = "",
				       .parent = SIZE_MAX,
				       .first_child = SIZE_MAX,
				       .next_sibling = SIZE_MAX,
				       .told = -1};
	tree->n_nodes = 1;
	for (size_t i = 0, n = 0; i < view->n_rows && n < PATHS_MAX; i++) {
		if (view->rows[i].class == FSL_FUNCTION_PYTHON) {
			n++;
			add_path(tree, view, &view->rows[i], told);
		}
	}
	for (size_t i = tree->n_nodes; --i > 0;) {
		tree->nodes[tree->nodes[i].parent].share += tree->nodes[i].share;
		tree->nodes[tree->nodes[i].parent].peers += tree->nodes[i].peers;
	}
}

static void tell(struct fsl_document *document, cJSON *parent, struct tree *tree,
		 const struct fsl_function_worker *told)
{
	cJSON *object = fsl_document_object(document, parent, "callTree");
	fsl_document_integer(document, object, "rank", told->rank->rank);
	cJSON *frames = fsl_document_array(document, object, "frames");
	int64_t n = 0;
	for (size_t i = 1; i < tree->n_nodes && n < FRAMES_MAX && !document->has_failed; i++) {
		struct node *node = &tree->nodes[i];
		bool is_short = node->share < SHARE_MIN && !(node->peers >= SHARE_MIN);
		if (is_short || (node->parent != 0 && tree->nodes[node->parent].told < 0)) {
			continue;
		}
		node->told = n++;
		cJSON *frame = fsl_document_object(document, frames, NULL);
		char name[FSL_FUNCTION_NAME_MAX + 1] = "";
		memcpy(name, node->name,
		       node->length < sizeof(name) ? node->length : sizeof(name) - 1);
		fsl_document_text(document, frame, "name", name);
		fsl_document_index(document, frame, "parent", tree->nodes[node->parent].told);
		fsl_document_number(document, frame, "ratio", node->share, DECIMALS);
		fsl_document_number(document, frame, "peersRatio", node->peers, DECIMALS);
	}
}

void fsl_functions_add_tree(struct fsl_document *document, cJSON *root,
			    const struct fsl_functions_view *view,
			    const struct fsl_functions_choice *choice)
{
	const struct fsl_function_worker *told = fsl_functions_slowest(view);
	bool is_asked = (choice->section < 0 || choice->section == FSL_FUNCTION_PYTHON) &&
			choice->function == NULL && choice->group == NULL;
	struct tree tree = {
		is_asked && told != NULL ? fsl_calloc(NODES_MAX, sizeof(struct node)) : NULL, 0};
	if (tree.nodes == NULL) {
		document->has_failed |= is_asked && told != NULL;
		fsl_document_null(document, root, "callTree");
		return;
	}
	grow(&tree, view, told);
	if (tree.n_nodes > 1) {
		tell(document, root, &tree, told);
	} else {
		fsl_document_null(document, root, "callTree");
	}
	fsl_free(tree.nodes);
}
