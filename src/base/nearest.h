/* "Did you mean": the known name that a mistyped one was probably meant to be. */
#ifndef FSL_BASE_NEAREST_H
#define FSL_BASE_NEAREST_H

#include <stddef.h>

/*
 * The one of @names that takes fewest edits (insertions, deletions, replacements, swaps of
 * neighbours) to come from the first @length bytes of @text, the first of equals; a name that
 * begins with @text takes none. NULL when that is more than a third of the letters, and for a text
 * that is empty or longer than any name of ours.
 */
const char *fsl_nearest_name(const char *text, size_t length, const char *const *names,
			     size_t n_names);

#endif
