/* Reads configuration files to cJSON: checks size, syntax (with place) and duplicate keys. */
#include "config/config_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sort.h"
#include "text/json_tree.h"

/* Bytes of the line that a syntax error shows before and after its place. The parser may point one
 * byte late. */
enum { NEAR_BEFORE = 12, NEAR_BEHIND = 24 };

/* An object or array still to be examined, and its path. */
struct node {
	cJSON *item;
	size_t parent; /* index of the node that contains it; SIZE_MAX: the root */
};

/* A member of an object with its position, for finding equal names. */
struct member {
	cJSON *item;
	size_t idx;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = strcmp(a->item->string, b->item->string);
	return order != 0 ? order : FSL_ORDER(a->idx, b->idx);
}

/* "a.b.name" for a member of nodes[idx]. Array elements have no name. */
static const char *member_path(struct fsl_config_loader *loader, const struct node *nodes,
			       size_t idx, const char *name)
{
	const char *path = name;
	for (size_t at = idx; at != SIZE_MAX; at = nodes[at].parent) {
		const char *holder = nodes[at].item->string;
		if (holder != NULL) {
			path = fsl_config_path(loader, "%s.%s", holder, path);
		}
	}
	return path;
}

/* Deletes members with equal names, except the last. */
static enum fsl_status drop_equal_names(struct fsl_config_loader *loader, const struct node *nodes,
					size_t idx)
{
	cJSON *object = nodes[idx].item;
	struct member *members = NULL;
	size_t capacity = 0, n = 0;
	enum fsl_status status = FSL_OK;
	for (cJSON *item = object->child; item != NULL; item = item->next) {
		status = FSL_GROW(members, capacity, n + 1, loader->err);
		if (status != FSL_OK) {
			goto out;
		}
		members[n] = (struct member){item, n};
		n++;
	}
	if (n > 1) {
		qsort(members, n, sizeof(*members), compare_members);
	}
	for (size_t i = 0; i + 1 < n; i++) {
		if (strcmp(members[i].item->string, members[i + 1].item->string) != 0) {
			continue;
		}
		const char *path = member_path(loader, nodes, idx, members[i].item->string);
		status = fsl_config_problem(
			loader, FSL_LOG_WARNING,
			"duplicate key, the last one counts: file=\"%s\", key=\"%s\"", loader->file,
			path);
		if (status != FSL_OK) {
			goto out;
		}
		cJSON_Delete(cJSON_DetachItemViaPointer(object, members[i].item));
	}
out:
	fsl_free(members);
	return status;
}

/* Visits every object of the tree, parents first, without recursion. */
static enum fsl_status drop_duplicates(struct fsl_config_loader *loader, cJSON *root)
{
	struct node *nodes = NULL;
	size_t capacity = 0, n = 0;
	enum fsl_status status = FSL_GROW(nodes, capacity, 1, loader->err);
	if (status == FSL_OK) {
		nodes[n++] = (struct node){root, SIZE_MAX};
	}
	for (size_t i = 0; status == FSL_OK && i < n; i++) {
		if (cJSON_IsObject(nodes[i].item)) {
			status = drop_equal_names(loader, nodes, i);
		}
		for (cJSON *item = nodes[i].item->child; status == FSL_OK && item != NULL;
		     item = item->next) {
			if (item->child == NULL) {
				continue;
			}
			status = FSL_GROW(nodes, capacity, n + 1, loader->err);
			if (status == FSL_OK) {
				nodes[n++] = (struct node){item, i};
			}
		}
	}
	fsl_free(nodes);
	return status;
}

static enum fsl_status report_syntax(struct fsl_config_loader *loader, const char *text,
				     size_t offset, size_t length, const char *what)
{
	size_t line = 1, line_begin = 0;
	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			line++;
			line_begin = i + 1;
		}
	}
	size_t begin = offset - line_begin > NEAR_BEFORE ? offset - NEAR_BEFORE : line_begin;
	size_t end = offset;
	while (end < length && end < offset + NEAR_BEHIND && (unsigned char)text[end] >= ' ') {
		end++;
	}
	return fsl_config_problem(
		loader, FSL_LOG_ERROR, "%s: file=\"%s\", line=%zu, column=%zu, near=\"%.*s\"", what,
		loader->file, line, offset - line_begin + 1, (int)(end - begin), text + begin);
}

enum fsl_status fsl_config_parse(struct fsl_config_loader *loader, const char *text, size_t length,
				 cJSON **root)
{
	*root = NULL;
	const char *nul = memchr(text, '\0', length);
	if (nul != NULL) {
		return report_syntax(loader, text, (size_t)(nul - text), length,
				     "NUL byte, the file is no JSON text");
	}
	const char *end = text;
	bool is_short = false;
	cJSON *tree = fsl_json_tree(text, length + 1, &end, &is_short);
	if (is_short) {
		return FSL_FAIL(loader->err, FSL_ERR_MEMORY,
				"out of memory for the configuration: file=\"%s\"", loader->file);
	}
	if (tree == NULL) {
		return report_syntax(
			loader, text, (size_t)(end - text), length,
			"no valid JSON (comments and trailing commas are not allowed)");
	}
	if (!cJSON_IsObject(tree)) {
		cJSON_Delete(tree);
		return report_syntax(loader, text, 0, length,
				     "no configuration, the file must hold one JSON object");
	}
	enum fsl_status status = drop_duplicates(loader, tree);
	if (status == FSL_OK) {
		*root = tree;
	} else {
		cJSON_Delete(tree);
	}
	return status;
}

enum fsl_status fsl_config_read(struct fsl_config_loader *loader, const char *path, cJSON **root)
{
	*root = NULL;
	char *text = NULL;
	size_t length = 0;
	struct fsl_error why = {0};
	enum fsl_status status = fsl_file_read_text(path, &text, &length, &why);
	if (status == FSL_ERR_MEMORY) {
		return FSL_CAUSE(loader->err, status, "%s", fsl_error_root(&why));
	}
	if (status != FSL_OK) {
		return fsl_config_problem(loader, FSL_LOG_ERROR, "cannot read configuration: %s",
					  fsl_error_root(&why));
	}
	if (length > FSL_CONFIG_BYTES_MAX) {
		status = fsl_config_problem(
			loader, FSL_LOG_ERROR,
			"configuration too large: file=\"%s\", bytes=%zu, allowed=%d", path, length,
			FSL_CONFIG_BYTES_MAX);
	} else {
		status = fsl_config_parse(loader, text, length, root);
	}
	fsl_free(text);
	return status;
}

const cJSON *fsl_config_item(const cJSON *root, const char *path)
{
	const cJSON *item = root;
	while (item != NULL) {
		size_t length = strcspn(path, ".");
		const cJSON *found = cJSON_IsObject(item) ? item->child : NULL;
		while (found != NULL && (strncmp(found->string, path, length) != 0 ||
					 found->string[length] != '\0')) {
			found = found->next;
		}
		item = found;
		if (path[length] == '\0') {
			break;
		}
		path += length + 1;
	}
	return item;
}
