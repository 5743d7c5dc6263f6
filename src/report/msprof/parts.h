/* The peer's files, one writer each. */
#ifndef FSL_REPORT_MSPROF_PARTS_H
#define FSL_REPORT_MSPROF_PARTS_H

#include <stdio.h>

#include "report/msprof/index.h"

/* A row of the table of steps: of a rank, or the maximum over the ranks of a stage. Columns in the
 * order of the file, FSL_NS_ABSENT if unknown. */
enum { FSL_PEER_STEP_COLUMNS = 9, FSL_PEER_PREPARING = 8 };
struct fsl_peer_step_row {
	int64_t step;
	size_t stage; /* SIZE_MAX: row of a rank */
	size_t rank;  /* index in profile->ranks */
	int64_t columns_ns[FSL_PEER_STEP_COLUMNS];
};

/* Makes the rows, ranks in order, then the stages of each step. *rows: heap, free with fsl_free.
 * FSL_ERR_MEMORY only. */
enum fsl_status fsl_peer_step_rows(const struct fsl_profile *profile,
				   const struct fsl_profile_cluster *cluster,
				   struct fsl_peer_step_row **rows, size_t *n_rows,
				   struct fsl_error *err);
/* Each function writes one document. FSL_ERR_MEMORY only: the stream keeps write errors. */
enum fsl_status fsl_peer_write_steps(FILE *stream, const struct fsl_peer_index *index,
				     struct fsl_error *err);
enum fsl_status fsl_peer_write_groups(FILE *stream, const struct fsl_peer_index *index,
				      struct fsl_error *err);
enum fsl_status fsl_peer_write_comms(FILE *stream, const struct fsl_peer_index *index,
				     struct fsl_error *err);
enum fsl_status fsl_peer_write_matrix(FILE *stream, const struct fsl_peer_index *index,
				      struct fsl_error *err);
/* Writes the database into the empty file at @path. */
enum fsl_status fsl_peer_write_database(const char *path, const struct fsl_peer_index *index,
					struct fsl_error *err);

#endif
