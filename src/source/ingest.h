/* Files to events: finds the inputs of a run, tells their formats by content, reads them on
 * threads. */
#ifndef FSL_SOURCE_INGEST_H
#define FSL_SOURCE_INGEST_H

#include <stdbool.h>

#include <failslow/error.h>

#include "base/file.h"
#include "model/run.h"

enum {
	FSL_SINK_OPS_MAX = 1 << 26,    /* operators of one file; 4 GiB of memory */
	FSL_SINK_STAGES_MAX = 1 << 26, /* stages of one file */
	FSL_SINK_STEPS_MAX = 1 << 26,  /* steps of one file */
	FSL_SINK_NAMES_MAX = 1 << 20,  /* different names of one file; real files have dozens */
	FSL_NAME_BYTES_MAX = 4096,     /* one operator name or stage type */
	FSL_SINK_NOTES_MAX = 4,
	FSL_SINK_BEHIND_MIN = 8, /* ends behind a boundary; a few times may be wrong */
};
/* Times after the year 2200 are broken records, and no sum of two such times overflows. */
#define FSL_TIME_MAX_NS INT64_C(7258118400000000000)

struct fsl_ahead;  /* source/ahead.h */
struct fsl_inputs; /* source/discover.h */

/* A place between two records of a file. */
struct fsl_place {
	uint64_t offset, line; /* of the next byte; line 0: not known */
	uint8_t json_state;    /* enum fsl_json_place_state */
};

/* What a file had given when it passed a boundary in time: where a later run may go on counting. */
struct fsl_note {
	int64_t boundary_ns;
	struct fsl_place place;
	uint64_t n_records, n_dropped[FSL_DROPS_N];
	const char *message; /* "": no record was broken; borrowed */
};

/*
 * How a file is read in pieces, each up to a boundary in time. A file has passed a boundary when
 * operators or stages have ended @slack_ns behind it: rows are at most so much out of order, and
 * what then still lacks rows from before the boundary will get none.
 */
struct fsl_pieces {
	int64_t pause_ns;    /* pauses when this boundary is passed; INT64_MAX: at the end */
	int64_t boundary_ns; /* the next one; INT64_MAX: the file is read as a whole */
	int64_t period_ns;   /* from each boundary to the next */
	int64_t slack_ns;
};

/*
 * What one file gave; a format pushes into it, ingest.c merges the files of a rank in order of
 * path. fsl_sink_init and _fini are called by ingest.c and by tests.
 */
struct fsl_sink {
	struct fsl_file *file;  /* counters and message of this file; borrowed */
	struct fsl_rank events; /* what was read; names are ids of @names; events.rank is what the
				   content says, FSL_RANK_UNKNOWN when it does not */
	struct fsl_strpool *names; /* of this file alone */
	struct fsl_arena arena;    /* texts of this file alone; copied into the run */
	uint8_t *kind_of;          /* [name id] enum fsl_stage_kind, FSL_STAGES_N: not told */
	size_t n_kinds, kinds_capacity;
	int64_t from_ns, to_ns;   /* operators that end outside are counted and not kept */
	bool is_range_for_stages; /* nobody asks for stages outside, or for the rank that the
				     content tells */
	struct fsl_ahead *ahead;  /* who may read rows of the file ahead; NULL: nobody; borrowed */

	/* Of a file that is read in pieces: */
	struct fsl_pieces pieces;
	int64_t stop_ns;   /* the end of the slack behind the next boundary */
	unsigned n_behind; /* operators and stages that ended behind that */
	bool is_stopped;   /* a boundary was passed: fsl_sink_pass() in front of the next record */
	bool is_paused;    /* read() is to return, and to go on at @place when it is called again */
	bool has_given;    /* events were taken out of @events before */
	struct fsl_place place;
	struct fsl_note notes[FSL_SINK_NOTES_MAX]; /* of the newest boundaries that were passed */
	size_t n_notes;
	/* Of a file that an earlier run read: a reader that can begins with the rows of @enter_ns,
	 * so that it knows what lacks rows, and counts from the note on. NULL: it counts all. */
	const struct fsl_note *resume;
	int64_t enter_ns;
	int64_t forget_ns; /* what ended before is not kept */
	void *kept;        /* what the format knows between two pieces; NULL: reading begins */
	void (*drop_kept)(void *kept);
};

enum fsl_status fsl_sink_init(struct fsl_sink *sink, struct fsl_file *file, struct fsl_error *err);
void fsl_sink_fini(struct fsl_sink *sink);

/*
 * Checked appends. A time outside [0, FSL_TIME_MAX_NS] or an end before its begin is a dropped
 * record and FSL_OK; FSL_ERR_LIMIT when the file holds too many (pass it to fsl_sink_fault).
 */
enum fsl_status fsl_sink_add_op(struct fsl_sink *sink, const struct fsl_op *op,
				struct fsl_error *err);
/* Keeps what is left of an operator that lost records, with a device begin or end; the caller
 * counts it as dropped. */
enum fsl_status fsl_sink_add_remnant(struct fsl_sink *sink, const struct fsl_op *op,
				     struct fsl_error *err);
enum fsl_status fsl_sink_add_stage(struct fsl_sink *sink, const struct fsl_stage *stage,
				   struct fsl_error *err);
enum fsl_status fsl_sink_add_step(struct fsl_sink *sink, const struct fsl_step_time *step,
				  struct fsl_error *err);
/* Id of a name in sink->names; FSL_ERR_LIMIT over FSL_SINK_NAMES_MAX. */
enum fsl_status fsl_sink_intern(struct fsl_sink *sink, const char *text, size_t length,
				uint32_t *id, struct fsl_error *err);
/* Remembers the time of a record, complete or not, as the rank's last sign of life. */
static inline void fsl_sink_seen(struct fsl_sink *sink, int64_t time_ns)
{
	if (time_ns > sink->events.last_event_ns && time_ns >= 0 && time_ns <= FSL_TIME_MAX_NS) {
		sink->events.last_event_ns = time_ns;
	}
}

/* Something ended then: where that is behind the slack of the next boundary often enough, the file
 * has passed it. */
static inline void fsl_sink_note_end(struct fsl_sink *sink, int64_t end_ns)
{
	if (end_ns > sink->stop_ns && ++sink->n_behind >= FSL_SINK_BEHIND_MIN) {
		sink->is_stopped = true;
	}
}
/* Between two records, where sink->is_stopped: the next boundary is the one that is waited for. A
 * format that sees sink->is_paused then leaves everything else in sink->kept. */
void fsl_sink_pass(struct fsl_sink *sink, const struct fsl_place *place);
/* Waits for no boundary until the reader has come to the place of sink->resume. */
void fsl_sink_hold(struct fsl_sink *sink);
/* There: the file has given what the note says. */
void fsl_sink_go_on(struct fsl_sink *sink);
/* Reads in pieces from now on. */
void fsl_sink_set_pieces(struct fsl_sink *sink, const struct fsl_pieces *pieces);

/* Counts one dropped record. */
void fsl_sink_drop(struct fsl_sink *sink, enum fsl_drop why);
/* Counts one record that breaks the format; the first one gives the file its message, so the text
 * names the place. Reading goes on, the file becomes FSL_FILE_PARTIAL. */
void fsl_sink_bad_record(struct fsl_sink *sink, enum fsl_drop why, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Marks the file partial with a message that names place and remedy. */
void fsl_sink_partial(struct fsl_sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Marks the file unusable: it is not what its name says. */
void fsl_sink_unusable(struct fsl_sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Ends reading after a failed call: out of memory is passed on, everything else becomes a partial
 * file with the root of @err as its message, and FSL_OK.
 */
enum fsl_status fsl_sink_fault(struct fsl_sink *sink, enum fsl_status status,
			       struct fsl_error *err);

/* What a probe sees: name, and the first FSL_FILE_HEAD_BYTES after decompression. */
struct fsl_probe {
	const char *file_name; /* without directory, and without .gz or .zst */
	const char *head;
	size_t n_head;
};

/* What a format brings; decides which files of a rank are merged and which exclude each other. */
enum fsl_input_kind {
	FSL_INPUT_MARKERS,  /* operators: one file a rank */
	FSL_INPUT_TIMELINE, /* stages: all files of a rank together */
	FSL_INPUT_STEPS,    /* step times: all files of a rank together */
	FSL_INPUT_LOG,      /* step times of the job: one file a rank */
};

/* One input format, one file in src/ingest/, one line in formats.def. */
struct fsl_format {
	const char *name;    /* file name, log tag, heading in docs/users/formats.md */
	const char *summary; /* one line for `failslow list formats` */
	enum fsl_input_kind kind;
	/* 0: not mine .. 100: certainly mine. Content decides; FSL_PROBE_NAME when only the name
	 * speaks for it, so that the reader can say what is wrong with the content. */
	int (*probe)(const struct fsl_probe *probe);
	/*
	 * Reads the whole file into @sink. A bad record is counted and reading goes on; a fault
	 * that ends reading is fsl_sink_partial and FSL_OK. Fails only when out of memory. Stops
	 * where the sink says so, if it can: a file that is never paused is read as a whole.
	 */
	enum fsl_status (*read)(struct fsl_reader *reader, struct fsl_sink *sink,
				struct fsl_error *err);
};

enum { FSL_PROBE_NAME = 10, FSL_PROBE_CONTENT = 90 };

size_t fsl_formats_size(void);
const struct fsl_format *fsl_formats_at(size_t idx);
/* NULL when there is none of that name. */
const struct fsl_format *fsl_format_by_name(const char *name);

struct fsl_ingest_options {
	const char *root_path;    /* folder of a tree or of markers, or one file; NULL: none */
	const char *training_log; /* timeline or log file, or their folder; NULL: look in the tree
				     only */
	bool log_type_is_log; /* training_log is a log, even when its first 4 KiB do not show it */
	int64_t from_ns,
		to_ns; /* keep operators that end inside [from, to]; INT64_MIN / INT64_MAX: all */
	bool is_range_for_stages; /* those that are not wholly inside need not be read */
	int n_threads;            /* 0: one per core */
};

/*
 * Finds and reads everything. Files that cannot be used are recorded in run->files with a message
 * and do not fail the call; FSL_ERR_INPUT only when the root does not exist or nothing at all could
 * be used. run->files is complete then, too, so that a verdict can say why.
 */
enum fsl_status fsl_ingest_run(struct fsl_run *run, const struct fsl_ingest_options *options,
			       struct fsl_error *err);
/* The same of @inputs, which fsl_inputs_find() found with these options. */
enum fsl_status fsl_ingest_inputs(struct fsl_run *run, const struct fsl_inputs *inputs,
				  const struct fsl_ingest_options *options, struct fsl_error *err);
/* Says in the log what became of the files that were read; FSL_ERR_INPUT as above. */
enum fsl_status fsl_ingest_check(const struct fsl_run *run,
				 const struct fsl_ingest_options *options, struct fsl_error *err);

#endif
