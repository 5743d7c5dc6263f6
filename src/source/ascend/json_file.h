/* Telling faults of the JSON files of a rank's folder. A fault of the file never fails a run. */
#ifndef FSL_SOURCE_ASCEND_JSON_FILE_H
#define FSL_SOURCE_ASCEND_JSON_FILE_H

#include "source/ascend/files.h"
#include "text/json_walk.h"

/* Counts a record as dropped; @reason (static) is told for the first one, with its offset. */
enum fsl_status fsl_json_file_drop(struct fsl_profile_rank *rank,
				   const struct fsl_profile_input *input,
				   const struct fsl_json *json, const char *reason,
				   struct fsl_error *err);
/* Counts what cannot be read (@status, in @own) as a record that was dropped, and tells the first
 * such fault. Passes on only that memory is short. */
enum fsl_status fsl_json_file_fault(struct fsl_profile_rank *rank,
				    const struct fsl_profile_input *input, enum fsl_status status,
				    const struct fsl_error *own, struct fsl_error *err);
/*
 * Once, behind the last value or the first fault (@status, in @own): tells cut, broken and empty
 * files in input->file. Passes on only that memory is short. @remedy (static) ends the message of a
 * file in which nothing was found (n_records is 0).
 */
enum fsl_status fsl_json_file_end(struct fsl_profile_rank *rank,
				  const struct fsl_profile_input *input, enum fsl_status status,
				  const struct fsl_error *own, const char *remedy,
				  struct fsl_error *err);

#endif
