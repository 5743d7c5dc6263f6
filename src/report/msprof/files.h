/* The files of msprof-analyze, with its names and columns, for tools that read them. */
#ifndef FSL_REPORT_MSPROF_FILES_H
#define FSL_REPORT_MSPROF_FILES_H

#include "capture/cluster.h"

/*
 * Writes cluster_step_trace_time.csv, communication_group.json, cluster_communication.json,
 * cluster_communication_matrix.json and cluster_analysis.db into @dir/cluster_analysis_output, each
 * whole or not at all. A file for which the set has no data is not written, and an older one is
 * removed. FSL_ERR_IO, FSL_ERR_MEMORY.
 */
enum fsl_status fsl_profile_write_peer_files(const char *dir, const struct fsl_profile *profile,
					     const struct fsl_profile_cluster *cluster,
					     struct fsl_error *err);

#endif
