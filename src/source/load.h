/* Reads one input: chooses its format by content, calls its reader, records the state of the
 * file. */
#ifndef FSL_SOURCE_LOAD_H
#define FSL_SOURCE_LOAD_H

#include "base/pack.h"
#include "source/discover.h"
#include "source/ingest.h"

struct fsl_load {
	const struct fsl_input *input; /* borrowed */
	struct fsl_file file;          /* path borrowed from @input, message from sink.arena */
	struct fsl_sink sink;
	enum fsl_input_kind kind;        /* by content, else by name */
	bool is_range_for_stages;        /* struct fsl_ingest_options */
	bool keeps_stacks;               /* the same */
	const char *const *log_patterns; /* the same */
	size_t n_log_patterns;
	int place;       /* number of the process that reads the file; 0: this one */
	bool is_guess;   /* a text of no known format is read as a log */
	bool is_ignored; /* not an input of failslow: leave no trace of it */
	/* How the file is read in pieces, from the first boundary on; NULL: as a whole. */
	const struct fsl_pieces *pieces;
	const struct fsl_note *resume;   /* of an earlier run; NULL: none; borrowed */
	int64_t enter_ns, forget_ns;     /* as in the sink */
	size_t piece_bytes;              /* about the bytes of a piece */
	const struct fsl_format *format; /* NULL until it is known */
	struct fsl_reader *reader; /* kept between two pieces of a compressed file; NULL: none */
	bool is_packed;            /* compressed: reading cannot begin in the middle */
	bool is_done;              /* it was read to its end */
	struct fsl_pack *answer; /* the load is packed into it as soon as it is read, and its events
				    are freed; NULL: not packed; borrowed */
};

/*
 * Reads the file, or its next piece; does nothing if all pieces were read. Times are in ns. Start
 * @load as {.input = input}; the caller ends it with fsl_load_fini() in any case. Fails only when
 * out of memory.
 */
enum fsl_status fsl_load_read(struct fsl_load *load, int64_t from_ns, int64_t to_ns,
			      struct fsl_error *err);

void fsl_load_fini(struct fsl_load *load);

#endif
