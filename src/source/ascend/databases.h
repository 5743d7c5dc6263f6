/* The databases of a rank's folder: finds them and reads each kind. */
#ifndef FSL_SOURCE_ASCEND_DATABASES_H
#define FSL_SOURCE_ASCEND_DATABASES_H

#include "source/ascend/files.h"
#include "source/database.h"

/*
 * Adds the data of the databases of rank->folder that its text files lack; call after the text
 * files. If both have a value and differ by more than rounding, the database's file reports it.
 * Databases are not changed, and no file is written beside them.
 */
enum fsl_status fsl_profile_read_databases(struct fsl_profile_rank *rank,
					   const struct fsl_profile_options *options,
					   struct fsl_error *err);

/*
 * Readers of one kind of database each: analysis.db (steps, communication, links), and the
 * profiler's own database (tasks and calls, with names by number). As the readers of files.h;
 * input->reader is NULL.
 */
enum fsl_status fsl_profile_read_analysis_db(struct fsl_profile_rank *rank, struct fsl_db *db,
					     const struct fsl_profile_input *input,
					     struct fsl_error *err);
enum fsl_status fsl_profile_read_profiler_db(struct fsl_profile_rank *rank, struct fsl_db *db,
					     const struct fsl_profile_input *input,
					     struct fsl_error *err);

#endif
