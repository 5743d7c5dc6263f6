/* cJSON that can tell a text that is no JSON from a lack of memory. */
#ifndef FSL_TEXT_JSON_TREE_H
#define FSL_TEXT_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

/* From now on cJSON takes its memory as all other code does. Once, before threads. */
void fsl_json_tree_init(void);

/*
 * Parses the document at the start of @text, @length bytes. NULL: none, *end tells where it stopped
 * being one, and *is_short that memory was lacking instead. @end not NULL: nothing may follow but a
 * NUL within @length. Free with cJSON_Delete().
 */
cJSON *fsl_json_tree(const char *text, size_t length, const char **end, bool *is_short);

#endif
