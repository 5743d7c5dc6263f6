/* Numbers and ranges, with commas between. */
#include "cli/number_list.h"

#include <string.h>

#include "base/number.h"

static enum fsl_status add_range(struct fsl_number_list *list, const char *option, const char *text,
				 size_t length, struct fsl_error *err)
{
	int64_t first = 0, last = 0;
	const char *dash = memchr(text, '-', length);
	size_t n_first = dash != NULL ? (size_t)(dash - text) : length;
	bool is_good = fsl_parse_i64(text, n_first, &first);
	last = first;
	if (dash != NULL) {
		is_good = is_good && fsl_parse_i64(dash + 1, length - n_first - 1, &last);
	}
	if (!is_good || first < 0 || last < first || last > INT32_MAX ||
	    (size_t)(last - first) >= FSL_NUMBER_LIST_MAX - list->n_items) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"a list is numbers and ranges, as in 0,8-15, of at most %d: "
				"option=\"%s\", text=\"%.*s\"",
				FSL_NUMBER_LIST_MAX, option, (int)length, text);
	}
	for (int64_t number = first; number <= last; number++) {
		list->items[list->n_items++] = number;
	}
	return FSL_OK;
}

enum fsl_status fsl_number_list_parse(struct fsl_number_list *list, const char *option,
				      const char *text, struct fsl_error *err)
{
	while (text != NULL) {
		const char *comma = strchr(text, ',');
		size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);
		FSL_TRY(add_range(list, option, text, length, err));
		text = comma != NULL ? comma + 1 : NULL;
	}
	return FSL_OK;
}
