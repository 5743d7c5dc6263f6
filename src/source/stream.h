/*
 * Files to a run piece by piece: all are read up to a boundary in time, what the run needs no
 * longer is forgotten (fsl_run_forget()), and they are read on. Plain files are closed between
 * pieces.
 */
#ifndef FSL_SOURCE_STREAM_H
#define FSL_SOURCE_STREAM_H

#include "source/discover.h"
#include "source/ingest.h"

struct fsl_stream; /* opaque; of one thread, which reads on several */

/* A file as a run found it. */
struct fsl_file_past {
	const char *path;
	uint64_t device, inode, n_bytes;
	int64_t last_event_ns;                     /* FSL_NS_ABSENT: none */
	struct fsl_note notes[FSL_SINK_NOTES_MAX]; /* none of a file that is not read in pieces */
	size_t n_notes;
};

/* What of it a later run needs no more. */
struct fsl_resume {
	const struct fsl_file_past *files; /* one an input, in their order */
	int64_t boundary_ns;               /* chapters before it are known */
	int64_t lead_ns, slack_ns;         /* of the time before it so much is needed */
};

/*
 * Begins to read @inputs, as fsl_ingest_inputs() would, in pieces as @pieces say (pause_ns is not
 * looked at), of which there will be about @n_pieces; NULL: in one. A team of processes reads in
 * one. @resume NULL: all is read. @inputs and the files of @resume must outlive the stream.
 */
enum fsl_status fsl_stream_open(struct fsl_stream **out, const struct fsl_inputs *inputs,
				const struct fsl_ingest_options *options,
				const struct fsl_pieces *pieces, double n_pieces,
				const struct fsl_resume *resume, struct fsl_error *err);
/* After all was read: what is known of the files, one an input; borrowed from the stream. */
const struct fsl_file_past *fsl_stream_files(const struct fsl_stream *stream);
/*
 * Adds to @run, always the same, what the files hold up to where they have passed @until_ns, one of
 * the boundaries, or to their ends where that is earlier; INT64_MAX: up to their ends. The ranks
 * are normalised. The files of @run tell what was read so far.
 */
enum fsl_status fsl_stream_read(struct fsl_stream *stream, struct fsl_run *run, int64_t until_ns,
				struct fsl_error *err);
void fsl_stream_close(struct fsl_stream *stream); /* NULL is fine */

#endif
