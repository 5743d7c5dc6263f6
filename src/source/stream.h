/*
 * Reads files into a run piece by piece. All files are read up to a boundary in time, the caller
 * lets the run forget old events (fsl_run_forget()), and reading goes on. Plain files are closed
 * between pieces.
 */
#ifndef FSL_SOURCE_STREAM_H
#define FSL_SOURCE_STREAM_H

#include "source/discover.h"
#include "source/ingest.h"

struct fsl_stream; /* opaque; used by one thread, which reads on several threads */

/* A file as a run found it. */
struct fsl_file_past {
	const char *path;
	uint64_t device, inode, n_bytes;
	int64_t last_event_ns;                     /* FSL_NS_ABSENT: none */
	struct fsl_note notes[FSL_SINK_NOTES_MAX]; /* empty for a file that is not read in pieces */
	size_t n_notes;
};

/* State from which a later run goes on, instead of reading all again. */
struct fsl_resume {
	const struct fsl_file_past *files; /* one for each input, in the order of the inputs */
	int64_t boundary_ns;               /* chapters before it are known */
	int64_t lead_ns, slack_ns;         /* so much time before the boundary is needed */
};

/*
 * Begins to read @inputs as fsl_ingest_inputs() would, but in about @n_pieces pieces as @pieces say
 * (pause_ns is ignored). @pieces NULL: in one piece. A team of processes reads in one piece.
 * @resume NULL: all is read. @inputs and the files of @resume must outlive the stream. End *out
 * with fsl_stream_close().
 */
enum fsl_status fsl_stream_open(struct fsl_stream **out, const struct fsl_inputs *inputs,
				const struct fsl_ingest_options *options,
				const struct fsl_pieces *pieces, double n_pieces,
				const struct fsl_resume *resume, struct fsl_error *err);
/* Facts about the files, one for each input; borrowed from the stream. Call it after all was
 * read. */
const struct fsl_file_past *fsl_stream_files(const struct fsl_stream *stream);
/*
 * Adds to @run the content of each file up to the place where the file has passed @until_ns, or up
 * to its end if the file ends earlier. @until_ns: one of the boundaries; INT64_MAX: read to the
 * ends. All calls take the same @run. The ranks are normalised. The files of @run tell what was
 * read so far.
 */
enum fsl_status fsl_stream_read(struct fsl_stream *stream, struct fsl_run *run, int64_t until_ns,
				struct fsl_error *err);
void fsl_stream_close(struct fsl_stream *stream); /* NULL is fine */

#endif
