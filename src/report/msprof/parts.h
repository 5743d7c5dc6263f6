/* The peer's files, one writer each. */
#ifndef FSL_REPORT_MSPROF_PARTS_H
#define FSL_REPORT_MSPROF_PARTS_H

#include <stdio.h>

#include "report/msprof/index.h"

/* A row of the table of steps: a rank's, or the greatest of its stage. Columns in the order of the
 * file, FSL_NS_ABSENT where they are not told. */
enum { FSL_PEER_STEP_COLUMNS = 9, FSL_PEER_PREPARING = 8 };
struct fsl_peer_step_row {
	int64_t step;
	size_t stage; /* SIZE_MAX: a rank's */
	size_t rank;  /* position in profile->ranks */
	int64_t columns_ns[FSL_PEER_STEP_COLUMNS];
};

/* *rows: heap, free with fsl_free. Ranks in order, then stages of each step. */
enum fsl_status fsl_peer_step_rows(const struct fsl_profile *profile,
				   const struct fsl_profile_cluster *cluster,
				   struct fsl_peer_step_row **rows, size_t *n_rows,
				   struct fsl_error *err);
/* Each writes one document; fails when memory is short. */
enum fsl_status fsl_peer_write_steps(FILE *stream, const struct fsl_peer_index *index,
				     struct fsl_error *err);
enum fsl_status fsl_peer_write_groups(FILE *stream, const struct fsl_peer_index *index,
				      struct fsl_error *err);
enum fsl_status fsl_peer_write_comms(FILE *stream, const struct fsl_peer_index *index,
				     struct fsl_error *err);
enum fsl_status fsl_peer_write_matrix(FILE *stream, const struct fsl_peer_index *index,
				      struct fsl_error *err);
/* Into the empty file at @path. */
enum fsl_status fsl_peer_write_database(const char *path, const struct fsl_peer_index *index,
					struct fsl_error *err);

#endif
