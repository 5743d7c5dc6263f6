/* Lists in one text, with commas between their items: "10.1.0.7,10.1.0.8". */
#ifndef FSL_TEXT_COMMA_LIST_H
#define FSL_TEXT_COMMA_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

/* One item of a list; borrowed, not NUL-terminated. */
struct fsl_comma_item {
	const char *text;
	size_t length;
};

/* Takes the next item from *rest, which begins as the list. False: none is left. */
bool fsl_comma_next(const char **rest, struct fsl_comma_item *item);
bool fsl_comma_has(const char *list, const char *text, size_t length);
size_t fsl_comma_count(const char *list);
/* The list of @n texts; NULL if memory is short. */
char *fsl_comma_join(struct fsl_arena *arena, const char *const *texts, size_t n);

#endif
