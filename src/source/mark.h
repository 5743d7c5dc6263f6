/*
 * Where a later run may go on reading files that only grow. A mark is all that a reader knew at one
 * place of its file; reading that begins there gives what reading the whole file gives, without the
 * events that were complete before the place.
 *
 * The mark for a boundary B (a multiple of a period, ns since 1970) stands in front of the first
 * row that is not older than B - lead, and the one at the end of a file in front of its last row
 * when that has no line end yet. Everything that counts operators against a limit counts from the
 * mark on.
 */
#ifndef FSL_SOURCE_MARK_H
#define FSL_SOURCE_MARK_H

#include "base/pack.h"
#include "source/systrace/marker_pairs.h"
#include "source/tail.h"

enum {
	FSL_MARKS_KEPT = 4,  /* the newest of a file, beside the one at its end */
	FSL_MARKS_TAKEN = 8, /* while it is not known yet which of them are of use */
	FSL_MARK_SAMPLE_BYTES = 4096,
};
/* Periods and leads are at most this long (three years), so that no sum overflows. */
#define FSL_MARK_SPAN_MAX_NS INT64_C(100000000000000000)

/* A place between two rows. */
struct fsl_mark_place {
	uint64_t offset;    /* of the next byte */
	uint64_t line;      /* its line, from 1 */
	uint8_t json_state; /* enum fsl_json_place_state */
};

struct fsl_mark {
	int64_t first_ns, boundary_ns; /* boundaries that it stands for, from to; INT64_MAX: the
					  one at the end of the file. It serves later ones, too, but
					  gives more than they ask for */
	int64_t lead_ns;               /* what it was taken with; not packed */
	struct fsl_mark_place place;
	uint64_t fingerprint; /* of up to FSL_MARK_SAMPLE_BYTES before the place */
	/* Of struct fsl_file and struct fsl_rank: */
	enum fsl_file_state state;
	const char *message;
	uint64_t n_records, n_dropped[FSL_DROPS_N];
	int64_t last_event_ns;
	int32_t rank;
	bool is_restarted;
	bool has_events;
	size_t n_names; /* the first so many of the file's */
	struct fsl_marker_state pairs;
	/* In front of the mark, of those that the sink held or, once there is a tail, of its own.
	 */
	struct fsl_event_counts events;
	bool is_in_tail; /* the tail begins at or in front of the mark */
};

struct fsl_file_marks {
	const char *path;
	uint64_t device, inode;
	uint64_t n_bytes;          /* when it was opened */
	uint64_t head_fingerprint; /* of up to FSL_MARK_SAMPLE_BYTES */
	enum fsl_input_kind kind;
	bool is_packed;     /* compressed: no fingerprints */
	bool is_ignored;    /* no input of ours */
	bool is_bare;       /* nothing in it could be used */
	const char *format; /* name, "" when none fits */
	/* Where there is a device, any_ns is its last end, or earlier: where the host left the
	 * first operator that is still to run. Until it has run it stands there. */
	struct fsl_last_ends last;
	const char **names; /* whole names of markers, or types of stages, in order of use */
	size_t n_names;
	struct fsl_mark *marks; /* in order of their boundaries */
	size_t n_marks;
	struct fsl_tail tail; /* up to the mark at the end, where that is in it */
};

/* What a run leaves behind for the next. Start as {0}. */
struct fsl_marks {
	struct fsl_arena arena;       /* holds everything below but @files itself and tails */
	struct fsl_file_marks *files; /* sorted by path, each once: all inputs that were found */
	size_t n_files, capacity;
	int64_t period_ns, lead_ns;
	bool has_tails; /* @tails_fd is open */
	int tails_fd;
};

void fsl_marks_fini(struct fsl_marks *marks);
/* Those of one file; NULL: there is none of that path. Borrowed. */
const struct fsl_file_marks *fsl_marks_of(const struct fsl_marks *marks, const char *path);

/*
 * Makes @marks, which were taken without knowing the period, marks of that period and lead: each
 * stands for the first boundary that it is far enough before, of several for one the last, and of
 * all of these the newest are kept.
 */
void fsl_marks_settle(struct fsl_marks *marks, int64_t period_ns, int64_t lead_ns);

/* Appends @marks to @pack; look at its is_failed. */
void fsl_marks_pack(const struct fsl_marks *marks, struct fsl_pack *pack);
/* Makes @marks, started as {0}, what was packed. The bytes have to be sound in every length, id and
 * time: else FSL_ERR_FORMAT, and @marks holds nothing. */
enum fsl_status fsl_marks_unpack(struct fsl_marks *marks, const void *bytes, size_t n_bytes,
				 struct fsl_error *err);

/*
 * The greatest boundary up to @most_ns that fsl_ingest_run() with these options may resume from,
 * FSL_NS_ABSENT when everything has to be read again. Looks at the files: they have to be the same
 * ones, none shorter or rewritten, and of a file that has grown the earlier run must have seen a
 * row at least
 * @slack_ns behind the boundary, because rows older than that may still be written. Says in the
 * log which file was in the way.
 */
enum fsl_status fsl_marks_resume_ns(const struct fsl_marks *old,
				    const struct fsl_ingest_options *options, int64_t slack_ns,
				    int64_t most_ns, int64_t *resume_ns, struct fsl_error *err);

#endif
