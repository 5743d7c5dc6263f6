/*
 * Where two sources of a rank tell of the same, the first is used: text files, then analysis.db,
 * then the profiler's own database. A source covers a step with one row of it, and all of them when
 * its rows have no step.
 */
#ifndef FSL_SOURCE_ASCEND_MERGE_H
#define FSL_SOURCE_ASCEND_MERGE_H

#include "source/ascend/database.h"

/*
 * The rows from @n_before on come from @db: takes out those of steps that the rows before cover.
 * What differs by more than rounding is told in the file of @db.
 */
enum fsl_status fsl_profile_merge_steps(struct fsl_profile_rank *rank, size_t n_before,
					struct fsl_db *db, struct fsl_error *err);
/*
 * The same; operators without groups (rows of kernel_details.csv that stand in for a missing file)
 * give way to those of @db. *first: in, where the rows of @db begin; out, where those kept begin.
 */
enum fsl_status fsl_profile_merge_comms(struct fsl_profile_rank *rank, size_t *first,
					struct fsl_db *db, struct fsl_error *err);
enum fsl_status fsl_profile_merge_links(struct fsl_profile_rank *rank, size_t n_before,
					struct fsl_db *db, struct fsl_error *err);

#endif
