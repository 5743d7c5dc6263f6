/* "Did you mean": the known name that a mistyped name was probably meant to be. */
#ifndef FSL_BASE_NEAREST_H
#define FSL_BASE_NEAREST_H

#include <stddef.h>

/*
 * The name among @names with the fewest edits (insertions, deletions, replacements, swaps of
 * neighbours) from the first @length bytes of @text; of equal ones the first. A name that begins
 * with @text needs no edit. NULL if the edits are more than a third of the letters, and for a text
 * that is empty or longer than all names of failslow.
 */
const char *fsl_nearest_name(const char *text, size_t length, const char *const *names,
			     size_t n_names);

#endif
