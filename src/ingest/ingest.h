/* Files to events: finds the inputs of a run, tells their formats by content, reads them on
 * threads. */
#ifndef FSL_INGEST_INGEST_H
#define FSL_INGEST_INGEST_H

#include <stdbool.h>

#include <failslow/error.h>

#include "base/file.h"
#include "series/run.h"

/* What one file gave; a format pushes into it, ingest.c merges the files of a rank in order of
 * path. */
struct fsl_sink {
	struct fsl_file *file;     /* counters and message of this file */
	struct fsl_rank events;    /* what was read; names are ids of @names */
	struct fsl_strpool *names; /* of this file alone */
	struct fsl_arena *arena;   /* of this file alone; becomes part of the run */
};

/* Counts one dropped record. */
void fsl_sink_drop(struct fsl_sink *sink, enum fsl_drop why);
/* Marks the file partial with a message that names place and remedy. */
void fsl_sink_partial(struct fsl_sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What a probe sees: name, and the first FSL_FILE_HEAD_BYTES after decompression. */
struct fsl_probe {
	const char *file_name; /* without directory */
	const char *head;
	size_t n_head;
};

/* One input format, one file in src/ingest/, one line in formats.def. */
struct fsl_format {
	const char *name;    /* file name, log tag, heading in docs/formats.md */
	const char *summary; /* one line for `failslow list formats` */
	/* 0: not mine .. 100: certainly mine. Content decides, the name only helps. */
	int (*probe)(const struct fsl_probe *probe);
	/*
	 * Reads the whole file into @sink. A bad record is counted and reading goes on; a fault
	 * that ends reading is fsl_sink_partial and FSL_OK. Fails only when out of memory.
	 */
	enum fsl_status (*read)(struct fsl_reader *reader, struct fsl_sink *sink,
				struct fsl_error *err);
};

size_t fsl_formats_size(void);
const struct fsl_format *fsl_formats_at(size_t idx);

struct fsl_ingest_options {
	const char *root_path;    /* folder of a tree or of markers; or one file */
	const char *training_log; /* timeline or log file, or their folder; NULL: look in the tree
				     only */
	bool log_type_is_log;
	int64_t from_ns,
		to_ns; /* keep operators that end inside [from, to]; INT64_MIN / INT64_MAX: all */
	int n_threads; /* 0: one per core */
};

/*
 * Finds and reads everything. Files that cannot be used are recorded in run->files with a message
 * and do not fail the call; FSL_ERR_INPUT only when the root does not exist or nothing at all could
 * be used.
 */
enum fsl_status fsl_ingest_run(struct fsl_run *run, const struct fsl_ingest_options *options,
			       struct fsl_error *err);

#endif
