/* Reports faults of the JSON files of a rank's folder. Such a fault never fails a run. */
#ifndef FSL_CAPTURE_JSON_FILE_H
#define FSL_CAPTURE_JSON_FILE_H

#include "capture/capture_files.h"
#include "text/json_walk.h"

/* Counts a record as dropped; reports @reason (static) for the first one, with its offset. */
enum fsl_status fsl_json_file_drop(struct fsl_profile_rank *rank,
				   const struct fsl_profile_input *input,
				   const struct fsl_json *json, const char *reason,
				   struct fsl_error *err);
/* Counts an unreadable part (@status, in @own) as a dropped record, and reports the first such
 * fault. FSL_ERR_MEMORY is passed on, no other error. */
enum fsl_status fsl_json_file_fault(struct fsl_profile_rank *rank,
				    const struct fsl_profile_input *input, enum fsl_status status,
				    const struct fsl_error *own, struct fsl_error *err);
/*
 * Call once, after the last value or the first fault (@status, in @own): reports cut, broken and
 * empty files in input->file. FSL_ERR_MEMORY is passed on, no other error. @remedy (static) ends
 * the message of a file without any record (n_records is 0).
 */
enum fsl_status fsl_json_file_end(struct fsl_profile_rank *rank,
				  const struct fsl_profile_input *input, enum fsl_status status,
				  const struct fsl_error *own, const char *remedy,
				  struct fsl_error *err);

#endif
