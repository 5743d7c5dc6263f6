/* Trees of small JSON documents, by cJSON, which reports no reason when it fails. */
#include "text/json_tree.h"

#include "base/mem.h"

static _Thread_local bool has_failed;

static void *take(size_t n_bytes)
{
	void *memory = fsl_calloc(1, n_bytes);
	has_failed = has_failed || memory == NULL;
	return memory;
}

void fsl_json_tree_init(void)
{
	cJSON_InitHooks(&(cJSON_Hooks){take, fsl_free});
}

cJSON *fsl_json_tree(const char *text, size_t length, const char **end, bool *is_short)
{
	has_failed = false;
	cJSON *tree = cJSON_ParseWithLengthOpts(text, length, end, end != NULL);
	*is_short = tree == NULL && has_failed;
	return tree;
}
