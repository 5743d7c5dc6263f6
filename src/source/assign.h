/* Assigns files to ranks: finds the rank of each file, sets duplicates aside, fills run->ranks. */
#ifndef FSL_SOURCE_ASSIGN_H
#define FSL_SOURCE_ASSIGN_H

#include "source/discover.h"

/* One file whose names are already names of the run. */
struct fsl_part {
	struct fsl_rank events; /* owned; emptied when a rank takes it */
	const struct fsl_input *input;
	enum fsl_input_kind kind;
	size_t file_idx; /* its place in run->files */
};

/* Moves the events of one more piece of a file to its rank. Fails only when out of memory. */
enum fsl_status fsl_part_take(struct fsl_rank *rank, struct fsl_part *part, struct fsl_error *err);
void fsl_part_free_events(struct fsl_part *part);

/* Fills run->ranks from @parts, which come in order of path. Reorders and empties @parts. A
 * duplicate that is not used gets FSL_FILE_DUPLICATE and a message in run->files. */
enum fsl_status fsl_parts_assign(struct fsl_run *run, struct fsl_part *parts, size_t n_parts,
				 struct fsl_error *err);

#endif
