/* The readers' side of marks: taking them while a file is read, and beginning at one. */
#ifndef FSL_SOURCE_MARK_TAKE_H
#define FSL_SOURCE_MARK_TAKE_H

#include "source/mark.h"

/* Of one file; see fsl_mark_taker_begin(). */
struct fsl_mark_taker {
	int64_t period_ns, lead_ns, resume_ns;
	const struct fsl_file_marks
		*old;                /* of the earlier run; NULL: read from the top; borrowed */
	const struct fsl_mark *from; /* the one of them that is begun at */
	const struct fsl_mark *at;   /* where reading begins: there, or behind the tail */
	int tails_fd;                /* of @old; -1: none */
	size_t tail_bytes_max;       /* 0: no tail is taken */
	struct fsl_tail tail;
	int64_t next_ns; /* least boundary that no row has reached */
	/* Where the period has to be guessed: */
	int64_t n_parts;    /* 0: it is known */
	int64_t longest_ns; /* it is at most this */
	int64_t began_ns;   /* time of the first row; FSL_NS_ABSENT: none came yet */
	uint64_t n_bytes;   /* of the file */
	int64_t guessed_ns; /* behind the first row, and where, when it was guessed last */
	uint64_t guessed_offset;
	double least_pace; /* between two guesses, ns a byte */
	struct fsl_mark marks[FSL_MARKS_TAKEN + 1];
	size_t n_marks;
	const char **names;
	size_t n_names, names_capacity;
	struct fsl_arena arena;
	uint64_t head_fingerprint; /* 0 of a packed file */
	bool is_packed;            /* the reader cannot seek */
	/* A file that had to be read from the top after all: what was complete at its mark. */
	bool is_forgetting;
	size_t n_old_ops, n_old_remnants, n_old_stages;
};

/* Starts a taker for one file: periods, lead and boundary of the options, and what an earlier run
 * left of this file or NULL. */
void fsl_mark_taker_begin(struct fsl_mark_taker *taker, const struct fsl_ingest_options *options,
			  const struct fsl_file_marks *old);
/* Begins again from the top, and forgets at the end what was complete at the mark. */
void fsl_mark_taker_begin_again(struct fsl_mark_taker *taker);
void fsl_mark_taker_fini(struct fsl_mark_taker *taker);

/* Takes the fingerprint of the head of the file. */
void fsl_mark_look(struct fsl_mark_taker *taker, const struct fsl_reader *reader);
/*
 * Makes the sink take marks while @reader is read as @format, and begin at one when there is one.
 * Takes none when the reader cannot seek, and when the file is not what it was.
 */
void fsl_mark_arm(struct fsl_sink *sink, struct fsl_mark_taker *taker,
		  const struct fsl_reader *reader, const char *format);

/* True where reading begins at a mark: *place, behind the head of the file. */
bool fsl_mark_is_resumed(const struct fsl_sink *sink, struct fsl_mark_place *place);
/* Makes sink and @pairs (NULL: the format has none) what they were there. */
enum fsl_status fsl_mark_restore(struct fsl_sink *sink, struct fsl_marker_pairs *pairs,
				 struct fsl_error *err);

/*
 * A mark at @place, where a row of a time not below sink->mark_at_ns begins, before it is counted
 * or anything else is done with it. NULL: no reading can begin there.
 */
enum fsl_status fsl_mark_take(struct fsl_sink *sink, struct fsl_marker_pairs *pairs,
			      const struct fsl_mark_place *place, int64_t time_ns,
			      struct fsl_error *err);
/* Where the period has to be guessed, guesses period and lead anew at @place, where a row of that
 * time begins, and when the next mark is due: behind @boundary_ns. */
void fsl_mark_guess(struct fsl_mark_taker *taker, int64_t boundary_ns,
		    const struct fsl_mark_place *place, int64_t time_ns);
/* The mark at the end of the file, once; in front of the last row when that may be cut. */
enum fsl_status fsl_mark_take_end(struct fsl_sink *sink, struct fsl_marker_pairs *pairs,
				  const struct fsl_mark_place *place, struct fsl_error *err);

/* After reading: takes the fingerprints of the places, and forgets what has to be forgotten. Where
 * the file cannot be read any more there are no marks. */
void fsl_mark_finish(struct fsl_sink *sink, const struct fsl_reader *reader);

/* The newest mark that stands early enough for the boundary; NULL: there is none. Where it is one
 * for an earlier boundary, reading gives more than is asked for. */
const struct fsl_mark *fsl_mark_find(const struct fsl_file_marks *marks, int64_t boundary_ns);
/* How much stands before an offset for a fingerprint to be taken of. */
size_t fsl_mark_sample_size(uint64_t offset);
/* FNV-1a, 64 bits. */
uint64_t fsl_mark_fingerprint(const char *bytes, size_t n_bytes);

#endif
