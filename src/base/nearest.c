/* Edit distance over a list of known names. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { NAME_BYTES_MAX = 95 }; /* a longer word gets no suggestion */

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance; both texts are at most NAME_BYTES_MAX long. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t rows[3][NAME_BYTES_MAX + 1]; /* present row and the two rows before it */
	for (size_t j = 0; j <= n_b; j++) {
		rows[0][j] = j;
	}
	for (size_t i = 1; i <= n_a; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3];
		const size_t *two_above = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			size_t best = above[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
			best = min_size(best, above[j] + 1);
			best = min_size(best, row[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
				best = min_size(best, two_above[j - 2] + 1);
			}
			row[j] = best;
		}
	}
	return rows[n_a % 3][n_b];
}

const char *fsl_nearest_name(const char *text, size_t length, const char *const *names,
			     size_t n_names)
{
	const char *nearest = NULL;
	size_t limit = (length + 2) / 3 + 1; /* so many edits would make another word */
	if (length == 0 || length > NAME_BYTES_MAX) {
		return NULL;
	}
	for (size_t i = 0; i < n_names; i++) {
		size_t n_name = strlen(names[i]);
		if (n_name > NAME_BYTES_MAX) {
			continue;
		}
		bool is_begun = strncmp(names[i], text, length) == 0;
		size_t edits = is_begun ? 0 : distance(text, length, names[i], n_name);
		if (edits < limit) {
			limit = edits;
			nearest = names[i];
		}
	}
	return nearest;
}
