/* The files of a rank, as its readers see them. */
#ifndef FSL_CAPTURE_CAPTURE_FILES_H
#define FSL_CAPTURE_CAPTURE_FILES_H

#include "base/file.h"
#include "capture/capture.h"

/* Input of a reader. */
struct fsl_profile_input {
	struct fsl_reader *reader; /* at the beginning of the file; plain, gzip or zstd */
	const char *path;
	struct fsl_file
		*file; /* counts records and drops; gets a message if the file is not whole */
	const struct fsl_lanes *lanes; /* of traces of Kineto; NULL: none */
	const int64_t *steps;          /* wanted; n_steps 0: all */
	size_t n_steps;
	bool has_second_thread; /* may be used to read the file */
	bool has_next; /* the file is a slice, and another slice of the same capture follows */
	const struct fsl_profile_folder *folder; /* of the rank, for traces; NULL: none */
};

/* Adds @folder/@name to rank->files, not read yet. @format: static. *out: until the next call. */
enum fsl_status fsl_profile_add_file(struct fsl_profile_rank *rank, const char *folder,
				     const char *name, const char *format, struct fsl_file **out,
				     struct fsl_error *err);

/* True if the step is wanted or its number is unknown. */
bool fsl_profile_wants_step(const struct fsl_profile_input *input, int64_t step);

#endif
