/* Finds the rank of each folder in a tree: by names, profiler_info, metadata, databases. */
#ifndef FSL_SOURCE_ASCEND_FIND_DISCOVER_H
#define FSL_SOURCE_ASCEND_FIND_DISCOVER_H

#include <stdbool.h>

#include "capture/capture.h"

/*
 * Fills profile->folders, sorted by rank, each rank once (of duplicates the newest), and adds
 * remarks on conflicts and skipped folders. Reads only names and the small JSON files. @path may be
 * a parent of rank folders (also nested per node), one rank's folder, or an output folder itself.
 * FSL_ERR_INPUT if there is no such folder.
 */
enum fsl_status fsl_profile_discover(struct fsl_profile *profile, const char *path,
				     struct fsl_error *err);
/* The same below @path and @n_more_paths others, whose ranks are those of one job. Remarks name
 * folders below the first path without it. */
enum fsl_status fsl_profile_discover_all(struct fsl_profile *profile, const char *path,
					 const char *const *more_paths, size_t n_more_paths,
					 struct fsl_error *err);

/* True for names of folders that hold what a profiler wrote; the files around tell its rank. */
bool fsl_profile_is_output_name(const char *name);

#endif
