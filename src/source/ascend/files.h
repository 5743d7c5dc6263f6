/* The files of a rank's folder. Each has a reader in read_<name>.c and a line in files.def; files
 * that hold the same in other words share one (read_memory.c, read_counters.c). */
#ifndef FSL_SOURCE_ASCEND_FILES_H
#define FSL_SOURCE_ASCEND_FILES_H

#include "capture/capture_files.h"

/*
 * Adds the data of the file to @rank. Faults of the file are no failure: they are reported in
 * input->file (state PARTIAL or UNUSABLE, with a message that names place and remedy).
 * FSL_ERR_MEMORY only.
 */
typedef enum fsl_status (*fsl_profile_reader)(struct fsl_profile_rank *rank,
					      const struct fsl_profile_input *input,
					      struct fsl_error *err);

#define PROFILE_FILE(name, file_name)                                                              \
	enum fsl_status fsl_profile_read_##name(struct fsl_profile_rank *rank,                     \
						const struct fsl_profile_input *input,             \
						struct fsl_error *err);
#include "source/ascend/files.def"
#undef PROFILE_FILE

/*
 * Adds a folder of the rank that is there and could not be listed, as a file that is unusable;
 * @cause tells why. A folder that is absent is no fault. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_profile_add_unlisted(struct fsl_profile_rank *rank, const char *folder,
					 const struct fsl_error *cause, struct fsl_error *err);
/* The message of the first such folder of the rank; NULL: there is none. */
const char *fsl_profile_first_unlisted(const struct fsl_profile_rank *rank);

/* Finds and reads the files of rank->folder, in the order of files.def. FSL_ERR_MEMORY only. */
enum fsl_status fsl_profile_read_files(struct fsl_profile_rank *rank,
				       const struct fsl_profile_options *options,
				       struct fsl_error *err);

/*
 * The component of rank->memory, added if new; borrowed until the next call. The driver
 * (@is_module) and the allocators both have a component APP; these stay two. *out is NULL if there
 * are too many.
 */
enum fsl_status fsl_memory_of(struct fsl_profile_rank *rank, uint32_t component_id, bool is_module,
			      struct fsl_profile_memory **out, struct fsl_error *err);

/* Frees the sums that are kept between slices of kernel_details.csv. NULL is fine. */
void fsl_kernel_sums_destroy(struct fsl_kernel_sums *sums);

/* The unit whose share of a kernel's time this counter tells ("aic_mac_ratio"); FSL_PIPES_N: none.
 */
enum fsl_profile_pipe fsl_profile_pipe_of(const char *counter);

/* True if the row is of another device than the steps that the rank has: a file of several devices
 * is no file of several steps. The text tells why the row is dropped. */
bool fsl_profile_is_other_device(const struct fsl_profile_rank *rank,
				 const struct fsl_profile_step *row);
extern const char fsl_profile_other_device[];

#endif
