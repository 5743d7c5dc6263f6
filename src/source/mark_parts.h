/* Between ingest.c and the files that make up source/mark.h. */
#ifndef FSL_SOURCE_MARK_PARTS_H
#define FSL_SOURCE_MARK_PARTS_H

#include "source/load.h"

/* What an earlier run left of a file that is to be resumed; NULL: nothing. */
const struct fsl_file_marks *fsl_marks_resumed(const struct fsl_ingest_options *options,
					       const char *path);
/* Appends the marks of @load, which was read with a taker; in order of path. Its tail moves. */
enum fsl_status fsl_marks_add(struct fsl_marks *marks, const struct fsl_load *load,
			      struct fsl_error *err);
/* True when options ask for marks, or to begin at some, and that can be done. */
bool fsl_marks_are_on(const struct fsl_ingest_options *options);

#endif
