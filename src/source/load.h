/* Reads one input: chooses its format by content, lets that read, says what became of the file. */
#ifndef FSL_SOURCE_LOAD_H
#define FSL_SOURCE_LOAD_H

#include "base/pack.h"
#include "source/discover.h"
#include "source/ingest.h"

struct fsl_load {
	const struct fsl_input *input; /* borrowed */
	struct fsl_file file;          /* path borrowed from @input, message from sink.arena */
	struct fsl_sink sink;
	enum fsl_input_kind kind; /* by content, else by name */
	bool is_range_for_stages; /* struct fsl_ingest_options */
	int place;                /* of the process that reads it; 0: this one */
	bool is_ignored;          /* no input of ours: leave no trace of it */
	/* Of a file that is read in pieces (NULL: as a whole): from the first boundary on. */
	const struct fsl_pieces *pieces;
	const struct fsl_note *resume;   /* of an earlier run; NULL: none; borrowed */
	int64_t enter_ns, forget_ns;     /* as in the sink */
	size_t piece_bytes;              /* of a piece, about */
	const struct fsl_format *format; /* once it is known */
	struct fsl_reader *reader;       /* of a compressed file between two pieces; NULL: none */
	bool is_packed;                  /* no reading can begin in the middle */
	bool is_done;                    /* it was read to its end */
	struct fsl_ahead *ahead;         /* NULL: nobody reads ahead; borrowed */
	struct fsl_pack *answer;         /* packed there as soon as it is read, and its events given
					    back; NULL: not; borrowed */
};

/*
 * Start @load as {.input = input}; the caller ends it with fsl_load_fini() in any case. Of a file
 * that is read in pieces the next one, none when all were read. Fails only when out of memory.
 */
enum fsl_status fsl_load_read(struct fsl_load *load, int64_t from_ns, int64_t to_ns,
			      struct fsl_error *err);

void fsl_load_fini(struct fsl_load *load);

/* True when its first bytes show that the file is no input of ours and will leave no trace. */
bool fsl_load_is_foreign(const struct fsl_input *input);

#endif
