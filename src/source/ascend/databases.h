/* The databases of a rank's folder: which there are, what each kind holds, what they add. */
#ifndef FSL_SOURCE_ASCEND_DATABASES_H
#define FSL_SOURCE_ASCEND_DATABASES_H

#include "source/ascend/database.h"
#include "source/ascend/files.h"

/*
 * Adds what the databases of rank->folder hold and its text files do not; call behind the text
 * files. What both hold and what differs by more than rounding is told in the database's file.
 * Databases are not changed, and nothing is written beside them.
 */
enum fsl_status fsl_profile_read_databases(struct fsl_profile_rank *rank,
					   const struct fsl_profile_options *options,
					   struct fsl_error *err);

/*
 * One kind of database each: analysis.db (steps, communication, links) and what the profiler itself
 * wrote (tasks and calls with names by number). As readers of files.h; input->reader is NULL.
 */
enum fsl_status fsl_profile_read_analysis_db(struct fsl_profile_rank *rank, struct fsl_db *db,
					     const struct fsl_profile_input *input,
					     struct fsl_error *err);
enum fsl_status fsl_profile_read_profiler_db(struct fsl_profile_rank *rank, struct fsl_db *db,
					     const struct fsl_profile_input *input,
					     struct fsl_error *err);

#endif
