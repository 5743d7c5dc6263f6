/* Lists in one text. */
#include "text/comma_list.h"

#include <string.h>

bool fsl_comma_next(const char **rest, struct fsl_comma_item *item)
{
	if (**rest == '\0') {
		return false;
	}
	*item = (struct fsl_comma_item){*rest, strcspn(*rest, ",")};
	*rest += item->length;
	*rest += **rest == ',';
	return true;
}

bool fsl_comma_has(const char *list, const char *text, size_t length)
{
	struct fsl_comma_item item;
	while (fsl_comma_next(&list, &item)) {
		if (item.length == length && strncmp(item.text, text, length) == 0) {
			return true;
		}
	}
	return false;
}

size_t fsl_comma_count(const char *list)
{
	struct fsl_comma_item item;
	size_t n = 0;
	while (fsl_comma_next(&list, &item)) {
		n++;
	}
	return n;
}

char *fsl_comma_join(struct fsl_arena *arena, const char *const *texts, size_t n)
{
	size_t n_bytes = 1;
	for (size_t i = 0; i < n; i++) {
		n_bytes += strlen(texts[i]) + 1;
	}
	char *all = fsl_arena_alloc(arena, n_bytes), *end = all;
	for (size_t i = 0; i < n && all != NULL; i++) {
		size_t length = strlen(texts[i]);
		memcpy(end, texts[i], length);
		end += length;
		*end++ = i + 1 < n ? ',' : '\0';
	}
	return all;
}
