/* Which folders of a tree belong to which rank: names, profiler_info, metadata, databases. */
#ifndef FSL_SOURCE_ASCEND_FIND_DISCOVER_H
#define FSL_SOURCE_ASCEND_FIND_DISCOVER_H

#include "capture/capture.h"

/*
 * Fills profile->folders, sorted by rank, each rank once (of duplicates the newest), and remarks on
 * conflicts and on what was left out. Does not read more than names and the small JSON files.
 * @path may be a parent of rank folders (also nested per node), one rank's folder, or an output
 * folder itself. FSL_ERR_INPUT when nothing is there.
 */
enum fsl_status fsl_profile_discover(struct fsl_profile *profile, const char *path,
				     struct fsl_error *err);

#endif
