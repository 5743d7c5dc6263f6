/* Finds the files of a run: walks root and training_log, each file once, in order of path. */
#ifndef FSL_SOURCE_DISCOVER_H
#define FSL_SOURCE_DISCOVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "source/file_name.h"
#include "source/ingest.h"

struct fsl_input {
	const char *path;  /* inputs->arena */
	const char *name;  /* its last part */
	const char *fault; /* why it cannot be looked at, with remedy; NULL: it can */
	struct fsl_file_name told;
	uint64_t n_bytes;
	dev_t device;
	ino_t inode;
	uint32_t kinds;   /* 1 << enum fsl_input_kind that may be taken from it */
	bool is_explicit; /* named by the user: recorded whatever it is */
	bool is_log;      /* the user says that it is a log */
};

struct fsl_inputs {
	struct fsl_arena arena;
	struct fsl_input *items; /* sorted by path, each file once */
	size_t n_items, capacity;
};

/* Fills @inputs (start it as {0}); the caller ends it with fsl_inputs_fini() also after a failure.
 * FSL_ERR_INPUT if root_path does not exist. */
enum fsl_status fsl_inputs_find(struct fsl_inputs *inputs, const struct fsl_ingest_options *options,
				struct fsl_error *err);
void fsl_inputs_fini(struct fsl_inputs *inputs);
/* Estimated bytes to read from @input: eight times the size of a compressed file. */
uint64_t fsl_input_bytes(const struct fsl_input *input);
/* Estimated bytes to read from all @inputs, plus 16 KiB for each file: to open a file takes as long
 * as to read 16 KiB. */
uint64_t fsl_inputs_bytes(const struct fsl_inputs *inputs);

#endif
