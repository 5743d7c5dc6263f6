/*
 * All events of a file in Perfetto's form (TracePacket messages with TrackDescriptor and
 * TrackEvent), told as Chrome's events: slices begin ('B') and end ('E') on their track, a track's
 * name is metadata ('M'); values of counters ('C') have the name of their track. Times are ns since
 * 1970 if the trace relates its clock to that, else of its clock. Packets of other sources are
 * passed over; packets in compressed ones (zlib) are read.
 */
#ifndef FSL_CHROME_PFTRACE_WALK_H
#define FSL_CHROME_PFTRACE_WALK_H

#include "chrome/trace_walk.h"

/* True if the bytes begin with a whole packet, or with as much of one as there is. */
bool fsl_pftrace_is(const char *data, size_t n_bytes);

/*
 * Walks from the reader's place on, packet by packet; memory grows with names and tracks alone. As
 * fsl_trace_walk, but the walk ends at the first fault outside of packets; a broken packet is
 * dropped, with NULL for the tokenizer.
 */
enum fsl_status fsl_pftrace_walk(struct fsl_trace_walked *out, struct fsl_reader *reader,
				 const struct fsl_trace_listener *listener, struct fsl_error *err);

#endif
