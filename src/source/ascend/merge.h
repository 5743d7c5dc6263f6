/*
 * Merges two sources of a rank. If both cover a step, the first in this order is used: text files,
 * analysis.db, the profiler's own database. A source covers a step if it has a row of it, and
 * covers all steps if its rows have no step.
 */
#ifndef FSL_SOURCE_ASCEND_MERGE_H
#define FSL_SOURCE_ASCEND_MERGE_H

#include "source/database.h"

/* Rows from @n_before on come from @db. Removes such a row if the rows before cover its step.
 * Differences beyond rounding are reported in the file of @db. FSL_ERR_MEMORY only. */
enum fsl_status fsl_profile_merge_steps(struct fsl_profile_rank *rank, size_t n_before,
					struct fsl_db *db, struct fsl_error *err);
/*
 * The same for operators. Operators without groups (rows of kernel_details.csv in place of a
 * missing file) give way to those of @db. *first: in, index of the first row of @db; out, index of
 * the first kept one.
 */
enum fsl_status fsl_profile_merge_comms(struct fsl_profile_rank *rank, size_t *first,
					struct fsl_db *db, struct fsl_error *err);
enum fsl_status fsl_profile_merge_links(struct fsl_profile_rank *rank, size_t n_before,
					struct fsl_db *db, struct fsl_error *err);

#endif
